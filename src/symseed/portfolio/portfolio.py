"""Several searches in turn, and assembly from what they find: what a user runs on data of their own.

Each track is a search of its own (`track.py`), with or without fitted constants. After every few turns the best
formulas so far are taken apart and put together anew (`assembly/assembler.py`), simplified (`assembly/simplify.py`),
and judged by their description length (`pool.py`). The answer is a front of formulas and one choice among them.

Turns are counted in epochs. Where one ends, all that goes on is a small `PortfolioState`: caches and tables of
completions begin anew, in a portfolio that goes on as in one that is made from the state later. So both come to the
same end, to the last bit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from symseed.assembly import probes
from symseed.assembly.assembler import Assembler, AssemblySettings
from symseed.assembly.simplify import polished, refitted, tidied
from symseed.completion.completer import CompletionCounts
from symseed.data.dataset import Dataset
from symseed.errors import DataError, SettingsError
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.language.row import Row
from symseed.language.writer import Writer
from symseed.portfolio.pool import Formula, Pool
from symseed.portfolio.track import Common, Track, TrackRun, TrackState
from symseed.scoring.description import description_lengths
from symseed.search.budget import Budget, StopReason, in_time
from symseed.space.constraints import Constraint, Dimensions
from symseed.space.space import SearchSpace

_NOTHING = 1e-6
"""Nats that are no difference."""
_RESERVE, _MOST_RESERVE = 0.1, 1.0
"""Share of the time, and seconds at most, that are kept for the last formulas: to fit, simplify and judge them."""
_FITTED_AT_ONCE = 16
"""Formulas that are fitted before the clock is looked at."""
LARGEST_TARGET = 1e140
"""Of y's values, and one over it the least of their spread: squares must be numbers."""


@dataclass(frozen=True, slots=True)
class PortfolioSettings:
    """What a portfolio is made of."""

    tracks: tuple[Track, ...]
    assembly: AssemblySettings | None = field(default_factory=AssemblySettings)
    """None: no assembly, searches only."""
    every: int = 2
    """Turns after which what the searches have found is taken in.

    Formulas are then put together anew, too, but more and more rarely: after so many turns, twice as many, four times,
    eight times, and so on.
    """
    enlarged: int = 4
    """After which turn assembly gets more sub-expressions to begin with."""
    parts: int = 6
    """Formulas that are taken apart each time: those of the shortest description."""
    tidied: int = 6
    """Formulas that are tidied each time."""
    plain_numbers: bool = True
    """Whether their constants become plain numbers, where the data do not tell them from these."""
    epoch: int = 4
    """Turns of an epoch."""
    samples: int = 500
    """Samples that the tracks see, drawn from the data where there are more; formulas are fitted and judged on all."""
    constraints: tuple[Constraint, ...] = ()
    """What no formula may be, whether a search makes it or assembly; a track's own are only that search's."""

    def __post_init__(self) -> None:
        """Refuse what cannot run."""
        if not self.tracks:
            raise SettingsError("A portfolio needs at least one track, but there is none.")
        for name in ("every", "enlarged", "parts", "tidied", "epoch", "samples"):
            if getattr(self, name) < 1:
                raise SettingsError(f"`{name}` of a portfolio must be at least 1, but it is {getattr(self, name)}.")

    def with_max_length(self, longest: int) -> PortfolioSettings:
        """Return the same with formulas of at most so many tokens."""
        tracks = tuple(replace(track, max_length=min(track.max_length, longest)) for track in self.tracks)
        return replace(self, tracks=tracks)

    def possible_tracks(self, library: Library) -> list[tuple[int, Track]]:
        """Return the tracks with their places; where only a constant can have the units of y, those that have some.

        Those that need a + b f are left out where that cannot be written.
        """
        rules = [rule for rule in self.constraints if isinstance(rule, Dimensions)]
        can_scale = Writer(library.with_constant()).has("add", "mul")
        every = [(i, track) for i, track in enumerate(self.tracks) if can_scale or not track.is_scaled]
        return [
            (i, track) for i, track in every if all(rule.is_possible(track.library(library)) for rule in rules)
        ] or every


