"""Unseen problems: drawn from `families`, and split into those for tuning and those for tests.

`unseen:tuning/Nguyen-17` is one problem, `unseen:tuning/Nguyen` the 200 of its family, `unseen:tuning/Nguyen-1..50` the
first fifty, and `unseen:tuning` all. The splits `test-1`, `test-2`, ... hold other problems. Methods are tuned with
`tuning` only; a release opens one test split, once, and `docs/unseen.md` says which are open.

Everything depends on the name of a split and a family alone. No problem is in the catalogue, or in the tuning split of
the same family if it is in a test split.
"""

from __future__ import annotations

import functools
import itertools
import re
import zlib

import numpy as np

from symseed.benchmarks import catalogue, families, rules
from symseed.benchmarks.families import FAMILIES, Draft
from symseed.benchmarks.problem import Problem
from symseed.errors import SettingsError, did_you_mean
from symseed.language.library import Library

PREFIX = "unseen:"
TUNING = "tuning"
COUNT = 200
"""Number of problems of a family in a split."""
OVERVIEW = f"unseen:tuning, unseen:test-1, ... ({COUNT} problems of each family): {', '.join(FAMILIES)}"
"""The names in one line."""

_NAME = re.compile(r"unseen:(tuning|test-[1-9]\d{0,3})(?:/([A-Za-z]+)(?:-([1-9]\d{0,3})(?:\.\.([1-9]\d{0,3}))?)?)?")
_SOURCE = "Unseen problems, drawn by symseed from a grammar like that of the set that they are named after."
_LARGEST, _SMALLEST = 1e6, 1e-6
"""Bounds of the spread of a target's values: beyond them a problem would be about arithmetic, not about its form."""
_PERMUTED = 4
"""Most variables whose order does not count when two targets are compared."""
_PLACES = 7
"""Number of points at which two targets are compared."""


def resolve(name: str) -> tuple[Problem, ...]:
    """Return the problems of a name that begins with `unseen:`."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise SettingsError(
            f"An unseen problem must be named like unseen:tuning/Nguyen-17, unseen:tuning/Nguyen-1..50, "
            f"unseen:test-1/Nguyen or unseen:tuning, but this is `{name}`."
        )
    split, family, first, last = match.groups()
    if family is None:
        return tuple(problem for each in FAMILIES for problem in _problems(split, each))
    if family not in FAMILIES:
        raise SettingsError(
            f"There is no family `{family}`.{did_you_mean(family, FAMILIES)} The families are {', '.join(FAMILIES)}."
        )
    begin, end = int(first or 1), int(last or first or COUNT)
    if not begin <= end <= COUNT:
        raise SettingsError(f"The problems of a family are numbered from 1 to {COUNT}, but this is `{name}`.")
    return _problems(split, family)[begin - 1 : end]


@functools.cache
def _problems(split: str, family: str) -> tuple[Problem, ...]:
    known = {*_of_the_catalogue(), *(() if split == TUNING else map(_identity, _problems(TUNING, family)))}
    rng = np.random.RandomState(zlib.crc32(f"{split}/{family}".encode()))
    problems: list[Problem] = []
    while len(problems) < COUNT:
        problem = _named(f"{PREFIX}{split}/{family}-{len(problems) + 1}", families.draw(family, rng))
        identity = _identity(problem)
        if identity not in known and _has_usable_data(problem):
            known.add(identity)
            problems.append(problem)
    return tuple(problems)


@functools.cache
def _of_the_catalogue() -> frozenset[tuple[int, str]]:
    problems = catalogue.shipped().problems.values()
    return frozenset(_identity(problem) for problem in problems if problem.target is not None)


def _named(name: str, draft: Draft) -> Problem:
    variables = tuple(f"x{i + 1}" for i in range(draft.variables))
    train = rules.parse(draft.train, draft.variables)
    return Problem(
        name=name,
        formula=draft.formula,
        target=catalogue.formula(draft.formula, variables, "An unseen target"),
        function=None,
        library=Library.of(catalogue.shipped_tokens()[draft.tokens], variables),
        units=None,
        train=train,
        test=rules.parse(draft.test, draft.variables) if draft.test else train,
        seed_name=name,
        note="",
        source=_SOURCE,
    )


def _has_usable_data(problem: Problem) -> bool:
    """Whether the target has a value at each sample, and the values differ but not by too much."""
    return all(
        np.isfinite(data.y).all() and _SMALLEST < float(data.deviation) < _LARGEST for data in problem.datasets()
    )


def _identity(problem: Problem) -> tuple[int, str]:
    """Return what two targets share that are equal but for the order of their variables."""
    count = len(problem.names)
    # Fixed points without a pattern; most formulas have a value there.
    points = np.modf(np.sqrt(np.arange(2, 2 + _PLACES * count)).reshape(_PLACES, count) * 7.0)[0] + 1.0
    orders = itertools.permutations(range(count)) if count <= _PERMUTED else [tuple(range(count))]
    table = np.concatenate([points[:, list(order)] for order in orders])
    values = problem.values(table).reshape(-1, _PLACES)
    return count, min(" ".join(f"{value:.9g}" for value in some) for some in values)
