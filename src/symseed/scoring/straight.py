"""Laws that a transformation makes a straight line: t(y) = a + b s(x), or t(y) = b s(x), and products of powers.

Textbooks draw most laws of one column that way: Arrhenius' law as log y over 1 / x, a rate of second order as 1 / y
over x. Such a law is far more probable than its tree of tokens says, so `description.py` has a short code for it. A
formula is recognised by its values at a few points, whatever its writing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.language.population import Population
from symseed.language.tokens import TokenKind
from symseed.scoring import simple_numbers
from symseed.scoring.evaluation import predict

POWERS = (1.0, 2.0, -1.0, 0.5, 3.0, 4.0, 1.5, -0.5, -2.0)
"""Powers of the column that s(x) may be, the common ones first; or it is the logarithm."""
TARGETS = (1.0, -1.0, 0.5, -0.5, 2.0)
"""Powers of y that t(y) may be; or it is the logarithm."""
KIND = math.log((len(TARGETS) + 1) * (len(POWERS) + 1))
"""Nats of one of them in a given column: each transformation of y and of x."""
COMMON, RARE = 4, 1.5
"""Number of powers of the column that are common, and the nats that another one costs more, as the logarithm does where
t(y) is not the logarithm: chosen by hand."""
LINE = 1.4
"""Nats that a straight line without a transformation costs less: chosen by hand."""
OFFSET = 2.3
"""Nats of an offset a, unless t is the logarithm, where it is a factor of y: chosen by hand."""
WRITING = 0.2
"""Share of the nats of its tokens that a writing costs: the shortest writing is preferred. Chosen by hand."""
BARE = simple_numbers.cost(1.0) or 0.0
"""Nats of a factor that is 1, and not written."""
POINTS = 16
"""Points at which a formula is computed: chosen by hand."""
_SAME = 1e-9
"""Largest deviation from a straight line, as a share of its spread: rounding."""
_NEAR = 1e-9
"""The same for squares, of what is looked at more exactly."""
_LEAST_SPREAD = 1e-6
"""Least spread of the transformed values, as a share of their size: below it nothing is recognised."""
_GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
"""Multiples of it, without their whole parts, are spread evenly."""
_LONGEST, _MOST_NUMBERS = 16, 4
"""Most tokens and numbers of a formula that is looked at: a bound on time."""


def straight_nats(population: Population, dataset: Dataset, tokens: Floats) -> Floats:
    """Return the nats of each row as such a law, (N,); infinite where it is none.

    Args:
        tokens: (N,) nats of the tokens of each row.
    """
    out = np.full(len(population), np.inf)
    columns = _columns(population, dataset.X.shape[1])
    numbers = (~np.isnan(population.constants)).sum(axis=1)
    is_short = (population.lengths > 2) & (population.lengths <= _LONGEST) & (numbers <= _MOST_NUMBERS)
    looked = np.flatnonzero(is_short & columns.any(axis=1))
    if not len(looked):
        return out
    points = _points(dataset)
    values = predict(population.take(looked), dataset.with_samples(points, np.zeros(POINTS), np.ones(POINTS))).value
    is_usable = np.isfinite(values).all(axis=1)
    looked, values, columns = looked[is_usable], values[is_usable], columns[looked[is_usable]]
    choice = math.log(columns.shape[1])
    counts = numbers[looked]
    for column in np.flatnonzero(columns.any(axis=0)):
        own = np.flatnonzero((columns.sum(axis=1) == 1) & columns[:, column])
        out[looked[own]] = _laws(values[own], points[:, column], counts[own]) + choice
    many = np.flatnonzero(columns.sum(axis=1) > 1)
    found = _are_powers(values[many], points, columns[many])
    more = columns[many[found]].sum(axis=1) - 1
    nats = KIND + choice + more * (math.log(len(POWERS)) + choice)
    out[looked[many[found]]] = nats + BARE * (numbers[looked[many[found]]] == 0)
    return np.asarray(out + WRITING * tokens)


def _columns(population: Population, count: int) -> npt.NDArray[np.bool_]:
    """Which columns occur in each row, (N, V)."""
    out = np.zeros((len(population), count), dtype=bool)
    for place, token in enumerate(population.library.tokens):
        if token.kind is TokenKind.VARIABLE:
            out[:, token.column] = (population.tokens == place).any(axis=1)
    return out


def _points(dataset: Dataset) -> Floats:
    """Points within the range of each column, no two columns alike, (POINTS, V)."""
    low, high = dataset.X.min(axis=0), dataset.X.max(axis=0)
    steps = np.outer(np.arange(POINTS) + 0.5, _GOLDEN * np.arange(1, 1 + len(low))) % 1.0
    return np.asarray(low + (high - low) * steps)


def _laws(values: Floats, x: Floats, counts: npt.NDArray[np.int64]) -> Floats:
    """Return the nats of each formula as such a law of a column, (N,); infinity if it is none.

    A law has a factor b of its own, and a of its own where a is not 0: units do not give 1 for both. Where t or s is
    a logarithm, a holds the units of its argument. A formula without any number has the factor 1.

    Args:
        counts: (N,) numbers in each formula.
    """
    nats = np.full(len(values), np.inf)
    kinds = list(_sources(x))
    across = np.array([source - source.mean() for *_, source in kinds])
    with np.errstate(all="ignore"):
        across /= np.sqrt(np.sum(across * across, axis=1))[:, None]
        for is_growth, is_itself, target in _targets(values):
            size = np.abs(target).max(axis=1)
            middle = target.mean(axis=1)
            centred = target - middle[:, None]
            spread = np.abs(centred).max(axis=1)
            slopes = arithmetic.product(centred, across.T)
            near = np.sum(centred * centred, axis=1)[:, None] * (1.0 - _NEAR) <= slopes * slopes
            for row, kind in np.argwhere(near & (spread > _LEAST_SPREAD * size)[:, None]):
                is_log, power, source = kinds[kind]
                line = slopes[row, kind] * across[kind]
                if not np.abs(centred[row] - line).max() <= _SAME * spread[row]:
                    continue
                slope = slopes[row, kind] * across[kind, 0] / (source[0] - source.mean())
                offset = abs(middle[row] - slope * source.mean())
                has_offset = is_growth or is_log or offset > _SAME * size[row]
                is_rare = not is_growth if is_log else power not in POWERS[:COMMON]
                own = KIND + RARE * is_rare - LINE * (is_itself and power == 1.0)
                own += OFFSET * (has_offset and not is_growth)
                if counts[row] > has_offset or not (counts[row] or has_offset):
                    nats[row] = min(nats[row], own + BARE * (counts[row] == 0))
    return nats


def _targets(values: Floats) -> Iterator[tuple[bool, bool, Floats]]:
    """Whether it is the logarithm, whether it is y itself, and the transformed values."""
    has_one_sign = np.asarray((values > 0.0).all(axis=1) | (values < 0.0).all(axis=1))
    sizes = np.where(has_one_sign, 1.0, np.nan)[:, None] * np.abs(values)
    logs = arithmetic.log(sizes)
    yield True, False, logs
    for power in TARGETS:
        yield False, power == 1.0, values if power == 1.0 else arithmetic.exp(power * logs)


def _sources(x: Floats) -> Iterator[tuple[bool, float, Floats]]:
    """Whether it is the logarithm, its power, and the transformed values."""
    if (x > 0.0).all():
        logs = arithmetic.log(x)
        yield True, 0.0, logs
        for power in POWERS:
            yield False, power, x if power == 1.0 else arithmetic.exp(power * logs)
    else:
        for power in POWERS:
            if power == int(power) and (power > 0.0 or (x != 0.0).all()):
                product = np.multiply.reduce([x] * abs(int(power)))
                yield False, power, product if power > 0.0 else 1.0 / product


def _are_powers(values: Floats, points: Floats, columns: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether values of formulas are a product of powers of the columns that each has."""
    found = np.zeros(len(values), dtype=bool)
    is_positive = np.asarray((points > 0.0).all(axis=0))
    for place, own in enumerate(columns):
        size = np.abs(values[place])
        if not is_positive[own].all() or own.sum() > 6 or not (size > 0.0).all():
            continue
        design = np.column_stack([np.ones(POINTS), arithmetic.log(points[:, own])])
        goal = arithmetic.log(size)
        powers = arithmetic.least_squares(design, goal)
        off = np.abs(arithmetic.product(design, powers) - goal).max()
        known = np.abs(powers[1:, None] - np.array(POWERS)).min(axis=1) <= 1e-7
        found[place] = bool(off <= 1e-8 and known.all())
    return found
