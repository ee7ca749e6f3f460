"""Islands: several portfolios with random streams of their own, which exchange their best formulas after every epoch.

`epochs.py` has one island. What is selected, and when the search ends, is decided here, after each epoch of all islands
and in their order: the answer does not depend on the number of workers, or on when each of them is done.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace

from symseed.language import Expression, Row
from symseed.network import Guess
from symseed.portfolio.epochs import Flow, IslandEpoch, IslandProblem, remembered
from symseed.portfolio.pool import Formula
from symseed.portfolio.portfolio import FURTHER, MOST_RESERVE, RESERVE, Portfolio
from symseed.portfolio.progress import Activity, Stage, Turn, announcer
from symseed.portfolio.states import IslandState, PortfolioState, completion_of, counts_of
from symseed.portfolio.track import Counts, TrackState
from symseed.search import StopReason, Timer
from symseed.structure import Structure
from symseed.workers import Workers, WorkersLostError


class Islands:
    """A search by several portfolios; it has the interface of one."""

    def __init__(
        self,
        problem: IslandProblem,
        *,
        patience: int | None = None,
        known: Sequence[Expression] = (),
        begin: PortfolioState | None = None,
        tell: Callable[[Activity], None] | None = None,
        executor: Executor | None = None,
        jobs: int = 1,
    ) -> None:
        """Prepare the search.

        Args:
            problem: what all islands have in common.
            patience: number of turns without a new selected formula after which the search ends; None: no such limit.
            known: formulas to begin with.
            begin: state to resume from.
            tell: called whenever the search begins another activity.
            executor: computes the epochs of islands; None: processes of this machine.
            jobs: number of these processes; 1: this thread.
        """
        self._problem, budget = problem, problem.budget
        self._patience, self._executor, self._jobs = patience, executor, min(jobs, problem.islands.count)
        self._timer = Timer(budget, before=0.0 if begin is None else begin.seconds)
        self.begins = announcer(tell, self._timer, lambda: self._counts.charged)
        """Announces the next activity."""
        # It takes turn 0, and judges what the islands find; it searches nothing, so that it needs no structure.
        assembly = None if begin else problem.settings.assembly
        self._home = Portfolio(
            problem.library,
            problem.dataset,
            replace(problem.settings, structure=None, assembly=assembly),
            seed=problem.seed,
            budget=budget,
            known=known,
            tell=tell,
            units=problem.units,
        )
        self._state, self._unchanged = begin, 0 if begin is None else begin.unchanged
        self._now: tuple[IslandEpoch, ...] = ()
        if begin is not None:
            self._now = tuple(remembered(self._problem, self._problem.going_on(one)) for one in begin.islands)
            self._home.intake.charged = begin.charged
            self._home.intake.pool.fall_back_on(begin.number)
            self._home.intake.keep([begin.number])
            self._absorb(begin)

    def begin(self) -> Turn:
        """Take in the first formulas, as `Portfolio.begin` does."""
        return self._home.begin()

    def turns(self) -> Iterator[Turn]:
        """Give a turn of the whole after each epoch of all islands; the last has a reason."""
        if self._state is None:
            first = next(self._home.turns())
            begin = self._home.state
            if first.reason is None and begin is not None:
                self._now = tuple(self._first(place, begin) for place in range(self._problem.islands.count))
                self._state = self._saved(0)
            yield first
            if first.reason is not None:
                return
        with Workers(self._problem, self._executor, count=self._jobs) as workers:
            flow = Flow(workers, self._problem, self._now, self._left)
            for number in itertools.count(1):
                before, turn, reason = self.best, self._turn_of(self._now), None
                try:
                    self._now = flow.epoch(number, lambda: self.begins(Stage.SEARCHING))
                except KeyboardInterrupt:
                    self._now, reason = flow.newest(self._now), StopReason.INTERRUPTED
                except WorkersLostError:
                    self._now, reason = flow.newest(self._now), StopReason.LOST
                for one in self._now:
                    self._absorb(one.island.state)
                index = max(self._turn_of(self._now), turn + 1)
                self._unchanged = self._unchanged + index - turn if before == self.best else 0
                reason = reason or self._is_over()
                if reason is None:
                    self._state = self._saved(index)
                else:
                    self.finish()
                yield self._turn(index, reason)
                if reason is not None:
                    return

    @property
    def state(self) -> PortfolioState | None:
        """The islands as they were at the end of the last epoch; None before the first turn."""
        return self._state

    @property
    def best(self) -> Formula | None:
        """The selected formula so far; None before the first turn."""
        return self._home.best

    def front(self) -> tuple[Formula, ...]:
        """Return the best formulas at each length."""
        return self._home.front()

    @property
    def near(self) -> tuple[Row, ...]:
        """The formulas of the shortest descriptions found so far, of whatever size."""
        return self._home.near

    @property
    def structure(self) -> Structure | None:
        """What evidence says of the structure of the data, as the first island has it; None until it is sought."""
        return self._now[0].structure if self._now else None

    @property
    def prior(self) -> tuple[Guess, ...]:
        """What a network thought of the data before the searches, as the first island has it."""
        return self._now[0].prior if self._now else ()

    def gather(self) -> list[Row]:
        """Return nothing: what an island finds is taken in at the end of its epoch."""
        return []

    def finish(self) -> None:
        """Fit the constants of the front."""
        self.begins(Stage.SIMPLIFYING)
        self._home.finish()

    # --- Epochs ------------------------------------------------------------------------------------------------------

    def _first(self, place: int, begin: PortfolioState) -> IslandEpoch:
        """An island after turn 0, which has no random numbers and is taken once for all islands."""
        places = self._problem.places(place)
        state = replace(begin, charged=0, tracks=tuple(TrackState(None, None) for _ in places))
        return remembered(self._problem, IslandState(places, state, None))

    def _absorb(self, state: PortfolioState) -> None:
        """Take in the formulas of an island."""
        self._home.intake.keep(state.formulas)
        self._home.intake.note(state.noted)
        self._home.intake.recall(state.near)

    def _left(self) -> float | None:
        """Seconds that the islands have left."""
        budget = self._timer.budget.less(RESERVE, MOST_RESERVE)
        return None if budget.seconds is None else max(budget.seconds - self._timer.elapsed, 1e-3)

    def _is_over(self) -> StopReason | None:
        reasons = [one.island.reason for one in self._now]
        if self._home.intake.pool.is_solved:
            return StopReason.SOLVED
        if self._home.intake.pool.is_exact and self._unchanged >= FURTHER:
            return StopReason.NO_SHORT_LAW
        if None not in reasons:
            return StopReason.SECONDS if StopReason.SECONDS in reasons else reasons[0]
        if self._patience is not None and self._unchanged >= self._patience:
            return StopReason.PATIENCE
        return None

    @staticmethod
    def _turn_of(epochs: Sequence[IslandEpoch]) -> int:
        return max((one.island.state.turn for one in epochs), default=0)

    # --- Reports -----------------------------------------------------------------------------------------------------

    @property
    def _counts(self) -> Counts:
        own, others = self._home.counts, counts_of([one.island.state for one in self._now])
        return Counts(own.charged + others.charged, own.evaluated + others.evaluated, own.unique + others.unique)

    def _saved(self, index: int) -> PortfolioState:
        pool = self._home.intake.pool
        return PortfolioState(
            turn=index,
            unchanged=self._unchanged,
            seconds=self._timer.elapsed,
            charged=self._home.intake.charged,
            formulas=pool.rows,
            noted=pool.noted,
            near=self.near,
            number=pool.number,
            tracks=tuple(TrackState(None, None) for _ in self._home.tracks),
            islands=tuple(one.island for one in self._now),
        )

    def _turn(self, index: int, reason: StopReason | None) -> Turn:
        assert self.best is not None, "the mean of y was added first"
        counts = self._counts
        found = [one for one in self._now if self.best.expression.row in one.island.state.formulas and one.found_by]
        return Turn(
            index=index,
            best=self.best,
            unchanged=self._unchanged,
            charged=counts.charged,
            evaluated=counts.evaluated,
            unique=counts.unique,
            completion=completion_of([one.island.state for one in self._now]),
            seconds=self._timer.elapsed,
            reason=reason,
            found_by=found[0].found_by if found and not self._unchanged else None,
            lineage=found[0].lineage if found and not self._unchanged else (),
            learning=self._now[0].learning if self._now else (),
        )
