"""Minimum description length: the nats of a formula, and of the data given the formula.

The rule of Bartlett, Desmond & Ferreira (2023, "Exhaustive Symbolic Regression"): log(T) for each token from a library
of T, the nats of a fitted constant to the precision that the data give it or of a simple number (`simple_numbers.py`),
and n/2 log of the mean squared error for the data. Shorter is better; only differences have a meaning.

Some tokens are rarer than others, as the same authors found ("Priors for symbolic regression", 2023): few laws nest
exponentials in cosines. A token costs `RARITY` nats more for each step of its complexity above that of a sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data.dataset import Measured
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.scoring import simple_numbers
from symseed.scoring.evaluation import evaluate

RARITY = 0.75
"""Nats that a token costs for each step of complexity above 1: chosen by hand."""
EVIDENCE = 3.0
"""Nats by which a formula must shorten the description to be selected over a constant: odds of twenty to one."""


def code_length(dataset: Measured, mean_square: Floats) -> Floats:
    """Return the nats of the data, given a formula's mean squared error on them."""
    return 0.5 * len(dataset) * arithmetic.log(mean_square + dataset.rounding)


def constant_cost(value: float, deviation: float) -> float:
    """Return the nats of a constant known to a standard deviation, or of a simple number."""
    plain = simple_numbers.cost(value)
    fitted = math.inf
    if deviation > 0.0 and math.isfinite(deviation):
        fitted = float(simple_numbers.fitted_cost(np.array(abs(value) / deviation)))
    return min(fitted, math.inf if plain is None else plain)


def description_lengths(population: Population, dataset: Measured) -> Floats:
    """Return the nats of each row and of the data given it, (N,).

    They are infinite where a row fails, or has a constant too large for the data.
    """
    mean_square = dataset.mean_squares(evaluate(population, dataset).error)
    costs = _token_costs(population.library)
    # Added token by token: the last bit of NumPy's sum would depend on the padding of rows.
    tokens = np.cumsum(costs[np.minimum(population.tokens, len(population.library))], axis=1)[:, -1]
    data = code_length(dataset, mean_square)
    constants = np.array([_constants(population, row, dataset, float(mean_square[row])) for row in range(len(data))])
    return np.where(np.isnan(mean_square), np.inf, tokens + data + constants)


def _token_costs(library: Library) -> Floats:
    """Nats of each token, and 0 for padding, (T + 1,); a token of weight 3 counts as three."""
    costs = [token.weight * (library.token_nats + RARITY * (token.complexity - 1)) for token in library.tokens]
    return np.array([*costs, 0.0])


def deviations(population: Population, row: int, dataset: Measured, mean_square: float) -> Floats:
    """Return the standard deviation of each constant of a row, the others held fixed, (K,)."""
    curvature = _curvature(population, row, dataset)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.asarray(np.sqrt(_noise(dataset, mean_square) / np.diagonal(curvature)))


def free_deviations(population: Population, row: int, dataset: Measured, mean_square: float) -> Floats:
    """Return the standard deviation of each constant of a row, the others refitted, (K,).

    It is infinite if the others can compensate any change of the constant.
    """
    curvature = _curvature(population, row, dataset)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        unit = 1.0 / np.sqrt(np.diagonal(curvature))
        correlated = curvature * unit[:, None] * unit
        if not np.isfinite(correlated).all():
            return np.full(len(unit), np.inf)
        values, vectors = arithmetic.symmetric_eigen(correlated)
        inverse = np.sum(vectors * vectors / np.maximum(values, 0.0), axis=1)
        return np.asarray(np.sqrt(_noise(dataset, mean_square) * inverse) * unit)


def _curvature(population: Population, row: int, dataset: Measured) -> Floats:
    return dataset.backend.linearise(population.take(np.array([row]))).curvature


def _noise(dataset: Measured, mean_square: float) -> float:
    return (mean_square + dataset.rounding) * dataset.total_weight / len(dataset)


def _constants(population: Population, row: int, dataset: Measured, mean_square: float) -> float:
    values = population.constants[row, : population.lengths[row]]
    values = values[~np.isnan(values)]
    if len(values) == 0 or math.isnan(mean_square):
        return 0.0
    if (np.abs(values) > dataset.largest_constant).any():
        return math.inf
    spread = deviations(population, row, dataset, mean_square)
    return sum(constant_cost(float(value), float(width)) for value, width in zip(values, spread, strict=True))


def shortest(lengths: Sequence[float], is_number: Sequence[bool]) -> int:
    """Return the index of the shortest description, or of the best constant formula if that is nearly as short."""
    best = min(range(len(lengths)), key=lengths.__getitem__)
    number = min((i for i, is_one in enumerate(is_number) if is_one), key=lengths.__getitem__, default=best)
    return best if lengths[best] < lengths[number] - EVIDENCE else number
