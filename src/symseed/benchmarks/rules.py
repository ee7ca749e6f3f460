"""Rules for a problem's samples: the paper's U and E, read from text, and trajectories of a system.

`U(a, b, n)` is n uniform draws from [a, b). `E(a, b, n)` is n evenly spaced points, both ends included.
`E(a, b, step s)` is floor((b - a) / s) + 1 evenly spaced points, both ends included, computed in float64. The authors'
released code reads a step in this way, so the spacing is s only if s divides the interval.

Axis letters: M samples, V variables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from symseed.arrays import Floats
from symseed.errors import SettingsError
from symseed.language.expression import Expression

MAX_ROWS = 10_000_000
"""Most samples of a table: far above any benchmark, chosen by hand."""

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RULE = re.compile(rf"\s*([UE])\(\s*({_NUMBER})\s*,\s*({_NUMBER})\s*,\s*(?:(\d+)|step\s+({_NUMBER}))\s*\)\s*")


@dataclass(frozen=True, slots=True)
class Uniform:
    """Draws from [low, high)."""

    low: float
    high: float
    count: int

    def __str__(self) -> str:
        """Return the rule as the catalogue writes it."""
        return f"U({self.low:.15g}, {self.high:.15g}, {self.count})"


@dataclass(frozen=True, slots=True)
class Even:
    """Evenly spaced points from `low` to `high`, both included."""

    low: float
    high: float
    count: int

    def __str__(self) -> str:
        """Return the rule as the catalogue writes it, with the number of points in place of a step."""
        return f"E({self.low:.15g}, {self.high:.15g}, {self.count})"


@dataclass(frozen=True, slots=True)
class Trajectories:
    """Points on trajectories of a system of two states, (x1, x2), at equal steps of time.

    The integrator is that of the published data of Strogatz's systems, which it gives to 1e-12: Bogacki and Shampine's
    method of third order with a fixed step, but the rate of x1 is held during each step. The trajectories are therefore
    not those of the system itself. That does not matter to a problem, whose target is the rate at each point.
    """

    rates: tuple[Expression, Expression]
    """The rates of change of x1 and of x2, over both."""
    starts: tuple[tuple[float, float], ...]
    """The first point of each trajectory."""
    step: float
    count: int
    """Number of points of each trajectory, the first included."""

    def points(self) -> Floats:
        """Return the points of one trajectory after another, (M, 2)."""
        h = self.step
        state = np.array(self.starts)
        states = [state]
        for _ in range(self.count - 1):
            first, second = self._rates(state)
            _, middle = self._rates(state + np.stack([first, second], axis=1) * (h / 2.0))
            _, late = self._rates(state + np.stack([first, middle], axis=1) * (h * 0.75))
            mean = (2.0 * second + 3.0 * middle + 4.0 * late) / 9.0
            state = state + np.stack([first, mean], axis=1) * h
            states.append(state)
        return np.stack(states, axis=1).reshape(-1, 2)

    def _rates(self, state: Floats) -> tuple[Floats, Floats]:
        first, second = self.rates
        return first.evaluate(state), second.evaluate(state)


Rules: TypeAlias = tuple[Uniform, ...] | tuple[Even, ...] | Trajectories
"""One rule for each variable, paired draws or the axes of a grid; or trajectories."""


def parse(texts: Sequence[str], variables: int) -> tuple[Uniform, ...] | tuple[Even, ...]:
    """Read one rule for each variable, or one rule for all of them.

    Raises:
        SettingsError: saying which text cannot be read, or why the rules do not make a table.
    """
    rules = [_parse(text) for text in texts]
    if len(rules) == 1:
        rules *= variables
    if len(rules) != variables:
        raise SettingsError(
            f"There must be one rule, or one for each of the {variables} variables, but there are {len(rules)}."
        )
    drawn = tuple(rule for rule in rules if isinstance(rule, Uniform))
    spaced = tuple(rule for rule in rules if isinstance(rule, Even))
    if drawn and spaced:
        raise SettingsError(f"Either all rules are U or all are E, but they are {', '.join(map(str, rules))}.")
    if len({rule.count for rule in drawn}) > 1:
        raise SettingsError(f"U needs the same n for each variable, but the rules are {', '.join(map(str, rules))}.")
    rows = drawn[0].count if drawn else math.prod(rule.count for rule in spaced)
    if rows > MAX_ROWS:
        raise SettingsError(f"The rules must make at most {MAX_ROWS} rows, but make {rows}.")
    return drawn or spaced


def table(rules: Rules, rng: np.random.RandomState) -> Floats:
    """Return samples, (M, V): U takes its draws from `rng` variable by variable, E is the grid of all combinations."""
    if isinstance(rules, Trajectories):
        return rules.points()
    columns = [
        rng.uniform(rule.low, rule.high, rule.count)
        if isinstance(rule, Uniform)
        else np.linspace(rule.low, rule.high, rule.count)
        for rule in rules
    ]
    if isinstance(rules[0], Even):
        columns = [axis.ravel() for axis in np.meshgrid(*columns, indexing="ij")]
    return np.stack(columns, axis=1)


def _parse(text: str) -> Uniform | Even:
    match = _RULE.fullmatch(text)
    if match is None or (match[1] == "U" and match[5]):
        raise SettingsError(f"A rule must be `U(a, b, n)`, `E(a, b, n)` or `E(a, b, step s)`, but it is `{text}`.")
    low, high = float(match[2]), float(match[3])
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise SettingsError(f"A rule's interval must begin before it ends, but the rule is `{text}`.")
    count = int(match[4]) if match[4] else _count(low, high, float(match[5]), text)
    if not 1 <= count <= MAX_ROWS:
        raise SettingsError(f"A rule must make from 1 to {MAX_ROWS} points, but `{text}` makes {count}.")
    return Uniform(low, high, count) if match[1] == "U" else Even(low, high, count)


def _count(low: float, high: float, step: float, text: str) -> int:
    if not 0.0 < step <= high - low:
        raise SettingsError(f"A step must be positive and at most the interval's width, but the rule is `{text}`.")
    return math.floor(min((high - low) / step, float(MAX_ROWS))) + 1
