"""What is optimised: a task scores whole populations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from symseed.dataset import Floats
from symseed.evaluation import Failures, Positions
from symseed.population import Population


@dataclass(frozen=True, slots=True)
class Counts:
    """How much scoring was done."""

    charged: int = 0
    """Rows that were asked about, repeats included: what the paper's budget counts."""

    evaluated: int = 0
    """Rows that were computed on the data."""

    unique: int = 0
    """Different rows among them; exact until the task's cache is full, then an estimate."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A task's answer about a population."""

    population: Population
    """The rows as they were scored: with the constants that were fitted."""

    reward: Floats  # (N,), more is better
    failure: Failures  # (N,)
    position: Positions  # (N,)


class Task(Protocol):
    """Anything that can score expressions."""

    @property
    def counts(self) -> Counts:
        """What was done since the task was made."""

    def evaluate(self, population: Population) -> Evaluation:
        """Score each row."""
