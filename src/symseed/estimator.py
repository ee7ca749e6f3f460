"""The scikit-learn estimator: data in, a front of formulas and one choice among them out."""

from __future__ import annotations

import difflib
import functools
import html
import inspect
import itertools
import math
import numbers
import sys
import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeAlias

import joblib
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from symseed import frames, methods, presenting, probes
from symseed.dataset import Dataset, Floats
from symseed.description import description_lengths, floor
from symseed.errors import DataError, SettingsError
from symseed.expression import Expression
from symseed.library import Library
from symseed.methods import Method
from symseed.portfolio import EVIDENCE, Portfolio, PortfolioSettings, Track
from symseed.scaling import Units
from symseed.search import Budget, StopReason
from symseed.tidying import polished, tidied
from symseed.tokens import ALIASES, OPERATORS, TokenKind, constant, operator
from symseed.writing import Part, Writer, part_of

MOST_COLUMNS = 64
"""Columns that a search looks at; of more, those that say most about y by themselves."""
MOST_ROWS = 10_000
"""Rows that a search looks at, drawn where there are more; the losses shown are of all rows."""

_Given = ParamSpec("_Given")
EarlyStop: TypeAlias = float | Callable[[float, int], bool]

_PATIENCE = "The choice did not change for {} turns."
_CONDITION = "The early stop condition is met."
_SQUARES_FIT = (1e-100, 1e100)  # largest |y| whose squared errors neither overflow nor vanish
_SAME = 1e-6  # share of its values by which a formula may differ in other units
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
class Equation:
    """One formula of a front."""

    expression: Expression
    """In the user's own units; `str` of it is the formula as text."""
    complexity: int
    """Number of tokens."""
    loss: float
    """Mean squared error of `predict` on the data that were fitted, weighted as they were."""
    score: float
    """By how much the logarithm of the loss falls per token, from the formula before; 0 for the first."""
    description: float
    """Nats of the formula and of the data given it."""
    share: float
    """The loss in units in which squares neither overflow nor vanish: what formulas are compared by."""

    def __str__(self) -> str:
        """Return the formula as text."""
        return str(self.expression)


@dataclass(frozen=True, slots=True)
class _Front:
    """What was found for one target."""

    equations: tuple[Equation, ...]
    reason: str
    rows: int
    """How many rows spoke for it."""
    rounding: float
    """The share of the loss that is rounding."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The parameters of an estimator, checked."""

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


def _suggesting(initialise: Callable[_Given, None]) -> Callable[_Given, None]:
    """Let a constructor answer a parameter that does not exist with the name that was meant."""
    known = list(inspect.signature(initialise).parameters)[1:]

    @functools.wraps(initialise)  # scikit-learn reads the parameters through it
    def checked(*args: _Given.args, **kwargs: _Given.kwargs) -> None:
        for name in kwargs:
            if name not in known:
                meant = _ELSEWHERE.get(name) or next(iter(difflib.get_close_matches(name, known, n=1)), None)
                hint = f"did you mean {meant}?" if meant else f"the parameters are {', '.join(known)}."
                raise TypeError(f"SymbolicRegressor has no parameter `{name}`: {hint}")
        initialise(*args, **kwargs)

    return checked


class SymbolicRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Finds short formulas that explain a target by the columns of a table.

    `fit` searches, and ends by itself once there is nothing left to explain. The result is a front, the best formulas
    of growing complexity (`equations_`), and the choice of one among them by `model_selection` (`best_`), which
    `predict` uses. Data need not be scaled: columns and target of unusual size are divided by powers of two for the
    search, and the formulas are given in the data's own units, with their constants fitted to the end.

    Of more than 64 columns the search looks at those that say most about the target by themselves (a warning says
    so), and of more than 10,000 rows at 10,000 drawn at random. Rows that are the same count as one of their summed
    weight, and the order of rows does not matter. Where the target is constant, the formula is that number; R², of
    which `score` is made, is then 1 by scikit-learn's rule.

    Parameters:
        binary_operators: operators of two arguments: + - * / ^ min max, or the names of other tools for them.
        unary_operators: operators of one argument: sin cos tan exp log sqrt square cube quartic inv neg abs tanh
            sigmoid expneg logabs.
        maxsize: most tokens (operators, columns and constants) of a formula; None: the method's own limit.
        max_evals: most formulas that may be tried for each target; None: the method's own limit.
        max_time: most seconds, for all targets together; None: no limit but `max_evals`. With a limit in seconds the
            answer depends on the machine; with one in formulas alone it does not.
        early_stop_condition: a loss that is good enough, or a function of loss and complexity that says whether a
            formula is.
        patience: turns after which the search ends if the choice has not changed; None: never. Eight turns are four
            rounds of assembly, the enlarged one included.
        model_selection: which formula of the front is chosen.
            "best": the one of the shortest description (tokens, constants to the precision that the data give them,
            and the errors, in nats), and a mere number where no formula shortens that by 3 nats.
            "mdl": the one of the shortest description, without that proviso.
            "accuracy": the one of the smallest loss.
            "score": the one with the highest `score`: where the loss falls fastest per token.
            "bic": the one with the least n log(loss) + k log(n), for n rows and k fitted constants.
        n_jobs: threads that score formulas; -1: as many as there are cores. The answer does not depend on it.
        random_state: seed of the search, a NumPy RandomState, or None for a new one each time.
        warm_start: whether `fit` begins with the formulas that the fit before found.
        verbosity: 0: silent; 1: a line on stderr whenever the choice changes.
        method: the search, one of `symseed methods`.

    Attributes:
        equations_: the front as a pandas DataFrame with the columns complexity, loss, score, equation, sympy_format;
            a list of them where y has several columns.
        pareto_front_: the same as a tuple of `Equation`, or a list of such tuples.
        best_: the `Equation` that `model_selection` chooses, or a list.
        stop_reason_: a sentence saying why the search ended, or a list.
        interrupted_: whether Ctrl-C ended it; the formulas are then the best so far.
        run_directory_: None: nothing is written to disk.
        nout_: number of targets.
        n_features_in_, feature_names_in_: as everywhere in scikit-learn.
    """

    @_suggesting
    def __init__(
        self,
        *,
        binary_operators: Sequence[str] = ("+", "-", "*", "/"),
        unary_operators: Sequence[str] = ("sqrt", "square", "exp", "log", "sin", "cos"),
        maxsize: int | None = None,
        max_evals: int | None = None,
        max_time: float | None = 60.0,
        early_stop_condition: EarlyStop | None = None,
        patience: int | None = 8,
        model_selection: str = "best",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        verbosity: int = 0,
        method: str = "default",
    ) -> None:
        self.binary_operators = binary_operators
        self.unary_operators = unary_operators
        self.maxsize = maxsize
        self.max_evals = max_evals
        self.max_time = max_time
        self.early_stop_condition = early_stop_condition
        self.patience = patience
        self.model_selection = model_selection
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbosity = verbosity
        self.method = method

    # --- Fitting -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SymbolicRegressor:
        """Search for formulas; Ctrl-C ends the search with the best so far, a second one gives up.

        Nothing of the estimator changes before the search has ended: whatever is raised on the way leaves it as it was.

        Args:
            X: (M, V) numbers, as an array or a data frame; formulas call columns by their names.
            y: (M,), or (M, K) for K targets, each of which gets a front of its own.
            sample_weight: (M,), how much each row counts; 2 is the same as having the row twice.

        Raises:
            DataError: naming what cannot be used, and where.
            SettingsError: naming a parameter that is out of range.
        """
        plan = self._plan()
        _check_choice(self.model_selection)
        if y is None:
            raise DataError("SymbolicRegressor requires y to be passed, but the target y is None.")
        table = frames.read(X)
        targets = frames.read_values(y, "y", len(table.values))
        targets = targets[:, 0] if targets.ndim == 2 and targets.shape[1] == 1 else targets
        weights = _weights(sample_weight, len(table.values))
        generator = check_random_state(self.random_state)
        # A warm start searches elsewhere than the fits before it.
        earlier = getattr(self, "_fits", 0) if self.warm_start else 0
        seed = int(generator.randint(2**31 - 1)) + 15_485_863 * earlier
        known = self._known(table.names, 1 if targets.ndim == 1 else targets.shape[1])
        columns = [targets] if targets.ndim == 1 else list(targets.T)
        deadline = None if plan.max_time is None else time.monotonic() + plan.max_time
        found: list[_Front] = []
        is_interrupted = False
        for index, target in enumerate(columns):
            dataset = Dataset.of(table.values, target, weights, table.names)
            limit = None if deadline is None else (deadline - time.monotonic()) / (len(columns) - index)
            search = _Search(plan, dataset, seed=seed + 104_729 * index, seconds=limit, known=known[index])
            front = search.run(is_at_once=is_interrupted)
            is_interrupted = is_interrupted or front.reason == StopReason.INTERRUPTED.value
            found.append(front)
        self._take(table, found, is_multiple=targets.ndim == 2, is_interrupted=is_interrupted)
        self._fits = earlier + 1
        return self

    def _take(self, table: frames.Table, found: list[_Front], *, is_multiple: bool, is_interrupted: bool) -> None:
        self.n_features_in_ = table.values.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if _are_texts(table.labels):
            self.feature_names_in_ = np.array(table.labels, dtype=object)
        self._labels: tuple[Hashable, ...] | None = table.labels
        self._fronts = tuple(found)
        self._is_multiple = is_multiple
        reasons = [front.reason for front in found]
        self.stop_reason_: str | list[str] = reasons if is_multiple else reasons[0]
        self.interrupted_ = is_interrupted
        self.run_directory_ = None
        self.nout_ = len(found)

    def _known(self, names: tuple[str, ...], outputs: int) -> list[list[Expression]]:
        """The formulas that a warm start begins with, for each target."""
        if not self.warm_start or not self.__sklearn_is_fitted__() or len(self._fronts) != outputs:
            return [[] for _ in range(outputs)]
        own = dict(zip(names, range(len(names)), strict=True))
        return [
            [
                equation.expression
                for equation in front.equations
                if all(own.get(token.name) == token.column for token in equation.expression.library.variables)
            ]
            for front in self._fronts
        ]

    def _plan(self) -> _Plan:
        """Check the parameters."""
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
        return _Plan(
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

    # --- What was found ----------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there are formulas."""
        return hasattr(self, "_fronts")

    def __sklearn_tags__(self) -> Any:
        """Say that y may have several columns."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    @property
    def pareto_front_(self) -> Any:
        """The formulas, shortest first, as a tuple; a list of tuples where y has several columns."""
        return self._each(lambda front: front.equations)

    @property
    def equations_(self) -> Any:
        """The formulas as a data frame; a list of frames where y has several columns."""
        return self._each(_frame)

    @property
    def best_(self) -> Any:
        """The formula that `model_selection` chooses; a list of them where y has several columns."""
        return self._each(lambda front: front.equations[_choice(front, self.model_selection)])

    def predict(self, X: Any, index: int | Sequence[int] | None = None) -> Floats:
        """Return the values of the chosen formula, (M,), or (M, K) for K targets.

        Args:
            X: columns of a frame are matched by their names, whatever their order, and others are ignored.
            index: the row of `equations_` to use in place of the choice; a list where y has several columns.

        Warns:
            RuntimeWarning: where a formula has no finite value, such as log(-1); such rows are NaN.
        """
        check_is_fitted(self)
        table = frames.read(X, labels=self._labels)
        if table.labels is None or self._labels is None:
            # scikit-learn compares the number of columns, and warns where only one of the two had names.
            given = X if _are_texts(table.labels) else table.values
            validate_data(self, given, reset=False, skip_check_array=True)
        values = [equation.expression.evaluate(table.values) for equation in self._chosen(index)]
        for value in values:
            missing = np.flatnonzero(np.isnan(value))
            if len(missing):
                warnings.warn(
                    f"The formula has no finite value at {len(missing)} of {len(value)} rows, the first of them row "
                    f"{missing[0]}; they are NaN. Choose another by `index`, or look at what these rows are.",
                    RuntimeWarning,
                    stacklevel=2,
                )
        return np.stack(values, axis=1) if self._is_multiple else values[0]

    def sympy(self, index: int | Sequence[int] | None = None) -> Any:
        """Return the chosen formula as a sympy object, or that of a row of `equations_`."""
        return self._one_or_list([presenting.to_sympy(equation.expression) for equation in self._chosen(index)])

    def latex(self, index: int | Sequence[int] | None = None) -> Any:
        """Return the chosen formula as LaTeX with numbers to four digits, or that of a row of `equations_`."""
        return self._one_or_list([presenting.to_latex(equation.expression) for equation in self._chosen(index)])

    def _chosen(self, index: int | Sequence[int] | None) -> list[Equation]:
        check_is_fitted(self)
        places: list[Any] = list(index) if isinstance(index, Sequence) else [index] * len(self._fronts)
        if len(places) != len(self._fronts):
            raise SettingsError(
                f"`index` must have one row for each of {len(self._fronts)} targets, but it is {index}."
            )
        chosen = []
        for front, place in zip(self._fronts, places, strict=True):
            row = _choice(front, self.model_selection) if place is None else place
            if not isinstance(row, numbers.Integral) or not -len(front.equations) <= int(row) < len(front.equations):
                raise SettingsError(
                    f"`index` must be a row of `equations_`, from 0 to {len(front.equations) - 1}, but it is {row!r}."
                )
            chosen.append(front.equations[int(row)])
        return chosen

    def _each(self, ask: Callable[[_Front], Any]) -> Any:
        check_is_fitted(self)
        return self._one_or_list([ask(front) for front in self._fronts])

    def _one_or_list(self, values: list[Any]) -> Any:
        return values if self._is_multiple else values[0]

    # --- For the eye -------------------------------------------------------------------------------------------------

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Show the parameters and, once fitted, the front, with the choice marked."""
        head = str(super().__repr__(N_CHAR_MAX))
        if not self.__sklearn_is_fitted__():
            return head
        return "\n".join([head, *(_text(front, self.model_selection) for front in self._fronts)])

    def _repr_html_(self) -> str:
        """Show the front as a table with formulas in MathML; every name in it is escaped."""
        head = f"<pre>{html.escape(str(super().__repr__()))}</pre>"
        if not self.__sklearn_is_fitted__():
            return head
        return head + "".join(_html_table(front, self.model_selection) for front in self._fronts)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:  # noqa: ARG002 - notebooks pass some
        """Give notebooks both."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


# --- One target ------------------------------------------------------------------------------------------------------


class _Search:
    """The search for one target."""

    def __init__(
        self, plan: _Plan, dataset: Dataset, *, seed: int, seconds: float | None, known: Sequence[Expression]
    ) -> None:
        self._plan, self._whole, self._seed = plan, dataset, seed
        sampled = _distinct(_sampled(dataset, seed))
        self._columns = _most_relevant(sampled)
        self._data = Dataset.of(
            sampled.X[:, self._columns], sampled.y, sampled.weights, [sampled.names[i] for i in self._columns]
        )
        operators = tuple(operator(name) for name in plan.operators)
        variables = Library.of([], self._data.names).tokens
        self._library = Library((*variables, *operators))
        self._writer = Writer(Library((*self._library.tokens, constant())))
        # The same tokens, for the columns of the whole table.
        placed = tuple(replace(token, column=self._columns[token.column]) for token in variables)
        self._shown = Library((*placed, *operators, constant()))
        # Units need a factor to be written with.
        ones = Units((1.0,) * len(self._columns), 1.0)
        self._units = Units.of(self._data) if self._writer.has("mul") else ones
        self._scaled = self._units.scaled(self._data)
        # Whether squared errors neither overflow nor vanish; else descriptions are those of the scaled formulas.
        self._has_squares = _SQUARES_FIT[0] < self._units.target < _SQUARES_FIT[1]
        self._budget = Budget(plan.max_evals, None if seconds is None else max(seconds, 1e-3))
        self._known = [part for part in map(self._writer.part, known) if part is not None]

    def run(self, *, is_at_once: bool) -> _Front:
        """Search; `is_at_once` gives a mere number, for a search that was interrupted before it began."""
        settings = replace(self._plan.settings, assembly=None) if is_at_once else self._plan.settings
        portfolio = Portfolio(
            self._library,
            self._scaled,
            settings,
            seed=self._seed,
            budget=self._budget,
            known=self._scaled_known(),
            threads=self._plan.threads,
        )
        reason = self._followed(portfolio, is_at_once=is_at_once)
        parts = [formula.part for formula in portfolio.front()]
        return self._front([*parts, *self._best_part(portfolio)], reason)

    def _scaled_known(self) -> list[Expression]:
        back = self._units.inverse
        parts = [next(back.restored(self._writer, part)) for part in self._known]
        return [Expression(self._writer.library, part.ids, part.constants) for part in parts]

    def _best_part(self, portfolio: Portfolio) -> list[Part]:
        best = portfolio.best
        return [best.part] if best is not None else []

    def _followed(self, portfolio: Portfolio, *, is_at_once: bool) -> str:
        """Follow the turns to their end, and return why it came."""
        plan, last, since = self._plan, None, 0
        try:
            for turn in portfolio.turns():
                since = 0 if last is None or turn.best != last else since + 1
                if since == 0 and plan.is_talking:
                    formula = self._shown_form(turn.best.expression)
                    self._say(f"{turn.seconds:7.1f} s  {turn.charged:>10,} formulas  {formula}")
                last = turn.best
                if turn.reason is not None:
                    return turn.reason.value
                if is_at_once:
                    break
                if self._is_enough(portfolio):
                    return _CONDITION
                if plan.patience is not None and since >= plan.patience:
                    return _PATIENCE.format(plan.patience)
        except KeyboardInterrupt:
            if portfolio.best is None:
                raise
        return StopReason.INTERRUPTED.value

    def _is_enough(self, portfolio: Portfolio) -> bool:
        condition = self._plan.early_stop
        if condition is None:
            return False
        unit = self._units.target
        for formula in portfolio.front():
            loss = formula.mean_square * unit * unit
            size = len(self._shown_form(formula.expression))
            if condition(loss, size) if callable(condition) else loss <= condition:
                return True
        return False

    def _shown_form(self, expression: Expression) -> Expression:
        """A formula of the search as it will be shown, but for a last tidying."""
        part = next(self._units.restored(self._writer, Part(expression.ids, expression.constants)))
        return Expression(self._shown, part.ids, part.constants)

    def _say(self, line: str) -> None:
        try:
            sys.stderr.write(f"{line}\n")
        except (OSError, ValueError):
            return  # nobody listens, which is no reason to lose the search

    # From the formulas of the search to those that are shown

    def _front(self, parts: Sequence[Part], reason: str) -> _Front:
        candidates = [candidate for part in dict.fromkeys(parts) for candidate in self._restored(part)]
        fitting = [candidate for candidate in candidates if candidate.complexity <= self._plan.maxsize]
        rounding = floor(self._scaled)
        return _Front(_pareto(fitting or candidates, rounding), reason, len(self._data), rounding)

    def _restored(self, part: Part) -> list[Equation]:
        """A formula of the search in the data's own units, tidied in them where units were changed."""
        wanted = Expression(self._writer.library, part.ids, part.constants).evaluate(self._scaled.X)
        for form in self._units.restored(self._writer, part):
            values = Expression(self._writer.library, form.ids, form.constants).evaluate(self._data.X)
            if not np.allclose(values / self._units.target, wanted, rtol=_SAME, atol=_SAME * np.abs(wanted).max()):
                continue  # something overflowed or vanished on the way
            found = self._judged(form, part)
            if self._has_squares and not self._units.are_plain:
                fitted = part_of(polished(self._writer.population([form]), self._data), 0)
                found += self._judged(fitted, part)
                found += self._judged(tidied(self._writer, fitted, self._data), part)
            return found
        return []

    def _judged(self, part: Part, searched: Part) -> list[Equation]:
        """A formula with its loss on all rows; none where it has no value at some row that counts.

        `searched` is what the search had in its place, for scaled data.
        """
        data, unit = self._whole, self._units.target
        expression = Expression(self._shown, part.ids, part.constants)
        prediction = expression.evaluate(data.X)
        counted = data.weights > 0.0
        if np.isnan(prediction[counted]).any():
            return []
        prediction = np.where(np.isnan(prediction), data.y, prediction)  # where the weight is 0
        with np.errstate(over="ignore"):
            loss = _mean_square(data.y, prediction, data.weights)
            share = _mean_square(data.y / unit, prediction / unit, data.weights)
        if not math.isfinite(share):
            return []
        row, judge = (part, self._data) if self._has_squares else (searched, self._scaled)
        description = float(description_lengths(self._writer.population([row]), judge)[0])
        return [Equation(expression, len(part), loss, 0.0, description, share)] if math.isfinite(description) else []


