"""The display of a search in a terminal: one line with its clock and its limits, and the formulas so far.

Without a terminal, a line is printed whenever the selected formula changes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from symseed.export import to_text
from symseed.portfolio.progress import Activity
from symseed.regressor.front import EquationFront
from symseed.regressor.status import Meter, Status
from symseed.regressor.target import Progress
from symseed.text import for_terminal

_MOST_ROWS = 15
"""Most formulas in the table: chosen by hand."""
_OTHER_LINES = 5
"""Lines of a terminal that the table leaves free: the status, its header, the cursor's line, and two to spare."""
_LONGEST_NAME = 24
"""Most columns of the target's name: chosen by hand."""
_BAR = (8, 40)
"""Least and most columns of the bar: chosen by hand."""


def console() -> Console:
    """Return the console for the progress of a command."""
    return Console(file=sys.stdout, soft_wrap=False)


def reading(source: str, shown_on: Console) -> AbstractContextManager[object]:
    """Return a context in which a terminal says that a table is being read."""
    if not _is_live(shown_on):
        return nullcontext()
    return shown_on.status(Text(for_terminal(f"Reading {source}"), no_wrap=True, overflow="ellipsis"))


class Display:
    """Shows a search; a screen of a fit."""

    def __init__(self, targets: tuple[str, ...], patience: int | None, rule: str, shown_on: Console) -> None:
        self._targets, self._rule, self._console = targets, rule, shown_on
        self._meter = Meter(targets, patience)
        self._front: EquationFront | None = None
        self._live: Live | None = None
        if _is_live(shown_on):
            # Each drawing computes the status again, so that the clock moves between turns.
            self._live = Live(
                console=shown_on, get_renderable=self._drawn, refresh_per_second=4, transient=True, auto_refresh=True
            )

    def __enter__(self) -> Display:
        """Begin the display, if there is a terminal."""
        if self._live is not None:
            self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the display, and erase it."""
        if self._live is not None:
            self._live.__exit__(kind, error, trace)

    def activity(self, output: int, activity: Activity) -> None:
        """Record the activity; the next drawing shows it."""
        self._meter.hear(output, activity)

    def turn(self, progress: Progress) -> None:
        """Show a turn."""
        self._meter.hear_turn(progress.turn)
        if self._live is None:
            self._print(self._targets[progress.output], progress)
        elif progress.turn.unchanged == 0 or self._front is None:
            self._front = progress.front()
            self._live.refresh()

    def end(self, fronts: Sequence[EquationFront]) -> None:
        """Do nothing: the command prints the results."""

    def _print(self, target: str, progress: Progress) -> None:
        turn = progress.turn
        if turn.unchanged == 0:
            formula = f"{target} = {to_text(progress.best)}"
            line = f"{turn.seconds:7.1f} s  {turn.charged:>10,} formulas  {formula}"
            self._console.print(Text(for_terminal(line)), soft_wrap=True)

    def _drawn(self) -> RenderableType:
        status, (width, height) = self._meter.status(), self._console.size
        line = Text("Preparing") if status is None else status_line(status, width)
        table = [] if self._front is None else [front_table(self._front, self._rule, height - _OTHER_LINES)]
        # A terminal prints ^C at the cursor. At the end of a full line, that would begin a line that nothing erases.
        return Group(line, *table, Text(""))


def _is_live(shown_on: Console) -> bool:
    return shown_on.is_terminal and not shown_on.is_dumb_terminal


def status_line(status: Status, width: int) -> RenderableType:
    """Return the status on one line: as much of it as fits, and a bar if there is room."""
    tried, end = f"{status.charged:,} formulas", f"at most {status.remaining}"
    forms = [
        (status.clock, status.stage, tried, status.rate, status.same, end),
        (status.clock, status.stage, tried, status.rate, status.remaining),
        (status.clock, status.stage, f"{status.rate.removesuffix('/s')} formulas/s", status.remaining),
        (status.clock, status.stage, status.rate, status.remaining),
    ]
    texts = ["  ".join(filter(None, form)) for form in forms]
    name = Text(for_terminal(status.target), style="bold")
    name.truncate(_LONGEST_NAME, overflow="ellipsis")
    # The bar has priority over the longer forms, and the name over the bar.
    free = [width - len(text) - name.cell_len - 4 for text in texts]
    place = next((place for place, room in enumerate(free) if room >= _BAR[0]), len(texts) - 1)
    grid = Table.grid(padding=(0, 2, 0, 0))
    if free[place] >= _BAR[0]:
        bar = ProgressBar(total=1.0, completed=status.share, width=min(free[place], _BAR[1]))
        grid.add_row(name, bar, Text(texts[place], no_wrap=True))
        return grid
    name.truncate(max(1, width - len(texts[place]) - 2), overflow="ellipsis")
    grid.add_row(name, Text(texts[place], no_wrap=True))
    return grid


def front_table(front: EquationFront, rule: str, most: int = _MOST_ROWS) -> Table:
    """Return a front as a table with the selected formula marked; of many rows only those around it."""
    chosen = front.choice(rule)
    most = max(1, min(most, _MOST_ROWS))
    begin = max(0, min(chosen - most // 2, len(front.equations) - most))
    # Expanded, so that numbers have the width that they need, and formulas the rest.
    table = Table(box=None, header_style="dim", pad_edge=False, expand=True)
    for name in ("", *front.names[:-1]):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(front.names[-1], no_wrap=True, overflow="ellipsis", ratio=1)
    for place, cells in enumerate(front.cells[begin : begin + most], start=begin):
        style = "bold green" if place == chosen else ""
        mark = ">" if place == chosen else ""
        table.add_row(*(Text(for_terminal(cell)) for cell in (mark, *cells)), style=style)
    return table
