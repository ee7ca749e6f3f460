"""The policy: a learnt distribution over the expressions of a search space.

Any object with the methods of `Policy` can guide a search. `LSTMPolicy` is the paper's (Petersen et al. 2021; Mundhenk
et al. 2021): one LSTM layer of 32 units, in native code. `examples/` shows a policy of another kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.errors import DataError, SettingsError, check_at_least, check_between
from symseed.language.expression import Expression
from symseed.language.library import TokenIds
from symseed.language.population import Constants, Lengths, Population
from symseed.scoring.evaluation import check_threads
from symseed.space.space import SearchSpace


@dataclass(frozen=True, slots=True)
class Lesson:
    """The objective of one training step: sum of weight * log p(row), plus an entropy bonus on the same rows."""

    population: Population
    weights: Floats  # (N,)
    entropy_weight: float = 0.0
    """Weight of the entropy bonus: the mean over rows of the summed entropies at their positions."""
    entropy_decay: float = 1.0
    """Entropy at position t counts decay^t: below 1 it is the hierarchical entropy of Landajuela et al. (2021)."""


Learnt: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""The learnt values of a policy by name."""


class Policy(Protocol):
    """A distribution over expressions that can be sampled and taught."""

    def sample(self, count: int, *, seed: int, step: int) -> Population:
        """Draw legal expressions; a pure function of the policy's state, seed and step."""

    def log_probability(self, population: Population) -> Floats:
        """Return log p of each row, -inf where the space does not allow it, (N,)."""

    def ascend(self, lesson: Lesson) -> None:
        """Take one step up the lesson's objective."""


@runtime_checkable
class StatefulPolicy(Policy, Protocol):
    """A policy whose search can be resumed: its learnt values can be saved as arrays and restored."""

    def snapshot(self) -> dict[str, npt.NDArray[Any]]:
        """Return all learnt values, as copies by name."""

    def restore(self, snapshot: Learnt) -> None:
        """Restore the learnt values of another policy of the same shape."""


class PolicyFactory(Protocol):
    """Builds the policy of a search from its settings; a frozen value, as all settings are."""

    def build(self, space: SearchSpace, *, seed: int) -> Policy:
        """Return an untrained policy."""


@runtime_checkable
class DataPolicyFactory(Protocol):
    """Builds a policy that reads the data of the search before it."""

    def build_for(self, space: SearchSpace, dataset: Dataset, *, seed: int) -> Policy:
        """Return an untrained policy."""


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """An LSTM policy and how it learns. Defaults are the paper's."""

    hidden: int = 32
    """Number of units of each layer."""

    layers: int = 1

    learning_rate: float = 0.0025
    """Learning rate of Adam. Petersen et al. (2021) used 0.0005, without genetic programming."""

    sees_previous: bool = False
    """Whether the previous token is an input too, besides the parent and left sibling of the next."""

    sees_open: bool = False
    """Whether the number of open arguments is an input too."""

    precision: int = 32
    """Bits of the network's numbers, 32 or 64. 32 is about twice as fast and suffices for learning."""

    longest_sample: int | None = None
    """Most tokens of a sample; None: the limit of the space."""

    threads: int = 1
    """Number of threads that sample, and make the children of evolution. The answer does not depend on it."""

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_between("hidden", self.hidden, 1, 4096)
        check_between("layers", self.layers, 1, 16)
        check_threads(self.threads)
        if self.precision not in (32, 64):
            raise SettingsError(f"`precision` must be 32 or 64 bits, but it is {self.precision}.")
        check_at_least("learning_rate", self.learning_rate, 0)
        if self.longest_sample is not None:
            check_at_least("longest_sample", self.longest_sample, 1)

    def build(self, space: SearchSpace, *, seed: int) -> LSTMPolicy:
        """Return an untrained policy with these settings."""
        return LSTMPolicy(space, self, seed=seed)


