"""The guard in front of the page: it answers only the person who has the link, and only what the page itself asks.

A page of another site that is open in the same browser can send requests to this computer too, so every request must
name this server as its host (against names that are made to lead here: DNS rebinding), come from this page if it says
where it comes from, and carry a cookie that only the link gives. Bodies and connections are bounded.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from symseed.errors import DataError
from symseed.tables.source import MOST_BYTES

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

UPLOAD = "/api/tables/upload"
"""The path that takes a file; bodies of all others are short."""
MOST_BODY = 2**17
"""Most bytes of a body that is no file: a choice of many columns takes some kilobytes. Chosen by hand."""
_POLICY = (
    "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""What the page may load and run: its own files; no script or style within the page, and no text that becomes HTML."""
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every answer."""


class Guard:
    """An ASGI application that passes a request on to another, or refuses it with a sentence."""

    def __init__(self, app: App, port: int) -> None:
        self._app = app
        names = [f"127.0.0.1:{port}", f"localhost:{port}"]
        self._hosts = frozenset(names)
        self._origins = frozenset(f"http://{name}" for name in names)
        self._cookie = f"symseed-studio-{port}"  # the cookies of a host are those of all its ports
        self._session = secrets.token_urlsafe(32)
        self._token = secrets.token_urlsafe(32)
        self._tickets: set[str] = set()

    @property
    def token(self) -> str:
        """The token of the link that is printed."""
        return self._token

    def ticket(self) -> str:
        """Return a token that opens the page once, for a command line that others on the computer may see."""
        ticket = secrets.token_urlsafe(32)
        self._tickets.add(ticket)
        return ticket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # a web socket, which the page does not use
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers(scope)
        is_entry = scope["path"] == "/" and scope["method"] == "GET" and self._enters(scope)
        refusal = self._refusal(scope, headers, is_entry=is_entry)
        if refusal is not None:
            await _answer(send, *refusal)
            return
        cookie = f"{self._cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict" if is_entry else ""
        await self._app(scope, _Limited(receive, scope["path"]), _Answer(send, cookie))

    def _refusal(self, scope: Scope, headers: dict[str, list[str]], *, is_entry: bool) -> tuple[int, str] | None:
        """The status and the sentence with which a request is refused; None if it is not."""
        method = scope["method"]
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "The address must be that of the link which `symseed studio` printed."
        if method not in ("GET", "HEAD", "POST"):
            return 405, "The page uses the methods GET, HEAD and POST only."
        if len(origins) > 1 or any(origin not in self._origins for origin in origins):
            return 403, "The request must come from the page of `symseed studio`, but it comes from another page."
        if method == "POST" and not origins:
            return 403, "The request must say by `Origin` that it comes from the page of `symseed studio`."
        if not is_entry and not self._is_known(headers):
            return 401, "Open the link that `symseed studio` printed: it holds the key to this page."
        lengths = headers.get("content-length", ["0"])
        if len(lengths) != 1 or not (lengths[0].isascii() and lengths[0].isdigit()):
            return 400, "The length of the request must be a number."
        if int(lengths[0][:20]) > _most(scope["path"]):
            return 413, _too_large(scope["path"])
        return None

    def _enters(self, scope: Scope) -> bool:
        """Whether a request has the token of the link, or a ticket, which is then used up."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if len(given) != 1:
            return False
        if _equal(given[0], self._token):
            return True
        used = next((ticket for ticket in self._tickets if _equal(given[0], ticket)), None)
        self._tickets.discard(used or "")
        return used is not None

    def _is_known(self, headers: dict[str, list[str]]) -> bool:
        cookies = [part.strip().partition("=") for line in headers.get("cookie", []) for part in line.split(";")]
        return any(name == self._cookie and _equal(value, self._session) for name, _, value in cookies)


class TooLargeError(DataError):
    """A body is larger than it may be."""


class _Limited:
    """The body of a request, which ends with an exception beyond its limit."""

    def __init__(self, receive: Receive, path: str) -> None:
        self._receive, self._path, self._left = receive, path, _most(path)

    async def __call__(self) -> MutableMapping[str, Any]:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise TooLargeError(_too_large(self._path))
        return message


class _Answer:
    """An answer, to which the headers of every answer are added."""

    def __init__(self, send: Send, cookie: str) -> None:
        self._send, self._cookie = send, cookie

    async def __call__(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            more = _HEADERS | ({"set-cookie": self._cookie} if self._cookie else {})
            own = [pair for pair in message.get("headers", []) if pair[0].decode() not in _HEADERS]
            message = {**message, "headers": own + [(name.encode(), value.encode()) for name, value in more.items()]}
        await self._send(message)


def _headers(scope: Scope) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        out.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return out


def _equal(given: str, known: str) -> bool:
    return secrets.compare_digest(given.encode(), known.encode())


def _most(path: str) -> int:
    return MOST_BYTES if path == UPLOAD else MOST_BODY


def _too_large(path: str) -> str:
    if path == UPLOAD:
        return f"A table must have at most {MOST_BYTES >> 20} MB. Give a part of it."
    return f"A request must have at most {MOST_BODY >> 10} KB. Choose fewer columns."


async def _answer(send: Send, status: int, sentence: str) -> None:
    """Answer with a sentence."""
    answer = _Answer(send, "")
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await answer({"type": "http.response.start", "status": status, "headers": headers})
    await answer({"type": "http.response.body", "body": sentence.encode()})
