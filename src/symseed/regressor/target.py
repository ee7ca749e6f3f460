"""The search for one target: data in the user's units in, a front of formulas in the same units out."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from symseed.arrays import Floats
from symseed.assembly import probes
from symseed.assembly.simplify import tidied
from symseed.data.dataset import Dataset
from symseed.data.magnitudes import Units
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.row import Row
from symseed.language.tokens import constant
from symseed.language.writer import Writer
from symseed.portfolio.portfolio import Portfolio, PortfolioState, Turn
from symseed.regressor.front import Equation, EquationFront, pareto
from symseed.regressor.settings import Plan
from symseed.scoring.description import description_lengths
from symseed.scoring.evaluation import settled
from symseed.search.budget import Budget, IsLate, StopReason
from symseed.space.constraints import Dimensions

MOST_COLUMNS = 64
"""Columns that a search looks at; of more, those that say most about y by themselves."""
MOST_ROWS = 10_000
"""Rows that a search looks at, drawn where there are more; the losses shown are of all rows."""

_CONDITION = "The early stop condition is met."
_SQUARES_FIT = (1e-100, 1e100)  # largest |y| whose squared errors neither overflow nor vanish
_POWERS_FIT = (1e-30, 1e30)  # largest |x| whose powers do not, as derivatives by constants and squared
_MOST_FITS = 20  # of a formula on the front, each of 100 iterations
_SAME = 1e-6  # share of its values by which a formula may differ in other units


@dataclass(frozen=True, slots=True)
class Progress:
    """A search for one target after a turn, for whoever watches it."""

    turn: Turn
    best: Expression
    """The choice, in the user's units, but for a last tidying."""
    loss: float
    """Its mean loss on the data that the search sees."""
    state: PortfolioState | None
    """Where the search could begin again: the end of the last epoch."""
    library: Library
    """The tokens that the state is of."""
    front: Callable[[], EquationFront]
    """Gives the formulas so far as they would be shown; it takes a moment."""


