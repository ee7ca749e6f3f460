"""Elementary functions and linear algebra: near the truth or NumPy, and the same bits in every instruction set."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from reference import Floats
from symseed import _core, arithmetic

SETS = _core.instruction_sets()
SHAPES = ((1, 1, 1), (5, 7, 3), (1, 300, 40), (9, 1, 17), (40, 257, 33), (3, 0, 2), (0, 3, 2), (130, 20, 515))
"""Rows, terms and columns, around the sizes of a tile and of a piece."""


@st.composite
def problems(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """Draw a matrix and a goal, of any scale; some columns may depend on others, or be 0."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, columns = draw(st.integers(1, 40)), draw(st.integers(1, 12))
    matrix = rng.normal(size=(rows, columns))
    if columns > 2:
        kind = draw(st.sampled_from(("independent", "zero", "copy", "sum")))
        if kind != "independent":
            matrix[:, -1] = {"zero": 0.0 * matrix[:, 0], "copy": matrix[:, 0], "sum": matrix[:, 0] - matrix[:, 1]}[kind]
    scale = 10.0 ** draw(st.sampled_from((0, -150, 150, -3, 7)))
    return matrix * scale, rng.normal(size=rows) * 10.0 ** draw(st.sampled_from((0, -100, 100)))


# Elementary functions


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("exp", (-745.0, -708.5, -708.0, -1.0, 0.0, 1e-20, 1.0, 708.0, 708.1, 709.78)),
        ("log", (5e-324, 1e-310, 2.3e-308, 0.5, 1.0 - 2**-53, 1.0, 2.0, 1e308)),
        ("sin", (1e-300, 0.5, 2.0**20, 2.0**20 + 0.1, 1e15, 1e22, 1e300, 1.7e308, 6381956970095103.0 * 2.0**797)),
        ("cos", (1e-300, 0.5, 2.0**20, 2.0**20 + 0.1, 1e15, 1e22, 1e300, 1.7e308, 6381956970095103.0 * 2.0**797)),
        ("tan", (1e-300, 0.5, 2.0**20, 2.0**20 + 0.1, 1e15, 1e22, 1e300, 1.7e308, 6381956970095103.0 * 2.0**797)),
    ],
)
def test_functions_are_near_the_truth_where_vectors_do_not_reach(name: str, arguments: tuple[float, ...]) -> None:
    opcode = [found for found, _, _ in _core.operators()].index(name)
    given_ = np.array([*arguments, *(-x for x in arguments if name not in ("exp", "log"))])
    with mpmath.workprec(1_400):
        for x, value in zip(given_, _core.elementwise(opcode, given_, given_), strict=True):
            truth = getattr(mpmath, name)(mpmath.mpf(float(x)))
            assert abs(mpmath.mpf(float(value)) - truth) <= 4 * mpmath.mpf(float(np.spacing(abs(value)))), (name, x)


def _spread(low: float, high: float) -> Floats:
    """Return numbers of both signs whose sizes are spread over powers of ten."""
    rng = np.random.default_rng(4)
    return rng.choice([-1.0, 1.0], 200) * 10.0 ** rng.uniform(low, high, 200)


