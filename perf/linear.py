"""Print how long the core's linear algebra takes beside NumPy's (BLAS, LAPACK), as ratios: `python perf/linear.py`.

Sizes are those that assembly has. BLAS is given one thread, as the core takes one.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from symseed import arithmetic

TRIES = 15


def seconds(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of the fastest of some tries."""
    times = []
    for _ in range(TRIES):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    """Compare each function with what NumPy would have done."""
    rng = np.random.default_rng(0)
    weights, values = rng.normal(size=(256, 200)), rng.normal(size=(12_000, 200))
    matrix, goal = rng.normal(size=(200, 36)), rng.normal(size=200)
    wide, table = rng.normal(size=(200, 72)), rng.normal(size=(256, 12_000))
    pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "product, 256 x 200 by 200 x 12,000": (
            lambda: arithmetic.product(weights, values.T),
            lambda: weights @ values.T,
        ),
        "least squares, 200 x 36": (
            lambda: [arithmetic.least_squares(matrix, goal) for _ in range(50)],
            lambda: [np.linalg.lstsq(matrix, goal, rcond=None) for _ in range(50)],
        ),
        "smallest singular vector, 200 x 72": (
            lambda: arithmetic.smallest_direction(wide),
            lambda: np.linalg.svd(wide, full_matrices=False),
        ),
        "logarithm, 3,072,000": (lambda: arithmetic.log(np.abs(table)), lambda: np.log(np.abs(table))),
        "three smallest of each row, 256 x 12,000": (
            lambda: arithmetic.smallest(table, 3),
            lambda: np.argpartition(table, 2, axis=1),
        ),
    }
    for name, (ours, theirs) in pairs.items():
        print(f"{name}: {seconds(ours) / seconds(theirs):.2f} times NumPy's time")


if __name__ == "__main__":
    main()