class LSTMPolicy:
    """The paper's policy. `ascend` changes its weights in place."""

    def __init__(self, space: SearchSpace, settings: PolicySettings | None = None, *, seed: int = 0) -> None:
        self.space = space
        self.settings = settings or PolicySettings()
        longest = min(space.max_length, self.settings.longest_sample or space.max_length)
        self._sampled = space if longest == space.max_length else replace(space, max_length=longest)
        self._network = _core.Lstm(
            len(space.library),
            self.settings.hidden,
            self.settings.layers,
            self.settings.sees_previous,
            self.settings.sees_open,
            self.settings.precision == 64,
            seed,
        )

    def sample(self, count: int, *, seed: int, step: int) -> Population:
        """Draw legal expressions, each token from the network's distribution over those that may come next."""
        return self._sampled.drawn(*self._network.sample(self._sampled.rules, count, seed, step, self.settings.threads))

    def log_probability(self, population: Population) -> Floats:
        """Return log p of each row, -inf where the space does not allow it, (N,)."""
        return self.log_probability_and_entropy(population)[0]

    def entropy(self, population: Population) -> Floats:
        """Return the entropy of the distribution at each position of each row, 0 after its end, (N, L)."""
        return self.log_probability_and_entropy(population)[1]

    def log_probability_and_entropy(self, population: Population) -> tuple[Floats, Floats]:
        """Return log probability and entropy, in the time of one of them."""
        population.check_library(self.space.library, "policy")
        return self._network.log_probabilities(
            self.space.rules, population.tokens, population.lengths, population.constants
        )

    def distributions(self, expression: Expression) -> Floats:
        """Return the probability of each token at each position of a formula, (L, T).

        It is 0 from the position on at which the search space does not allow the formula.
        """
        rows = Population.from_expressions([expression])
        rows.check_library(self.space.library, "policy")
        return self._network.distributions(self.space.rules, rows.tokens, rows.lengths, rows.constants)

    def gradient(self, lesson: Lesson) -> dict[str, npt.NDArray[np.floating]]:
        """Return the gradient of a lesson's objective by each block of parameters."""
        return self._split(self._network.gradient(*self._arguments(lesson)))

    def ascend(self, lesson: Lesson) -> None:
        """Take one step of Adam up the lesson's objective."""
        if self.settings.learning_rate > 0.0:
            self._network.ascend(*self._arguments(lesson), self.settings.learning_rate)

    @property
    def state(self) -> tuple[Floats, int]:
        """All learnt values: parameters and Adam's two moments, (3, P), and the number of steps."""
        return self._network.state()

    @state.setter
    def state(self, state: tuple[Floats, int]) -> None:
        """Restore the state of another policy of the same shape."""
        values, steps = state
        if values.shape != self.state[0].shape:
            raise DataError(f"This policy's state is {self.state[0].shape}, but the one given is {values.shape}.")
        self._network.set_state(np.ascontiguousarray(values, dtype=np.float64), steps)

    def snapshot(self) -> dict[str, npt.NDArray[Any]]:
        """Return the state as arrays by name."""
        weights, steps = self.state
        return {"weights": weights, "steps": np.array([steps])}

    def restore(self, snapshot: Learnt) -> None:
        """Restore the state of another policy of the same shape."""
        self.state = (snapshot["weights"], int(snapshot["steps"][0]))

    @property
    def parameters(self) -> dict[str, npt.NDArray[np.floating]]:
        """Copies of the parameters, by block."""
        return self._split(self.state[0][0])

    def _split(self, flat: npt.NDArray[np.floating]) -> dict[str, npt.NDArray[np.floating]]:
        return {
            name: flat[offset : offset + rows * columns].reshape(rows, columns)
            for name, offset, rows, columns in self._network.blocks()
        }

    def _arguments(self, lesson: Lesson) -> tuple[_core.Rules, TokenIds, Lengths, Constants, Floats, Floats, float]:
        population = lesson.population
        population.check_library(self.space.library, "policy")
        count = len(population)
        if lesson.weights.shape != (count,):
            raise DataError(
                f"A lesson has one weight for each of its {count} rows, but their shape is {lesson.weights.shape}."
            )
        return (
            self.space.rules,
            population.tokens,
            population.lengths,
            population.constants,
            np.ascontiguousarray(lesson.weights, dtype=np.float64),
            np.full(count, lesson.entropy_weight / max(1, count)),
            lesson.entropy_decay,
        )
