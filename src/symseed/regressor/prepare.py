"""Preparation of data for a search: subsampling, de-duplication, selection of columns, and scaling to size 1."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from symseed.arrays import Floats
from symseed.assembly import probes
from symseed.data import Dataset, InputErrors, Noise
from symseed.data.magnitudes import Magnitudes
from symseed.errors import listed, shown
from symseed.language import Expression, Library, Row, TokenKind, Writer
from symseed.language.parsing import names_in
from symseed.portfolio import PartSettings, PortfolioSettings, TemplateTask
from symseed.regressor.measurements import MOST_ROWS, Measurements, chosen
from symseed.regressor.settings import Plan
from symseed.space import Dimensions
from symseed.tables import LargeTable

MOST_COLUMNS = 64
"""Most columns that a search uses, even if `select_k_features` is larger: those that each explain most of y alone.
Chosen by hand."""

_SQUARES_FIT = (1e-100, 1e100)
"""Smallest and largest |y| whose squared errors neither underflow nor overflow."""
_POWERS_FIT = (1e-30, 1e30)
"""Smallest and largest |x| for which squared derivatives, which hold powers of x, neither underflow nor overflow."""

_FIRST = 8
"""Columns that are sorted first: in a wide table they decide the order alone. Chosen by hand."""
_CALLER = 8
"""Number of stack frames between a warning here and the line that called `SymbolicRegressor.fit`."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One target's data and tokens, both as the search and as the user sees them."""

    plan: Plan
    settings: PortfolioSettings
    """Settings of the plan, with the constraint that units put on the formulas."""
    seed: int
    noise: Noise
    all: Measurements
    """All samples, in the user's units."""
    used: Measurements
    """The samples and columns that the search uses, in the user's units."""
    columns: tuple[int, ...]
    """Indices of the columns of `data` in the whole table."""
    units: Magnitudes
    """Powers of two by which the data are divided, so that their size is near 1."""
    scaled: Dataset
    """The samples and columns that the search uses, scaled."""
    library: Library
    """The tokens of the search and a constant."""
    shown_library: Library
    """The tokens of the search and a constant, with variables for the columns of the whole table."""
    input_errors: InputErrors | None = None
    """Errors of the columns of the search at all samples; None: there are none."""
    test: Dataset | None = None
    """Samples that are held out from the search, in the user's units; None: there are none."""

    @property
    def whole(self) -> Dataset:
        """All samples, weighed by their noise."""
        return self.all.data

    @property
    def data(self) -> Dataset:
        """The samples and columns that the search uses, weighed by their noise."""
        return self.used.data

    @property
    def shown_data(self) -> Dataset:
        """The samples that determine how many digits of a formula are shown: those of the search if these are few."""
        return _sampled(self.whole, self.seed) if self.is_sampled else self.whole

    @property
    def used_of_all(self) -> Dataset:
        """All samples with the columns that the search uses, as the user weighs them."""
        return self.all.take(self.columns).given

    @property
    def writer(self) -> Writer:
        """Writer of formulas of the search."""
        return Writer(self.library)

    @property
    def has_squares(self) -> bool:
        """Whether squares neither overflow nor underflow in the user's units.

        Otherwise, description lengths are those of the formulas for scaled data.
        """
        return _SQUARES_FIT[0] < self.units.target < _SQUARES_FIT[1] and all(
            _POWERS_FIT[0] < unit < _POWERS_FIT[1] for unit in self.units.columns
        )

    @property
    def is_sampled(self) -> bool:
        """Whether the search uses some samples of many."""
        return self.all.counted > MOST_ROWS

    def with_input_errors(self, errors: InputErrors | None) -> Prepared:
        """Return the same with the errors of the columns of the whole table."""
        return self if errors is None else replace(self, input_errors=errors.take(list(self.columns)))

    def settings_for(self, *, is_at_once: bool) -> PortfolioSettings:
        """Return the settings of the search; a search that ends at once has no assembly, which takes time."""
        return replace(self.settings, assembly=None, islands=None) if is_at_once else self.settings

    def template_task(self, settings: PortfolioSettings, workers: int) -> TemplateTask | None:
        """Return the search for the parts of the template; None if there is no template."""
        plan = self.plan
        if plan.template is None:
            return None
        longest = plan.maxsize - plan.template.length - len(plan.template.parts) + 1
        return TemplateTask(
            plan.template.skeleton(self.writer.library),
            self.scaled,
            PartSettings(settings.with_network(None).with_max_length(longest), plan.operators, workers),
            longest=plan.maxsize,
            seed=self.seed,
            patience=plan.patience,
        )

    def scaled_formulas(self, known: Sequence[Expression]) -> list[Expression]:
        """Return the user's formulas for scaled data; formulas with tokens that the search lacks are left out."""
        writer, back = self.writer, self.units.inverse
        rows: list[Row] = [row for row in map(writer.row, known) if row is not None]
        self._warn_of_lost(known)
        return [Expression(writer.library, next(back.restored(writer, row))) for row in rows]

    def _warn_of_lost(self, known: Sequence[Expression]) -> None:
        """Say which formula cannot be begun with, because a column of it was not chosen."""
        for formula in known:
            used = dict.fromkeys(token.name for token in formula.tokens if token.kind is TokenKind.VARIABLE)
            lost = [name for name in used if name not in self.data.names]
            if lost:
                warnings.warn(
                    f"The search does not begin with `{shown(formula)}`, because {listed(lost)} is not among the "
                    f"{len(self.columns)} columns that were chosen. Raise `select_k_features`, or leave other columns "
                    "out.",
                    UserWarning,
                    stacklevel=_CALLER + 1,
                )


