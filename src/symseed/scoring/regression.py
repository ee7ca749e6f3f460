"""The regression task: scores expressions by their fit to a dataset, with a cache."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.data.backend import FitSteps, Validity
from symseed.data.dataset import Dataset
from symseed.errors import SettingsError, check_at_least, check_between
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.scoring.evaluation import check_columns, check_threads, evaluate, predict
from symseed.scoring.fitting import FitSettings
from symseed.scoring.reward import Metric, reward
from symseed.scoring.task import Counts, Scored


@dataclass(frozen=True, slots=True)
class RegressionSettings:
    """Settings of a regression task."""

    fit: FitSettings | None = field(default_factory=FitSettings)
    """Settings for fitting constants; None: constants are not fitted."""

    metric: Metric = Metric.INVERSE_NRMSE

    solved_nmse: float = 1e-12
    """NMSE, on the data and on the test data, below which a row solves the task; 0: no row does."""

    validity: Validity = Validity.VALUES
    """What an expression must be to have a score: by default, each part of it has finite values. Two versions of the
    authors' code ask for more (`FLAGS`) and for less (`ANSWER`)."""

    threads: int = 1
    """Number of threads that score. The answer does not depend on it."""

    cache_bytes: int = 128 * 2**20
    """Most bytes of the cache of scores."""

    cached_constants: int = 16
    """Most constants of an expression in the cache; others are scored again each time."""

    fit_seed: int = 0
    """Seed of the starts that `fit.restarts` draws."""

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_threads(self.threads)
        check_at_least("solved_nmse", self.solved_nmse, 0)
        check_between("cache_bytes", self.cache_bytes, 1024, 1 << 40)
        check_between("cached_constants", self.cached_constants, 0, 1 << 15)


class RegressionTask:
    """Scores rows by their fit. It owns a cache, so one task belongs to one search.

    Threads may call `evaluate` at the same time, and so may a user's function: scores equal those of calls one after
    another. Rows that two threads score at the same time may be computed by both, and then count twice.
    """

    def __init__(
        self,
        library: Library,
        dataset: Dataset,
        settings: RegressionSettings | None = None,
        *,
        test: Dataset | None = None,
    ) -> None:
        """Take the data to fit; a row solves the task only if it reaches the threshold on `test` too, if given."""
        check_columns(library, dataset)
        self.library = library
        self.dataset = dataset
        self.settings = settings or RegressionSettings()
        self.test = dataset if test is None else test
        check_columns(library, self.test)
        if self.settings.metric is Metric.CORRELATION and dataset.loss is not None:
            raise SettingsError("The metric CORRELATION needs squared errors, but the dataset has another loss.")
        chosen = self.settings
        fit = chosen.fit if library.has_constants else None
        self._scorer = dataset.backend.scorer(
            cache_bytes=chosen.cache_bytes,
            cached_constants=chosen.cached_constants if library.has_constants else 0,
            fit=None if fit is None else FitSteps(fit.iterations, fit.restarts, chosen.fit_seed, fit.method),
            validity=chosen.validity,
            threads=chosen.threads,
        )

    @property
    def counts(self) -> Counts:
        """Counts since the task was made."""
        return Counts(*self._scorer.counts)

    def evaluate(self, population: Population) -> Scored:
        """Score each row; equal rows are computed once, also across calls."""
        population.check_library(self.library, "task")
        settings, found = self.settings, self._scorer.score(population)
        scored, errors = found.population, found.errors
        mean_square = self.dataset.mean_squares(errors.error)
        if settings.metric is Metric.CORRELATION:
            good = np.flatnonzero(~np.isnan(mean_square))
            mean_square[good] = _after_scaling(scored.take(good), self.dataset, settings)
        rewards = reward(settings.metric, mean_square, self.dataset.deviation)
        solved = self._solved(scored, mean_square)
        return Scored(scored, rewards, solved, errors.failure, errors.position, found.is_computed)

    def _solved(self, population: Population, mean_square: Floats) -> npt.NDArray[np.bool_]:
        """Whether each row reaches the threshold, on the data and then on the test data."""
        solved = mean_square < self._threshold(self.dataset)
        if self.test is not self.dataset and np.count_nonzero(solved):
            rows = np.flatnonzero(solved)
            if self.settings.metric is Metric.CORRELATION:
                tested = _after_scaling(population.take(rows), self.test, self.settings)
            else:
                tested = self.test.mean_squares(
                    evaluate(population.take(rows), self.test, validity=self.settings.validity).error
                )
            solved[rows] = tested < self._threshold(self.test)
        return solved

    def _threshold(self, dataset: Dataset) -> float:
        return self.settings.solved_nmse * (dataset.deviation * dataset.deviation if dataset.deviation > 0.0 else 1.0)


def best_scaling(
    population: Population, dataset: Dataset, *, validity: Validity = Validity.VALUES, threads: int = 1
) -> tuple[Floats, Floats, Floats]:
    """Return offset a, factor b and mean squared error of the best a + b * prediction of each row, (N,) each.

    They are not finite if a row fails or its squares overflow.
    """
    weights = dataset.weights / dataset.total_weight
    value = predict(population, dataset, validity=validity, threads=threads).value
    level = arithmetic.dot(dataset.y, weights)
    target = dataset.y - level
    with np.errstate(over="ignore", invalid="ignore"):
        mean = arithmetic.product(value, weights)
        value = value - mean[:, None]
        spread = arithmetic.product(value * value, weights)
        factor = np.divide(
            arithmetic.product(value * target, weights), spread, out=np.zeros(len(value)), where=spread > 0.0
        )
        mean_square = arithmetic.product((target - factor[:, None] * value) ** 2, weights)
        return level - factor * mean, factor, np.asarray(mean_square)


def _after_scaling(population: Population, dataset: Dataset, settings: RegressionSettings) -> Floats:
    return best_scaling(population, dataset, validity=settings.validity, threads=settings.threads)[2]
