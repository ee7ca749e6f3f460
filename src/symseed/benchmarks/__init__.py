"""Benchmark problems by name: both tables of the paper, variants of its released code, classic sets, and physics.

`catalogue/` holds the problems, one file for each set. A name that ends in `/code` is a problem as in the authors'
released code, if that differs from the paper. Problems whose names begin with `unseen:` are drawn (`unseen`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from symseed.benchmarks import catalogue, unseen
from symseed.benchmarks.problem import Problem
from symseed.errors import SettingsError, did_you_mean

__all__ = ["SETS", "Problem", "get", "names", "resolve"]

if TYPE_CHECKING:
    SETS: Mapping[str, tuple[str, ...]]


def __getattr__(name: str) -> Mapping[str, tuple[str, ...]]:
    """Load `SETS`, the names of problems by set, at its first use: it needs the catalogue."""
    if name == "SETS":
        return catalogue.shipped().sets
    raise AttributeError(f"module 'symseed.benchmarks' has no attribute {name!r}")


def names() -> tuple[str, ...]:
    """Return the names of all problems of the catalogue."""
    return tuple(catalogue.shipped().problems)


def get(name: str) -> Problem:
    """Return the problem of that name."""
    if name.startswith(unseen.PREFIX):
        found = unseen.resolve(name)
        if len(found) > 1:
            raise SettingsError(f"`{name}` must name one problem, but it names {len(found)}. Add a number, as in -17.")
        return found[0]
    problems = catalogue.shipped().problems
    if name not in problems:
        raise SettingsError(f"There is no problem `{name}`.{did_you_mean(name, problems)}")
    return problems[name]


def resolve(name: str) -> tuple[Problem, ...]:
    """Return the problems of a set, or the one problem of that name."""
    if name.startswith(unseen.PREFIX):
        return unseen.resolve(name)
    shipped = catalogue.shipped()
    if name in shipped.sets:
        return tuple(shipped.problems[member] for member in shipped.sets[name])
    if name in shipped.problems:
        return (shipped.problems[name],)
    raise SettingsError(
        f"There is no set or problem `{name}`.{did_you_mean(name, [*shipped.sets, *shipped.problems])} "
        f"The sets are {', '.join(shipped.sets)}."
    )
