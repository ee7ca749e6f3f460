"""Reduced problems: evidence says which, and a portfolio of its own searches one, in turns with the other searches.

What it finds is written over the original columns (`structure/reduction.py`), and taken in like any other formula, so
that a wrong reduction costs time but cannot spoil an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from symseed.data import Dataset
from symseed.data.magnitudes import Magnitudes
from symseed.errors import DataError
from symseed.language import Library, Row, Writer
from symseed.portfolio.pool import Formula, check_target
from symseed.portfolio.progress import Turn
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.states import PortfolioState, ReducedState, reduced_library
from symseed.portfolio.track import Counts, TrackContext, Tracks
from symseed.search import Budget, StopReason, Stream, derived
from symseed.space import Dimension, Dimensions
from symseed.structure import Candidate, Reduction, Structure, find

_LEAST_SAMPLES = 0.5
"""Share of the samples at which the reduced target must have a value: chosen by hand."""
_LEAST_WEIGHT = 1e-9
"""Smallest weight of a sample of a reduced problem, as a share of the largest: rounding."""
_TAKEN = 3
"""Formulas of the front that are taken in after a turn that found a better one: chosen by hand."""
_NEVER = 10**9
"""Turns in an epoch of the inner portfolio, whose epochs end with those of the outer one."""


class Solver(Protocol):
    """The portfolio that searches a reduced problem."""

    @property
    def tracks(self) -> Tracks:
        """The searches."""

    @property
    def best(self) -> Formula | None:
        """The selected formula so far."""

    @property
    def counts(self) -> Counts:
        """Numbers of expressions so far."""

    def turns(self) -> Iterator[Turn]:
        """Give one turn after another."""

    def front(self) -> tuple[Formula, ...]:
        """Return the best formulas at each length."""

    def end_epoch(self, index: int) -> PortfolioState:
        """End an epoch after a turn."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A reduced problem on all samples, scaled to size 1."""

    reduction: Reduction
    library: Library
    """The operators, and a variable for each reduced column."""
    data: Dataset
    units: Magnitudes
    settings: PortfolioSettings

    @property
    def writer(self) -> Writer:
        """Writes formulas of the reduced problem."""
        return Writer(self.library.with_constant())

    def restored(self, row: Row, writer: Writer) -> Row:
        """Return a formula of the scaled problem over the original columns, in the user's units."""
        own = self.writer
        plain = next(self.units.restored(own, row))
        return self.reduction.restored(writer, plain, own.library)


