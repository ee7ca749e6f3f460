"""Random expressions that every engine evaluates, and the data that they are evaluated on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import symseed

SEED = 20240229
OPERATORS = ("add", "sub", "mul", "div", "sin", "cos", "exp", "log")
VARIABLES = 2
LOW, HIGH = 0.5, 2.0
"""Range of the inputs: logarithms and quotients of them stay finite often enough."""
SHORTEST, LONGEST = 15, 30
UNARY_SHARE = 0.26
"""Of the tokens drawn. Expressions with many logarithms fail more often, so a quarter is left of it."""

_DRAWN_AT_ONCE = 20_000


@dataclass(frozen=True)
class Workload:
    """Expressions and the data that they are evaluated on."""

    population: symseed.Population
    dataset: symseed.Dataset

    def head(self, count: int) -> Workload:
        """Return the same data with the first `count` expressions."""
        return Workload(self.population.take(np.arange(min(count, len(self.population)))), self.dataset)

    def repeated(self, times: int) -> Workload:
        """Return the same data with every expression several times."""
        return Workload(symseed.Population.concatenate([self.population] * times), self.dataset)

    @property
    def node_points(self) -> int:
        """Values that one pass computes: tokens of all expressions times samples."""
        return int(self.population.lengths.sum()) * len(self.dataset)


def make_library(variables: int) -> symseed.Library:
    """Build the library of all comparisons: the variables, then `OPERATORS`."""
    return symseed.Library.of(OPERATORS, variables)


def make_dataset(points: int, variables: int) -> symseed.Dataset:
    """Draw inputs evenly from `LOW` to `HIGH`, so that fewer points are the first of more points."""
    X = np.random.default_rng(SEED).uniform(LOW, HIGH, (points, variables))
    return symseed.Dataset.of(X, np.sin(X[:, 0]) + X[:, -1] ** 2)


def draw_finite(count: int, library: symseed.Library, dataset: symseed.Dataset) -> symseed.Population:
    """Draw `count` expressions that are finite at every sample, so that no engine can stop early at a failure."""
    rng = np.random.default_rng(SEED)
    kept: list[symseed.Population] = []
    while sum(map(len, kept)) < count:
        drawn = _draw(rng, library)
        kept.append(keep_finite(drawn, dataset))
    return symseed.Population.concatenate(kept).take(np.arange(count))


def keep_finite(population: symseed.Population, dataset: symseed.Dataset) -> symseed.Population:
    """Keep the expressions whose every value is finite at every sample."""
    failure = symseed.evaluate(population, dataset).failure
    return population.take(failure == symseed.Failure.NONE)


def unary_share(population: symseed.Population) -> float:
    """Return the share of tokens that are sin, cos, exp or log."""
    arity = np.append(population.library.arities, 0)[np.minimum(population.tokens, len(population.library))]
    return float((arity == 1).sum() / population.lengths.sum())


def _draw(rng: np.random.Generator, library: symseed.Library) -> symseed.Population:
    """Draw expressions without looking at their values."""
    by_arity = [np.flatnonzero(library.arities == arity) for arity in range(3)]
    tokens = np.full((_DRAWN_AT_ONCE, LONGEST), library.pad)
    lengths = rng.integers(SHORTEST, LONGEST + 1, _DRAWN_AT_ONCE)
    for row, length in enumerate(lengths):
        arities = _draw_arities(rng, int(length))
        picks = rng.random(length)
        for arity, choices in enumerate(by_arity):
            places = np.flatnonzero(arities == arity)
            tokens[row, places] = choices[(picks[places] * len(choices)).astype(int)]
    return symseed.Population.of(library, tokens, lengths)


def _draw_arities(rng: np.random.Generator, length: int) -> npt.NDArray[np.int64]:
    """Draw the arities of an expression in prefix order, evenly among those with as many of each arity."""
    unary = int(rng.binomial(length - 1, UNARY_SHARE))
    unary += (length - 1 - unary) % 2
    binary = (length - 1 - unary) // 2
    arities = rng.permutation(np.repeat([2, 1, 0], [binary, unary, binary + 1]))
    # Exactly one rotation of such a sequence is in prefix order (Dvoretzky and Motzkin, 1947): the one that begins
    # after the first lowest point of its sum.
    lowest = int(np.argmin(np.cumsum(arities - 1)))
    return np.roll(arities, -(lowest + 1))
