"""Description length: small cases by hand, and what it prefers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symseed import Dataset, Expression, FitSettings, Library, Population, evaluate, fit
from symseed.arrays import Floats
from symseed.data.dataset import ROUNDING
from symseed.data.growth import Growth
from symseed.data.noise import Noise, NoiseKind
from symseed.scoring.description import (
    BARE_EVIDENCE,
    EVIDENCE,
    RARITY,
    code_length,
    constant_cost,
    data_lengths,
    description_lengths,
    deviations,
    evidence,
    free_deviations,
    shortest,
)

LIBRARY = Library.of(["add", "mul", "sin", "log", "const"], 1)
LEAF, OPERATOR = math.log(2 * 2), math.log(2 * 4)
"""Nats of a leaf, x1 or a constant, and of one of the four operators."""
TWO = math.log(3.0) + math.log(1.4)
"""Nats of the simple number 2."""
x = np.linspace(0.5, 3.0, 25)


def rows(*prefixes: str) -> Population:
    return Population.from_expressions([Expression.parse_prefix(prefix, LIBRARY) for prefix in prefixes])


def noisy(seed: int, size: float = 0.1) -> Floats:
    return np.random.default_rng(seed).normal(0.0, size, len(x))


def test_a_formula_without_constants_costs_its_tokens_and_the_data() -> None:
    """Of 4 samples, y = x + d with errors 1, 1, 1 and 3: a mean square of 3."""
    data = Dataset.of([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 7.0])
    (length,) = description_lengths(rows("x1"), data)
    assert length == pytest.approx(LEAF + 4 / 2 * math.log(3.0), rel=1e-12)


def test_weights_count_in_the_mean_square() -> None:
    """The sample with error 3 weighs twice as much as the others together: (1 + 1 + 1 + 6 * 9) / 9."""
    data = Dataset.of([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 7.0], [1.0, 1.0, 1.0, 6.0])
    (length,) = description_lengths(rows("x1"), data)
    assert length == pytest.approx(LEAF + 4 / 2 * math.log(57 / 9), rel=1e-12)


def test_every_token_more_costs_the_logarithm_of_twice_its_kind_and_its_rarity() -> None:
    data = Dataset.of(x, np.sin(x) + noisy(0))
    short, long, longest = description_lengths(rows("sin x1", "log add sin x1 x1", "sin mul x1 const(1)"), data)
    assert longest - short == pytest.approx(OPERATOR + LEAF + math.log(2.4), rel=1e-9), "and the simple number 1"
    errors = evaluate(rows("sin x1", "log add sin x1 x1"), data).error / len(data)
    tokens = 2 * OPERATOR + LEAF + 3 * RARITY  # a logarithm is three steps more complex than a sum
    assert long - short == pytest.approx(tokens + 0.5 * len(data) * np.log(errors[1] / errors[0]), rel=1e-9)


def test_the_code_of_the_tokens_is_complete() -> None:
    """Kraft's sum over all trees: p = 1/2 + 1/2 (u p + b p^2) for shares u and b of operators has the root 1."""
    library = Library.of(["add", "mul", "sin", "const", 2.0], 3)
    shares = np.exp(-library.token_nats)
    sums = [float(shares[library.arities == arity].sum()) for arity in (0, 1, 2)]
    assert sums == pytest.approx([1 / 2, 1 / 6, 1 / 3], rel=1e-12)
    assert library.mean_nats == pytest.approx((math.log(2 * 5) + math.log(2 * 3)) / 2, rel=1e-12)


def test_a_fitted_constant_costs_its_digits() -> None:
    """By hand: y = c x with noise of mean square s. c is known to s / sqrt(sum x^2); a simple number costs less."""
    data = Dataset.of(x, 2.3471 * x + noisy(1))
    value = float(x @ data.y / (x @ x))
    population = rows(f"mul const({value!r}) x1", "mul const(2) x1")
    error = float(np.mean((value * x - data.y) ** 2))
    width = math.sqrt(error / float(x @ x))
    np.testing.assert_allclose(deviations(population, 0, data, error), [width], rtol=1e-9)
    lengths = description_lengths(population, data)
    constant = math.log(value / width) - 0.5 * math.log(3.0) + math.log(2.0)
    assert lengths[0] == pytest.approx(OPERATOR + 2 * LEAF + constant + 0.5 * len(x) * math.log(error), rel=1e-9)
    plain = float(np.mean((2.0 * x - data.y) ** 2))
    assert lengths[1] == pytest.approx(OPERATOR + 2 * LEAF + TWO + 0.5 * len(x) * math.log(plain), rel=1e-9)


