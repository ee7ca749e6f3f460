"""Reduced problems: evidence says which, and a portfolio of its own searches each, in turns with the other searches.

What it finds is written over the original columns (`structure/reduction.py`), and taken in like any other formula, so
that a wrong reduction costs time but cannot spoil an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from symseed.data import Dataset, Magnitudes
from symseed.errors import DataError
from symseed.language import Library, Row, Writer
from symseed.language.tokens import TokenKind
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
    """A portfolio that searches a reduced problem."""

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


class ProblemSearch:
    """The search of one reduced problem."""

    def __init__(self, place: int, problem: Problem, solver: Solver, begin: ReducedState | None) -> None:
        """Take the problem, its index among all that the data suggest, and the portfolio that searches it."""
        self.place, self._problem, self._solver = place, problem, solver
        self._turns = solver.turns()
        self.index = -1 if begin is None else begin.state.turn
        """The last turn; -1 before the first one."""
        self.is_over = begin is not None and begin.is_over
        """Whether the search has ended."""

    def turn(self, charged: int) -> bool:
        """Search for one turn; return whether the selected formula is new."""
        self._solver.tracks.common.timer.elsewhere = charged
        turn = next(self._turns)
        self.index, self.is_over = turn.index, turn.reason is not None
        if turn.reason is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        return turn.unchanged == 0

    def rows(self, count: int, writer: Writer) -> list[Row]:
        """Return the best formulas so far, those of the shortest description, in the user's units."""
        if self._solver.best is None:
            return []
        front = sorted(self._solver.front(), key=lambda formula: formula.description)
        found = dict.fromkeys(formula.expression.row for formula in (self._solver.best, *front[:count]))
        return [self._problem.restored(row, writer) for row in found]

    def end_epoch(self) -> ReducedState:
        """End an epoch: restart the inner searches from their state, and return it."""
        places = tuple(place for place, _ in self._problem.settings.possible_tracks(self._problem.library))
        state = self._solver.end_epoch(self.index)
        return ReducedState(self.place, len(self._problem.reduction.columns), places, state, self.is_over)

    @property
    def counts(self) -> Counts:
        """Numbers of expressions so far."""
        return self._solver.counts


class ReducedSearch:
    """The structure of the data, and searches of the problems to which it reduces them; nothing if there are none."""

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
            make: makes an inner portfolio.
            dataset: samples as the searches see them, scaled by `units`.
        """
        self._make, self._context, self._units, self._seed = make, context, units, seed
        self._data, self._settings = dataset, settings
        self.structure: Structure | None = None
        """What evidence says; None before the start, and if there are too few samples or too many columns."""
        self._searches: list[ProblemSearch] = []

    def start(self, begin: Sequence[ReducedState]) -> None:
        """Find the structure, which takes a second or a few, and prepare the searches, or resume them from states."""
        whole = self._units.inverse.scaled(self._data.with_loss(None))
        self.structure = structure_of(whole, self._context, self._settings, seed=self._seed)
        candidates = () if self.structure is None else self.structure.candidates
        states = {state.place: state for state in begin}
        known: list[Reduction] = []
        for place, candidate in enumerate(candidates):
            problem = problem_of(candidate, whole, self._context, self._settings)
            if problem is not None and problem.reduction not in known:
                known.append(problem.reduction)
                state = states.get(place)
                self._searches.append(ProblemSearch(place, problem, self._made(place, problem, state), state))

    def turn(self, charged: int) -> list[Row]:
        """Search the best problem for two turns and another for one; return formulas that are the new best there.

        Args:
            charged: expressions that count against the budget, without those of these searches.
        """
        first = [search for search in self._searches if search.place == 0]
        going = [search for search in self._searches if search.place > 0 and not search.is_over]
        other = sorted(going, key=lambda search: search.index)[:1]
        found: list[Row] = []
        for search in (*first, *other, *first):
            before = sum(own.counts.charged for own in self._searches if own is not search)
            if not search.is_over and search.turn(charged + before):
                found += self._restored([search], _TAKEN)
        return found

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns of the data on which the target depends by evidence; empty if that is not known."""
        if self.structure is None or not self.structure.candidates:
            return ()
        reduction, library = self.structure.candidates[0].reduction, self._context.writer.library
        parts = [column.row for column in reduction.columns]
        parts += [step.part for step in reduction.steps if step.part is not None]
        tokens = [library[place] for part in parts for place in part.ids]
        return tuple(sorted({token.column for token in tokens if token.kind is TokenKind.VARIABLE}))

    def rows(self, count: int) -> list[Row]:
        """Return the best formulas so far, those of the shortest description, as the portfolio writes them."""
        return self._restored(self._searches, count)

    def end_epoch(self) -> tuple[ReducedState, ...]:
        """End an epoch: restart the inner searches from their states, and return these."""
        return tuple(search.end_epoch() for search in self._searches if search.index >= 0)

    @property
    def counts(self) -> Counts:
        """Numbers of expressions so far."""
        every = [search.counts for search in self._searches]
        return Counts(
            sum(one.charged for one in every), sum(one.evaluated for one in every), sum(one.unique for one in every)
        )

    def _restored(self, searches: Sequence[ProblemSearch], count: int) -> list[Row]:
        writer, back = self._context.writer, self._units.inverse
        found = dict.fromkeys(row for search in searches for row in search.rows(count, writer))
        return [next(back.restored(writer, row)) for row in found]

    def _made(self, place: int, problem: Problem, begin: ReducedState | None) -> Solver:
        before = 0.0 if begin is None else begin.state.seconds
        left, budget = self._context.seconds_left, self._context.timer.budget
        return self._make(
            problem.library,
            problem.data,
            problem.settings,
            seed=derived(self._seed, Stream.REDUCED, place + 1),
            budget=Budget(budget.expressions, None if left is None else left + before, budget.clock),
            threads=self._context.threads,
            begin=None if begin is None else begin.state,
        )


def structure_of(whole: Dataset, context: TrackContext, settings: PortfolioSettings, *, seed: int) -> Structure | None:
    """Return what evidence says of the structure of data in the user's units."""
    own = settings.structure
    if own is None:
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