def prepare(
    plan: Plan,
    dataset: Dataset,
    *,
    seed: int,
    dimensions: Dimensions | None = None,
    test: Dataset | None = None,
    errors: Floats | None = None,
    large: LargeTable | None = None,
) -> Prepared:
    """Prepare the data of a target.

    Args:
        dataset: all samples; the search uses at most `MOST_ROWS` of them.
        dimensions: constraint that units put on the formulas.
        test: samples that are held out from the search.
        errors: standard errors of all samples; None: they are not known.
        large: the table from which `dataset` was drawn; None: `dataset` has all samples.
    """
    backend = plan.backend() or dataset.make_backend
    dataset = dataset.with_backend(backend)
    settings = plan.settings
    if dimensions is not None:
        settings = replace(settings, constraints=(*settings.constraints, dimensions))
    everything = Measurements.of(dataset, errors, large)
    _warn_of_rows(everything.counted)
    given = distinct(_sampled(everything.given, seed))
    few = Measurements(given, given if errors is None else distinct(_sampled(everything.data, seed)))
    sampled = few.data
    if plan.template is None:
        _warn_of_columns(plan, sampled.X.shape[1])
        columns = _most_relevant(sampled, _most_columns(plan))
    else:
        columns = plan.template.columns(sampled.names)
    few = few.take(columns).with_loss(plan.loss, plan.loss)
    noise = chosen(few.data, plan.noise, is_given=errors is not None)
    loss = plan.loss if noise.loss is None else noise.loss
    used = few.weighed(noise.curve, range(len(columns))).with_loss(plan.loss, loss)
    data = used.data
    library = plan.weights.library(data.names, plan.tokens)
    # A formula can only be scaled back if it may hold constants and the library can write a factor.
    # The numbers of a template are in the user's units; the searches for its parts scale their own data.
    can_scale = settings.constants and plan.template is None and Writer(library).has("mul")
    units = Magnitudes.of(data) if can_scale else Magnitudes((1.0,) * len(columns), 1.0)
    return Prepared(
        plan=plan,
        settings=settings,
        seed=seed,
        noise=noise.noise,
        all=everything.weighed(noise.curve, columns).with_loss(plan.loss, loss),
        used=used,
        columns=tuple(columns),
        units=units,
        scaled=units.scaled(data).with_loss(None if loss is None else loss.in_units(units.target)),
        library=library,
        shown_library=_shown_library(plan, data.names, columns),
        test=None if test is None else test.with_backend(backend).with_loss(plan.loss),
    )


