"""The state of a fit at any moment, between turns too: its clock, what it does, its speed, and the time left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from symseed.portfolio import Activity, Turn


@dataclass(frozen=True, slots=True)
class Status:
    """What a screen shows of a fit besides its formulas."""

    target: str
    stage: str
    """What it is doing, in a word."""
    seconds: float
    """Seconds since the search for this target began."""
    charged: int
    """Number of formulas tried."""
    speed: float | None
    """Formulas tried per second; None: too early to say."""
    left: float | None
    """Most seconds until it ends; None: too early to say."""
    unchanged: int
    """Number of turns since the selected formula changed."""
    patience: int | None
    share: float
    """How much of the limit that is nearest is used up, from 0 to 1."""

    @property
    def clock(self) -> str:
        """The time since the search began, such as 0:07."""
        return clock(self.seconds)

    @property
    def remaining(self) -> str:
        """The time left, such as `0:53 left`; a dash: too early to say."""
        return "– left" if self.left is None else f"{clock(self.left)} left"

    @property
    def rate(self) -> str:
        """Formulas per second; a dash: too early to say."""
        return "–/s" if self.speed is None else f"{self.speed:,.0f}/s"

    @property
    def same(self) -> str:
        """For how many turns the selected formula has stayed; empty: it is new."""
        if not self.unchanged:
            return ""
        if self.patience is not None:
            return f"unchanged for {self.unchanged} of {turns(self.patience)}"
        return f"unchanged for {turns(self.unchanged)}"


def clock(seconds: float) -> str:
    """Return seconds as a clock shows them: 0:07, 12:30, 1:00:00."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def turns(count: int) -> str:
    """Return a number of turns in words."""
    return f"{count} turn" if count == 1 else f"{count} turns"


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a meter knows, replaced as a whole, because a screen may be drawn by another thread."""

    output: int
    first: Activity
    last: Activity
    at: float
    """When `last` was heard, by the meter's clock."""
    unchanged: int = 0


class Meter:
    """Knows the status of a fit from what the fit tells."""

    def __init__(
        self, targets: tuple[str, ...], patience: int | None, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._targets, self._patience, self._now = targets, patience, now
        self._heard: _Heard | None = None

    def hear(self, output: int, activity: Activity) -> None:
        """Take note of what the search for a target begins to do."""
        heard = self._heard
        if heard is None or heard.output != output or heard.first.charged == heard.last.charged == 0:
            # Speed counts from the first formula: preparation tries none, and a resumed run begins with some.
            self._heard = _Heard(output, activity, activity, self._now())
        else:
            self._heard = replace(heard, last=activity, at=self._now())

    def hear_turn(self, turn: Turn) -> None:
        """Take note of a turn."""
        if self._heard is not None:
            self._heard = replace(self._heard, unchanged=turn.unchanged)

    def status(self) -> Status | None:
        """Return the status at this moment; None: the fit has not begun."""
        heard = self._heard
        if heard is None:
            return None
        since = self._now() - heard.at
        budget, tried = heard.last.budget, heard.last.charged
        seconds = heard.last.seconds + since
        period = heard.last.seconds - heard.first.seconds
        speed = (tried - heard.first.charged) / period if tried > heard.first.charged and period > 0.0 else None
        left, shares = [], [0.0]
        if budget.seconds is not None:
            left.append(budget.seconds - seconds)
            shares.append(seconds / budget.seconds)
        if budget.expressions is not None:
            left += [(budget.expressions - tried) / speed - since] if speed is not None else []
            shares.append(tried / budget.expressions)
        if self._patience is not None:
            shares.append(heard.unchanged / self._patience)
        return Status(
            target=self._targets[heard.output],
            stage=heard.last.stage.value,
            seconds=seconds,
            charged=tried,
            speed=speed,
            left=max(0.0, min(left)) if left else None,
            unchanged=heard.unchanged,
            patience=self._patience,
            share=min(1.0, max(shares)),
        )