_EVEN = np.linspace(-1.0, 1.0, 201)
_NEAR = 10.0 ** np.linspace(-16.0, -1.0, 60)
TRUTHS: dict[str, tuple[Callable[[Any], Any], float, Floats]] = {
    "asin": (mpmath.asin, 3.0, np.concatenate([_EVEN, _spread(-300, 0), 1.0 - _NEAR])),
    "acos": (mpmath.acos, 3.0, np.concatenate([_EVEN, 1.0 - _NEAR, _NEAR - 1.0])),
    "atan": (mpmath.atan, 2.0, np.concatenate([4.0 * _EVEN, _spread(-300, 300)])),
    "sinh": (mpmath.sinh, 3.0, np.concatenate([3.0 * _EVEN, 710.4 * _EVEN, _spread(-300, 0)])),
    "cosh": (mpmath.cosh, 2.0, np.concatenate([3.0 * _EVEN, 710.4 * _EVEN])),
    "asinh": (mpmath.asinh, 2.0, np.concatenate([3.0 * _EVEN, _spread(-300, 300)])),
    "acosh": (mpmath.acosh, 3.0, np.concatenate([1.0 + _NEAR, 1.0 + np.abs(_spread(-1, 300))])),
    "atanh": (mpmath.atanh, 2.0, np.concatenate([0.99 * _EVEN, _spread(-300, -0.01), 1.0 - _NEAR])),
    "log2": (lambda x: mpmath.log(x) / mpmath.log(2), 1.0, np.concatenate([1.0 + 0.5 * _EVEN, 1.0 + _NEAR])),
    "log10": (mpmath.log10, 1.0, np.concatenate([1.0 + 0.5 * _EVEN, np.abs(_spread(-320, 300)), 1.0 - _NEAR])),
    "log1p": (mpmath.log1p, 1.0, np.concatenate([0.99 * _EVEN, _spread(-300, -0.01), _NEAR - 1.0])),
    "expm1": (mpmath.expm1, 2.0, np.concatenate([2.0 * _EVEN, 700.0 * _EVEN, _spread(-300, 0)])),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), 1.0, np.concatenate([5.0 * _EVEN, _spread(-320, 300)])),
    "erf": (mpmath.erf, 3.0, np.concatenate([1.2 * _EVEN, 6.2 * _EVEN, _spread(-300, 1)])),
    "gamma": (mpmath.gamma, 4.0, np.concatenate([10.03 * _EVEN + 0.017, 171.5 * _EVEN + 0.0317, _spread(-20, -1)])),
}
"""Each function in many digits, by how many units in the last place it may be off, and where that is tried."""


@pytest.mark.parametrize("name", TRUTHS)
def test_operators_that_are_transcendental_are_near_the_truth(name: str) -> None:
    truth, bound, x = TRUTHS[name]
    opcode = [found for found, _, _ in _core.operators()].index(name)
    with mpmath.workprec(160):
        for argument, value in zip(x, _core.elementwise(opcode, x, x), strict=True):
            exact = truth(mpmath.mpf(float(argument)))
            unit = mpmath.mpf(float(np.spacing(abs(float(exact)))))
            assert abs(mpmath.mpf(float(value)) - exact) <= bound * unit, (name, argument)


def test_logarithms_of_powers_of_their_base_are_exact() -> None:
    opcodes = [found for found, _, _ in _core.operators()]
    twos, tens = np.arange(-1074.0, 1024.0), np.arange(-22.0, 23.0)
    assert np.array_equal(_core.elementwise(opcodes.index("log2"), 2.0**twos, twos), twos)
    assert np.array_equal(_core.elementwise(opcodes.index("log10"), 10.0**tens, tens), tens)


def test_a_remainder_is_numpys_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    opcode = [found for found, _, _ in _core.operators()].index("mod")
    whole = np.round(rng.uniform(-50.0, 50.0, 400))
    for a, b in (
        (rng.uniform(-30.0, 30.0, 400), rng.uniform(-3.0, 3.0, 400)),
        (np.tile(_spread(-300, 300), 2), np.repeat(_spread(-300, 300), 2)[::-1]),
        (whole * 0.1, np.full(400, 0.1)),
        (whole, np.round(rng.uniform(-5.0, 5.0, 400)) + 0.5),
    ):
        assert reference.same_bits(_core.elementwise(opcode, a, np.ascontiguousarray(b)), np.mod(a, b))


def test_powers_are_rounded_nearly_always_to_the_nearest_number() -> None:
    rng = np.random.default_rng(0)
    x = 10.0 ** rng.uniform(-300.0, 300.0, 2_000)
    y = rng.uniform(-700.0, 700.0, 2_000) / np.log(x)
    x, y = np.append(x, rng.uniform(0.5, 2.0, 2_000)), np.append(y, rng.uniform(-400.0, 400.0, 2_000))
    with mpmath.workprec(200):
        for a, b, value in zip(x, y, arithmetic.power(x, y), strict=True):
            error = abs(mpmath.mpf(float(value)) - mpmath.mpf(float(a)) ** mpmath.mpf(float(b)))
            assert error <= 0.6 * mpmath.mpf(float(np.spacing(value))), (a, b)


def test_powers_that_are_numbers_are_exact() -> None:
    whole = np.arange(-300.0, 300.0)
    assert (arithmetic.power(whole, 2.0) == whole * whole).all()
    assert (arithmetic.power(whole, 3.0) == whole * whole * whole).all()
    assert (arithmetic.power(whole * whole, 0.5) == np.abs(whole)).all()
    assert (arithmetic.power(2.0, np.arange(-1074.0, 1024.0)) == np.ldexp(1.0, np.arange(-1074, 1024))).all()


