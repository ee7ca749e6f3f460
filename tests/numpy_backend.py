"""A second backend: formulas on a dataset by the slow NumPy twins of the core, one row after the other.

It shows that nothing above `Dataset.backend` needs the core, and counts what it is asked. Constants are fitted to
squared errors only.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import reference
from symseed import Dataset, Expression, Failure, Population
from symseed.arrays import Floats
from symseed.data.backend import CachedErrors, Errors, FitSteps, Linearisation, Predictions, Scorer, Semantics
from symseed.language.row import Row
from symseed.scoring import FitMethod, Validity


@dataclass(frozen=True)
class NumpyBackend:
    """The twins on the samples of one dataset.

    Data made from others have a backend of their own, so whoever counts lends one counter to all of them:
    `functools.partial(NumpyBackend, asked=counter)` makes them.
    """

    dataset: Dataset
    asked: Counter[str] = field(default_factory=Counter)
    """How often each method was called."""

    def errors(self, population: Population, *, validity: Validity = Validity.VALUES, threads: int = 1) -> Errors:
        self.asked["errors"] += 1
        return self._errors(population, validity)

    def predict(self, population: Population, *, validity: Validity = Validity.VALUES, threads: int = 1) -> Predictions:
        self.asked["predict"] += 1
        return self._predictions(population, validity)

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
        self.asked["fit"] += 1
        assert method is FitMethod.LEVENBERG_MARQUARDT, "the twin of BFGS is `reference.minimise`"
        return self._fitted(population, iterations, validity)

    def linearise(self, population: Population, *, by_loss: bool = False) -> Linearisation:
        assert not by_loss, "the twin fits squared errors only"
        self.asked["linearise"] += 1
        (expression,) = population
        return self._linearised(expression)

    def semantics(self, population: Population) -> Semantics:
        self.asked["semantics"] += 1
        (expression,) = population
        found = reference.semantics(expression, self.dataset.X, self.dataset.y)
        return Semantics(found.values, found.desired)

    def scorer(
        self,
        *,
        cache_bytes: int,
        cached_constants: int,
        fit: FitSteps | None = None,
        validity: Validity = Validity.VALUES,
        threads: int = 1,
    ) -> Scorer:
        self.asked["scorer"] += 1
        return NumpyScorer(self, fit, validity)

    def _predictions(self, population: Population, validity: Validity) -> Predictions:
        apply = reference.numpy_apply(validity=validity)
        found = [reference.evaluate(expression, self.dataset.X, apply) for expression in population]
        return Predictions(
            np.array([row.values for row in found]).reshape(len(found), len(self.dataset)),
            np.array([row.failure for row in found], dtype=np.uint8),
            np.array([row.position for row in found], dtype=np.int32),
        )

    def _errors(self, population: Population, validity: Validity) -> Errors:
        found = self._predictions(population, validity)
        error = np.array([self._error(value) for value in found.value])
        failure = np.where(np.isinf(error), np.uint8(Failure.LOSS_OVERFLOW), found.failure)
        return Errors(np.where(failure == Failure.NONE, error, np.nan), failure, found.position)

    def _error(self, prediction: Floats) -> float:
        loss, y, weights = self.dataset.loss, self.dataset.y, self.dataset.weights
        if loss is None:
            return reference.squared_error(prediction, y, weights)
        return float(np.sum(weights * loss.scaled.call(y, prediction)))

    def _linearised(self, expression: Expression) -> Linearisation:
        residual = reference.evaluate(expression, self.dataset.X).values - self.dataset.y
        slopes = reference.jacobian(expression, self.dataset.X).reshape(-1, len(self.dataset))
        weighted = slopes * self.dataset.weights
        return Linearisation(
            float(np.sum(self.dataset.weights * residual**2)), weighted @ residual, weighted @ slopes.T
        )

    def _fitted(self, population: Population, iterations: int, validity: Validity) -> tuple[Population, Errors]:
        assert self.dataset.loss is None, "the twin fits squared errors only"
        if len(population) == 0:
            return population, self._errors(population, validity)
        rows = [self._fitted_row(expression, iterations, validity) for expression in population]
        fitted = population.with_constants(_padded(rows, population))
        return fitted, self._errors(fitted, validity)

    def _fitted_row(self, expression: Expression, iterations: int, validity: Validity) -> Floats:
        """The row's constants after some steps of Levenberg-Marquardt; from all ones where the row fails as it is."""
        constants = np.array(expression.constants)
        places = np.flatnonzero(~np.isnan(constants))
        error = self._error_with(expression, constants, validity)
        if np.isnan(error):
            ones = np.where(np.isnan(constants), np.nan, 1.0)
            error = self._error_with(expression, ones, validity)
            constants = constants if np.isnan(error) else ones
        damping = 1e-3
        for _ in range(iterations if len(places) and not np.isnan(error) else 0):
            step = self._step(_with(expression, constants), damping)
            moved = constants.copy()
            moved[places] -= step
            reached = self._error_with(expression, moved, validity)
            if reached < error:
                constants, error, damping = moved, reached, damping / 10.0
            else:
                damping = min(damping * 10.0, 1e12)
        return constants

    def _step(self, expression: Expression, damping: float) -> Floats:
        at = self._linearised(expression)
        if not np.isfinite(at.curvature).all():
            return np.zeros(len(at.gradient))
        damped = at.curvature + np.diag(damping * np.diagonal(at.curvature))
        return np.asarray(np.linalg.lstsq(damped, at.gradient, rcond=None)[0], dtype=np.float64)

    def _error_with(self, expression: Expression, constants: Floats, validity: Validity) -> float:
        """NaN where the row fails with these constants."""
        if np.isinf(constants).any():
            return np.nan
        one = Population.from_expressions([_with(expression, constants)])
        return float(self._errors(one, validity).error[0])


@dataclass
class NumpyScorer:
    """A dictionary of all rows that it has met."""

    backend: NumpyBackend
    fit: FitSteps | None
    validity: Validity
    known: dict[bytes, tuple[Floats, float, int, int]] = field(default_factory=dict)
    asked: int = 0

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.asked, len(self.known), len(self.known)

    def score(self, population: Population) -> CachedErrors:
        self.backend.asked["score"] += 1
        self.asked += len(population)
        keys = [print_.tobytes() for print_ in population.fingerprints]
        is_computed = np.zeros(len(keys), dtype=bool)
        for row, key in enumerate(keys):
            if key not in self.known:
                is_computed[row] = True
                self.known[key] = self._computed(population.take(row))
        found = [self.known[key] for key in keys]
        errors = Errors(
            np.array([row[1] for row in found]),
            np.array([row[2] for row in found], dtype=np.uint8),
            np.array([row[3] for row in found], dtype=np.int32),
        )
        fitted = (
            population if self.fit is None else population.with_constants(_padded([r[0] for r in found], population))
        )
        return CachedErrors(fitted, errors, is_computed)

    def _computed(self, row: Population) -> tuple[Floats, float, int, int]:
        fitted, errors = row, None
        if self.fit is not None:
            fitted, errors = self.backend._fitted(row, self.fit.iterations, self.validity)
        errors = errors or self.backend._errors(row, self.validity)
        constants = fitted.constants[0, : fitted.lengths[0]]
        return constants, float(errors.error[0]), int(errors.failure[0]), int(errors.position[0])


def _with(expression: Expression, constants: Floats) -> Expression:
    return Expression(expression.library, Row(expression.ids, tuple(constants.tolist())))


def _padded(rows: list[Floats], population: Population) -> Floats:
    out = np.full(population.tokens.shape, np.nan)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out
