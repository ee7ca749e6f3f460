"""Preparation of data for a search: subsampling, de-duplication, selection of columns, and scaling to size 1."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from symseed.assembly import probes
from symseed.data import Dataset
from symseed.data.magnitudes import Magnitudes
from symseed.language import Expression, Library, Row, Writer
from symseed.language.tokens import constant
from symseed.portfolio import PortfolioSettings
from symseed.regressor.settings import Plan
from symseed.space import Dimensions

MOST_COLUMNS = 64
"""Most columns that a search uses: those that each explain most of y alone. Chosen by hand."""
MOST_ROWS = 10_000
"""Most samples that a search uses, drawn at random; the losses shown are of all samples. Chosen by hand."""

_SQUARES_FIT = (1e-100, 1e100)
"""Smallest and largest |y| whose squared errors neither underflow nor overflow."""
_POWERS_FIT = (1e-30, 1e30)
"""Smallest and largest |x| for which squared derivatives, which hold powers of x, neither underflow nor overflow."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One target's data and tokens, both as the search and as the user sees them."""

    plan: Plan
    settings: PortfolioSettings
    """Settings of the plan, with the constraint that units put on the formulas."""
    seed: int
    whole: Dataset
    """All samples, in the user's units."""
    data: Dataset
    """The samples and columns that the search uses, in the user's units."""
    columns: tuple[int, ...]
    """Indices of the columns of `data` in the whole table."""
    units: Magnitudes
    """Powers of two that bring the data near 1."""
    scaled: Dataset
    """The samples and columns that the search uses, scaled."""
    library: Library
    """The tokens of the search, without constants."""
    shown_library: Library
    """The tokens of the search and a constant, with variables for the columns of the whole table."""

    @property
    def writer(self) -> Writer:
        """Writer of formulas of the search."""
        return Writer(self.library.with_constant())

    @property
    def has_squares(self) -> bool:
        """Whether squares neither overflow nor underflow in the user's units.

        Otherwise, description lengths are those of the formulas for scaled data.
        """
        return _SQUARES_FIT[0] < self.units.target < _SQUARES_FIT[1] and all(
            _POWERS_FIT[0] < unit < _POWERS_FIT[1] for unit in self.units.columns
        )

    def settings_for(self, *, is_at_once: bool) -> PortfolioSettings:
        """Return the settings of the search; a search that ends at once has no assembly, which takes time."""
        return replace(self.settings, assembly=None) if is_at_once else self.settings

    def scaled_formulas(self, known: Sequence[Expression]) -> list[Expression]:
        """Return the user's formulas for scaled data; formulas with tokens that the search lacks are left out."""
        writer, back = self.writer, self.units.inverse
        rows: list[Row] = [row for row in map(writer.row, known) if row is not None]
        return [Expression(writer.library, next(back.restored(writer, row))) for row in rows]


def prepare(plan: Plan, dataset: Dataset, *, seed: int, dimensions: Dimensions | None = None) -> Prepared:
    """Make a target's data ready.

    Args:
        dataset: all samples; the search uses at most `MOST_ROWS` of them.
        dimensions: constraint that units put on the formulas.
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
    # A formula can only be scaled back if the library can write a factor.
    can_scale = Writer(library.with_constant()).has("mul")
    units = Magnitudes.of(data) if can_scale else Magnitudes((1.0,) * len(columns), 1.0)
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
    """The samples of positive weight, at most `MOST_ROWS` of them, drawn at random."""
    counted = dataset.counted()
    if len(counted) <= MOST_ROWS:
        return counted
    return counted.take(np.sort(np.random.default_rng(seed).choice(len(counted), MOST_ROWS, replace=False)))


def _distinct(dataset: Dataset) -> Dataset:
    """Each different sample once, with the sum of its weights, in an order independent of the given one."""
    X, y = dataset.X + 0.0, dataset.y + 0.0  # -0 becomes 0, so that equal samples have equal bits
    order = np.lexsort((y, *X.T[::-1]))
    X, y, weights = X[order], y[order], dataset.weights[order]
    is_new = np.ones(len(y), dtype=bool)
    is_new[1:] = (X[1:] != X[:-1]).any(axis=1) | (y[1:] != y[:-1])
    begins = np.flatnonzero(is_new)
    return dataset.with_samples(X[begins], y[begins], np.add.reduceat(weights, begins))


def _most_relevant(dataset: Dataset) -> list[int]:
    """The columns that a search uses, in their own order."""
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
