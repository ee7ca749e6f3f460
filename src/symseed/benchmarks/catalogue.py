"""The catalogue of benchmark problems, read from TOML files, one for each set. To add a problem, add an entry.

This entry has every key:

    about = "Where the set comes from."

    [sets]                          # names for several problems
    Mine = ["Mine-1", "Mine-2"]

    [[problem]]
    name = "Mine-1"
    target = "sin(x1) + x2^2"       # or: function = "harmonic", a name of `problem.FUNCTIONS`
    variables = 2                   # default: 1
    tokens = "Koza"                 # a token set of tokens.toml, or a list of tokens
    train = "U(-1, 1, 20)"          # a rule of `rules`, or a list of one for each variable
    test = "U(-2, 2, 100)"          # default: the rule of `train`, with new draws or the same grid
    seed = "mine1"                  # its checksum seeds the draws; default: the name
    note = "Where sources differ."

A target may use all operators, any number, and `pi`, whatever the tokens of the problem. Variables may have names and
units; the target then has a unit, too:

    target = "m * v"
    variables = { m = "kg", v = "m/s" }
    unit = "kg*m/s"

A system of two states, x1 and x2, is a problem for the rate of each, here `Mine1` and `Mine2`; their samples lie on the
system's trajectories:

    [[system]]
    name = "Mine"
    rates = ["x2", "-x1"]
    tokens = "Koza"
    starts = [[1.0, 0.0], [2.0, 0.0]]    # of the trajectories
    step = 0.1
    points = 100                         # of each trajectory
    note = "Where sources differ."
"""

from __future__ import annotations

import functools
import importlib.resources
import math
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from symseed import files
from symseed.benchmarks import rules
from symseed.benchmarks.problem import FUNCTIONS, Problem, Units
from symseed.benchmarks.rules import Rules, Trajectories
from symseed.errors import ParseError, SettingsError
from symseed.language import parsing
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.tokens import OPERATORS

TOKENS_FILE = "tokens.toml"

_FILE_KEYS = {"about", "sets", "problem", "system"}
_KEYS = {"name", "target", "unit", "function", "variables", "tokens", "train", "test", "seed", "note"}
_NEEDED = ("name", "tokens", "train")
_SYSTEM_KEYS = {"name", "rates", "tokens", "starts", "step", "points", "note"}
_SYSTEM_NEEDED = ("name", "rates", "tokens", "starts", "step", "points")
_MAX_VARIABLES = 1_000
"""Most variables of a problem: far above any benchmark, chosen by hand."""
_MOST_POINTS = 10_000
"""Most points of a trajectory, which are computed one after another: far above any benchmark, chosen by hand."""

