"""The scikit-learn estimator: `fit` takes data and finds a Pareto front of formulas, one of them selected."""

from __future__ import annotations

import functools
import numbers
import os
import time
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, ParamSpec, overload

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from symseed import show
from symseed.arrays import Floats
from symseed.data import frames
from symseed.errors import DataError, SettingsError
from symseed.regressor import given, guesses
from symseed.regressor.fitting import Fit, Outcome, Screen, saved_outcome, search_targets
from symseed.regressor.front import TABLE, Equation, EquationFront
from symseed.regressor.run import Run
from symseed.regressor.run_data import RunData
from symseed.regressor.settings import LIMITS, NAMES, Callback, EarlyStop, Plan, Settings, suggestion
from symseed.regressor.sureness import Sureness

_Given = ParamSpec("_Given")
_DEFAULTS = Settings()
_WIDE = 120
"""Width of the front in `repr`, in characters: chosen by hand."""


def _suggesting(initialise: Callable[_Given, None]) -> Callable[_Given, None]:
    """Wrap a constructor so that an unknown parameter gets a suggestion."""

    @functools.wraps(initialise)  # scikit-learn reads the parameters through it
    def checked(*args: _Given.args, **kwargs: _Given.kwargs) -> None:
        for name in kwargs:
            if name not in NAMES:
                raise TypeError(f"SymbolicRegressor has no parameter `{name}`.{suggestion(name)}")
        initialise(*args, **kwargs)

    return checked


