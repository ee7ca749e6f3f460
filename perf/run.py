"""Measure symseed beside its peers and the hardware's limit: `python perf/run.py [--quick] [--json FILE]`.

Machines are noisy: compare the figures of one run with each other, not with those of another.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import expressions
import measure
from expressions import Workload
from peers import LIMITS, PEERS, Peer
from symseed import _core

Table: TypeAlias = dict[str, dict[str, float | None]]  # by points, then by engine; None where it is not to be had

SIZES = (20, 100, 1_000, 100_000)
THREADED_SIZE, THREADED_EXPRESSIONS = 1_000, 24_000
CHECKED_EXPRESSIONS = 500
WHOLE_RUNS = ("Livermore-8", "Nguyen-12*")
ENGINES = (*PEERS, *LIMITS)
RATIOS = (("symseed", "pyoperon"), ("symseed", "bare"), ("symseed", "stripped"))
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How long to measure."""

    expressions: int
    """On up to 1,000 points."""

    few_expressions: int
    """On more points."""

    rounds: int
    """Turns of each engine."""

    turn_seconds: float
    """Shortest turn."""

    seeds: int
    """Searches whose offspring are timed."""

    memory_expressions: int
    """Expressions that memory is measured with."""


FULL = Effort(expressions=8_000, few_expressions=200, rounds=9, turn_seconds=0.05, seeds=20, memory_expressions=1_000)
QUICK = Effort(expressions=2_000, few_expressions=40, rounds=3, turn_seconds=0.02, seeds=5, memory_expressions=100)


def main() -> None:
    """Measure everything, print it, and write it to a file if asked."""
    parser = argparse.ArgumentParser(description="Measure symseed beside its peers and the hardware's limit.")
    parser.add_argument("--quick", action="store_true", help="take less than half a minute, and be less exact")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args()
    if any(os.environ.get(name) != value for name, value in ONE_THREAD.items()):
        # Libraries read these when they are loaded, which they are by now: begin again.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    figures = measure_all(QUICK if options.quick else FULL)
    print_figures(figures)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


def measure_all(effort: Effort) -> dict[str, Any]:
    """Return all figures by name."""
    workloads = make_workloads(effort)
    peers, notes = choose_peers(workloads[THREADED_SIZE].head(CHECKED_EXPRESSIONS))
    node_points: Table = {}
    limits: dict[str, dict[str, str]] = {}
    for size, workload in workloads.items():
        node_points[str(size)], limits[str(size)] = measure_rates(peers, workload, effort)
    return {
        "machine": describe_machine(),
        "workload": describe_workload(workloads[SIZES[0]]),
        "engines": notes,
        "limits": limits,
        "evaluate": {
            str(size): {
                # An expression of the mean length, so that engines that were timed on fewer are not lucky or unlucky.
                name: rate and rate * len(workload.population) / workload.node_points
                for name, rate in node_points[str(size)].items()
            }
            for size, workload in workloads.items()
        },
        "node_points": node_points,
        "threads": measure_threads(workloads[THREADED_SIZE], effort, spread=True),
        "threads_where_the_system_puts_them": measure_threads(workloads[THREADED_SIZE], effort, spread=False),
        "offspring_us": measure.offspring_microseconds(seeds=effort.seeds),
        "memory_mb": measure.memory_megabytes(expressions=effort.memory_expressions),
        "run": {problem: measure_run(problem) for problem in WHOLE_RUNS},
    }


def measure_run(problem: str) -> dict[str, Any]:
    """Return the figures of one whole search, 2,000,000 expressions by the paper's method, in a process of its own."""
    command = [sys.executable, str(Path(__file__).parent / "full_run.py"), problem]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    figures: dict[str, Any] = json.loads(said)
    return figures


def make_workloads(effort: Effort) -> dict[int, Workload]:
    """Return the data of each size with expressions that are finite on all of it."""
    library = expressions.make_library(expressions.VARIABLES)
    common = expressions.draw_finite(
        effort.expressions, library, expressions.make_dataset(THREADED_SIZE, expressions.VARIABLES)
    )
    workloads = {}
    for size in SIZES:
        dataset = expressions.make_dataset(size, expressions.VARIABLES)
        if size <= THREADED_SIZE:
            workloads[size] = Workload(common, dataset)
        else:
            few = Workload(common, dataset).head(2 * effort.few_expressions).population
            workloads[size] = Workload(expressions.keep_finite(few, dataset), dataset).head(effort.few_expressions)
    return workloads


def choose_peers(sample: Workload) -> tuple[dict[str, Peer], dict[str, str]]:
    """Return the engines that can be had and that compute what symseed computes, and what there is to say of each."""
    chosen: dict[str, Peer] = {}
    notes: dict[str, str] = {}
    forms = {name: form for group in LIMITS.values() for name, form in group.items()}
    for name, peer in {**PEERS, **forms}.items():
        try:
            share = measure.agreement(peer, sample)
        except (ImportError, RuntimeError) as error:
            notes[name] = f"not to be had: {error}"
            continue
        notes[name] = f"agrees to {peer.tolerance:g} on {share:.1%} of {len(sample.population)} expressions"
        if share >= measure.AGREEING:
            chosen[name] = peer
        else:
            notes[name] += ": left out, for it computes something else"
    return chosen, notes


