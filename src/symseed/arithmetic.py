"""Reproducible arithmetic, equal to the last bit on all processors: elementary functions, products, linear algebra.

BLAS, LAPACK, NumPy's own functions and the C library choose among several versions by the processor, which round
differently. A fit therefore uses this module, or operations that IEEE 754 rounds in one way: + - * / sqrt, comparisons,
and sums by NumPy (`np.sum`, whose order depends on the shape alone). For input that is not finite, elementary functions
have their usual limits, and solutions of linear algebra are NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.arrays import Floats

_OPCODES = {name: code for code, (name, _, _) in enumerate(_core.operators())}
_PRECISION = float(np.finfo(np.float64).eps)


@overload
def exp(x: float) -> float: ...
@overload
def exp(x: Floats) -> Floats: ...
def exp(x: float | Floats) -> float | Floats:
    """Return e to the power of x."""
    return _applied("exp", x)


@overload
def log(x: float) -> float: ...
@overload
def log(x: Floats) -> Floats: ...
def log(x: float | Floats) -> float | Floats:
    """Return the natural logarithm: -infinity at 0, NaN for negative numbers."""
    return _applied("log", x)


def log1p(x: Floats) -> Floats:
    """Return log(1 + x), also where x is small."""
    whole = 1.0 + x
    with np.errstate(divide="ignore", invalid="ignore"):
        # The factor x / (whole - 1) corrects the rounding of 1 + x (Kahan).
        found = log(whole) * (x / (whole - 1.0))
    return np.where(whole == 1.0, x, np.where(whole == np.inf, whole, found))


def sin(x: Floats) -> Floats:
    """Return the sine."""
    return np.asarray(_applied("sin", x))


def cos(x: Floats) -> Floats:
    """Return the cosine."""
    return np.asarray(_applied("cos", x))


@overload
def power(x: float, y: float) -> float: ...
@overload
def power(x: Floats, y: float) -> Floats: ...
@overload
def power(x: float | Floats, y: Floats) -> Floats: ...
def power(x: float | Floats, y: float | Floats) -> float | Floats:
    """Return x to the power of y."""
    return _applied("pow", x, y)


def atan2(y: float, x: float) -> float:
    """Return the angle of the point (x, y)."""
    return _core.atan2(y, x)


def _applied(name: str, x: float | Floats, y: float | Floats | None = None) -> float | Floats:
    if not (isinstance(x, np.ndarray) or isinstance(y, np.ndarray)):
        # The portable set, because an invalid name in the environment must not raise while modules are loaded.
        first, second = np.array([float(x)]), np.array([float(x if y is None else y)])
        return float(_core.elementwise(_OPCODES[name], first, second, instruction_set="portable")[0])
    first = np.asarray(x, dtype=np.float64)
    if y is None:
        flat = np.ascontiguousarray(first).reshape(-1)
        return _core.elementwise(_OPCODES[name], flat, flat).reshape(first.shape)
    first, second = np.broadcast_arrays(first, np.asarray(y, dtype=np.float64))
    both = (np.ascontiguousarray(values).reshape(-1) for values in (first, second))
    return _core.elementwise(_OPCODES[name], *both).reshape(first.shape)


def dot(a: Floats, b: Floats) -> float:
    """Return the sum of products of two vectors."""
    return float(_core.dots(np.ascontiguousarray(a)[None], np.ascontiguousarray(b))[0])


def product(a: Floats, b: Floats) -> Floats:
    """Return the product of two matrices, or of a matrix and a vector."""
    if b.ndim == 1:
        return _core.dots(np.ascontiguousarray(a), np.ascontiguousarray(b))
    return _core.product(a, b)


def norms(values: Floats, axis: int) -> Floats:
    """Return the lengths of vectors that lie along an axis."""
    return np.asarray(np.sqrt(np.sum(values * values, axis=axis)))


def least_squares(matrix: Floats, goal: Floats, cutoff: float | None = None) -> Floats:
    """Return the shortest x for which matrix x comes nearest to a goal, (P,).

    Args:
        cutoff: share of the largest singular value below which singular values count as 0; by default, rounding.
    """
    rounding = _PRECISION * max(matrix.shape)
    return _core.least_squares(matrix, np.ascontiguousarray(goal), rounding if cutoff is None else cutoff)


@dataclass(frozen=True, slots=True)
class NormalSolution:
    """Least squares with columns that are independent."""

    solution: Floats
    inverse: Floats
    """Inverse of the normal matrix, (P, P)."""
    smallest: float
    """Smallest share of a column outside the span of the columns before it: near 0, columns are dependent."""


def normal_solution(matrix: Floats, goal: Floats) -> NormalSolution:
    """Solve least squares, and return the inverse of the normal matrix too."""
    return NormalSolution(*_core.normal_solution(matrix, np.ascontiguousarray(goal)))


def leading_errors(matrix: Floats, goal: Floats) -> Floats:
    """Return the squared error of least squares with the first column, with the first two, ..., with all, (P,)."""
    return _core.leading_errors(matrix, np.ascontiguousarray(goal))


@dataclass(frozen=True, slots=True)
class Direction:
    """The direction in which a matrix is smallest."""

    vector: Floats
    """Unit vector of the direction."""
    smallest: float
    """Smallest singular value of the matrix."""
    largest: float
    """Largest singular value of the matrix."""


def smallest_direction(matrix: Floats) -> Direction:
    """Return the direction in which a matrix of at least one column is smallest."""
    return Direction(*_core.smallest_direction(matrix))


def symmetric_eigen(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues of a symmetric matrix, smallest first, and their vectors as columns."""
    return _core.symmetric_eigen(matrix)


def roots(coefficients: Floats) -> tuple[Floats, Floats]:
    """Return the complex roots of c[0] + c[1] x + ..., the last of which is not 0: real and imaginary parts."""
    return _core.roots(np.ascontiguousarray(coefficients, dtype=np.float64))


def smallest(table: Floats, count: int) -> npt.NDArray[np.int64]:
    """Return, for each row, the indices of its smallest values, smallest first; equal values are in order of index.

    With NumPy's `argpartition`, the order of equal values depends on the processor.
    """
    return _core.smallest(np.ascontiguousarray(table), count)
