"""The configuration of a run, `config.toml`: every setting, the seed, and a description of the data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard

from symseed import files
from symseed.errors import DataError, SettingsError, cut
from symseed.fields import Fields
from symseed.regressor import settings_text
from symseed.regressor.checkpoints import SCHEMA
from symseed.regressor.run_log import now
from symseed.regressor.settings import LIMITS, NAMES, Settings
from symseed.version import version

FILE = "config.toml"
CHANGEABLE = (*LIMITS, "model_selection", "n_jobs", "device", "executor", "verbosity", "callback", "network")
"""Settings that may change when a run is resumed: the file of the network may have moved, but it must be the same one.
"""

_MOST_BYTES = 2**28
"""Most bytes of a configuration that are read: a table of many columns has a long list of names."""


def to_text(
    settings: Settings, seed: int, known: Sequence[Sequence[str]], described: Mapping[str, Any], network: str
) -> str:
    """Return the content of the file; `network` is the checksum of the network that reads the data, or empty."""
    values = {
        "schema": SCHEMA,
        "version": version(),
        "created": now(),
        "seed": seed,
        "network": network,
        "known": [list(formulas) for formulas in known],
        "data": dict(described),
        "settings": settings_text.to_values(settings),
    }
    return f"# A run of symseed: every setting, with its value.\n{files.toml_text(values)}"


def read(path: Path) -> dict[str, Any]:
    """Return the values of the file.

    Raises:
        DataError: if it cannot be read, or has another version of the format.
    """
    try:
        content = files.toml_values(files.read(path, _MOST_BYTES).decode())
    except (OSError, ValueError) as error:
        raise DataError(
            f"`{path.parent}` must be the folder of a run, but its {FILE} cannot be read: {error}"
        ) from error
    if content.get("schema") != SCHEMA:
        raise DataError(
            f"`{path}` must have version {SCHEMA} of the format of runs, but it has {cut(content.get('schema'))}. "
            f"Use the symseed that made it ({content.get('version', 'unknown')})."
        )
    try:
        _check(Fields(content, "it"))
    except ValueError as error:
        raise DataError(
            f"`{path}` must have every key of a run, but it was changed or damaged: {error}. Restore the file, or "
            "start a new fit."
        ) from error
    return content


def _check(values: Fields) -> None:
    """Check the types of all values but the settings, which have checks of their own.

    Raises:
        ValueError: if one is missing, or of another type.
    """
    values.integer("seed", most=2**32 - 1)
    values.fields("settings")
    if values.has("network"):  # runs of earlier versions had none
        values.text("network")
    data = values.fields("data")
    for name in ("source", "sha256"):
        data.text(name)
    for name in ("has_labels", "is_multiple"):
        data.flag(name)
    data.integer("rows", least=1)
    columns, targets = len(data.texts("names")), len(data.texts("targets"))
    if not targets:
        raise ValueError("`targets` must name a target")
    known, units = values.values.get("known"), data.values.get("units")
    if not _are_lists(known) or len(known) != targets:
        raise ValueError("`known` must be a list of formulas for each target")
    if not _are_lists(units) or [len(part) for part in units] not in ([], [columns, targets]):
        raise ValueError("`units` must have a unit for each column and each target")
    categories = data.values.get("categories", [])
    for pair in categories if isinstance(categories, list) else [categories]:
        is_pair = isinstance(pair, list) and len(pair) == 2
        if not is_pair or not isinstance(pair[0], str) or not _are_lists([pair[1]]):
            raise ValueError("`categories` must have a column and its values, each a text")


def _are_lists(value: Any) -> TypeGuard[list[list[str]]]:
    """Whether a value is a list of lists of texts."""
    return isinstance(value, list) and all(
        isinstance(part, list) and all(isinstance(text, str) for text in part) for part in value
    )


def settings_of(given: Mapping[str, Any], changes: Mapping[str, Any], *, is_to_search: bool) -> Settings:
    """Return the settings of a run, with changes.

    Args:
        given: the values in the file.
        changes: settings of `CHANGEABLE`, and settings that were functions, which no file can hold.
        is_to_search: whether the run is to be resumed; if it is only read, a loss or an early stop that was a function
            need not be given.

    Raises:
        SettingsError: if another setting is to be changed.
    """
    for name in changes:
        if name not in CHANGEABLE and not settings_text.is_function(given.get(name)):
            raise SettingsError(
                f"`{name}` of a run cannot be changed: it would be another search. Start a new fit, or change only "
                f"{', '.join(CHANGEABLE)}."
            )
    unneeded = () if is_to_search else (*LIMITS, "loss")
    kept = {
        name: value
        for name, value in given.items()
        if name not in changes and not (name in unneeded and settings_text.is_function(value))
    }
    return Settings.of(settings_text.from_values(kept) | dict(changes))


def search_digest(settings: Settings, seed: int) -> str:
    """Return the hash of the seed and of all settings that decide what is searched."""
    values = settings_text.to_values(settings)
    decisive = {name: values[name] for name in NAMES if name not in (*CHANGEABLE, "random_state", "output_directory")}
    return files.digest(json.dumps([seed, decisive], sort_keys=True).encode())
