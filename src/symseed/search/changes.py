"""Settings of a search by name, such as `policy.learning_rate`: the fields of the settings' dataclasses, and no others.

A name is the way to a field through `SearchSettings`. Types come from the annotations of the fields, and bounds from
the checks of their classes. The settings of a policy of two parts are those of its `learner`, the part that learns.
"""

from __future__ import annotations

import enum
import functools
import numbers
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from symseed.completion.completer import CompletionSettings
from symseed.errors import SettingsError, cut, did_you_mean
from symseed.search.evolution import EvolutionSettings
from symseed.search.policy import PolicySettings
from symseed.search.search import SearchSettings
from symseed.search.training import CrossEntropyTrainer, QueueTrainer, RiskSeekingTrainer, VanillaTrainer

TRAINERS: Mapping[str, type] = types.MappingProxyType(
    {
        "queue": QueueTrainer,
        "risk-seeking": RiskSeekingTrainer,
        "vanilla": VanillaTrainer,
        "cross-entropy": CrossEntropyTrainer,
    }
)
"""The trainers, by the names that `trainer` may have."""

_PARTS: Mapping[str, type] = types.MappingProxyType(
    {"policy": PolicySettings, "evolution": EvolutionSettings, "completion": CompletionSettings}
)
"""The parts that a search may lack, and the default settings of each, used if it is set to true."""


def flattened(changes: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return settings by dotted names; they may be given so, or as mappings of mappings.

    Raises:
        SettingsError: if a setting is given twice.
    """
    out: dict[str, Any] = {}
    for name, value in changes.items():
        whole = f"{path}{name}"
        for key, part in (flattened(value, f"{whole}.") if isinstance(value, Mapping) else {whole: value}).items():
            if key in out:
                raise SettingsError(f"`{key}` must be given once, but it is given twice.")
            out[key] = part
    return out


def values(settings: SearchSettings) -> dict[str, Any]:
    """Return all settings of a search by name, in words and numbers."""
    return _values(settings, "")


def _values(settings: Any, path: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for field in fields(settings):
        name, value = f"{path}{field.name}", getattr(settings, field.name)
        if name == "trainer":
            out[name] = next((key for key, kind in TRAINERS.items() if kind is type(value)), type(value).__name__)
        elif name in _PARTS:
            out[name] = value is not None
        if is_dataclass(value):
            out |= _values(getattr(value, "learner", value), f"{name}.")
        elif name not in out:
            out[name] = value.value if isinstance(value, enum.Enum) else value
    return out


@functools.cache
def names() -> tuple[str, ...]:
    """Return the names of all settings, those of every trainer and part included."""
    whole = SearchSettings(completion=CompletionSettings())
    every = [values(replace(whole, trainer=kind())) for kind in TRAINERS.values()]
    return tuple(dict.fromkeys(name for some in every for name in some))


def is_near(name: str) -> bool:
    """Return whether a name is that of a setting, looks like one, or is the last part of one."""
    return "." in name or any(name == known.rpartition(".")[2] for known in names())


def check_names(changes: Iterable[str]) -> None:
    """Refuse names that no search has.

    Raises:
        SettingsError: naming the setting that was probably meant.
    """
    for name in changes:
        if name not in names():
            raise SettingsError(f"There is no method setting `{name}`.{_meant(name)}")


def _meant(name: str) -> str:
    last = str(name).rpartition(".")[2]
    same = [known for known in names() if known.rpartition(".")[2] == last]
    if same:
        return f" Did you mean {' or '.join(f'`{known}`' for known in same)}?"
    return did_you_mean(name, names()) or f" The method settings are {', '.join(names())}."


def has_part(settings: SearchSettings, name: str) -> bool:
    """Return whether a search has the part that a setting belongs to."""
    head, dot, _ = name.partition(".")
    return not dot or getattr(settings, head) is not None


def changed(settings: SearchSettings, changes: Mapping[str, Any]) -> SearchSettings:
    """Return settings with other values, by dotted names.

    Args:
        changes: `policy`, `evolution` and `completion` may be true or false, `trainer` is a name of `TRAINERS`.

    Raises:
        SettingsError: if a name is unknown, a value is out of range, or the search lacks the part that it belongs to.
    """
    check_names(changes)
    switches = {
        name: _switched(settings, name, value) for name, value in changes.items() if name == "trainer" or name in _PARTS
    }
    rest = {name: value for name, value in changes.items() if name not in switches}
    for name in rest:
        head, dot, _ = name.partition(".")
        if dot and switches.get(head, getattr(settings, head)) is None:
            raise SettingsError(
                f"`{name}` has no effect, because the search has no {head}. Leave it out, or choose another method."
            )
    out = _replaced(settings, rest, "", switches)
    assert isinstance(out, SearchSettings), "only its fields were replaced"
    return out


def _switched(settings: SearchSettings, name: str, value: Any) -> Any:
    current = getattr(settings, name)
    if name == "trainer":
        if value not in TRAINERS:
            raise SettingsError(f"`trainer` must be one of {', '.join(TRAINERS)}, but it is {cut(value)}.")
        kind = TRAINERS[value]
        return current if type(current) is kind else kind(entropy=current.entropy)
    if not isinstance(value, bool):
        raise SettingsError(f"`{name}` must be true or false, but it is {cut(value)}.")
    return (current or _PARTS[name]()) if value else None


def _replaced(settings: Any, changes: Mapping[str, Any], path: str, parts: Mapping[str, Any]) -> Any:
    """A dataclass with other values of its fields, and of the fields below them; `parts` are whole new fields."""
    own = [field.name for field in fields(settings)]
    hints = typing.get_type_hints(type(settings))
    direct = dict(parts)
    below: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        head, dot, rest = name.partition(".")
        if head not in own:
            raise SettingsError(
                f"`{path}{name}` has no effect, because the {path.rstrip('.')} is a {type(settings).__name__}, whose "
                f"settings are {', '.join(f'{path}{field}' for field in own)}."
            )
        if dot:
            below.setdefault(head, {})[rest] = value
        else:
            direct[head] = _converted(value, hints[head], f"{path}{head}")
    for head, some in below.items():
        part = direct.get(head, getattr(settings, head))
        if hasattr(part, "learner"):
            direct[head] = replace(part, learner=_replaced(part.learner, some, f"{path}{head}.", {}))
        else:
            direct[head] = _replaced(part, some, f"{path}{head}.", {})
    return replace(settings, **direct)


def _converted(value: Any, hint: Any, name: str) -> Any:
    """A value of the type of a field; text stands for None and for members of an enumeration."""
    kinds = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    if type(None) in kinds and (value is None or value == "none"):
        return None
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            text = "none" if value is None else value  # as text, "none" stands for None everywhere
            found = [member for member in kind if text in (member, member.value)]
            if found:
                return found[0]
        elif typing.get_origin(kind) is tuple and isinstance(value, (list, tuple)):
            return tuple(_converted(part, typing.get_args(kind)[0], name) for part in value)
        elif isinstance(value, bool):
            if kind is bool:
                return value
        elif kind is int and isinstance(value, numbers.Integral):
            return int(value)
        elif kind is float and isinstance(value, numbers.Real):
            return float(value)
    raise SettingsError(f"`{name}` must be {' or '.join(map(_described, kinds))}, but it is {cut(value)}.")


def _described(kind: Any) -> str:
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return f"one of {', '.join(str(member.value) for member in kind)}"
    words = {int: "a whole number", float: "a number", bool: "true or false", type(None): "none"}
    return words.get(kind, "a list of numbers")