@dataclass(frozen=True, slots=True)
class Turn:
    """The portfolio after one turn."""

    index: int
    best: Formula
    unchanged: int
    """For how many turns the choice has been the same."""
    charged: int
    evaluated: int
    unique: int
    completion: CompletionCounts
    seconds: float
    reason: StopReason | None


@dataclass(frozen=True, slots=True)
class PortfolioState:
    """A portfolio between two epochs: all that its next turn depends on, beside what it was made with."""

    turn: int
    unchanged: int
    seconds: float
    charged: int
    """Formulas that were no search's."""
    formulas: tuple[Row, ...]
    """The best of each length."""
    number: Row
    """The best mere number."""
    tracks: tuple[TrackState, ...]


@dataclass(frozen=True, slots=True)
class Solution:
    """What a portfolio found."""

    best: Formula
    front: tuple[Formula, ...]
    """The best at each length, shortest first; none but the choice errs more than a shorter one."""
    reason: StopReason
    history: tuple[Turn, ...]


def run(
    library: Library, dataset: Dataset, settings: PortfolioSettings, *, seed: int = 0, budget: Budget | None = None
) -> Solution:
    """Search until there is nothing left to explain, or the budget is used up."""
    portfolio = Portfolio(library, dataset, settings, seed=seed, budget=budget or Budget())
    history = tuple(portfolio.turns())
    reason = history[-1].reason
    assert reason is not None, "the last turn says why it is the last"
    return Solution(history[-1].best, portfolio.front(), reason, history)


