"""The status of a fit at any time, also between turns: its clock, its activity, its speed, and the time left."""

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
    """The activity, in a word."""
    seconds: float
    """Seconds since the search for this target began."""
    charged: int
    """Number of formulas tried."""
    speed: float | None
    """Formulas tried per second; None: not known yet."""
    left: float | None
    """Most seconds until it ends; None: not known yet."""
    unchanged: int
    """Number of turns since the selected formula changed."""
    patience: int | None
    share: float
    """Used share of the limit that is nearest, from 0 to 1."""

    @property
    def clock(self) -> str:
        """The time since the search began, such as 0:07."""
        return clock(self.seconds)

    @property
    def remaining(self) -> str:
        """The time left, such as `0:53 left`; a dash if it is not known yet."""
        return "– left" if self.left is None else f"{clock(self.left)} left"

    @property
    def rate(self) -> str:
        """Formulas per second; a dash if it is not known yet."""
        return "–/s" if self.speed is None else f"{self.speed:,.0f}/s"

    @property
    def same(self) -> str:
        """Number of turns since the selected formula changed, in words; empty if it is new."""
        if not self.unchanged:
            return ""
        if self.patience is not None:
            return f"unchanged for {self.unchanged} of {turns(self.patience)}"
        return f"unchanged for {turns(self.unchanged)}"


def clock(seconds: float) -> str:
    """Return seconds as on a clock: 0:07, 12:30, 1:00:00."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def turns(count: int) -> str:
    """Return a number of turns in words."""
    return f"{count} turn" if count == 1 else f"{count} turns"


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a meter knows; replaced as a whole, because another thread may draw the screen."""

    output: int
    first: Activity
    last: Activity
    at: float
    """Time at which `last` arrived, by the meter's clock."""
    unchanged: int = 0


class Meter:
    """Computes the status of a fit from its reports."""

    def __init__(
        self, targets: tuple[str, ...], patience: int | None, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._targets, self._patience, self._now = targets, patience, now
        self._heard: _Heard | None = None

    def hear(self, output: int, activity: Activity) -> None:
        """Record the activity that the search for a target begins."""
        heard = self._heard
        if heard is None or heard.output != output or heard.first.charged == heard.last.charged == 0:
            # Speed counts from the first formula: preparation tries none, and a resumed run begins with some already.
            self._heard = _Heard(output, activity, activity, self._now())
        else:
            self._heard = replace(heard, last=activity, at=self._now())

    def hear_turn(self, turn: Turn) -> None:
        """Record a turn."""
        if self._heard is not None:
            self._heard = replace(self._heard, unchanged=turn.unchanged)

    def status(self) -> Status | None:
        """Return the status now; None if the fit has not begun."""
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
