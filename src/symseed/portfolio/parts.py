"""Free parts of a template: what each should be, given the others, and a portfolio over its own columns.

The others are formulas that were found, or before that polynomials, fitted all together. What a part should be at each
sample follows from y by inverting the structure (semantic backpropagation; Pawlak, Wieloch & Krawiec 2015).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats
from symseed.completion.backsolve import Backsolver
from symseed.data import Dataset
from symseed.data.magnitudes import Magnitudes
from symseed.language import Expression, Library, Population, Row, Token, Writer
from symseed.language.template import Filled, Hole, Skeleton
from symseed.portfolio.portfolio import Portfolio
from symseed.portfolio.progress import Activity, Turn
from symseed.portfolio.settings import PortfolioSettings
from symseed.scoring import FitSettings, description_lengths, fit, predict
from symseed.search import Budget
from symseed.space import Dimension, Dimensions

_DEGREES = (5, 3, 2)
"""Degree of the polynomial of a part of one column, of two, and of more: chosen by hand."""
_SMALL = 0.01
"""First value of a polynomial's constants but the first, which is 1: chosen by hand."""
_RESTARTS = 20
"""Further starts of a fit that failed from the first: chosen by hand."""
_LEAST_WEIGHT = 1e-6
"""Share of the mean weight below which a sample says nothing of a part: chosen by hand."""
_LEAST_SAMPLES = 0.5
"""Share of the samples that an inverse must reach; otherwise the structure is linearised. Chosen by hand."""
_STEP = 1e-6
"""Step of a difference quotient, as a share of the part's size: near the cube root of rounding."""
_MOST_FORMULAS = 16
"""Most formulas of a part that are tried in the whole: chosen by hand."""
_SAME_DIMENSION = ("add", "sub", "neg", "abs", "min", "max")
"""Operators whose arguments have the dimension of the value."""


