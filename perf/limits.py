"""How far `max_time` is overrun: fits of several sizes and limits, on a noisy target that no short formula solves.

    python perf/limits.py [--seconds 0.5 1 5 20] [--rows 100 10000 1000000] [--columns 1 5 50]

Prints a line for each fit, and the worst overrun. Seconds are the wall's: run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np

from symseed import SymbolicRegressor


def overrun(rows: int, columns: int, seconds: float) -> float:
    """Return by how many seconds a fit is longer than its limit."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (rows, columns))
    first, second, third = X[:, 0], X[:, 1 % columns], X[:, 2 % columns]
    y = 2.5 * first * np.exp(-second) + 1.3 * third**2 + np.sin(2.0 * first) + 0.05 * rng.normal(size=rows)
    model = SymbolicRegressor(max_time=seconds, patience=None, random_state=0)
    started = time.monotonic()
    model.fit(X, y)
    return time.monotonic() - started - seconds


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.5, 1.0, 5.0, 20.0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 10_000, 1_000_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[1, 5, 50])
    given = parser.parse_args()
    worst = (0.0, "none")
    print(f"{'rows':>10} {'columns':>8} {'limit s':>8} {'overrun s':>10}")
    for rows, columns, seconds in itertools.product(given.rows, given.columns, given.seconds):
        over = overrun(rows, columns, seconds)
        print(f"{rows:>10} {columns:>8} {seconds:>8g} {over:>10.2f}", flush=True)
        worst = max(worst, (over, f"{rows} rows, {columns} columns, {seconds:g} s"))
    print(f"worst: {worst[0]:.2f} s ({worst[1]})")


if __name__ == "__main__":
    main()
