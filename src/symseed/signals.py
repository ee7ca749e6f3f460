"""Ends of a program: signals postponed while results are saved, SIGTERM like Ctrl-C, and workers without a parent."""

from __future__ import annotations

import contextlib
import enum
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

_Handler = Callable[[int, FrameType | None], Any]

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes of a program after Ctrl-C and SIGTERM: 128 and the number of the signal, as shells have it."""

_WATCH_SECONDS = 1.0
"""Seconds between two looks at the parent: chosen by hand."""
_AGAIN_SECONDS = 0.02
"""Seconds after which an interrupt that was lost is repeated: chosen by hand."""
_ENDING = (signal.SIGINT, signal.SIGTERM)
_SHOW_CURSOR = b"\x1b[?25h"
"""What lets a terminal show its cursor, which a display may have hidden."""


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
            for number in _ENDING:
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


class _Phase(enum.Enum):
    """How far a command has come."""

    BEGINS = enum.auto()
    WORKS = enum.auto()
    ENDS = enum.auto()
    """A signal has come, and the command ends with what it has."""
    IS_OVER = enum.auto()


class Ending:
    """Context of a command in which the first Ctrl-C or SIGTERM raises `KeyboardInterrupt`, and a second ends it.

    While modules are imported, and after the command, there is nothing to keep: there, the first ends it at once, which
    is as safe as a kill, and shows no traceback. A signal that is ignored, as nohup does it, stays so.
    """

    def __init__(self) -> None:
        self.is_terminated = False
        """Whether a SIGTERM has come."""
        self._phase = _Phase.BEGINS
        self._before: dict[int, Any] = {}
        self._hook = sys.unraisablehook

    def __enter__(self) -> Ending:
        """Replace the handlers, if this is the main thread."""
        if threading.current_thread() is threading.main_thread():
            for number in _ENDING:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._end)
            self._hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the handlers."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        sys.unraisablehook = self._hook

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Give the context of the command's own work."""
        try:
            self._phase = _Phase.WORKS
            yield
        finally:
            self._phase = _Phase.IS_OVER

    def _end(self, number: int, _: FrameType | None) -> None:
        if self._phase is not _Phase.WORKS:
            _leave(number)
        self._phase = _Phase.ENDS
        self.is_terminated = number == signal.SIGTERM
        raise KeyboardInterrupt

    def _unraisable(self, lost: sys.UnraisableHookArgs) -> None:
        """Repeat an interrupt that came while an object was deleted, where Python drops all exceptions."""
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            self._hook(lost)
            return
        timer = threading.Timer(_AGAIN_SECONDS, self._again)
        timer.daemon = True
        timer.start()

    def _again(self) -> None:
        if self._phase is _Phase.ENDS:
            self._phase = _Phase.WORKS
            os.kill(os.getpid(), signal.SIGTERM if self.is_terminated else signal.SIGINT)


def _leave(number: int) -> None:
    """End this process at once, with a sentence."""
    name = "SIGTERM" if number == signal.SIGTERM else "Ctrl-C"
    with contextlib.suppress(OSError):
        for handle in (1, 2):
            if os.isatty(handle):
                os.write(handle, _SHOW_CURSOR)
        os.write(2, f"symseed: {name} ended the command at once.\n".encode())
    if "multiprocessing" in sys.modules:  # nobody else would end workers that are still being started
        for child in sys.modules["multiprocessing"].active_children():
            child.kill()
    os._exit(TERMINATED if number == signal.SIGTERM else INTERRUPTED)


@contextlib.contextmanager
def starting_processes() -> Iterator[None]:
    """Give a context in which processes are started: signals wait here until its end, in them until they work.

    An interrupt between the start of a process and its first message would leave it without its work; it would say so
    with a traceback.

    Raises:
        KeyboardInterrupt: at the end, if a signal came.
    """
    can_block = hasattr(signal, "pthread_sigmask") and threading.current_thread() is threading.main_thread()
    with Held() as held:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING) if can_block else set()
        try:
            yield
        finally:
            if can_block:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if held.is_interrupted:
        raise KeyboardInterrupt


def begin_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent, obey its SIGTERM, and end with it.

    Args:
        parent: process id of the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_without(parent)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)


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
