"""Screens: displays of a fit while it works, and the screen for a fit from Python."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import TracebackType

from symseed.export import to_text
from symseed.portfolio import Activity
from symseed.regressor.front import EquationFront
from symseed.regressor.notebook import NotebookScreen, running_kernel
from symseed.regressor.target import Progress


def of(
    verbosity: int | None, targets: tuple[str, ...], patience: int | None, rule: str
) -> NotebookScreen | Lines | None:
    """Return the screen for a fit from Python; None: nothing is shown."""
    if verbosity == 0:
        return None
    kernel = running_kernel()
    if kernel is not None:
        return NotebookScreen(targets, patience, rule, kernel)
    return None if verbosity is None else Lines()


class Lines:
    """Writes a line to stderr whenever the selected formula changes."""

    def __enter__(self) -> Lines:
        """Do nothing."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing."""

    def activity(self, output: int, activity: Activity) -> None:
        """Do nothing."""

    def turn(self, progress: Progress) -> None:
        """Write a line if the selected formula is new."""
        turn = progress.turn
        if turn.unchanged:
            return
        try:
            sys.stderr.write(f"{turn.seconds:7.1f} s  {turn.charged:>10,} formulas  {to_text(progress.best)}\n")
        except (OSError, ValueError):
            return  # stderr is closed; the search continues

    def end(self, fronts: Sequence[EquationFront]) -> None:
        """Do nothing."""
