"""What islands cost beyond one cluster: their exchange, simulated up to 1,000 islands with the code that really runs.

    python perf/exchange.py [PROBLEM] [--noise 0.1] [--islands 2 4 16 64 256 1000] [--epochs 3] [--exchange ring]

First two real islands are searched, and each of their epochs is recorded: what it took, and what it sent. Then
`Islands` runs as it is, with workers that are simulated: they send the recorded epochs, each with constants of its own,
after the recorded CPU seconds, over one link to the process of the search with the given speed and latency. What that
process computes, packs and unpacks is done and measured. The table has, per epoch, what all islands send and receive,
the seconds that the process works, and the share of the workers' time in which they search.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import pickle
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np

from symseed import benchmarks
from symseed.language import Row
from symseed.portfolio import IslandProblem, Islands, epochs
from symseed.portfolio.epochs import EpochTask, IslandEpoch
from symseed.portfolio.exchange import Migrant
from symseed.regressor.prepare import prepare
from symseed.regressor.settings import Settings
from symseed.search import Budget


@dataclass(frozen=True, slots=True)
class Network:
    """The link between the process of the search and all workers."""

    latency: float
    """Seconds that each message takes."""
    bandwidth: float
    """Bytes per second, of all messages together."""
    scheduling: float
    """Seconds that a scheduler needs for each task."""


@dataclass(frozen=True, eq=False, slots=True)
class Recorded:
    """A real epoch."""

    epoch: IslandEpoch
    seconds: float
    """CPU seconds."""


@dataclass
class SimulatedWorkers:
    """Workers whose time is counted, not spent; it has the interface of `symseed.workers.Workers`."""

    recorded: list[Recorded]
    network: Network
    key: str = "simulated"
    is_here: bool = False
    now: float = 0.0
    worked: float = 0.0
    """Seconds that the process of the search computed."""
    searched: float = 0.0
    """Seconds that the workers searched."""
    sent: int = 0
    """Bytes both ways."""
    _began: float = field(default_factory=time.process_time)
    _link: float = 0.0
    _events: list[tuple[float, int, bytes]] = field(default_factory=list)
    _tickets: Iterator[int] = field(default_factory=itertools.count)
    _random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def __enter__(self) -> SimulatedWorkers:
        """Begin to count."""
        self._began = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        """Count to the end."""
        self._count()

    def _count(self) -> None:
        """Count what the process computed since the last time."""
        passed = time.process_time() - self._began
        self.now, self.worked, self._began = self.now + passed, self.worked + passed, time.process_time()

    def _carried(self, begin: float, size: int) -> float:
        """When a message that is ready at a time has arrived."""
        self.sent += size
        self._link = max(self._link, begin) + size / self.network.bandwidth
        return self._link + self.network.latency

    def submit(self, _: Callable[..., Any], task: EpochTask) -> int:
        """Take a task; its result will come after a real epoch's seconds."""
        ticket, message = next(self._tickets), pickle.dumps(task)
        self._count()
        arrived = self._carried(self.now, len(message)) + self.network.scheduling
        turn = task.begin.turn
        later = [one for one in self.recorded if one.epoch.island.state.turn > turn] or self.recorded[-1:]
        first = min(one.epoch.island.state.turn for one in later)
        like = [one for one in later if one.epoch.island.state.turn == first]
        chosen = like[task.place % len(like)]
        seconds = chosen.seconds * self._random.uniform(0.8, 1.25)
        self.searched += seconds
        answer = pickle.dumps(varied(chosen.epoch, self._random))
        heapq.heappush(self._events, (arrived + seconds, ticket, answer))
        self._began = time.process_time()  # the workers' part is not the process's
        return ticket

    def result(self, _: float | None = None) -> tuple[int, IslandEpoch] | None:
        """Give the next result, and let the time pass until it is there."""
        self._count()
        if not self._events:
            return None
        ready, ticket, answer = heapq.heappop(self._events)
        self.now = max(self.now, self._carried(ready, len(answer)) + self.network.scheduling)
        found: IslandEpoch = pickle.loads(answer)  # noqa: S301 - made above
        return ticket, found


def varied(epoch: IslandEpoch, random: np.random.Generator) -> IslandEpoch:
    """Return an epoch with other constants, so that islands differ as real ones do."""

    def other(row: Row) -> Row:
        return Row(row.ids, tuple(value * (1.0 + 1e-4 * random.standard_normal()) for value in row.constants))

    state = epoch.island.state
    state = replace(state, formulas=tuple(map(other, state.formulas)))
    migrants = tuple(Migrant(other(one.row), one.description + random.normal(0.0, 0.1)) for one in epoch.migrants)
    return replace(epoch, island=replace(epoch.island, state=state), migrants=migrants)


def search_of(problem: str, noise: float, count: int, exchange: str) -> Islands:
    """Return a search by islands that no limit ends."""
    plan = Settings(islands=count, island_exchange=exchange, max_evals=10**9, patience=None).plan()
    train, _ = benchmarks.get(problem).datasets()
    own = prepare(plan, train.with_noise(noise, seed=0), seed=0)
    return Islands(IslandProblem(own.library, own.scaled, own.settings, own.seed, Budget(10**9), own.units))


def recorded(problem: str, noise: float, count: int) -> list[Recorded]:
    """Search two real islands for some epochs."""
    out: list[Recorded] = []
    real = epochs.next_epoch

    def timed(common: IslandProblem, task: EpochTask) -> IslandEpoch:
        began = time.process_time()
        found = real(common, task)
        out.append(Recorded(found, time.process_time() - began))
        return found

    with patch.object(epochs, "next_epoch", timed):
        for turn in search_of(problem, noise, 2, "ring").turns():
            if len(out) >= 2 * count or turn.reason is not None:
                break
    return out


def main() -> None:
    """Simulate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", nargs="?", default="Livermore-8")
    parser.add_argument("--noise", type=float, default=0.1)
    parser.add_argument("--islands", type=int, nargs="+", default=[2, 4, 16, 64, 256, 1000])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--exchange", default="ring")
    parser.add_argument("--latency", type=float, default=5e-4, help="seconds of a message")
    parser.add_argument("--gigabits", type=float, default=10.0, help="of the link, per second")
    parser.add_argument("--scheduling", type=float, default=1e-3, help="seconds of a scheduler for each task")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found = recorded(given.problem, given.noise, given.epochs)
    size = np.mean([len(pickle.dumps(one.epoch)) for one in found])
    spent = np.mean([one.seconds for one in found])
    print(f"{given.problem}, noise {given.noise:g}: a real epoch takes {spent:.2f} CPU s and sends {size / 1e6:.2f} MB")
    print(f"{given.exchange}, {given.gigabits:g} Gbit/s, {1e3 * given.latency:g} ms")
    print(f"{'islands':>7} {'MB/epoch':>9} {'home s/epoch':>12} {'s/epoch':>8} {'searching':>9}")
    network = Network(given.latency, given.gigabits * 1e9 / 8, given.scheduling)
    for count in given.islands:
        workers = SimulatedWorkers(found, network)
        search = search_of(given.problem, given.noise, count, given.exchange)
        with patch("symseed.portfolio.islands.Workers", lambda *_, own=workers, **__: own):
            turns = iter(search.turns())
            for _ in range(given.epochs + 1):
                next(turns)
        seconds = workers.now / given.epochs
        share = workers.searched / (count * workers.now)
        print(
            f"{count:7d} {workers.sent / given.epochs / 1e6:9.1f} {workers.worked / given.epochs:12.2f} {seconds:8.2f} "
            f"{min(share, 1.0):9.0%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
