"""Print how many megabytes it takes to evaluate expressions on 1,000,000 x 5 samples, beyond the caller's own arrays.

`Dataset`'s copy of the data and the core's are counted. Linux only, and in a process of its own:
`python perf/memory.py EXPRESSIONS THREADS`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import symseed
from expressions import HIGH, LOW, SEED, draw_finite, make_dataset, make_library

POINTS, VARIABLES = 1_000_000, 5


def main() -> None:
    """Measure."""
    expressions, threads = map(int, sys.argv[1:])
    population = draw_finite(expressions, make_library(VARIABLES), make_dataset(1_000, VARIABLES))
    X = np.random.default_rng(SEED).uniform(LOW, HIGH, (POINTS, VARIABLES))
    y = X[:, 0].copy()
    before = _megabytes("VmRSS")
    symseed.evaluate(population, symseed.Dataset.of(X, y), threads=threads)
    print(_megabytes("VmHWM") - before)


def _megabytes(field: str) -> float:
    """Read a field of this process's status."""
    # Not from `getrusage`: its peak begins at what the parent held.
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith(field))
    return int(kilobytes) * 1024 / 1e6


if __name__ == "__main__":
    main()