TokenSets = Mapping[str, tuple[str | float, ...]]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Problems and sets by name, in the order of their files."""

    problems: Mapping[str, Problem]
    sets: Mapping[str, tuple[str, ...]]


@functools.cache
def shipped() -> Catalogue:
    """Return the catalogue that comes with the package."""
    texts = _shipped_texts()
    return parse({name: text for name, text in texts.items() if name != TOKENS_FILE}, shipped_tokens())


@functools.cache
def shipped_tokens() -> TokenSets:
    """Return the token sets that come with the package."""
    return parse_tokens(_shipped_texts()[TOKENS_FILE])


def _shipped_texts() -> dict[str, str]:
    folder = importlib.resources.files("symseed.benchmarks") / "catalogue"
    entries = sorted(
        (entry for entry in folder.iterdir() if entry.name.endswith(".toml")), key=lambda entry: entry.name
    )
    return {entry.name: entry.read_text(encoding="utf-8") for entry in entries}


def parse_tokens(text: str) -> TokenSets:
    """Read named token sets: one TOML table of lists."""
    entries = _toml(text, TOKENS_FILE)
    sets = {name: _tokens(value, f"Set `{name}` of {TOKENS_FILE}") for name, value in entries.items()}
    return types.MappingProxyType(sets)


def parse(texts: Mapping[str, str], token_sets: TokenSets) -> Catalogue:
    """Read catalogue files, given as texts by file name.

    Raises:
        SettingsError: naming the file and problem, what was expected, and what was found.
    """
    problems: dict[str, Problem] = {}
    sets: dict[str, tuple[str, ...]] = {}
    for file, text in texts.items():
        content = _toml(text, file)
        _check_keys(content, _FILE_KEYS, file)
        about = _text(content, "about", file, default="")
        own = [_problem(entry, file, about, token_sets) for entry in _entries(content, "problem", file)]
        for entry in _entries(content, "system", file):
            own += _system(entry, file, about, token_sets)
        for problem in own:
            if problem.name in problems:
                raise SettingsError(
                    f"Problem `{problem.name}` of {file} must have a unique name, but another problem has the same."
                )
            problems[problem.name] = problem
        for name, members in _sets(content, file).items():
            if name in sets:
                raise SettingsError(f"Set `{name}` of {file} must have a unique name, but another set has the same.")
            sets[name] = members
    _check_sets(sets, problems)
    return Catalogue(types.MappingProxyType(problems), types.MappingProxyType(sets))


def _toml(text: str, file: str) -> dict[str, object]:
    try:
        return files.toml_values(text)
    except ValueError as error:
        raise SettingsError(f"{file} must be TOML, but it cannot be read: {error}.") from error


def _entries(content: Mapping[str, object], kind: str, file: str) -> list[dict[str, object]]:
    entries = content.get(kind, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise SettingsError(f"The {kind}s of {file} must be tables `[[{kind}]]`, but `{kind}` is something else.")
    return entries


def _sets(content: Mapping[str, object], file: str) -> dict[str, tuple[str, ...]]:
    sets = content.get("sets", {})
    if not isinstance(sets, dict):
        raise SettingsError(f"`sets` of {file} must be a table of lists of names, but it is {sets!r}.")
    return {name: _texts(value, f"Set `{name}` of {file}") for name, value in sets.items()}


def _check_sets(sets: Mapping[str, tuple[str, ...]], problems: Mapping[str, Problem]) -> None:
    for name, members in sets.items():
        if name in problems:
            raise SettingsError(f"`{name}` must name a set or a problem, but it names both.")
        for member in members:
            if member not in problems:
                raise SettingsError(f"Set `{name}` must list problems of the catalogue, but it lists `{member}`.")


def _problem(entry: Mapping[str, object], file: str, about: str, token_sets: TokenSets) -> Problem:
    where = _place(entry, "problem", file)
    _check_keys(entry, _KEYS, where, _NEEDED)
    if ("target" in entry) == ("function" in entry):
        raise SettingsError(f"{where} must have either `target` or `function`.")
    name = _text(entry, "name", where)
    names, units = _variables(entry, where)
    function = _text(entry, "function", where, default="")
    if function and function not in FUNCTIONS:
        raise SettingsError(
            f"`function` of {_lower(where)} must be one of {', '.join(FUNCTIONS)}, but it is `{function}`."
        )
    written = f"{function}({names[0]})" if function else _text(entry, "target", where)
    train = _rules(entry, "train", len(names), where)
    problem = Problem(
        name=name,
        formula=written,
        target=None if function else formula(written, names, f"`target` of {_lower(where)}"),
        function=FUNCTIONS[function] if function else None,
        library=_library(entry["tokens"], names, where, token_sets),
        units=units,
        train=train,
        test=_rules(entry, "test", len(names), where) if "test" in entry else train,
        seed_name=_text(entry, "seed", where, default=name),
        note=_text(entry, "note", where, default=""),
        source=about,
    )
    try:
        _ = problem.dimensions
    except SettingsError as error:
        raise SettingsError(f"The units of {_lower(where)} cannot be used. {error}") from error
    return problem


def _system(entry: Mapping[str, object], file: str, about: str, token_sets: TokenSets) -> list[Problem]:
    """Read a system of two states: one problem for the rate of each."""
    where = _place(entry, "system", file)
    _check_keys(entry, _SYSTEM_KEYS, where, _SYSTEM_NEEDED)
    name, names = _text(entry, "name", where), ("x1", "x2")
    texts = _texts(entry["rates"], f"`rates` of {_lower(where)}")
    if len(texts) != len(names):
        raise SettingsError(f"`rates` of {_lower(where)} must be two formulas, but there are {len(texts)}.")
    first, second = rates = [formula(text, names, f"`rates` of {_lower(where)}") for text in texts]
    step, points = _number(entry["step"]), entry["points"]
    if not step > 0.0:
        raise SettingsError(f"`step` of {_lower(where)} must be a positive number, but it is {entry['step']!r}.")
    if not isinstance(points, int) or isinstance(points, bool) or not 1 <= points <= _MOST_POINTS:
        raise SettingsError(f"`points` of {_lower(where)} must be from 1 to {_MOST_POINTS}, but it is {points!r}.")
    trajectories = Trajectories((first, second), _starts(entry["starts"], where), step, points)
    return [
        Problem(
            name=f"{name}{i + 1}",
            formula=text,
            target=rate,
            function=None,
            library=_library(entry["tokens"], names, where, token_sets),
            units=None,
            train=trajectories,
            test=trajectories,
            seed_name=f"{name}{i + 1}",
            note=_text(entry, "note", where, default=""),
            source=about,
        )
        for i, (text, rate) in enumerate(zip(texts, rates, strict=True))
    ]


def _starts(value: object, where: str) -> tuple[tuple[float, float], ...]:
    pairs = value if isinstance(value, list) else []
    starts = [(_number(pair[0]), _number(pair[1])) for pair in pairs if isinstance(pair, list) and len(pair) == 2]
    if not starts or len(starts) != len(pairs) or not all(math.isfinite(x) for start in starts for x in start):
        raise SettingsError(f"`starts` of {_lower(where)} must be a list of pairs of numbers, but it is {value!r}.")
    return tuple(starts)


def _number(value: object) -> float:
    """Return a number; NaN if it is something else."""
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan


def formula(text: str, names: Sequence[str], what: str) -> Expression:
    """Read a target; its library has all operators and the numbers in the target."""
    try:
        pi = [math.pi] if "pi" in parsing.names_in(text) else []
        library = Library.of([*OPERATORS, *parsing.numbers_in(text), *pi], names)
        return Expression.parse(text, library)
    except ParseError as error:
        raise SettingsError(f"{what} must be a formula. {error}") from error


def _library(tokens: object, names: Sequence[str], where: str, token_sets: TokenSets) -> Library:
    if isinstance(tokens, str):
        if tokens not in token_sets:
            raise SettingsError(
                f"`tokens` of {_lower(where)} must be a list or one of {', '.join(token_sets)}, but it is `{tokens}`."
            )
        return Library.of(token_sets[tokens], names)
    try:
        return Library.of(_tokens(tokens, f"`tokens` of {_lower(where)}"), names)
    except SettingsError as error:
        raise SettingsError(f"`tokens` of {_lower(where)} must make a library. {error}") from error


def _rules(entry: Mapping[str, object], key: str, variables: int, where: str) -> Rules:
    value = entry[key]
    texts = _texts([value] if isinstance(value, str) else value, f"`{key}` of {_lower(where)}")
    try:
        return rules.parse(texts, variables)
    except SettingsError as error:
        raise SettingsError(f"`{key}` of {_lower(where)} cannot be used. {error}") from error


def _variables(entry: Mapping[str, object], where: str) -> tuple[tuple[str, ...], Units | None]:
    """Return the variables' names, and the units of the variables and of the target if there are any."""
    value = entry.get("variables", 1)
    if isinstance(value, dict):
        if "unit" not in entry:
            raise SettingsError(f"{where} must have `unit`, the target's, because its variables have units.")
        if not value:
            raise SettingsError(f"`variables` of {_lower(where)} must name a variable, but it is empty.")
        columns = tuple(_text(value, name, f"`variables` of {_lower(where)}") for name in value)
        return tuple(value), Units(columns, _text(entry, "unit", where))
    if "unit" in entry:
        raise SettingsError(
            f"{where} has `unit`, so `variables` must be a table of units by name, but it is {value!r}."
        )
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MAX_VARIABLES:
        raise SettingsError(f"`variables` of {_lower(where)} must be from 1 to {_MAX_VARIABLES}, but it is {value!r}.")
    return tuple(f"x{i + 1}" for i in range(value)), None


