"""Runs by name: a folder, `latest`, or the beginning of a name. It loads nothing slow, as completion uses it."""

from __future__ import annotations

import os
import re
import shlex
import stat
import time
from pathlib import Path

from symseed.errors import DataError, shown

PARENT = Path("outputs")
"""Folder in which runs are made and sought by default."""
LATEST = "latest"
_FILES = ("config.toml", "data.safetensors", "events.jsonl", "front.csv")
"""Files of a run: a folder with one of them is a run, perhaps a damaged one."""
_STAMP = re.compile(r"\d{8}-\d{6}")


def newest_first(parent: Path) -> list[Path]:
    """Return the folders of runs in a folder, damaged ones too; links are left out.

    Raises:
        OSError: if the folder cannot be read.
    """
    with os.scandir(parent) as entries:
        folders = [parent / entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    runs = (folder for folder in folders if not folder.name.startswith(".") and _written(folder) is not None)
    return sorted(runs, key=_age, reverse=True)


def find(text: str) -> Path:
    """Return the folder of the run that a user names.

    Args:
        text: a folder; `latest`, the newest run in `outputs`; the beginning of the name of one of those; or either of
            the two after another folder, such as `fits/latest`.

    Raises:
        DataError: if there is no such run, or several.
    """
    path = Path(text)
    if text != LATEST and os.path.lexists(path):
        return path
    parent, name = (path.parent, path.name) if path.name != text else (PARENT, text)
    try:
        runs = newest_first(parent)
    except OSError:
        runs = []
    found = runs[:1] if name == LATEST else [run for run in runs if name and run.name.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"`{run.name}`" for run in found[:4])
        raise DataError(
            f"`{shown(text)}` must be the beginning of one run's name, but {len(found)} runs in `{parent}` begin so: "
            f"{names}{', ...' if len(found) > 4 else ''}. Give more of the name."
        )
    raise DataError(
        f"`{shown(text)}` must be the folder of a run, `{LATEST}`, or the beginning of a run's name in `{parent}`, but "
        f"there is none. `symseed runs` lists the runs."
    )


def typed(folder: Path) -> str:
    """Return a short name of a run that a user may type."""
    try:
        is_latest = folder.parent == PARENT and newest_first(PARENT)[:1] == [folder]
    except OSError:
        is_latest = False
    return LATEST if is_latest else shlex.quote(str(folder))


def _written(folder: Path) -> int | None:
    """Time when the first file of a run was written, in nanoseconds; None if there is no file."""
    for name in _FILES:
        try:
            found = (folder / name).lstat()
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):
            return found.st_mtime_ns
    return None


def _age(folder: Path) -> tuple[str, int, str]:
    """Sort key by age: runs of the same second by the time of their settings file, which never changes."""
    written = _written(folder) or 0
    match = _STAMP.match(folder.name)
    stamp = match[0] if match else time.strftime("%Y%m%d-%H%M%S", time.localtime(written / 1e9))
    return stamp, written, folder.name
