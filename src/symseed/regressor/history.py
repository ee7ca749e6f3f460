"""The history of a search: how the selected formula changed, what structure the data have, what a network thought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symseed.export import to_text
from symseed.network import Guess
from symseed.portfolio import Moment, Step
from symseed.regressor.run_log import RunLog
from symseed.regressor.target import Progress
from symseed.structure import Finding


@dataclass(frozen=True, slots=True)
class Record:
    """What was recorded of the search for one target."""

    moments: tuple[Moment, ...]
    structure: tuple[Finding, ...]
    prior: tuple[Guess, ...]
    """What a network thought of the data before the searches."""


class History:
    """Records how the selected formula changed, the structure of the data, and what a network thought of them."""

    def __init__(self, before: Sequence[Moment], structure: tuple[Finding, ...], prior: tuple[Guess, ...]) -> None:
        """Continue the history from before a resume."""
        self._moments, self._structure, self._prior = list(before), structure, prior

    @classmethod
    def of(cls, log: RunLog | None, output: int) -> History:
        """Return the history of a target so far."""
        if log is None:
            return cls([], (), ())
        return cls(log.history(output), log.structure(output), log.prior(output))

    def __call__(self, progress: Progress) -> None:
        """Record a turn."""
        turn = progress.turn
        self._structure = progress.structure or self._structure
        self._prior = progress.prior or self._prior
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
        return Record(tuple(self._moments), self._structure, self._prior)