def test_a_constants_deviation_follows_noise_and_samples() -> None:
    """Twice the noise, twice the deviation; four times the samples, half of it; the unit of weights says nothing."""
    row = rows("mul const(2.5) x1")
    data = Dataset.of(x, 2.5 * x)
    one = deviations(row, 0, data, 0.01)
    np.testing.assert_allclose(deviations(row, 0, data, 0.04), 2.0 * one, rtol=1e-9)
    np.testing.assert_allclose(deviations(row, 0, Dataset.of(np.tile(x, 4), np.tile(data.y, 4)), 0.01), 0.5 * one)
    np.testing.assert_allclose(deviations(row, 0, Dataset.of(x, data.y, np.full(25, 7.0)), 0.01), one)


@pytest.mark.parametrize(
    ("value", "deviation", "nats"),
    [
        (2.0, 1e-9, TWO),  # plain
        (math.sqrt(2.0), 1e-3, math.log(math.sqrt(2.0) / 1e-3) - 0.5 * math.log(3.0) + math.log(2.0)),
        (-math.sqrt(2.0), 1e-3, math.log(math.sqrt(2.0) / 1e-3) - 0.5 * math.log(3.0) + math.log(2.0)),
        (math.sqrt(2.0), 5.0, math.log(4.0)),  # cannot be told from 0
        (2.0, math.inf, TWO),
        (1234.0, 1000.0, math.log(4.0)),  # cheaper than all its digits
        (math.sqrt(2.0), math.nan, math.inf),
        (math.sqrt(2.0), 0.0, math.inf),
    ],
)
def test_a_constant_costs_what_is_cheaper(value: float, deviation: float, nats: float) -> None:
    assert constant_cost(value, deviation) == pytest.approx(nats, rel=1e-12)


def test_more_precise_constants_cost_more() -> None:
    costs = [constant_cost(math.sqrt(2.0), 10.0**-digits) for digits in range(1, 13)]
    np.testing.assert_allclose(np.diff(costs), math.log(10.0), rtol=1e-9)


def test_the_true_formula_is_shortest_and_a_longer_one_with_its_values_is_longer() -> None:
    data = Dataset.of(x, 2.0 * x + np.sin(x))
    lengths = description_lengths(
        rows("add mul const(2) x1 sin x1", "add add mul const(2) x1 sin x1 const(0)", "mul const(2) x1", "const(3)"),
        data,
    )
    assert lengths.argmin() == 0
    assert lengths[1] - lengths[0] == pytest.approx(OPERATOR + LEAF + math.log(2.0), abs=3.0)  # rounding may differ


def test_a_constant_beats_a_wiggle_fitted_to_noise() -> None:
    """Over 40 draws of pure noise: the wiggle has less error each time, and the longer description nearly always."""
    gains = []
    for seed in range(40):
        data = Dataset.of(x, 5.0 + noisy(seed))
        start = rows("const(5)", "add const(5) mul const(0.1) sin mul const(3) x1")
        fitted, errors = fit(start, data, FitSettings(iterations=50))
        assert errors.error[1] <= errors.error[0]
        plain, wiggle = description_lengths(fitted, data)
        gains.append(wiggle - plain)
    assert np.mean(gains) > 5.0
    assert np.mean(np.array(gains) > 0.0) > 0.9


def test_a_wiggle_that_is_there_beats_a_constant() -> None:
    for seed in range(10):
        data = Dataset.of(x, 5.0 + np.sin(3.0 * x) + noisy(seed))
        start = rows("const(5)", "add const(5) mul const(1) sin mul const(3) x1")
        plain, wiggle = description_lengths(fit(start, data)[0], data)
        assert wiggle < plain - 10.0


