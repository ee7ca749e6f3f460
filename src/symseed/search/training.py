"""Trainers: which expressions a policy learns from, and with what weight.

Every trainer ascends sum_i w_i log p(tau_i) + entropy bonus. A trainer is therefore a pure function from scored rows to
a `Lesson`; its memory from step to step (a baseline, a queue) is an argument and a result. Trainers: risk-seeking
policy gradient (Petersen et al. 2021), priority queue training (Abolafia et al. 2018), vanilla policy gradient, and the
cross-entropy method.
"""

from __future__ import annotations

import abc
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.errors import SettingsError, check_at_least, check_between
from symseed.language.library import Library
from symseed.language.population import Population
from symseed.scoring.task import Scored
from symseed.search.policy import Lesson, Policy

_LARGEST_REWARD = 1e6
"""Rewards are clipped to plus and minus this before weights are computed, as in the authors' code."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What a trainer carries from one step to the next."""

    baseline: float | None = None
    """Moving average of rewards; None before the first step."""

    queue: Scored | None = None
    """The best different expressions so far, best first."""

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the memory as arrays by name, for a checkpoint."""
        baseline = {} if self.baseline is None else {"baseline": np.array([self.baseline])}
        queue = {} if self.queue is None else self.queue.to_arrays()
        return {**baseline, **{f"queue.{name}": array for name, array in queue.items()}}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], library: Library) -> Memory:
        """Return the memory that `to_arrays` packed."""
        queue = {name.removeprefix("queue."): array for name, array in arrays.items() if name.startswith("queue.")}
        return cls(
            float(arrays["baseline"][0]) if "baseline" in arrays else None,
            Scored.from_arrays(queue, library) if queue else None,
        )


@dataclass(frozen=True, slots=True)
class EntropySettings:
    """The entropy bonus. Defaults are the paper's."""

    weight: float = 0.005
    decay: float = 1.0
    """Factor per position. 1 gives the sum over positions; the hierarchical regulariser uses 0.7 with weight 0.03."""

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        if not 0.0 <= self.weight < np.inf or not 0.0 <= self.decay <= 1.0:
            raise SettingsError(
                f"The entropy's `weight` must be at least 0 and its `decay` from 0 to 1, but they are {self.weight} "
                f"and {self.decay}."
            )


class OffPolicy(enum.Enum):
    """Weight of training rows that evolution made and the policy did not sample in this step."""

    NONE = "none"
    """No correction: every row has its full weight, as in the paper."""
    TRUNCATED = "truncated"
    """Truncated importance weights: rows that the policy makes unlikely count less, see `corrected`."""


@runtime_checkable
class Remembers(Protocol):
    """A trainer whose memory is a subclass of `Memory`, with more than a baseline or a queue."""

    def first_memory(self) -> Memory:
        """Return the memory before the first step."""


def first_memory(trainer: Trainer) -> Memory:
    """Return a trainer's memory before the first step."""
    return trainer.first_memory() if isinstance(trainer, Remembers) else Memory()


class Trainer(Protocol):
    """A rule that turns scored expressions into a lesson."""

    def lesson(self, memory: Memory, scored: Scored, *, seed: int, step: int) -> tuple[Lesson, Memory]:
        """Return the lesson of a step's expressions, and the new memory."""


@dataclass(frozen=True, slots=True)
class VanillaTrainer:
    """Vanilla policy gradient (VPG): every row, weighted by its reward minus a moving average."""

    smoothing: float = 0.5
    """Share of the newest mean in the moving average."""

    entropy: EntropySettings = field(default_factory=EntropySettings)

    def __post_init__(self) -> None:
        """Refuse a share outside 0 to 1."""
        check_between("smoothing", self.smoothing, 0, 1)

    def lesson(self, memory: Memory, scored: Scored, *, seed: int, step: int) -> tuple[Lesson, Memory]:
        """Weigh each row by (R - b) / N."""
        del seed, step
        reward = _bounded(scored.reward)
        last = 0.0 if memory.baseline is None else memory.baseline
        baseline = self.smoothing * float(reward.mean()) + (1.0 - self.smoothing) * last
        weights = (reward - baseline) / len(scored)
        return _lesson(scored, weights, self.entropy), Memory(baseline=baseline)


