"""The runs of a folder, each known by an id that says nothing of where it lies."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

from symseed import files
from symseed.errors import DataError
from symseed.studio.reading import RunReader

MOST_RUNS = 300
"""Most runs that the page lists, the newest: chosen by hand."""
_MOST_OPEN = 4
"""Most runs whose data are kept in memory: chosen by hand."""

NewestFirst = Callable[[Path], list[Path]]
"""Returns the runs in a folder, the newest first."""


class Runs:
    """The runs of a folder; the folder is looked through again at each question."""

    def __init__(self, parent: Path, newest_first: NewestFirst) -> None:
        self._parent, self._newest_first = parent, newest_first
        self._readers: dict[str, RunReader] = {}
        self._recent: list[str] = []
        self._summaries: dict[str, tuple[str, str]] = {}
        self._lock = threading.Lock()

    def readers(self) -> dict[str, RunReader]:
        """Return the newest runs by id, in order."""
        try:
            folders = self._newest_first(self._parent)[:MOST_RUNS]
        except OSError:
            folders = []
        with self._lock:
            own = {_id(folder): folder for folder in folders}
            self._readers = {name: self._readers.get(name) or RunReader(folder) for name, folder in own.items()}
            return dict(self._readers)

    def find(self, own: str) -> RunReader:
        """Return a run.

        Raises:
            DataError: if there is none of that id.
        """
        found = self._readers.get(own) or self.readers().get(own)
        if found is None:
            raise DataError("There is no such run, or it was removed.")
        with self._lock:
            self._recent = [own, *(other for other in self._recent if other != own)]
            for other in self._recent[_MOST_OPEN:]:
                if other in self._readers:
                    self._readers[other].forget()
            self._recent = self._recent[:_MOST_OPEN]
        return found

    def version(self) -> str:
        """Return a text that differs whenever a line of the list does."""
        return files.digest(repr([(own, one.version) for own, one in self.readers().items()]).encode())[:16]

    def listed(self) -> str:
        """Return the list of runs as JSON; a line is read again only if its run has changed."""
        lines = []
        for own, reader in self.readers().items():
            version = reader.version
            if self._summaries.get(own, ("", ""))[0] != version:
                self._summaries[own] = version, files.json_text({"id": own} | reader.summary())
            lines.append(self._summaries[own][1])
        return f"[{','.join(lines)}]"

    def id_of(self, reader: RunReader) -> str:
        """Return the id of a run."""
        return _id(reader.folder)


def _id(folder: Path) -> str:
    """The same in every server, so that a page finds its run again."""
    return files.digest(os.fsencode(folder.name))[:24]
