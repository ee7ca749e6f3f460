"""Budgets: limits of a search in expressions and seconds, timers that measure them, and reasons to stop."""

from __future__ import annotations

import enum
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from symseed.errors import SettingsError

IsLate: TypeAlias = Callable[[], bool]
"""Returns whether time is up. Long steps call it between their parts, so that a limit in seconds holds."""
Item = TypeVar("Item")


class StopReason(enum.Enum):
    """Why a search ended; values are sentences for people."""

    SOLVED = "The task is solved."
    EXPRESSIONS = "The budget of expressions is used up."
    SECONDS = "The time is up."
    NO_SHORT_LAW = "The selected formula fits to rounding, but no short law was found."
    PATIENCE = "The selected formula has not changed for `patience` turns."
    EARLY_STOP = "The early stop condition is met."
    CALLBACK = "The callback stopped the search."
    INTERRUPTED = "The search was interrupted; this is the best so far."
    LOST = "The workers are gone; this is the best so far."
    UNREAD = "The table cannot be read any more; this is the best of the rows that the search used."
    NOT_ENDED = "The search has not ended."

    @property
    def is_by_itself(self) -> bool:
        """Whether the search came to its own end, so that there is nothing to resume."""
        return self not in (StopReason.INTERRUPTED, StopReason.LOST, StopReason.UNREAD, StopReason.NOT_ENDED)

    @classmethod
    def _missing_(cls, value: object) -> StopReason | None:
        """Read the sentence for `PATIENCE` in run folders of version 0.2.0."""
        is_old = value == "The choice has not changed for as many turns as `patience` says."
        return cls.PATIENCE if is_old else None


class Clock:
    """Seconds like those of `time.monotonic`, without the time of pauses."""

    def __init__(self) -> None:
        self._paused = 0.0

    def __call__(self) -> float:
        """Return the seconds."""
        return time.monotonic() - self._paused

    def leave_out(self, seconds: float) -> None:
        """Take back some seconds, in which the search stood still."""
        self._paused += seconds


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a search."""

    expressions: int | None = 2_000_000
    """Most expressions that count towards the budget, repeats included: those sampled or drawn at random, changed by
    evolution, made by completion, or made by assembly in a portfolio."""

    seconds: float | None = None

    clock: Callable[[], float] = time.monotonic
    """Clock that gives seconds; `time.process_time` counts this process only, which suits a busy machine."""

    def __post_init__(self) -> None:
        """Refuse a search without an end."""
        if self.expressions is None and self.seconds is None:
            raise SettingsError("A budget limits `expressions`, `seconds` or both, but neither was given.")
        limits = [limit for limit in (self.expressions, self.seconds) if limit is not None]
        if not all(limit > 0 for limit in limits) or all(math.isinf(limit) for limit in limits):
            raise SettingsError(
                f"A budget must be above 0 and come to an end, but `expressions` is {self.expressions} and `seconds` "
                f"{self.seconds}."
            )

    def less(self, share: float, most: float) -> Budget:
        """Return this budget without a share of its seconds, or without `most` seconds if that is less."""
        return self if self.seconds is None else replace(self, seconds=self.seconds - min(share * self.seconds, most))


class Timer:
    """Measures how much of a budget is spent."""

    def __init__(self, budget: Budget, *, before: float = 0.0) -> None:
        """Start; `before` is the number of seconds spent before a resume."""
        self.budget = budget
        self.elsewhere = 0
        """Expressions that other searches have charged against the same budget."""
        self._started = budget.clock() - before

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self.budget.clock() - self._started

    def is_late(self) -> bool:
        """Return whether the seconds are spent."""
        return self.budget.seconds is not None and self.elapsed >= self.budget.seconds

    def spent(self, charged: int) -> StopReason | None:
        """Return which limit is reached after `charged` expressions; None if none is."""
        if self.budget.expressions is not None and charged + self.elsewhere >= self.budget.expressions:
            return StopReason.EXPRESSIONS
        return StopReason.SECONDS if self.is_late() else None

    def limited(self, budget: Budget) -> Timer:
        """Return a timer of another budget that started when this one did."""
        other = Timer(budget)
        other._started = self._started
        return other


def never() -> bool:
    """Return False: the `IsLate` of work without a time limit."""
    return False


def in_time(items: Iterable[Item], is_late: IsLate) -> Iterator[Item]:
    """Give one item after another until time is up."""
    for item in items:
        if is_late():
            return
        yield item
