"""The scikit-learn estimator, its settings, the Pareto front that a user sees, and the run on disk."""

from __future__ import annotations

from symseed.regressor.alternatives import Alternatives
from symseed.regressor.front import Equation, EquationFront
from symseed.regressor.regressor import SymbolicRegressor
from symseed.regressor.stability import Stability, Times
from symseed.regressor.target import Progress

__all__ = ["Alternatives", "Equation", "EquationFront", "Progress", "Stability", "SymbolicRegressor", "Times"]
