"""Laws that a transformation makes a straight line have a short code, whatever their writing, and no others have."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symseed import Dataset, Expression, Library
from symseed.language.population import Population
from symseed.scoring import evaluate, simple_numbers, straight
from symseed.scoring.description import RARITY, code_length, constant_cost, description_lengths, deviations

LIBRARY = Library.of(["add", "sub", "mul", "div", "sqrt", "square", "exp", "log", "sin", "neg", "const"], 2)
RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 4.0, (30, 2))
DATA = Dataset.of(X, X[:, 0] + 0.1 * RNG.normal(size=30))
LAWS = {
    "a + b x1": "2.5 + 3.1 * x1",
    "b x1": "3.1 * x1",
    "b sqrt(x1)": "3.1 * sqrt(x1)",
    "b / x1^2": "3.1 / square(x1)",
    "a + b / x1^2": "1.7 + 3.1 / square(x1)",
    "1 / (a + b x1)": "7.5 / (x1 + 2.2)",
    "1 / (a + b / x1)": "7.5 * x1 / (x1 + 2.2)",
    "1 / (a + b x1)^2": "7.5 / square(x1 - 0.3)",
    "exp(a + b x1)": "7.5 * exp(-(0.4 * x1))",
    "exp(a + b / x1)": "exp(1.5 - 2.2 / x1)",
    "sqrt(a + b x1^2)": "sqrt(1.5 + 2.2 * square(x1))",
    "a + b log(x1)": "1.5 + 2.2 * log(x1)",
    "b x1^2 x2": "2.2 * square(x1) * x2",
    "b sqrt(x1 x2)": "2.2 * sqrt(x1 * x2)",
}
OTHERS = (
    "x1 + 2.2",  # a slope of 1 is no constant of the law
    "x1 / (x1 + 2.2)",
    "2.2 * log(x1)",  # the units of x1 ask for another constant
    "exp(0.4 * x1)",
    "2.2 * sin(x1)",
    "2.2 + 1.5 * exp(0.4 * x1)",
    "2.2 * x1 + 1.5 * x2",
    "2.2 * x1 * (x1 + 1.5)",
    "2.2 * exp(0.4 * x1) * x2",
)


def nats(text: str, data: Dataset = DATA) -> float:
    """Nats as such a law, without those of the writing."""
    expression = Expression.parse(text, LIBRARY)
    return float(straight.straight_nats(Population.from_expressions([expression]), data, np.zeros(1))[0])


@pytest.mark.parametrize("text", LAWS.values(), ids=LAWS)
def test_a_law_is_recognised(text: str) -> None:
    assert nats(text) < 10.0


@pytest.mark.parametrize("text", OTHERS)
def test_other_formulas_are_not(text: str) -> None:
    assert nats(text) == math.inf


def test_a_factor_of_one_costs_what_the_number_does() -> None:
    one = simple_numbers.cost(1.0)
    assert one is not None
    for text in ("x1 * sqrt(x1)", "x1 * x2", "square(x1) / x2"):
        assert nats(text) == pytest.approx(nats(f"2.2 * {text}") + one)
    assert nats("x1 / (x1 + 2.2)") == math.inf, "of two constants, neither is missing"


def test_writings_of_a_law_have_one_price() -> None:
    for one, other in (
        ("7.5 * x1 / (x1 + 2.2)", "x1 / (0.3 * x1 + 2.2)"),
        ("7.5 * x1 / (x1 + 2.2)", "1.5 / (0.3 + 2.2 / x1)"),
        ("7.5 * exp(-(0.4 * x1))", "exp(1.2 - x1 / 2.5)"),
        ("sqrt(square(x1) * 3.1)", "3.1 * x1"),
    ):
        assert nats(one) == nats(other) < math.inf


@given(
    a=st.floats(0.1, 10.0),
    b=st.floats(0.1, 10.0),
    scale=st.sampled_from([2.0**-20, 0.5, 4.0, 2.0**30]),
    text=st.sampled_from(
        ["{A} + {B} * x1", "{A} / ({b} + x1)", "{A} * exp({b} / x1)", "{B} / x1", "{A} * x1 * sqrt(x1)"]
    ),
)
def test_constants_and_the_unit_of_y_do_not_matter(a: float, b: float, scale: float, text: str) -> None:
    written = text.format(A=repr(a * scale), B=repr(b * scale), b=repr(b))
    assert nats(written) == nats(text.format(A="1.25", B="1.75", b="1.75"))


def test_a_law_of_a_column_that_is_not_positive_is_a_law_too() -> None:
    data = Dataset.of(X - 2.0, DATA.y)
    assert nats("2.5 + 3.1 * x1", data) == nats("2.5 + 3.1 * x1")
    assert nats("2.5 + 3.1 * square(x1)", data) < math.inf
    assert nats("3.1 * sqrt(x1)", data) == math.inf, "it has no value at some of the points"


def test_values_out_of_range_and_columns_that_do_not_vary_are_no_laws() -> None:
    assert nats("1e200 * exp(400.5 * x1) * 1e5") == math.inf
    assert nats("1e200 * x1 + 1e200 * square(x1)") == math.inf
    fixed = Dataset.of(np.column_stack([np.full(30, 2.0), X[:, 1]]), DATA.y)
    assert nats("3.1 * x1", fixed) == math.inf
    assert nats("3.1 * x2", fixed) < math.inf


def test_a_column_that_a_user_makes_costly_is_costly_in_a_law_too() -> None:
    """The weight of a token is that of so many tokens, whichever code a formula has."""
    x1, *others = Library.of(["mul", "sqrt", "const"], 1).tokens
    cheap, dear = (Library((replace(x1, weight=weight), *others)) for weight in (1, 20))
    lengths = [
        description_lengths(Population.from_expressions([Expression.parse("2.2 * sqrt(x1)", library)]), data)[0]
        for data in [Dataset.of(X[:, :1], DATA.y)]
        for library in (cheap, dear)
    ]
    assert lengths[1] - lengths[0] == pytest.approx(19 * cheap.token_nats[0])


def test_a_description_takes_the_shorter_code() -> None:
    """Arrhenius' law becomes shorter by what its code saves, and another formula stays as it is."""
    law, other = "exp(1.5 - 2.2 / x1)", "sin(1.5 - 2.2 / x1)"
    costs = LIBRARY.token_nats + RARITY * (LIBRARY.complexities - 1)
    for text, is_law in ((law, True), (other, False)):
        expression = Expression.parse(text, LIBRARY)
        tree = np.array([sum(costs[token] for token in expression.row.ids)])
        population = Population.from_expressions([expression])
        own = straight.straight_nats(population, DATA, tree)
        mean_square = DATA.mean_squares(evaluate(population, DATA).error)
        spread = deviations(population, 0, DATA, float(mean_square[0]))
        rest = code_length(DATA, mean_square)[0] + sum(
            constant_cost(value, width) for value, width in zip((1.5, 2.2), spread, strict=True)
        )
        found = description_lengths(population, DATA)[0]
        assert found == pytest.approx(rest + (own if is_law else tree)[0])
        assert (own[0] < tree[0]) == is_law