class Portfolio:
    """The searches of one dataset, and what they have found."""

    def __init__(
        self,
        library: Library,
        dataset: Dataset,
        settings: PortfolioSettings,
        *,
        seed: int,
        budget: Budget,
        patience: int | None = None,
        known: Sequence[Expression] = (),
        threads: int = 1,
        begin: PortfolioState | None = None,
    ) -> None:
        """Prepare the searches.

        Args:
            patience: turns without another choice after which it ends; None: never for that.
            known: formulas to begin with; those with tokens that the library lacks are left out.
            threads: of scoring. The answer does not depend on it.
            begin: where to begin, if not at the first turn; the other arguments are those it was taken with.
        """
        dataset = dataset.counted()
        largest = float(np.abs(dataset.y).max())
        if largest > LARGEST_TARGET or 0.0 < dataset.deviation < 1.0 / LARGEST_TARGET:
            raise DataError(
                f"`y` must be at most {LARGEST_TARGET:g} and spread by at least {1.0 / LARGEST_TARGET:g}, so that "
                f"squares are numbers, but it goes up to {largest:g} and spreads by {dataset.deviation:g}. Scale it."
            )
        self._dataset, self._settings, self._budget = dataset, settings, budget
        self._known, self._patience, self._seed = known, patience, seed
        sample = dataset
        if len(dataset) > settings.samples:
            rows = np.sort(np.random.default_rng(seed).choice(len(dataset), settings.samples, replace=False))
            sample = dataset.take(rows)
        # What matters most comes first, where only so many variables can be looked at.
        order = np.argsort(-probes.relevance(dataset), kind="stable")
        whole = Writer(library.with_constant())
        self._writer = whole.of_columns([int(column) for column in order if column in whole.columns])
        self.common = Common(library, self._writer, sample, settings.constraints, budget, threads)
        self._started = self._budget.clock() - (0.0 if begin is None else begin.seconds)
        self._seconds = (
            None if budget.seconds is None else budget.seconds - min(_RESERVE * budget.seconds, _MOST_RESERVE)
        )
        self._tracks = settings.possible_tracks(library)
        self._legal = self._legal_space()
        self._runs = self._begun(None if begin is None else begin.tracks)
        self._assembler: Assembler | None = None
        self._pool = Pool(self._writer, dataset)
        self._own_charged = 0
        self._unchanged = 0
        self._state = begin
        if begin is not None:
            self._own_charged, self._unchanged = begin.charged, begin.unchanged
            self._pool.fall_back_on(begin.number)
            self._pool.add([*begin.formulas, *self._possible([begin.number])])
            self._assembler = self._assembler_of(begin.turn >= settings.enlarged)

    def turns(self) -> Iterator[Turn]:
        """Give one `Turn` after another; the last has a reason."""
        reason: StopReason | None = None
        for index in itertools.count(0 if self._state is None else self._state.turn + 1):
            before = self._pool.best
            try:
                self._take_turn(index)
            except KeyboardInterrupt:
                if self._pool.best is None:
                    raise
                reason = StopReason.INTERRUPTED
            self._unchanged = self._unchanged + 1 if before is not None and before == self._pool.best else 0
            reason = reason or self._is_over()
            if reason is None and self._patience is not None and self._unchanged >= self._patience:
                reason = StopReason.PATIENCE
            if reason is None and index % self._settings.epoch == 0:
                self._state = self._put_away(index)
                self._runs = self._begun(self._state.tracks)
            yield self._turn(index, reason)
            if reason is not None:
                return

    @property
    def state(self) -> PortfolioState | None:
        """The portfolio as it was at the end of the last epoch; None before the first turn."""
        return self._state

    def front(self) -> tuple[Formula, ...]:
        """Return the best formulas at each length."""
        return self._pool.front()

    def gather(self) -> list[Row]:
        """Take in, and return, the best formulas that the searches have found."""
        found = [part for track in self._runs for part in track.best(self._settings.parts)]
        self._take(found)
        return found

    @property
    def best(self) -> Formula | None:
        """The choice so far; None before the first turn."""
        return self._pool.best

    def _take_turn(self, index: int) -> None:
        if index == 0:
            self._begin()
            return
        for track in self._runs:
            self._take(track.turn(index, self._is_spent))
            if self._is_over() is not None:
                break
        is_over = self._is_over() is not None
        if is_over or index % self._settings.every == 0:
            found = self.gather()
            periods = index // self._settings.every
            if is_over or periods & (periods - 1) == 0:
                self._assemble(found)
        if index == self._settings.enlarged and self._is_over() is None:
            self._assembler = self._assembler_of(is_enlarged=True)
            if self._assembler is not None:
                self._take(self._assembler.first())
                if self._is_over() is None:
                    self._take(self._assembler.split())

    def _put_away(self, index: int) -> PortfolioState:
        return PortfolioState(
            turn=index,
            unchanged=self._unchanged,
            seconds=self._elapsed,
            charged=self._own_charged,
            formulas=self._pool.parts,
            number=self._pool.number,
            tracks=tuple(run.state for run in self._runs),
        )

    def _begun(self, states: Sequence[TrackState] | None) -> list[TrackRun]:
        begins = (None,) * len(self._tracks) if states is None else states
        left = None if self._seconds is None else max(self._seconds - self._elapsed, 1e-3)
        return [
            TrackRun(track, self.common, seed=self._seed + 7919 * i, begin=begin, left=left)
            for (i, track), begin in zip(self._tracks, begins, strict=True)
        ]

    def _begin(self) -> None:
        y = self._dataset.y
        # The mean of equal numbers may be another, by rounding.
        is_one = self._dataset.deviation == 0.0
        mean = self._writer.number(float(y[0] if is_one else np.average(y, weights=self._dataset.weights)))
        if self._dataset.loss is not None:
            mean = polished(self._writer.population([mean]), self._dataset).row(0)
        self._pool.add(self._possible([mean]))
        self._pool.fall_back_on(mean)
        known = self._possible([part for part in map(self._writer.row, self._known) if part is not None])
        if known:
            fitted = polished(self._writer.population(known), self._dataset)
            self._pool.add(fitted.rows)
        self._assembler = self._assembler_of(is_enlarged=False)
        if self._assembler is not None:
            self._take(self._assembler.first() or self._assembler.polynomials())

    def _assembler_of(self, is_enlarged: bool) -> Assembler | None:
        settings = self._settings.assembly
        if settings is None or self._dataset.deviation == 0.0:
            return None
        return Assembler(self._writer, self._dataset, settings, is_enlarged=is_enlarged, is_late=self._is_spent_time)

    def _assemble(self, found: Sequence[Row]) -> None:
        # Formulas put together anew take seconds, which a search whose time is up has not.
        done = (StopReason.SOLVED, StopReason.SECONDS, StopReason.INTERRUPTED)
        if self._assembler is not None and self._is_over() not in done:
            best = [formula.part for formula in self._pool.shortest(self._settings.parts)]
            self._take(self._assembler.next([*best, *found[: self._settings.parts]]))

    def _take(self, parts: Sequence[Row]) -> None:
        """Fit formulas, and tidy those of the shortest description."""
        short = self._possible([part for part in dict.fromkeys(parts) if len(part) <= self._longest])
        if not short:
            return
        self._own_charged += len(short)
        # As they are, too: they may hold plain numbers, which fitting changes.
        given = self._writer.population(short)
        forms = [self._polished(given), given]
        lengths = np.stack([description_lengths(form, self._dataset) for form in forms])
        shorter = (lengths[1] < lengths[0] - _NOTHING).astype(int)
        least = lengths.min(axis=0)
        order = np.argsort(least, kind="stable")[: self._settings.tidied]
        chosen = [forms[shorter[i]].row(int(i)) for i in order if np.isfinite(least[i])]
        if self.is_late():
            self._pool.add(chosen)
        self._pool.add(
            self._possible([refitted(self._writer, part, self._dataset) for part in in_time(chosen, self.is_late)])
        )
        if self._settings.plain_numbers:
            self._pool.add(
                self._possible(
                    [
                        tidied(self._writer, part, self._dataset, is_late=self.is_late)
                        for part in in_time(chosen, self.is_late)
                    ]
                )
            )

    def _polished(self, given: Population) -> Population:
        """Rows with their constants fitted, as long as there is time; the others as they are given."""
        parts = range(0, len(given), _FITTED_AT_ONCE)
        fitted = [
            polished(given.take(np.arange(begin, min(begin + _FITTED_AT_ONCE, len(given)))), self._dataset)
            for begin in in_time(parts, self.is_late)
        ]
        done = sum(map(len, fitted))
        rest = [given.take(np.arange(done, len(given)))] if done < len(given) else []
        return Population.concatenate([*fitted, *rest])

    def _legal_space(self) -> SearchSpace | None:
        """What the constraints of all formulas allow; None where there are none."""
        rules = self._settings.constraints
        longest = max([self._longest, *map(len, self._known)])
        return SearchSpace(self._writer.library, 1, longest, rules) if rules else None

    def _possible(self, parts: Sequence[Row]) -> list[Row]:
        """Those that the constraints allow, of parts that were made outside a search."""
        if self._legal is None or not parts:
            return list(parts)
        legal = self._legal.violations(self._writer.population(parts)) == -1
        return [part for part, is_legal in zip(parts, legal, strict=True) if is_legal]

    @property
    def _longest(self) -> int:
        return max(track.max_length for track in self._settings.tracks)

    def _is_over(self) -> StopReason | None:
        if self._pool.is_solved:
            return StopReason.SOLVED
        if any(run.is_interrupted for run in self._runs):
            return StopReason.INTERRUPTED
        return self._spent()

    def _is_spent(self) -> bool:
        return self._spent() is not None

    def _spent(self) -> StopReason | None:
        """Which limit all tracks together have come to."""
        if self._budget.expressions is not None and self._charged >= self._budget.expressions:
            return StopReason.EXPRESSIONS
        return StopReason.SECONDS if self._is_spent_time() else None

    def _is_spent_time(self) -> bool:
        """Whether the search's time is up; the rest is for writing down what was found."""
        return self._seconds is not None and self._elapsed >= self._seconds

    def is_late(self) -> bool:
        """Whether all time is up."""
        return self._budget.seconds is not None and self._elapsed >= self._budget.seconds

    @property
    def _elapsed(self) -> float:
        return self._budget.clock() - self._started

    @property
    def _charged(self) -> int:
        return self._own_charged + sum(run.charged for run in self._runs)

    def _turn(self, index: int, reason: StopReason | None) -> Turn:
        assert self._pool.best is not None, "the mean of y was put in first"
        counts = [run.completion for run in self._runs]
        return Turn(
            index=index,
            best=self._pool.best,
            unchanged=self._unchanged,
            charged=self._charged,
            evaluated=self._own_charged + sum(run.evaluated for run in self._runs),
            unique=self._own_charged + sum(run.unique for run in self._runs),
            completion=CompletionCounts(
                sum(count.lookups for count in counts),
                sum(count.hits for count in counts),
                sum(count.splices for count in counts),
            ),
            seconds=self._elapsed,
            reason=reason,
        )
