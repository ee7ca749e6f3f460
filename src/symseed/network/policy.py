"""A policy whose first samples come from a network that has read the table.

The network knows likely forms at once; the LSTM of the paper learns from them, from its own samples and from
evolution's best, by the paper's trainers. Tokens that the network does not know are left to the LSTM.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.errors import SettingsError, check_at_least, check_between
from symseed.language.library import Library
from symseed.language.population import Lengths, Population
from symseed.language.tokens import TokenKind
from symseed.network.weights import Network
from symseed.search.policy import Lesson, LSTMPolicy, PolicySettings
from symseed.space.space import SearchSpace

MOST_ROWS = 256
"""Most rows of a table that the network reads: as many as in training."""
MOST_COLUMNS = 9
"""Most columns that it reads: as many as in training."""


class Reading:
    """A table that a network reads when it is first asked."""

    def __init__(
        self,
        network: Network,
        dataset: Dataset,
        *,
        seed: int,
        columns: Sequence[int] | Callable[[], Sequence[int]] | None = None,
    ) -> None:
        """Take at most `MOST_ROWS` rows, drawn at random.

        Args:
            columns: the columns, those that matter most first, or what returns them when the table is read; the first
                `MOST_COLUMNS` are read. None: in the order of the table.
        """
        self.network = network
        self._dataset, self._seed, self._given = dataset, seed, columns

    @functools.cached_property
    def columns(self) -> tuple[int, ...]:
        """The columns that are read."""
        given = self._given() if callable(self._given) else self._given
        return tuple(range(self._dataset.X.shape[1]) if given is None else given)[:MOST_COLUMNS]

    @functools.cached_property
    def _native(self) -> _core.Reading:
        rows = np.arange(len(self._dataset))
        if len(rows) > MOST_ROWS:
            rows = np.sort(np.random.default_rng(self._seed).choice(rows, MOST_ROWS, replace=False))
        values = np.column_stack([self._dataset.X[rows][:, list(self.columns)], self._dataset.y[rows]])
        return self.network.native.read(np.ascontiguousarray(values))

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
    """How a network that reads the table seeds a search; builds the policy. Numbers are chosen by hand."""

    first: float = 1.0
    """Share of the network in the samples of the first round in which it takes part."""
    later: float = 0.5
    """Its share in the later ones."""
    every: int = 4
    """It takes part in each round of this number."""
    begins: int = 0
    """Rounds of the search before that."""
    rounds: int = 16
    """Rounds from then on in which it may take part."""
    temperature: float = 1.0
    has_scale: bool = True
    """Whether a formula f of the network is written as a + b f where constants allow it: it leaves a and b out."""
    learner: PolicySettings = field(default_factory=PolicySettings)
    """The policy that gives the other samples, and learns."""
    network: Network | None = None
    """None: the one that ships."""

    def __post_init__(self) -> None:
        """Refuse values out of range."""
        check_between("first", self.first, 0, 1)
        check_between("later", self.later, 0, 1)
        check_at_least("every", self.every, 1)
        check_at_least("begins", self.begins, 0)
        check_at_least("rounds", self.rounds, 0)
        check_between("temperature", self.temperature, 0.01, 100)

    def share(self, step: int) -> float:
        """Return the share of the network in the samples of a round, counted from 0."""
        since = step - self.begins
        if since < 0 or since >= self.rounds or since % self.every:
            return 0.0
        return self.later if since else self.first

    @property
    def available(self) -> Network | None:
        """The network: the one that ships where none is given; None only in an installation without its file."""
        return self.network or Network.shipped()

    def build_for(self, space: SearchSpace, dataset: Dataset, *, seed: int) -> NetworkPolicy:
        """Return a policy of which the network reads these data.

        Raises:
            SettingsError: if there is no network.
        """
        network = self.available
        if network is None:
            raise SettingsError(
                "This method needs a network, and this installation lacks the file of its own. Give the file of one as "
                "`network`, or use another method."
            )
        return NetworkPolicy(space, Reading(network, dataset, seed=seed), self, seed=seed)


@dataclass(frozen=True, slots=True)
class Seeding:
    """Builds the policy of one search of several that share what the network has read."""

    reading: Reading
    settings: NetworkSettings

    def build(self, space: SearchSpace, *, seed: int) -> NetworkPolicy:
        """Return a policy.

        If the space has an operator that the network does not know, the network gives no samples: its formulas lack the
        operator that a user has asked for, and would fill the populations.
        """
        knows_all = self.reading.network.knows(space.library)
        return NetworkPolicy(
            space, self.reading, self.settings if knows_all else replace(self.settings, rounds=0), seed=seed
        )


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
        self._read = readable(space, reading.network)

    def sample(self, count: int, *, seed: int, step: int) -> Population:
        """Draw legal expressions: first those of the network, then those of the LSTM."""
        wanted, read = round(self.settings.share(step) * count), None
        if wanted > 0:
            read, _ = self.reading.sample(
                self._read, wanted, seed=seed, step=step, temperature=self.settings.temperature
            )
        if read is None:
            return self.learner.sample(count, seed=seed, step=step)
        if self.settings.has_scale:
            read = with_scale(read, self.space)
        if len(read) == count:
            return read
        return Population.concatenate([read, self.learner.sample(count - len(read), seed=seed, step=step)])

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


def readable(space: SearchSpace, network: Network) -> SearchSpace:
    """Return the part of a space that a network writes; which lengths are likely, it knows itself."""
    longest = min(space.max_length, network.shape.longest)
    return replace(space, min_length=min(space.min_length, longest), max_length=longest, soft_length=None)


def with_scale(population: Population, space: SearchSpace) -> Population:
    """Return formulas f as a + b f, with constants for a and b; those unchanged for which the space has no such."""
    ids = _scale(space.library)
    if ids is None:
        return population
    tokens, lengths = population.tokens, population.lengths
    spare = np.full((len(population), len(ids)), population.library.pad, dtype=tokens.dtype)
    wide = np.concatenate([np.broadcast_to(ids, spare.shape).astype(tokens.dtype), tokens], axis=1)
    is_legal = (lengths + len(ids) <= space.max_length) & (
        space.rules.violations(np.ascontiguousarray(wide), lengths + len(ids)) == -1
    )
    chosen = np.where(is_legal[:, None], wide, np.concatenate([tokens, spare], axis=1))
    longest = min(chosen.shape[1], space.max_length)
    return space.drawn(np.ascontiguousarray(chosen[:, :longest]), np.where(is_legal, lengths + len(ids), lengths))


def _scale(library: Library) -> list[int] | None:
    """The tokens before f in a + b f; None if the library lacks one."""
    constants = library.ids_of_kind(TokenKind.CONSTANT)
    names = {token.name: place for place, token in enumerate(library.tokens) if token.kind is TokenKind.OPERATOR}
    if not constants or not {"add", "mul"} <= names.keys():
        return None
    return [names["add"], constants[0], names["mul"], constants[0]]
