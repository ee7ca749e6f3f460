"""Simple numbers: which there are near a value, and what each costs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from symseed.scoring import simple_numbers

LOG2 = math.log(2.0)
finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@pytest.mark.parametrize(
    ("value", "nats"),
    [
        (0.0, 0.0),
        (1.0, math.log(2) + math.log(1.2)),
        (3.0, math.log(4) + math.log(1.6)),
        (-3.0, math.log(4) + math.log(1.6) + LOG2),
        (5336.0, math.log(5337) + math.log(1 + 5336 / 5)),
        (20.0, math.log(3) + math.log(1.4) + math.log(4)),
        (-300.0, math.log(4) + math.log(1.6) + math.log(6) + LOG2),
        (10_000.0, math.log(11) + math.log(3) + math.log(8)),
        (0.5, math.log(2) + math.log(1.2) + math.log(4)),
        (-2 / 3, math.log(3) + math.log(1.4) + math.log(6) + LOG2),
        (0.01, math.log(2) + math.log(1.2) + math.log(200)),
        (math.pi, math.log(2) + math.log(1.2) + math.log(8)),
        (3 * math.pi / 2, math.log(4) + math.log(1.6) + math.log(4) + math.log(8)),
        (-math.e, math.log(2) + math.log(1.2) + LOG2 + math.log(16)),
    ],
)
def test_a_plain_number_costs_what_it_takes_to_write_it(value: float, nats: float) -> None:
    assert simple_numbers.cost(value) == pytest.approx(nats, rel=1e-12)


@pytest.mark.parametrize(
    "value", [2.0000001, math.sqrt(2.0), 10_001.0, 1 / 11, 1e-5, 123.456, 1e200, math.nextafter(0.5, 1.0), math.inf]
)
def test_other_numbers_have_no_cost(value: float) -> None:
    assert simple_numbers.cost(value) is None
    assert simple_numbers.cost(math.nan) is None


def test_rounder_numbers_cost_less() -> None:
    ladder = [1.0, 2.0, 0.5, 1.5, 7.5, 0.99, 9.99]
    costs = [simple_numbers.cost(value) for value in ladder]
    assert all(a is not None and b is not None and a < b for a, b in itertools.pairwise(costs))


def test_integers_of_many_digits_weigh_less_together_than_those_of_few() -> None:
    """Otherwise a constant of four digits would be rounded whatever its digits are."""
    numbers = np.arange(1.0, 10_000.0)
    weights = np.where(numbers % 10 == 0, 0.0, np.exp(-simple_numbers.nearest(numbers)[1][:, 0]))
    decades = [float(weights[10**k - 1 : 10 ** (k + 1) - 1].sum()) for k in range(4)]
    assert all(after < 0.5 * before for before, after in itertools.pairwise(decades)), decades


@settings(max_examples=200, deadline=None)
@given(value=finite, reach=st.floats(0.0, 10.0))
def test_candidates_are_plain_and_within_reach(value: float, reach: float) -> None:
    found = simple_numbers.candidates(value, reach)
    assert len({number for number, _ in found}) >= len(found) - 2, "the same number is given once of each kind"
    for number, price in found:
        assert number != 0.0
        assert abs(number - value) <= reach
        cheapest = simple_numbers.cost(number)
        assert cheapest is not None
        assert cheapest <= price


@settings(max_examples=200, deadline=None)
@given(
    numerator=st.integers(1, 400),
    denominator=st.sampled_from(simple_numbers.DENOMINATORS),
    unit=st.sampled_from([1.0, math.pi, math.e]),
    shift=st.floats(-1e-9, 1e-9),
    sign=st.sampled_from([-1.0, 1.0]),
)
def test_a_plain_number_is_found_from_nearby(
    numerator: int, denominator: int, unit: float, shift: float, sign: float
) -> None:
    assume(math.gcd(numerator, denominator) == 1)
    plain = sign * (numerator * unit / denominator)
    assert plain in [number for number, _ in simple_numbers.candidates(plain + shift, 1e-8)]
    assert simple_numbers.cost(plain) is not None


def test_the_nearest_of_each_kind_is_given() -> None:
    """Of 2.3 within 0.5: 2 of the whole numbers, 5/2 of the halves, 7/3 of the thirds; 3 is too far."""
    found = [number for number, _ in simple_numbers.candidates(2.3, 0.5)]
    assert found[:3] == [2.0, 2.5, 7 / 3]
    assert 3.0 not in found
    assert math.e in found
    assert 2.3 in found


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 0.0, 1e-12])
def test_nothing_is_near_what_is_no_number_or_next_to_0(value: float) -> None:
    assert simple_numbers.candidates(value, 1e-6) == []


@pytest.mark.parametrize("value", [3.14, 0.02, 2.04, -9.98])
def test_a_decimal_of_two_places_is_plain_whatever_its_last_digit(value: float) -> None:
    neighbour = simple_numbers.cost(value + 0.01)
    assert neighbour is None or simple_numbers.cost(value) is not None
    assert value in [number for number, _ in simple_numbers.candidates(value, 1e-9)]


@pytest.mark.parametrize("value", [1e307, -1e308, 1.7976931348623157e308])
def test_the_largest_numbers_are_not_plain(value: float) -> None:
    assert simple_numbers.cost(value) is None
    assert simple_numbers.candidates(value, 1e300) == []
