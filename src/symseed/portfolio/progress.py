"""How a search went on: what whoever watches it, draws it or keeps it is told."""

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
    """For how many turns the choice has been the same."""
    charged: int
    evaluated: int
    unique: int
    completion: CompletionCounts
    seconds: float
    reason: StopReason | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What the search would have chosen at one time."""

    seconds: float
    """Since it began."""
    charged: int
    """Formulas tried by then."""
    loss: float
    """Of the choice."""
    formula: str
    """The choice, as text."""
