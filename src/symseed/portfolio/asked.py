"""What the network that has read the data gives the pool: its samples f as a + b f, fitted; and what it thought."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from symseed import arithmetic
from symseed.assembly import fitted
from symseed.data import Dataset
from symseed.language import Row, Writer
from symseed.network import MOST_COLUMNS, Guess, Guide, Reading, guesses
from symseed.portfolio.settings import PortfolioSettings
from symseed.scoring import best_scaling, description_lengths, predict
from symseed.search import Stream, derived
from symseed.search.budget import IsLate, in_time
from symseed.space import SearchSpace

_RANKED_ROWS = 150
"""Samples on which all forms are compared: chosen by hand, a bound on time."""
_KEPT = 16
"""Forms that are fitted to all samples of the searches, those of the shortest description: chosen by hand."""
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
    thought = guesses(population, likely)
    if not settings.constants:
        return Asked((), thought, len(population))
    can_scale = writer.has("add", "mul")
    few = sample.sampled(_RANKED_ROWS, guide.seed)
    ranked: list[tuple[float, Row, Row]] = []
    forms = list(dict.fromkeys(population.rows))
    for begin in in_time(range(0, len(forms), _FITTED_AT_ONCE), is_late):
        some = forms[begin : begin + _FITTED_AT_ONCE]
        ranked += _fitted(
            _with_offset(some, writer, few) if can_scale else [(form, form) for form in some], writer, few
        )
    ranked.sort(key=lambda one: one[0])
    best = [(form, whole) for _, form, whole in ranked[:_KEPT]]
    if can_scale and not is_late():
        best += _without_offset([form for form, _ in best], writer, sample)
    rows = [whole for _, _, whole in sorted(_fitted(best, writer, sample), key=lambda one: one[0])]
    return Asked(tuple(dict.fromkeys(rows)), thought, len(population))


def _fitted(made: Sequence[tuple[Row, Row]], writer: Writer, data: Dataset) -> list[tuple[float, Row, Row]]:
    """Formulas with their constants fitted: nats, the form that each is made of, and the formula."""
    if not made:
        return []
    population = fitted(writer.population([whole for _, whole in made]), data)
    lengths = description_lengths(population, data).tolist()
    every = zip(lengths, made, population.rows, strict=True)
    return [(length, form, whole) for length, (form, _), whole in every if np.isfinite(length)]


def _with_offset(forms: Sequence[Row], writer: Writer, data: Dataset) -> list[tuple[Row, Row]]:
    """Each form f, and a + b f with the best a and b for its constants as they are."""
    offset, factor, _ = best_scaling(writer.population(forms), data)
    every = zip(offset.tolist(), factor.tolist(), forms, strict=True)
    return [(form, writer.affine(a, b, form)) for a, b, form in every if np.isfinite([a, b]).all()]


def _without_offset(forms: Sequence[Row], writer: Writer, data: Dataset) -> list[tuple[Row, Row]]:
    """Each form f, and b f with the best b for its constants as they are."""
    if not forms:
        return []
    value = predict(writer.population(forms), data).value
    with np.errstate(over="ignore", invalid="ignore"):
        shared = arithmetic.product(value * data.y, data.weights)
        size = arithmetic.product(value * value, data.weights)
        slope = np.divide(shared, size, out=np.full(len(value), np.nan), where=size > 0.0)
    return [(form, writer.scaled(b, form)) for b, form in zip(slope.tolist(), forms, strict=True) if np.isfinite(b)]
