"""What the network that has read the data gives the pool: its samples f as a + b f, fitted; and what it thought."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.assembly import fitted
from symseed.data import Dataset
from symseed.language import Population, Row, Writer
from symseed.network import MOST_COLUMNS, Guess, Guide, Reading, guesses
from symseed.portfolio.settings import PortfolioSettings
from symseed.scoring import best_scaling, description_lengths, predict
from symseed.search import Stream, derived
from symseed.search.budget import IsLate, in_time
from symseed.space import SearchSpace

_KEPT = 24
"""Formulas that the pool gets, those of the shortest description on some samples: chosen by hand."""
_FITTED_AT_ONCE = 32
"""Formulas that are fitted between two looks at the clock: chosen by hand."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the network answered."""

    rows: tuple[Row, ...] = ()
    """Formulas for the pool, those of the shortest description first."""
    guesses: tuple[Guess, ...] = ()
    """Its most probable forms."""
    charged: int = 0
    """Number of formulas that were tried."""


def is_wide(writer: Writer) -> bool:
    """Return whether a search has more columns than a network reads."""
    return len(writer.columns) > MOST_COLUMNS


def guide_of(
    settings: PortfolioSettings, writer: Writer, sample: Dataset, relevant: Callable[[], Sequence[int]], *, seed: int
) -> Guide | None:
    """Return the network that reads the data when it is first asked; None if there is none.

    Args:
        writer: its columns are those of the search, those that each explain most of y first.
        relevant: returns the columns on which y depends by evidence; of many columns, these are read first.
    """
    own = settings.guide
    network = None if own is None else own.available
    if own is None or network is None or sample.deviation == 0.0:
        return None

    def columns() -> list[int]:
        return sorted(list(dict.fromkeys([*relevant(), *writer.columns]))[:MOST_COLUMNS])

    reading = Reading(network, sample, seed=seed, columns=columns)
    is_early = len(writer.columns) >= settings.many_columns
    return Guide(reading, own, derived(seed, Stream.NETWORK, 1), is_early=is_early)


def ask(guide: Guide, settings: PortfolioSettings, writer: Writer, sample: Dataset, is_late: IsLate) -> Asked:
    """Let the network draw formulas that meet the constraints on every formula, and fit them to some samples."""
    space = SearchSpace(writer.library, 1, guide.reading.network.shape.longest, settings.constraints)
    population, likely = guide.reading.sample(space, settings.guided, seed=guide.seed, step=0)
    if population is None:
        return Asked()
    forms = list(dict.fromkeys(population.rows)) if settings.constants else []  # without constants, for the prior only
    rows: list[Row] = []
    lengths: list[float] = []
    for begin in in_time(range(0, len(forms), _FITTED_AT_ONCE), is_late):
        made = fitted(writer.population(_scaled(forms[begin : begin + _FITTED_AT_ONCE], writer, sample)), sample)
        rows += made.rows
        lengths += description_lengths(made, sample).tolist()
    order = [int(place) for place in np.argsort(lengths, kind="stable") if np.isfinite(lengths[place])]
    best = dict.fromkeys(rows[place] for place in order[:_KEPT])
    return Asked(tuple(best), guesses(population, likely), len(population))


def _scaled(forms: Sequence[Row], writer: Writer, sample: Dataset) -> list[Row]:
    """Each form f as b f and as a + b f, with the best a and b for its constants as they are."""
    if not writer.has("add", "mul"):
        return list(forms)
    population = writer.population(forms)
    offset, factor, _ = best_scaling(population, sample)
    slope = _slopes(population, sample)
    out = []
    for a, b, through_zero, form in zip(offset.tolist(), factor.tolist(), slope.tolist(), forms, strict=True):
        out += [writer.affine(0.0, through_zero, form)] if np.isfinite(through_zero) else []
        out += [writer.affine(a, b, form)] if np.isfinite([a, b]).all() else []
    return out or list(forms)


def _slopes(population: Population, sample: Dataset) -> Floats:
    """The factor b of each row f for which b f has the least squared errors."""
    value = predict(population, sample).value
    with np.errstate(over="ignore", invalid="ignore"):
        shared = arithmetic.product(value * sample.y, sample.weights)
        size = arithmetic.product(value * value, sample.weights)
        return np.asarray(np.divide(shared, size, out=np.full(len(value), np.nan), where=size > 0.0))