def _pareto(candidates: Sequence[Equation], rounding: float) -> tuple[Equation, ...]:
    """The best of each complexity, none worse than a shorter one, and the one of the shortest description."""
    by_size: dict[int, Equation] = {}
    for candidate in candidates:
        known = by_size.get(candidate.complexity)
        if known is None or candidate.description < known.description:
            by_size[candidate.complexity] = candidate
    choice = min(by_size.values(), key=lambda equation: equation.description)
    number = min(filter(_is_number, candidates), key=lambda equation: equation.description, default=None)
    if number is not None and choice.description >= number.description - EVIDENCE:
        choice = by_size[number.complexity] = number
    kept: list[Equation] = []
    least = math.inf
    for size in sorted(by_size):
        equation = by_size[size]
        if equation.share < least or equation is choice:
            kept.append(equation)
            least = min(least, equation.share)
    scores = [0.0]
    for before, after in itertools.pairwise(kept):
        fall = math.log(max(before.share, rounding)) - math.log(max(after.share, rounding))
        scores.append(fall / (after.complexity - before.complexity))
    return tuple(replace(equation, score=score) for equation, score in zip(kept, scores, strict=True))


def _mean_square(y: Floats, prediction: Floats, weights: Floats) -> float:
    """As scikit-learn's `mean_squared_error` computes it, to the last bit."""
    is_even = bool((weights == 1.0).all())
    return float(np.average((y - prediction) ** 2, weights=None if is_even else weights))


