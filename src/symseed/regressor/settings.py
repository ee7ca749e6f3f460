"""Settings of a fit: the same for the estimator, the command line and a file, checked in one place."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np

from symseed import cluster, methods
from symseed.data import Backend, Dataset, Loss, NoiseKind
from symseed.errors import SettingsError, cut, did_you_mean
from symseed.language import Categories, Template, Token
from symseed.methods import Method
from symseed.portfolio import Exchange, IslandSettings, PortfolioSettings, Track
from symseed.regressor import checks, elsewhere, operators
from symseed.regressor.checks import checked, real, whole
from symseed.regressor.front import check_rule
from symseed.regressor.weights import Weights
from symseed.search import changes

EarlyStop: TypeAlias = float | Callable[[float, int], bool]
Callback: TypeAlias = Callable[[Any], object]
"""Called with the `Progress` after every turn; the search ends if it returns something true."""

_NOISES = ("auto", "additive", "relative", "floor", "robust")
"""The values of the setting `noise`."""
_PATIENCE = 8
"""Turns without a change of the selected formula after which a portfolio ends.

The first eight turns have four rounds of assembly (0, 2, 4 and 8), also with more sub-expressions. Chosen by hand.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of a fit, as a user gives it; `SymbolicRegressor` documents each."""

    binary_operators: Sequence[str | Callable[..., Any]] = ("+", "-", "*", "/")
    unary_operators: Sequence[str | Callable[..., Any]] = ("sqrt", "square", "exp", "log", "sin", "cos")
    maxsize: int | None = None
    complexity_of_operators: Mapping[str, int] | None = None
    complexity_of_variables: int | Mapping[str, int] = 1
    complexity_of_constants: int = 1
    constraints: Mapping[str, int | Sequence[int]] | None = None
    nested_constraints: Mapping[str, Mapping[str, int]] | None = None
    select_k_features: int | None = None
    max_evals: int | None = None
    max_time: float | None = 60.0
    early_stop_condition: EarlyStop | None = None
    patience: int | str | None = "auto"
    model_selection: str = "best"
    loss: str | Callable[..., Any] = "squared"
    noise: str = "auto"
    test_size: float | int | None = None
    n_jobs: int | None = None
    device: str = "cpu"
    islands: int = 1
    island_exchange: str = "ring"
    island_tracks: Sequence[Sequence[int]] | None = None
    executor: Any = None
    random_state: Any = None
    warm_start: bool = False
    guesses: Sequence[str] | Sequence[Sequence[str]] | None = None
    verbosity: int | None = None
    output_directory: str | os.PathLike[str] | None = None
    method: str = "default"
    method_settings: Mapping[str, Any] | None = None
    constants: bool | None = None
    template: str | None = None
    network: str | os.PathLike[str] | None = "auto"
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
        method = _method(self.method)
        tokens = self._operators()
        settings = self._searches(method)
        longest = max(track.max_length for track in settings.tracks)
        maxsize = longest if self.maxsize is None else whole(self.maxsize, "maxsize", 1)
        max_time = self.max_time
        if max_time is not None and not real(max_time, "max_time") > 0.0:
            raise SettingsError(f"`max_time` must be above 0 seconds, but it is {max_time}.")
        condition = self.early_stop_condition
        if condition is not None and not callable(condition):
            real(condition, "early_stop_condition")
        jobs = None if self.n_jobs is None else whole(self.n_jobs, "n_jobs", -math.inf)
        if jobs == 0:
            raise SettingsError("`n_jobs` must be at least 1, or -1 for all cores, but it is 0.")
        islands = self._islands(settings)
        self._check_executor()
        checked(self.warm_start, "warm_start", (bool, np.bool_), "true or false")
        _check_seed(self.random_state)
        _check_test_size(self.test_size, is_warm=bool(self.warm_start))
        if self.network is not None:
            checked(self.network, "network", (str, os.PathLike), "the file of a network, 'auto' or None")
        if self.output_directory is not None:
            checked(self.output_directory, "output_directory", (str, os.PathLike), "the path of a folder")
        template = None if self.template is None else _template(self.template, tokens, settings, maxsize)
        return Plan(
            given=self,
            method=method,
            settings=replace(
                settings.with_max_length(maxsize),
                islands=islands,
                constraints=(
                    *operators.sizes(self.constraints, tokens),
                    *operators.nestings(self.nested_constraints, tokens),
                ),
            ),
            operators=tokens,
            weights=Weights.of(self.complexity_of_variables, self.complexity_of_constants),
            loss=_loss(self.loss),
            noise=_noise(self.noise, self.loss),
            maxsize=maxsize,
            max_evals=method.budget.expressions if self.max_evals is None else whole(self.max_evals, "max_evals", 1),
            max_time=None if max_time is None or math.isinf(max_time) else float(max_time),
            early_stop=condition,
            patience=self._patience(method),
            jobs=jobs,
            device=checks.device(self.device),
            executor=self.executor,
            verbosity=None if self.verbosity is None else whole(self.verbosity, "verbosity", 0),
            callback=self._callback(),
            guesses=_guesses(self.guesses),
            most_columns=None
            if self.select_k_features is None
            else whole(self.select_k_features, "select_k_features", 1),
            template=template,
        )

    def _operators(self) -> tuple[Token, ...]:
        """The operators, each with its complexity."""
        tokens = operators.read(self.binary_operators, "binary_operators", 2)
        tokens += operators.read(self.unary_operators, "unary_operators", 1)
        if not tokens:
            raise SettingsError("A formula needs an operator, but `binary_operators` and `unary_operators` are empty.")
        return operators.weighed(self.complexity_of_operators, tokens)

    def _searches(self, method: Method) -> PortfolioSettings:
        """The method's searches, with the user's changes."""
        if self.constants is not None:
            checked(self.constants, "constants", (bool, np.bool_), "true, false or None")
        settings = method.portfolio or _alone(method, constants=bool(self.constants))
        if self.constants is not None and not self.constants:
            settings = settings.without_constants()
        if self.method_settings is None:
            return settings
        given = checked(self.method_settings, "method_settings", Mapping, "a mapping from names of settings to values")
        return settings.with_search_settings(changes.flattened(given))

    def _islands(self, settings: PortfolioSettings) -> IslandSettings | None:
        """The islands; None for one portfolio alone."""
        count = whole(self.islands, "islands", 1)
        if count == 1:
            return None
        if self.template is not None:
            raise SettingsError("`islands` and `template` cannot be combined yet. Leave one of them out.")
        names = [kind.value for kind in Exchange]
        if self.island_exchange not in names:
            raise SettingsError(
                f"`island_exchange` must be one of {', '.join(names)}, but it is {self.island_exchange!r}."
            )
        tracks = self.island_tracks or ()
        if not all(isinstance(one, Sequence) and not isinstance(one, str) for one in tracks):
            raise SettingsError(
                "`island_tracks` must be lists of the numbers of searches, such as [[0, 1], [2]], but it is "
                f"{cut(self.island_tracks)}."
            )
        known = range(len(settings.tracks))
        wrong = [track for one in tracks for track in one if track not in known]
        if wrong:
            raise SettingsError(
                f"`island_tracks` must have numbers of searches from 0 to {len(known) - 1}, but has {cut(wrong[0])}."
            )
        own = tuple(tuple(whole(track, "island_tracks", 0) for track in one) for one in tracks)
        return IslandSettings(count, Exchange(self.island_exchange), tracks=own)

    def _check_executor(self) -> None:
        if not (
            self.executor is None or isinstance(self.executor, (str, Executor)) or hasattr(self.executor, "scatter")
        ):
            raise SettingsError(
                "`executor` must be a `concurrent.futures.Executor`, a Dask client, or the address of a Dask "
                f"scheduler, such as 'tcp://10.0.0.1:8786', but it is {cut(self.executor)}."
            )

    def _patience(self, method: Method) -> int | None:
        if self.patience == "auto":
            return None if method.portfolio is None else _PATIENCE
        return None if self.patience is None else whole(self.patience, "patience", 1)

    def _callback(self) -> Callback | None:
        if self.callback is not None and not callable(self.callback):
            raise SettingsError(f"`callback` must be a function of the progress, but it is {cut(self.callback)}.")
        return self.callback


NAMES = tuple(field.name for field in fields(Settings))
"""The names of all settings."""
LIMITS = ("max_evals", "max_time", "patience", "early_stop_condition")
"""The names of the settings that limit the search."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Checked settings, with the method's values for settings that the user left out."""

    given: Settings
    """The settings as the user gave them."""
    method: Method
    settings: PortfolioSettings
    operators: tuple[Token, ...]
    weights: Weights
    """The complexities of columns and constants; operators have their own."""
    loss: Loss | None
    """The loss; None: squared errors."""
    maxsize: int
    max_evals: int | None
    max_time: float | None
    early_stop: EarlyStop | None
    patience: int | None
    jobs: int | None
    """Number of threads or processes, -1 for all cores; None: as `threads.py` says."""
    device: str
    """What computes formulas: "cpu", "cuda" for the GPU, or "auto" for the GPU if there is one."""
    executor: Any
    """Where islands are searched; None: processes of this machine."""
    verbosity: int | None
    """None: a display in a notebook, nothing elsewhere."""
    callback: Callback | None = None
    """Called after every turn."""
    guesses: tuple[tuple[str, ...], ...] = ()
    """Formulas to begin with, for each target; one tuple alone is for every target."""
    most_columns: int | None = None
    """Number of columns that the search uses; None: as many as it can."""
    template: Template | None = None
    """The structure of all formulas; None: any."""
    noise: NoiseKind | None = None
    """The noise of the target; None: by evidence."""

    def guided(self) -> Plan:
        """Return the plan with the network that the settings name.

        Raises:
            SettingsError: if the method needs a network, and there is none.
            DataError: if the file cannot be read, or is not that of a network.
        """
        given = self.given.network
        settings = self.settings if given == "auto" else self.settings.with_network(given)
        if settings.lacks_network:
            raise SettingsError(
                f"`{self.method.name}` needs a network, and "
                + ("`network` is None" if given is None else "the installation lacks the file of its own")
                + ". Give the file of one as `network`, or use another method."
            )
        return replace(self, settings=settings)

    @property
    def checksum(self) -> str:
        """The checksum of the network that reads the data; empty if none does."""
        network = self.settings.network
        return "" if network is None else network.checksum

    def backend(self) -> Callable[[Dataset], Backend] | None:
        """Return what makes the backend of the data; None: the compiled core.

        Raises:
            SettingsError: if the settings ask for a GPU and there is none.
        """
        return checks.backend(self.device)

    def connected(self) -> AbstractContextManager[Executor | None]:
        """Return a context that connects to the cluster, if the settings name one, and gives the executor."""
        return cluster.connected(self.executor)

    def check_executor(self, *, is_large: bool) -> None:
        """Refuse an executor that would have nothing to do."""
        if self.executor is not None and self.settings.islands is None and not is_large:
            raise SettingsError(
                "`executor` needs `islands`, whose searches it runs, or a table that is read in blocks, but `islands` "
                "is 1. Raise it."
            )

    def check_errors(self, *, is_given: bool) -> None:
        """Refuse standard errors beside another noise model, or beside a loss that has weights of its own."""
        if is_given and (self.noise is not None or self.loss is not None):
            setting = "loss" if self.noise is None else "noise"
            raise SettingsError(
                f"Standard errors (`y_err`, `X_err`) say what the noise is, and so does `{setting}`, which is "
                f"{cut(getattr(self.given, setting))}. Leave one of them out."
            )

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The operators, and what else the structure of a template has: further operators, and its numbers."""
        return self.operators if self.template is None else (*self.operators, *self.template.added)

    def with_categories(self, known: Sequence[Categories]) -> Plan:
        """Return the plan with the template written out for the categories of the data.

        A constant for each category counts as one token for `maxsize`, however many categories there are.
        """
        if self.template is None:
            return self
        template = self.template.with_categories(known)
        return replace(self, template=template, maxsize=self.maxsize + template.length - self.template.length)


def _method(given: Any) -> Method:
    method = methods.get(checked(given, "method", str, "the name of a method"))
    if not method.is_for_fits:
        raise SettingsError(
            f"`{method.name}` scores formulas by rules of other programs, to repeat their runs with `symseed bench "
            "run`. A fit needs another method, such as `nggp` or `default`."
        )
    return method


def _template(given: Any, operators: tuple[Token, ...], settings: PortfolioSettings, maxsize: int) -> Template:
    text = checked(given, "template", str, "a text such as 'const * f(x) + g(y)'")
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
    searches for short formulas too, such as `c * x`, and on fewer samples, because fits of constants take long.
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


def _check_seed(value: Any) -> None:
    """Refuse, with a message, every value that scikit-learn's `check_random_state` refuses."""
    is_seed = isinstance(value, numbers.Integral) and 0 <= int(value) < 2**32
    if not (value is None or is_seed or value is np.random or isinstance(value, np.random.RandomState)):
        raise SettingsError(
            f"`random_state` must be None, a whole number from 0 to {2**32 - 1:,}, or a numpy RandomState, but it is "
            f"{cut(value)}."
        )