def test_powers_have_the_limits_of_the_standard() -> None:
    ends = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e300, -1e300, 2.0**53 + 2.0, math.inf, -math.inf]
    for x in ends:
        for y in ends:
            try:
                expected = math.pow(x, y)
            except OverflowError:
                expected = math.copysign(math.inf, x if y % 2 == 1 else 1.0)
            except ValueError:  # 0 to a negative power, or a root of a negative number
                expected = math.copysign(math.inf, x if y % 2 == 1 else 1.0) if x == 0.0 else math.nan
            found = arithmetic.power(x, y)
            assert math.isclose(found, expected, rel_tol=1e-15) or math.isnan(found) == math.isnan(expected) is True
            assert math.isnan(expected) or math.copysign(1.0, found) == math.copysign(1.0, expected), (x, y)


def test_functions_of_what_is_not_finite_have_their_limits() -> None:
    ends = np.array([0.0, -1.0, np.inf, -np.inf, np.nan])
    assert np.array_equal(arithmetic.log(ends), [-np.inf, np.nan, np.inf, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(arithmetic.exp(ends)[[0, 2, 3, 4]], [1.0, np.inf, 0.0, np.nan], equal_nan=True)
    assert np.isnan(arithmetic.sin(ends[2:])).all()
    assert np.isnan(arithmetic.cos(ends[2:])).all()
    assert np.array_equal(arithmetic.log1p(ends), [0.0, -np.inf, np.inf, np.nan, np.nan], equal_nan=True)


def test_log1p_is_right_for_small_and_large_numbers() -> None:
    x = np.array([1e-300, 1e-20, 1e-16, 1e-10, 0.1, -0.3, 1.0, 1e10, 1e300])
    assert np.allclose(arithmetic.log1p(x), np.log1p(x), rtol=4e-16, atol=0.0)


def test_an_angle_is_that_of_its_point() -> None:
    for y in (0.0, -0.0, 1.0, -2.5, 1e-300, 1e300):
        for x in (0.0, -0.0, 1.0, -2.5, 1e-300, -1e300):
            assert math.isclose(arithmetic.atan2(y, x), math.atan2(y, x), rel_tol=5e-16), (y, x)
            assert math.copysign(1.0, arithmetic.atan2(y, x)) == math.copysign(1.0, math.atan2(y, x))


def test_arrays_keep_their_shape_and_numbers_stay_numbers() -> None:
    table = np.arange(1.0, 7.0).reshape(2, 3)
    assert arithmetic.log(table.T).shape == (3, 2)
    assert np.array_equal(arithmetic.log(table.T), arithmetic.log(table).T)
    assert isinstance(arithmetic.log(8.0), float)
    assert arithmetic.power(2.0, np.array([1.0, 3.0])).tolist() == [2.0, 8.0]


# Products


@pytest.mark.parametrize("shape", SHAPES)
def test_a_product_is_summed_from_the_first_term_to_the_last(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(0)
    rows, terms, columns = shape
    a, b = rng.normal(size=(rows, terms)), rng.normal(size=(columns, terms)).T
    for name in SETS:
        assert reference.same_bits(_core.product(a, b, instruction_set=name), reference.product(a, b))
        strided = _core.product(np.asfortranarray(a)[::-1], np.ascontiguousarray(b), instruction_set=name)
        assert reference.same_bits(strided, reference.product(a, b)[::-1].copy())


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 200])
def test_products_with_a_vector_are_summed_in_eight_lanes(size: int) -> None:
    rng = np.random.default_rng(size)
    rows, vector = rng.normal(size=(5, size)), rng.normal(size=size)
    expected = np.array([reference.dot(row, vector) for row in rows])
    for name in SETS:
        assert reference.same_bits(_core.dots(rows, vector, instruction_set=name), expected)
    assert arithmetic.dot(rows[0], vector) == expected[0]
    assert reference.same_bits(arithmetic.product(rows, vector), expected)


def test_what_is_not_finite_stays_in_its_row_and_column() -> None:
    a, b = np.ones((9, 5)), np.ones((5, 17))
    a[2, 3], b[1, 4] = np.nan, np.inf
    found = arithmetic.product(a, b)
    assert np.isnan(found[2]).all()
    assert np.isinf(found[[0, 8], 4]).all()
    assert (np.delete(np.delete(found, 2, axis=0), 4, axis=1) == 5.0).all()


# What is solved


@given(problems())
@settings(max_examples=100, deadline=None)
def test_least_squares_agree_with_numpy(problem: tuple[Floats, Floats]) -> None:
    matrix, goal = problem
    expected = np.linalg.lstsq(matrix, goal, rcond=1e-12)[0]
    size = np.abs(expected).max() + np.abs(goal).max() / np.abs(matrix).max()
    # Twice as many digits are lost as the matrix is ill-conditioned: random ones are, now and then.
    limit = 1e-13 * np.linalg.cond(matrix[:, : np.linalg.matrix_rank(matrix)]) ** 2
    assert np.allclose(arithmetic.least_squares(matrix, goal, 1e-12), expected, rtol=0.0, atol=size * limit)


@given(problems())
@settings(max_examples=60, deadline=None)
def test_errors_of_the_leading_columns_agree_with_numpy(problem: tuple[Floats, Floats]) -> None:
    matrix, goal = problem
    matrix = matrix / (np.abs(matrix).max() or 1.0)
    goal = goal / np.abs(goal).max()
    found = arithmetic.leading_errors(matrix, goal)
    assert np.allclose(found, reference.leading_errors(matrix, goal), rtol=1e-8, atol=1e-12 * (goal @ goal))
    assert (np.diff(found) <= 1e-12).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(0, 30))
