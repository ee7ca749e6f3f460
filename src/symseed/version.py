"""The version that is installed."""

from __future__ import annotations

import importlib.metadata


def version() -> str:
    """Return the installed version as text, such as 0.2.0."""
    return importlib.metadata.version("symseed")
