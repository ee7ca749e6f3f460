"""Data made ready for a search: a sample of them, each different one once, the columns that matter, near 1 in size."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from symseed.assembly import probes
from symseed.data import Dataset
from symseed.data.magnitudes import Units
from symseed.language import Expression, Library, Row, Writer
from symseed.language.tokens import constant
from symseed.portfolio import PortfolioSettings
from symseed.regressor.settings import Plan
from symseed.space import Dimensions

MOST_COLUMNS = 64
"""Columns that a search looks at; of more, those that say most about y by themselves."""
MOST_ROWS = 10_000
"""Samples that a search looks at, drawn at random where there are more; the losses shown are of all samples."""

_SQUARES_FIT = (1e-100, 1e100)
"""Smallest and largest |y| whose squared errors neither vanish nor overflow."""
_POWERS_FIT = (1e-30, 1e30)
"""The same of |x|, whose powers occur in derivatives by constants, which are squared."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One target's data and tokens, as the search and as the user sees them."""

    plan: Plan
    settings: PortfolioSettings
    """The plan's, with what units say of the formulas."""
    seed: int
    whole: Dataset
    """All samples, in the user's units."""
    data: Dataset
    """What the search looks at, in the user's units."""
    columns: tuple[int, ...]
    """Where its columns stand in the whole table."""
    units: Units
    """Powers of two that bring the data near 1."""
    scaled: Dataset
    """What the search looks at, near 1."""
    library: Library
    """The tokens of the search, without constants."""
    shown_library: Library
    """The same tokens with a constant, for the columns of the whole table."""

    @property
    def writer(self) -> Writer:
        """Writes formulas of the search down."""
        return Writer(self.library.with_constant())

    @property
    def has_squares(self) -> bool:
        """Whether squares neither overflow nor vanish in the user's units.

        Where they do, descriptions are those of the formulas for scaled data.
        """
        return _SQUARES_FIT[0] < self.units.target < _SQUARES_FIT[1] and all(
            _POWERS_FIT[0] < unit < _POWERS_FIT[1] for unit in self.units.columns
        )

    def settings_for(self, *, is_at_once: bool) -> PortfolioSettings:
        """Return the settings of the search; without assembly, which takes time, for one that ends at once."""
        return replace(self.settings, assembly=None) if is_at_once else self.settings

    def scaled_formulas(self, known: Sequence[Expression]) -> list[Expression]:
        """Return formulas of the user's as the search has them; those with tokens that it lacks are left out."""
        writer, back = self.writer, self.units.inverse
        rows: list[Row] = [row for row in map(writer.row, known) if row is not None]
        return [Expression(writer.library, next(back.restored(writer, row))) for row in rows]


def prepare(plan: Plan, dataset: Dataset, *, seed: int, dimensions: Dimensions | None = None) -> Prepared:
    """Make a target's data ready.

    Args:
        dataset: all samples; of many, some are searched with.
        dimensions: what units say of the formulas.
    """
    settings = plan.settings
    if dimensions is not None:
        settings = replace(settings, constraints=(*settings.constraints, dimensions))
    sampled = _distinct(_sampled(dataset, seed))
    columns = _most_relevant(sampled)
    names = [sampled.names[column] for column in columns]
    data = sampled.with_samples(sampled.X[:, columns], sampled.y, sampled.weights, names).with_loss(plan.loss)
    variables = Library.of([], data.names).tokens
    library = Library((*variables, *plan.operators))
    # Units need a factor to be written with.
    can_scale = Writer(library.with_constant()).has("mul")
    units = Units.of(data) if can_scale else Units((1.0,) * len(columns), 1.0)
    placed = tuple(replace(token, column=columns[token.column]) for token in variables)
    return Prepared(
        plan=plan,
        settings=settings,
        seed=seed,
        whole=dataset.with_loss(plan.loss),
        data=data,
        columns=tuple(columns),
        units=units,
        scaled=units.scaled(data).with_loss(None if plan.loss is None else plan.loss.in_units(units.target)),
        library=library,
        shown_library=Library((*placed, *plan.operators, constant())),
    )


def _sampled(dataset: Dataset, seed: int) -> Dataset:
    """The samples that count, and of many some, drawn at random."""
    counted = dataset.counted()
    if len(counted) <= MOST_ROWS:
        return counted
    return counted.take(np.sort(np.random.default_rng(seed).choice(len(counted), MOST_ROWS, replace=False)))


def _distinct(dataset: Dataset) -> Dataset:
    """Each different sample once, with its weights added up, in an order that does not depend on the given one."""
    X, y = dataset.X + 0.0, dataset.y + 0.0  # no minus zero: it would equal another sample
    order = np.lexsort((y, *X.T[::-1]))
    X, y, weights = X[order], y[order], dataset.weights[order]
    is_new = np.ones(len(y), dtype=bool)
    is_new[1:] = (X[1:] != X[:-1]).any(axis=1) | (y[1:] != y[:-1])
    begins = np.flatnonzero(is_new)
    return dataset.with_samples(X[begins], y[begins], np.add.reduceat(weights, begins))


def _most_relevant(dataset: Dataset) -> list[int]:
    """The columns that a search looks at, in their own order."""
    count = dataset.X.shape[1]
    if count <= MOST_COLUMNS:
        return list(range(count))
    chosen = np.sort(np.argsort(-probes.relevance(dataset), kind="stable")[:MOST_COLUMNS])
    warnings.warn(
        f"`X` has {count} columns; the search looks at the {MOST_COLUMNS} that say most about y by themselves. Leave "
        "columns out to choose them yourself.",
        UserWarning,
        stacklevel=4,
    )
    return [int(column) for column in chosen]
