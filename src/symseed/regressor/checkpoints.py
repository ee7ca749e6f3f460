"""Checkpoints: the last two states of a search on disk, each with a manifest that holds its hash."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from symseed import files
from symseed.errors import MALFORMED, DataError, brief
from symseed.language import Library
from symseed.portfolio import PortfolioSettings, PortfolioState, states
from symseed.regressor.policies import Policies
from symseed.version import version

SCHEMA = 1
"""Version of the file format of a run; other versions are refused."""
_MOST_MANIFEST = 2**28
"""Most bytes of a manifest that are read: far above the usual size, chosen by hand."""
_MOST_STATE = 2**30
"""Most bytes of the arrays (network weights, best formulas) that are read: far above the usual, chosen by hand."""


class Checkpoints:
    """A folder with two slots: the newest state replaces the older of the two."""

    def __init__(self, folder: Path, digest: str) -> None:
        """Take the folder, and the hash of all settings that decide what is searched."""
        self._folder, self._digest = folder, digest
        self.policies = Policies(folder.parent)
        self._slot = "a"  # slot of the next checkpoint

    def remove_partial(self) -> None:
        """Remove what processes that were killed left half-written, here and among the policies."""
        files.remove_partial(self._folder)
        self.policies.remove_partial()

    def save(self, output: int, state: PortfolioState, library: Library) -> None:
        """Write the state of the search for a target."""
        arrays, values = states.pack(state, library)
        content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
        # The manifest is written last; arrays that do not match its hash are ignored. If a write fails, the next state
        # goes to the same slot, so that the other one stays good.
        name = self._slot
        manifest = {
            "schema": SCHEMA,
            "version": version(),
            "settings": self._digest,
            "output": output,
            "sha256": files.digest(content),
            "state": values,
        }
        files.replace(self._folder / f"{name}.safetensors", content)
        files.replace(self._folder / f"{name}.json", json.dumps(manifest).encode())
        self._slot = _other(name)

    def newest(self, output: int, library: Library, settings: PortfolioSettings) -> PortfolioState | None:
        """Return the newest state of the search for a target; None if no checkpoint can be used.

        Raises:
            DataError: if a checkpoint is of another version or of other settings.
        """
        best: PortfolioState | None = None
        for name in "ab":
            state = self._at(name, output, library, settings)
            if state is not None and (best is None or state.turn > best.turn):
                best, self._slot = state, _other(name)
        return best

    def check_version(self) -> None:
        """Refuse checkpoints of another version.

        Raises:
            DataError: if there is one.
        """
        for name in "ab":
            self._manifest(name, has_any_settings=True)

    def _at(self, name: str, output: int, library: Library, settings: PortfolioSettings) -> PortfolioState | None:
        manifest = self._manifest(name)
        if manifest is None:
            return None
        try:
            if manifest["output"] != output:
                return None
            content = files.read(self._folder / f"{name}.safetensors", _MOST_STATE)
            if files.digest(content) != manifest["sha256"]:
                raise ValueError("its hash differs from that in the manifest")
            return states.unpack(load(content), manifest["state"], library, settings)
        except (OSError, SafetensorError, *MALFORMED) as error:
            self._warn_of(name, error)
            return None

    def _manifest(self, name: str, *, has_any_settings: bool = False) -> dict[str, Any] | None:
        """The manifest of a slot; None if it is missing or damaged."""
        path = self._folder / f"{name}.json"
        if not os.path.lexists(path):
            return None
        try:
            manifest: dict[str, Any] = files.json_value(files.read(path, _MOST_MANIFEST))
            kind = (manifest["schema"], manifest["version"], manifest["settings"])
        except (OSError, *MALFORMED) as error:
            self._warn_of(name, error)
            return None
        if kind[:2] != (SCHEMA, version()):
            raise DataError(
                f"The checkpoint in `{self._folder}` is from symseed {kind[1]}, but this is {version()}, which might "
                "give another answer. Use that version, or start a new fit."
            )
        if not has_any_settings and kind[2] != self._digest:
            raise DataError(
                f"The checkpoint in `{self._folder}` has other settings than config.toml, which would give another "
                "answer. Restore config.toml, or start a new fit."
            )
        return manifest

    def _warn_of(self, name: str, error: Exception) -> None:
        warnings.warn(
            brief(
                f"The checkpoint `{self._folder / name}` is damaged ({error}). The run continues from the one before "
                "it, or from the start; the answer is the same."
            ),
            RuntimeWarning,
            stacklevel=5,
        )


def _other(slot: str) -> str:
    return "b" if slot == "a" else "a"
