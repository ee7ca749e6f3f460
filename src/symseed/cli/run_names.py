"""Runs by name: a folder, `latest`, or the beginning of a name. It loads nothing that takes long, for shells ask it."""

from __future__ import annotations

import os
import re
import shlex
import stat
import time
from pathlib import Path

from symseed.errors import DataError, shown

PARENT = Path("outputs")
"""Where runs are made and looked for unless another folder is named."""
LATEST = "latest"
_FILES = ("config.toml", "data.safetensors", "events.jsonl", "front.csv")
"""Files of which each makes a folder a run, whole or damaged."""
_STAMP = re.compile(r"\d{8}-\d{6}")


def newest_first(parent: Path) -> list[Path]:
    """Return the folders of runs in a folder, damaged ones too; links are left out.

    Raises:
        OSError: if the folder cannot be read.
    """
    with os.scandir(parent) as entries:
        folders = [parent / entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    return sorted((folder for folder in folders if _written(folder) is not None), key=_age, reverse=True)


def find(text: str) -> Path:
    """Return the run's folder that a user names.

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
    """Return what a user may type for a run."""
    try:
        is_latest = folder.parent == PARENT and newest_first(PARENT)[:1] == [folder]
    except OSError:
        is_latest = False
    return LATEST if is_latest else shlex.quote(str(folder))


def _written(folder: Path) -> int | None:
    """When the first file of a run was written, in nanoseconds; None if there is none."""
    for name in _FILES:
        try:
            found = (folder / name).lstat()
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):
            return found.st_mtime_ns
    return None


def _age(folder: Path) -> tuple[str, int, str]:
    """Order of making: runs of one second by when their settings were written, as these never change."""
    written = _written(folder) or 0
    match = _STAMP.match(folder.name)
    stamp = match[0] if match else time.strftime("%Y%m%d-%H%M%S", time.localtime(written / 1e9))
    return stamp, written, folder.name