class TargetSearch:
    """The search for one target."""

    def __init__(
        self,
        plan: Plan,
        dataset: Dataset,
        *,
        seed: int,
        seconds: float | None,
        known: Sequence[Expression] = (),
        dimensions: Dimensions | None = None,
        watch: Callable[[Progress], None] | None = None,
    ) -> None:
        """Prepare a search.

        Args:
            dataset: all rows; of many a sample is searched with.
            seconds: how long it may take; None: as long as the plan's other limits let it.
            known: formulas to begin with.
            dimensions: what units say of the formulas.
            watch: is told of every turn.
        """
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._plan, self._seed, self._watch = plan, seed, watch
        self.settings = plan.settings
        if dimensions is not None:
            self.settings = replace(self.settings, constraints=(*self.settings.constraints, dimensions))
        self._whole = dataset.with_loss(plan.loss)
        sampled = _distinct(_sampled(dataset, seed))
        self._columns = _most_relevant(sampled)
        self._data = Dataset.of(
            sampled.X[:, self._columns], sampled.y, sampled.weights, [sampled.names[i] for i in self._columns]
        ).with_loss(plan.loss)
        operators = plan.operators
        variables = Library.of([], self._data.names).tokens
        self.library = Library((*variables, *operators))
        self._writer = Writer(self.library.with_constant())
        # The same tokens, for the columns of the whole table.
        placed = tuple(replace(token, column=self._columns[token.column]) for token in variables)
        self._shown = Library((*placed, *operators, constant()))
        # Units need a factor to be written with.
        ones = Units((1.0,) * len(self._columns), 1.0)
        self._units = Units.of(self._data) if self._writer.has("mul") else ones
        loss = None if plan.loss is None else plan.loss.in_units(self._units.target)
        self._scaled = self._units.scaled(self._data).with_loss(loss)
        # Whether squares neither overflow nor vanish; else descriptions are those of the scaled formulas.
        self._has_squares = _SQUARES_FIT[0] < self._units.target < _SQUARES_FIT[1] and all(
            _POWERS_FIT[0] < unit < _POWERS_FIT[1] for unit in self._units.columns
        )
        self._known = [part for part in map(self._writer.row, known) if part is not None]
        self._portfolio: Portfolio | None = None

    def run(self, *, begin: PortfolioState | None = None, is_at_once: bool = False) -> EquationFront:
        """Search, from the beginning or from where a search like this was.

        Args:
            is_at_once: give a mere number, for a search that was interrupted before it began.
        """
        settings = replace(self.settings, assembly=None) if is_at_once else self.settings
        seconds = None if self._deadline is None else max(self._deadline - time.monotonic(), 1e-3)
        portfolio = Portfolio(
            self.library,
            self._scaled,
            settings,
            seed=self._seed,
            budget=Budget(self._plan.max_evals, seconds),
            patience=self._plan.patience,
            known=self._scaled_known(),
            threads=self._plan.threads,
            begin=begin,
        )
        self._portfolio = portfolio
        return self._front(portfolio, self._followed(portfolio, is_at_once=is_at_once))

    def so_far(self) -> EquationFront | None:
        """Return what was found before something ended the search; None where that is nothing."""
        if self._portfolio is None or self._portfolio.best is None:
            return None
        self._portfolio.gather()
        return self._front(self._portfolio, StopReason.INTERRUPTED.value)

    def _scaled_known(self) -> list[Expression]:
        back = self._units.inverse
        parts = [next(back.restored(self._writer, part)) for part in self._known]
        return [Expression(self._writer.library, part) for part in parts]

    def _followed(self, portfolio: Portfolio, *, is_at_once: bool) -> str:
        """Follow the turns to their end, and return why it came."""
        try:
            for turn in portfolio.turns():
                # A search at once is none that could be gone on with: its state must not take the place of one that is.
                if self._watch is not None and not is_at_once:
                    self._watch(self._progress(portfolio, turn))
                if turn.reason is not None:
                    return turn.reason.value
                if is_at_once:
                    break
                if self._is_enough(portfolio):
                    return _CONDITION
        except KeyboardInterrupt:
            if portfolio.best is None:
                raise
        return StopReason.INTERRUPTED.value

    def _progress(self, portfolio: Portfolio, turn: Turn) -> Progress:
        best = self._shown_form(turn.best.expression)
        return Progress(
            turn=turn,
            best=best,
            loss=self._loss_of(best),
            state=portfolio.state,
            library=self.library,
            front=lambda: self._front(portfolio, "" if turn.reason is None else turn.reason.value),
        )

    def _is_enough(self, portfolio: Portfolio) -> bool:
        condition = self._plan.early_stop
        if condition is None:
            return False
        for formula in portfolio.front():
            shown = self._shown_form(formula.expression)
            loss = self._loss_of(shown)
            if condition(loss, len(shown)) if callable(condition) else loss <= condition:
                return True
        return False

    def _loss_of(self, shown: Expression) -> float:
        data = self._data
        columns = np.zeros((len(data), 1 + max(self._columns)))
        columns[:, self._columns] = data.X
        return _mean_loss(data, shown.evaluate(columns))

    def _shown_form(self, expression: Expression) -> Expression:
        """A formula of the search as it will be shown, but for a last tidying."""
        part = next(self._units.restored(self._writer, expression.row))
        return Expression(self._shown, part)

    # From the formulas of the search to those that are shown

    def _front(self, portfolio: Portfolio, reason: str) -> EquationFront:
        assert portfolio.best is not None, "there is a front once there is a choice"
        parts = [portfolio.best.part, *(formula.part for formula in portfolio.front())]
        candidates: list[Equation] = []
        try:
            for part in dict.fromkeys(parts):
                candidates += self._restored(part, portfolio.is_late)
        except KeyboardInterrupt:
            # On many rows each formula takes a moment. Those judged so far are the front; a second Ctrl-C gives up.
            reason = StopReason.INTERRUPTED.value
            candidates = candidates or self._restored(parts[0], portfolio.is_late)
        fitting = [candidate for candidate in candidates if candidate.complexity <= self._plan.maxsize]
        rounding = self._scaled.rounding
        return EquationFront(pareto(fitting or candidates, rounding), reason, len(self._data), rounding)

    def _restored(self, part: Row, is_late: IsLate) -> list[Equation]:
        """A formula of the search in the data's own units; where those are others it is tidied, if there is time."""
        wanted = Expression(self._writer.library, part).evaluate(self._scaled.X)
        for form in self._units.restored(self._writer, part):
            values = Expression(self._writer.library, form).evaluate(self._data.X)
            if not np.allclose(values / self._units.target, wanted, rtol=_SAME, atol=_SAME * np.abs(wanted).max()):
                continue  # something overflowed or vanished on the way
            found: list[Equation] = []
            if self._has_squares and not self._units.are_plain and not is_late():
                # A factor of 1 in the search's units is a constant in others, which has not been fitted yet.
                fitted = self._settled(form)
                tidy = tidied(self._writer, fitted, self._data, is_late=is_late)
                found = self._judged(fitted, part) + self._judged(tidy, part)
            return found or self._judged(form, part)
        return []

    def _settled(self, part: Row) -> Row:
        row = self._writer.population([part])
        return settled(row, self._data, most=_MOST_FITS)[0].row(0) if self._writer.library.has_constants else part

    def _judged(self, part: Row, searched: Row) -> list[Equation]:
        """A formula with its loss on all rows; none where it has no value at some row that counts.

        `searched` is what the search had in its place, for scaled data.
        """
        data, unit = self._whole, self._units.target
        expression = Expression(self._shown, part)
        prediction = expression.evaluate(data.X)
        counted = data.weights > 0.0
        if np.isnan(prediction[counted]).any():
            return []
        prediction = np.where(np.isnan(prediction), data.y, prediction)  # where the weight is 0
        with np.errstate(over="ignore"):
            loss = _mean_loss(data, prediction)
            share = _mean_square(data.y / unit, prediction / unit, data.weights)
            if self._scaled.ruler is not None:
                share = float(self._scaled.ruler.mean_square(np.array([loss]))[0])
        if not math.isfinite(share):
            return []
        row, judge = (part, self._data) if self._has_squares else (searched, self._scaled)
        description = float(description_lengths(self._writer.population([row]), judge)[0])
        return [Equation(expression, len(part), loss, 0.0, description, share)] if math.isfinite(description) else []


