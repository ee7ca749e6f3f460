"""Benchmark runs on a Dask cluster of two processes of this machine, beside two processes of our own.

    python perf/cluster.py Nguyen Livermore --seeds 0:25 --blocks 5 [--evals 1000]

The seeds are divided into blocks, and each block is done once here and once there, one after the other, so that other
work of the machine disturbs both alike. The records must be equal but for their times. The times, by the clock and of
the processors, hold the start of the processes and of the cluster.
"""

from __future__ import annotations

import argparse
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from symseed.benchmarks.store import RunKey, RunRecord, Store

ON_CLUSTER = """
import os, sys
os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", "134217728")  # as docs/cluster.md advises for short runs
from distributed import LocalCluster
from symseed.cli.bench import bench_commands
if __name__ == "__main__":
    with LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        bench_commands([*sys.argv[1:], "--scheduler", cluster.scheduler_address], standalone_mode=False)
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a command took, with all its processes."""

    seconds: float
    cpu: float

    def __add__(self, other: Spent) -> Spent:
        """Add two commands."""
        return Spent(self.seconds + other.seconds, self.cpu + other.cpu)


def spent(command: list[str]) -> Spent:
    """Run a command to its end."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(time.monotonic() - began, cpu)


def plain(store: Path) -> dict[RunKey, RunRecord]:
    """Return records without their times."""
    return {one.key: replace(one, cpu_seconds=0.0, check_seconds=0.0) for one in Store(store).read()}


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="+")
    parser.add_argument("--method", default="nggp")
    parser.add_argument("--seeds", default="0:25")
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--evals", type=int, help="most formulas of a run; None: as the method says")
    given = parser.parse_args()
    first, end = map(int, given.seeds.split(":"))
    with tempfile.TemporaryDirectory() as folder:
        script, here, there = Path(folder, "there.py"), Path(folder, "here"), Path(folder, "there")
        script.write_text(ON_CLUSTER)
        sums = [Spent(0.0, 0.0), Spent(0.0, 0.0)]
        edges = [first + (end - first) * block // given.blocks for block in range(given.blocks + 1)]
        for begin, stop in itertools.pairwise(edges):
            runs = ["run", *given.problems, "--method", given.method, "--seeds", f"{begin}:{stop}"]
            runs += [] if given.evals is None else ["--max-evals", str(given.evals)]
            runs.append("--store")
            sums[0] += spent([sys.executable, "-m", "symseed", "bench", *runs, str(here), "--jobs", "2"])
            sums[1] += spent([sys.executable, str(script), *runs, str(there)])
            own, other = sums
            print(
                f"seeds {first}:{stop}: here {own.seconds:.1f} s, CPU {own.cpu:.1f} s; cluster {other.seconds:.1f} s, "
                f"CPU {other.cpu:.1f} s; ratios {other.seconds / own.seconds:.3f}, {other.cpu / own.cpu:.3f}; "
                f"load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
        equal = plain(here) == plain(there)
        print(f"{len(plain(here))} runs, records {'equal' if equal else 'DIFFERENT'} but for their times")
        if not equal:
            sys.exit(1)


if __name__ == "__main__":
    main()