def test_a_row_that_fails_is_infinitely_long_and_the_others_are_not() -> None:
    data = Dataset.of(x - 1.0, x)
    lengths = description_lengths(rows("x1", "log x1", "mul const(2) log x1", "add x1 const(1)"), data)
    assert np.isfinite(lengths).tolist() == [True, False, False, True]
    assert np.all(lengths[1:3] == np.inf)


@pytest.mark.parametrize("scale", [1e-100, 1e-3, 1.0, 1e6, 1e100])
def test_errors_below_rounding_count_as_rounding(scale: float) -> None:
    """An exact formula is not infinitely short, and which is shorter does not depend on the unit of y."""
    data = Dataset.of(x, scale * x)
    assert data.rounding == pytest.approx(ROUNDING**2 * float(np.mean((scale * x) ** 2)), rel=1e-9)
    assert code_length(data, np.array([0.0]))[0] == pytest.approx(0.5 * len(x) * math.log(data.rounding), rel=1e-12)
    exact, almost, wrong = code_length(data, scale**2 * np.array([0.0, 1e-34, 1e-4]))
    assert abs(exact - almost) < 0.01 * len(x)
    assert wrong > exact + 20 * len(x)


def test_data_that_are_all_0_have_a_floor_too() -> None:
    data = Dataset.of(x, np.zeros(25))
    assert data.rounding == 1e-300
    zero, line = description_lengths(rows("const(0)", "x1"), data)
    assert np.isfinite(zero)
    assert zero < line


def test_a_constant_that_others_follow_is_known_less_well() -> None:
    """The standard errors of a straight line, as every textbook has them."""
    data = Dataset.of(x, 2.3471 * x + 0.7 + noisy(1))
    slope, offset = np.polyfit(x, data.y, 1).tolist()
    error = float(np.mean((slope * x + offset - data.y) ** 2))
    population = rows(f"add mul const({slope!r}) x1 const({offset!r})")
    spread = float(((x - x.mean()) ** 2).sum())
    by_hand = [math.sqrt(error / spread), math.sqrt(error * float(x @ x) / (len(x) * spread))]
    np.testing.assert_allclose(free_deviations(population, 0, data, error), by_hand, rtol=1e-9)
    assert (free_deviations(population, 0, data, error) > deviations(population, 0, data, error)).all()


def test_constants_that_undo_one_another_are_not_known_at_all() -> None:
    data = Dataset.of(x, 2.0 * x + noisy(2))
    widths = free_deviations(rows("mul const(2) mul const(1) x1"), 0, data, 0.01)
    assert (widths > 1e5).all()


def test_a_length_does_not_depend_on_the_formulas_that_are_judged_with_it() -> None:
    """To the last bit, however far a row is padded: a run that is resumed judges its formulas together."""
    data = Dataset.of(x, np.sin(x) + noisy(0))
    texts = ["mul sin x1 add x1 mul x1 log add x1 x1", "add sin log x1 mul sin x1 sin log add x1 mul x1 sin x1"]
    long = "add " * 20 + "x1 " * 20 + "sin x1"
    for text in texts:
        (alone,) = description_lengths(rows(text), data)
        among, _ = description_lengths(rows(text, long), data)
        assert alone == among


@pytest.mark.parametrize("size", [1.0, 1e6, 1e-6])
def test_a_constant_out_of_all_proportion_to_the_data_is_refused(size: float) -> None:
    """The factor 1e50 in a logarithm is an added 115 in disguise; what is large depends on the units of the data."""
    data = Dataset.of(size * x, np.log(x))
    absurd, right = description_lengths(
        rows(f"log mul const({1e50 / size!r}) x1", f"log mul const({1.0 / size!r}) x1"), data
    )
    assert absurd == math.inf
    assert math.isfinite(right)
    assert math.isfinite(description_lengths(rows("mul const(1e30) x1"), Dataset.of(x, 1e30 * x))[0])


def decades() -> tuple[Dataset, Floats]:
    """An exponential over five decades with relative noise of 5 %, and the curve that gave its weights."""
    curve = np.exp(-4.0 * x)
    y = curve * (1.0 + noisy(0, 0.05))
    return Noise(NoiseKind.RELATIVE, share=0.05).by(Dataset.of(x, y), 0.05 * curve).dataset, curve


