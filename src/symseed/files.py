"""Safe files: written completely or not at all, or line by line, by one process at a time.

A folder may come from somebody else, so no link in it is followed, in reading or in writing: it could lead to any file
of the user. Anything but a regular file (a pipe, a device) is refused, and so is a file that is too large.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import tomli_w

from symseed.errors import DataError
from symseed.fields import check_plain

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_PARTIAL = ".partial"
_OLD_SECONDS = 3_600.0
"""Age at which a folder that was begun counts as left: chosen by hand."""


def state(path: Path) -> tuple[int, int, int] | None:
    """Return what changes whenever a file does; None if there is none."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def read(path: Path, most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes.

    Raises:
        OSError: if it cannot be read, is larger, or is not a regular file (a link, pipe, device or folder).
    """
    # Without O_NONBLOCK, opening a pipe would wait for a writer.
    handle = os.open(path, os.O_RDONLY | _NO_LINKS | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        size = _plain(handle, path).st_size
        if size > most:
            raise OSError(f"`{path.name}` has {size:,} bytes, but may have at most {most:,}")
        return file.read(size)


def replace(path: Path, content: bytes) -> None:
    """Write a file atomically: the old content stays until the new content is on the disk.

    A link of that name is replaced; the file that it leads to is not changed.

    Raises:
        OSError: if it cannot be written; no partial file remains.
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


def make_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Make a folder atomically: there is none of this name until `fill` has written its files.

    What makers that were killed more than an hour ago left beside it is removed.

    Raises:
        OSError: if it cannot be made; nothing of it remains.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f".*{_PARTIAL}"):
        with contextlib.suppress(OSError):
            if time.time() - left.lstat().st_mtime > _OLD_SECONDS:
                shutil.rmtree(left)
    temporary = path.with_name(f".{path.name}{_PARTIAL}")
    try:
        temporary.mkdir()
        fill(temporary)
        temporary.rename(path)
        _sync_folder(path.parent)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        remove_folder(path)
        raise


def remove_folder(path: Path) -> None:
    """Remove a folder as far as possible: first its name, so that no half of it is met."""
    hidden = path.with_name(f".{path.name}{_PARTIAL}")
    with contextlib.suppress(OSError):
        path.rename(hidden)
        shutil.rmtree(hidden, ignore_errors=True)


def remove_partial(folder: Path) -> None:
    """Remove the partial files of processes that were killed."""
    for path in folder.glob(f".*{_PARTIAL}"):
        with contextlib.suppress(OSError):
            path.unlink()


def check_folder(path: Path) -> None:
    """Check that a path is a folder, and not a link to one.

    Raises:
        OSError: if it is not.
    """
    if not stat.S_ISDIR(path.lstat().st_mode):
        raise OSError(f"`{path.name}` must be a folder, and not a link to one")


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
    """Return valid TOML; lone surrogates, which UTF-8 cannot encode, become question marks."""
    return tomli_w.dumps(values).encode("utf-8", "replace").decode()


def toml_values(text: str) -> dict[str, Any]:
    """Return the values of a text in TOML.

    Raises:
        ValueError: if it is not TOML, or is nested too deeply.
    """
    try:
        values: dict[str, Any] = check_plain(tomllib.loads(text))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return values


def json_value(content: str | bytes) -> Any:
    """Return the value of a text in JSON.

    Raises:
        ValueError: if it is not JSON, or is nested too deeply.
    """
    try:
        return check_plain(json.loads(content))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def toml_value(text: str) -> Any:
    """Return one value in TOML; a text that is not TOML is returned as text."""
    try:
        return toml_values(f"value = {text}")["value"]
    except ValueError:
        return text


class Lines:
    """A file that lines of JSON are appended to, locked against other writers while it is open."""

    def __init__(self, path: Path) -> None:
        """Open and lock the file. A line that is incomplete, because its writer was killed, is ended.

        Raises:
            DataError: if another process is writing to it.
            OSError: if it cannot be written, is a link, or has a second hard link.
        """
        self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _NO_LINKS, 0o666), "a+b")
        try:
            if _plain(self._file.fileno(), path).st_nlink > 1:
                raise OSError(
                    f"`{path.name}` must have no other hard link, but it has one. Copy the folder, and use the copy"
                )
            _lock(self._file, path)
        except (DataError, OSError):
            self._file.close()
            raise
        if self._file.tell() and not _ends_with_newline(self._file):
            self._file.write(b"\n")

    def append(self, values: Mapping[str, Any]) -> None:
        """Write a line; return when it is on the disk."""
        self._file.write(json_text(values).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def is_at(self, path: Path) -> bool:
        """Return whether the path still leads to this file."""
        return path.exists() and os.path.samestat(os.fstat(self._file.fileno()), path.stat())

    def close(self) -> None:
        """Close the file, and release its lock; what could not be written was said when it was appended."""
        with contextlib.suppress(OSError):
            self._file.close()


def read_lines(content: bytes) -> Iterator[Any]:
    """Yield the values of lines of JSON; a line that is not JSON, such as an incomplete one, is skipped."""
    for line in content.splitlines():
        try:
            yield json_value(line.decode(errors="replace"))
        except ValueError:
            continue


def _plain(handle: int, path: Path) -> os.stat_result:
    """Return the status of an open file, which must be a regular file."""
    found = os.fstat(handle)
    # Some systems cannot refuse links when they open a file; links are found here.
    if not stat.S_ISREG(found.st_mode) or stat.S_ISLNK(path.lstat().st_mode):
        raise OSError(f"`{path.name}` must be a regular file, and not a link, pipe or device")
    return found


def _lock(file: IO[bytes], path: Path) -> None:
    """Lock the file against other writers until it is closed, if the system has such locks."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise DataError(f"Another process is writing to `{path}`. Wait for it, or use another folder.") from error


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock of `Lines` on a file; False where the system has no such locks.

    Raises:
        OSError: if the file cannot be opened.
    """
    try:
        import fcntl
    except ImportError:
        return False
    handle = os.open(path, os.O_RDONLY | _NO_LINKS | getattr(os, "O_NONBLOCK", 0))
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _ends_with_newline(file: IO[bytes]) -> bool:
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _sync_folder(folder: Path) -> None:
    """Write the file's name to the disk too, if the system can open folders."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
