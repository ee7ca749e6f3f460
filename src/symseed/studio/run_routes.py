"""What the server answers about one run, and does with it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from symseed import files
from symseed.errors import DataError, SettingsError
from symseed.regressor import EquationFront
from symseed.regressor.run import Run
from symseed.studio import explore
from symseed.studio.answers import as_json, body, download, whole
from symseed.studio.reading import RunReader
from symseed.studio.runs import Runs
from symseed.studio.searches import Searches

_FILES = {"front": ("front.csv", "text/csv"), "config": ("config.toml", "application/toml")}
"""What of a run folder can be downloaded, with its kind."""
_MOST_BYTES = 2**28
"""Most bytes of such a file: as many as its readers take."""
_REPORT_SECONDS = 300.0
"""Longest time that a report may take: chosen by hand."""


class RunRoutes:
    """The routes of runs."""

    def __init__(self, runs: Runs, searches: Searches) -> None:
        self._runs, self._searches = runs, searches

    @property
    def routes(self) -> list[Route]:
        """The routes, each with its answer."""
        path = "/api/runs/{run}"
        return [
            Route("/api/runs", self._list),
            Route(path, self._run),
            Route(f"{path}/formula", self._formula),
            Route(f"{path}/column", self._column),
            Route(f"{path}/learnt", self._learnt),
            Route(f"{path}/files/{{name}}", self._file),
            Route(f"{path}/try", self._try, methods=["POST"]),
            Route(f"{path}/curve", self._curve, methods=["POST"]),
            Route(f"{path}/pause", self._pause, methods=["POST"]),
            Route(f"{path}/stop", self._stop, methods=["POST"]),
            Route(f"{path}/resume", self._resume, methods=["POST"]),
        ]

    async def _reader(self, request: Request) -> RunReader:
        return await run_in_threadpool(self._runs.find, request.path_params["run"])

    async def _list(self, _: Request) -> Response:
        return as_json(await run_in_threadpool(self._runs.listed))

    async def _run(self, request: Request) -> Response:
        reader = await self._reader(request)
        return as_json(await run_in_threadpool(reader.values))

    async def _formula(self, request: Request) -> Response:
        target, index = whole(request, "target"), whole(request, "index")
        reader = await self._reader(request)
        return as_json(files.json_text(await run_in_threadpool(reader.formula, target, index)))

    async def _column(self, request: Request) -> Response:
        target, column = whole(request, "target"), whole(request, "column")
        reader = await self._reader(request)
        return as_json(files.json_text(await run_in_threadpool(reader.column, target, column)))

    async def _learnt(self, request: Request) -> Response:
        target, index = whole(request, "target"), whole(request, "index")
        reader = await self._reader(request)
        return as_json(files.json_text(await run_in_threadpool(reader.learnt, target, index)))

    async def _try(self, request: Request) -> Response:
        target, values = whole(request, "target"), await body(request)
        run, _ = await self._opened(request, target)
        return as_json(files.json_text(await run_in_threadpool(explore.tried, run, target, values.get("formula"))))

    async def _curve(self, request: Request) -> Response:
        target, values = whole(request, "target"), await body(request)
        run, fronts = await self._opened(request, target)
        return as_json(files.json_text(await run_in_threadpool(explore.curve, run, fronts, target, values)))

    async def _opened(self, request: Request, target: int) -> tuple[Run, Mapping[int, EquationFront]]:
        reader = await self._reader(request)
        run, fronts = await run_in_threadpool(reader.opened)
        if target >= len(run.data.targets):
            raise DataError("The run has no such target.")
        return run, fronts

    async def _file(self, request: Request) -> Response:
        reader = await self._reader(request)
        name = request.path_params["name"]
        if name == "report":
            return download(await run_in_threadpool(_report, reader.folder), "report.html", "text/html")
        if name not in _FILES:
            raise DataError(f"A run has {', '.join((*_FILES, 'report'))} to download.")
        file, kind = _FILES[name]
        try:
            content = await run_in_threadpool(files.read, reader.folder / file, _MOST_BYTES)
        except OSError:
            raise DataError(f"The run has no {file} yet.") from None
        return download(content, file, kind)

    async def _pause(self, request: Request) -> Response:
        is_paused = (await body(request)).get("is_paused")
        if not isinstance(is_paused, bool):
            raise SettingsError("`is_paused` must be true or false.")
        reader = await self._reader(request)
        await run_in_threadpool(self._searches.pause, reader, is_paused=is_paused)
        return JSONResponse({})

    async def _stop(self, request: Request) -> Response:
        reader = await self._reader(request)
        await run_in_threadpool(self._searches.stop, reader)
        return JSONResponse({})

    async def _resume(self, request: Request) -> Response:
        more = (await body(request)).get("seconds", 0.0)
        if not isinstance(more, (int, float)):
            raise SettingsError("The seconds must be a number.")
        reader = await self._reader(request)
        await run_in_threadpool(self._searches.resume, reader, float(more))
        return JSONResponse({})


def _report(folder: Path) -> bytes:
    """The report of a run, by the command that makes it: drawing takes memory that the server need not keep."""
    with tempfile.TemporaryDirectory() as out:
        path = Path(out) / "report.html"
        done = subprocess.run(  # noqa: S603 - our own program; both paths are the server's
            [sys.executable, "-m", "symseed", "report", f"--output={path}", "--", str(folder)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=Path(sys.executable).anchor,
            timeout=_REPORT_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            raise DataError(done.stderr.decode(errors="replace").strip().removeprefix("symseed: "))
        return path.read_bytes()
