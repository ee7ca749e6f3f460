"""Tracks: the searches of a portfolio, with their settings, their state between epochs, and their turns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from symseed.completion import CompletionCounts
from symseed.data import Dataset
from symseed.errors import check_at_least
from symseed.language import Library, Population, Row, Writer
from symseed.language.tokens import literal
from symseed.network import Guide
from symseed.portfolio.pool import SOLVED_NMSE, Formula, judged
from symseed.portfolio.record import TurnRecord
from symseed.scoring import Metric, RegressionSettings, RegressionTask, Scored, best_scaling
from symseed.search import (
    Change,
    Learning,
    Learnt,
    Lineage,
    Part,
    Search,
    SearchSettings,
    Snapshot,
    Step,
    StopReason,
    Stream,
    Timer,
    derived,
)
from symseed.search.elite import Front
from symseed.space import Constraint, SearchSpace, SoftLength


@dataclass(frozen=True, slots=True)
class Track:
    """Settings of one search of a portfolio."""

    settings: SearchSettings
    max_length: int
    constraints: tuple[Constraint, ...]
    constants: bool
    """Whether its formulas hold fitted constants."""
    rounds: int
    """Number of rounds in each turn."""
    min_length: int = 1
    soft_length: SoftLength | None = None
    numbers: tuple[float, ...] = ()
    """Literals that its formulas may hold besides those of the library."""
    is_scaled: bool = False
    """Whether a formula f is scored by the squared errors of the best a + b f, whatever the loss."""
    first_turn: int = 1
    """Turn at which the track begins."""

    def __post_init__(self) -> None:
        """Refuse what cannot run."""
        for name in ("min_length", "max_length", "rounds", "first_turn"):
            check_at_least(name, getattr(self, name), 1, of="a track")

    def library(self, whole: Library) -> Library:
        """Return the tokens of the track's formulas."""
        library = whole.with_constant() if self.constants else whole.without_constants()
        further = [token for token in map(literal, self.numbers) if token not in library.tokens]
        return Library((*library.tokens, *further))

    def space(self, whole: Library, constraints: Sequence[Constraint]) -> SearchSpace:
        """Return the legal formulas of the track; `constraints` hold for every track."""
        return SearchSpace(
            self.library(whole),
            min_length=min(self.min_length, self.max_length),
            max_length=self.max_length,
            constraints=(*self.constraints, *constraints),
            soft_length=self.soft_length,
        )


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of expressions."""

    charged: int = 0
    """That count against the budget."""
    evaluated: int = 0
    unique: int = 0
    """Different ones that were evaluated."""


@dataclass(frozen=True, slots=True)
class TrackState:
    """State of a track between two epochs."""

    search: Snapshot | None
    """Snapshot of the search; None before its first round."""
    front: Scored | None
    parts: tuple[Part, ...] = ()
    """The part that found each row of `front`."""
    lineages: tuple[Lineage, ...] = ()
    """How each row of `front` came about; not in a checkpoint, so a resumed search may lack it for older formulas."""


@dataclass(frozen=True, slots=True)
class TrackContext:
    """What all tracks of a portfolio have in common."""

    library: Library
    writer: Writer
    """Writer over the library of the whole portfolio."""
    sample: Dataset
    """The samples that tracks see."""
    constraints: tuple[Constraint, ...]
    """Constraints on the formulas of every track."""
    timer: Timer
    """The budget of all tracks together."""
    threads: int
    """Number of threads that score."""
    record: TurnRecord = field(default_factory=TurnRecord)
    """Records the turn under way."""
    guide: Guide | None = None
    """The network that reads the data; None: none does."""

    @property
    def seconds_left(self) -> float | None:
        """Seconds left to all tracks together; None: no limit."""
        limit = self.timer.budget.seconds
        return None if limit is None else max(limit - self.timer.elapsed, 1e-3)


class TrackRun:
    """A track under way."""

    def __init__(self, track: Track, common: TrackContext, *, place: int, seed: int, begin: TrackState | None) -> None:
        """Prepare the search, from its first round or from the state `begin`."""
        self._track, self._common, self._place = track, common, place
        space = track.space(common.library, common.constraints)
        metric = Metric.CORRELATION if track.is_scaled else Metric.INVERSE_NRMSE
        settings = RegressionSettings(metric=metric, solved_nmse=SOLVED_NMSE, threads=common.threads)
        sample = common.sample.with_loss(None) if track.is_scaled else common.sample
        task = RegressionTask(space.library, sample, settings)
        self._front = Front(track.max_length)
        if begin is not None and begin.front is not None:
            self._front.restore(begin.front, begin.parts, begin.lineages)
        self._begin = None if begin is None else begin.search
        before, left = 0.0 if self._begin is None else self._begin.seconds, common.seconds_left
        self._search = Search(
            space,
            task,
            self._guided(track, common.guide),
            seed=seed,
            budget=replace(common.timer.budget, seconds=None if left is None else before + left),
            watch=self._keep,
            begin=self._begin,
        )
        self._steps = iter(self._search)
        self._last: Step | None = None

    def _guided(self, track: Track, guide: Guide | None) -> SearchSettings:
        """The settings of the search, with a network if one reads the data."""
        if guide is None:
            return track.settings
        waits = self._place == 0 and not guide.is_early
        return guide.guided(track.settings, is_scaled=track.is_scaled, begins=track.rounds if waits else 0)

    def _keep(self, scored: Scored, part: Part) -> None:
        self._front.add(scored, part, self._search.learner.lineage)

    def turn(self, index: int, is_spent: Callable[[], bool]) -> list[Row]:
        """Search for one turn, or until the budget is spent; return the forms of the answer if it is solved."""
        if index < self._track.first_turn:
            return []
        learning = Learning()
        for step in itertools.islice(self._steps, self._track.rounds):
            self._last = step
            learning = step.learning.after(learning)
            if step.reason is StopReason.SOLVED or is_spent():
                break
        if self._last is None or not learning.has_begun:
            return []
        self._common.record.learnt(self._place, self._last.index + 1, learning)
        if self._last.reason is not StopReason.SOLVED:
            return []
        assert self._last.found_by is not None, "the solution was found in the last round"
        lineage = self._front.lineage_of(self._last.best)
        return self._written(Population.from_expressions([self._last.best]), [self._last.found_by], [lineage])

    def ranked(self) -> list[Formula]:
        """Return the best formulas of each length, judged on the tracks' samples, shortest description first."""
        population = self._front.population
        rows = [] if population is None else self._written(population, self._front.parts, self._front.lineages)
        formulas = judged(self._common.writer, rows, self._common.sample)
        return sorted(formulas, key=lambda formula: formula.description)

    def _written(self, population: Population, found_by: Sequence[Part], lineages: Sequence[Lineage]) -> list[Row]:
        """Rows f of the whole library; for a scaled track, a + b f too. The record keeps how they were found."""
        writer = self._common.writer
        rows = writer.translated(population)
        parts = rows.rows
        for row, part, lineage in zip(parts, found_by, lineages, strict=True):
            self._common.record.found([row], part, lineage)
        if not self._track.is_scaled:
            return parts
        offset, factor, _ = best_scaling(population, self._common.sample)
        scaled = []
        for a, b, row in zip(offset.tolist(), factor.tolist(), parts, strict=True):
            if math.isfinite(a) and math.isfinite(b):
                scaled.append(writer.affine(a, b, row))
                self._common.record.became(row, scaled[-1], Change.SCALED)
        return parts + scaled

    @property
    def state(self) -> TrackState:
        """The state from which the track continues in its next epoch."""
        snapshot = None if self._now is None else self._search.snapshot()
        return TrackState(snapshot, self._front.scored, self._front.parts, self._front.lineages)

    @property
    def learnt(self) -> Learnt | None:
        """What the policy has learnt so far; None if there is none, or before the first round."""
        return None if self._now is None else self._search.learnt

    @property
    def _now(self) -> Step | Snapshot | None:
        return self._begin if self._last is None else self._last

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return self._last is not None and self._last.reason is StopReason.INTERRUPTED

    @property
    def charged(self) -> int:
        """Number of expressions that count against the budget."""
        return 0 if self._now is None else self._now.charged

    @property
    def evaluated(self) -> int:
        """Number of expressions evaluated."""
        return 0 if self._now is None else self._now.evaluated

    @property
    def unique(self) -> int:
        """Number of different expressions evaluated."""
        return 0 if self._now is None else self._now.unique

    @property
    def completion(self) -> CompletionCounts:
        """Counts of what completion did."""
        return CompletionCounts() if self._now is None else self._now.completion