@dataclass(frozen=True)
class Stage:
    """The samples of a template, with what stands for parts that are not found yet."""

    skeleton: Skeleton
    dataset: Dataset
    """The samples, with a standardised copy of each column after all columns."""
    library: Library
    """The tokens of whole formulas, and a variable for each standardised column."""

    @classmethod
    def of(cls, skeleton: Skeleton, dataset: Dataset) -> Stage:
        """Take the samples."""
        spread = dataset.X.std(axis=0)
        copies = (dataset.X - dataset.X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
        count = dataset.X.shape[1]
        names = [f"{name} (standardised)" for name in dataset.names]
        *copied, add, mul = Library.of(["add", "mul"], names).tokens
        tokens = [replace(token, column=count + token.column) for token in copied]
        needed = [token for token in (add, mul) if token not in skeleton.library.tokens]
        return cls(
            skeleton,
            dataset.with_samples(
                np.concatenate([dataset.X, copies], axis=1), dataset.y, dataset.weights, [*dataset.names, *names]
            ).with_loss(dataset.loss),
            Library((*skeleton.library.tokens, *tokens, *needed)),
        )

    def smooth(self) -> Filled:
        """Return the structure with a polynomial for each part, all of them fitted together."""
        parts = tuple(self._polynomial(hole) for hole in self.skeleton.holes)
        return self.best([Filled(self.skeleton.row, parts)])

    def best(self, forms: Sequence[Filled]) -> Filled:
        """Return the filled structure of the shortest description, with its constants fitted."""
        population = Population.of_rows(self.library, [self.skeleton.written(form) for form in forms])
        whole, errors = fit(population, self.dataset, FitSettings(iterations=100))
        if not np.isfinite(errors.error).any():
            whole, _ = fit(population, self.dataset, FitSettings(iterations=100, restarts=_RESTARTS))
        choice = int(np.argmin(description_lengths(whole, self.dataset)))
        return self.skeleton.refilled(forms[choice], whole.row(choice))

    def wanted(self, filled: Filled, index: int) -> Dataset | None:
        """Return the samples of a part: its columns, the values with which the whole would be y, and their weights.

        A weight is that of the sample times the squared derivative of the whole by the part, so that the part's errors
        count as those of the whole. Samples at which no value leads to y are left out; None if too few are left.
        """
        hole, count = self.skeleton.holes[index], self.dataset.X.shape[1] // 2
        values = predict(Population.of_rows(self.library, list(filled.parts)), self.dataset).value
        names = [*self.dataset.names[:count], *(self.skeleton.wide[other.token].name for other in self.skeleton.holes)]

        def with_values(values: Floats) -> Dataset:
            X = np.concatenate([self.dataset.X[:, :count], values.T], axis=1)
            return self.dataset.with_samples(X, self.dataset.y, self.dataset.weights, names)

        if not np.isfinite(values).all():
            return None
        row = Population.of_rows(self.skeleton.wide, [filled.frame])
        wide = with_values(values)
        desired, weights = (rows[hole.place] for rows in Backsolver.of(wide, len(wide)).desired(row))
        usable = _usable(desired, weights)
        if usable.mean() < _LEAST_SAMPLES:
            step = _STEP * (float(np.abs(values[index]).max()) or 1.0)
            moved = [values + sign * step * (np.arange(len(values)) == index)[:, None] for sign in (-1.0, 1.0)]
            below, at, above = (predict(row, with_values(each)).value[0] for each in (moved[0], values, moved[1]))
            with np.errstate(all="ignore"):
                slope = (above - below) / (2.0 * step)
                desired = values[index] + (self.dataset.y - at) / slope
                weights = slope * slope * self.dataset.weights
            usable = _usable(desired, weights)
        rows = np.flatnonzero(usable)
        if len(rows) < 2:
            return None
        own = list(hole.columns)
        return self.dataset.with_samples(
            self.dataset.X[rows][:, own],
            desired[rows],
            weights[rows] / weights[rows].mean(),
            [self.dataset.names[column] for column in own],
        )

    def _polynomial(self, hole: Hole) -> Row:
        writer = Writer(self.library)
        count = self.dataset.X.shape[1] // 2
        variables = [writer.variable(count + column) for column in hole.columns]
        degree = _DEGREES[min(len(variables), len(_DEGREES)) - 1]
        terms = [writer.number(1.0)]
        for one in variables:
            power = writer.number(_SMALL)
            for _ in range(degree - 1):
                power = writer.apply("add", writer.number(_SMALL), writer.apply("mul", one, power))
            terms.append(writer.apply("mul", one, power))
        for pair in itertools.combinations(variables, 2):
            terms.append(writer.product([writer.number(_SMALL), *pair]))
        return writer.total(terms)


def _usable(desired: Floats, weights: Floats) -> npt.NDArray[np.bool_]:
    usable = np.isfinite(desired) & np.isfinite(weights)
    if not usable.any():
        return usable
    return np.asarray(usable & (np.where(usable, weights, 0.0) > _LEAST_WEIGHT * weights[usable].mean()))


@dataclass(frozen=True, slots=True)
class PartSettings:
    """What the searches for all parts of a template have in common."""

    portfolio: PortfolioSettings
    """Settings of each search, for parts of as many tokens as the whole leaves them."""
    operators: tuple[Token, ...]
    """Operators of the parts."""
    threads: int

    def of(self, skeleton: Skeleton, hole: Hole) -> PortfolioSettings:
        """Return the settings for one part; its dimension is that of y, or any, by what stands above it."""
        rules = self.portfolio.constraints
        own: list[Dimensions] = []
        for rule in rules:
            if isinstance(rule, Dimensions):
                is_same = all(name in _SAME_DIMENSION for name in skeleton.above(hole))
                # No column has this dimension, so that only a fitted factor can give it, of whatever unit is needed.
                target = rule.target if is_same else Dimension.of({f"[{hole.name}]": Fraction(1)})
                own.append(replace(rule, target=target, target_name=hole.name))
        return replace(
            self.portfolio, constraints=(*(rule for rule in rules if not isinstance(rule, Dimensions)), *own)
        )


class PartSearch:
    """A portfolio for one part, on data scaled to size 1."""

    def __init__(
        self,
        stage: Stage,
        hole: Hole,
        data: Dataset,
        settings: PartSettings,
        *,
        seed: int,
        budget: Budget,
        patience: int | None,
        known: Row | None,
        tell: Callable[[Activity], None] | None,
    ) -> None:
        """Prepare the search; `known` is the part so far, in tokens of the whole, and None a polynomial."""
        self.hole = hole
        self._whole = Writer(stage.skeleton.library)
        library = Library((*Library.of([], data.names).tokens, *settings.operators))
        self._writer = Writer(library.with_constant())
        can_scale = self._writer.has("mul")
        self._units = Magnitudes.of(data) if can_scale else Magnitudes((1.0,) * data.X.shape[1], 1.0)
        first = None if known is None else self._writer.row(Expression(self._whole.library, known))
        back = [] if first is None else [next(self._units.inverse.restored(self._writer, first))]
        self.portfolio = Portfolio(
            library,
            self._units.scaled(data),
            settings.of(stage.skeleton, hole),
            seed=seed,
            budget=budget,
            patience=patience,
            known=[Expression(self._writer.library, row) for row in back],
            threads=settings.threads,
            tell=tell,
            units=self._units,
        )
        self.charged = 0
        """Number of formulas tried so far."""

    def turns(self) -> Iterator[Turn]:
        """Give one `Turn` after another."""
        for turn in self.portfolio.turns():
            self.charged = turn.charged
            yield turn

    def rows(self) -> list[Row]:
        """Return the best formula so far and the rest of the front, in tokens of the whole and units of the data."""
        best = self.portfolio.best
        if best is None:
            return []
        front = sorted(self.portfolio.front(), key=lambda formula: formula.description)
        found = dict.fromkeys(formula.expression.row for formula in (best, *front))
        restored = (next(self._units.restored(self._writer, row)) for row in found)
        rows = (self._whole.row(Expression(self._writer.library, row)) for row in restored)
        return [row for row in rows if row is not None][:_MOST_FORMULAS]
