"""Certainty: whether a formula whose only error is rounding is a law, or a series that imitates one on these samples.

A polynomial of degree 13 reproduces sinh(2 x) on [-1, 1] to twelve digits. Two things tell it from a law:

- The constants of a law are all determined to many digits. Those of a truncated series become vaguer from term to term:
  the last term is just large enough to matter, so its constant has few digits once the others may compensate for it.
- A law is short beside the digits of the data that it explains (minimum description length).
"""

from __future__ import annotations

import math

import numpy as np

from symseed.data.dataset import Dataset
from symseed.language.population import Population
from symseed.scoring import simple_numbers
from symseed.scoring.description import code_length, free_deviations

DETERMINED = 1e5
"""Least ratio of a fitted constant to its standard deviation. `perf/certainty.py` shows those of laws and of series."""
SHARE = 0.5
"""Largest share of the nats that a formula saves on the data which its own tokens and constants may cost: chosen by
hand. Chance alone reaches 1: any data can be written down as a formula of their own length."""


def is_certain(population: Population, row: int, dataset: Dataset, *, mean_square: float, description: float) -> bool:
    """Return whether a row that fits to rounding is a law, given its description length."""
    spread = np.array([mean_square, dataset.deviation * dataset.deviation])
    nats, without = code_length(dataset, spread)
    if description - nats > SHARE * (without - nats):
        return False
    return least_determined(population, row, dataset, mean_square) >= DETERMINED


def least_determined(population: Population, row: int, dataset: Dataset, mean_square: float) -> float:
    """Return the smallest ratio of a fitted constant to its standard deviation, the others refitted.

    Simple numbers, such as 2 and 1/3, do not count; without other constants the ratio is infinite.
    """
    values = population.constants[row, : population.lengths[row]]
    values = values[~np.isnan(values)]
    is_fitted = np.array([simple_numbers.cost(float(value)) is None for value in values], dtype=bool)
    if not is_fitted.any():
        return math.inf
    deviations = free_deviations(population, row, dataset, mean_square)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float((np.abs(values) / deviations)[is_fitted].min())
