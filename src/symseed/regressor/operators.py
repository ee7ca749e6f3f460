"""Operators as settings name them, with what settings say of them: sizes of arguments, nesting and complexity."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from symseed.errors import SettingsError, cut
from symseed.language.hints import operator_hint
from symseed.language.tokens import ALIASES, FAMILIES, OPERATORS, Token, custom
from symseed.regressor.checks import whole
from symseed.space.constraints import ArgumentSizes, Constraint, Nesting


def read(given: Any, argument: str, arity: int) -> tuple[Token, ...]:
    """Return the operators of a list, all of one arity: names, or the user's functions."""
    if given is None:
        return ()
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise SettingsError(f"`{argument}` must be a list of names and functions, but it is {cut(given)}.")
    out: dict[str, Token] = {}
    entries = [FAMILIES.get(entry, (entry,)) if isinstance(entry, str) else (entry,) for entry in given]
    for entry in itertools.chain.from_iterable(entries):
        token = custom(entry) if callable(entry) else _named(entry, argument, arity)
        if token.arity != arity:
            other = {1: "unary_operators", 2: "binary_operators"}[token.arity]
            raise SettingsError(f"`{argument}` has `{token.name}`, which belongs in `{other}`.")
        if token.name in out:
            raise SettingsError(f"`{argument}` must name each operator once, but has `{token.name}` twice.")
        out[token.name] = token
    return tuple(out.values())


def _named(name: Any, argument: str, arity: int) -> Token:
    known = {name: OPERATORS[ALIASES.get(name, name)] for name in (*OPERATORS, *ALIASES)}
    if not isinstance(name, str) or name not in known:
        fitting = [other for other, token in known.items() if token.arity == arity]
        hint = operator_hint(name, known)
        raise SettingsError(f"`{argument}` has `{name}`, which is not one of {', '.join(fitting)}.{hint}")
    return known[name]


def sizes(given: Any, operators: Sequence[Token]) -> list[Constraint]:
    """Return the sizes of arguments by operator: one number for an operator of one argument, two for one of two."""
    out: list[Constraint] = []
    for name, sizes in _mapping(given, "constraints").items():
        token = _one_of(name, operators, "constraints")
        each = [sizes] if isinstance(sizes, numbers.Integral) else sizes
        is_right = isinstance(each, (list, tuple)) and len(each) == token.arity
        if not is_right or not all(isinstance(size, (int, np.integer)) and (size == -1 or size >= 1) for size in each):
            what = "a whole number" if token.arity == 1 else f"{token.arity} whole numbers"
            raise SettingsError(
                f"`constraints` of `{name}` must be {what} of tokens, at least 1 or -1 for no limit, but it is "
                f"{cut(sizes)}."
            )
        out.append(ArgumentSizes(token.name, tuple(int(size) for size in each)))
    return out


def nestings(given: Any, operators: Sequence[Token]) -> list[Constraint]:
    """Return the limits on nesting, by the outer and then by the inner operator."""
    out: list[Constraint] = []
    for name, limits in _mapping(given, "nested_constraints").items():
        outer = _one_of(name, operators, "nested_constraints")
        for inner_name, most in _mapping(limits, f"nested_constraints` of `{name}").items():
            inner = _one_of(inner_name, operators, "nested_constraints")
            out.append(Nesting(outer.name, inner.name, whole(most, f"nested_constraints` of `{name}", 0)))
    return out


def _mapping(given: Any, name: str) -> Mapping[Any, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SettingsError(f"`{name}` must be a mapping from names of operators, but it is {cut(given)}.")
    return given


def _one_of(name: Any, operators: Sequence[Token], argument: str) -> Token:
    known = {token.name: token for token in operators}
    found = known.get(ALIASES.get(name, name)) if isinstance(name, str) else None
    if found is None:
        raise SettingsError(f"`{argument}` names `{name}`, but the operators are {', '.join(known)}.")
    return found


def weighed(given: Any, operators: Sequence[Token]) -> tuple[Token, ...]:
    """Return the operators with what each adds to the complexity of a formula, 1 for those that are not named."""
    weights = {
        _one_of(name, operators, "complexity_of_operators").name: whole(
            weight, f"complexity_of_operators` of `{name}", 1
        )
        for name, weight in _mapping(given, "complexity_of_operators").items()
    }
    return tuple(replace(token, weight=weights.get(token.name, 1)) for token in operators)
