"""Whether time is up: what long steps ask between their parts, so that a limit in seconds holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

IsLate: TypeAlias = Callable[[], bool]
Item = TypeVar("Item")


def never() -> bool:
    """Say that there is time left: for work without a limit."""
    return False


def in_time(items: Iterable[Item], is_late: IsLate) -> Iterator[Item]:
    """Give one item after another, as long as there is time."""
    for item in items:
        if is_late():
            return
        yield item