# --- Choosing --------------------------------------------------------------------------------------------------------


def _choice(front: _Front, rule: str) -> int:
    """Return the row that a rule chooses."""
    _check_choice(rule)
    costs = [_cost(equation, front, rule) for equation in front.equations]
    chosen = int(np.argmin(costs))
    if rule == "best":
        values = [i for i, equation in enumerate(front.equations) if equation.complexity == 1 and _is_number(equation)]
        if values and front.equations[chosen].description >= front.equations[values[0]].description - EVIDENCE:
            return values[0]
    return chosen


def _cost(equation: Equation, front: _Front, rule: str) -> float:
    if rule == "accuracy":
        return equation.share
    if rule == "score":
        return -equation.score
    if rule == "bic":
        fitted = sum(token.kind is TokenKind.CONSTANT for token in equation.expression.tokens)
        return front.rows * math.log(max(equation.share, front.rounding)) + fitted * math.log(front.rows)
    return equation.description


def _is_number(equation: Equation) -> bool:
    return equation.expression.tokens[0].kind is TokenKind.CONSTANT


# --- Data ------------------------------------------------------------------------------------------------------------


def _are_texts(labels: tuple[Hashable, ...] | None) -> bool:
    """Whether columns have names of the kind that scikit-learn knows; others are ours alone to remember."""
    return labels is not None and all(type(label) is str for label in labels)


