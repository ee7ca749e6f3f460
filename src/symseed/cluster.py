"""A Dask cluster as an executor: tasks are its futures, and a value is scattered to every worker once."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

from symseed.errors import SettingsError, cut
from symseed.version import version

_CONNECT_SECONDS = 10
"""Most seconds to wait for the scheduler's first answer: chosen by hand."""
_LOOK_SECONDS = 1.0
"""Seconds between two looks whether the scheduler is still there: chosen by hand."""
_GONE = "The scheduler of the cluster is gone."


class LostSchedulerError(BrokenExecutor):
    """The scheduler of the cluster is gone."""


class Cluster(Executor):
    """The workers of a Dask scheduler."""

    def __init__(self, scheduler: Any) -> None:
        """Connect to a scheduler.

        Args:
            scheduler: its address, such as tcp://10.0.0.1:8786; or a `dask.distributed.Client`, which stays open.

        Raises:
            SettingsError: if dask.distributed is not installed, nothing answers at the address, or a worker has another
                version of symseed.
        """
        try:
            from distributed import Client
        except ImportError as error:
            raise SettingsError("A cluster needs dask.distributed: pip install 'symseed[cluster]'.") from error
        self._is_own = not isinstance(scheduler, Client)
        self._client = _client(Client, scheduler) if self._is_own else scheduler
        self._waiting: set[Future[Any]] = set()
        self._check_versions()

    def share(self, value: Any) -> Any:
        """Bring a value to every worker."""
        self._check_there()
        return self._client.scatter(value, broadcast=True, hash=False)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a task; its future fails with `LostSchedulerError` if the scheduler goes away."""
        self._check_there()
        future: Future[Any] = Future()
        sent = self._client.submit(fn, *args, pure=False, **kwargs)

        def done(one: Any) -> None:
            self._waiting.discard(future)
            if future.cancelled():
                return
            try:
                found, error = (one.result(), None) if one.status == "finished" else (None, self._error(one))
            except BaseException as lost:  # the connection broke between the two
                found, error = None, lost
            with contextlib.suppress(Exception):  # it was cancelled meanwhile
                future.set_result(found) if error is None else future.set_exception(error)

        self._waiting.add(future)
        sent.add_done_callback(done)
        future._dask = sent  # type: ignore[attr-defined]  # the cluster forgets a future that nobody holds
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Close the connection if it is this executor's own; the cluster stays."""
        del wait, cancel_futures
        if self._is_own:
            with contextlib.suppress(Exception):
                self._client.close(timeout=_LOOK_SECONDS)

    @property
    def threads(self) -> int:
        """Number of threads of all workers."""
        return sum(self._client.nthreads().values())

    def _error(self, future: Any) -> BaseException:
        """What a task failed with; cancelled tasks have lost what they need."""
        if self._client.status != "running":
            return LostSchedulerError(_GONE)
        if future.status == "error":
            error: BaseException = future.exception()
            return BrokenExecutor(str(error)) if type(error).__name__ == "KilledWorker" else error
        return BrokenExecutor(f"the task is {future.status}")

    def _check_there(self) -> None:
        if self._client.status != "running":
            raise LostSchedulerError(_GONE)

    def _check_versions(self) -> None:
        """Refuse workers of another version, whose answers might differ."""
        for address, own in self._client.run(_installed).items():
            if own != version():
                raise SettingsError(
                    f"The worker {address} has symseed {own}, but this is symseed {version()}, which might give other "
                    f"answers. Install symseed {version()} on the workers."
                )


def _client(make: Callable[..., Any], address: Any) -> Any:
    if not isinstance(address, str):
        raise SettingsError(
            "`executor` must be a `concurrent.futures.Executor`, a Dask client, or the address of a Dask scheduler "
            f"such as 'tcp://10.0.0.1:8786', but it is {cut(address)}."
        )
    try:
        return make(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise SettingsError(
            f"The address of a Dask scheduler must be one that answers, such as tcp://10.0.0.1:8786, but "
            f"{cut(address)} does not: {error}. Start one by `dask scheduler`, and workers by `dask worker ADDRESS`."
        ) from error


def _installed() -> str:
    """Return the version of symseed that a worker has; a worker without it runs this too."""
    try:
        import importlib.metadata

        return importlib.metadata.version("symseed")
    except Exception:
        return "not at all"


def is_task() -> bool:
    """Return whether this is done by a worker of a Dask cluster, whose other threads have the other cores."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


@contextlib.contextmanager
def connected(given: Any) -> Iterator[Executor | None]:
    """Give the executor that a user means by one of any kind, a Dask client, or the address of a scheduler."""
    if given is None or isinstance(given, Executor):
        yield given
        return
    with Cluster(given) as cluster:
        yield cluster
