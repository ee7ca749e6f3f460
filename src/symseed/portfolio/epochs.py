"""Epochs of islands: each is a pure function of the common data, the island's state, and the formulas that it gets.

Any worker may compute an epoch, and twice if one dies. An island goes on as soon as the islands that it gets formulas
from have ended the same epoch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from symseed.data import Dataset, Magnitudes
from symseed.language import Library, Row, Writer
from symseed.network import Guess
from symseed.portfolio.exchange import IslandSettings, Migrant, best, received
from symseed.portfolio.pool import judged
from symseed.portfolio.portfolio import Portfolio
from symseed.portfolio.progress import TrackLearning
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.states import IslandState, PortfolioState, counts_of
from symseed.search import Budget, Lineage, Part, StopReason, Stream, derived
from symseed.structure import Structure
from symseed.workers import Workers

_LOOK_SECONDS = 0.5
"""Seconds between two looks at the clock while workers work: chosen by hand."""
_MOST_LIVE = 16
"""Most portfolios that a worker process keeps between two epochs, so that it need not build them again."""


@dataclass(frozen=True, slots=True)
class IslandProblem:
    """What all islands have in common; a worker gets it once."""

    library: Library
    dataset: Dataset
    settings: PortfolioSettings
    seed: int
    budget: Budget
    """The limits of all islands together."""
    units: Magnitudes | None = None
    """By which the user's data were divided; None: by 1."""

    @property
    def islands(self) -> IslandSettings:
        """The islands."""
        assert self.settings.islands is not None, "the settings have islands"
        return self.settings.islands

    @property
    def expressions(self) -> int | None:
        """Most expressions of each island."""
        whole = self.budget.expressions
        return None if whole is None else -(-whole // self.islands.count)

    def places(self, place: int) -> tuple[int, ...]:
        """Return the indices of the tracks of an island among those of its settings."""
        return tuple(place for place, _ in self.settings.of_island(place).possible_tracks(self.library))

    def going_on(self, island: IslandState) -> IslandState:
        """Return an island that ended because of a limit as one that goes on, if the limit is higher now."""
        is_below = self.expressions is None or counts_of([island.state]).charged < self.expressions
        is_longer = island.reason is StopReason.SECONDS or (island.reason is StopReason.EXPRESSIONS and is_below)
        return replace(island, reason=None) if is_longer else island

    def portfolio(self, task: EpochTask) -> Portfolio:
        """Return an island as it was at the end of an epoch."""
        left, begin = task.left, task.begin
        if left is not None and task.sent is not None:
            left = max(left - max(time.time() - task.sent, 0.0), 1e-3)
        return Portfolio(
            self.library,
            self.dataset,
            self.settings.of_island(task.place),
            seed=derived(self.seed, Stream.ISLAND, task.place),
            budget=Budget(self.expressions, None if left is None else begin.seconds + left, self.budget.clock),
            begin=begin,
            units=self.units,
        )


@dataclass(frozen=True, slots=True)
class EpochTask:
    """An epoch of an island that is to be computed."""

    run: str
    """The search that the island belongs to, by the name of its workers' common value."""
    place: int
    begin: PortfolioState
    received: tuple[Row, ...]
    left: float | None
    """Seconds left when the task was sent; None: no limit."""
    sent: float | None
    """Time, by `time.time`, at which it was sent; None: it is done at once."""


@dataclass(frozen=True, slots=True)
class IslandEpoch:
    """An island at the end of an epoch."""

    island: IslandState
    migrants: tuple[Migrant, ...]
    """Its best formulas, which others may get."""
    found_by: Part | None
    """Part that found its selected formula, if that is new."""
    lineage: Lineage
    """How that formula came about."""
    learning: tuple[TrackLearning, ...]
    structure: Structure | None
    prior: tuple[Guess, ...] = ()
    """What a network thought of the data before the searches, if it was asked in this epoch."""


_live: dict[tuple[str, int], tuple[int, Portfolio]] = {}
"""The islands that this process searched last, with their turns."""


def next_epoch(problem: IslandProblem, task: EpochTask) -> IslandEpoch:
    """Compute the next epoch of an island; a worker does this."""
    key = (task.run, task.place)
    turn, portfolio = _live.pop(key, (-1, None))
    if portfolio is None or turn != task.begin.turn:
        portfolio = problem.portfolio(task)
    portfolio.intake.keep(task.received)
    reason: StopReason | None = None
    index, found_by = task.begin.turn, None
    lineage: Lineage = ()
    learning: tuple[TrackLearning, ...] = ()
    for one in portfolio.turns():
        index, reason, learning = one.index, one.reason, one.learning
        if one.found_by is not None:
            found_by, lineage = one.found_by, one.lineage
        if reason is not None or index % portfolio.settings.epoch == 0:
            break
    state = portfolio.state if reason is None else portfolio.end_epoch(index)
    assert state is not None, "an epoch has ended"
    if reason is None:
        _live[key] = (state.turn, portfolio)
        for old in list(_live)[:-_MOST_LIVE]:
            _live.pop(old, None)
    # Lineages would be most of what a worker sends; those of the formulas it selects are enough.
    tracks = tuple(replace(track, lineages=()) for track in state.tracks)
    island = IslandState(problem.places(task.place), replace(state, tracks=tracks), reason)
    structure, prior = portfolio.reduced.structure, portfolio.tracks.common.record.prior
    return IslandEpoch(island, migrants_of(problem, state), found_by, lineage, learning, structure, prior)


def migrants_of(problem: IslandProblem, state: PortfolioState) -> tuple[Migrant, ...]:
    """Return the best formulas of an island at the end of an epoch."""
    found = judged(Writer(problem.library.with_constant()), state.formulas, problem.dataset.counted())
    return best([Migrant(formula.expression.row, formula.description) for formula in found], problem.islands.migrants)


def remembered(problem: IslandProblem, island: IslandState) -> IslandEpoch:
    """Return an island at the end of an epoch, given its state alone."""
    return IslandEpoch(island, migrants_of(problem, island.state), None, (), (), None)


class Flow:
    """The epochs of all islands on their way: each is sent off once the epochs that it needs have ended."""

    def __init__(
        self,
        workers: Workers,
        problem: IslandProblem,
        begin: Sequence[IslandEpoch],
        left: Callable[[], float | None],
    ) -> None:
        """Begin.

        Args:
            begin: all islands at the end of an epoch.
            left: returns the seconds that the islands have left; None: no limit.
        """
        self._workers, self._problem, self._left, self._islands = workers, problem, left, problem.islands
        self._ended: list[dict[int, IslandEpoch]] = [dict(enumerate(begin))]  # by epoch, and by island
        self._sent: dict[int, tuple[int, int]] = {}  # epoch and island, by ticket
        self._next = [1] * len(begin)  # the epoch that each island computes next

    def epoch(self, number: int, looks: Callable[[], None]) -> tuple[IslandEpoch, ...]:
        """Return all islands at the end of an epoch; `looks` is called while they are being waited for."""
        self._send(number)
        while len(self._of(number)) < self._islands.count:
            looks()
            found = self._workers.result(_LOOK_SECONDS)
            if found is not None:
                epoch, place = self._sent.pop(found[0])
                self._of(epoch)[place] = found[1]
                if found[1].island.reason is StopReason.INTERRUPTED:
                    raise KeyboardInterrupt
                # Workers need not wait until all islands have ended an epoch; this thread would, for the next report.
                self._send(number if self._workers.is_here else epoch + 1)
        self._ended[number - 1].clear()
        return tuple(self._of(number)[place] for place in range(self._islands.count))

    def newest(self, begin: Sequence[IslandEpoch]) -> tuple[IslandEpoch, ...]:
        """Return the last epoch that each island has ended; `begin` are those that all have ended."""
        every = [[epochs[place] for epochs in self._ended if place in epochs] for place in range(len(begin))]
        return tuple(ended[-1] if ended else one for ended, one in zip(every, begin, strict=True))

    def _of(self, epoch: int) -> dict[int, IslandEpoch]:
        self._ended += [{} for _ in range(epoch + 1 - len(self._ended))]
        return self._ended[epoch]

    def _send(self, last: int) -> None:
        """Send off every epoch up to `last` that can begin."""
        for place in range(self._islands.count):
            epoch = self._next[place]
            before = self._of(epoch - 1)
            needed = (place, *self._islands.sources(place))
            if epoch > last or not all(other in before for other in needed):
                continue
            if self._workers.is_here and self._sent:
                return  # one at a time, so that Ctrl-C ends the search after it
            self._next[place] += 1
            own = before[place]
            if own.island.reason is None:
                self._sent[self._workers.submit(next_epoch, self._task(place, own, before))] = epoch, place
            else:
                self._of(epoch)[place] = own

    def _task(self, place: int, own: IslandEpoch, before: dict[int, IslandEpoch]) -> EpochTask:
        sent = {source: before[source].migrants for source in self._islands.sources(place)}
        return EpochTask(
            self._workers.key,
            place,
            own.island.state,
            received(self._islands, place, sent, own.migrants),
            self._left(),
            None if self._workers.is_here else time.time(),
        )