def _weights(values: Any, rows: int) -> Floats:
    if values is None:
        return np.ones(rows)
    if isinstance(values, numbers.Real):
        values = np.full(rows, values)
    weights = frames.read_values(values, "sample_weight", rows)
    if weights.ndim != 1:
        raise DataError(f"`sample_weight` must have one value for each row, but its shape is {weights.shape}.")
    if weights.min() < 0.0:
        row = int(weights.argmin())
        raise DataError(f"`sample_weight` must not be negative, but it is {weights[row]} in row {row}.")
    if weights.max() == 0.0:
        raise DataError("`sample_weight` must not be zero in every row. Leave it out to weigh all rows alike.")
    return weights


def _sampled(dataset: Dataset, seed: int) -> Dataset:
    """The rows that count, and of many a sample."""
    rows = np.flatnonzero(dataset.weights > 0.0)
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_ROWS, replace=False))
    if len(rows) == len(dataset):
        return dataset
    return Dataset.of(dataset.X[rows], dataset.y[rows], dataset.weights[rows], dataset.names)


def _distinct(dataset: Dataset) -> Dataset:
    """Each different row once, with its weights added up, in an order that does not depend on the given one."""
    X, y = dataset.X + 0.0, dataset.y + 0.0  # no minus zero: it would equal another row
    order = np.lexsort((y, *X.T[::-1]))
    X, y, weights = X[order], y[order], dataset.weights[order]
    is_new = np.ones(len(y), dtype=bool)
    is_new[1:] = (X[1:] != X[:-1]).any(axis=1) | (y[1:] != y[:-1])
    begins = np.flatnonzero(is_new)
    return Dataset.of(X[begins], y[begins], np.add.reduceat(weights, begins), dataset.names)


