"""Questions and answers of the server: values in JSON, files, and what a question asks for."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from symseed.errors import SettingsError


def as_json(text: str) -> Response:
    """Answer with values that are JSON already."""
    return Response(text, media_type="application/json")


def download(content: bytes, name: str, kind: str) -> Response:
    """Answer with a file that the browser keeps."""
    return Response(content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


async def body(request: Request) -> dict[str, Any]:
    """Return the values that the page sent.

    Raises:
        SettingsError: if they are not an object of JSON.
    """
    try:
        values = json.loads(await request.body())
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise SettingsError("What is sent must be an object of JSON.")
    return values


def own(request: Request, name: str) -> str:
    """Return a short text of the question; empty if there is none."""
    return request.query_params.get(name, "")[:64]


def whole(request: Request, name: str) -> int:
    """Return a whole number of the question.

    Raises:
        SettingsError: if it is missing, or none.
    """
    text = own(request, name)
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise SettingsError(f"`{name}` must be a whole number.")
    return int(text)
