"""Regression: expressions are scored by how well they fit a dataset, each different one once."""

from __future__ import annotations

from dataclasses import dataclass, field

from symseed import _core
from symseed.dataset import Dataset
from symseed.errors import SettingsError
from symseed.evaluation import check_columns, check_threads
from symseed.fitting import FitSettings
from symseed.library import Library
from symseed.population import Population
from symseed.reward import inverse_nrmse
from symseed.task import Counts, Evaluation


@dataclass(frozen=True, slots=True)
class RegressionSettings:
    """How a regression task scores."""

    fit: FitSettings | None = field(default_factory=FitSettings)
    """How constants are fitted; None leaves them as they are."""

    strict: bool = False
    """Whether any IEEE flag, underflow included, makes an expression fail, as in the authors' released code."""

    threads: int = 1
    """How many threads score. The answer does not depend on it."""

    cache_bytes: int = 128 * 2**20
    """Most memory that known scores may take."""

    cached_constants: int = 16
    """Expressions with more constants than this are scored anew each time."""

    fit_seed: int = 0
    """Seed of the starts that `fit.restarts` draws."""

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_threads(self.threads)
        if self.cache_bytes < 1024 or self.cached_constants < 0:
            raise SettingsError(
                f"`cache_bytes` must be at least 1024 and `cached_constants` at least 0, but they are "
                f"{self.cache_bytes} and {self.cached_constants}."
            )


class RegressionTask:
    """Rewards rows by 1 / (1 + NRMSE), the paper's reward. It owns a cache, so one task belongs to one search."""

    def __init__(self, library: Library, dataset: Dataset, settings: RegressionSettings | None = None) -> None:
        check_columns(library, dataset)
        self.library = library
        self.dataset = dataset
        self.settings = settings or RegressionSettings()
        self._cache = _core.Cache(
            self.settings.cache_bytes, self.settings.cached_constants if library.has_constants else 0
        )
        self._charged = 0
        self._evaluated = 0

    @property
    def counts(self) -> Counts:
        """What was done since the task was made."""
        return Counts(self._charged, self._evaluated, self._cache.unique)

    def evaluate(self, population: Population) -> Evaluation:
        """Score each row; equal rows are computed once, also across calls."""
        if population.library != self.library:
            raise SettingsError("The population has another library than the task. Build both from one.")
        settings = self.settings
        fit = settings.fit if self.library.has_constants else None
        error, failure, position, constants, evaluated = self._cache.score(
            self.library.vocabulary,
            self.dataset.samples,
            population.tokens,
            population.lengths,
            population.constants,
            fit=None if fit is None else (fit.iterations, fit.restarts, settings.fit_seed),
            strict=settings.strict,
            threads=settings.threads,
        )
        self._charged += len(population)
        self._evaluated += evaluated
        reward = inverse_nrmse(error, self.dataset.total_weight, self.dataset.deviation)
        scored = population if fit is None else population.with_constants(constants)
        return Evaluation(scored, reward, failure, position)
