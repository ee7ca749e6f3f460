"""Minimum description length: the nats of a formula, and of the data given the formula.

The rule of Bartlett, Desmond & Ferreira (2023, "Exhaustive Symbolic Regression"): the nats of each token, those of a
fitted constant to the precision that the data give it or of a simple number (`simple_numbers.py`), and n/2 log of the
mean squared error for the data. Shorter is better; only differences have a meaning. Where their tokens cost the same,
ours have a complete code of trees (`Library.token_nats`).

Some tokens are rarer than others, as the same authors found ("Priors for symbolic regression", 2023): few laws nest
exponentials in cosines. A token costs `RARITY` nats more for each step of its complexity above that of a sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data.dataset import Dataset, Measured
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.language.tokens import TokenKind
from symseed.scoring import simple_numbers
from symseed.scoring.evaluation import evaluate, predict

RARITY = 0.75
"""Nats that a token costs for each step of complexity above 1: chosen by hand."""
_AT_ONCE = 1_000_000
"""Values of formulas that are computed at once: a bound on memory."""
EVIDENCE = 1.0
"""Nats by which a formula that holds a number must shorten the description to be selected over a constant."""
BARE_EVIDENCE = 3.0
"""The same for a formula without a number: odds of twenty to one. It pays for no constant, and has the size of y by
luck. Both were measured on noise of few rows, see decision 071."""


def code_length(dataset: Measured, mean_square: Floats) -> Floats:
    """Return the nats of the data, given a formula's mean squared error on them."""
    return 0.5 * len(dataset) * arithmetic.log(mean_square + dataset.rounding)


def data_lengths(population: Population, dataset: Measured, mean_square: Floats) -> Floats:
    """Return the nats of the data given each row, (N,), with the noise that its own values imply.

    Samples that are not in memory keep the weights that a smooth curve gave them.

    Args:
        mean_square: (N,) mean squared errors of the rows; NaN where a row fails.
    """
    if not isinstance(dataset, Dataset) or dataset.growth is None or dataset.loss is not None:
        return code_length(dataset, mean_square)
    lengths = np.full(len(population), np.nan)
    done = np.flatnonzero(np.isfinite(mean_square))
    block = max(1, _AT_ONCE // len(dataset))
    for rows in (done[begin : begin + block] for begin in range(0, len(done), block)):
        values = predict(population.take(rows), dataset).value
        factor, logs = dataset.growth.own(values)
        with np.errstate(over="ignore", invalid="ignore"):
            error = np.sum(dataset.weights * factor * (dataset.y - values) ** 2, axis=1)
            lengths[rows] = code_length(dataset, error / dataset.total_weight) + logs
    return lengths


def constant_cost(value: float, deviation: float) -> float:
    """Return the nats of a constant known to a standard deviation, or of a simple number."""
    plain = simple_numbers.cost(value)
    fitted = math.inf
    if deviation > 0.0 and math.isfinite(deviation):
        fitted = float(simple_numbers.fitted_cost(np.array(abs(value) / deviation)))
    return min(fitted, math.inf if plain is None else plain)


def description_lengths(population: Population, dataset: Measured) -> Floats:
    """Return the nats of each row and of the data given it, (N,).

    They are infinite where a row fails, or has a constant too large for the data, or is the number 0 though all of y
    has one sign: their mean is not 0, however widely they spread.
    """
    mean_square = dataset.mean_squares(evaluate(population, dataset).error)
    costs = _token_costs(population.library)
    # Added token by token: the last bit of NumPy's sum would depend on the padding of rows.
    tokens = np.cumsum(costs[np.minimum(population.tokens, len(population.library))], axis=1)[:, -1]
    data = data_lengths(population, dataset, mean_square)
    constants = np.array([_constants(population, row, dataset, float(mean_square[row])) for row in range(len(data))])
    has_one_sign = isinstance(dataset, Dataset) and dataset.has_one_sign
    is_nothing = (population.lengths == 1) & (population.constants[:, 0] == 0.0) & has_one_sign
    return np.where(np.isnan(mean_square) | np.isnan(data) | is_nothing, np.inf, tokens + data + constants)


def _token_costs(library: Library) -> Floats:
    """Nats of each token, and 0 for padding, (T + 1,); a token of weight 3 counts as three."""
    each = zip(library.tokens, library.token_nats, strict=True)
    costs = [token.weight * (nats + RARITY * (token.complexity - 1)) for token, nats in each]
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


def evidence(expression: Expression) -> float:
    """Return the nats by which a formula must shorten the description to be selected over a constant; 0 for one."""
    if expression.tokens[0].kind is TokenKind.CONSTANT:
        return 0.0
    return EVIDENCE if expression.constant_places else BARE_EVIDENCE


def shortest(lengths: Sequence[float], needed: Sequence[float]) -> int:
    """Return the index of the shortest description, or of the best constant formula if that is nearly as short.

    Args:
        needed: `evidence` of each formula.
    """
    everything = range(len(lengths))
    number = min((i for i in everything if needed[i] == 0.0), key=lengths.__getitem__, default=None)
    limit = math.inf if number is None else lengths[number]
    able = [i for i in everything if needed[i] > 0.0 and lengths[i] < limit - needed[i]]
    best = min(able, key=lengths.__getitem__, default=number)
    return 0 if best is None else best