def measure_rates(
    peers: Mapping[str, Peer], workload: Workload, effort: Effort
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return node-points per second of each engine, and which form of each limit was the fastest."""
    count, points = len(workload.population), len(workload.dataset)
    parts = {name: workload.head(round(p.share * count)) for name, p in peers.items() if p.from_points <= points}
    engines = {name: peers[name].prepare(part) for name, part in parts.items()}
    seconds = measure.cpu_seconds(engines, rounds=effort.rounds, least=effort.turn_seconds)
    rates = {name: parts[name].node_points / seconds[name] for name in engines}
    fastest = {
        limit: max((name for name in rates if name in forms), key=rates.__getitem__, default="")
        for limit, forms in LIMITS.items()
    }
    chosen = {name: name for name in PEERS} | fastest
    return {name: rates.get(form) for name, form in chosen.items()}, fastest


def measure_threads(workload: Workload, effort: Effort, *, spread: bool) -> dict[str, float]:
    """Return how much faster two threads are than one, by points."""
    # Long enough that the milliseconds in which a thread is started and moved do not count.
    longer = workload.repeated(math.ceil(THREADED_EXPRESSIONS / len(workload.population)))
    return {str(len(workload.dataset)): measure.thread_ratio(longer, rounds=3 * effort.rounds, spread=spread)}


def describe_workload(workload: Workload) -> dict[str, Any]:
    """Return what is evaluated."""
    population = workload.population
    return {
        "expressions": len(population),
        "tokens": f"{expressions.SHORTEST} to {expressions.LONGEST}, mean {population.lengths.mean():.1f}",
        "operators": " ".join(expressions.OPERATORS),
        "transcendental": f"{expressions.unary_share(population):.1%} of the tokens",
        "data": f"{expressions.VARIABLES} variables, evenly from {expressions.LOW} to {expressions.HIGH}",
        "kept": f"expressions that are finite at {THREADED_SIZE} points, or at as many as they are timed on",
        "clock": "CPU time, one thread, median of turns",
    }


def describe_machine() -> dict[str, Any]:
    """Return what these figures were measured on and with."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "instruction_set": _core.instruction_sets()[0],
        "system": platform.platform(),
        "compiler": _compiler(),
        "python": platform.python_version(),
        **{name: _version(name) for name in ("symseed", "numpy", "pyoperon", "gplearn")},
    }


def print_figures(figures: Mapping[str, Any]) -> None:
    """Print everything for human eyes."""
    for part in ("machine", "workload", "engines"):
        print(f"\n{part}")
        print(*(f"  {name}: {value}" for name, value in figures[part].items()), sep="\n")
    for title, part, unit in (
        ("expressions per second", "evaluate", 1.0),
        ("million node-points per second", "node_points", 1e6),
    ):
        print(f"\n{title}")
        print(*_lines(figures[part], unit), sep="\n")
    spread, packed = (figures[part].items() for part in ("threads", "threads_where_the_system_puts_them"))
    for (size, ratio), (_, unaided) in zip(spread, packed, strict=True):
        print(f"two threads on two cores, {size} points: {ratio:.2f} x one ({unaided:.2f} where the system puts them)")
    print(f"offspring: {figures['offspring_us']:.2f} us")
    memory = figures["memory_mb"]
    print("memory beyond 1,000,000 x 5 data:", "not measured" if memory is None else f"{memory:.0f} MB")
    for problem, whole in figures["run"].items():
        shares = ", ".join(f"{part} {share:.0%}" for part, share in whole["share"].items())
        print(
            f"\n{problem}, a whole search by nggp: {whole['charged_per_cpu_second']:,.0f} charged expressions per CPU "
            f"second, start-up included ({whole['charged']:,} in {whole['cpu_seconds']:.2f} s)\n  {shares}\n"
            f"  {whole['memory_mb']:.0f} MB, imports {whole['import_seconds']:.2f} s, first step after "
            f"{whole['first_step_seconds']:.2f} s"
        )


def _lines(table: Table, unit: float) -> Iterator[str]:
    heads = [*ENGINES, *("/".join(pair) for pair in RATIOS)]
    yield "".join(f"{head:>18}" for head in ["points", *heads])
    for size, rates in table.items():
        cells = ["-" if rate is None else f"{rate / unit:,.0f}" for rate in (rates[name] for name in ENGINES)]
        for above, below in RATIOS:
            a, b = rates[above], rates[below]
            cells.append("-" if a is None or b is None else f"{a / b:.2f}")
        yield "".join(f"{cell:>18}" for cell in [f"{int(size):,}", *cells])


def _cpu() -> str:
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text().splitlines() if listing.exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())


def _compiler() -> str | None:
    try:
        said = subprocess.run([os.environ.get("CXX", "c++"), "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.stdout.splitlines()[0]


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
