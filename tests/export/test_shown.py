"""A shown formula is short, says what the formula computes, and can be read back."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import expressions
from symseed import Dataset, Expression, Library
from symseed.arrays import Floats
from symseed.export import from_text, to_latex, to_mathml, to_text
from symseed.language.row import Row
from symseed.language.spelling import DIGITS, Simple, decimal, rounded
from symseed.language.tokens import OPERATORS, TokenKind, custom

NAMES = ("c", "t", "v")
LIBRARY = Library.of([*OPERATORS, "const"], NAMES)
X = np.random.default_rng(0).uniform(0.5, 10.0, (60, 3))


def formula(text: str) -> Expression:
    return Expression.parse(text, LIBRARY)


def data(expression: Expression, noise: float = 0.0, X: Floats = X) -> Dataset:
    """The formula's values, with noise as a share of their spread."""
    y = expression.evaluate(X)
    return Dataset.of(X, y + noise * y.std() * np.random.default_rng(1).normal(size=len(y)), names=list(NAMES))


def shown(text: str, noise: float = 0.0) -> str:
    expression = formula(text)
    return to_text(expression, data(expression, noise))


# --- Numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("113.09733552923255 * square(c)", "36*pi*c^2"),
        ("0.6666666666666666 * c", "2*c/3"),
        ("c + 0.7853981633974483", "c + pi/4"),
        ("c - 4.71238898038469", "c - 3*pi/2"),
        ("0.5 * c * square(t)", "c*t^2/2"),
        ("c / (3.0 * t)", "c/(3*t)"),
        ("1.5 * c", "1.5*c"),
        ("118.0 * c", "118*c"),
        ("c ^ 0.3333333333333333", "c^(1/3)"),
    ],
)
def test_fractions_and_multiples_of_pi_are_written_as_such(text: str, expected: str) -> None:
    assert to_text(formula(text)) == expected
    assert shown(text, 0.01) == expected


def test_a_number_that_is_no_simple_fraction_is_a_decimal() -> None:
    assert shown("233.42857142857142 * c", 0.05) == "233.4*c", "not 1634/7"
    assert Simple.of(1634 / 7) is None
    assert Simple.of(2 / 3) == Simple(2, 3)
    assert Simple.of(36 * math.pi) == Simple(36, 1, is_pi=True)


def test_a_column_of_the_name_pi_is_not_the_number() -> None:
    expression = Expression.parse("3.141592653589793 * pi", Library.of(["mul", "const"], ["pi"]))
    assert to_text(expression) == "3.142*pi"
    assert from_text("3.142*pi", expression.library).evaluate([[2.0]]) == pytest.approx(6.284)


def test_a_constant_has_the_digits_that_the_data_can_tell() -> None:
    law = "118.37214 * c / (c + 2.4362627899426155)"
    assert shown(law, 0.5) == "118*c/(c + 2.44)"
    assert shown(law, 0.02) == "118.37*c/(c + 2.436)"
    assert shown(law) == "118.37214*c/(c + 2.436263)"
    many = np.random.default_rng(0).uniform(0.5, 10.0, (50_000, 3))
    few, more = (to_text(formula(law), data(formula(law), 0.5, X)) for X in (X, many))
    assert len(more) > len(few), "more samples tell more digits"


def test_rounding_changes_the_loss_by_less_than_chance_does() -> None:
    expression = formula("3.2042801480637904 * exp(-0.14991234 * t) * cos(2.1001234 * t + 0.40012)")
    for noise in (0.001, 0.05, 0.5):
        dataset = data(expression, noise)
        text = to_text(expression, dataset)
        exact, short = (np.sum((dataset.y - form.evaluate(X)) ** 2) for form in (expression, from_text(text, LIBRARY)))
        deviations = 4.0 * exact / len(X)  # what chance does to the sum of squares by way of four constants
        assert abs(short - exact) < deviations
        assert len(text) < len("3.20428*exp(-0.14991*t)*cos(2.10012*t + 0.40012)")


def test_digits_that_no_picture_shows_are_left_out_of_exact_data() -> None:
    assert shown("c * 1.4142135623730951") == "1.414214*c"
    assert shown("c * 2.5382") == "2.5382*c", "and none is lost that the constant has"


