"""Signals that end a program: held back while results are saved, and SIGTERM taken as Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_Handler = Callable[[int, FrameType | None], Any]


class Held:
    """While it is entered, Ctrl-C and SIGTERM do not break off what is under way; a second one does.

    They are noted instead. Only the main thread gets signals, and so elsewhere nothing is held back.
    """

    def __init__(self) -> None:
        self.is_interrupted = False
        """Whether a signal came that would have raised `KeyboardInterrupt`."""
        self._before: dict[int, _Handler] = {}

    def __enter__(self) -> Held:
        """Begin to hold signals back."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if callable(handler):
                    self._before[number] = handler
                    signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        """Let signals through again."""
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
    """While it is entered, SIGTERM is taken as Ctrl-C: the search keeps what it has found."""

    def __init__(self) -> None:
        self.is_terminated = False

    def __enter__(self) -> None:
        """Begin to take SIGTERM."""
        self._before = signal.signal(signal.SIGTERM, self._end)

    def __exit__(self, *_: object) -> None:
        """Leave SIGTERM to whoever had it before."""
        signal.signal(signal.SIGTERM, self._before)

    def _end(self, _signal: int, _frame: FrameType | None) -> None:
        self.is_terminated = True
        raise KeyboardInterrupt