def _most_relevant(dataset: Dataset) -> list[int]:
    """The columns that a search looks at, in their own order."""
    count = dataset.X.shape[1]
    if count <= MOST_COLUMNS:
        return list(range(count))
    chosen = np.sort(np.argsort(-probes.relevance(dataset), kind="stable")[:MOST_COLUMNS])
    warnings.warn(
        f"`X` has {count} columns; the search looks at the {MOST_COLUMNS} that say most about y by themselves. Leave "
        "columns out to choose them yourself.",
        UserWarning,
        stacklevel=4,
    )
    return [int(column) for column in chosen]


# --- Parameters ------------------------------------------------------------------------------------------------------


CHOICES = ("best", "accuracy", "score", "bic", "mdl")
"""The rules of `model_selection`."""


def _check_choice(rule: Any) -> None:
    if rule not in CHOICES:
        close = difflib.get_close_matches(str(rule), CHOICES, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise SettingsError(f"`model_selection` must be one of {', '.join(CHOICES)}, but it is {rule!r}.{hint}")


def _checked(value: Any, name: str, kind: type, what: str) -> Any:
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


# --- For the eye -----------------------------------------------------------------------------------------------------


def _frame(front: _Front) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "complexity": [equation.complexity for equation in front.equations],
            "loss": [equation.loss for equation in front.equations],
            "score": [equation.score for equation in front.equations],
            "equation": [str(equation) for equation in front.equations],
            "sympy_format": pd.Series(
                [presenting.to_sympy(equation.expression) for equation in front.equations], dtype=object
            ),
        }
    )


