"""What a user sets: the same settings for the estimator, the command line and a file, checked in one place."""

from __future__ import annotations

import difflib
import math
import numbers
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import joblib

from symseed import methods
from symseed.equations import check_rule
from symseed.errors import SettingsError
from symseed.methods import Method
from symseed.portfolio import PortfolioSettings, Track
from symseed.tokens import ALIASES, OPERATORS

EarlyStop: TypeAlias = float | Callable[[float, int], bool]

_ELSEWHERE = {
    "feature_names": "the columns' names of a data frame given to fit",
    "function_set": "binary_operators and unary_operators",
    "niterations": "max_evals",
    "operators": "binary_operators and unary_operators",
    "procs": "n_jobs",
    "seed": "random_state",
    "timeout_in_seconds": "max_time",
    "verbose": "verbosity",
    "weights": "sample_weight of fit",
}
"""What other tools call our parameters."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of a fit, as a user gives it; `SymbolicRegressor` says what each means."""

    binary_operators: Sequence[str] = ("+", "-", "*", "/")
    unary_operators: Sequence[str] = ("sqrt", "square", "exp", "log", "sin", "cos")
    maxsize: int | None = None
    max_evals: int | None = None
    max_time: float | None = 60.0
    early_stop_condition: EarlyStop | None = None
    patience: int | None = 8
    model_selection: str = "best"
    n_jobs: int | None = None
    random_state: Any = None
    warm_start: bool = False
    verbosity: int = 0
    output_directory: str | os.PathLike[str] | None = None
    method: str = "default"

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Settings:
        """Take settings by name, and refuse a name that there is not."""
        for name in values:
            if name not in NAMES:
                raise SettingsError(f"There is no setting `{name}`: {suggestion(name)}")
        return cls(**values)

    def plan(self) -> Plan:
        """Check every value.

        Raises:
            SettingsError: naming the setting that is out of range.
        """
        check_rule(self.model_selection)
        method = methods.get(_checked(self.method, "method", str, "the name of a method"))
        operators = _operators(self.binary_operators, "binary_operators", 2)
        operators += _operators(self.unary_operators, "unary_operators", 1)
        if not operators:
            raise SettingsError("A formula needs an operator, but `binary_operators` and `unary_operators` are empty.")
        settings = method.portfolio or PortfolioSettings(
            (Track(method.settings, method.max_length, method.constraints, True, 1, method.soft_length),), None
        )
        longest = max(track.max_length for track in settings.tracks)
        maxsize = longest if self.maxsize is None else _whole(self.maxsize, "maxsize", 1)
        max_time = self.max_time
        if max_time is not None and not _real(max_time, "max_time") > 0.0:
            raise SettingsError(f"`max_time` must be above 0 seconds, but it is {max_time}.")
        condition = self.early_stop_condition
        if condition is not None and not callable(condition):
            _real(condition, "early_stop_condition")
        jobs = 1 if self.n_jobs is None else _whole(self.n_jobs, "n_jobs", -math.inf)
        if jobs == 0:
            raise SettingsError("`n_jobs` must be at least 1, or -1 for all cores, but it is 0.")
        if self.output_directory is not None:
            _checked(self.output_directory, "output_directory", (str, os.PathLike), "the path of a folder")
        return Plan(
            method=method,
            settings=settings.with_max_length(maxsize),
            operators=operators,
            maxsize=maxsize,
            max_evals=method.budget.expressions if self.max_evals is None else _whole(self.max_evals, "max_evals", 1),
            max_time=None if max_time is None or math.isinf(max_time) else float(max_time),
            early_stop=condition,
            patience=None if self.patience is None else _whole(self.patience, "patience", 1),
            threads=min(joblib.effective_n_jobs(jobs), 1024),
            is_talking=_whole(self.verbosity, "verbosity", 0) > 0,
        )


NAMES = tuple(field.name for field in fields(Settings))
"""Of every setting."""
LIMITS = ("max_evals", "max_time", "patience", "early_stop_condition")
"""Of those that say when to end."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings, checked and completed by the method's own."""

    method: Method
    settings: PortfolioSettings
    operators: tuple[str, ...]
    maxsize: int
    max_evals: int | None
    max_time: float | None
    early_stop: EarlyStop | None
    patience: int | None
    threads: int
    is_talking: bool


def suggestion(name: str) -> str:
    """Say which setting was meant by a name that there is not."""
    meant = _ELSEWHERE.get(name) or next(iter(difflib.get_close_matches(name, NAMES, n=1)), None)
    return f"did you mean {meant}?" if meant else f"the settings are {', '.join(NAMES)}."


def _checked(value: Any, name: str, kind: type | tuple[type, ...], what: str) -> Any:
    if not isinstance(value, kind):
        raise SettingsError(f"`{name}` must be {what}, but it is {value!r}.")
    return value


def _whole(value: Any, name: str, least: float) -> int:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        bound = "" if math.isinf(least) else f" of at least {int(least)}"
        raise SettingsError(f"`{name}` must be a whole number{bound}, but it is {value!r}.")
    return int(value)


def _real(value: Any, name: str) -> float:
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or math.isnan(value):
        raise SettingsError(f"`{name}` must be a number, but it is {value!r}.")
    return float(value)


def _operators(given: Any, argument: str, arity: int) -> tuple[str, ...]:
    """The names of operators, each of the arity that its list is for."""
    if given is None:
        return ()
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SettingsError(f"`{argument}` must be a list of names, but it is {given!r}.")
    known = {name: OPERATORS[ALIASES.get(name, name)] for name in (*OPERATORS, *ALIASES)}
    fitting = [name for name, token in known.items() if token.arity == arity]
    out: dict[str, None] = {}
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(str(name), fitting, n=1)
            hint = f" Did you mean `{close[0]}`?" if close else ""
            raise SettingsError(f"`{argument}` has `{name}`, but must be of {', '.join(fitting)}.{hint}")
        if known[name].arity != arity:
            other = {1: "unary_operators", 2: "binary_operators"}[known[name].arity]
            raise SettingsError(f"`{argument}` has `{name}`, which belongs in `{other}`.")
        if known[name].name in out:
            raise SettingsError(f"`{argument}` must name each operator once, but has `{name}` twice.")
        out[known[name].name] = None
    return tuple(out)