@given(st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False), st.integers(2, 17))
def test_a_decimal_is_the_rounded_number_and_not_longer_than_python_writes_it(value: float, digits: int) -> None:
    text = decimal(value, digits)
    assert float(text) == rounded(value, digits)
    assert len(text) <= len(repr(rounded(value, digits)))


# --- Forms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-0.0778 * ((c + 0.279) * (c - 578.0))", "12.55 + 44.95*c - 0.0778*c^2"),
        ("square(c) - 2 * c * 1.5 + 2.25", "(c - 1.5)^2"),
        ("square(c) * t + c * t * v + c * t * 3.7", "c*t*(3.7 + c + v)"),
        ("2.0 * c * t + 2.0 * c * v", "2*c*(t + v)"),
        ("(c + t) * (c - t) * (c + t)", "(c + t)^2*(c - t)"),
        ("c / (t / v)", "c*v/t"),
        ("c * c * c - t - t", "c^3 - 2*t"),
        ("exp(3.0 * (c - t) + 3.0 * t)", "exp(3*c)"),
        ("neg(c) + t", "t - c"),
        ("c ^ 0.5 + pow(t, -1.7)", "sqrt(c) + t^-1.7"),
        ("inv(square(c)) * inv(t)", "1/(c^2*t)"),
        ("-3.0 * tanh(-2.0 * c)", "3*tanh(2*c)"),
        ("t + sin(neg(c) - t) + cos(-2.0 * c - 1.5)", "t - sin(c + t) + cos(2*c + 1.5)"),
        ("square(sin(-2.0 * c)) + sin(2.0 - c)", "sin(2*c)^2 + sin(2 - c)"),
    ],
)
def test_the_shortest_of_expanded_collected_and_factored_is_shown(text: str, expected: str) -> None:
    assert shown(text, 0.01) == expected


def test_a_form_that_would_lose_the_digits_of_the_formula_is_not_shown() -> None:
    expression = formula("square(c - 123456.789) - square(t - 123456.789)")
    dataset = data(expression, 0.01)
    near = from_text(to_text(expression, dataset), LIBRARY).evaluate(X)
    assert np.sqrt(np.mean((near - expression.evaluate(X)) ** 2)) < 0.01 * dataset.deviation


def test_a_long_formula_is_shown_as_it_is() -> None:
    expression = formula(" + ".join(f"{0.1234567 * i} * sin({i}.1234567 * c)" for i in range(1, 40)))
    dataset = data(expression, 0.1)
    near = from_text(to_text(expression, dataset), LIBRARY).evaluate(X)
    assert np.sqrt(np.mean((near - expression.evaluate(X)) ** 2)) < 0.1 * dataset.deviation
    deep = Expression(LIBRARY, Row((*LIBRARY.ids(["sin"]) * 1_000, *LIBRARY.ids(["c"])), (np.nan,) * 1_001))
    assert to_text(deep) == str(deep)


def test_operators_of_ones_own_keep_their_names() -> None:
    library = Library((*Library.of(["mul", "const"], ["x"]).tokens, custom(lambda x: np.abs(x) ** 1.5, name="bend")))
    expression = Expression.parse("2.123456 * bend(x)", library)
    assert to_text(expression) == "2.123*bend(x)"
    assert from_text("2.123*bend(x)", library).evaluate([[4.0]]) == pytest.approx(16.984)


PLAIN = Library.of([*OPERATORS, "const"], NAMES)


@settings(max_examples=100, deadline=None)
@given(expressions(PLAIN, max_length=30), st.sampled_from([0.0, 0.01, 0.3]))
def test_what_is_shown_reads_back_to_the_values_of_the_formula(expression: Expression, noise: float) -> None:
    values = expression.evaluate(X)
    kept = np.isfinite(values) & (np.abs(values) < 1e100)
    if not kept.any():
        return
    exact = values[kept] / (np.abs(values[kept]).max() or 1.0)
    errors = noise * exact.std() * np.random.default_rng(1).normal(size=len(exact))
    unit = np.abs(values[kept]).max() or 1.0
    dataset = Dataset.of(X[kept], (exact + errors) * unit, names=list(NAMES))
    near = from_text(to_text(expression, dataset), PLAIN).evaluate(X[kept]) / unit
    many = math.sqrt(max(1.0, 30 / len(exact)))  # constants for each sample
    allowed = 2.0 * many * max(1e-6 * ((exact + errors).std() or 1.0), math.sqrt(np.mean(errors**2)))
    assert math.sqrt(np.mean((near - exact) ** 2)) <= allowed + 1e-15


