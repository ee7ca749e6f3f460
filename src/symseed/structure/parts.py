"""Parts of a target: a sum or a product of functions of separate columns, and evenness in a column.

A Gaussian process of all columns says what the target is where no sample lies, which makes a full grid of any samples,
noisy ones too. On it, a sum of a function of some columns and one of the others is a table of effects of rows and
columns, and a product a table of rank one. Both parts then become processes of their own columns, each drawn through
what the other leaves of the target, in turns. The target counts as such a sum or product if each sample is predicted by
the others nearly as well as by the process of all columns.

Answers are hints: they order and seed a search, and exclude nothing.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data import Dataset
from symseed.search.budget import IsLate, in_time, never
from symseed.structure.process import Metric, Process, factors_of, fitted

_MOST_ROWS = 200
"""Most samples that a process is fitted to: a bound on time."""
_FEWEST_ROWS = 8
"""Fewest samples that can show parts: chosen by hand."""
_ROWS, _COLUMNS = 24, 16
"""Rows and columns of a table in which a sum or a product is sought: chosen by hand, a bound on time."""
_MOST_COLUMNS = 12
"""Most columns of the data: a bound on time."""
_FEW_COLUMNS = 8
"""Most columns of which every group may be a part; with more of them, a part has one or two. A bound on time."""
_DRAWN = 5
"""Sums and products that are drawn as processes, those of the best tables: chosen by hand, a bound on time."""
_STEPS = 15
"""Most times that each part is drawn: chosen by hand."""
_FASTER = 0.9
"""Factor by which the error must fall for the parts to be drawn again: chosen by hand."""
_EVALUATIONS = 12
"""Most evaluations of a likelihood when a part is drawn again: chosen by hand, a bound on time."""
_ITERATIONS = 30
"""Power iterations for a table of rank one: chosen by hand."""
_USED = 1e-2
"""Share of its largest value below which a factor says nothing of the other factor: chosen by hand."""
_LEAST_SIDE = 0.2
"""Share of the samples that must lie on either side of 0 for a parity: chosen by hand."""
_EXACT = 1e-12
"""Share of y's variance below which an error counts as 0: rounding."""
_UNEXPLAINED = 0.1
"""Share of y's variance above which an error is too large to show any structure: chosen by hand."""
_CHANCE_FACTOR = 1.2
"""Factor by which, by chance, the error of the right parts may exceed that of all columns: chosen by hand."""
_MIRRORED = 3.0
"""The same factor for the difference of a target and its mirror image, which has the errors of both."""
_FAR_WORSE = 10.0
"""Factor by which an error exceeds that of the best parts if they are others: chosen by hand."""


@dataclass(frozen=True, slots=True)
class Split:
    """A target that is a sum or a product of two parts."""

    error: float
    """Mean squared error of each sample by the others, as a share of y's variance."""
    group: tuple[int, ...]
    """Indices among the columns of those of the first part; the second part has the others."""
    is_product: bool
    first: Floats
    """(M,): desired values of the first part at the samples, given the second; they hold the noise of y."""
    second: Floats
    first_weights: Floats
    """(M,): weight of an error of the first part; for a factor, the square of the other factor."""
    second_weights: Floats


@dataclass(frozen=True, slots=True)
class _Guess:
    """A sum or a product that a table suggests."""

    rest: float
    """Share of the table's variance that it leaves."""
    group: tuple[int, ...]
    is_product: bool


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A part as a process."""

    process: Process
    values: Floats
    """Values of the part at the rows."""
    error: float
    """Mean squared error of y at each row by the others, as a share of y's variance."""