@settings(max_examples=60, deadline=None)
def test_a_normal_solution_has_the_inverse_of_the_normal_matrix(seed: int, columns: int, more: int) -> None:
    rng = np.random.default_rng(seed)
    matrix, goal = rng.normal(size=(columns + more, columns)), rng.normal(size=columns + more)
    found = arithmetic.normal_solution(matrix, goal)
    condition = np.linalg.cond(matrix)
    assert np.allclose(
        found.inverse @ (matrix.T @ matrix), np.eye(columns), rtol=0.0, atol=1e-13 * condition**2 * columns
    )
    expected = np.linalg.lstsq(matrix, goal, rcond=None)[0]
    size = np.abs(expected).max() + np.abs(goal).max() / np.abs(matrix).max()
    assert np.allclose(found.solution, expected, rtol=0.0, atol=1e-13 * condition**2 * size)
    assert found.smallest == pytest.approx(np.abs(np.diagonal(np.linalg.qr(matrix)[1])).min(), rel=1e-9)


def test_a_normal_solution_says_that_columns_depend_on_each_other() -> None:
    columns = np.random.default_rng(0).normal(size=(20, 3))
    assert arithmetic.normal_solution(np.c_[columns, columns[:, 0] - columns[:, 2]], columns[:, 0]).smallest < 1e-14
    assert arithmetic.normal_solution(np.c_[columns, 0.0 * columns[:, 0]], columns[:, 0]).smallest == 0.0