@dataclass(frozen=True, slots=True)
class _BestShareTrainer(abc.ABC):
    """Learns from the best share of rows: those from the empirical (1 - risk) quantile of rewards on."""

    risk: float = 0.05
    """Share of rows, the paper's epsilon."""

    entropy: EntropySettings = field(default_factory=EntropySettings)

    def __post_init__(self) -> None:
        """Refuse a share outside 0 to 1."""
        if not 0.0 < self.risk <= 1.0:
            raise SettingsError(f"`risk` is a share above 0 and up to 1, but it is {self.risk}.")

    def lesson(self, memory: Memory, scored: Scored, *, seed: int, step: int) -> tuple[Lesson, Memory]:
        """Weigh each row of the share by its weight over the number of rows."""
        del seed, step
        reward = _bounded(scored.reward)
        quantile = float(np.quantile(reward, 1.0 - self.risk, method="higher"))
        best = np.flatnonzero(reward >= quantile)
        return _lesson(scored.take(best), self._weights(reward[best], quantile) / len(best), self.entropy), memory

    @abc.abstractmethod
    def _weights(self, reward: Floats, quantile: float) -> Floats:
        """Return the weight of each row of the share."""


@dataclass(frozen=True, slots=True)
class RiskSeekingTrainer(_BestShareTrainer):
    """Risk-seeking policy gradient (RSPG, Petersen et al. 2021): the best rows, weighted by reward minus threshold."""

    def _weights(self, reward: Floats, quantile: float) -> Floats:
        """Return R - q, with q the quantile above which rows count."""
        return reward - quantile


@dataclass(frozen=True, slots=True)
class CrossEntropyTrainer(_BestShareTrainer):
    """The cross-entropy method: the best share of rows, with equal weights."""

    def _weights(self, reward: Floats, quantile: float) -> Floats:  # noqa: ARG002 - all rows count equally
        """Return 1 for each row."""
        return np.ones_like(reward)


@dataclass(frozen=True, slots=True)
class QueueTrainer:
    """Priority queue training (PQT, Abolafia et al. 2018): the best different expressions so far, equally weighted."""

    size: int = 10
    """Number of expressions in the queue."""

    pushes: int | None = 1
    """Number of a step's best that enter the queue; None: all that are good enough, as the paper states."""

    draws: int | None = 1
    """Number of expressions of a lesson, drawn from the queue with replacement; None: the whole queue, as the paper
    states."""

    weight: float = 200.0
    """Weight of the mean log probability relative to the entropy bonus; Adam ignores the overall scale."""

    entropy: EntropySettings = field(default_factory=EntropySettings)

    def __post_init__(self) -> None:
        """Refuse an empty queue."""
        for name, value in (("size", self.size), ("pushes", self.pushes), ("draws", self.draws)):
            if value is not None:
                check_at_least(name, value, 1, of="the queue")
        check_at_least("weight", self.weight, 0, of="the queue")

    def lesson(self, memory: Memory, scored: Scored, *, seed: int, step: int) -> tuple[Lesson, Memory]:
        """Push the best, then train on the queue or a draw from it."""
        pushed = scored if self.pushes is None else scored.best(self.pushes)
        queue = (pushed if memory.queue is None else Scored.concatenate([memory.queue, pushed])).best(self.size)
        chosen = queue
        if self.draws is not None:
            rng = np.random.default_rng([seed, step])
            chosen = queue.take(rng.integers(len(queue), size=self.draws))
        weights = np.full(len(chosen), self.weight / len(chosen))
        return _lesson(chosen, weights, self.entropy), Memory(queue=queue)


def corrected(lesson: Lesson, samples: Population, policy: Policy) -> Lesson:
    """Return a lesson in which rows outside the policy's samples have weight min(1, exp(l - median l of samples)).

    l is a row's log probability per token. Importance weighting needs p(row) / mu(row), but evolution's density mu is
    unknown, so the median sample replaces it. l is per token because log p of whole rows differs by tens of nats: most
    weights would be nearly 1 or 0.
    """
    own = {row.tobytes() for row in samples.fingerprints}
    foreign = np.array([row.tobytes() not in own for row in lesson.population.fingerprints], dtype=np.bool_)
    if not foreign.any():
        return lesson
    typical = float(np.median(_log_probability_per_token(policy, samples)))
    weights = lesson.weights.copy()
    weights[foreign] *= arithmetic.exp(
        np.minimum(0.0, _log_probability_per_token(policy, lesson.population.take(foreign)) - typical)
    )
    return replace(lesson, weights=weights)


def _log_probability_per_token(policy: Policy, population: Population) -> Floats:
    return np.asarray(policy.log_probability(population) / population.lengths)


def _lesson(scored: Scored, weights: Floats, entropy: EntropySettings) -> Lesson:
    return Lesson(scored.population, weights, entropy.weight, entropy.decay)


def _bounded(reward: Floats) -> Floats:
    return np.clip(reward, -_LARGEST_REWARD, _LARGEST_REWARD)
