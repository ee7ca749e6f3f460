"""Tasks: objectives of a search, which score whole populations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats
from symseed.data.backend import Failures, Positions
from symseed.data.dataset import Dataset
from symseed.errors import DataError
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.population import Population

_SCORES: Mapping[str, type] = MappingProxyType(
    {"reward": np.float64, "solved": np.bool_, "failure": np.uint8, "position": np.int32, "computed": np.bool_}
)
"""The scores of a row, and their types."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of rows that a task has scored."""

    asked: int = 0
    """Number of rows scored, repeats and cached rows included."""

    evaluated: int = 0
    """Number of rows computed, not taken from the cache."""

    unique: int = 0
    """Number of different rows computed: exact until the task's cache is full, then an estimate."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A population with its scores."""

    population: Population
    """The rows with their fitted constants."""

    reward: Floats  # (N,), more is better, never NaN
    solved: npt.NDArray[np.bool_]  # (N,): whether the row is an answer with which a search may end
    failure: Failures  # (N,): a `Failure` each
    position: Positions  # (N,): of the token that failed first, -1 if none failed
    computed: npt.NDArray[np.bool_]  # (N,): whether the row was new to the task

    @classmethod
    def of(cls, population: Population, reward: npt.ArrayLike, solved: npt.ArrayLike | None = None) -> Scored:
        """Take rewards as a task of your own computes them.

        Raises:
            DataError: if there is not one reward for each row, or one is NaN.
        """
        count = len(population)
        rewards = np.asarray(reward, dtype=np.float64)
        flags = np.zeros(count, dtype=np.bool_) if solved is None else np.asarray(solved, dtype=np.bool_)
        if rewards.shape != (count,) or flags.shape != (count,):
            raise DataError(
                f"A task gives one reward for each of the {count} rows, but the shapes are {rewards.shape} and "
                f"{flags.shape}."
            )
        if np.isnan(rewards).any():
            row = int(np.flatnonzero(np.isnan(rewards))[0])
            raise DataError(f"A reward must be a number, but row {row}, `{population[row]}`, has NaN.")
        return cls(
            population,
            rewards,
            flags,
            np.zeros(count, np.uint8),
            np.full(count, -1, np.int32),
            np.ones(count, np.bool_),
        )

    def __len__(self) -> int:
        """Return N."""
        return len(self.reward)

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the scored rows as arrays by name, for a checkpoint."""
        return {**self.population.to_arrays(), **{name: getattr(self, name) for name in _SCORES}}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], library: Library) -> Scored:
        """Check and return the scored rows that `to_arrays` packed.

        Raises:
            DataError: if an array has another shape or type.
        """
        population = Population.from_arrays(arrays, library)
        for name, kind in _SCORES.items():
            if arrays[name].shape != (len(population),) or arrays[name].dtype != kind:
                raise DataError(f"`{name}` must have one value of type {kind.__name__} for each row, but has not.")
        if np.isnan(arrays["reward"]).any():
            raise DataError("`reward` must have no NaN, but it has.")
        return cls(population, *(arrays[name] for name in _SCORES))

    def take(self, rows: npt.NDArray[np.intp]) -> Scored:
        """Return some rows."""
        return Scored(
            self.population.take(rows),
            self.reward[rows],
            self.solved[rows],
            self.failure[rows],
            self.position[rows],
            self.computed[rows],
        )

    def best(self, count: int) -> Scored:
        """Return the best different rows, best first; of equal rewards the earlier row comes first."""
        return self.take(self.best_rows(count))

    def best_rows(self, count: int) -> npt.NDArray[np.intp]:
        """Return the places of the best different rows, as `best` has them."""
        if count == 1 and len(self):
            return np.asarray(np.argmax(self.reward, keepdims=True))
        order = np.argsort(-self.reward, kind="stable")
        prints = self.population.fingerprints[order]
        chosen: dict[bytes, int] = {}
        for row, key in zip(order.tolist(), prints.view(f"V{prints.itemsize * 2}").ravel().tolist(), strict=True):
            if len(chosen) == count:
                break
            chosen.setdefault(key, row)
        return np.fromiter(chosen.values(), dtype=np.intp)

    @staticmethod
    def concatenate(parts: Sequence[Scored]) -> Scored:
        """Return all rows of several, in order."""
        return Scored(
            Population.concatenate([part.population for part in parts]),
            np.concatenate([part.reward for part in parts]),
            np.concatenate([part.solved for part in parts]),
            np.concatenate([part.failure for part in parts]),
            np.concatenate([part.position for part in parts]),
            np.concatenate([part.computed for part in parts]),
        )


class Task(Protocol):
    """Anything that can score expressions."""

    @property
    def counts(self) -> Counts:
        """Counts since the task was made."""

    def evaluate(self, population: Population) -> Scored:
        """Score each row."""


@runtime_checkable
class HasDataset(Protocol):
    """A task with data, which semantic completion needs."""

    @property
    def dataset(self) -> Dataset:
        """The data to fit."""


class FunctionTask:
    """A task from a Python function of one expression, which is called once for each different expression."""

    def __init__(self, library: Library, reward: Callable[[Expression], float], *, solved_at: float = math.inf) -> None:
        """Take the function, and the least reward of an expression that solves the task."""
        self.library = library
        self._reward = reward
        self._solved_at = solved_at
        self._known: dict[bytes, float] = {}
        self._asked = 0

    @property
    def counts(self) -> Counts:
        """Counts since the task was made."""
        return Counts(self._asked, len(self._known), len(self._known))

    def evaluate(self, population: Population) -> Scored:
        """Score each row, with one call of the function for each new expression."""
        population.check_library(self.library, "task")
        keys = [row.tobytes() for row in population.fingerprints]
        computed = np.zeros(len(keys), dtype=np.bool_)
        for row, key in enumerate(keys):
            if key not in self._known:
                self._known[key] = float(self._reward(population[row]))
                computed[row] = True
        self._asked += len(keys)
        reward = np.array([self._known[key] for key in keys])
        return replace(Scored.of(population, reward, reward >= self._solved_at), computed=computed)
