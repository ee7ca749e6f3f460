"""The server of the page: what it answers to each request. Starlette and uvicorn come with the extra `studio`."""

from __future__ import annotations

import importlib.resources
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

from symseed import files, tables
from symseed.errors import SettingsError, SymseedError
from symseed.language.tokens import OPERATORS
from symseed.show.page import page_css
from symseed.studio.answers import as_json, body, own
from symseed.studio.guard import UPLOAD, Guard, TooLargeError
from symseed.studio.run_routes import RunRoutes
from symseed.studio.runs import NewestFirst, Runs
from symseed.studio.searches import Order, Searches
from symseed.studio.uploads import Uploads
from symseed.studio.watching import MOST_PAGES, Watch

HOST = "127.0.0.1"
PORTS = range(8765, 8785)
"""Ports that are tried if none is given, so that a page finds a new server at the address of the old one."""
_MOST_CONNECTIONS = 400
"""Most connections: chosen by hand, enough for `MOST_PAGES` pages and their questions."""
_ASSETS = {
    "icon.svg": "image/svg+xml",
    "studio.css": "text/css",
    "dom.js": "text/javascript",
    "explore.js": "text/javascript",
    "plots.js": "text/javascript",
    "run.js": "text/javascript",
    "start.js": "text/javascript",
    "main.js": "text/javascript",
}
"""The files of the page, and their kinds; nothing else of the package is served."""


@dataclass(frozen=True, slots=True)
class Studio:
    """What the page is about: the runs of a folder, tables that were given, and searches that were started."""

    runs: Runs
    uploads: Uploads
    searches: Searches
    watch: Watch

    @classmethod
    def of(cls, parent: Path, newest_first: NewestFirst, folder: Path) -> Studio:
        """Make one for the runs in `parent`; `folder` is a new folder of the server's own."""
        runs = Runs(parent, newest_first)
        return cls(runs, Uploads(folder), Searches(parent, folder), Watch(runs))

    def app(self) -> Starlette:
        """Return the application, which must stand behind a `Guard`."""
        routes = [
            Route("/", _page),
            Route("/assets/{name}", _asset),
            Route("/api/about", self._about),
            Route("/api/events", self._events),
            *RunRoutes(self.runs, self.searches).routes,
            Route(UPLOAD, self._upload, methods=["POST"]),
            Route("/api/tables/shipped", self._shipped, methods=["POST"]),
            Route("/api/searches", self._start, methods=["POST"]),
            Route("/api/searches/{search}", self._begun),
        ]
        return Starlette(routes=routes, exception_handlers=_REFUSALS)

    async def _about(self, _: Request) -> Response:
        names = [name for name, token in OPERATORS.items() if token.arity == 1]
        return JSONResponse({"tables": tables.shipped(), "operators": names})

    async def _events(self, request: Request) -> Response:
        if self.watch.pages >= MOST_PAGES:
            return PlainTextResponse(f"At most {MOST_PAGES} pages are open at once. Close one.", 503)
        return StreamingResponse(self.watch.stream(own(request, "run")), media_type="text/event-stream")

    async def _upload(self, request: Request) -> Response:
        own, path = self.uploads.new_file(request.query_params.get("name", "")[:1000])
        try:
            with path.open("wb") as file:
                async for part in request.stream():
                    file.write(part)
            return as_json(files.json_text(await run_in_threadpool(self.uploads.add, own, str(path))))
        except BaseException:
            self.uploads.discard(own)
            raise

    async def _shipped(self, request: Request) -> Response:
        name = str((await body(request)).get("name", ""))
        return as_json(files.json_text(await run_in_threadpool(self.uploads.add_shipped, name)))

    async def _start(self, request: Request) -> Response:
        values = await body(request)
        table = self.uploads.find(str(values.get("table", "")))
        return JSONResponse({"search": await run_in_threadpool(self.searches.start, Order.of(values), table)})

    async def _begun(self, request: Request) -> Response:
        readers = list((await run_in_threadpool(self.runs.readers)).values())
        found = await run_in_threadpool(self.searches.begun, request.path_params["search"], readers)
        return JSONResponse({"run": None if found is None else self.runs.id_of(found)})


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
    return Response(_packaged("index.html"), media_type="text/html")


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "page.css":
        return Response(page_css(), media_type="text/css")
    if name not in _ASSETS:
        return PlainTextResponse("There is no such file.", 404)
    return Response(_packaged(name), media_type=_ASSETS[name])


def _packaged(name: str) -> bytes:
    return (importlib.resources.files("symseed.studio") / "page" / name).read_bytes()


async def _sentence(_: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), 413 if isinstance(error, TooLargeError) else 400)


async def _no_memory(*_: Any) -> Response:
    return PlainTextResponse("There is not enough memory for this table. Give a part of it.", 400)


_REFUSALS = {SymseedError: _sentence, MemoryError: _no_memory}
"""How exceptions are answered: by a sentence."""
