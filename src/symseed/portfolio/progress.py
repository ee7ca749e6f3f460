"""How a search went on: what whoever watches it, draws it or keeps it is told."""

from __future__ import annotations

from dataclasses import dataclass


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
