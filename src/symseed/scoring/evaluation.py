"""A population on a dataset: errors or predictions, and why a row failed."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.errors import DataError, check_between
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.scoring.fitting import FitSettings

Failures: TypeAlias = npt.NDArray[np.uint8]
Positions: TypeAlias = npt.NDArray[np.int32]


class Failure(enum.IntEnum):
    """Why a row has no score; `sentence` says it."""

    NONE = 0
    INVALID = 1
    DIVIDE_BY_ZERO = 2
    OVERFLOW = 3
    UNDERFLOW = 4
    LOSS_OVERFLOW = 5
    NO_ANSWER = 6

    @property
    def sentence(self) -> str:
        """What to tell a person."""
        return _SENTENCES[self]


_GAIN = 1e-7  # share of the error that another fit must take away to be worth one more

_SENTENCES = {
    Failure.NONE: "The expression has a finite value at every sample.",
    Failure.INVALID: "The expression is not a number at some sample, such as log(-1) or 0/0.",
    Failure.DIVIDE_BY_ZERO: "The expression divides by zero at some sample, or takes log(0).",
    Failure.OVERFLOW: "A value of the expression is too large for float64 at some sample.",
    Failure.UNDERFLOW: "A value of the expression is too small for float64 at some sample (strict mode).",
    Failure.LOSS_OVERFLOW: "The predictions are finite, but their squared error, or other loss, is not.",
    Failure.NO_ANSWER: "An operator or a loss of your own raised an exception, or gave something else than numbers.",
}


@dataclass(frozen=True, slots=True)
class Errors:
    """What `evaluate` and `fit` give, row by row."""

    error: Floats  # (N,): weighted sum of squared errors, or of other losses, NaN where the row failed
    failure: Failures  # (N,): a `Failure` each
    position: Positions  # (N,): of the token that failed first, -1 where there is none


@dataclass(frozen=True, slots=True)
class Predictions:
    """What `predict` gives, row by row."""

    value: Floats  # (N, M), NaN throughout where the row failed
    failure: Failures  # (N,)
    position: Positions  # (N,)


def evaluate(population: Population, dataset: Dataset, *, strict: bool = False, threads: int = 1) -> Errors:
    """Score each row by its weighted sum of squared errors, or of the dataset's own losses.

    A row fails at the first value, of any of its tokens at any sample, that is not finite. `strict` is the rule of the
    authors' released code: any IEEE flag but "inexact" is a failure, so underflow too.
    """
    check_columns(population.library, dataset)
    error, failure, position = _core.squared_errors(
        population.library.vocabulary,
        dataset.samples,
        population.tokens,
        population.lengths,
        population.constants,
        strict=strict,
        threads=check_threads(threads),
        loss=native_loss(dataset),
    )
    return Errors(error, failure, position)


def predict(population: Population, dataset: Dataset, *, strict: bool = False, threads: int = 1) -> Predictions:
    """Give the value of each row at each sample; it needs N * M float64 of memory."""
    check_columns(population.library, dataset)
    value, failure, position = _core.predictions(
        population.library.vocabulary,
        dataset.samples,
        population.tokens,
        population.lengths,
        population.constants,
        strict=strict,
        threads=check_threads(threads),
    )
    return Predictions(value, failure, position)


def fit(
    population: Population,
    dataset: Dataset,
    settings: FitSettings | None = None,
    *,
    seed: int = 0,
    strict: bool = False,
    threads: int = 1,
) -> tuple[Population, Errors]:
    """Fit the constants of each row; return the rows with their new constants, and their errors.

    No row gets a larger error than it had. `seed` is used for restarts only.
    """
    chosen = settings or FitSettings()
    check_columns(population.library, dataset)
    constants, error, failure, position = _core.fit_constants(
        population.library.vocabulary,
        dataset.samples,
        population.tokens,
        population.lengths,
        population.constants,
        iterations=chosen.iterations,
        restarts=chosen.restarts,
        seed=seed,
        strict=strict,
        threads=check_threads(threads),
        loss=native_loss(dataset),
    )
    return population.with_constants(constants), Errors(error, failure, position)


def settled(population: Population, dataset: Dataset, *, most: int) -> tuple[Population, Errors]:
    """Fit the constants of each row until that gains nothing more; return them and their errors, as `fit` does.

    That takes long where constants can stand in for one another, so there are at most so many fits of 100 iterations.
    """
    error = np.full(len(population), np.inf)
    for _ in range(most):
        population, errors = fit(population, dataset, FitSettings(iterations=100))
        if not (errors.error < error * (1.0 - _GAIN)).any():
            break
        error = errors.error
    return population, errors


def native_loss(dataset: Dataset) -> _core.Function | None:
    """Return the dataset's loss as the core takes it."""
    return None if dataset.loss is None else dataset.loss.scaled.native


def check_columns(library: Library, dataset: Dataset) -> None:
    """Refuse a library with variables that the dataset does not have."""
    needed = 1 + max((token.column for token in library.variables), default=-1)
    if needed > dataset.X.shape[1]:
        raise DataError(
            f"The library's variables need {needed} columns, but the dataset has {dataset.X.shape[1]}: "
            f"{', '.join(dataset.names[:10])}."
        )


def check_threads(threads: int) -> int:
    """Refuse a number of threads that cannot be had."""
    check_between("threads", threads, 1, 1024)
    return threads
