"""Requests to the page of Studio, in front of its guard: every one is answered, and none by an exception."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import hostile
from symseed.cli import run_names
from symseed.studio.guard import Guard
from symseed.studio.server import Studio

_PORT = 8765
_PLACE = Path(tempfile.mkdtemp(prefix="symseed-fuzz-"))
hostile.killed_run(_PLACE / "runs")
(_PLACE / "own").mkdir()
_STUDIO = Studio.of(_PLACE / "runs", run_names.newest_first, _PLACE / "own")
_GUARD = Guard(_STUDIO.app(), _PORT)
_RUN = next(iter(_STUDIO.runs.readers()))
_OWN = {"host": f"127.0.0.1:{_PORT}", "origin": f"http://127.0.0.1:{_PORT}"}
_PROCESSES = (f"/{_RUN}/resume", f"/{_RUN}/files/report")
"""Ends of requests that start a process each, which other targets are for."""


async def _ask(scope: MutableMapping[str, Any], body: bytes) -> tuple[int, bytes]:
    """Send one request, and return the status and the answer."""
    received, status, answer = False, 0, bytearray()

    async def receive() -> MutableMapping[str, Any]:
        nonlocal received
        if received:
            return {"type": "http.disconnect"}
        received = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)
        answer.extend(message.get("body", b""))

    await _GUARD(scope, receive, send)
    return status, bytes(answer)


def _scope(method: str, path: str, query: bytes, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode("utf-8", "replace"),
        "query_string": query,
        "root_path": "",
        "scheme": "http",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", _PORT),
    }


_LOOP = asyncio.new_event_loop()
_COOKIE: list[tuple[bytes, bytes]] = []


def _enter() -> None:
    """Open the link, whose answer has the cookie that lets later requests through."""

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        _COOKIE.extend((b"cookie", value) for name, value in message.get("headers", []) if name == b"set-cookie")

    headers = [(name.encode(), value.encode()) for name, value in _OWN.items()]
    _LOOP.run_until_complete(_GUARD(_scope("GET", "/", b"token=" + _GUARD.token.encode(), headers), receive, send))


_enter()


def one(data: bytes) -> None:
    """Send a request: a line with method and path, lines of headers, and behind an empty line the body."""
    head, _, body = data.partition(b"\n\n")
    first, *others = head.split(b"\n")
    method, _, target = first.decode("latin-1").partition(" ")
    if re.fullmatch(r"/[!-~]*", target) is None:  # h11, which reads requests before, refuses others
        return
    path, _, query = target.replace("RUN", _RUN).partition("?")
    path = unquote(path)
    own = {name: value.encode() for name, value in _OWN.items()}
    for line in others:
        name, _, value = line.partition(b":")
        own[name.strip().lower().decode("latin-1")] = value.strip()
    headers = [(name.encode("latin-1"), value) for name, value in own.items()]
    if path == "/api/events" or path.endswith(_PROCESSES):  # the first is answered without end
        return
    scope = _scope(method, path, query.encode("latin-1"), [*headers, *(() if b"x-stranger" in head else _COOKIE)])
    status, answer = _LOOP.run_until_complete(_ask(scope, body))
    assert 200 <= status < 500 or status == 501, f"status {status}: {answer[:500]!r}"
    assert b"Traceback" not in answer
    for path_left in (_PLACE / "own").iterdir():  # tables that were uploaded
        shutil.rmtree(path_left) if path_left.is_dir() else path_left.unlink()
