"""Files that survive: whole or not at all, line by line, and one writer at a time."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from symseed.errors import DataError


def replace(path: Path, content: bytes) -> None:
    """Write a file such that its old content stays until the new one is on the disk."""
    temporary = path.with_name(f"{path.name}.partial")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    _sync_folder(path.parent)


def digest(content: bytes) -> str:
    """Return the SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


def json_text(values: Any) -> str:
    """Return JSON that every reader takes: what is no finite number is null."""
    return json.dumps(_with_nulls(values), allow_nan=False)


def _with_nulls(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {name: _with_nulls(part) for name, part in value.items()}
    return [_with_nulls(part) for part in value] if isinstance(value, (list, tuple)) else value


class Lines:
    """A file that lines of JSON are appended to, locked against other writers while it is open."""

    def __init__(self, path: Path) -> None:
        """Open it; what was torn when a process died stays a line of its own.

        Raises:
            DataError: where another process is writing to it.
        """
        self._file = path.open("a+b")
        try:
            _lock(self._file, path)
        except DataError:
            self._file.close()
            raise
        if self._file.tell() and not _ends_with_newline(self._file):
            self._file.write(b"\n")

    def append(self, values: Mapping[str, Any]) -> None:
        """Write a line, and return when it is on the disk."""
        self._file.write(json_text(values).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def is_at(self, path: Path) -> bool:
        """Whether the path still leads to this file."""
        return path.exists() and os.path.samestat(os.fstat(self._file.fileno()), path.stat())

    def close(self) -> None:
        """Close it, and let others write."""
        self._file.close()


def read_lines(content: bytes) -> Iterator[Any]:
    """Give the values of lines of JSON; a line that was torn is left out."""
    for line in content.decode(errors="replace").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def _lock(file: IO[bytes], path: Path) -> None:
    """Keep other writers out until the file is closed, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise DataError(f"Another process is writing to `{path}`. Wait for it, or use another folder.") from error


def _ends_with_newline(file: IO[bytes]) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _sync_folder(folder: Path) -> None:
    """Have the file's name on the disk too, where the system lets folders be opened."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
