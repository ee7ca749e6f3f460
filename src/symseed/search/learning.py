"""What a round of a search shows of its learning: rewards and sizes of its formulas, entropy and loss of its policy.

Statistics are read from what a round computes anyway, with two exceptions: the policy's entropy and its training loss
are estimated on a few rows, in every fourth round. `perf/watching.py` measures what that costs.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats
from symseed.language.population import Population
from symseed.scoring.task import Scored
from symseed.search.lineage import Change, Family, Lineage, Origin
from symseed.search.policy import Lesson, Policy

_ROWS = 4
"""Most samples on which entropy is estimated, and most rows of a lesson on which loss is: chosen for their time."""
_EVERY = 4
"""Rounds from one estimate to the next: chosen for their time."""


class Part(enum.Enum):
    """Parts of a search that find formulas."""

    POLICY = "policy"
    """The policy sampled it."""
    RANDOM = "random trees"
    """It was drawn at random, to seed evolution."""
    EVOLUTION = "evolution"
    """Crossover or mutation made it."""
    COMPLETION = "completion"
    """Semantic completion put a known sub-expression into another formula."""
    ASSEMBLY = "assembly"
    """Linear algebra built it from sub-expressions."""
    KNOWN = "known"
    """The search was given it to begin with."""
    MEAN = "mean"
    """It is the best constant formula, with which every portfolio begins."""
    STRUCTURE = "structure"
    """It was found for the data reduced to fewer columns, and written over the original ones."""
    NETWORK = "network"
    """A network that has read the data drew it."""


_FIRST = {Part.POLICY: Change.SAMPLED, Part.RANDOM: Change.DRAWN, Part.EVOLUTION: Change.KEPT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Rewards and lengths of the formulas of one population."""

    count: int
    """Number of formulas."""
    mean: float
    """Mean reward."""
    low: float
    """Reward that a tenth of the formulas do not exceed."""
    median: float
    high: float
    """Reward that nine tenths of the formulas do not exceed."""
    best: float
    """Largest reward."""
    length: float
    """Mean number of tokens."""
    repeated: float
    """Share of formulas whose score was known already: repeats within the population, and of earlier ones."""
    failed: float
    """Share of formulas without a finite value at some sample."""

    @classmethod
    def of(cls, scored: Scored) -> Batch:
        """Summarise a scored population."""
        count = len(scored)
        reward = np.sort(scored.reward)
        low, median, high = (float(reward[int(share * (count - 1))]) for share in (0.1, 0.5, 0.9))
        return cls(
            count=count,
            mean=float(scored.reward.mean()),
            low=low,
            median=median,
            high=high,
            best=float(reward[-1]),
            length=float(scored.population.lengths.mean()),
            repeated=1.0 - float(np.count_nonzero(scored.computed)) / count,
            failed=float(np.count_nonzero(scored.failure)) / count,
        )


@dataclass(frozen=True, slots=True)
class Learning:
    """Statistics of one round."""

    sampled: Batch | None = None
    """The policy's samples; without a policy, evolution's first population. None if the round ended before."""
    evolved: Batch | None = None
    """The last generation of the round; None without evolution."""
    entropy: float | None = None
    """Entropy of the policy's choice of a token, in nats: the mean over the tokens of four of its samples.

    Estimated in every fourth round, and None in between. None too if the round ended before its training step, without
    a policy, and for a policy without `HasEntropy`.
    """
    loss: float | None = None
    """Training loss of the policy: the negative of the objective that the round's training step raises.

    For lessons of more than four rows it is estimated on four. None where `entropy` is.
    """

    @property
    def has_begun(self) -> bool:
        """Whether the round has scored a population."""
        return self.sampled is not None

    def after(self, earlier: Learning) -> Learning:
        """Return these statistics, with the estimates of an earlier round where this one has none."""
        if self.entropy is not None:
            return self
        return replace(self, entropy=earlier.entropy, loss=earlier.loss)


@runtime_checkable
class HasEntropy(Protocol):
    """A policy that also gives its entropy; a search with another policy works, but cannot show it."""

    def log_probability_and_entropy(self, population: Population) -> tuple[Floats, Floats]:
        """Return log p of each row (N,), and the entropy at each of its positions, 0 after its end (N, L)."""


class Learner:
    """Gathers the statistics of one round after another."""

    def __init__(self) -> None:
        self._sampled: Scored | None = None
        self._evolved: Scored | None = None
        self._entropy: float | None = None
        self._loss: float | None = None
        self._round = 0
        self._family = Family()

    def begin(self, index: int) -> None:
        """Begin a round."""
        self._round = index
        self._sampled = self._evolved = None
        self._entropy = self._loss = None

    def sample(self, scored: Scored, part: Part = Part.POLICY) -> None:
        """Record a population that is made from no other; for statistics the round's first counts.

        Args:
            part: the part that made it; evolution if it is from an earlier round.
        """
        self._sampled = scored if self._sampled is None else self._sampled
        self._family.begin(scored.population, _FIRST[part])

    def evolve(self, scored: Scored, origin: Origin) -> None:
        """Record a generation; for statistics the last one counts."""
        self._evolved = scored
        self._family.follow(scored.population, origin)

    def complete(self, population: Population, parents: npt.NDArray[np.int64]) -> None:
        """Record completions of some rows of the population before."""
        self._family.complete(population, parents)

    def lineage(self, place: int) -> Lineage:
        """Return how a row of the population that was recorded last came about."""
        return self._family.lineage(place)

    def teach(self, policy: Policy, lesson: Lesson) -> None:
        """Record a lesson that the policy is about to learn from."""
        if self._round % _EVERY or self._sampled is None or not isinstance(policy, HasEntropy):
            return
        samples, taught = self._sampled.population, lesson.population
        few, some = _places(len(samples)), _places(len(taught))
        rows = Population.concatenate([samples.take(few), taught.take(some)])  # one call takes less time than two
        log_probability, along = policy.log_probability_and_entropy(rows)
        count = len(few)
        self._entropy = float(along[:count].sum() / rows.lengths[:count].sum())
        likely = log_probability[count:]
        likely = np.where(np.isfinite(likely), likely, 0.0)  # an illegal row does not count
        decay = lesson.entropy_decay ** np.arange(along.shape[1])
        bonus = lesson.entropy_weight * float((along[count:] * decay).sum(axis=1).mean())
        self._loss = -float((lesson.weights[some] * likely).sum()) * len(taught) / len(some) - bonus

    @property
    def learning(self) -> Learning:
        """Statistics of the round so far."""
        return Learning(
            None if self._sampled is None else Batch.of(self._sampled),
            None if self._evolved is None else Batch.of(self._evolved),
            self._entropy,
            self._loss,
        )


def _places(count: int) -> npt.NDArray[np.intp]:
    """At most `_ROWS` rows, spread evenly."""
    return np.arange(0, count, max(1, math.ceil(count / _ROWS)))
