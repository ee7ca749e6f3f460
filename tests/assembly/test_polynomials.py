"""Closed-form blocks: the polynomial or rational function that the data are, found and written out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symseed import Dataset, Library, predict
from symseed.arrays import Floats
from symseed.assembly import polynomials as blocks
from symseed.assembly.polynomials import Exponents, Polynomial
from symseed.language.row import Row
from symseed.language.writer import Writer
from symseed.scoring import simple_numbers

POWERS: tuple[tuple[str, ...], ...] = ((), ("square",), ("square", "cube", "quartic"))


def writer(variables: int, powers: tuple[str, ...] = ()) -> Writer:
    return Writer(Library.of(["add", "sub", "mul", "div", "sin", *powers, "const"], variables))


def values(writer: Writer, part: Row, X: Floats) -> Floats:
    return np.asarray(predict(writer.population([part]), Dataset.of(X, X[:, 0])).value[0])


def of(terms: dict[Exponents, float]) -> Polynomial:
    return Polynomial(tuple(terms), tuple(terms.values()))


def terms(polynomial: Polynomial) -> dict[Exponents, float]:
    return dict(zip(polynomial.exponents, polynomial.coefficients, strict=True))


def at(polynomial: Polynomial, X: Floats) -> Floats:
    out = np.zeros(len(X))
    for powers, factor in terms(polynomial).items():
        product = np.full(len(X), factor)
        for column, power in enumerate(powers):
            product = product * X[:, column] ** power
        out = out + product
    return out


@st.composite
def polynomials(draw: st.DrawFn, variables: int, degree: int, most: int = 5) -> dict[Exponents, float]:
    """Sparse ones with whole coefficients, none of them 0."""
    every = blocks.monomials(variables, degree)
    chosen = draw(st.lists(st.sampled_from(every), min_size=1, max_size=most, unique=True))
    return {powers: float(draw(st.integers(1, 9)) * draw(st.sampled_from([-1, 1]))) for powers in sorted(chosen)}


def test_monomials_are_all_up_to_a_degree_the_constant_first() -> None:
    assert blocks.monomials(1, 3) == [(0,), (1,), (2,), (3,)]
    assert blocks.monomials(2, 2) == [(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (2, 0)]
    for variables in (1, 2, 3, 4):
        assert len(blocks.monomials(variables, 3)) == math.comb(variables + 3, 3)


def test_a_design_holds_the_values_of_monomials() -> None:
    X = np.array([[2.0, 3.0], [-1.0, 0.5], [0.0, 4.0]])
    np.testing.assert_allclose(
        blocks.design(X, [(0, 0), (1, 0), (2, 1)]), [[1.0, 2.0, 12.0], [1.0, -1.0, 0.5], [1.0, 0.0, 0.0]]
    )


@pytest.mark.parametrize(
    ("variables", "samples", "expected"),
    [
        (1, 20, list(range(1, 16))),
        (1, 5, [1, 2, 3]),
        (2, 20, [1, 2, 3, 4]),
        (2, 1000, [1, 2, 3, 4, 5, 6, 7]),
        (3, 1000, [1, 2, 3, 4]),
        (10, 1000, [1]),
        (40, 1000, []),
        (1, 1, []),
        (1, 2, []),
    ],
)
def test_no_more_coefficients_are_asked_for_than_the_samples_can_tell(
    variables: int, samples: int, expected: list[int]
) -> None:
    assert list(blocks.degrees(variables, samples)) == expected


@pytest.mark.parametrize(("variables", "degree"), [(1, 2), (1, 7), (2, 4), (3, 3)])
@settings(max_examples=15, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_a_sparse_polynomial_with_whole_coefficients_is_found_exactly(
    variables: int, degree: int, data: st.DataObject, seed: int
) -> None:
    wanted = data.draw(polynomials(variables, degree))
    X = np.random.default_rng(seed).uniform(-2.0, 2.0, (60, variables))
    solved = blocks.polynomial(writer(variables), X, at(of(wanted), X), np.ones(60), degree)
    assert solved is not None
    assert terms(solved[0]) == wanted


def test_the_right_degree_has_the_shortest_description() -> None:
    """A smaller one cannot say it; a larger one finds the same, as its further coefficients are 0."""
    X = np.random.default_rng(3).uniform(-2.0, 2.0, (40, 1))
    wanted: dict[Exponents, float] = {(1,): -3.0, (4,): 2.0}
    found = {}
    for degree in blocks.degrees(1, 40):
        solved = blocks.polynomial(writer(1), X, at(of(wanted), X), np.ones(40), degree)
        assert solved is not None
        found[degree] = solved
    assert all(found[4][1] < found[degree][1] - 100.0 for degree in (1, 2, 3))
    for degree in (4, 5, 6, 7):
        assert terms(found[degree][0]) == wanted
        assert found[degree][1] == pytest.approx(found[4][1], rel=0.02)


def test_noise_leaves_the_terms_that_are_there() -> None:
    """With 1 % of noise, a cubic of nine coefficients to be had keeps its two terms and few others."""
    extra = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-2.0, 2.0, (80, 1))
        y = X[:, 0] ** 3 - 2.0 * X[:, 0]
        solved = blocks.polynomial(writer(1), X, y + 0.01 * rng.normal(size=80), np.ones(80), 8)
        assert solved is not None
        assert {(1,), (3,)} <= set(solved[0].exponents)
        assert terms(solved[0])[3,] == pytest.approx(1.0, abs=0.05)
        extra += len(solved[0].exponents) - 2
    assert extra <= 2


def test_pure_noise_keeps_next_to_nothing() -> None:
    sizes = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-2.0, 2.0, (60, 1))
        solved = blocks.polynomial(writer(1), X, rng.normal(size=60), np.ones(60), 6)
        assert solved is not None
        sizes.append(len(solved[0].exponents))
    assert np.mean(sizes) < 1.5


def test_weights_decide_which_samples_count() -> None:
    """Samples without weight may be anything."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (60, 1))
    wanted: dict[Exponents, float] = {(0,): 1.0, (2,): 3.0}
    y = at(of(wanted), X)
    y[::3] += 100.0 * rng.normal(size=20)
    weight = np.ones(60)
    weight[::3] = 0.0
    solved = blocks.polynomial(writer(1), X, y, weight, 4)
    assert solved is not None
    assert terms(solved[0]) == wanted


