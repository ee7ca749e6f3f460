"""Settings of a fit: the same for the estimator, the command line and a file, checked in one place."""

from __future__ import annotations

import itertools
import math
import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import joblib
import numpy as np

from symseed import methods
from symseed.data.losses import Loss
from symseed.errors import SettingsError
from symseed.language.hints import operator_hint
from symseed.language.template import Template
from symseed.language.tokens import ALIASES, FAMILIES, OPERATORS, Token, custom
from symseed.methods import Method
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.track import Track
from symseed.regressor import elsewhere
from symseed.regressor.front import check_rule
from symseed.search import changes
from symseed.space.constraints import ArgumentSizes, Constraint, Nesting

EarlyStop: TypeAlias = float | Callable[[float, int], bool]
Callback: TypeAlias = Callable[[Any], object]
"""Called with the `Progress` after every turn; the search ends if it returns something true."""

_PATIENCE = 8
"""Turns without another choice after which a portfolio ends: four rounds of assembly, the enlarged one included."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of a fit, as a user gives it; `SymbolicRegressor` says what each means."""

    binary_operators: Sequence[str | Callable[..., Any]] = ("+", "-", "*", "/")
    unary_operators: Sequence[str | Callable[..., Any]] = ("sqrt", "square", "exp", "log", "sin", "cos")
    maxsize: int | None = None
    constraints: Mapping[str, int | Sequence[int]] | None = None
    nested_constraints: Mapping[str, Mapping[str, int]] | None = None
    max_evals: int | None = None
    max_time: float | None = 60.0
    early_stop_condition: EarlyStop | None = None
    patience: int | str | None = "auto"
    model_selection: str = "best"
    loss: str | Callable[..., Any] = "squared"
    test_size: float | int | None = None
    n_jobs: int | None = None
    random_state: Any = None
    warm_start: bool = False
    verbosity: int | None = None
    output_directory: str | os.PathLike[str] | None = None
    method: str = "default"
    method_settings: Mapping[str, Any] | None = None
    constants: bool | None = None
    template: str | None = None
    callback: Callback | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Settings:
        """Take settings by name, and refuse unknown names."""
        for name in values:
            if name not in NAMES:
                raise SettingsError(f"There is no setting `{name}`.{suggestion(name)}")
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
        settings = self._searches(method)
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
        _checked(self.warm_start, "warm_start", (bool, np.bool_), "true or false")
        _check_seed(self.random_state)
        _check_test_size(self.test_size, is_warm=bool(self.warm_start))
        if self.output_directory is not None:
            _checked(self.output_directory, "output_directory", (str, os.PathLike), "the path of a folder")
        template = None if self.template is None else _template(self.template, operators, settings, maxsize)
        return Plan(
            given=self,
            method=method,
            settings=replace(
                settings.with_max_length(maxsize),
                constraints=(
                    *_sizes(self.constraints, operators),
                    *_nestings(self.nested_constraints, operators),
                ),
            ),
            operators=operators,
            loss=_loss(self.loss),
            maxsize=maxsize,
            max_evals=method.budget.expressions if self.max_evals is None else _whole(self.max_evals, "max_evals", 1),
            max_time=None if max_time is None or math.isinf(max_time) else float(max_time),
            early_stop=condition,
            patience=self._patience(method),
            threads=min(joblib.effective_n_jobs(jobs), 1024),
            verbosity=None if self.verbosity is None else _whole(self.verbosity, "verbosity", 0),
            callback=self._callback(),
            template=template,
        )

    def _searches(self, method: Method) -> PortfolioSettings:
        """The method's searches, with the user's changes."""
        if self.constants is not None:
            _checked(self.constants, "constants", (bool, np.bool_), "true, false or None")
        settings = method.portfolio or _alone(method, constants=bool(self.constants))
        if self.constants is not None and not self.constants:
            settings = settings.without_constants()
        if self.method_settings is None:
            return settings
        given = _checked(self.method_settings, "method_settings", Mapping, "a mapping from names of settings to values")
        return settings.with_search_settings(changes.flattened(given))

    def _patience(self, method: Method) -> int | None:
        if self.patience == "auto":
            return None if method.portfolio is None else _PATIENCE
        return None if self.patience is None else _whole(self.patience, "patience", 1)

    def _callback(self) -> Callback | None:
        if self.callback is not None and not callable(self.callback):
            raise SettingsError(f"`callback` must be a function of the progress, but it is {self.callback!r}.")
        return self.callback