class Tracks:
    """The searches of a portfolio, which take turns."""

    def __init__(
        self,
        tracks: Sequence[tuple[int, Track]],
        common: TrackContext,
        *,
        seed: int,
        begin: Sequence[TrackState] | None,
    ) -> None:
        """Prepare the searches: each track with its index in the settings, which decides its seed."""
        self.common = common
        self._tracks, self._seed = tracks, seed
        self._runs = self._begun((None,) * len(tracks) if begin is None else begin)

    def _begun(self, states: Sequence[TrackState | None]) -> list[TrackRun]:
        return [
            TrackRun(track, self.common, place=place, seed=derived(self._seed, Stream.TRACK, place), begin=begin)
            for (place, track), begin in zip(self._tracks, states, strict=True)
        ]

    def __iter__(self) -> Iterator[TrackRun]:
        """Give the searches in the order of their turns."""
        return iter(self._runs)

    def next_epoch(self) -> tuple[TrackState, ...]:
        """Restart every search from its state, and return the states."""
        states = tuple(run.state for run in self._runs)
        self._runs = self._begun(states)
        return states

    def learnt(self) -> tuple[Learnt | None, ...]:
        """Return what the policy of each search has learnt."""
        return tuple(run.learnt for run in self._runs)

    def ranked(self) -> list[list[Formula]]:
        """Return the best formulas of each track, as `TrackRun.ranked` does."""
        return [run.ranked() for run in self._runs]

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended one of the searches."""
        return any(run.is_interrupted for run in self._runs)

    @property
    def charged(self) -> int:
        """Number of expressions that count against the budget."""
        return sum(run.charged for run in self._runs)

    @property
    def evaluated(self) -> int:
        """Number of expressions evaluated."""
        return sum(run.evaluated for run in self._runs)

    @property
    def unique(self) -> int:
        """Number of different expressions evaluated."""
        return sum(run.unique for run in self._runs)

    @property
    def completion(self) -> CompletionCounts:
        """Counts of what completion did."""
        counts = [run.completion for run in self._runs]
        return CompletionCounts(
            sum(count.lookups for count in counts),
            sum(count.hits for count in counts),
            sum(count.splices for count in counts),
        )