def _place(entry: Mapping[str, object], kind: str, file: str) -> str:
    """Return where an entry is, as the beginning of a sentence."""
    return f"{kind.title()} `{entry['name']}` of {file}" if "name" in entry else f"A {kind} of {file}"


def _check_keys(table: Mapping[str, object], known: Iterable[str], where: str, needed: Iterable[str] = ()) -> None:
    for key in table:
        if key not in known:
            raise SettingsError(f"{where} has the unknown key `{key}`. Expected {', '.join(sorted(known))}.")
    for key in needed:
        if key not in table:
            raise SettingsError(f"{where} must have `{key}`, but it has only {', '.join(table) or 'nothing'}.")


def _text(table: Mapping[str, object], key: str, where: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or (key in table and not value.strip()):
        raise SettingsError(f"`{key}` of {_lower(where)} must be a non-empty text, but it is {value!r}.")
    return value


def _texts(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise SettingsError(f"{what} must be a list of texts, but it is {value!r}.")
    return tuple(value)


def _tokens(value: object, what: str) -> tuple[str | float, ...]:
    items = value if isinstance(value, list) else []
    if not items or not all(isinstance(item, (str, int, float)) and not isinstance(item, bool) for item in items):
        raise SettingsError(f"{what} must be a list of operators and numbers, but it is {value!r}.")
    return tuple(items)


def _lower(where: str) -> str:
    """Return the beginning of a sentence as words within one."""
    return where[0].lower() + where[1:]
