"""Stores of benchmark runs in a folder: their tables and figures, made by the commands of `symseed bench`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symseed import files
from symseed.benchmarks.plots import PLOTS
from symseed.benchmarks.store import Store
from symseed.errors import DataError
from symseed.methods import METHODS

_MOST_STORES = 100
"""Most stores that the page lists: chosen by hand."""
_MOST_CHOICES = 8
"""Most choices of methods whose figures are kept: chosen by hand."""
_SECONDS = 300.0
"""Longest time that a table or the figures may take: chosen by hand."""


@dataclass(slots=True)
class _Made:
    """What was made of a store in one state of its files."""

    version: str
    table: dict[str, Any] | None = None
    figures: dict[tuple[str, ...], dict[str, bytes]] = field(default_factory=dict)
    """Figures by name, of each choice of methods."""


class Stores:
    """The stores in a folder, each known by an id that says nothing of where it lies."""

    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self._made: dict[str, _Made] = {}
        self._lock = threading.Lock()  # one table or figure is made at a time

    def listed(self) -> list[dict[str, str]]:
        """Return the id and the name of each store."""
        return [{"id": own, "name": folder.name} for own, folder in self._folders().items()]

    def version(self) -> str:
        """Return a text that differs whenever the list, or the records of a store, do."""
        return repr([(own, _version(folder)) for own, folder in self._folders().items()])

    def table(self, own: str) -> dict[str, Any]:
        """Return the recovery rates of a store, and the names of its figures.

        Raises:
            DataError: if there is no such store, or it is damaged.
        """
        with self._lock:
            folder, made = self._at(own)
            if made.table is None:
                rates = json.loads(_run("table", "--json", "--", str(folder)))
                methods = [name for name in METHODS if name in rates["problems"]]
                made.table = {
                    "name": folder.name,
                    **rates,
                    "figures": [plot.name for plot in PLOTS],
                    "methods": methods,
                }
            return made.table

    def figure(self, own: str, name: str, shown: tuple[str, ...]) -> bytes:
        """Return a figure of a store as SVG.

        Args:
            own: id of the store.
            name: name of the figure.
            shown: the methods in it; empty: all.

        Raises:
            DataError: if there is no such store or method, or it lacks the records that the figure needs.
        """
        if not set(shown) <= set(METHODS):
            raise DataError("There is no such method. `symseed methods` lists them.")
        needs = {plot.name: plot.needs for plot in PLOTS}
        if name not in needs:
            raise DataError(f"The figures of a store are {', '.join(needs)}.")
        with self._lock:
            folder, made = self._at(own)
            if shown not in made.figures:
                with tempfile.TemporaryDirectory() as out:
                    methods = [f"--method={method}" for method in shown]
                    _run("plot", f"--output={out}", *methods, "--", str(folder))
                    drawn = {path.stem: path.read_bytes() for path in Path(out).glob("*.svg")}
                made.figures = {**dict(list(made.figures.items())[-_MOST_CHOICES:]), shown: drawn}
            figures = made.figures[shown]
        if name not in figures:
            raise DataError(f"This figure needs records of {needs[name]}.")
        return figures[name]

    def _at(self, own: str) -> tuple[Path, _Made]:
        folder = self._folders().get(own)
        if folder is None:
            raise DataError("There is no such store, or it was removed.")
        version = _version(folder)
        if own not in self._made or self._made[own].version != version:
            self._made[own] = _Made(version)
        return folder, self._made[own]

    def _folders(self) -> dict[str, Path]:
        try:
            with os.scandir(self._parent) as entries:
                inner = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError:
            return {}
        found = [folder for folder in (self._parent, *(self._parent / name for name in inner)) if Store(folder).exists]
        return {files.digest(os.fsencode(folder.name))[:24]: folder for folder in found[:_MOST_STORES]}


def _version(folder: Path) -> str:
    """A text that differs whenever the files of a store do."""
    store = Store(folder)
    return repr([files.state(path) for path in (store.path, store.packed)])


def _run(*arguments: str) -> bytes:
    """What a command of `symseed bench` prints: drawing takes memory that the server need not keep."""
    try:
        done = subprocess.run(  # noqa: S603 - our own program; the paths are the server's
            [sys.executable, "-m", "symseed", "bench", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=Path(sys.executable).anchor,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DataError(f"The store has so many records that its table takes longer than {_SECONDS:g} s.") from None
    if done.returncode != 0:
        raise DataError(done.stderr.decode(errors="replace").strip().removeprefix("symseed: "))
    return done.stdout
