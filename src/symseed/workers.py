"""Tasks on other processes: every worker gets the common value once, and the task of a worker that died is repeated.

Any `concurrent.futures.Executor` has the workers. A worker that lacks the common value says so, and gets it with the
task; an executor with a `share` of its own (`cluster.py`) distributes it beforehand.
"""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import secrets
from collections.abc import Callable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from dataclasses import dataclass, replace
from multiprocessing import get_context
from types import TracebackType
from typing import Any, Protocol, runtime_checkable

from symseed.errors import SettingsError
from symseed.signals import begin_worker, starting_processes
from symseed.version import version

_MOST_ATTEMPTS = 4
"""Most workers that a task may lose before it counts as the cause: chosen by hand."""
_MOST_HELD = 4
"""Most common values that a worker process keeps: those of the newest runs. Chosen by hand."""
_LOST = (BrokenExecutor, CancelledError, OSError, EOFError)
"""Errors that say that a worker, or the way to it, is gone."""


class WorkersLostError(Exception):
    """All workers are gone, or a task has lost so many of them that it is the cause."""


@runtime_checkable
class Sharing(Protocol):
    """An executor that brings a value to every worker by itself."""

    def share(self, value: Any) -> Any:
        """Bring a value to the workers; what is returned stands for it among the arguments of a task."""


@dataclass(frozen=True, slots=True)
class _Lacking:
    """The answer of a worker that does not have the common value yet."""


@dataclass(frozen=True, slots=True)
class _Task:
    """A task under way."""

    ticket: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    attempts: int = 1
    executor: Executor | None = None
    """The executor that it was sent to."""


class Inline(Executor):
    """An executor that does a task at once, in this thread, so that Ctrl-C reaches it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do a task."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def processes(count: int) -> Executor:
    """Return an executor of new processes of this machine, which end with this one and leave Ctrl-C to it."""
    return ProcessPoolExecutor(count, get_context("spawn"), initializer=begin_worker, initargs=(os.getpid(),))


class Workers:
    """Workers that have a value in common, and their tasks: functions of that value and of further arguments."""

    def __init__(self, value: Any, executor: Executor | None = None, *, count: int = 1) -> None:
        """Take the common value.

        Args:
            executor: has the workers; None: `count` processes of this machine, or this thread if `count` is 1.
        """
        self._value, self._given, self._count = value, executor, count
        self.key = secrets.token_hex(8)
        """Name of the common value."""
        self._tickets = itertools.count()
        self._running: dict[Future[Any], _Task] = {}
        if executor is None and count > 1:
            _check(value)
        self._executor, self._shared = self._begun()

    @property
    def is_here(self) -> bool:
        """Whether tasks are done at once, in this thread."""
        return isinstance(self._executor, Inline)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> int:
        """Submit `function(value, *arguments)`; return the ticket of its result.

        Raises:
            WorkersLostError: if there are no workers any more.
        """
        task = _Task(next(self._tickets), function, arguments)
        self._send(task)
        return task.ticket

    def result(self, seconds: float | None = None) -> tuple[int, Any] | None:
        """Return the ticket and the result of a task that is done, in any order; None if none is done in time.

        Raises:
            WorkersLostError: if there are no workers any more.
            SettingsError: if a worker has another version.
        """
        while self._running:
            done = wait(self._running, timeout=seconds, return_when=FIRST_COMPLETED).done
            if not done:
                return None
            future = next(iter(done))
            task = self._running.pop(future)
            try:
                found = future.result()
            except _LOST as error:
                self._again(task, error)
                continue
            if not isinstance(found, _Lacking):
                return task.ticket, found
            self._send(task, self._value)
        return None

    def close(self) -> None:
        """End tasks and workers that are no longer needed; an executor of the caller's stays."""
        for future in self._running:
            future.cancel()
        self._running.clear()
        if self._given is None:
            end(self._executor)

    def __enter__(self) -> Workers:
        """Begin to use the workers."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End them."""
        self.close()

    def _begun(self) -> tuple[Executor, Any]:
        executor = self._given or (processes(self._count) if self._count > 1 else Inline())
        shared = executor.share(self._value) if isinstance(executor, Sharing) else None
        return executor, shared

    def _send(self, task: _Task, value: Any = None) -> None:
        own = self._shared if value is None else value
        task = replace(task, executor=self._executor)
        try:
            if self.is_here:
                future = self._executor.submit(task.function, self._value, *task.arguments)
            else:
                with starting_processes():
                    future = self._executor.submit(_work, version(), self.key, own, task.function, task.arguments)
        except (*_LOST, RuntimeError) as error:  # a RuntimeError: the executor was shut down
            self._again(task, error)
        else:
            self._running[future] = task

    def _again(self, task: _Task, error: BaseException) -> None:
        """Repeat a task whose worker was lost."""
        if task.attempts >= _MOST_ATTEMPTS:
            raise WorkersLostError(f"{type(error).__name__}: {error}") from error
        if self._given is None and not self.is_here and isinstance(error, BrokenExecutor):
            # A pool of processes is broken as a whole when one of them dies: every task of it comes here, one after
            # another, and the first of them replaces the pool.
            if task.executor is self._executor:
                end(self._executor)
                self._executor, self._shared = self._begun()
        elif isinstance(self._executor, Sharing):
            try:
                self._shared = self._executor.share(self._value)  # the workers that held it may be gone
            except _LOST as lost:
                raise WorkersLostError(f"{type(lost).__name__}: {lost}") from lost
        elif self._given is not None:
            raise WorkersLostError(f"{type(error).__name__}: {error}") from error
        self._send(replace(task, attempts=task.attempts + 1))


def _check(value: Any) -> None:
    """Refuse a value that cannot be sent to another process: a pool of processes would wait for it for ever."""
    try:
        pickle.dumps(value)
    except Exception as error:
        raise SettingsError(
            f"The settings must be such that other processes can have them, but they are not: {error}. Define "
            "functions of your own in a module, or give `n_jobs=1`."
        ) from error


def end(executor: Executor) -> None:
    """End an executor at once; if it has processes of this machine, they are killed.

    A task may take hours, and its result is not wanted any more. A process that is still starting would obey SIGTERM
    too late, when the semaphores that it needs are gone, and say so.
    """
    processes = [*(getattr(executor, "_processes", None) or {}).values()]  # of which it lets go
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()


# --- In a worker -----------------------------------------------------------------------------------------------------

_held: dict[str, Any] = {}
"""Common values of the newest runs, which live as long as the worker's process."""


def check_version(caller: str) -> None:
    """Refuse a task of another version.

    Raises:
        SettingsError: if this is not the version `caller`.
    """
    own = version()
    if own != caller:
        raise SettingsError(
            f"A worker has symseed {own}, but the search runs symseed {caller}, which might give other answers. "
            f"Install symseed {caller} on the workers."
        )


def _work(caller: str, key: str, value: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Do a task with the common value, which comes with it or was kept before."""
    check_version(caller)
    if key not in _held:
        if value is None:
            return _Lacking()
        # Copies, because the arrays of a message may be read-only, and at places where the core cannot read them.
        _held[key] = copy.deepcopy(value)
        for old in list(_held)[:-_MOST_HELD]:
            _held.pop(old, None)
    return function(_held[key], *copy.deepcopy(arguments))