def test_a_formula_with_the_values_of_the_curve_is_as_long_as_by_the_weights() -> None:
    data, _ = decades()
    library = Library.of(["mul", "exp", "const"], 1)
    law = Population.from_expressions([Expression.parse_prefix("exp mul const(-4.0) x1", library)])
    by_weights = description_lengths(law, data.with_growth(None))
    np.testing.assert_allclose(description_lengths(law, data), by_weights, rtol=1e-12)


def test_under_relative_noise_a_formula_is_judged_by_the_noise_that_its_own_values_imply() -> None:
    """The normal density by NumPy: the size of the noise is the best one for each formula, its growth the formula's."""
    data, _ = decades()
    library = Library.of(["mul", "exp", "const"], 1)
    texts = ["exp mul const(-4.0) x1", "exp mul const(-3.0) x1", "const(0.01)"]
    population = Population.from_expressions([Expression.parse_prefix(text, library) for text in texts])
    mean_square = data.mean_squares(evaluate(population, data).error)
    found = data_lengths(population, data, mean_square)
    for row in range(3):
        values = population[row].evaluate(data.X)
        size = np.sqrt(np.mean(((data.y - values) / values) ** 2)) * np.abs(values)
        nats = np.sum(np.log(size) + 0.5 * ((data.y - values) / size) ** 2)
        first = population[0].evaluate(data.X)
        one = np.sqrt(np.mean(((data.y - first) / first) ** 2)) * np.abs(first)
        expected = nats - np.sum(np.log(one) + 0.5 * ((data.y - first) / one) ** 2)
        assert found[row] - found[0] == pytest.approx(expected, abs=1e-6)


def test_under_relative_noise_the_number_0_explains_nothing_and_a_constant_does_not_profit_from_the_curve() -> None:
    data, curve = decades()
    population = rows("const(0.0)", "const(1e-5)")
    by_weights, own = description_lengths(population, data.with_growth(None)), description_lengths(population, data)
    assert own[0] == math.inf
    assert own[1] > by_weights[1] + 0.5 * np.log(curve.max() / curve.min()), "for the law is not hidden in the weights"


def test_growth_keeps_its_samples_and_its_units() -> None:
    growth = Growth(np.array([1.0, 2.0, 4.0]), 0.5, 0.1)
    values = np.array([[10.0, 20.0, 40.0]])
    factor, logs = growth.own(values)
    other, same = growth.in_units(2.0).own(values / 2.0)
    np.testing.assert_allclose(other, factor, rtol=1e-14)
    np.testing.assert_allclose(same, logs, rtol=1e-14)
    np.testing.assert_allclose(growth.take(np.array([2])).own(values[:, 2:])[0], factor[:, 2:], rtol=1e-14)


def test_a_constant_is_chosen_unless_a_formula_is_shorter_by_the_evidence_that_it_needs() -> None:
    needed = [evidence(row) for row in (rows("const(2.0)")[0], rows("x1")[0], rows("mul const(2.0) x1")[0])]
    assert needed == [0.0, BARE_EVIDENCE, EVIDENCE]
    assert shortest([10.0, 7.5, 8.5], needed) == 2, "the bare column is shorter, but not by enough"
    assert shortest([10.0, 6.5, 8.5], needed) == 1
    assert shortest([10.0, 9.5, 9.5], needed) == 0
    assert shortest([10.0, 9.5], needed[1:]) == 1, "without a constant the shortest is chosen"
    assert shortest([math.inf, 3.0], [0.0, EVIDENCE]) == 1


def test_the_number_0_says_nothing_of_numbers_of_one_sign() -> None:
    zero = rows("const(0.0)")
    y = np.array([1e-6, 1e-3, 1.0])
    assert description_lengths(zero, Dataset.of(y, y))[0] == math.inf
    assert description_lengths(zero, Dataset.of(y, -y))[0] == math.inf
    assert math.isfinite(description_lengths(zero, Dataset.of(y, y - 0.5))[0])
    assert math.isfinite(description_lengths(rows("const(1.0)"), Dataset.of(y, y))[0])
