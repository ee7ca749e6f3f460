"""One of the searches of a portfolio, in turns: what it is, its state between epochs, and its run."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from symseed.completion import CompletionCounts
from symseed.data import Dataset
from symseed.errors import SettingsError
from symseed.language import Library, Population, Row, Writer
from symseed.language.tokens import literal
from symseed.portfolio.pool import SOLVED_NMSE
from symseed.scoring import Metric, RegressionSettings, RegressionTask, Scored, best_scaling, description_lengths
from symseed.search import Search, SearchSettings, Snapshot, Step, StopReason, Timer
from symseed.search.elite import Front
from symseed.search.streams import Stream, derived
from symseed.space import Constraint, SearchSpace, SoftLength


@dataclass(frozen=True, slots=True)
class Track:
    """One of the searches."""

    settings: SearchSettings
    max_length: int
    constraints: tuple[Constraint, ...]
    constants: bool
    """Whether its formulas hold fitted constants."""
    rounds: int
    """How many rounds it has in each turn."""
    soft_length: SoftLength | None = None
    numbers: tuple[float, ...] = ()
    """Which numbers its formulas may hold beside those of the library."""
    is_scaled: bool = False
    """Whether a formula f is scored by the squared errors of the best a + b f, whatever the loss."""
    first_turn: int = 1
    """When it joins in."""

    def __post_init__(self) -> None:
        """Refuse what cannot run."""
        for name in ("max_length", "rounds", "first_turn"):
            if getattr(self, name) < 1:
                raise SettingsError(f"`{name}` of a track must be at least 1, but it is {getattr(self, name)}.")

    def library(self, whole: Library) -> Library:
        """Return the tokens that it searches with."""
        library = whole.with_constant() if self.constants else whole.without_constants()
        further = [token for token in map(literal, self.numbers) if token not in library.tokens]
        return Library((*library.tokens, *further))


@dataclass(frozen=True, slots=True)
class TrackState:
    """One of the searches between two epochs."""

    search: Snapshot | None
    """None: it has not begun."""
    front: Scored | None


@dataclass(frozen=True, slots=True)
class TrackContext:
    """What all tracks of a portfolio have in common."""

    library: Library
    writer: Writer
    """Writes formulas of all tracks down."""
    sample: Dataset
    """The data that tracks see."""
    constraints: tuple[Constraint, ...]
    """What no formula may be."""
    timer: Timer
    """The budget of all tracks together."""
    threads: int
    """How many threads score."""

    @property
    def seconds_left(self) -> float | None:
        """Seconds that are left to all tracks; None: as many as they need."""
        limit = self.timer.budget.seconds
        return None if limit is None else max(limit - self.timer.elapsed, 1e-3)


class TrackRun:
    """A track under way."""

    def __init__(self, track: Track, common: TrackContext, *, seed: int, begin: TrackState | None) -> None:
        """Prepare the search; it begins where `begin` says, if not at its first step."""
        self._track, self._common = track, common
        library = track.library(common.library)
        space = SearchSpace(
            library,
            min_length=1,
            max_length=track.max_length,
            constraints=(*track.constraints, *common.constraints),
            soft_length=track.soft_length,
        )
        metric = Metric.CORRELATION if track.is_scaled else Metric.INVERSE_NRMSE
        settings = RegressionSettings(metric=metric, solved_nmse=SOLVED_NMSE, threads=common.threads)
        sample = common.sample.with_loss(None) if track.is_scaled else common.sample
        task = RegressionTask(library, sample, settings)
        self._front = Front(track.max_length)
        if begin is not None and begin.front is not None:
            self._front.add(begin.front)
        self._begin = None if begin is None else begin.search
        before, left = 0.0 if self._begin is None else self._begin.seconds, common.seconds_left
        self._search = Search(
            space,
            task,
            track.settings,
            seed=seed,
            budget=replace(common.timer.budget, seconds=None if left is None else before + left),
            watch=self._front.add,
            begin=self._begin,
        )
        self._steps = iter(self._search)
        self._last: Step | None = None

    def turn(self, index: int, is_spent: Callable[[], bool]) -> list[Row]:
        """Search for a turn, or until all tracks' budget is spent; return the answer's forms, where there is one."""
        if index < self._track.first_turn:
            return []
        for step in itertools.islice(self._steps, self._track.rounds):
            self._last = step
            if step.reason is StopReason.SOLVED:
                return self._written(Population.from_expressions([step.best]))
            if is_spent():
                break
        return []

    def best(self, count: int) -> list[Row]:
        """Return so many formulas of the shortest description."""
        population = self._front.population
        parts = [] if population is None else self._written(population)
        if not parts:
            return []
        lengths = description_lengths(self._common.writer.population(parts), self._common.sample)
        order = np.argsort(lengths, kind="stable")[:count]
        return [parts[i] for i in order if np.isfinite(lengths[i])]

    def _written(self, population: Population) -> list[Row]:
        """Rows in the whole library, and where they are scored by it, as a + b f too."""
        writer = self._common.writer
        rows = writer.translated(population)
        parts = rows.rows
        if not self._track.is_scaled:
            return parts
        offset, factor, _ = best_scaling(population, self._common.sample)
        pairs = zip(offset.tolist(), factor.tolist(), parts, strict=True)
        return parts + [writer.affine(a, b, part) for a, b, part in pairs if math.isfinite(a) and math.isfinite(b)]

    @property
    def state(self) -> TrackState:
        """What the track goes on from in its next epoch."""
        return TrackState(None if self._now is None else self._search.snapshot(), self._front.scored)

    @property
    def _now(self) -> Step | Snapshot | None:
        return self._begin if self._last is None else self._last

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self._last is not None and self._last.reason is StopReason.INTERRUPTED

    @property
    def charged(self) -> int:
        """Expressions that count against the budget."""
        return 0 if self._now is None else self._now.charged

    @property
    def evaluated(self) -> int:
        """Expressions that were evaluated."""
        return 0 if self._now is None else self._now.evaluated

    @property
    def unique(self) -> int:
        """Different ones among them."""
        return 0 if self._now is None else self._now.unique

    @property
    def completion(self) -> CompletionCounts:
        """What completion did."""
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
        """Prepare the searches: each track with its place among those of the settings, which decides its seed."""
        self.common = common
        self._tracks, self._seed = tracks, seed
        self._runs = self._begun((None,) * len(tracks) if begin is None else begin)

    def _begun(self, states: Sequence[TrackState | None]) -> list[TrackRun]:
        return [
            TrackRun(track, self.common, seed=derived(self._seed, Stream.TRACK, place), begin=begin)
            for (place, track), begin in zip(self._tracks, states, strict=True)
        ]

    def __iter__(self) -> Iterator[TrackRun]:
        """Give the searches in the order of their turns."""
        return iter(self._runs)

    def next_epoch(self) -> tuple[TrackState, ...]:
        """Begin every search anew from its state, and return the states."""
        states = tuple(run.state for run in self._runs)
        self._runs = self._begun(states)
        return states

    def best(self, count: int) -> list[Row]:
        """Return so many formulas of the shortest description of each."""
        return [row for run in self._runs for row in run.best(count)]

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended one of them."""
        return any(run.is_interrupted for run in self._runs)

    @property
    def charged(self) -> int:
        """Expressions that count against the budget."""
        return sum(run.charged for run in self._runs)

    @property
    def evaluated(self) -> int:
        """Expressions that were evaluated."""
        return sum(run.evaluated for run in self._runs)

    @property
    def unique(self) -> int:
        """Different ones among them."""
        return sum(run.unique for run in self._runs)

    @property
    def completion(self) -> CompletionCounts:
        """What completion did."""
        counts = [run.completion for run in self._runs]
        return CompletionCounts(
            sum(count.lookups for count in counts),
            sum(count.hits for count in counts),
            sum(count.splices for count in counts),
        )
