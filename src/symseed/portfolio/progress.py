"""Progress of a search, turn by turn: what observers, figures and run folders receive."""

from __future__ import annotations

from dataclasses import dataclass

from symseed.completion import CompletionCounts
from symseed.portfolio.pool import Formula
from symseed.search import StopReason


@dataclass(frozen=True, slots=True)
class Turn:
    """The portfolio after one turn."""

    index: int
    best: Formula
    unchanged: int
    """Number of turns for which the choice has been the same."""
    charged: int
    evaluated: int
    unique: int
    completion: CompletionCounts
    seconds: float
    reason: StopReason | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The choice at one time of the search."""

    seconds: float
    """Seconds since the search began."""
    charged: int
    """Number of formulas tried by then."""
    loss: float
    """Mean loss of the choice."""
    formula: str
    """The choice as text."""
