"""The scikit-learn estimator, its settings, the Pareto front that a user sees, and the run on disk."""

from __future__ import annotations

from symseed.regressor.front import Equation, EquationFront
from symseed.regressor.regressor import SymbolicRegressor
from symseed.regressor.target import Progress

__all__ = ["Equation", "EquationFront", "Progress", "SymbolicRegressor"]
