"""The history of a search: how the selected formula changed, and what the data say of their structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symseed.export import to_text
from symseed.portfolio import Moment, Step
from symseed.regressor.run_log import RunLog
from symseed.regressor.target import Progress
from symseed.structure import Finding


@dataclass(frozen=True, slots=True)
class Record:
    """What was recorded of the search for one target."""

    moments: tuple[Moment, ...]
    structure: tuple[Finding, ...]


class History:
    """Records how the selected formula changed, and the structure of the data."""

    def __init__(self, before: Sequence[Moment], structure: tuple[Finding, ...]) -> None:
        """Continue the history from before a resume."""
        self._moments, self._structure = list(before), structure

    @classmethod
    def of(cls, log: RunLog | None, output: int) -> History:
        """Return the history of a target so far."""
        return cls([], ()) if log is None else cls(log.history(output), log.structure(output))

    def __call__(self, progress: Progress) -> None:
        """Record a turn."""
        turn = progress.turn
        self._structure = progress.structure or self._structure
        while self._moments and self._moments[-1].charged >= turn.charged:  # turns repeated after a resume
            self._moments.pop()
        self._moments.append(
            Moment(
                seconds=turn.seconds,
                charged=turn.charged,
                loss=progress.loss,
                formula=to_text(progress.best),
                found_by=turn.found_by,
                learning=turn.learning,
                lineage=Step.of(turn.lineage),
            )
        )

    @property
    def record(self) -> Record:
        """What was recorded so far."""
        return Record(tuple(self._moments), self._structure)
