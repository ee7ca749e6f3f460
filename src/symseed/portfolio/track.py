"""One of the searches of a portfolio, in turns: what it is, its state between epochs, and its run."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from symseed.completion.completer import CompletionCounts
from symseed.data.dataset import Dataset
from symseed.errors import SettingsError
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.language.row import Row
from symseed.language.tokens import literal
from symseed.language.writer import Writer
from symseed.portfolio.pool import SOLVED_NMSE
from symseed.scoring.description import description_lengths
from symseed.scoring.regression import RegressionSettings, RegressionTask, best_scaling
from symseed.scoring.reward import Metric
from symseed.scoring.task import Scored
from symseed.search.budget import Budget, StopReason
from symseed.search.elite import Front
from symseed.search.search import Search, SearchSettings, Snapshot, Step
from symseed.space.constraints import Constraint
from symseed.space.priors import SoftLength
from symseed.space.space import SearchSpace


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
class Common:
    """What all tracks of a portfolio have in common."""

    library: Library
    writer: Writer
    """What writes formulas of all tracks down."""
    sample: Dataset
    """The data that tracks see."""
    constraints: tuple[Constraint, ...]
    """What no formula may be."""
    budget: Budget
    """Of all tracks together."""
    threads: int
    """Of scoring."""


class TrackRun:
    """A track under way."""

    def __init__(
        self, track: Track, common: Common, *, seed: int, begin: TrackState | None, left: float | None
    ) -> None:
        """Prepare the search; it begins where `begin` says, if not at its first step.

        Args:
            left: seconds that are left to all tracks together; None: as many as they need.
        """
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
        before = 0.0 if self._begin is None else self._begin.seconds
        self._search = Search(
            space,
            task,
            track.settings,
            seed=seed,
            budget=replace(common.budget, seconds=None if left is None else before + left),
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