class SymbolicRegressor(Sureness, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Finds short formulas that explain a target by the columns of a table.

    The result of `fit` is a Pareto front, formulas of growing complexity and falling loss (`equations_`), and one
    formula of it that `model_selection` selects (`best_`) and `predict` uses. The search stops as soon as a formula
    fits to rounding. Data need not be scaled: the search divides columns and target by powers of two, and formulas are
    in the units of the data, with their constants fitted to convergence.

    The search uses at most 64 columns, those that each explain most of the target alone, and at most 10,000 samples,
    drawn at random; a warning says so. At the end constants are fitted, and formulas judged and selected, on all
    samples. Equal samples count as one sample of their summed weight, and the order of samples does not matter. If the
    target is constant, the formula is that number, and `score`, which is R², is 1 by scikit-learn's rule.

    Parameters:
        binary_operators: operators of two arguments: + - * / ^ min max mod hypot atan2 greater cond unless, or their
            names (add, sub, ...); "where" means cond and unless.
        unary_operators: operators of one argument: sin cos tan exp log sqrt square cube quartic inv neg abs tanh
            sigmoid expneg logabs asin acos atan sinh cosh asinh acosh atanh log2 log10 log1p expm1 cbrt erf gamma sign
            step relu floor ceil. Either list may also contain functions of arrays, such as `def bump(x): return
            np.exp(-x * x)`; `fit` tests them first.
        maxsize: maximum complexity of a formula, which is its number of tokens (operators, columns and constants)
            unless the next three say otherwise; None: the method's limit.
        complexity_of_operators: what operators add to the complexity of a formula, whole numbers of at least 1, such as
            {"sin": 3, "^": 2}; 1 for those that are not named. The description length, by which a formula is selected,
            counts an operator of complexity 3 as three tokens.
        complexity_of_variables: the same for a column: one number, or numbers by the columns' names.
        complexity_of_constants: the same for a fitted constant.
        constraints: maximum number of tokens in each argument of an operator; -1: no limit. {"pow": (-1, 1), "sin": 5}
            means any base, an exponent of one token, and at most five tokens inside a sine.
        nested_constraints: how often operators may occur on any path below another. {"sin": {"sin": 0, "exp": 1}}
            means no sine inside a sine, and at most one exponential.
        select_k_features: number of columns that the search uses for each target: those that each explain most of it
            alone (`selected_features_`). None: all of them, up to 64.
        max_evals: maximum number of formulas to try for each target; None: the method's limit.
        max_time: maximum number of seconds, for all targets together; None: no limit but `max_evals`. With a limit in
            seconds the answer depends on the machine; with a limit in formulas alone it does not.
        early_stop_condition: a loss at which the search stops, or a function of loss and complexity that returns True
            to stop.
        patience: number of turns without a change of the selected formula after which the search stops; None: no limit.
            In one turn, every search of the method runs for a few steps. "auto": 8 for `default` and its variants, no
            limit for the paper's methods.
        model_selection: the rule that selects a formula of the front.
            "best": minimum description length (of tokens, of constants to the precision that the data support, and of
            the errors, in nats), but a constant unless a formula is 1 nat shorter, or 3 if it holds no number.
            "mdl": minimum description length, without that condition.
            "accuracy": smallest loss.
            "score": highest score, where the loss falls fastest per step of complexity.
            "bic": least n log(loss) + k log(n), for n samples and k fitted constants.
            "cv": the shortest formula whose loss in tenfold cross-validation (`cv_loss`) is at most one standard error
            above the least one. It must be set before the fit.
        loss: "squared", "absolute", "huber", "logcosh", a name of another tool for these ("mse", "L1DistLoss()",
            "HuberLoss(2.5)"), or a function of y and prediction that returns the loss of each sample. Constants are
            fitted, and formulas compared and selected, by the loss.
        noise: how large the noise of y is at each sample. Formulas are fitted, compared and selected accordingly; the
            `loss` in `equations_` is the mean squared error of `predict` all the same.
            "auto": additive, relative, or a floor and a relative part, whichever the data prefer (`noise_` has the
            answer); additive unless the evidence is clear, or if `loss` is not "squared".
            "additive": the same at every sample.
            "relative": in proportion to the value, as that of many instruments.
            "floor": a floor and a relative part.
            "robust": additive with outliers, by Student's t distribution.
            Known standard errors of y are given to `fit`, as `y_err`.
        test_size: share of the samples, or number of them, that are held out at random. The search never sees them; the
            column `test_loss` of `equations_` has the loss of each formula on them. None: all samples are fitted.
        n_jobs: number of threads that score formulas; -1: one for each core. None: one for each core where
            that pays, which is from 200 samples on if constants are fitted, but only one in a worker of joblib, such
            as those of scikit-learn's `GridSearchCV`. With `islands`, the number of processes that search them; None:
            one for each core. The answer does not depend on it.
        device: what computes formulas: "cpu", "cuda" for an NVIDIA GPU, or "auto" for the GPU if there is one. The
            answer does not depend on it. It needs the extra `symseed[cuda]`; `symseed doctor` says what is missing.
        islands: number of portfolios that search beside each other, each with random numbers of its own, and exchange
            their best formulas; they share `max_evals`. The answer depends on it.
        island_exchange: "ring": each island gets the best formulas of the one before it. "best": those of all others.
        island_tracks: lists of the numbers of the searches that each island has, such as [[0, 1], [2]], counted from 0
            as `symseed methods NAME` lists them; further islands begin with the first list again. None: all.
        executor: where islands are searched: a `concurrent.futures.Executor`, a Dask client, or the address of a Dask
            scheduler, such as "tcp://10.0.0.1:8786". None: `n_jobs` processes of this machine.
        random_state: the seed, a NumPy RandomState, or None for a new seed in each fit.
        warm_start: whether `fit` begins with the formulas of the previous fit.
        guesses: formulas that the search begins with, as texts such as ["const * x1 ^ 2 + x2"]; their numbers, and
            `const`, which begins at 1, are fitted. For several targets, a list of such lists, or one list for all of
            them. None: none.
        verbosity: what is shown while `fit` works. None: in a notebook a display that updates in place, elsewhere
            nothing. 0: nothing. 1: the display in a notebook, elsewhere a line on stderr whenever the selected formula
            changes.
        output_directory: parent of the folder that `fit` creates for the run, from which `resume` continues it and
            `from_file` reads its formulas; None: nothing is written to disk.
        method: name of the search method; `symseed methods` lists them.
        method_settings: settings of the method's searches by name, such as {"policy.learning_rate": 0.001,
            "evolution.generations": 10}; None: the method's own. `symseed methods NAME` lists them with their values.
            They apply to every search of `default` that has the part which they belong to.
        constants: whether formulas may have fitted constants. None: the method's own way, which is yes for `default`
            and its variants and no for the paper's methods.
        template: the structure of all formulas, with free parts that are searched, each over its own columns:
            "const * f(x) + g(y)". A name with columns in brackets that is no operator is a free part; const is a
            fitted constant, and const[species] one for each value of the column species; numbers, columns and operators
            stand for themselves. None: formulas of any structure.
        network: the file of a network that was trained on many formulas: it reads the data and seeds the searches of
            `default` and `nggp-pretrained` with likely forms. "auto": the one that ships with symseed; None: no
            network.
        callback: a function that is called with a `Progress` once there are first formulas, and after every turn. If it
            returns something true, the search for this target ends. An exception in it ends the fit, with the best
            formulas so far.

    Attributes:
        equations_: the front as a pandas DataFrame with the columns complexity, loss, score, weight, equation,
            expression, sympy_format, and test_loss if samples are held out, cv_loss if `model_selection` is "cv"; a
            list of them if y has several columns. The weight is the probability that the form of the formula is right.
        pareto_front_: the same as a tuple of `Equation`, or a list of such tuples.
        best_: the `Equation` that `model_selection` selects, or a list.
        noise_: the noise by which formulas were fitted: a `Noise` with `kind`, `floor`, `share` and `words`, which is a
            sentence; or a list.
        remarks_: a list of sentences about the residuals of the formula that the fit selected: whether they grow with
            the value, form waves along a column, or have outliers; a list of such lists for several targets.
        stop_reason_: a sentence saying why the search ended, or a list.
        interrupted_: whether Ctrl-C ended it; the formulas are then the best so far.
        run_directory_: the run's folder; None if nothing is written to disk.
        nout_: number of targets.
        selected_features_: names of the columns that the search used, or a list of such lists.
        structure_: what evidence says of the structure of the data, best first (`symseed.structure.Finding`), or a list
            of such lists; empty if it was not sought or nothing was found.
        prior_: what the network thought of the data before any search: its most probable forms with their
            probabilities (`symseed.network.Guess`), or a list of such lists; empty without a network, or if no search
            was needed. A form leaves an outer a + b f out.
        n_features_in_, feature_names_in_: as in all estimators of scikit-learn.
    """

    model_selection: str
    random_state: Any
    warm_start: bool

    @_suggesting
    def __init__(
        self,
        *,
        binary_operators: Sequence[str | Callable[..., Any]] = _DEFAULTS.binary_operators,
        unary_operators: Sequence[str | Callable[..., Any]] = _DEFAULTS.unary_operators,
        maxsize: int | None = _DEFAULTS.maxsize,
        complexity_of_operators: Mapping[str, int] | None = _DEFAULTS.complexity_of_operators,
        complexity_of_variables: int | Mapping[str, int] = _DEFAULTS.complexity_of_variables,
        complexity_of_constants: int = _DEFAULTS.complexity_of_constants,
        constraints: Mapping[str, int | Sequence[int]] | None = _DEFAULTS.constraints,
        nested_constraints: Mapping[str, Mapping[str, int]] | None = _DEFAULTS.nested_constraints,
        select_k_features: int | None = _DEFAULTS.select_k_features,
        max_evals: int | None = _DEFAULTS.max_evals,
        max_time: float | None = _DEFAULTS.max_time,
        early_stop_condition: EarlyStop | None = _DEFAULTS.early_stop_condition,
        patience: int | str | None = _DEFAULTS.patience,
        model_selection: str = _DEFAULTS.model_selection,
        loss: str | Callable[..., Any] = _DEFAULTS.loss,
        noise: str = _DEFAULTS.noise,
        test_size: float | int | None = _DEFAULTS.test_size,
        n_jobs: int | None = _DEFAULTS.n_jobs,
        device: str = _DEFAULTS.device,
        islands: int = _DEFAULTS.islands,
        island_exchange: str = _DEFAULTS.island_exchange,
        island_tracks: Sequence[Sequence[int]] | None = _DEFAULTS.island_tracks,
        executor: Any = _DEFAULTS.executor,
        random_state: int | np.random.RandomState | None = _DEFAULTS.random_state,
        warm_start: bool = _DEFAULTS.warm_start,
        guesses: Sequence[str] | Sequence[Sequence[str]] | None = _DEFAULTS.guesses,
        verbosity: int | None = _DEFAULTS.verbosity,
        output_directory: str | os.PathLike[str] | None = _DEFAULTS.output_directory,
        method: str = _DEFAULTS.method,
        method_settings: Mapping[str, Any] | None = _DEFAULTS.method_settings,
        constants: bool | None = _DEFAULTS.constants,
        template: str | None = _DEFAULTS.template,
        network: str | os.PathLike[str] | None = _DEFAULTS.network,
        callback: Callback | None = _DEFAULTS.callback,
    ) -> None:
        given = locals()
        for name in NAMES:
            setattr(self, name, given[name])

    # --- Fitting -----------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        y_err: Any = None,
        X_err: Any = None,
        X_units: Any = None,
        y_units: Any = None,
    ) -> SymbolicRegressor:
        """Search for formulas; Ctrl-C stops the search and keeps the best so far, a second Ctrl-C stops at once.

        The estimator changes only when the search has ended, so an error before the search leaves it unchanged. An
        exception during the search, such as a caller's alarm, leaves it fitted with the best formulas so far, provided
        that every target has one by then.

        Args:
            X: (M, V) numbers, as an array or a data frame; formulas use the names of the columns. A table of any size
                is read in blocks: the path of a Parquet, Arrow, `.npy` or text file, of a folder of Parquet files, or a
                pattern of paths; a Dask DataFrame; or a memory-mapped array (`np.load(path, mmap_mode="r")`).
            y: (M,), or (M, K) for K targets, each with its own front. For a path or a Dask frame the name of a column,
                as are `sample_weight` and `y_err` then.
            sample_weight: (M,), weight of each sample; 2 is the same as repeating the sample.
            y_err: standard errors of y, of the shape of y or one number for each row; samples are weighed by their
                inverse squares. Only their ratios matter: the common factor is estimated.
            X_err: standard errors of columns, by name, as arrays or single numbers: {"x": 0.1}; or an array of the
                shape of X. They count by effective variance: the error of y is that of `y_err` and, for each column,
                slope times error. Without `y_err`, the error of y is estimated.
            X_units: a list with a unit for each column, such as "m/s^2", or a mapping by name; None and columns left
                out are pure numbers. With units, only formulas of the dimension of y are tried; fitted constants have
                whatever dimension is needed.
            y_units: the target's unit, or a list of them if y has several columns.

        Raises:
            DataError: naming the value that cannot be used, and its position.
            SettingsError: naming a parameter that is out of range.
        """
        started = time.monotonic()
        plan = self._settings().plan()
        plan.backend()  # A GPU that is missing is said before anything is written.
        if y is None:
            raise DataError("SymbolicRegressor requires y to be passed, but the target y is None.")
        # A warm start has another seed than the fits before it.
        earlier = getattr(self, "_fits", 0) if self.warm_start else 0
        seed = given.seed_of(self.random_state, earlier)
        data, labels = given.read(plan, X, y, given.Extras(sample_weight, y_err, X_err), seed)
        self.fit_data(plan, data.with_units(X_units, y_units), labels=labels, seed=seed, started=started)
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
        screen: Screen | None = None,
    ) -> None:
        """Search with data that have been read and settings that have been checked; for the command line.

        Args:
            labels: names of the columns in the source of the data.
            started: time, by `time.monotonic`, from which `max_time` counts; None: now.
            screen: shows the search while it works; None: what `verbosity` says.
        """
        plan = plan.with_categories(data.categories).guided()
        plan.weights.check(data.names)
        plan.check_executor(is_large=data.large is not None)
        plan.check_errors(is_given=data.y_errors is not None or data.X_errors is not None)
        if plan.template is not None:
            plan.template.columns(data.names)  # refuses names that are no column, before a folder is made
        before = self._fronts if self.warm_start and self.__sklearn_is_fitted__() else ()
        known = guesses.known(plan, data, before)
        data = data.with_test(plan.given.test_size, seed)
        run = None
        with plan.connected() as executor:
            if plan.given.output_directory is not None:
                texts = [[str(formula) for formula in formulas] for formulas in known]
                run = Run.create(
                    Path(plan.given.output_directory), plan.given, data, seed=seed, known=texts, network=plan.checksum
                )
            self._fit(Fit(plan, data, seed, known, run, started, screen=screen, executor=executor), labels)

    def _fit(self, fit: Fit, labels: tuple[Hashable, ...] | None) -> None:
        folder = None if fit.run is None else fit.run.folder
        search_targets(fit, lambda outcome: self._take(fit.data, labels, outcome, folder=folder))

    @classmethod
    def from_file(cls, run_directory: str | os.PathLike[str], **functions: Any) -> SymbolicRegressor:
        """Return an estimator with the formulas that a run has found so far; nothing in its folder is executed.

        Args:
            functions: settings that were functions, which no file can hold. Only operators are required; a loss or an
                `early_stop_condition` that is left out has its default in later fits.

        Raises:
            DataError: if the folder does not hold a run, or the run has no formulas yet.
        """
        run = Run.read(Path(run_directory), is_to_search=False, **functions)
        plan = run.plan()
        found = run.found(plan)
        if len(found) < run.data.y.shape[1]:
            raise DataError(
                f"`{run_directory}` must have formulas for every target, but some have none yet. Resume the run."
            )
        out = cls._of(run)
        out._take(run.data, run.labels, saved_outcome(run, plan, found), folder=run.folder)
        return out

    @classmethod
    def resume(
        cls,
        run_directory: str | os.PathLike[str],
        *,
        screen: Screen | None = None,
        **changes: Any,
    ) -> SymbolicRegressor:
        """Continue an interrupted or killed run, to the same formulas as without the interruption.

        A finished run is left unchanged unless its limits are raised.

        Args:
            screen: shows the search while it works; None: what `verbosity` says.
            changes: a `callback`; other limits (`max_time`, `max_evals`, `patience`, `early_stop_condition`), `n_jobs`,
                `device`, `executor`, `verbosity`, `model_selection`; `network`, if its file has moved; and settings
                that were functions, which no file can hold.
        """
        run = Run.read(Path(run_directory), **changes)
        out = cls._of(run)
        plan = run.plan()
        found = run.found(plan)
        is_longer = any(name in changes for name in LIMITS)
        done = {} if is_longer else {output: item.front for output, item in found.items() if item.is_final}
        plan = plan.guided()
        run.check_network(plan)
        known = run.known_formulas(plan)
        with plan.connected() as executor:
            run.lock()
            out._fit(Fit(plan, run.data, run.seed, known, run, done=done, screen=screen, executor=executor), run.labels)
        return out

    @classmethod
    def _of(cls, run: Run) -> SymbolicRegressor:
        return cls(**{name: getattr(run.settings, name) for name in NAMES})

    def _settings(self) -> Settings:
        return Settings(**{name: getattr(self, name) for name in NAMES})

    def _take(
        self, data: RunData, labels: tuple[Hashable, ...] | None, outcome: Outcome, *, folder: Path | None
    ) -> None:
        self.n_features_in_ = len(data.given_names)
        self.__dict__.pop("feature_names_in_", None)
        if given.are_texts(labels):
            self.feature_names_in_ = np.array(labels, dtype=object)
        self._labels, self._names, self._categories = labels, data.names, data.categories
        self._fronts = tuple(front.determined_by(*data.sample(i)) for i, front in enumerate(outcome.fronts))
        self._compare([data.sample(i)[0] for i in range(len(self._fronts))])
        self._histories = tuple(record.moments for record in outcome.records)
        self._is_multiple = data.is_multiple
        self.structure_: Any = self._one_or_list([list(record.structure) for record in outcome.records])
        self.prior_: Any = self._one_or_list([list(record.prior) for record in outcome.records])
        reasons = [front.reason.value for front in outcome.fronts]
        self.noise_: Any = self._one_or_list([front.noise for front in outcome.fronts])
        chosen = [front.equations[front.choice(self.model_selection)].expression for front in self._fronts]
        self.remarks_: Any = self._one_or_list(
            [list(data.remarks(i, one, self._fronts[i].noise)) for i, one in enumerate(chosen)]
        )
        self.stop_reason_: str | list[str] = reasons if data.is_multiple else reasons[0]
        self.interrupted_ = outcome.is_interrupted
        self.run_directory_ = None if folder is None else str(folder)
        self.nout_ = len(outcome.fronts)
        self.selected_features_: Any = self._one_or_list([list(names) for names in outcome.selected])

    # --- Results -----------------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether the estimator has formulas."""
        return hasattr(self, "_fronts")

    def __sklearn_tags__(self) -> Any:
        """Declare that y may have several columns."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    @property
    def pareto_front_(self) -> Any:
        """The formulas, shortest first, as a tuple; a list of tuples if y has several columns."""
        return self._each(lambda front: front.equations)

    @property
    def equations_(self) -> Any:
        """The formulas as a data frame; a list of frames if y has several columns."""
        return self._each(EquationFront.frame)

    @property
    def best_(self) -> Any:
        """The formula that `model_selection` selects; a list of them if y has several columns."""
        return self._each(lambda front: front.equations[front.choice(self.model_selection)])

    @overload
    def predict(self, X: Any, index: int | Sequence[int] | None = ..., return_std: Literal[False] = ...) -> Floats: ...

    @overload
    def predict(
        self, X: Any, index: int | Sequence[int] | None = ..., *, return_std: Literal[True]
    ) -> tuple[Floats, Floats]: ...

    def predict(
        self, X: Any, index: int | Sequence[int] | None = None, return_std: bool = False
    ) -> Floats | tuple[Floats, Floats]:
        """Return the values of the selected formula, (M,), or (M, K) for K targets.

        Args:
            X: columns of a frame are matched by their names, whatever their order, and others are ignored.
            index: the row of `equations_` to use in place of the selected formula; a list if y has several columns.
            return_std: whether to return a pair: the values, and for each the standard deviation of a new sample of
                weight 1, from the noise of the data and the uncertainty of the constants. It assumes that the form of
                the formula is right.

        Warns:
            RuntimeWarning: if a formula has no finite value at some rows, such as log(-1); they are NaN.
        """
        check_is_fitted(self)
        table = frames.read(X, labels=self._labels, categories=self._categories)
        if table.labels is None or self._labels is None:
            # scikit-learn compares the number of columns, and warns if only one of the two had names.
            checked = X if given.are_texts(table.labels) or self._categories else table.values
            validate_data(self, checked, reset=False, skip_check_array=True)
        chosen = self.at(index)
        values = [equation.expression.evaluate(table.values) for equation in chosen]
        for value in values:
            missing = np.flatnonzero(np.isnan(value))
            if len(missing):
                warnings.warn(
                    f"The formula has no finite value at {len(missing)} of {len(value)} rows, the first of them row "
                    f"{missing[0]}; they are NaN. Choose another formula by `index`, or check these rows.",
                    RuntimeWarning,
                    stacklevel=2,
                )
        out = np.stack(values, axis=1) if self._is_multiple else values[0]
        if not return_std:
            return out
        spread = [equation.uncertainty.deviation(table.values) for equation in chosen]
        return out, np.stack(spread, axis=1) if self._is_multiple else spread[0]

    def sympy(self, index: int | Sequence[int] | None = None) -> Any:
        """Return the selected formula as a sympy object, or another row of `equations_`."""
        return self._one_or_list([equation.sympy() for equation in self.at(index)])

    def latex(self, index: int | Sequence[int] | None = None, precision: int | None = None) -> Any:
        """Return the selected formula as LaTeX, or another row of `equations_`.

        Args:
            index: the row of `equations_` to use in place of the selected formula; a list if y has several columns.
            precision: digits of each number; None: as many as the data determine, as in `equations_`.
        """
        return self._one_or_list([equation.latex(precision) for equation in self.at(index)])

    def parts(self, index: int | Sequence[int] | None = None) -> Any:
        """Return the free parts of the template by name, each as text, in the selected formula or another row.

        A constant by category is there as `const[column]`, with the number of each category. The result is a dict,
        empty without a template; a list of them if y has several columns.
        """
        template = self._settings().plan().with_categories(getattr(self, "_categories", ())).template
        return self._one_or_list([{} if template is None else item.parts(template) for item in self.at(index)])

    def latex_table(
        self,
        indices: Sequence[int] | None = None,
        precision: int | None = None,
        columns: Sequence[str] = TABLE,
    ) -> Any:
        """Return the front as a table in LaTeX, for the package booktabs; a list of them if y has several columns.

        Args:
            indices: rows of `equations_`; None: all.
            precision: digits of each number; None: as many as the data determine.
            columns: some of equation, complexity, loss and score, in any order.
        """
        return self._each(lambda front: front.latex_table(indices, precision, columns))

    def get_best(self, index: int | Sequence[int] | None = None) -> Any:
        """Return the row of `equations_` that `model_selection` selects, or the row `index`: a pandas series."""
        places = [front.equations.index(item) for front, item in zip(self.fronts, self.at(index), strict=True)]
        return self._one_or_list([front.frame().iloc[place] for front, place in zip(self.fronts, places, strict=True)])

    def export(self, format: str, index: int | Sequence[int] | None = None, *, name: str = "formula") -> Any:  # noqa: A002
        """Return the selected formula as text: sympy, latex, python, c, julia or excel.

        Args:
            format: `symseed.export.export` describes them.
            index: the row of `equations_` to use in place of the selected formula; a list if y has several columns.
            name: name of the function, in Python, C and Julia.
        """
        return self._one_or_list([item.export(format, name=name) for item in self.at(index)])

    def numpy_function(self, index: int | Sequence[int] | None = None) -> Any:
        """Return the selected formula as a function of NumPy arrays, one for each variable that occurs."""
        return self._one_or_list([item.numpy_function() for item in self.at(index)])

    def pytorch(self, index: int | Sequence[int] | None = None) -> Any:
        """Return the selected formula as a PyTorch module, whose constants can be trained further."""
        return self._one_or_list([item.pytorch() for item in self.at(index)])

    def onnx(self, index: int | Sequence[int] | None = None) -> Any:
        """Return the selected formula as an ONNX model."""
        return self._one_or_list([item.onnx(len(self._names)) for item in self.at(index)])

    # --- Pictures ----------------------------------------------------------------------------------------------------

    def plot_front(self) -> Any:
        """Draw loss against complexity, with the selected formula marked: a matplotlib figure."""
        drawn = [show.plot_front(front.equations, front.choice(self.model_selection)) for front in self.fronts]
        return self._pictures(drawn)

    def plot_fit(self, X: Any, y: Any, index: int | Sequence[int] | None = None) -> Any:
        """Draw data, the formula, and the residuals: a matplotlib figure, with the name of a series y."""
        check_is_fitted(self)
        target = y.name if isinstance(getattr(y, "name", None), str) else "y"
        table = frames.read(X, labels=self._labels, categories=self._categories)
        columns = frames.read_values(y, "y", len(table.values)).reshape(len(table.values), -1)
        if columns.shape[1] != len(self._fronts):
            raise DataError(f"`y` must have {len(self._fronts)} columns, but it has {columns.shape[1]}.")
        drawn = [
            show.plot_fit(item.expression, table.values, column, target=target, title=item.text)
            for item, column in zip(self.at(index), columns.T, strict=True)
        ]
        return self._pictures(drawn)

    def plot_tree(self, index: int | Sequence[int] | None = None) -> Any:
        """Draw the selected formula as a tree: a matplotlib figure."""
        return self._pictures([show.plot_tree(item.expression) for item in self.at(index)])

    def plot_convergence(self) -> Any:
        """Draw the loss of the selected formula during the search: a matplotlib figure."""
        drawn = [show.plot_convergence(*pair) for pair in zip(self._histories, self.at(), strict=True)]
        return self._pictures(drawn)

    def plot_training(self) -> Any:
        """Draw how the searches learnt, and which part of them found each improvement: a matplotlib figure.

        The figure has, against the number of formulas tried, the loss of the selected formula with a mark for the part
        that found it, and for each search the rewards of the policy's samples and of evolved formulas, and the entropy
        of the policy.
        """
        check_is_fitted(self)
        return self._pictures([show.plot_training(history) for history in self._histories])

    def _pictures(self, drawn: list[Any]) -> Any:
        return show.together(drawn) if self._is_multiple else drawn[0]

    @property
    def fronts(self) -> tuple[EquationFront, ...]:
        """The front of each target, as a tuple, even if there is only one."""
        check_is_fitted(self)
        return self._fronts

    def at(self, index: int | Sequence[int] | None = None) -> list[Equation]:
        """Return the selected formula of each target, or another row of `equations_`."""
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
        """Show the parameters and, once fitted, the front, with the selected formula marked."""
        head = str(super().__repr__(N_CHAR_MAX))
        if not self.__sklearn_is_fitted__():
            return head
        texts = ([front.text(self.model_selection, _WIDE), *front.noise_words] for front in self._fronts)
        return "\n".join([head, *(line for lines in texts for line in lines)])

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's diagram and, once fitted, the front above it; every name in it is escaped."""
        fronts = [front.html(self.model_selection) for front in self._fronts] if self.__sklearn_is_fitted__() else []
        return "".join([*fronts, str(super()._repr_html_inner())])

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:  # noqa: ARG002 - notebooks pass some
        """Return text and page for notebooks; the text alone if scikit-learn's setting `display` is "text"."""
        page = {"text/html": self._repr_html_()} if hasattr(self, "_repr_html_") else {}
        return {"text/plain": repr(self), **page}
