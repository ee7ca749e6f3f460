"""The number of threads of a fit: what a user asks for, or all cores where that pays."""

from __future__ import annotations

import joblib
from joblib.parallel import get_active_backend

ENOUGH_ROWS = 200
"""Fewest samples that are worth several threads, which begin anew in each generation, if constants are fitted.

`perf/threads.py` measured fits on a machine with two cores, all of it busy with other work, so that threads could cost
something but gain nothing. CPU seconds of `default` with 1, 2 and 16 threads: 0.93, 0.90, 1.01 for 20 samples; 4.28,
4.27, 4.31 for 200. By the clock, two threads took 0.98 times as long as one at 200 samples, 1.01 at 2,000 and 0.97 at
10,000. On idle cores, scoring alone is 1.97 times as fast with two threads (`make perf`).
"""
ENOUGH_PLAIN_ROWS = 10_000
"""Fewest samples that are worth several threads, if no constants are fitted: a formula is then scored in microseconds.

Measured as above, CPU seconds of `nggp` with 1 and 2 threads: 0.24 and 0.27 for 200 samples (by the clock 0.37 and
0.58), 0.69 and 0.72 for 2,000 (1.03 and 1.16), 0.99 and 1.00 for 10,000 (1.78 and 1.87).
"""
_MOST = 1024
"""Most threads, whatever is asked for: chosen by hand."""


def count(asked: int | None, rows: int, *, constants: bool) -> int:
    """Return the number of threads that score formulas.

    Args:
        asked: the setting `n_jobs`; None: all cores if there are enough samples, or what `joblib.parallel_config` says.
            In a worker of joblib, such as those of scikit-learn's `GridSearchCV`, it is one: the other workers have
            the other cores.
        rows: number of samples that the search uses.
        constants: whether formulas may hold fitted constants.
    """
    if asked is not None:
        return min(int(joblib.effective_n_jobs(asked)), _MOST)
    backend, configured = get_active_backend()
    # In a worker `effective_n_jobs(-1)` is still the number of cores of the machine, so that its depth is asked for.
    if configured is not None or backend.nesting_level:
        return min(int(joblib.effective_n_jobs(None)), _MOST)
    enough = ENOUGH_ROWS if constants else ENOUGH_PLAIN_ROWS
    return min(int(joblib.effective_n_jobs(-1)), _MOST) if rows >= enough else 1
