"""All samples of a large table: formulas are fitted and judged on them by passes over their chunks.

A pass computes one Gauss-Newton step for several formulas, so that few passes fit them all (Levenberg-Marquardt, from
constants that fit a part of the samples already). What a pass computed of a formula is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from symseed.arrays import Floats
from symseed.data.backend import Errors, Failure, FitMethod, Linearisation, Semantics, Validity
from symseed.data.chunks import Chunk, Chunks, Facts
from symseed.data.dataset import ROUNDING, Dataset, largest_constant
from symseed.data.losses import Ruler
from symseed.language.expression import Expression
from symseed.language.population import Population

_LEAST_GAIN = 1e-15
"""Share of the error that a step must promise to be taken: less is rounding."""
_MOST_DAMPING = 1e12
"""Damping at which a fit ends: no step of any use is that short."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The mean losses of a formula, NaN if it has no value at some sample."""

    given: float
    """With the weights and the loss of the user."""
    fitted: float
    """With those by which formulas are fitted."""


class AllSamples:
    """All samples of a large table, as `symseed.data.dataset.Measured`."""

    def __init__(self, chunks: Chunks, few: Dataset, ruler: Ruler | None = None) -> None:
        """Take the samples, and make a pass over them.

        Args:
            few: some of the samples, in memory, which show which tokens of a formula have no effect.
            ruler: converts mean losses; None: formulas are fitted by squared errors.
        """
        self.chunks, self.few, self.ruler = chunks, few, ruler
        self.names = chunks.names
        self.facts = chunks.total(Facts.of)
        self._known: dict[Expression, _Step] = {}

    def __len__(self) -> int:
        """Return the number of different samples."""
        return self.facts.distinct.count

    @property
    def total_weight(self) -> float:
        """Sum of the weights by which formulas are fitted."""
        return float(self.facts.weights[0])

    @property
    def rounding(self) -> float:
        """The mean squared error that is due to rounding."""
        return ROUNDING * ROUNDING * self.facts.square / self.total_weight or 1e-300

    @property
    def largest_constant(self) -> float:
        """Largest size of a constant in a formula for these samples."""
        return largest_constant(self.facts.largest.tolist())

    @property
    def backend(self) -> AllSamples:
        """What computes formulas."""
        return self

    def mean_squares(self, error: Floats) -> Floats:
        """Return mean squared errors, or those of equal loss, from weighted sums."""
        mean = error / self.total_weight
        return mean if self.ruler is None else self.ruler.mean_square(mean)

    # --- As a backend ------------------------------------------------------------------------------------------------

    def errors(self, population: Population, *, validity: Validity = Validity.VALUES, threads: int = 1) -> Errors:
        """See `Fits.errors`."""
        assert (validity, threads) == (Validity.VALUES, 1), "chunks have threads of their own"
        return _errors([step.error for step in self._steps(list(population))])

    def linearise(self, population: Population, *, by_loss: bool = False) -> Linearisation:
        """See `Fits.linearise`."""
        assert not by_loss
        (step,) = self._steps(list(population))
        return Linearisation(step.error, step.gradient, step.plain)

    def semantics(self, population: Population) -> Semantics:
        """See `Fits.semantics`; on a few samples."""
        return self.few.backend.semantics(population)

    def fit(
        self,
        population: Population,
        *,
        iterations: int,
        restarts: int = 0,
        seed: int = 0,
        method: FitMethod = FitMethod.LEVENBERG_MARQUARDT,
        validity: Validity = Validity.VALUES,
        threads: int = 1,
    ) -> tuple[Population, Errors]:
        """See `Fits.fit`."""
        assert (restarts, seed, threads) == (0, 0, 1), "chunks have threads of their own"
        assert (method, validity) == (FitMethod.LEVENBERG_MARQUARDT, Validity.VALUES), "a search alone has others"
        rows = self.fitted(list(population), iterations=iterations)
        fitted = Population.of_rows(population.library, [one.row for one in rows])
        return fitted, _errors([step.error for step in self._steps(rows)])

    # --- Fits and judgements -----------------------------------------------------------------------------------------

    def fitted(
        self, formulas: Sequence[Expression], *, iterations: int, is_late: Callable[[], bool] = lambda: False
    ) -> list[Expression]:
        """Return formulas, of any libraries, with their constants fitted; each pass takes a step for all of them."""
        if is_late():
            return list(formulas)
        fits = [_Fit(*pair) for pair in zip(formulas, self._steps(formulas), strict=True)]
        for _ in range(iterations):
            trials = [(fit, trial) for fit in fits if (trial := fit.trial()) is not None]
            if not trials or is_late():
                break
            for (fit, trial), step in zip(trials, self._steps([trial for _, trial in trials]), strict=True):
                fit.take(trial, step)
        return [fit.best for fit in fits]

    def judged(self, formulas: Sequence[Expression]) -> list[Judgement]:
        """Return the mean losses of formulas."""
        means = self.chunks.total(_losses, tuple(formulas)) / self.facts.weights[::-1]
        return [Judgement(*pair) for pair in means.tolist()]

    def _steps(self, formulas: Sequence[Expression]) -> list[_Step]:
        """The steps of formulas; those that are not known take a pass together."""
        new = tuple(dict.fromkeys(one for one in formulas if one not in self._known))
        if new:
            found = self.chunks.total(_linearised, new)
            ends = np.cumsum([_Step.size(one, has_loss=self.ruler is not None) for one in new])
            for one, values in zip(new, np.split(found, ends[:-1]), strict=True):
                self._known[one] = _Step.of(one, values)
        return [self._known[one] for one in formulas]