class Parts:
    """Sums and products of parts, and parities, of one target."""

    def __init__(self, dataset: Dataset, columns: Sequence[int], *, is_late: IsLate = never) -> None:
        """Take the samples, and the columns that parts may depend on; nothing is computed before it is asked for."""
        count = len(dataset)
        self._rows = np.arange(count) if count <= _MOST_ROWS else np.arange(_MOST_ROWS) * count // _MOST_ROWS
        self._columns = np.ascontiguousarray(dataset.X[:, columns].T)
        self._scale = dataset.deviation or 1.0
        self._y = dataset.y / self._scale
        self._weights = dataset.weights
        self._is_late = is_late
        self._can_tell = count >= _FEWEST_ROWS and dataset.deviation > 0.0 and 1 <= len(columns) <= _MOST_COLUMNS

    def parity(self, place: int) -> int:
        """Return 1 if y seems even in a column, -1 if it seems odd, else 0.

        `place` is the column's index among the columns. Samples must lie on both sides of 0.
        """
        x = self._columns[place, self._rows]
        if not self._can_tell or min(np.mean(x < 0.0), np.mean(x > 0.0)) < _LEAST_SIDE or self._is_late():
            return 0
        within = (-x >= x.min()) & (-x <= x.max())
        if within.sum() < _FEWEST_ROWS or not self._least <= _UNEXPLAINED:
            return 0
        mirrored = self._columns[:, self._rows[within]]
        mirrored[place] *= -1.0
        here = self._whole.values[within]
        there = self._whole.process.predicted(self._metric.scaled(mirrored)).mean
        even, odd = (float(np.mean((here - sign * there) ** 2)) for sign in (1.0, -1.0))
        if not min(even, odd) <= max(_MIRRORED * self._least, _EXACT):
            return 0
        return 1 if even <= odd else -1

    def splits(self) -> list[Split]:
        """Return how y seems to be a sum or a product of two parts, those of the smallest error first.

        What is a split of a part of one that is returned is left out.
        """
        if not self._can_tell or len(self._columns) < 2 or self._is_late() or not math.isfinite(self._least):
            return []
        guesses = sorted(self._guesses(), key=lambda guess: (guess.rest, guess.group, guess.is_product))[:_DRAWN]
        found = sorted((self._split(guess) for guess in in_time(guesses, self._is_late)), key=lambda split: split.error)
        out: list[Split] = []
        for split in found:
            is_near = split.error <= max(_FAR_WORSE * found[0].error, _EXACT)
            if is_near and self._is_convincing(split.error) and not any(self._follows(split, other) for other in out):
                out.append(split)
        return out

    def _follows(self, split: Split, other: Split) -> bool:
        """Whether a split is one of a part of another split: a | b c says of a + b + c what b | a c says."""
        every = frozenset(range(len(self._columns)))
        sides, others = ((frozenset(one.group), every - set(one.group)) for one in (split, other))
        return split.is_product == other.is_product and any(side < part for side in sides for part in others)

    @functools.cached_property
    def _metric(self) -> Metric:
        return Metric.of(self._columns)

    @functools.cached_property
    def _inputs(self) -> Floats:
        return self._metric.scaled(self._columns)

    @functools.cached_property
    def _whole(self) -> _Drawn:
        rows = np.ascontiguousarray(self._inputs[:, self._rows])
        return self._drawn(rows, np.zeros(len(self._rows)), is_product=False, before=None)

    @property
    def _least(self) -> float:
        return self._whole.error

    def _is_convincing(self, error: float) -> bool:
        return error <= min(max(_CHANCE_FACTOR * self._least, _EXACT), _UNEXPLAINED)

    # --- Tables ------------------------------------------------------------------------------------------------------

    def _guesses(self) -> Iterator[_Guess]:
        """What the tables of all groups of columns leave unexplained."""
        count = len(self._columns)
        most = count // 2 if count <= _FEW_COLUMNS else 2
        for size in range(1, most + 1):
            groups = itertools.combinations(range(count), size)
            for group in in_time(groups, self._is_late):
                if 2 * size == count and group[0] != 0:
                    continue  # the other half is the same split
                table = self._table(group, _ROWS)
                total = float(np.sum((table - table.mean()) ** 2)) or 1.0
                effects = table - table.mean(axis=1)[:, None] - table.mean(axis=0) + table.mean()
                left, right = _leading(table)
                rest = table - np.outer(left, right)
                yield _Guess(float(np.sum(effects * effects)) / total, group, is_product=False)
                yield _Guess(float(np.sum(rest * rest)) / total, group, is_product=True)

    def _table(self, group: Sequence[int], most: int) -> Floats:
        """What the process of all columns says of the group's values of some rows beside the others of other rows."""
        inputs = self._whole.process.inputs
        above = inputs[:, _spaced(inputs.shape[1], most)]
        beside = inputs[:, _spaced(inputs.shape[1], _COLUMNS)]
        shape = above.shape[1], beside.shape[1]
        points = np.stack(
            [
                np.broadcast_to(own[:, None] if place in group else other, shape).ravel()
                for place, (own, other) in enumerate(zip(above, beside, strict=True))
            ]
        )
        return self._whole.process.predicted(points).mean.reshape(shape)

    # --- Processes ---------------------------------------------------------------------------------------------------

    def _split(self, guess: _Guess) -> Split:
        """Draw both parts in turns until their error no longer falls fast."""
        others = [place for place in range(len(self._columns)) if place not in guess.group]
        inputs = self._whole.process.inputs
        own, rest = (np.ascontiguousarray(inputs[list(places)]) for places in (guess.group, others))
        table = self._table(guess.group, inputs.shape[1])
        values = _leading(table)[0] if guess.is_product else table.mean(axis=1) - table.mean()
        first: _Drawn | None = None
        second: _Drawn | None = None
        error = math.inf
        for _ in range(_STEPS):
            second = self._drawn(rest, values, is_product=guess.is_product, before=second)
            first = self._drawn(own, second.values, is_product=guess.is_product, before=first)
            before, error, values = error, max(first.error, second.error), first.values
            if not error < _FASTER * before or self._is_late():
                break
        assert first is not None, "there is a step"
        assert second is not None, "there is a step"
        here = first.process.predicted(np.ascontiguousarray(self._inputs[list(guess.group)])).mean
        there = second.process.predicted(np.ascontiguousarray(self._inputs[others])).mean
        ones = np.ones(len(self._y))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return Split(
                error=error,
                group=guess.group,
                is_product=guess.is_product,
                first=self._scale * self._y / there if guess.is_product else self._scale * (self._y - there),
                second=self._y / here if guess.is_product else self._scale * (self._y - here),
                first_weights=there * there if guess.is_product else ones,
                second_weights=here * here if guess.is_product else ones,
            )

    def _drawn(self, inputs: Floats, other: Floats, *, is_product: bool, before: _Drawn | None) -> _Drawn:
        """Draw a part as a process of some inputs, given the values of the other part."""
        y, weights = self._y[self._rows], self._weights[self._rows]
        if is_product:
            largest = float(np.abs(other).max()) or 1.0
            is_used = np.abs(other) > _USED * largest
            goal = np.where(is_used, y / np.where(is_used, other, 1.0), 0.0)
            noise = factors_of(largest / np.where(is_used, np.abs(other), 0.1 * _USED * largest), weights)
        else:
            goal, noise = y - other, factors_of(np.ones(len(y)), weights)
        process = fitted(
            inputs,
            goal,
            noise,
            begin=None if before is None else (before.process.scales, before.process.ratio),
            **({} if before is None else {"evaluations": _EVALUATIONS}),
            is_late=self._is_late,
        )
        left_out = process.left_out().mean
        rest = y - (left_out * other if is_product else left_out + other)
        error = float(np.sum(weights * rest * rest)) / float(np.sum(weights))
        values = process.predicted(inputs).mean
        return _Drawn(process, values, error if math.isfinite(error) else math.inf)


def _spaced(count: int, most: int) -> list[int]:
    return list(range(count)) if count <= most else [i * count // most for i in range(most)]


def _leading(table: Floats) -> tuple[Floats, Floats]:
    """The vectors whose product comes nearest to a table, by power iteration."""
    right = table[int(np.argmax(np.sum(table * table, axis=1)))]
    left = np.zeros(len(table))
    for _ in range(_ITERATIONS):
        left = arithmetic.product(table, right) / (arithmetic.dot(right, right) or 1.0)
        right = arithmetic.product(table.T.copy(), left) / (arithmetic.dot(left, left) or 1.0)
    return left, right