@given(problems())
@settings(max_examples=60, deadline=None)
def test_the_smallest_direction_is_numpy_s_last_singular_vector(problem: tuple[Floats, Floats]) -> None:
    matrix, _ = problem
    found = arithmetic.smallest_direction(matrix)
    padded = np.concatenate([matrix, np.zeros((max(0, matrix.shape[1] - len(matrix)), matrix.shape[1]))])
    singular = np.linalg.svd(padded, compute_uv=False)
    assert found.largest == pytest.approx(singular[0], rel=1e-12)
    assert found.smallest == pytest.approx(singular[-1], rel=1e-9, abs=1e-13 * singular[0])
    assert float(np.sqrt(np.sum(found.vector**2))) == pytest.approx(1.0, abs=1e-12)
    assert np.sqrt(np.sum((padded / singular[0] @ found.vector) ** 2)) <= singular[-1] / singular[0] + 1e-13


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from((0, -200, 200)), st.booleans())
@settings(max_examples=60, deadline=None)
def test_eigenvalues_agree_with_numpy(seed: int, size: int, exponent: int, is_singular: bool) -> None:
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(size, max(1, size // 2) if is_singular else size + 2))
    matrix = half @ half.T * 10.0**exponent
    values, vectors = arithmetic.symmetric_eigen(matrix)
    largest = values.max()
    assert np.allclose(values, np.linalg.eigvalsh(matrix), rtol=0.0, atol=1e-13 * largest)
    assert np.allclose(vectors.T @ vectors, np.eye(size), rtol=0.0, atol=1e-13)
    assert np.allclose((vectors * values) @ vectors.T, matrix, rtol=0.0, atol=1e-13 * largest)


@given(st.lists(st.sampled_from((-2.0, -1.5, -1.0, 0.5, 1.0, 3.0, 7.0)), min_size=1, max_size=6, unique=True))
@settings(max_examples=60, deadline=None)
def test_roots_of_a_polynomial_are_found(expected: list[float]) -> None:
    coefficients = np.polynomial.polynomial.polyfromroots([*expected, 1j, -1j]).real.astype(np.float64)
    real, imaginary = arithmetic.roots(coefficients)
    found = sorted(zip(np.abs(np.round(imaginary, 6)), np.round(real, 6) + 0.0, strict=True))
    assert found == [*((0.0, value) for value in sorted(expected)), (1.0, 0.0), (1.0, 0.0)]


def test_roots_at_zero_and_double_roots_are_found() -> None:
    real, imaginary = arithmetic.roots(np.array([0.0, 0.0, 1.0, 2.0, 1.0]))
    assert np.allclose(np.sort(real), [-1.0, -1.0, 0.0, 0.0], atol=1e-6)
    assert np.allclose(imaginary, 0.0, atol=1e-6)
    assert arithmetic.roots(np.array([3.0]))[0].size == 0


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.data())
@settings(max_examples=60, deadline=None)
def test_the_first_of_equal_values_is_the_smaller(seed: int, columns: int, data: st.DataObject) -> None:
    table = np.random.default_rng(seed).integers(0, 4, (5, columns)).astype(float)
    table[table == 3.0] = data.draw(st.sampled_from((3.0, np.inf, np.nan)))
    count = data.draw(st.integers(0, columns))
    expected = [reference.smallest(row, count) for row in table]
    assert arithmetic.smallest(table, count).tolist() == expected


SOLVERS: dict[str, Callable[..., Any]] = {
    "least_squares": lambda matrix, goal, **how: _core.least_squares(matrix, goal, 1e-12, **how),
    "normal_solution": _core.normal_solution,
    "leading_errors": _core.leading_errors,
    "smallest_direction": lambda matrix, _, **how: _core.smallest_direction(matrix, **how),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_every_instruction_set_solves_to_the_same_bits(name: str) -> None:
    rng = np.random.default_rng(0)
    for rows, columns in ((1, 1), (7, 3), (20, 8), (200, 36), (33, 40)):
        matrix, goal = rng.normal(size=(rows, columns)), rng.normal(size=rows)
        if columns > 5:
            matrix[:, 3] = matrix[:, 1] - matrix[:, 2]
        found = [SOLVERS[name](matrix, goal, instruction_set=which) for which in SETS]
        bits = {
            b"".join(np.asarray(part).tobytes() for part in np.atleast_1d(one))
            if isinstance(one, np.ndarray)
            else b"".join(np.asarray(part).tobytes() for part in one)
            for one in found
        }
        assert len(bits) == 1
        assert not np.isnan(np.asarray(found[0][0])).any() or name == "normal_solution"


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nothing_is_a_number_where_something_given_is_not_finite(name: str, bad: float) -> None:
    matrix, goal = np.random.default_rng(0).normal(size=(20, 4)), np.ones(20)
    matrix[3, 2] = bad
    found = SOLVERS[name](matrix, goal)
    assert all(np.isnan(part).all() for part in (found if isinstance(found, tuple) else (found,)))


def test_nothing_is_an_eigenvalue_where_something_given_is_not_finite() -> None:
    assert all(np.isnan(part).all() for part in arithmetic.symmetric_eigen(np.array([[1.0, np.nan], [np.nan, 1.0]])))


def test_arguments_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="as many columns"):
        _core.product(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="each row"):
        _core.least_squares(np.ones((3, 2)), np.ones(2), 0.0)
    with pytest.raises(ValueError, match="last coefficient"):
        arithmetic.roots(np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="at most"):
        arithmetic.smallest(np.ones((2, 3)), 4)
    with pytest.raises(ValueError, match="instruction_sets"):
        _core.product(np.ones((1, 1)), np.ones((1, 1)), instruction_set="abacus")
