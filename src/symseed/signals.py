"""Ends of a program: signals postponed while results are saved, SIGTERM like Ctrl-C, and workers without a parent."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

_Handler = Callable[[int, FrameType | None], Any]

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes of a program after Ctrl-C and SIGTERM: 128 and the number of the signal, as shells have it."""

_WATCH_SECONDS = 1.0
"""Seconds between two looks at the parent: chosen by hand."""


class Held:
    """Context in which the first Ctrl-C or SIGTERM is only recorded; a second one interrupts.

    Only the main thread receives signals; in another thread this context does nothing.
    """

    def __init__(self) -> None:
        self.is_interrupted = False
        """Whether a signal arrived that would have raised `KeyboardInterrupt`."""
        self._before: dict[int, _Handler] = {}

    def __enter__(self) -> Held:
        """Begin to record signals."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if callable(handler):
                    self._before[number] = handler
                    signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the handlers."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        is_second = self.is_interrupted
        try:
            self._before[number](number, frame)
        except KeyboardInterrupt:
            self.is_interrupted = True
            if is_second:
                raise


class Termination:
    """Context in which SIGTERM acts like Ctrl-C: the search keeps its formulas."""

    def __init__(self) -> None:
        self.is_terminated = False

    def __enter__(self) -> None:
        """Replace the handler of SIGTERM."""
        self._before = signal.signal(signal.SIGTERM, self._end)

    def __exit__(self, *_: object) -> None:
        """Restore the handler of SIGTERM."""
        signal.signal(signal.SIGTERM, self._before)

    def _end(self, _signal: int, _frame: FrameType | None) -> None:
        self.is_terminated = True
        raise KeyboardInterrupt


def end_without(parent: int) -> None:
    """End this process, a worker, as soon as its parent is gone, even if it was killed and could say nothing.

    Args:
        parent: process id of the parent. Systems other than POSIX do not say that it is gone; nothing happens there.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    if os.name == "posix":
        threading.Thread(target=watch, name="watch of the parent", daemon=True).start()
