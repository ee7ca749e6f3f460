"""The number of threads of a fit: what a user asks for, or all cores where that pays."""

from __future__ import annotations

import joblib
from joblib.parallel import get_active_backend

from symseed import cluster

ENOUGH_ROWS = 200
"""Fewest samples that are worth several threads, which begin anew in each generation.

`perf/threads.py` measured fits on a machine of two cores that was busy with other work, so that threads could hardly
gain. CPU seconds of `default` with 1, 2 and 16 threads: 0.53, 0.57, 0.55 for 20 samples; 1.82, 1.85, 1.84 for 200. By
the clock, two threads took 1.02 times as long as one for 200 samples, 1.01 for 2,000 and 0.97 for 10,000.

Without fitted constants a formula is scored in microseconds, and two threads were slower for every size: 0.37 s with
one and 0.58 s with two for `nggp` and 200 samples, 1.03 s and 1.16 s for 2,000, 2.56 s and 2.85 s for 10,000.
"""
_MOST = 1024
"""Most threads, whatever is asked for: chosen by hand."""


def count(asked: int | None, rows: int, *, constants: bool) -> int:
    """Return the number of threads that score formulas.

    Args:
        asked: the setting `n_jobs`; None: all cores if the work is enough, or what `joblib.parallel_config` says.
            In a worker of joblib, such as those of `GridSearchCV`, or of Dask it is one: the other workers have
            the other cores.
        rows: number of samples that the search uses.
        constants: whether formulas may hold fitted constants.
    """
    if asked is not None:
        return min(int(joblib.effective_n_jobs(asked)), _MOST)
    if cluster.is_task():
        return 1  # joblib's backend for Dask does not say so
    backend, configured = get_active_backend()
    # In a worker `effective_n_jobs(-1)` is still the number of cores of the machine, so that its depth is asked for.
    if configured is not None or backend.nesting_level:
        return min(int(joblib.effective_n_jobs(None)), _MOST)
    is_worth = constants and rows >= ENOUGH_ROWS
    return min(int(joblib.effective_n_jobs(-1)), _MOST) if is_worth else 1


def processes(asked: int | None) -> int:
    """Return the number of processes for islands: what is asked for, or all cores; one in a worker of joblib."""
    if asked is not None:
        return min(int(joblib.effective_n_jobs(asked)), _MOST)
    if cluster.is_task():
        return 1
    backend, configured = get_active_backend()
    is_limited = configured is not None or backend.nesting_level
    return min(int(joblib.effective_n_jobs(None if is_limited else -1)), _MOST)
