"""What a terminal shows while a search works: the formulas so far, and how much of the limits is used up.

Where there is no terminal, a line is printed whenever the choice changes.
"""

from __future__ import annotations

import sys
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from symseed.regressor.front import EquationFront
from symseed.regressor.target import Progress
from symseed.search.budget import Budget
from symseed.text import for_terminal

_MOST_ROWS = 15
_WIDE_BAR = 40


class Display:
    """Shows a search's turns; use it as a context, and give its `watch` to the search."""

    def __init__(self, targets: tuple[str, ...], budget: Budget, rule: str, *, console: Console | None = None) -> None:
        self._targets, self._budget, self._rule = targets, budget, rule
        self._console = console or Console(file=sys.stdout, soft_wrap=False)
        self._live = Live(console=self._console, refresh_per_second=8, transient=True) if self._is_live else None
        self._front: EquationFront | None = None

    @property
    def _is_live(self) -> bool:
        return self._console.is_terminal and not self._console.is_dumb_terminal

    def __enter__(self) -> Display:
        """Take the screen, where there is one."""
        if self._live is not None:
            self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give it back."""
        if self._live is not None:
            self._live.__exit__(kind, error, trace)

    def watch(self, output: int, progress: Progress) -> None:
        """Show a turn."""
        if self._live is None:
            if progress.turn.unchanged == 0:
                turn, target = progress.turn, self._targets[output]
                self._console.print(
                    Text(
                        for_terminal(f"{turn.seconds:7.1f} s  {turn.charged:>10,} formulas  {target} = {progress.best}")
                    ),
                    soft_wrap=True,
                )
            return
        if progress.turn.unchanged == 0 or self._front is None:
            self._front = progress.front()
        self._live.update(Group(self._bar(output, progress), front_table(self._front, self._rule)))

    def _bar(self, output: int, progress: Progress) -> Table:
        turn, limits = progress.turn, self._budget
        shares = [turn.seconds / limits.seconds] if limits.seconds else []
        shares += [turn.charged / limits.expressions] if limits.expressions else []
        limit = f" of at most {limits.seconds:g} s" if limits.seconds else ""
        row = Table.grid(padding=(0, 1))
        row.add_row(
            Text(for_terminal(self._targets[output]), style="bold"),
            ProgressBar(total=1.0, completed=min(1.0, max(shares, default=0.0)), width=_WIDE_BAR),
            Text(f"{turn.seconds:.0f} s{limit}, {turn.charged:,} formulas, unchanged for {_turns(turn.unchanged)}"),
        )
        return row


def _turns(count: int) -> str:
    return f"{count} turn" if count == 1 else f"{count} turns"


def front_table(front: EquationFront, rule: str) -> Table:
    """Return a front as a table with the choice marked; of many rows those around the choice."""
    chosen = front.choice(rule)
    begin = max(0, min(chosen - _MOST_ROWS // 2, len(front.equations) - _MOST_ROWS))
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("", "complexity", "loss", "score"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("equation", no_wrap=True, overflow="ellipsis", ratio=1)
    for place, item in enumerate(front.equations[begin : begin + _MOST_ROWS], start=begin):
        style = "bold green" if place == chosen else ""
        table.add_row(
            Text(">" if place == chosen else ""),
            Text(str(item.complexity)),
            Text(f"{item.loss:.4g}"),
            Text(f"{item.score:.3g}"),
            Text(for_terminal(str(item))),
            style=style,
        )
    return table
