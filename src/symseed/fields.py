"""Values read from a file, such as JSON or TOML: each is taken by name, and its type and range are checked.

Files of a run or a store may be damaged, or come from somebody else, so nothing in them is used unchecked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from symseed.errors import cut

MOST_INTEGER = 2**63 - 1
"""The largest whole number of a file."""
_MOST_DEPTH = 50
"""Most lists within lists: five times what files of this package have. Chosen by hand."""


def check_plain(value: Any) -> Any:
    """Return a value that was read from a file, if it is not nested too deeply and its whole numbers have 64 bits.

    Raises:
        ValueError: otherwise; Python's own limits would raise errors of several kinds, anywhere later.
    """
    level = [value]
    for _ in range(_MOST_DEPTH):
        if not level:
            return value
        parts: list[Any] = []
        for one in level:
            if isinstance(one, Mapping):
                parts += one.values()
            elif isinstance(one, list):
                parts += one
            elif isinstance(one, int) and not -MOST_INTEGER <= one <= MOST_INTEGER:
                raise ValueError("a whole number in it has more than 64 bits")
        level = parts
    raise ValueError(f"it is nested more than {_MOST_DEPTH} levels deep")


class Fields:
    """The values of a table by name. Every method raises ValueError, naming the value, if it is not as it must be."""

    def __init__(self, values: Any, of: str) -> None:
        """Take values; `of` says what they belong to, such as "line 3"."""
        self._of = of
        if not isinstance(values, Mapping):
            raise ValueError(f"{of} must be a table of values by name, but it is {cut(values)}")
        self.values: Mapping[str, Any] = values

    def has(self, name: str) -> bool:
        """Return whether there is a value of that name, and it is not null."""
        return self.values.get(name) is not None

    def text(self, name: str) -> str:
        """Return a text."""
        return str(self._checked(name, "a text", lambda value: isinstance(value, str)))

    def flag(self, name: str) -> bool:
        """Return a truth value."""
        return bool(self._checked(name, "true or false", lambda value: isinstance(value, bool)))

    def integer(self, name: str, least: int = 0, most: int = MOST_INTEGER) -> int:
        """Return a whole number from `least` to `most`."""
        what = f"a whole number from {least} to {most}"
        return int(self._checked(name, what, lambda value: _is_integer(value) and least <= value <= most))

    def number(self, name: str) -> float:
        """Return a number, which is not NaN and may be infinite."""
        return float(self._checked(name, "a number", lambda value: _is_number(value) and not math.isnan(value)))

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(self._checked(name, "a list of texts", _are_texts))

    def fields(self, name: str) -> Fields:
        """Return a table within this one."""
        return Fields(self._value(name), f"`{name}` of {self._of}")

    def several(self, name: str) -> list[Fields]:
        """Return a list of tables within this one."""
        values = self._checked(name, "a list", lambda value: isinstance(value, list))
        return [Fields(value, f"`{name}` of {self._of}") for value in values]

    def _checked(self, name: str, what: str, is_right: Callable[[Any], bool]) -> Any:
        value = self._value(name)
        if not is_right(value):
            raise ValueError(f"`{name}` of {self._of} must be {what}, but it is {cut(value)}")
        return value

    def _value(self, name: str) -> Any:
        if name not in self.values:
            raise ValueError(f"{self._of} must have `{name}`, but it has not")
        return self.values[name]


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or _is_integer(value)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, str) for part in value)
