"""A policy whose first samples come from a network that has read the table.

The network knows likely forms at once; the LSTM of the paper learns from them, from its own samples and from
evolution's best, by the paper's trainers. Tokens that the network does not know are left to the LSTM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.errors import check_at_least, check_between
from symseed.language.population import Lengths, Population
from symseed.network.weights import Network
from symseed.search.policy import Lesson, LSTMPolicy, PolicySettings
from symseed.space.space import SearchSpace

MOST_ROWS = 256
"""Most rows of a table that the network reads: as many as in training."""
MOST_COLUMNS = 9
"""Most columns that it reads: as many as in training."""


class Reading:
    """A table as a network has read it."""

    def __init__(self, network: Network, dataset: Dataset, *, seed: int, columns: Sequence[int] | None = None) -> None:
        """Read at most `MOST_ROWS` rows, drawn at random.

        Args:
            columns: the columns to read, at most `MOST_COLUMNS`; None: the first.
        """
        self.network = network
        self.columns = tuple(range(dataset.X.shape[1]) if columns is None else columns)[:MOST_COLUMNS]
        """The columns that it has read."""
        rows = np.arange(len(dataset))
        if len(rows) > MOST_ROWS:
            rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_ROWS, replace=False))
        values = np.column_stack([dataset.X[rows][:, list(self.columns)], dataset.y[rows]])
        self._native = network.native.read(np.ascontiguousarray(values))

    def sample(
        self, space: SearchSpace, count: int, *, seed: int, step: int, temperature: float = 1.0
    ) -> tuple[Population | None, Floats]:
        """Draw legal expressions; None if there is none. Return log p of each too.

        Fewer than `count` are drawn if some prefixes cannot be continued with the tokens that the network knows.
        """
        tokens, lengths, likely = self._native.sample(
            space.rules, self._spoken(space), count, temperature=temperature, seed=seed, step=step
        )
        is_whole = lengths > 0
        if not is_whole.any():
            return None, likely[is_whole]
        return space.drawn(tokens[is_whole], lengths[is_whole]), likely[is_whole]

    def log_probability(self, space: SearchSpace, population: Population) -> Floats:
        """Return log p of each row, -inf for one that cannot be drawn, (N,)."""
        population.check_library(space.library, "network")
        lengths: Lengths = population.lengths
        return self._native.log_probabilities(
            space.rules, self._spoken(space), population.tokens, lengths, population.constants
        )

    def _spoken(self, space: SearchSpace) -> npt.NDArray[np.int32]:
        return self.network.spoken(space.library, self.columns)


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """How a network that has read the table seeds a search. Numbers are chosen by hand."""

    first: float = 1.0
    """Share of the network in the first round's samples."""
    later: float = 0.5
    """Its share in the samples of the rounds after that."""
    rounds: int = 16
    """Rounds in which it takes part."""
    temperature: float = 1.0
    learner: PolicySettings = field(default_factory=PolicySettings)
    """The policy that gives the other samples, and learns."""

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_between("first", self.first, 0, 1)
        check_between("later", self.later, 0, 1)
        check_at_least("rounds", self.rounds, 0)
        check_between("temperature", self.temperature, 0.01, 100)


class NetworkPolicy:
    """A policy of two parts: the network gives some of the samples, and the LSTM the others.

    Only the LSTM learns, so `log_probability`, lessons and the state of a snapshot are those of the LSTM.
    """

    def __init__(
        self, space: SearchSpace, reading: Reading, settings: NetworkSettings | None = None, *, seed: int = 0
    ) -> None:
        self.space = space
        self.reading = reading
        self.settings = settings or NetworkSettings()
        self.learner = LSTMPolicy(space, self.settings.learner, seed=seed)
        longest = min(space.max_length, reading.network.shape.longest)
        least = min(space.min_length, longest)
        self._short = replace(space, min_length=least, max_length=longest)

    def sample(self, count: int, *, seed: int, step: int) -> Population:
        """Draw legal expressions: first those of the network, then those of the LSTM."""
        share = self.settings.first if step == 0 else self.settings.later
        wanted = round(share * count) if step < self.settings.rounds else 0
        read = None
        if wanted > 0:
            read, _ = self.reading.sample(
                self._short, wanted, seed=seed, step=step, temperature=self.settings.temperature
            )
        rest = count - (0 if read is None else len(read))
        if read is None or rest > 0:
            drawn = self.learner.sample(rest, seed=seed, step=step)
            return drawn if read is None else Population.concatenate([read, drawn])
        return read

    def log_probability(self, population: Population) -> Floats:
        """Return log p of each row under the LSTM, (N,)."""
        return self.learner.log_probability(population)

    def log_probability_and_entropy(self, population: Population) -> tuple[Floats, Floats]:
        """Return log probability and entropy under the LSTM."""
        return self.learner.log_probability_and_entropy(population)

    def ascend(self, lesson: Lesson) -> None:
        """Take one step of the LSTM up the lesson's objective."""
        self.learner.ascend(lesson)

    def snapshot(self) -> dict[str, npt.NDArray[Any]]:
        """Return the state of the LSTM; the network does not change."""
        return self.learner.snapshot()

    def restore(self, snapshot: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restore the state of the LSTM."""
        self.learner.restore(snapshot)
