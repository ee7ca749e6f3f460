"""Evaluation of a population on a dataset: errors, predictions, fitted constants, and reasons for failure."""

from __future__ import annotations

import numpy as np

from symseed.data.backend import Errors, Predictions, Validity
from symseed.data.dataset import Dataset, Measured
from symseed.errors import DataError, check_between
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.scoring.fitting import FitSettings

_LEAST_GAIN = 1e-7
"""Share of the error that a fit must remove for another fit to follow: chosen by hand."""


def evaluate(
    population: Population, dataset: Measured, *, validity: Validity = Validity.VALUES, threads: int = 1
) -> Errors:
    """Score each row by its weighted sum of squared errors, or of the dataset's own losses.

    A row fails at the first value of a token at a sample that is not finite. `validity` may ask for more, as the
    authors' released code does, or for less: see `Validity`.
    """
    check_columns(population.library, dataset)
    return dataset.backend.errors(population, validity=validity, threads=check_threads(threads))


def predict(
    population: Population, dataset: Dataset, *, validity: Validity = Validity.VALUES, threads: int = 1
) -> Predictions:
    """Return the value of each row at each sample; this needs memory for N * M float64."""
    check_columns(population.library, dataset)
    return dataset.backend.predict(population, validity=validity, threads=check_threads(threads))


def fit(
    population: Population,
    dataset: Measured,
    settings: FitSettings | None = None,
    *,
    seed: int = 0,
    validity: Validity = Validity.VALUES,
    threads: int = 1,
) -> tuple[Population, Errors]:
    """Fit the constants of each row; return the rows with their new constants, and their errors.

    By Levenberg-Marquardt, no row gets a larger error than it had. `seed` is used for restarts only.
    """
    chosen = settings or FitSettings()
    check_columns(population.library, dataset)
    return dataset.backend.fit(
        population,
        iterations=chosen.iterations,
        restarts=chosen.restarts,
        seed=seed,
        method=chosen.method,
        validity=validity,
        threads=check_threads(threads),
    )


def fit_to_convergence(population: Population, dataset: Dataset, *, most: int) -> tuple[Population, Errors]:
    """Fit the constants of each row to convergence; return rows and errors, as `fit` does.

    Convergence is slow if constants are redundant, so there are at most `most` fits of 100 iterations.
    """
    error = np.full(len(population), np.inf)
    for _ in range(most):
        population, errors = fit(population, dataset, FitSettings(iterations=100))
        if not (errors.error < error * (1.0 - _LEAST_GAIN)).any():
            break
        error = errors.error
    return population, errors


def check_columns(library: Library, dataset: Measured) -> None:
    """Refuse a library with variables that the dataset does not have."""
    needed = 1 + max((token.column for token in library.variables), default=-1)
    if needed > len(dataset.names):
        raise DataError(
            f"The library's variables need {needed} columns, but the dataset has {len(dataset.names)}: "
            f"{', '.join(dataset.names[:10])}."
        )


def check_threads(threads: int) -> int:
    """Refuse a number of threads that is not from 1 to 1024."""
    check_between("threads", threads, 1, 1024)
    return threads
