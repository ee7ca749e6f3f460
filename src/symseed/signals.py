"""Signals that end a program: postponed while results are saved, and SIGTERM treated like Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_Handler = Callable[[int, FrameType | None], Any]


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
