"""Settings as text: read from TOML files and NAME=VALUE, written as TOML. Unknown names are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symseed import files
from symseed.errors import SettingsError, cut
from symseed.regressor.settings import NAMES, Settings, suggestion
from symseed.search import changes as method_changes

_FUNCTION = "a function of your own: "


def to_values(settings: Settings) -> dict[str, Any]:
    """Return settings as values that TOML can hold: "none" for None, and a note for a function.

    A callback and an executor become "none": a run can be repeated and resumed without them.
    """
    return {name: _plain(None if name in ("callback", "executor") else getattr(settings, name)) for name in NAMES}


def from_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values read from a file, with None for "none".

    Raises:
        SettingsError: if a value stands for a function, which no file can hold.
    """
    for name, value in values.items():
        if is_function(value):
            found = value[-1] if isinstance(value, list) else value
            raise SettingsError(f"`{name}` was {found}, which no file can hold. Give it again, from Python.")
    return {name: None if value == "none" else value for name, value in values.items()}


def is_function(value: Any) -> bool:
    """Return whether a value of a file stands for a function, or holds one."""
    parts = value if isinstance(value, list) else [value]
    return any(isinstance(part, str) and part.startswith(_FUNCTION) for part in parts)


def read_changes(changes: Sequence[str]) -> dict[str, Any]:
    """Read NAME=VALUE; a value that is not TOML is taken as text.

    Names of method settings, such as policy.learning_rate, are put into `method_settings`.
    """
    out: dict[str, Any] = {}
    of_method: dict[str, Any] = {}
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise SettingsError(f"`--set` must be NAME=VALUE, but it is `{change}`.")
        is_own = name in NAMES
        if not is_own and not method_changes.is_near(name):
            raise SettingsError(f"There is no setting `{name}`.{suggestion(name)}")
        if not is_own:
            method_changes.check_names([name])
        (out if is_own else of_method)[name] = files.toml_value(text)
    return merged(from_values(out), {"method_settings": from_values(of_method)} if of_method else {})


def merged(values: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings, with later ones in place of earlier ones; method settings are replaced one by one."""
    out = {**values, **later}
    both = [given["method_settings"] for given in (values, later) if given.get("method_settings")]
    if len(both) == 2 and all(isinstance(given, Mapping) for given in both):
        first, second = map(method_changes.flattened, both)
        out["method_settings"] = {**first, **second}
    return out


def read_file(path: str) -> dict[str, Any]:
    """Read settings from a TOML file, or those of a run's config.toml."""
    try:
        content = files.toml_values(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"`--config` must be a TOML file of settings, but `{path}` cannot be read: {error}"
        ) from error
    settings = content.get("settings", content)
    if not isinstance(settings, dict):
        raise SettingsError(f"`{path}` must hold settings, but `settings` in it is {cut(settings)}.")
    for name in settings:
        if name not in NAMES:
            raise SettingsError(f"`{path}` has `{name}`, which is not a setting.{suggestion(name)}")
    return from_values(settings)


def _plain(value: Any) -> Any:
    if value is None:
        return "none"
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    if isinstance(value, Path):
        return str(value)
    return f"{_FUNCTION}{getattr(value, '__name__', type(value).__name__)}"
