"""The interface that SRBench (https://cavalab.org/srbench) requires: an estimator, and its formula as text for sympy.

Copy this folder into the `algorithms` of SRBench. SRBench sets `est.random_state` and `est.max_time`, passes a data
frame of standardised columns to `fit`, and sends SIGALRM if that takes too long: `est` then has
the best formulas so far.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import sympy
from sklearn.base import BaseEstimator, RegressorMixin

from symseed import SymbolicRegressor

HOUR = 3600.0

est = SymbolicRegressor(max_time=HOUR, n_jobs=1)
"""One core, as for every job of SRBench. The search stops early if nothing is left to explain."""

hyper_params: list[dict[str, Any]] = [{}]
"""Nothing is tuned."""

eval_kwargs = {"test_params": {"max_time": 5.0, "max_evals": 20_000}}


class Row(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """One formula of the front of a fitted estimator, as a separate estimator."""

    def __init__(self, fitted: SymbolicRegressor, index: int) -> None:
        self.fitted = fitted
        self.index = index

    def fit(self, X: Any, y: Any) -> Row:  # noqa: ARG002 - scikit-learn's own signature
        """Do nothing: the formula is already fitted."""
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the predictions of the formula."""
        return self.fitted.predict(X, self.index)

    def sympy(self) -> Any:
        """Return the formula as a sympy object."""
        return self.fitted.sympy(self.index)


def model(est: SymbolicRegressor | Row, X: Any = None) -> str:  # noqa: ARG001 - the columns' names are known
    """Return the formula as text for sympy, with the column names and all digits of its numbers."""
    formula = est.sympy()
    exact = {number: sympy.Float(repr(float(number)), 17) for number in formula.atoms(sympy.Float)}
    return str(formula.xreplace(exact))


def get_population(est: SymbolicRegressor) -> list[Row]:
    """Return every formula of the front, shortest first."""
    return [Row(est, index) for index in range(len(est.pareto_front_))]


def get_best_solution(est: SymbolicRegressor) -> SymbolicRegressor:
    """Return the estimator itself, which predicts with the selected formula."""
    return est