def _text(front: _Front, rule: str) -> str:
    chosen = _choice(front, rule)
    lines = [f"     {'complexity':>10}  {'loss':>10}  {'score':>8}  equation"]
    for i, equation in enumerate(front.equations):
        mark = ">>>>" if i == chosen else "    "
        text = str(equation) if len(str(equation)) <= 100 else f"{str(equation)[:97]}..."
        lines.append(f"{mark} {equation.complexity:>10}  {equation.loss:>10.4g}  {equation.score:>8.3g}  {text}")
    return "\n".join([*lines, front.reason])


def _html_table(front: _Front, rule: str) -> str:
    chosen = _choice(front, rule)
    rows = []
    for i, equation in enumerate(front.equations):
        numbers_ = f"<td>{equation.complexity}</td><td>{equation.loss:.4g}</td><td>{equation.score:.3g}</td>"
        formula = f'<td style="text-align:left">{presenting.to_mathml(equation.expression)}</td>'
        style = ' style="font-weight:bold"' if i == chosen else ""
        rows.append(f"<tr{style}><td>{'&#9656;' if i == chosen else ''}</td>{numbers_}{formula}</tr>")
    head = "<tr><th></th><th>complexity</th><th>loss</th><th>score</th><th>equation</th></tr>"
    return f"<table>{head}{''.join(rows)}</table><p>{html.escape(front.reason)}</p>"
