"""The display of a fit in a notebook: a line with its clock and a table of formulas, both updated in place."""

from __future__ import annotations

import importlib
import sys
import threading
import uuid
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Protocol

from symseed.export import to_mathml
from symseed.portfolio import Activity
from symseed.regressor.front import EquationFront
from symseed.regressor.status import Meter, Status
from symseed.regressor.target import Progress
from symseed.text import for_html

_PERIOD = 0.5
"""Seconds between two drawings of the clock: chosen by hand."""


class Kernel(Protocol):
    """Publishes pieces of HTML, as `IPython.display` does."""

    def display(self, data: Any, *, raw: bool, display_id: str) -> Any:
        """Add a piece to the cell."""

    def update_display(self, data: Any, *, raw: bool, display_id: str) -> Any:
        """Replace a piece."""


def running_kernel() -> Kernel | None:
    """Return the notebook's display; None outside of notebooks, where this does not load IPython."""
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):
        return None
    kernel: Any = importlib.import_module("IPython.display")
    return kernel  # type: ignore[no-any-return]


class NotebookScreen:
    """Shows a fit below its cell; in the end the selected formula stays."""

    def __init__(self, targets: tuple[str, ...], patience: int | None, rule: str, kernel: Kernel) -> None:
        self._targets, self._rule = targets, rule
        self._meter = Meter(targets, patience)
        self._line, self._table = _Piece(kernel), _Piece(kernel)
        self._ticker = _Ticker(self._draw)
        self._has_ended = False

    def __enter__(self) -> NotebookScreen:
        """Show at once that the fit has begun."""
        self._line.show("Preparing", "<p>Preparing</p>")
        self._table.show("", "")
        self._ticker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the clock; if an error ended the fit, remove the display."""
        self._ticker.stop()
        self._table.show("", "")
        if not self._has_ended:
            self._line.show("", "")

    def activity(self, output: int, activity: Activity) -> None:
        """Record the activity; the clock shows it at its next update."""
        self._meter.hear(output, activity)

    def turn(self, progress: Progress) -> None:
        """Show the formulas if the selected one is new."""
        self._meter.hear_turn(progress.turn)
        if progress.turn.unchanged == 0:
            front = progress.front()
            self._table.show(front.text(self._rule), front.table(self._rule))
        self._draw()

    def end(self, fronts: Sequence[EquationFront]) -> None:
        """Leave the selected formula of each target, and the reason why its search ended."""
        self._ticker.stop()
        self._has_ended = True
        texts, pages = [], []
        for target, front in zip(self._targets, fronts, strict=True):
            chosen, reason = front.equations[front.choice(self._rule)], front.reason.value
            formula = to_mathml(chosen.shown, None)
            texts.append(f"{target} = {chosen}. {reason}")
            pages.append(f"<p>{for_html(target)} = {formula}<br><small>{for_html(reason)}</small></p>")
        self._line.show("\n".join(texts), "".join(pages))

    def _draw(self) -> None:
        status = self._meter.status()
        if status is not None:
            self._line.show(_text(status), _page(status))


def _text(status: Status) -> str:
    parts = (status.clock, status.stage, f"{status.charged:,} formulas", status.rate, status.same, status.remaining)
    return "  ".join(filter(None, parts))


def _page(status: Status) -> str:
    bar = f'<progress max="1" value="{status.share:.3f}" style="vertical-align:middle"></progress>'
    style = "font-variant-numeric:tabular-nums;white-space:pre-wrap"
    return f'<p style="{style}"><b>{for_html(status.target)}</b>  {bar}  {_text(status)}</p>'


class _Piece:
    """A piece of a cell's output that is replaced in place."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel, self._name = kernel, uuid.uuid4().hex
        self._shown: str | None = None
        self._lock = threading.Lock()

    def show(self, text: str, page: str) -> None:
        """Show a text, or in a page its HTML; nothing is sent if it is shown already."""
        with self._lock:
            if page == self._shown:
                return
            publish = self._kernel.display if self._shown is None else self._kernel.update_display
            publish({"text/plain": text, "text/html": page}, raw=True, display_id=self._name)
            self._shown = page


class _Ticker:
    """Calls a function at equal intervals, in a thread of its own."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, and wait until the last call of the function has ended; a second call does nothing."""
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._is_over.wait(_PERIOD):
            self._call()
