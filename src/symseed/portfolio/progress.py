"""Progress of a search, turn by turn: what observers, figures and run folders receive."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from symseed.completion import CompletionCounts
from symseed.portfolio.pool import Formula
from symseed.search import Budget, Learning, Part, StopReason, Timer
from symseed.search.lineage import Lineage


@dataclass(frozen=True, slots=True)
class TrackLearning:
    """How one search of a portfolio learnt in one turn."""

    track: int
    """Index of the search among the tracks of the method."""
    rounds: int
    """Number of rounds since the search began."""
    learning: Learning
    """Statistics of the last round of the turn; entropy and loss are of the last round in which they were estimated."""


class Stage(enum.Enum):
    """What a search is doing; values are words for people."""

    PREPARING = "preparing"
    SEARCHING = "searching"
    ASSEMBLING = "assembling"
    SIMPLIFYING = "simplifying"
    JUDGING = "judging"


@dataclass(frozen=True, slots=True)
class Activity:
    """The activity that a portfolio begins, several times in each turn."""

    stage: Stage
    seconds: float
    """Seconds since the search began."""
    charged: int
    """Number of formulas tried by then."""
    budget: Budget


def announcer(
    tell: Callable[[Activity], None] | None, timer: Timer, charged: Callable[[], int]
) -> Callable[[Stage], None]:
    """Return a function that announces a stage with the time and the number of formulas to `tell`, if there is one."""

    def begins(stage: Stage) -> None:
        if tell is not None:
            tell(Activity(stage, timer.elapsed, charged(), timer.budget))

    return begins


@dataclass(frozen=True, slots=True)
class Turn:
    """The portfolio after one turn."""

    index: int
    best: Formula
    unchanged: int
    """Number of turns since the selected formula changed."""
    charged: int
    evaluated: int
    unique: int
    completion: CompletionCounts
    seconds: float
    reason: StopReason | None
    found_by: Part | None = None
    """Part that found the selected formula in this turn; None if it was selected in an earlier turn."""
    learning: tuple[TrackLearning, ...] = ()
    """How each search that took this turn learnt."""
    lineage: Lineage = ()
    """How the selected formula came about, if it was found in this turn; the formulas are those of the search."""


@dataclass(frozen=True, slots=True)
class Step:
    """A formula of a lineage, as a run folder has it."""

    change: str
    """How it was made from the one before it, in words."""
    formula: str
    """The formula with its constants left open."""
    others: tuple[str, ...] = ()
    """The formula that it was crossed with; of an assembled formula, those whose sub-expressions it has."""

    @classmethod
    def of(cls, lineage: Lineage) -> tuple[Step, ...]:
        """Return the steps of a lineage."""
        return tuple(
            cls(one.change.value, one.formula.form, tuple(other.form for other in one.others)) for one in lineage
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The selected formula at one time of the search."""

    seconds: float
    """Seconds since the search began."""
    charged: int
    """Number of formulas tried by then."""
    loss: float
    """Mean loss of the selected formula."""
    formula: str
    """The selected formula as text."""
    found_by: Part | None = None
    """Part that found the selected formula then; None if it was found before."""
    learning: tuple[TrackLearning, ...] = ()
    """How each search learnt until then."""
    lineage: tuple[Step, ...] = ()
    """How the formula came about, oldest first, if it was found then."""