def library_of_texts(plan: Plan, names: Sequence[str], formulas: Sequence[str]) -> Library:
    """Return the tokens of formulas that are given as texts; if there are many columns, only those in the formulas.

    Args:
        names: names of the columns of the whole table.
    """
    columns = list(range(len(names)))
    if len(columns) > MOST_COLUMNS:
        longest = max(map(len, names))
        used = set().union(*(names_in(formula, longest) for formula in formulas))
        columns = [column for column in columns if names[column] in used]
    return _shown_library(plan, [names[column] for column in columns], columns)


def _shown_library(plan: Plan, names: Sequence[str], columns: Sequence[int]) -> Library:
    """The operators and a constant, with a variable for each name, whose values are in a column of the whole table."""
    tokens = plan.weights.library(names, plan.tokens).tokens
    placed = [replace(token, column=column) for token, column in zip(tokens, columns, strict=False)]
    return Library((*placed, *tokens[len(columns) :]))


def _sampled(dataset: Dataset, seed: int) -> Dataset:
    """The samples of positive weight, at most `MOST_ROWS` of them, drawn at random."""
    return dataset.counted().sampled(MOST_ROWS, seed)


def _warn_of_rows(count: int) -> None:
    """Say that the search uses a part of the samples."""
    if count > MOST_ROWS:
        warnings.warn(
            f"`X` has {count:,} rows; the search uses {MOST_ROWS:,} of them, drawn at random. Constants are "
            "fitted, and formulas judged, on all rows at the end.",
            UserWarning,
            stacklevel=_CALLER,
        )


def distinct(dataset: Dataset) -> Dataset:
    """Return each different sample once, with the sum of its weights, in an order independent of the given one."""
    X, y = dataset.X + 0.0, dataset.y + 0.0  # -0 becomes 0, so that equal samples have equal bits
    order = np.lexsort(X.T[:_FIRST][::-1])
    first = X[order, :_FIRST]
    if not (first[1:] != first[:-1]).any(axis=1).all():  # otherwise no other column decides
        order = np.lexsort((y, *X.T[::-1]))
    X, y, weights = X[order], y[order], dataset.weights[order]
    is_new = np.ones(len(y), dtype=bool)
    is_new[1:] = (X[1:] != X[:-1]).any(axis=1) | (y[1:] != y[:-1])
    begins = np.flatnonzero(is_new)
    return dataset.with_samples(X[begins], y[begins], np.add.reduceat(weights, begins))


def chosen_columns(plan: Plan, dataset: Dataset, *, seed: int) -> list[int]:
    """Return the columns that the search for a target uses, in their own order.

    Args:
        dataset: all samples, as `prepare` takes them.
        seed: the seed of the target.
    """
    count = dataset.X.shape[1]
    if count <= _most_columns(plan):
        return list(range(count))
    return _most_relevant(distinct(dataset.counted().sampled(MOST_ROWS, seed)), _most_columns(plan))


def _most_columns(plan: Plan) -> int:
    return MOST_COLUMNS if plan.most_columns is None else min(plan.most_columns, MOST_COLUMNS)


def _most_relevant(sampled: Dataset, most: int) -> list[int]:
    """The columns that each explain most of y alone, in their own order."""
    if sampled.X.shape[1] <= most:
        return list(range(sampled.X.shape[1]))
    chosen = np.sort(np.argsort(-probes.relevance(sampled), kind="stable")[:most])
    return [int(column) for column in chosen]


def _warn_of_columns(plan: Plan, count: int) -> None:
    """Say that columns are left out, unless the user asked for it."""
    if count > MOST_COLUMNS and (plan.most_columns is None or plan.most_columns > MOST_COLUMNS):
        warnings.warn(
            f"`X` has {count} columns, but a search uses at most {MOST_COLUMNS}: those that explain most of y alone. "
            "To choose them yourself, leave columns out, or set `select_k_features`.",
            UserWarning,
            stacklevel=_CALLER,
        )
