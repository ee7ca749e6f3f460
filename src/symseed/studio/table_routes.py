"""What the server answers about tables, and how a search of one begins."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from symseed import files, tables
from symseed.language.tokens import OPERATORS
from symseed.studio.answers import as_json, body
from symseed.studio.guard import UPLOAD
from symseed.studio.runs import Runs
from symseed.studio.searches import Order, Searches
from symseed.studio.uploads import Uploads


class TableRoutes:
    """The routes of tables and of new searches."""

    def __init__(self, uploads: Uploads, runs: Runs, searches: Searches) -> None:
        self._uploads, self._runs, self._searches = uploads, runs, searches

    @property
    def routes(self) -> list[Route]:
        """The routes, each with its answer."""
        return [
            Route("/api/about", self._about),
            Route(UPLOAD, self._upload, methods=["POST"]),
            Route("/api/tables/shipped", self._shipped, methods=["POST"]),
            Route("/api/searches", self._start, methods=["POST"]),
            Route("/api/searches/{search}", self._begun),
        ]

    async def _about(self, _: Request) -> Response:
        names = [name for name, token in OPERATORS.items() if token.arity == 1]
        return JSONResponse({"tables": tables.shipped(), "operators": names})

    async def _upload(self, request: Request) -> Response:
        own, path = self._uploads.new_file(request.query_params.get("name", "")[:1000])
        try:
            with path.open("wb") as file:
                async for part in request.stream():
                    file.write(part)
            return as_json(files.json_text(await run_in_threadpool(self._uploads.add, own, str(path))))
        except BaseException:
            self._uploads.discard(own)
            raise

    async def _shipped(self, request: Request) -> Response:
        name = str((await body(request)).get("name", ""))
        return as_json(files.json_text(await run_in_threadpool(self._uploads.add_shipped, name)))

    async def _start(self, request: Request) -> Response:
        values = await body(request)
        table = self._uploads.find(str(values.get("table", "")))
        return JSONResponse({"search": await run_in_threadpool(self._searches.start, Order.of(values), table)})

    async def _begun(self, request: Request) -> Response:
        readers = list((await run_in_threadpool(self._runs.readers)).values())
        found = await run_in_threadpool(self._searches.begun, request.path_params["search"], readers)
        return JSONResponse({"run": None if found is None else self._runs.id_of(found)})
