"""The files of the page: HTML, CSS and modules of JavaScript, as they are in the package."""

from __future__ import annotations

import importlib.resources
import re

from symseed.show.page import page_css

KINDS = {
    "icon.svg": "image/svg+xml",
    "page.css": "text/css",
    "studio.css": "text/css",
    "dom.js": "text/javascript",
    "explore.js": "text/javascript",
    "plots.js": "text/javascript",
    "run.js": "text/javascript",
    "compare.js": "text/javascript",
    "store.js": "text/javascript",
    "understand.js": "text/javascript",
    "start.js": "text/javascript",
    "main.js": "text/javascript",
}
"""The files that a server gives, and their kinds; nothing else of the package is served."""
_FROZEN = ("dom.js", "plots.js", "explore.js", "understand.js", "run.js", "frozen.js")
"""The modules of a report, each behind those that it uses."""


def content(name: str) -> bytes:
    """Return a file of the page."""
    if name == "page.css":
        return page_css().encode()
    return (importlib.resources.files("symseed.studio") / "page" / name).read_bytes()


def frozen_script() -> str:
    """Return the modules of a report as one, for a file has no neighbours to import from."""
    whole = "\n".join(content(name).decode() for name in _FROZEN)
    return re.sub("^export ", "", re.sub(r"^import [^;]*;\n", "", whole, flags=re.MULTILINE), flags=re.MULTILINE)