@dataclass(frozen=True, eq=False, slots=True)
class _Step:
    """What a pass computes of a formula with K constants, as sums over all samples."""

    error: float
    """Of the losses, NaN if the formula fails."""
    gradient: Floats
    """(K,): half of the slope of the error."""
    curvature: Floats
    """(K, K): half of the curvature by which a step goes."""
    plain: Floats
    """(K, K): that of squared errors."""

    @staticmethod
    def size(formula: Expression, *, has_loss: bool) -> int:
        """Return how many sums it has."""
        count = len(formula.constant_places)
        return 1 + count + count * count * (2 if has_loss else 1)

    @classmethod
    def of(cls, formula: Expression, values: Floats) -> _Step:
        """Take the sums, in the order of the fields."""
        count = len(formula.constant_places)
        end, square = 1 + count, count * count
        squares = values[end : end + square], values[len(values) - square :]
        return cls(float(values[0]), values[1:end], *(one.reshape(count, count) for one in squares))


@dataclass(slots=True)
class _Fit:
    """A fit by Levenberg-Marquardt under way, as the core's but that a step must promise a gain before its pass."""

    best: Expression
    step: _Step
    damping: float = 1e-3
    is_done: bool = field(default=False, init=False)

    def trial(self) -> Expression | None:
        """Return the formula with the constants to try next; None if the fit has ended."""
        places, at = self.best.constant_places, self.step
        if not places or not math.isfinite(at.error) or not np.isfinite(at.curvature).all():
            self.is_done = True
        while not self.is_done:
            move = _damped(at.gradient.tolist(), at.curvature.tolist(), self.damping)
            if move is not None:
                change = np.array(move)
                # Element by element, because the last bit of a matrix product depends on the machine.
                gain = -2.0 * float(np.sum(change * at.gradient))
                gain -= float(np.sum(change[:, None] * at.curvature * change))
                row = self.best.row
                for place, step in zip(places, move, strict=True):
                    row = row.with_constant(place, row.constants[place] + step)
                if row == self.best.row or not gain > _LEAST_GAIN * abs(at.error):
                    break
                if all(math.isfinite(row.constants[place]) for place in places):
                    return Expression(self.best.library, row)
            self.damping *= 10.0
            self.is_done = self.damping > _MOST_DAMPING
        self.is_done = True
        return None

    def take(self, trial: Expression, step: _Step) -> None:
        """Go on from a trial, if it is better."""
        if step.error < self.step.error:
            self.best, self.step = trial, step
            self.damping = max(0.1 * self.damping, 1e-12)
        else:
            self.damping *= 10.0
            self.is_done = self.damping > _MOST_DAMPING


def _damped(gradient: list[float], curvature: list[list[float]], damping: float) -> list[float] | None:
    """Solve (curvature + damping * its diagonal) step = -gradient by Cholesky; None if it is not positive definite.

    A constant without effect gets a step of 0.
    """
    count = range(len(gradient))
    factor = [list(row) for row in curvature]
    for i in count:
        factor[i][i] = factor[i][i] * (1.0 + damping) if factor[i][i] > 0.0 else 1.0
        for j in range(i + 1):
            rest = factor[i][j]
            for m in range(j):
                rest -= factor[i][m] * factor[j][m]
            if i == j and not rest > 0.0:
                return None
            factor[i][j] = math.sqrt(rest) if i == j else rest / factor[j][j]
    step = [0.0 for _ in count]
    for i in count:
        rest = -gradient[i]
        for m in range(i):
            rest -= factor[i][m] * step[m]
        step[i] = rest / factor[i][i]
    for i in reversed(count):
        rest = step[i]
        for m in range(i + 1, len(gradient)):
            rest -= factor[m][i] * step[m]
        step[i] = rest / factor[i][i]
    return step


def _linearised(chunk: Chunk, formulas: Sequence[Expression]) -> Floats:
    """The sums of `_Step` for each formula, on a chunk."""
    out: list[Floats] = []
    for one in formulas:
        population, backend = Population.from_expressions([one]), chunk.data.backend
        plain = backend.linearise(population)
        if chunk.data.loss is None:
            out += [np.array([plain.error]), plain.gradient, plain.curvature.ravel()]
        else:
            bent = backend.linearise(population, by_loss=True)
            error = backend.errors(population).error
            out += [error, bent.gradient, bent.curvature.ravel(), plain.curvature.ravel()]
    return np.concatenate(out)


def _losses(chunk: Chunk, formulas: Sequence[Expression]) -> Floats:
    """The weighted sums of losses of each formula on a chunk: the user's, and those by which it is fitted, (N, 2)."""
    data, out = chunk.data, []
    for one in formulas:
        predicted = one.evaluate(data.X)
        pair = []
        for weights, loss in ((chunk.given_weights, chunk.given_loss), (data.weights, data.loss)):
            with np.errstate(over="ignore"):
                each = (data.y - predicted) ** 2 if loss is None else loss.scaled.native.values(data.y, predicted)
                pair.append(float(np.sum(weights * each)))
        out.append(pair)
    return np.array(out)


def _errors(errors: Sequence[float]) -> Errors:
    error = np.array(errors)
    failure = np.where(np.isfinite(error), np.uint8(Failure.NONE), np.uint8(Failure.INVALID))
    return Errors(error, failure, np.full(len(error), -1, dtype=np.int32))
