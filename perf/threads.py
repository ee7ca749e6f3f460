"""Seconds of fits with one thread and with several, by the size of the table: `python perf/threads.py [ROUNDS]`.

On a busy machine the CPU seconds say what threads cost; only on an idle one the clock on the wall says what they gain.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from typing import Any

import numpy as np

from symseed import SymbolicRegressor

THREADS = (1, 2, 16)
METHODS: dict[str, dict[str, Any]] = {
    "nggp": {"method": "nggp", "max_evals": 100_000},
    "nggp with constants": {"method": "nggp", "constants": True, "max_evals": 6_000},
    "default": {"max_evals": 15_000},
}
ROWS = (20, 200, 2_000, 10_000)


def seconds(settings: dict[str, Any], rows: int, threads: int) -> tuple[float, float]:
    """Return the seconds of a fit, by the clock on the wall and of the CPU."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 4.0, (rows, 3))
    y = X[:, 0] ** 2 * np.sin(X[:, 1]) + X[:, 2] / X[:, 0] + rng.normal(0.0, 0.1, rows)
    model = SymbolicRegressor(max_time=None, patience=None, random_state=0, n_jobs=threads, **settings)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    """Print the median of each, the numbers of threads in turns."""
    warnings.simplefilter("ignore")
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    for name, settings in METHODS.items():
        for rows in ROWS:
            taken: dict[int, list[tuple[float, float]]] = {threads: [] for threads in THREADS}
            for turn in range(rounds):
                for threads in THREADS if turn % 2 == 0 else THREADS[::-1]:
                    taken[threads].append(seconds(settings, rows, threads))
            medians = {
                threads: [statistics.median(part) for part in zip(*found, strict=True)]
                for threads, found in taken.items()
            }
            text = ", ".join(f"{threads}: {wall:.2f} s, CPU {cpu:.2f} s" for threads, (wall, cpu) in medians.items())
            print(f"{name}, {rows} rows, threads {text}", flush=True)


if __name__ == "__main__":
    main()
