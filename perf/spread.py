"""Two threads on two cores, also where the system would rather keep them on one (as some virtual machines do)."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

_TASKS = Path("/proc/self/task")
_PATIENCE, _PAUSE = 0.05, 0.001
"""Seconds to wait for a thread, and between two looks."""


def can_spread() -> bool:
    """Return whether this system lets us say where threads run."""
    return _TASKS.exists() and len(os.sched_getaffinity(0)) > 1


@contextlib.contextmanager
def two_cores() -> Iterator[None]:
    """Keep this thread on one core, and move the first that native code starts meanwhile to another."""
    if not can_spread():
        yield
        return
    allowed = os.sched_getaffinity(0)
    here, there, *_ = sorted(allowed)
    watcher = threading.Thread(target=_move_newcomer, args=(_tasks(), there))
    os.sched_setaffinity(0, {here})
    watcher.start()
    try:
        yield
    finally:
        watcher.join()
        os.sched_setaffinity(0, allowed)


def _move_newcomer(known: set[int], core: int) -> None:
    os.sched_setaffinity(0, {core})
    known = known | {threading.get_native_id()}
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        newcomers = _tasks() - known
        for task in newcomers:
            with contextlib.suppress(ProcessLookupError):  # It has ended already.
                os.sched_setaffinity(task, {core})
        if newcomers:
            return
        time.sleep(_PAUSE)


def _tasks() -> set[int]:
    return {int(task.name) for task in _TASKS.iterdir()}