class ReducedSearch:
    """The structure of the data, and the search of the problem to which it reduces them; nothing if there is none."""

    def __init__(
        self,
        make: Callable[..., Solver],
        context: TrackContext,
        dataset: Dataset,
        settings: PortfolioSettings,
        *,
        units: Magnitudes,
        seed: int,
    ) -> None:
        """Take what the search needs.

        Args:
            make: makes the inner portfolio.
            dataset: samples as the searches see them, scaled by `units`.
        """
        self._make, self._context, self._units, self._seed = make, context, units, seed
        self._data, self._settings = dataset, settings
        self.structure: Structure | None = None
        """What evidence says; None before the start, and if there are too few samples or too many columns."""
        self._problem: Problem | None = None
        self._solver: Solver | None = None
        self._turns: Iterator[Turn] = iter(())
        self._index, self._is_over = -1, True

    def start(self, begin: ReducedState | None) -> None:
        """Find the structure, which takes a second or a few, and prepare the search, or resume it from a state."""
        whole = self._units.inverse.scaled(self._data.with_loss(None))
        self.structure = structure_of(whole, self._context, self._settings, seed=self._seed)
        candidates = () if self.structure is None else self.structure.candidates
        if not candidates:
            return
        self._problem = problem_of(candidates[0], whole, self._context, self._settings)
        if self._problem is not None:
            self._solver = self._made(self._problem, begin)
            self._turns = self._solver.turns()
            self._index = -1 if begin is None else begin.state.turn
            self._is_over = begin is not None and begin.is_over

    def turn(self, charged: int) -> list[Row]:
        """Search for one turn; return the best formulas if the best of them is new.

        Args:
            charged: expressions that count against the budget, without those of this search.
        """
        if self._is_over or self._solver is None:
            return []
        self._solver.tracks.common.timer.elsewhere = charged
        turn = next(self._turns)
        self._index, self._is_over = turn.index, turn.reason is not None
        if turn.reason is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        return self.rows(_TAKEN) if turn.unchanged == 0 else []

    def rows(self, count: int) -> list[Row]:
        """Return the best formulas so far, those of the shortest description, as the portfolio writes them."""
        if self._solver is None or self._problem is None or self._solver.best is None:
            return []
        front = sorted(self._solver.front(), key=lambda formula: formula.description)
        found = dict.fromkeys(formula.expression.row for formula in (self._solver.best, *front[:count]))
        writer, back = self._context.writer, self._units.inverse
        return [next(back.restored(writer, self._problem.restored(row, writer))) for row in found]

    def end_epoch(self) -> ReducedState | None:
        """End an epoch: restart the inner searches from their state, and return it."""
        if self._solver is None or self._problem is None or self._index < 0:
            return None
        places = tuple(place for place, _ in self._problem.settings.possible_tracks(self._problem.library))
        state = self._solver.end_epoch(self._index)
        return ReducedState(len(self._problem.reduction.columns), places, state, self._is_over)

    @property
    def counts(self) -> Counts:
        """Numbers of expressions so far."""
        return Counts() if self._solver is None else self._solver.counts

    def _made(self, problem: Problem, begin: ReducedState | None) -> Solver:
        before = 0.0 if begin is None else begin.state.seconds
        left, budget = self._context.seconds_left, self._context.timer.budget
        return self._make(
            problem.library,
            problem.data,
            problem.settings,
            seed=derived(self._seed, Stream.REDUCED, 1),
            budget=Budget(budget.expressions, None if left is None else left + before, budget.clock),
            threads=self._context.threads,
            begin=None if begin is None else begin.state,
        )


def structure_of(whole: Dataset, context: TrackContext, settings: PortfolioSettings, *, seed: int) -> Structure | None:
    """Return what evidence says of the structure of data in the user's units."""
    own = settings.structure
    if own is None or len(context.writer.columns) < own.least_columns:
        return None
    units = next((rule for rule in settings.constraints if isinstance(rule, Dimensions)), None)
    return find(whole, context.writer, own, seed=seed, dimensions=units, is_late=context.timer.is_late)


def problem_of(
    candidate: Candidate, whole: Dataset, context: TrackContext, settings: PortfolioSettings
) -> Problem | None:
    """Return a reduced problem on all samples; None if it has no values, or no formula of its units."""
    reduction = candidate.reduction.plain
    values = reduction.values(context.writer, whole)
    usable = np.isfinite(values.target) & np.isfinite(values.columns).all(axis=0) & np.isfinite(values.slope)
    usable &= values.slope > 0.0
    if usable.mean() < _LEAST_SAMPLES:
        return None
    # An error of the reduced target is one of y times the slope, and noise is that of y.
    slope = values.slope[usable] / values.slope[usable].min()
    weights = np.maximum(1.0 / (slope * slope), _LEAST_WEIGHT) * whole.weights[usable]
    names = [f"u{place + 1}" for place in range(len(reduction.columns))]
    library = reduced_library(context.library, len(names))
    try:
        data = whole.with_samples(values.columns.T[usable], values.target[usable], weights / weights.mean(), names)
        check_target(data)
    except DataError:
        return None
    units = Magnitudes.of(data) if Writer(library.with_constant()).has("mul") else Magnitudes((1.0,) * len(names), 1.0)
    others = [rule for rule in settings.constraints if not isinstance(rule, Dimensions)]
    own = [_own_units(rule, reduction, names) for rule in settings.constraints if isinstance(rule, Dimensions)]
    if not all(rule.is_possible(library.with_constant()) for rule in own):
        return None
    inner = replace(settings, structure=None, constraints=(*others, *own), epoch=_NEVER)
    return Problem(reduction, library, units.scaled(data), units, inner)


def _own_units(rule: Dimensions, reduction: Reduction, names: Sequence[str]) -> Dimensions:
    columns = tuple(
        (name, column.dimension or Dimension()) for name, column in zip(names, reduction.columns, strict=True)
    )
    return replace(rule, variables=columns, target=reduction.dimension or Dimension())