def _mean_loss(data: Dataset, prediction: Floats) -> float:
    """The mean of what errors cost, in the data's own units."""
    if data.loss is None:
        with np.errstate(over="ignore"):
            return _mean_square(data.y, prediction, data.weights)
    return float(np.average(data.loss.scaled.native.values(data.y, prediction), weights=data.weights))


def _mean_square(y: Floats, prediction: Floats, weights: Floats) -> float:
    """As scikit-learn's `mean_squared_error` computes it, to the last bit."""
    is_even = bool((weights == 1.0).all())
    return float(np.average((y - prediction) ** 2, weights=None if is_even else weights))


def _sampled(dataset: Dataset, seed: int) -> Dataset:
    """The rows that count, and of many a sample."""
    counted = dataset.counted()
    if len(counted) <= MOST_ROWS:
        return counted
    return counted.take(np.sort(np.random.default_rng(seed).choice(len(counted), MOST_ROWS, replace=False)))


def _distinct(dataset: Dataset) -> Dataset:
    """Each different row once, with its weights added up, in an order that does not depend on the given one."""
    X, y = dataset.X + 0.0, dataset.y + 0.0  # no minus zero: it would equal another row
    order = np.lexsort((y, *X.T[::-1]))
    X, y, weights = X[order], y[order], dataset.weights[order]
    is_new = np.ones(len(y), dtype=bool)
    is_new[1:] = (X[1:] != X[:-1]).any(axis=1) | (y[1:] != y[:-1])
    begins = np.flatnonzero(is_new)
    return Dataset.of(X[begins], y[begins], np.add.reduceat(weights, begins), dataset.names)


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