def test_what_cannot_be_solved_is_none() -> None:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 1))
    assert blocks.polynomial(writer(1), X, np.full(20, np.nan), np.ones(20), 2) is None
    assert blocks.polynomial(writer(1), 0.0 * X, X[:, 0], np.ones(20), 2) is None
    assert blocks.rational(X, np.full(20, np.inf), np.ones(20), 2, 1) is None
    assert blocks.rational(X[:4], X[:4, 0], np.ones(4), 3, 3) is None, "too few samples for so many coefficients"


def test_powers_that_are_too_large_are_none_too() -> None:
    X = 1e200 * np.random.default_rng(0).uniform(-1.0, 1.0, (20, 1))
    assert blocks.polynomial(writer(1), X, X[:, 0], np.ones(20), 4) is None
    assert blocks.rational(X, X[:, 0], np.ones(20), 4, 1) is None


@pytest.mark.parametrize("powers", POWERS, ids=str)
@pytest.mark.parametrize(("variables", "degree"), [(1, 9), (2, 5), (3, 3)])
@settings(max_examples=20, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_a_polynomial_written_out_has_its_values(
    variables: int, degree: int, powers: tuple[str, ...], data: st.DataObject, seed: int
) -> None:
    wanted = data.draw(polynomials(variables, degree, 8))
    order = data.draw(st.permutations(list(wanted)))
    polynomial = of({powers_: wanted[powers_] for powers_ in order})
    own = writer(variables, powers)
    X = np.random.default_rng(seed).uniform(-2.0, 2.0, (20, variables))
    expected = at(polynomial, X)
    scale = sum(np.abs(at(of({key: value}), X)) for key, value in wanted.items())
    for form in (blocks.written, blocks._as_sum, *([blocks._nested] if variables == 1 else [])):
        part = form(own, polynomial)
        assert np.all(np.abs(values(own, part, X) - expected) <= 1e-12 * scale)
        assert len(blocks.written(own, polynomial)) <= len(part), "the shorter form is taken"


def test_a_polynomial_of_some_columns_is_written_with_their_variables() -> None:
    own = writer(3).of_columns([2, 0])
    part = blocks.written(own, of({(1, 0): 2.0, (0, 2): 5.0}))
    X = np.random.default_rng(0).uniform(-2.0, 2.0, (10, 3))
    np.testing.assert_allclose(values(own, part, X), 2.0 * X[:, 2] + 5.0 * X[:, 0] ** 2, rtol=1e-12, atol=1e-14)


@given(
    st.lists(st.lists(st.integers(-4, 4), min_size=2, max_size=3), min_size=2, max_size=3),
    st.sampled_from([1.0, -0.5, 3.0]),
)
@settings(max_examples=60)
def test_a_product_is_never_written_longer_than_its_factors_and_has_its_values(
    factors: list[list[int]], scale: float
) -> None:
    """Factors are coefficients, the lowest power first."""
    whole = np.array([scale])
    for factor in factors:
        whole = np.convolve(whole, factor)
    if not whole.any():
        return
    write, product = writer(1), of({(i,): float(value) for i, value in enumerate(whole) if value != 0.0})
    found = blocks.written(write, product)
    X = np.linspace(-2.0, 2.0, 9)[:, None]
    np.testing.assert_allclose(values(write, found, X), at(product, X), rtol=1e-9, atol=1e-9)
    parts = [of({(i,): float(value) for i, value in enumerate(factor) if value}) for factor in factors]
    apart = write.scaled(scale, write.product([blocks.written(write, part) for part in parts if part.exponents]))
    assert len(found) <= len(apart) + 4, "a common factor may stand in one place or in another"


@pytest.mark.parametrize(
    ("coefficients", "text"),
    [
        ([1, 1, 1, 1], "(x1 + 1.0) * (x1 * x1 + 1.0)"),
        ([1, 3, 3, 1], "(x1 + 1.0) * (x1 + 1.0) * (x1 + 1.0)"),
        ([0, 1, 1, 1, 1, 1, 1, 1, 1], "x1 * (x1 + 1.0) * (x1 * x1 + 1.0) * (x1 * x1 * x1 * x1 + 1.0)"),
        ([1.5, -2.5, 1], "(x1 + -1.5) * (x1 + -1.0)"),
        ([1, 0, -3, 0, 0, 1], "1.0 + x1 * x1 * (-3.0 + x1 * x1 * x1)"),
        ([1, 2.3, 1], "1.0 + x1 * (2.3 + x1)"),
    ],
)
def test_a_polynomial_that_is_shorter_as_a_product_is_written_as_one(coefficients: list[float], text: str) -> None:
    write = writer(1)
    part = blocks.written(write, of({(i,): float(value) for i, value in enumerate(coefficients) if value}))
    assert str(write.population([part])[0]) == text


def test_small_polynomials_are_written_as_a_person_would() -> None:
    own = writer(1)
    shown: dict[str, dict[Exponents, float]] = {
        "0.0": {},
        "7.0": {(0,): 7.0},
        "x1": {(1,): 1.0},
        "x1 + 1.0": {(0,): 1.0, (1,): 1.0},
        "x1 * x1": {(2,): 1.0},
    }
    for text, polynomial in shown.items():
        expression = own.population([blocks.written(own, of(polynomial))])[0]
        assert sorted(str(expression).split()) == sorted(text.split())


def fraction(above: list[float], below: list[float], x: Floats) -> Floats:
    return np.asarray(np.polyval(above[::-1], x) / np.polyval(below[::-1], x))


@settings(max_examples=60, deadline=None)
@given(
    above=st.lists(st.integers(-5, 5), min_size=1, max_size=5).filter(lambda factors: factors[-1] != 0),
    below=st.lists(st.integers(1, 5), min_size=2, max_size=4),
    seed=st.integers(0, 2**32),
)
def test_a_rational_function_is_found(above: list[int], below: list[int], seed: int) -> None:
    """Its values come out whatever common factors there are; without any, so do both polynomials, but for a unit."""
    x = np.random.default_rng(seed).uniform(0.1, 2.0, 40)
    y = fraction([*map(float, above)], [*map(float, below)], x)
    solved = blocks.rational(x[:, None], y, np.ones(40), len(above) - 1, len(below) - 1)
    assert solved is not None
    upper, lower, error = solved
    assert error <= 1e-14 * float(y @ y)
    np.testing.assert_allclose(at(upper, x[:, None]) / at(lower, x[:, None]), y, rtol=1e-6, atol=1e-7)
    found = [terms(lower).get((power,), 0.0) for power in range(len(below))]
    top = [terms(upper).get((power,), 0.0) for power in range(len(above))]
    roots = [np.roots(factors[::-1]) for factors in (above, below)]
    gap = min((abs(a - b) for a in roots[0] for b in roots[1]), default=np.inf)
    if gap > 0.3:
        unit = found[-1] / below[-1]
        np.testing.assert_allclose(found, np.array(below) * unit, rtol=1e-6)
        np.testing.assert_allclose(top, np.array(above) * unit, rtol=1e-6, atol=1e-6 * abs(unit))


def in_plain_units(vector: Floats) -> list[float]:
    """The same by its definition: each unit in turn, each number by itself, and every price of every unit."""
    best: list[float] = vector.tolist()
    best_cost = math.inf
    for unit in vector[vector != 0.0]:
        rounded = []
        for value in (vector / unit).tolist():
            close = sorted((price, number) for number, price in simple_numbers.candidates(value, 1e-6 * abs(value)))
            rounded.append(close[0][1] if close else value)
        prices = [simple_numbers.cost(value) for value in rounded]
        total = 0.0
        for price in prices:
            total += 20.0 if price is None else price
        if total < best_cost:
            best, best_cost = rounded, total
    return best


@given(
    st.lists(
        st.integers(-20, 20).map(float)
        | st.floats(-1e3, 1e3)
        | st.sampled_from([math.pi, -2.0 * math.e, 1 / 3, 2.5e-7, 1e300, 1e-300, 0.3 * (1.0 + 1e-9)]),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from([1.0, 3.7, -1e-3, math.pi]),
)
def test_the_unit_of_a_vector_is_the_entry_that_leaves_the_cheapest_numbers(numbers: list[float], by: float) -> None:
    with np.errstate(over="ignore"):
        vector = np.array(numbers) * by
        assert blocks._in_plain_units(vector).tolist() == in_plain_units(vector)


def test_a_rational_functions_coefficients_are_plain() -> None:
    """(x^5 - 3 x^3 + 1) / (x^2 + 1), to the last bit."""
    x = np.linspace(-1.0, 1.0, 20)
    solved = blocks.rational(x[:, None], (x**5 - 3 * x**3 + 1) / (x**2 + 1), np.ones(20), 5, 2)
    assert solved is not None
    assert terms(solved[0]) == {(0,): 1.0, (3,): -3.0, (5,): 1.0}
    assert terms(solved[1]) == {(0,): 1.0, (2,): 1.0}


def test_rational_functions_of_two_variables() -> None:
    X = np.random.default_rng(0).uniform(0.1, 2.0, (60, 2))
    y = (X[:, 0] * X[:, 1] - 2.0) / (1.0 + X[:, 0] + 3.0 * X[:, 1])
    solved = blocks.rational(X, y, np.ones(60), 2, 1)
    assert solved is not None
    assert terms(solved[0]) == {(0, 0): -2.0, (1, 1): 1.0}
    assert terms(solved[1]) == {(0, 0): 1.0, (1, 0): 1.0, (0, 1): 3.0}


def test_what_is_no_rational_function_leaves_an_error() -> None:
    x = np.linspace(0.1, 6.0, 50)
    exact = blocks.rational(x[:, None], 1.0 / (1.0 + x), np.ones(50), 1, 1)
    other = blocks.rational(x[:, None], np.sin(3.0 * x), np.ones(50), 1, 1)
    assert exact is not None
    assert other is not None
    assert exact[2] < 1e-20
    assert other[2] > 1.0


def test_many_variables_have_few_monomials_and_they_are_soon_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 10 variables there are 66 up to degree 2, but 3^10 combinations of powers."""
    made = 0
    product: Any = itertools.product

    def counted(*arguments: object, **how: int) -> Iterator[object]:
        nonlocal made
        for combination in product(*arguments, **how):
            made += 1
            yield combination

    monkeypatch.setattr(itertools, "product", counted)
    assert len(blocks.monomials(10, 2)) == 66
    assert made < 1000


@pytest.mark.parametrize("noise", [1e-6, 1e-3])
def test_a_noisy_rational_function_keeps_the_terms_that_the_data_carry(noise: float) -> None:
    """x^4 / (1 + x^4), in which a solution without noise has all ten coefficients."""
    rng = np.random.default_rng(0)
    x, ones = rng.uniform(-4.0, 4.0, 200), np.ones(200)
    y = x**4 / (1.0 + x**4) + noise * rng.normal(size=200)
    dense = blocks.rational(x[:, None], y, ones, 4, 4)
    assert dense is not None
    assert len(dense[0].exponents) + len(dense[1].exponents) == 10
    sparse = blocks.sparse_rational(writer(1), x[:, None], y, ones, *dense[:2])
    assert sparse is not None
    assert sparse[0].exponents == ((4,),)
    assert sparse[1].exponents == ((0,), (4,))
    assert sparse[2] < 1.3 * 200 * noise**2


def test_a_rational_function_of_two_variables_loses_terms_too() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(0.5, 2.0, (200, 2))
    y = (1.0 + X[:, 0] * X[:, 1]) / (2.0 * X[:, 0] + X[:, 1]) + 1e-4 * rng.normal(size=200)
    dense = blocks.rational(X, y, np.ones(200), 2, 1)
    assert dense is not None
    sparse = blocks.sparse_rational(writer(2), X, y, np.ones(200), *dense[:2])
    assert sparse is not None
    assert set(sparse[0].exponents) == {(0, 0), (1, 1)}
    assert set(sparse[1].exponents) == {(1, 0), (0, 1)}


def test_a_pole_among_the_samples_has_no_sparse_quotient() -> None:
    x = np.linspace(-1.0, 1.0, 21)
    pole = Polynomial(((1,),), (1.0,))
    assert blocks.sparse_rational(writer(1), x[:, None], x, np.ones(21), pole, pole) is None


def test_terms_that_few_samples_need_stay() -> None:
    """c / x is shorter than the seven samples of a decay, and predicts them far worse than all terms do."""
    x = np.array([3.0, 4.0, 6.0, 9.0, 10.0, 13.0, 15.0])
    y = np.array([88.0, 72.0, 53.0, 29.5, 25.2, 15.2, 11.1])
    dense = blocks.rational(x[:, None], y, np.ones(7), 1, 1)
    assert dense is not None
    assert blocks.sparse_rational(writer(1), x[:, None], y, np.ones(7), *dense[:2]) is None


@pytest.mark.parametrize(
    ("above", "below", "most"),
    [
        ({(0,): -3.0, (1,): 2.0}, {(1,): 1.0}, 5),  # 2 - 3 / x
        ({(0,): -3.0, (1,): 2.5}, {(1,): 4.0}, 5),
        ({(0,): 1.5, (3,): 2.5}, {(1,): 1.0}, 9),
        ({(0,): 1.5}, {(1,): 1.0}, 3),
        ({(1,): 2.0}, {(0,): 1.0, (1,): 3.0}, 9),
    ],
)
def test_a_quotient_is_written_as_a_sum_of_powers_where_that_is_shorter(
    above: dict[Exponents, float], below: dict[Exponents, float], most: int
) -> None:
    x = np.linspace(0.5, 3.0, 20)
    part = blocks.written_quotient(writer(1), of(above), of(below))
    assert len(part) <= most
    over, under = (sum(factor * x ** powers[0] for powers, factor in side.items()) for side in (above, below))
    assert values(writer(1), part, x[:, None]) == pytest.approx(over / under, rel=1e-12)


def test_a_quotient_of_several_variables_may_be_a_sum_too() -> None:
    X = np.random.default_rng(2).uniform(0.5, 2.0, (20, 2))
    part = blocks.written_quotient(writer(2), of({(1, 0): 1.0, (0, 1): 1.0}), of({(1, 1): 2.0}))
    assert values(writer(2), part, X) == pytest.approx(0.5 / X[:, 0] + 0.5 / X[:, 1], rel=1e-12)


def test_a_quotient_stays_one_where_no_sum_can_be_written() -> None:
    quotients = Writer(Library.of(["div", "const"], 1))
    part = blocks.written_quotient(quotients, of({(0,): 2.0}), of({(1,): 1.0}))
    assert len(part) == 3