NAMES = tuple(field.name for field in fields(Settings))
"""The names of all settings."""
LIMITS = ("max_evals", "max_time", "patience", "early_stop_condition")
"""The names of the settings that limit the search."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Checked settings, with the method's values where the user gave none."""

    given: Settings
    """The settings as the user gave them."""
    method: Method
    settings: PortfolioSettings
    operators: tuple[Token, ...]
    loss: Loss | None
    """The loss; None: squared errors."""
    maxsize: int
    max_evals: int | None
    max_time: float | None
    early_stop: EarlyStop | None
    patience: int | None
    threads: int
    verbosity: int | None
    """None: a display in a notebook, nothing elsewhere."""
    callback: Callback | None = None
    """Called after every turn."""
    template: Template | None = None
    """The structure of all formulas; None: any."""

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The operators, and what else the structure of a template has: further operators, and its numbers."""
        return self.operators if self.template is None else (*self.operators, *self.template.added)


def _template(given: Any, operators: tuple[Token, ...], settings: PortfolioSettings, maxsize: int) -> Template:
    text = _checked(given, "template", str, "a text such as 'const * f(x) + g(y)'")
    if not settings.constants:
        raise SettingsError(
            "`template` needs fitted constants, but this method has none. Set `constants` to true, or use `default`."
        )
    template = Template.of(text, operators)
    least = template.length + len(template.parts)
    if least > maxsize:
        raise SettingsError(f"`template` has at least {least} tokens, but `maxsize` allows {maxsize}. Raise it.")
    return template


def _alone(method: Method, *, constants: bool) -> PortfolioSettings:
    """A method of the paper as a portfolio of one track, without assembly.

    Without fitted constants it searches as `symseed bench` does: in the method's space, on all samples. With them it
    searches for short formulas too, such as `c * x`, and on fewer samples, as fits of constants take long.
    """
    track = Track(
        method.settings,
        min_length=1 if constants else method.min_length,
        max_length=method.max_length,
        constraints=method.constraints,
        constants=constants,
        rounds=1,
        soft_length=method.soft_length,
    )
    whole = PortfolioSettings((track,), assembly=None)
    return whole if constants else replace(whole, constants=False, samples=None)


def suggestion(name: str) -> str:
    """Return a sentence, with a space before it, that names the setting for an unknown name, or all settings."""
    return elsewhere.suggestion(name, NAMES)


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


def _check_seed(value: Any) -> None:
    """Refuse every value that scikit-learn's `check_random_state` refuses, with a sentence."""
    is_seed = isinstance(value, numbers.Integral) and 0 <= int(value) < 2**32
    if not (value is None or is_seed or value is np.random or isinstance(value, np.random.RandomState)):
        raise SettingsError(
            f"`random_state` must be None, a whole number from 0 to {2**32 - 1:,}, or a numpy RandomState, but it is "
            f"{value!r}."
        )


def _check_test_size(value: Any, *, is_warm: bool) -> None:
    if value is None:
        return
    is_count = isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1
    if not is_count and not (isinstance(value, numbers.Real) and 0.0 < float(value) < 1.0):
        raise SettingsError(
            f"`test_size` must be a share of the rows between 0 and 1, or a number of rows, but it is {value!r}."
        )
    if is_warm:
        raise SettingsError(
            "`test_size` and `warm_start` cannot be combined: the fit before has seen rows that would be held out."
        )


def _sizes(given: Any, operators: Sequence[Token]) -> list[Constraint]:
    """Sizes of arguments by operator: one number for an operator of one argument, two for one of two."""
    out: list[Constraint] = []
    for name, sizes in _mapping(given, "constraints").items():
        token = _one_of(name, operators, "constraints")
        each = [sizes] if isinstance(sizes, numbers.Integral) else sizes
        is_right = isinstance(each, (list, tuple)) and len(each) == token.arity
        if not is_right or not all(isinstance(size, (int, np.integer)) and (size == -1 or size >= 1) for size in each):
            what = "a whole number" if token.arity == 1 else f"{token.arity} whole numbers"
            raise SettingsError(
                f"`constraints` of `{name}` must be {what} of tokens, at least 1 or -1 for no limit, but it is "
                f"{sizes!r}."
            )
        out.append(ArgumentSizes(token.name, tuple(int(size) for size in each)))
    return out


def _nestings(given: Any, operators: Sequence[Token]) -> list[Constraint]:
    """Limits on nesting, by the outer and then by the inner operator."""
    out: list[Constraint] = []
    for name, limits in _mapping(given, "nested_constraints").items():
        outer = _one_of(name, operators, "nested_constraints")
        for inner_name, most in _mapping(limits, f"nested_constraints` of `{name}").items():
            inner = _one_of(inner_name, operators, "nested_constraints")
            out.append(Nesting(outer.name, inner.name, _whole(most, f"nested_constraints` of `{name}", 0)))
    return out


def _mapping(given: Any, name: str) -> Mapping[Any, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SettingsError(f"`{name}` must be a mapping from names of operators, but it is {given!r}.")
    return given


def _one_of(name: Any, operators: Sequence[Token], argument: str) -> Token:
    known = {token.name: token for token in operators}
    found = known.get(ALIASES.get(name, name)) if isinstance(name, str) else None
    if found is None:
        raise SettingsError(f"`{argument}` names `{name}`, but the operators are {', '.join(known)}.")
    return found


def _loss(given: Any) -> Loss | None:
    if not isinstance(given, str) and not callable(given):
        raise SettingsError(f"`loss` must be a name or a function of y and prediction, but it is {given!r}.")
    return Loss.of(given)


def _operators(given: Any, argument: str, arity: int) -> tuple[Token, ...]:
    """The operators of a list, all of one arity: names, or the user's functions."""
    if given is None:
        return ()
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise SettingsError(f"`{argument}` must be a list of names and functions, but it is {given!r}.")
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
