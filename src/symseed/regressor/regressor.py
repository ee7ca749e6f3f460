"""The scikit-learn estimator: `fit` takes data and gives a Pareto front of formulas and one choice among them."""

from __future__ import annotations

import functools
import html
import numbers
import os
import time
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from symseed.arrays import Floats
from symseed.data import frames
from symseed.errors import DataError, SettingsError
from symseed.export import export, to_latex, to_numpy, to_onnx, to_sympy, to_torch
from symseed.language import Expression
from symseed.regressor.fitting import Fit, Observer, Outcome, search_targets
from symseed.regressor.front import Equation, EquationFront
from symseed.regressor.run import Run
from symseed.regressor.run_data import RunData
from symseed.regressor.settings import LIMITS, NAMES, EarlyStop, Plan, Settings, suggestion
from symseed.search.streams import Stream, derived
from symseed.show import figures

_Given = ParamSpec("_Given")
_DEFAULTS = Settings()


def _suggesting(initialise: Callable[_Given, None]) -> Callable[_Given, None]:
    """Let a constructor answer a parameter that does not exist with the name that was meant."""

    @functools.wraps(initialise)  # scikit-learn reads the parameters through it
    def checked(*args: _Given.args, **kwargs: _Given.kwargs) -> None:
        for name in kwargs:
            if name not in NAMES:
                raise TypeError(f"SymbolicRegressor has no parameter `{name}`: {suggestion(name)}")
        initialise(*args, **kwargs)

    return checked


class SymbolicRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Finds short formulas that explain a target by the columns of a table.

    `fit` searches, and ends by itself once a formula fits to rounding. The result is a Pareto front, the best formulas
    of growing complexity (`equations_`), and one formula chosen from it by `model_selection` (`best_`), which `predict`
    uses. Data need not be scaled: columns and target of unusual size are divided by powers of two for the search, and
    the formulas are given in the data's own units, with their constants fitted to convergence.

    The search uses at most 64 columns, those that each explain most of the target alone (a warning says so), and at
    most 10,000 rows, drawn at random. Equal rows count as one row of their summed weight, and the order of rows does
    not matter. If the target is constant, the formula is that number, and `score`, which is R², is 1 by scikit-learn's
    rule.

    Parameters:
        binary_operators: operators of two arguments: + - * / ^ min max, or the names of other tools for them.
        unary_operators: operators of one argument: sin cos tan exp log sqrt square cube quartic inv neg abs tanh
            sigmoid expneg logabs. In both lists a function of arrays may stand too, such as `def bump(x): return
            np.exp(-x * x)`; `fit` checks it first.
        maxsize: most tokens (operators, columns and constants) of a formula; None: the method's own limit.
        constraints: how many tokens an operator's arguments may have, such as {"pow": (-1, 1), "sin": 5}: any base and
            an exponent of one token, at most five in a sine; -1: no limit.
        nested_constraints: how often operators may be nested in one, such as {"sin": {"sin": 0, "exp": 1}}: no sine
            in a sine, and at most one exponential on any way down from it.
        max_evals: most formulas that may be tried for each target; None: the method's own limit.
        max_time: most seconds, for all targets together; None: no limit but `max_evals`. With a limit in seconds the
            answer depends on the machine; with one in formulas alone it does not.
        early_stop_condition: a loss that is good enough, or a function of loss and complexity that says whether a
            formula is.
        patience: turns after which the search ends if the choice has not changed; None: never. Eight turns are four
            rounds of assembly, the enlarged one included.
        model_selection: which formula of the front is chosen.
            "best": the one of the shortest description (tokens, constants to the precision that the data give them,
            and the errors, in nats), and a constant formula where no formula shortens that by 3 nats.
            "mdl": the one of the shortest description, without that proviso.
            "accuracy": the one of the smallest loss.
            "score": the one with the highest `score`: where the loss falls fastest per token.
            "bic": the one with the least n log(loss) + k log(n), for n rows and k fitted constants.
        loss: what an error costs: "squared", "absolute", "huber", "logcosh", or a function of y and prediction that
            gives the loss of each row. Constants are fitted by it, and formulas compared and chosen.
        n_jobs: threads that score formulas; -1: as many as there are cores. The answer does not depend on it.
        random_state: seed of the search, a NumPy RandomState, or None for a new one each time.
        warm_start: whether `fit` begins with the formulas that the fit before found.
        verbosity: 0: silent; 1: a line on stderr whenever the choice changes.
        output_directory: where `fit` makes a folder for the run, from which it can go on whatever ends the process
            (`resume`), and be looked at (`from_file`); None: nothing is written to disk.
        method: the search, one of `symseed methods`.

    Attributes:
        equations_: the front as a pandas DataFrame with the columns complexity, loss, score, equation, sympy_format;
            a list of them where y has several columns.
        pareto_front_: the same as a tuple of `Equation`, or a list of such tuples.
        best_: the `Equation` that `model_selection` chooses, or a list.
        stop_reason_: a sentence saying why the search ended, or a list.
        interrupted_: whether Ctrl-C ended it; the formulas are then the best so far.
        run_directory_: the run's folder; None where nothing is written to disk.
        nout_: number of targets.
        n_features_in_, feature_names_in_: as everywhere in scikit-learn.
    """

    @_suggesting
    def __init__(
        self,
        *,
        binary_operators: Sequence[str | Callable[..., Any]] = _DEFAULTS.binary_operators,
        unary_operators: Sequence[str | Callable[..., Any]] = _DEFAULTS.unary_operators,
        maxsize: int | None = _DEFAULTS.maxsize,
        constraints: Mapping[str, int | Sequence[int]] | None = _DEFAULTS.constraints,
        nested_constraints: Mapping[str, Mapping[str, int]] | None = _DEFAULTS.nested_constraints,
        max_evals: int | None = _DEFAULTS.max_evals,
        max_time: float | None = _DEFAULTS.max_time,
        early_stop_condition: EarlyStop | None = _DEFAULTS.early_stop_condition,
        patience: int | None = _DEFAULTS.patience,
        model_selection: str = _DEFAULTS.model_selection,
        loss: str | Callable[..., Any] = _DEFAULTS.loss,
        n_jobs: int | None = _DEFAULTS.n_jobs,
        random_state: int | np.random.RandomState | None = _DEFAULTS.random_state,
        warm_start: bool = _DEFAULTS.warm_start,
        verbosity: int = _DEFAULTS.verbosity,
        output_directory: str | os.PathLike[str] | None = _DEFAULTS.output_directory,
        method: str = _DEFAULTS.method,
    ) -> None:
        self.binary_operators = binary_operators
        self.unary_operators = unary_operators
        self.maxsize = maxsize
        self.constraints = constraints
        self.nested_constraints = nested_constraints
        self.max_evals = max_evals
        self.max_time = max_time
        self.early_stop_condition = early_stop_condition
        self.patience = patience
        self.model_selection = model_selection
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbosity = verbosity
        self.output_directory = output_directory
        self.method = method

    # --- Fitting -----------------------------------------------------------------------------------------------------

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_units: Any = None, y_units: Any = None
    ) -> SymbolicRegressor:
        """Search for formulas; Ctrl-C ends the search with the best so far, a second one gives up.

        The estimator changes only when the search has ended, so an error before the search leaves it unchanged. An
        exception during the search, such as a caller's alarm, leaves it fitted with the best formulas so far, provided
        that every target has one by then.

        Args:
            X: (M, V) numbers, as an array or a data frame; formulas call columns by their names.
            y: (M,), or (M, K) for K targets, each of which gets a front of its own.
            sample_weight: (M,), how much each row counts; 2 is the same as having the row twice.
            X_units: a list with a unit for each column, such as "m/s^2", or a mapping by name; None and columns left
                out are pure numbers. With units, only formulas of the dimension of y are tried; fitted constants have
                whatever dimension is needed.
            y_units: the target's unit, or a list of them where y has several columns.

        Raises:
            DataError: naming the value that cannot be used, and where it stands.
            SettingsError: naming a parameter that is out of range.
        """
        started = time.monotonic()
        plan = self._settings().plan()
        if y is None:
            raise DataError("SymbolicRegressor requires y to be passed, but the target y is None.")
        table = frames.read(X)
        targets = frames.read_values(y, "y", len(table.values))
        targets = targets[:, 0] if targets.ndim == 2 and targets.shape[1] == 1 else targets
        data = RunData(
            table.values,
            targets.reshape(len(targets), -1),
            _weights(sample_weight, len(table.values)),
            table.names,
            _are_texts(table.labels),
            is_multiple=targets.ndim == 2,
            targets=("y",) if targets.ndim == 1 else tuple(f"y{i + 1}" for i in range(targets.shape[1])),
        ).with_units(X_units, y_units)
        generator = check_random_state(self.random_state)
        # A warm start searches elsewhere than the fits before it.
        earlier = getattr(self, "_fits", 0) if self.warm_start else 0
        seed = derived(int(generator.randint(2**31 - 1)), Stream.WARM_START, earlier)
        self.fit_data(plan, data, labels=table.labels, seed=seed, started=started)
        self._fits = earlier + 1
        return self

    def fit_data(
        self,
        plan: Plan,
        data: RunData,
        *,
        labels: tuple[Hashable, ...] | None,
        seed: int,
        started: float | None = None,
        observers: tuple[Observer, ...] = (),
    ) -> None:
        """Search with data that have been read and settings that have been checked; for the command line.

        Args:
            labels: names of the columns in the source of the data.
            started: time, by `time.monotonic`, from which `max_time` counts; None: now.
            observers: called after every turn.
        """
        known = self._known(data.names, data.y.shape[1])
        run = None
        if plan.given.output_directory is not None:
            texts = [[str(formula) for formula in formulas] for formulas in known]
            run = Run.create(Path(plan.given.output_directory), plan.given, data, seed=seed, known=texts)
        self._fit(Fit(plan, data, seed, known, run, observers, started), labels)

    def _fit(self, fit: Fit, labels: tuple[Hashable, ...] | None) -> None:
        folder = None if fit.run is None else fit.run.folder
        search_targets(fit, lambda outcome: self._take(fit.data, labels, outcome, folder=folder))

    @classmethod
    def from_file(cls, run_directory: str | os.PathLike[str], **functions: Any) -> SymbolicRegressor:
        """Return an estimator with the formulas that a run has found so far; nothing in its folder is run.

        Args:
            functions: settings that were functions, which no file can hold. Only operators are required; a loss or an
                `early_stop_condition` that is left out has its default in later fits.

        Raises:
            DataError: if the folder does not hold a run, or the run has no formulas yet.
        """
        run = Run.read(Path(run_directory), is_to_search=False, **functions)
        found = run.found(run.settings.plan())
        if len(found) < run.data.y.shape[1]:
            raise DataError(f"`{run_directory}` has no formulas yet for every target. Resume it.")
        fronts = [item.front for _, item in sorted(found.items())]
        histories = tuple(tuple(run.history(output)) for output in range(len(fronts)))
        outcome = Outcome(tuple(fronts), histories, not all(item.is_final for item in found.values()))
        out = cls._of(run)
        out._take(run.data, run.labels, outcome, folder=run.folder)
        return out

    @classmethod
    def resume(
        cls,
        run_directory: str | os.PathLike[str],
        *,
        observers: tuple[Observer, ...] = (),
        **changes: Any,
    ) -> SymbolicRegressor:
        """Go on with a run that was interrupted or killed, to the same formulas as if it had not been.

        A run that ended by itself stays as it is, unless its limits are raised.

        Args:
            observers: called after every turn with the index of the target and its progress.
            changes: other limits (`max_time`, `max_evals`, `patience`, `early_stop_condition`), `n_jobs`, `verbosity`,
                `model_selection`; and settings that were functions, which no file can hold.
        """
        run = Run.read(Path(run_directory), **changes)
        out = cls._of(run)
        plan = run.settings.plan()
        found = run.found(plan)
        is_longer = any(name in changes for name in LIMITS)
        done = {} if is_longer else {output: item.front for output, item in found.items() if item.is_final}
        run.lock()
        known = [[Expression.parse(text, run.library(plan, formulas)) for text in formulas] for formulas in run.known]
        out._fit(Fit(plan, run.data, run.seed, known, run, observers, done=done), run.labels)
        return out

    @classmethod
    def _of(cls, run: Run) -> SymbolicRegressor:
        return cls(**{name: getattr(run.settings, name) for name in NAMES})

    def _settings(self) -> Settings:
        return Settings(**{name: getattr(self, name) for name in NAMES})

    def _take(
        self, data: RunData, labels: tuple[Hashable, ...] | None, outcome: Outcome, *, folder: Path | None
    ) -> None:
        self.n_features_in_ = data.X.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if _are_texts(labels):
            self.feature_names_in_ = np.array(labels, dtype=object)
        self._labels = labels
        self._fronts, self._histories = outcome.fronts, outcome.histories
        self._is_multiple = data.is_multiple
        reasons = [front.reason.value for front in outcome.fronts]
        self.stop_reason_: str | list[str] = reasons if data.is_multiple else reasons[0]
        self.interrupted_ = outcome.is_interrupted
        self.run_directory_ = None if folder is None else str(folder)
        self.nout_ = len(outcome.fronts)

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
        return self._each(EquationFront.frame)

    @property
    def best_(self) -> Any:
        """The formula that `model_selection` chooses; a list of them where y has several columns."""
        return self._each(lambda front: front.equations[front.choice(self.model_selection)])

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
        values = [equation.expression.evaluate(table.values) for equation in self.at(index)]
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
        return self._one_or_list([to_sympy(equation.expression) for equation in self.at(index)])

    def latex(self, index: int | Sequence[int] | None = None) -> Any:
        """Return the chosen formula as LaTeX with numbers to four digits, or that of a row of `equations_`."""
        return self._one_or_list([to_latex(equation.expression) for equation in self.at(index)])

    def export(self, format: str, index: int | Sequence[int] | None = None, *, name: str = "formula") -> Any:  # noqa: A002
        """Return the chosen formula as text: sympy, latex, python, c, julia or excel.

        Args:
            format: `symseed.export.export` says what each is.
            index: the row of `equations_` to use in place of the choice; a list where y has several columns.
            name: what the function is called, in Python, C and Julia.
        """
        return self._one_or_list([export(item.expression, format, name=name) for item in self.at(index)])

    def numpy_function(self, index: int | Sequence[int] | None = None) -> Any:
        """Return the chosen formula as a function of NumPy arrays, one for each variable that occurs."""
        return self._one_or_list([to_numpy(item.expression) for item in self.at(index)])

    def pytorch(self, index: int | Sequence[int] | None = None) -> Any:
        """Return the chosen formula as a PyTorch module, whose constants can be trained further."""
        return self._one_or_list([to_torch(item.expression) for item in self.at(index)])

    def onnx(self, index: int | Sequence[int] | None = None) -> Any:
        """Return the chosen formula as an ONNX model."""
        return self._one_or_list([to_onnx(item.expression, self.n_features_in_) for item in self.at(index)])

    # --- Pictures ----------------------------------------------------------------------------------------------------

    def plot_front(self) -> Any:
        """Draw loss against complexity, with the choice marked: a matplotlib figure."""
        return self._each(lambda front: figures.plot_front(front.equations, front.choice(self.model_selection)))

    def plot_fit(self, X: Any, y: Any, index: int | Sequence[int] | None = None) -> Any:
        """Draw data, the formula, and what remains of the data without it: a matplotlib figure."""
        check_is_fitted(self)
        table = frames.read(X, labels=self._labels)
        columns = frames.read_values(y, "y", len(table.values)).reshape(len(table.values), -1)
        if columns.shape[1] != len(self._fronts):
            raise DataError(f"`y` must have {len(self._fronts)} columns, but it has {columns.shape[1]}.")
        drawn = [
            figures.plot_fit(item.expression, table.values, column)
            for item, column in zip(self.at(index), columns.T, strict=True)
        ]
        return self._one_or_list(drawn)

    def plot_tree(self, index: int | Sequence[int] | None = None) -> Any:
        """Draw the chosen formula as a tree: a matplotlib figure."""
        return self._one_or_list([figures.plot_tree(item.expression) for item in self.at(index)])

    def plot_convergence(self) -> Any:
        """Draw how the choice's loss fell while the search went on: a matplotlib figure."""
        check_is_fitted(self)
        return self._one_or_list([figures.plot_convergence(history) for history in self._histories])

    @property
    def fronts(self) -> tuple[EquationFront, ...]:
        """What was found for each target, also where there is one."""
        check_is_fitted(self)
        return self._fronts

    def at(self, index: int | Sequence[int] | None = None) -> list[Equation]:
        """Return the chosen formula of each target, or that of a row of `equations_`."""
        check_is_fitted(self)
        places: list[Any] = list(index) if isinstance(index, Sequence) else [index] * len(self._fronts)
        if len(places) != len(self._fronts):
            raise SettingsError(
                f"`index` must have one row for each of {len(self._fronts)} targets, but it is {index}."
            )
        chosen = []
        for front, place in zip(self._fronts, places, strict=True):
            row = front.choice(self.model_selection) if place is None else place
            if not isinstance(row, numbers.Integral) or not -len(front.equations) <= int(row) < len(front.equations):
                raise SettingsError(
                    f"`index` must be a row of `equations_`, from 0 to {len(front.equations) - 1}, but it is {row!r}."
                )
            chosen.append(front.equations[int(row)])
        return chosen

    def _each(self, ask: Callable[[EquationFront], Any]) -> Any:
        check_is_fitted(self)
        return self._one_or_list([ask(front) for front in self._fronts])

    def _one_or_list(self, values: list[Any]) -> Any:
        return values if self._is_multiple else values[0]

    # --- Display -----------------------------------------------------------------------------------------------------

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Show the parameters and, once fitted, the front, with the choice marked."""
        head = str(super().__repr__(N_CHAR_MAX))
        if not self.__sklearn_is_fitted__():
            return head
        return "\n".join([head, *(front.text(self.model_selection) for front in self._fronts)])

    def _repr_html_(self) -> str:
        """Show the front as a table with formulas in MathML; every name in it is escaped."""
        head = f"<pre>{html.escape(str(super().__repr__()))}</pre>"
        if not self.__sklearn_is_fitted__():
            return head
        return head + "".join(front.html(self.model_selection) for front in self._fronts)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:  # noqa: ARG002 - notebooks pass some
        """Give notebooks the text and the table."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


# --- Data ------------------------------------------------------------------------------------------------------------


def _are_texts(labels: tuple[Hashable, ...] | None) -> bool:
    """Whether all columns are named by strings, the only names that scikit-learn keeps."""
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
