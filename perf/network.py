"""What a network that reads tables costs, and what it is worth beside the searches.

    python perf/network.py speed [--columns 1 3 6 9] [--rows 256] [--samples 500] [--network FILE]
    python perf/network.py run --network FILE [--bars noise many ...] [--seeds 0:5] [--folder build/network]
    python perf/network.py table [--folder build/network]

`speed` times reading and sampling on one core, on each instruction set. Without a file the parameters are random, and
samples then share few prefixes: the time of sampling is that of the worst case. The last column has the different
prefixes that the decoder computed.

`run` solves the problems of each bar with the network and without it: same code, same seeds, fresh draws of the data
(the draw is the seed), limits in CPU seconds. It is resumable. `table` says which bars hold. For pure noise there is
`perf/pure_noise.py`.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from symseed import Library, SearchSpace, _core, benchmarks, methods
from symseed.benchmarks import judging
from symseed.benchmarks.execution import solve
from symseed.benchmarks.store import RunKey, RunRecord, Store
from symseed.methods import Method
from symseed.network import Network, NetworkSettings, Shape
from symseed.recovery.checker import Checker
from symseed.search import Budget

TOKENS = ("add", "sub", "mul", "div", "sqrt", "square", "exp", "log", "sin", "cos", "const")
WITH, WITHOUT = "default", "default-no-network"
PAPER = ("nggp-pretrained", "nggp", "gp-restarts", "nggp-lr-0")
"""The paper's loop with the network, and what it is compared with."""
EXPRESSIONS = 2_000_000
"""The paper's budget."""


@dataclass(frozen=True)
class Bar:
    """What must hold: so many times as many solved problems with the network as without it."""

    sets: tuple[str, ...]
    noise: float
    seconds: float | None
    least: float = 1.0
    columns: tuple[int, int] = (1, 9)
    methods: tuple[str, ...] = (WITH, WITHOUT)

    def problems(self) -> list[str]:
        """Return the names of its problems."""
        found = dict.fromkeys(problem for name in self.sets for problem in benchmarks.resolve(name) if problem.target)
        return [p.name for p in found if self.columns[0] <= len(p.names) <= self.columns[1]]

    def keys(self, seeds: range) -> list[RunKey]:
        """Return its runs."""
        return [
            RunKey(name, method, seed, seed, EXPRESSIONS if method in PAPER else 10**9, self.seconds, self.noise)
            for seed in seeds
            for name in self.problems()
            for method in self.methods
        ]


BARS = {
    "noise": Bar(("Feynman",), 0.1, 5.0, 2.0),
    "many": Bar(("Feynman",), 0.1, 20.0, 1.5, (5, 9)),
    **{f"clean-{limit}": Bar(("Feynman",), 0.0, float(limit)) for limit in (2, 5, 20, 60)},
    **{f"little-{limit}": Bar(("Feynman",), 0.01, float(limit)) for limit in (2, 5, 20, 60)},
    "strogatz": Bar(("Strogatz",), 0.0, 20.0),
    "paper": Bar(("Nguyen-paper", "R-paper", "Livermore"), 0.0, 20.0),
    "jin": Bar(("Jin",), 0.0, 20.0),
    "jin-noise": Bar(("Jin",), 0.1, 20.0),
    "loop": Bar(("Nguyen-paper", "R-paper", "Livermore"), 0.0, None, methods=PAPER),
}
"""The bars by name."""
QUICK = ("clean-20", (1, 3), 1.05)
"""The bar, the columns, and the most that the time to a solution may grow."""


def random_network() -> Network:
    """Return a network of the usual size with random parameters."""
    rng = np.random.default_rng(0)
    shape = Shape(symbols=len(TOKENS))
    blocks = {
        name: (float(name.endswith("norm")) + 0.02 * rng.normal(size=(rows, columns))).astype(np.float32)
        for name, rows, columns in shape.native().blocks()
    }
    return Network(shape, TOKENS, blocks)


def speed(network: Network, columns: Sequence[int], rows: int, samples: int) -> None:
    """Print how long reading and sampling take."""
    print(f"{'columns':>8}{'instruction set':>17}{'reading, CPU s':>16}{'sampling, CPU s':>17}{'prefixes':>10}")
    for count in columns:
        rng = np.random.default_rng(count)
        X = rng.uniform(1.0, 3.0, (rows, count))
        values = np.column_stack([X, X.prod(axis=1) / (1.0 + X[:, 0])])
        library = Library.of([*TOKENS], count)
        space = SearchSpace(library, 1, network.shape.longest)
        spoken = network.spoken(library, range(count))
        for name in _core.instruction_sets():
            began = time.process_time()
            reading = network.native.read(values, instruction_set=name)
            read = time.process_time()
            tokens, lengths, _ = reading.sample(space.rules, spoken, samples, seed=0, step=0)
            ended = time.process_time()
            prefixes = len({tuple(row[:n]) for row, length in zip(tokens, lengths, strict=True) for n in range(length)})
            print(f"{count:>8}{name:>17}{read - began:>16.3f}{ended - read:>17.3f}{prefixes:>10}")


