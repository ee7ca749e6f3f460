"""The stream of changes that a page listens to: one poller for all pages, and no queue for any of them.

A page is told the newest state of its run and of the list, and asks for what it lacks. A page that is slow misses
states between, never the last one, and costs the server nothing but its connection.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator

from symseed import files
from symseed.errors import DataError
from symseed.studio.runs import Runs
from symseed.studio.stores import Stores

MOST_PAGES = 100
"""Most pages that listen at once: chosen by hand."""
_EVERY = 1.0
"""Seconds between two looks at the folder: a turn of a search takes about as long. Chosen by hand."""
_ALIVE = 15.0
"""Seconds after which a page is told that nothing has changed, so that a dead connection is found. Chosen by hand."""


class Watch:
    """Looks at the runs that pages show, while there are pages."""

    def __init__(self, runs: Runs, stores: Stores) -> None:
        self._runs, self._stores = runs, stores
        self._pages: Counter[str] = Counter()
        self._seen: dict[str, str] = {}
        self._changed = asyncio.Event()  # set once, at the next change; then there is another
        self._poller: asyncio.Task[None] | None = None
        self.is_over = False
        """Whether the server ends, so that streams must too."""

    @property
    def pages(self) -> int:
        """Number of pages that listen."""
        return self._pages.total()

    async def stream(self, run: str) -> AsyncIterator[str]:
        """Yield the newest versions of the list and of one run, or none, as server-sent events."""
        self._pages[run] += 1
        try:
            if self._poller is None or self._poller.done():
                self._poller = asyncio.create_task(self._poll())
            last: dict[str, str] | None = None
            while not self.is_over:
                changed = self._changed  # taken before the look, so that no change is missed
                now = {"runs": self._seen.get("", ""), "run": self._seen.get(run, "") if run else ""}
                if now != last and now["runs"]:
                    last = now
                    yield f"data: {files.json_text(now)}\n\n"
                elif not await _is_set(changed):
                    yield ": nothing new\n\n"
        finally:
            self._pages[run] -= 1
            self._pages += Counter()  # drop zeros

    async def _poll(self) -> None:
        while self._pages and not self.is_over:
            begun = time.monotonic()
            seen = await asyncio.to_thread(self._look, tuple(self._pages))
            if seen != self._seen:
                self._seen = seen
                changed, self._changed = self._changed, asyncio.Event()
                changed.set()
            # A look at many runs on a slow disk must not become a load.
            await asyncio.sleep(max(_EVERY, 10.0 * (time.monotonic() - begun)))
        self._seen = {}

    def _look(self, shown: tuple[str, ...]) -> dict[str, str]:
        everything = files.digest((self._runs.version() + self._stores.version()).encode())[:16]
        return {"": everything} | {run: self._version(run) for run in shown if run}

    def _version(self, run: str) -> str:
        try:
            return self._runs.find(run).version
        except DataError:
            return "gone"


async def _is_set(event: asyncio.Event) -> bool:
    """Wait for an event; False: it was not set for a while."""
    try:
        return await asyncio.wait_for(event.wait(), _ALIVE)
    except (TimeoutError, asyncio.TimeoutError):
        return False