def _check_test_size(value: Any, *, is_warm: bool) -> None:
    if value is None:
        return
    is_count = isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1
    if not is_count and not (isinstance(value, numbers.Real) and 0.0 < float(value) < 1.0):
        raise SettingsError(
            f"`test_size` must be a share of the rows between 0 and 1, or a number of rows, but it is {cut(value)}."
        )
    if is_warm:
        raise SettingsError(
            "`test_size` and `warm_start` cannot be combined: the fit before has seen rows that would be held out."
        )


def _guesses(given: Any) -> tuple[tuple[str, ...], ...]:
    """The texts of formulas for each target; one list alone is for every target."""
    if given is None:
        return ()
    is_list = isinstance(given, (list, tuple))
    lists = given if is_list and all(isinstance(part, (list, tuple)) for part in given) else [given]
    for texts in lists:
        if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
            raise SettingsError(
                "`guesses` must be a list of formulas as texts, such as ['const * x1 + x2'], or a list of such lists, "
                f"one for each target, but it is {cut(given)}."
            )
    return tuple(tuple(texts) for texts in lists)


def _noise(given: Any, loss: Any) -> NoiseKind | None:
    """The noise that a user sets; None for "auto"."""
    if not isinstance(given, str) or given not in _NOISES:
        near = did_you_mean(given, _NOISES) if isinstance(given, str) else ""
        raise SettingsError(
            f"`noise` must be one of {', '.join(_NOISES)}, but it is {cut(given)}.{near} Give standard errors of y to "
            "fit, as y_err."
        )
    kind = None if given == "auto" else NoiseKind(given)
    if kind not in (None, NoiseKind.ADDITIVE) and _loss(loss) is not None:
        raise SettingsError(
            f"`noise` {cut(given)} needs squared errors, but `loss` is {cut(loss)}, which has weights of its own. "
            "Leave one of them out."
        )
    return kind


def _loss(given: Any) -> Loss | None:
    if not isinstance(given, str) and not callable(given):
        raise SettingsError(f"`loss` must be a name or a function of y and prediction, but it is {cut(given)}.")
    return Loss.of(given)