def with_network(name: str, network: Network) -> Method:
    """Return a method with the network where it has one."""
    method = methods.get(name)
    if method.portfolio is not None:
        return replace(method, portfolio=method.portfolio.with_network(network if name == WITH else None))
    policy = method.settings.policy
    if isinstance(policy, NetworkSettings):
        return replace(method, settings=replace(method.settings, policy=replace(policy, network=network)))
    return method


def run(network: Network, names: Sequence[str], seeds: range, folder: Path, only: Sequence[str]) -> None:
    """Do the runs that the folder does not have; of all problems, or only of some."""
    store = Store(folder)
    known = {record.key for record in (store.read() if store.exists else [])}
    with store.writer() as append, Checker() as checker:
        for key in dict.fromkeys(key for name in names for key in BARS[name].keys(seeds)):
            if key in known or (only and key.problem not in only):
                continue
            train, test = judging.data(key)
            library = benchmarks.get(key.problem).library
            budget = Budget(key.expressions, key.seconds, time.process_time)
            began = time.process_time()
            found = solve(with_network(key.method, network), library, train, test=test, seed=key.seed, budget=budget)
            last = found.last
            work = judging.Work(
                charged=last.charged,
                evaluated=last.evaluated,
                unique=last.unique,
                steps=last.index + 1,
                cpu_seconds=time.process_time() - began,
                reason=found.reason.value,
                completion=last.completion,
            )
            record = judging.judged(key, found.best, work, checker)
            append(record)
            print(f"{key.method}, {key.problem}, noise {key.noise:g}, seed {key.seed}: {record.verdict}", flush=True)


def table(folder: Path) -> None:
    """Print which bars hold, on the runs that all their methods have done."""
    records = {record.key: record for record in Store(folder).read()}
    print(f"{'bar':14}{'runs':>6}{'with':>6}{'without':>9}{'least':>7}  holds")
    for name, bar in BARS.items():
        pairs = _pairs(bar, records)
        if not pairs or bar.methods != (WITH, WITHOUT):
            continue
        both = [sum(pair[place].is_recovered for pair in pairs) for place in (0, 1)]
        holds = both[0] >= bar.least * both[1]
        print(f"{name:14}{len(pairs):>6}{both[0]:>6}{both[1]:>9}{bar.least:>7g}  {'yes' if holds else 'no'}")
    name, (first, last), most = QUICK
    own = replace(BARS[name], columns=(first, last))
    solved = [pair for pair in _pairs(own, records) if all(record.is_recovered for record in pair)]
    if solved:
        ratio = math.exp(statistics.fmean(math.log(one.cpu_seconds / other.cpu_seconds) for one, other in solved))
        print(
            f"time to the solution on clean data of {first} to {last} columns: {ratio:.2f} times that without, in "
            f"{len(solved)} runs ({most:g} is allowed: {'yes' if ratio <= most else 'no'})"
        )
    loop = _pairs(BARS["loop"], records)
    for place, method in enumerate(PAPER if loop else ()):
        own_runs = [run[place] for run in loop]
        found = sorted(record.charged for record in own_runs if record.is_recovered)
        middle = f"{found[len(found) // 2]:,}" if found else "-"
        print(f"{method:16}{len(found):>5} of {len(own_runs)} recovered, {middle} expressions in the median of these")


def _pairs(bar: Bar, records: dict[RunKey, RunRecord]) -> list[list[RunRecord]]:
    """The records of each problem and seed, one for each method; only where all methods have one."""
    found: list[list[RunRecord]] = []
    seeds = {key.seed for key in records}
    for seed in sorted(seeds):
        keys = bar.keys(range(seed, seed + 1))
        for begin in range(0, len(keys), len(bar.methods)):
            own = [records.get(key) for key in keys[begin : begin + len(bar.methods)]]
            whole = [record for record in own if record is not None]
            if len(whole) == len(own):
                found.append(whole)
    return found


def _seeds(text: str) -> range:
    first, _, end = text.partition(":")
    return range(int(first), int(end) if end else int(first) + 1)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    timed = kinds.add_parser("speed")
    timed.add_argument("--columns", type=int, nargs="+", default=[1, 3, 6, 9])
    timed.add_argument("--rows", type=int, default=256)
    timed.add_argument("--samples", type=int, default=500)
    timed.add_argument("--network", type=Path)
    solved = kinds.add_parser("run")
    solved.add_argument("--network", type=Path, required=True)
    solved.add_argument("--bars", nargs="+", choices=BARS, default=list(BARS))
    solved.add_argument("--seeds", default="0:5", help="a range, first:end; 0:25 for the bar `loop`")
    solved.add_argument("--problems", nargs="+", default=[], help="only these; by default all of a bar")
    shown = kinds.add_parser("table")
    for one in (solved, shown):
        one.add_argument("--folder", type=Path, default=Path("build/network"))
    asked = parser.parse_args()
    if asked.kind == "speed":
        network = random_network() if asked.network is None else Network.load(asked.network)
        speed(network, asked.columns, asked.rows, asked.samples)
    elif asked.kind == "run":
        run(Network.load(asked.network), asked.bars, _seeds(asked.seeds), asked.folder, asked.problems)
    else:
        table(asked.folder)


if __name__ == "__main__":
    main()
