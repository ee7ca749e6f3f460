"""The server of the page: what it answers to each request. Starlette and uvicorn come with the extra `studio`."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from symseed.errors import SettingsError, SymseedError
from symseed.studio import assets
from symseed.studio.answers import own
from symseed.studio.guard import Guard, TooLargeError
from symseed.studio.run_routes import RunRoutes
from symseed.studio.runs import NewestFirst, Runs
from symseed.studio.searches import Searches
from symseed.studio.stores import Stores
from symseed.studio.table_routes import TableRoutes
from symseed.studio.uploads import Uploads
from symseed.studio.watching import MOST_PAGES, Watch

HOST = "127.0.0.1"
PORTS = range(8765, 8785)
"""Ports that are tried if none is given, so that a page finds a new server at the address of the old one."""
_MOST_CONNECTIONS = 400
"""Most connections: chosen by hand, enough for `MOST_PAGES` pages and their questions."""


@dataclass(frozen=True, slots=True)
class Studio:
    """What the page is about: the runs of a folder, tables that were given, and searches that were started."""

    runs: Runs
    uploads: Uploads
    stores: Stores
    searches: Searches
    watch: Watch

    @classmethod
    def of(cls, parent: Path, newest_first: NewestFirst, folder: Path) -> Studio:
        """Make one for the runs in `parent`; `folder` is a new folder of the server's own."""
        runs, stores = Runs(parent, newest_first), Stores(parent)
        return cls(runs, Uploads(folder), stores, Searches(parent, folder), Watch(runs, stores))

    def app(self) -> Starlette:
        """Return the application, which must stand behind a `Guard`."""
        routes = [
            Route("/", _page),
            Route("/assets/{name}", _asset),
            Route("/api/events", self._events),
            *RunRoutes(self.runs, self.searches).routes,
            Route("/api/stores", self._stores),
            Route("/api/stores/{store}", self._table),
            Route("/api/stores/{store}/{figure}.svg", self._figure),
            *TableRoutes(self.uploads, self.runs, self.searches).routes,
        ]
        return Starlette(routes=routes, exception_handlers=_REFUSALS)

    async def _events(self, request: Request) -> Response:
        if self.watch.pages >= MOST_PAGES:
            return PlainTextResponse(f"At most {MOST_PAGES} pages are open at once. Close one.", 503)
        return StreamingResponse(self.watch.stream(own(request, "run")), media_type="text/event-stream")

    async def _stores(self, _: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self.stores.listed))

    async def _table(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self.stores.table, request.path_params["store"]))

    async def _figure(self, request: Request) -> Response:
        store, name = request.path_params["store"], request.path_params["figure"]
        shown = tuple(filter(None, request.query_params.get("methods", "")[:2000].split(",")))
        return Response(await run_in_threadpool(self.stores.figure, store, name, shown), media_type="image/svg+xml")


def serve(parent: Path, newest_first: NewestFirst, port: int | None, ready: Callable[[str, str], None]) -> None:
    """Serve the page until Ctrl-C or SIGTERM.

    Args:
        parent: the folder of runs.
        newest_first: returns the runs in it.
        port: the port; None: the first free one of `PORTS`.
        ready: receives the link for the user, and one that works once.

    Raises:
        SettingsError: if the port is taken.
    """
    with tempfile.TemporaryDirectory(prefix="symseed-studio-") as folder, _listening(port) as listening:
        port = listening.getsockname()[1]
        studio = Studio.of(parent, newest_first, Path(folder))
        guard = Guard(studio.app(), port)
        config = uvicorn.Config(
            guard,
            access_log=False,
            log_level="warning",
            server_header=False,
            proxy_headers=False,
            http="h11",
            ws="none",
            lifespan="off",
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_keep_alive=20,
            timeout_graceful_shutdown=2,
        )
        listening.listen(_MOST_CONNECTIONS)  # before the link is shown: a browser may be quicker than the server
        link = f"http://{HOST}:{port}/?token="
        ready(link + guard.token, link + guard.ticket())
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            studio.watch.is_over = True
            studio.searches.close()


def _listening(port: int | None) -> socket.socket:
    for number in PORTS if port is None else (port,):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, number))
        except OSError:
            listening.close()
            continue
        return listening
    asked = f"ports {PORTS.start} to {PORTS.stop - 1} are" if port is None else f"port {port} is"
    raise SettingsError(f"`--port` must be a free port, but {asked} taken. Give another, or 0 for any.")


# --- Answers ---------------------------------------------------------------------------------------------------------


async def _page(_: Request) -> Response:
    return Response(assets.content("index.html"), media_type="text/html")


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in assets.KINDS:
        return PlainTextResponse("There is no such file.", 404)
    return Response(assets.content(name), media_type=assets.KINDS[name])


async def _sentence(_: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), 413 if isinstance(error, TooLargeError) else 400)


async def _no_memory(*_: Any) -> Response:
    return PlainTextResponse("There is not enough memory for this table. Give a part of it.", 400)


_REFUSALS = {SymseedError: _sentence, MemoryError: _no_memory}
"""How exceptions are answered: by a sentence."""
