"""Backends: compute formulas on a dataset. The compiled core is the default; another may replace it.

Axis letters: N rows of a population, M samples, K constants of a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.arrays import Floats
from symseed.data.losses import Loss
from symseed.language.library import TokenIds
from symseed.language.population import Constants, Lengths, Population

Failures: TypeAlias = npt.NDArray[np.uint8]
Positions: TypeAlias = npt.NDArray[np.int32]
Failure = _core.Failure
Validity = _core.Validity
FitMethod = _core.FitMethod


# --- Answers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Errors:
    """What `evaluate` and `fit` give, row by row."""

    error: Floats  # (N,): weighted sum of squared errors, or of other losses, NaN where the row failed
    failure: Failures  # (N,): a `Failure` each
    position: Positions  # (N,): of the token that failed first, -1 if none failed


@dataclass(frozen=True, slots=True)
class Predictions:
    """What `predict` gives, row by row."""

    value: Floats  # (N, M), NaN throughout where the row failed
    failure: Failures  # (N,)
    position: Positions  # (N,)


@dataclass(frozen=True, slots=True)
class Linearisation:
    """The terms of a Gauss-Newton step of one row, for squared errors whatever the loss."""

    error: float  # weighted sum of squared errors
    gradient: Floats  # (K,): weighted sums of residual * derivative
    curvature: Floats  # (K, K): weighted sums of derivative * derivative


@dataclass(frozen=True, slots=True)
class Semantics:
    """Values and desired values of each node of one row: semantic backpropagation (Pawlak, Wieloch & Krawiec 2015).

    Both are (length of the row, M): values from the leaves upwards, all NaN if the row fails; desired values from the
    root downwards by inverse operators, NaN at nodes that no inverse reaches.
    """

    values: Floats
    desired: Floats


@dataclass(frozen=True, slots=True)
class CachedErrors:
    """The results of a `Scorer`."""

    population: Population  # the rows, with fitted constants if the scorer fits them
    errors: Errors
    is_computed: npt.NDArray[np.bool_]  # (N,): whether a row was computed now, not taken from the cache


# --- The protocol ----------------------------------------------------------------------------------------------------


class FitSteps(NamedTuple):
    """How a scorer fits constants; see `FitSettings`."""

    iterations: int
    restarts: int
    seed: int
    method: FitMethod = FitMethod.LEVENBERG_MARQUARDT


class Scorer(Protocol):
    """Computes errors with a cache: equal rows are computed once. Threads may share it."""

    @property
    def counts(self) -> tuple[int, int, int]:
        """Rows asked for, rows computed, and different rows computed (an estimate once the cache is full)."""

    def score(self, population: Population) -> CachedErrors:
        """Return the errors of each row, after a fit of its constants if the scorer fits them."""


class Fits(Protocol):
    """What the simplification and the description of formulas ask of samples; see `Backend`."""

    def errors(self, population: Population, *, validity: Validity = Validity.VALUES, threads: int = 1) -> Errors:
        """Return the weighted sum of losses of each row; `validity` says what a row must be to have one."""

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
        """Fit the constants of each row; by Levenberg-Marquardt, no row gets a larger error than it had."""

    def linearise(self, population: Population, *, by_loss: bool = False) -> Linearisation:
        """Return the linearisation of one row in its constants; the population holds no other row.

        Args:
            by_loss: whether the steps are those of the dataset's loss: residuals are half of its slope, and squares
                have weights with which they have the slope of the loss. The error is of squares all the same.
        """

    def semantics(self, population: Population) -> Semantics:
        """Return values and desired values of each node of one row; the population holds no other row."""


class Backend(Fits, Protocol):
    """Computes the rows of a population on the samples, weights and loss of one dataset.

    `Dataset.with_backend` puts one in place; a dataset makes it at the first use and keeps it. The callers have checked
    that the dataset has the library's variables. Errors are sums of the dataset's loss; `threads` must not change an
    answer.

    Two computations always use the core. The table of semantic completion (`completion/completer.py`) applies search
    rules to sub-expressions on a few samples at a time, which is not an evaluation of a population.
    `Expression.evaluate` computes one formula on a table that belongs to no dataset.
    """

    def predict(self, population: Population, *, validity: Validity = Validity.VALUES, threads: int = 1) -> Predictions:
        """Return the value of each row at each sample."""

    def scorer(
        self,
        *,
        cache_bytes: int,
        cached_constants: int,
        fit: FitSteps | None = None,
        validity: Validity = Validity.VALUES,
        threads: int = 1,
    ) -> Scorer:
        """Return a scorer with a cache of limited bytes, for rows of a limited number of constants."""


# --- The compiled core -----------------------------------------------------------------------------------------------

_Arrays: TypeAlias = tuple[_core.Vocabulary, _core.Samples, TokenIds, Lengths, Constants]


@dataclass(frozen=True, slots=True)
class CoreBackend:
    """The compiled core, on the processor."""

    samples: _core.Samples
    loss: Loss | None = None

    def errors(self, population: Population, *, validity: Validity = Validity.VALUES, threads: int = 1) -> Errors:
        """See `Backend.errors`."""
        return Errors(
            *_core.squared_errors(*self._arrays(population), validity=validity, threads=threads, loss=self._native_loss)
        )

    def predict(self, population: Population, *, validity: Validity = Validity.VALUES, threads: int = 1) -> Predictions:
        """See `Backend.predict`."""
        return Predictions(*_core.predictions(*self._arrays(population), validity=validity, threads=threads))

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
        """See `Backend.fit`."""
        constants, error, failure, position = _core.fit_constants(
            *self._arrays(population),
            method=method,
            iterations=iterations,
            restarts=restarts,
            seed=seed,
            validity=validity,
            threads=threads,
            loss=self._native_loss,
        )
        return population.with_constants(constants), Errors(error, failure, position)

    def linearise(self, population: Population, *, by_loss: bool = False) -> Linearisation:
        """See `Backend.linearise`."""
        loss = self._native_loss if by_loss else None
        return Linearisation(*_core.linearise(*self._arrays(population), loss=loss))

    def semantics(self, population: Population) -> Semantics:
        """See `Backend.semantics`."""
        return Semantics(*_core.semantics(*self._arrays(population)))

    def scorer(
        self,
        *,
        cache_bytes: int,
        cached_constants: int,
        fit: FitSteps | None = None,
        validity: Validity = Validity.VALUES,
        threads: int = 1,
    ) -> Scorer:
        """See `Backend.scorer`."""
        return _CoreScorer(self, _core.Cache(cache_bytes, cached_constants), fit, validity, threads)

    def _arrays(self, population: Population) -> _Arrays:
        """The first arguments of every function of the core."""
        vocabulary = population.library.vocabulary
        return vocabulary, self.samples, population.tokens, population.lengths, population.constants

    @property
    def _native_loss(self) -> _core.Function | None:
        return None if self.loss is None else self.loss.scaled.native


@dataclass(frozen=True, slots=True)
class _CoreScorer:
    """The core's cache, with the options of its scores."""

    backend: CoreBackend
    cache: _core.Cache
    fit: FitSteps | None
    validity: Validity
    threads: int

    @property
    def counts(self) -> tuple[int, int, int]:
        """See `Scorer.counts`."""
        return self.cache.counts

    def score(self, population: Population) -> CachedErrors:
        """See `Scorer.score`."""
        error, failure, position, constants, computed = self.cache.score(
            *self.backend._arrays(population),
            fit=self.fit,
            validity=self.validity,
            threads=self.threads,
            loss=self.backend._native_loss,
        )
        scored = population if constants is None else population.with_constants(constants)
        return CachedErrors(scored, Errors(error, failure, position), computed.view(np.bool_))