@settings(max_examples=150, deadline=None)
@given(expressions(max_length=30))
def test_what_is_shown_is_never_longer_than_the_plain_text_of_the_same_digits(expression: Expression) -> None:
    text = to_text(expression)
    constants = tuple(rounded(value, DIGITS) for value in expression.constants)
    # In place of a division by a literal, such as 1.9, there may be a factor of four digits.
    kinds = [token.kind for token in expression.tokens]
    plain = str(Expression(expression.library, Row(expression.ids, constants)))
    assert len(text) <= len(plain) + DIGITS * kinds.count(TokenKind.LITERAL)
    from_text(text, expression.library)
    for written in (to_latex(expression), to_mathml(expression)):
        assert written.count("{") == written.count("}") or set("{}") & set("".join(t.name for t in expression.tokens))


# --- Typesetting -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.6666666666666666 * c", r"\frac{2}{3} c"),
        ("113.09733552923255 * square(c)", r"36 \pi c^{2}"),
        ("c - -2.5", "c + 2.5"),
        ("-0.07781234 * square(c) + 45.0", r"-0.07781 c^{2} + 45"),
        ("6.6743e-11 * c / square(t)", r"\frac{6.674 \cdot 10^{-11} c}{t^{2}}"),
        ("c * 2.5", r"c \cdot 2.5"),
        ("c - (t - v)", r"c - \left(t - v\right)"),
        ("(c + t) * v", r"\left(c + t\right) v"),
        ("(c * t) ^ v", r"\left(c t\right)^{v}"),
        ("exp(neg(c + t))", r"e^{-\left(c + t\right)}"),
        ("square(sin(c))", r"\sin\left(c\right)^{2}"),
        ("square(neg(c))", r"\left(-c\right)^{2}"),
        ("sqrt(abs(c))", r"\sqrt{\left|c\right|}"),
        ("neg(c) / t", r"-\frac{c}{t}"),
        ("sigmoid(c)", r"\frac{1}{1 + e^{-c}}"),
        ("min(c, neg(t))", r"\min\left(c, -t\right)"),
        ("floor(c + t) * ceil(v)", r"\left\lfloor c + t\right\rfloor \left\lceil v\right\rceil"),
        ("cbrt(neg(c))", r"\sqrt[3]{-c}"),
        ("relu(c) + sign(t)", r"\max\left(c, 0\right) + \operatorname{sign}\left(t\right)"),
        ("unless(c, t)", r"\left(1 - \operatorname{step}\left(c\right)\right) t"),
    ],
)
def test_latex_has_brackets_signs_and_dots_where_they_are_needed(text: str, expected: str) -> None:
    assert to_latex(formula(text)) == expected
    assert formula(text)._repr_latex_() == f"${expected}$"


def test_latex_and_mathml_of_a_shown_formula_have_its_numbers() -> None:
    read = from_text("2*c/3 + 36*pi + 0.5*t", LIBRARY)
    assert to_latex(read, None) == r"\frac{2 c}{3} + 36 \pi + 0.5 t"
    numbers = re.findall("<m[ni]>([^<]*)</m[ni]>", to_mathml(read, None))
    assert numbers == ["2", "c", "3", "36", "π", "0.5", "t"]


def test_every_operator_is_shown_and_typeset() -> None:
    for token in OPERATORS.values():
        arguments = [i for i, other in enumerate(LIBRARY.tokens) if other.kind is TokenKind.VARIABLE][: token.arity]
        expression = Expression(LIBRARY, Row((*LIBRARY.ids([token.name]), *arguments), (np.nan,) * (1 + token.arity)))
        np.testing.assert_allclose(from_text(to_text(expression), LIBRARY).evaluate(X), expression.evaluate(X))
        assert to_latex(expression)
