"""Files that survive: whole or not at all, line by line, and one writer at a time.

A folder may come from somebody else. So no link in it is ever followed, in reading or in writing: it could lead to any
file of the user's. What is not a plain file (a pipe, a device) is refused, and so is one that is too large.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import tomli_w

from symseed.errors import DataError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_PARTIAL = ".partial"


def read(path: Path, most: int) -> bytes:
    """Return what is in a plain file of at most so many bytes.

    Raises:
        OSError: where it cannot be read, or is something else: a link, a pipe, a device, a folder, a larger file.
    """
    # A pipe that nobody writes to would be waited for.
    handle = os.open(path, os.O_RDONLY | _NO_LINKS | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        size = _plain(handle, path).st_size
        if size > most:
            raise OSError(f"`{path.name}` has {size:,} bytes, and may have {most:,} at most")
        return file.read(size)


def replace(path: Path, content: bytes) -> None:
    """Write a file such that its old content stays until the new one is on the disk.

    A link of that name is replaced, and what it leads to stays as it is.

    Raises:
        OSError: where it cannot be written; then nothing is left behind.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}{_PARTIAL}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINKS, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _sync_folder(path.parent)


def remove_partial(folder: Path) -> None:
    """Remove what writers that were killed have left."""
    for path in folder.glob(f".*{_PARTIAL}"):
        with contextlib.suppress(OSError):
            path.unlink()


def check_folder(path: Path) -> None:
    """Check that a path is a folder, and no link to one.

    Raises:
        OSError: where it is something else.
    """
    if not stat.S_ISDIR(path.lstat().st_mode):
        raise OSError(f"`{path.name}` must be a folder, and no link to one")


def digest(content: bytes) -> str:
    """Return the SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


def json_text(values: Any) -> str:
    """Return JSON that every reader accepts: numbers that are not finite become null."""
    return json.dumps(_with_nulls(values), allow_nan=False)


def _with_nulls(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {name: _with_nulls(part) for name, part in value.items()}
    return [_with_nulls(part) for part in value] if isinstance(value, (list, tuple)) else value


def toml_text(values: Mapping[str, Any]) -> str:
    """Return TOML that every reader takes: halves of pairs, which no file can hold, are question marks."""
    return tomli_w.dumps(values).encode("utf-8", "replace").decode()


def toml_values(text: str) -> dict[str, Any]:
    """Return what a text in TOML says.

    Raises:
        ValueError: where it is not TOML.
    """
    return tomllib.loads(text)


class Lines:
    """A file that lines of JSON are appended to, locked against other writers while it is open."""

    def __init__(self, path: Path) -> None:
        """Open it; what was torn when a process died stays a line of its own.

        Raises:
            DataError: where another process is writing to it.
            OSError: where it cannot be written, or is a link, or has a second name elsewhere.
        """
        self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _NO_LINKS, 0o666), "a+b")
        try:
            if _plain(self._file.fileno(), path).st_nlink > 1:
                raise OSError(
                    f"`{path.name}` has another name elsewhere, a hard link. Copy the folder, and use the copy"
                )
            _lock(self._file, path)
        except (DataError, OSError):
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


def _plain(handle: int, path: Path) -> os.stat_result:
    """Return what the system says of an open file, which must be a plain one."""
    found = os.fstat(handle)
    # Where the system cannot refuse links as it opens a file, they are seen here.
    if not stat.S_ISREG(found.st_mode) or stat.S_ISLNK(path.lstat().st_mode):
        raise OSError(f"`{path.name}` must be a plain file, and no link, pipe or device")
    return found


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
