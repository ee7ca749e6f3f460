"""One formula: its texts, size, equality and values."""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import reference
from strategies import expressions, libraries
from symseed import DataError, Expression, Library
from symseed.language.row import Row
from symseed.language.tokens import OPERATORS, TokenKind

ABC = Library.of(list(OPERATORS), ["a", "b", "c"], constants=True)


def parse(text: str, library: Library = ABC) -> Expression:
    return Expression.parse(text, library)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("a", "a"),
        ("sub a sub b c", "a - (b - c)"),
        ("sub sub a b c", "a - b - c"),
        ("add a add b c", "a + (b + c)"),
        ("mul add a b c", "(a + b) * c"),
        ("add mul a b c", "a * b + c"),
        ("div a div b c", "a / (b / c)"),
        ("div a mul b c", "a / (b * c)"),
        ("pow a pow b c", "a ^ b ^ c"),
        ("pow pow a b c", "(a ^ b) ^ c"),
        ("pow a neg b", "a ^ -b"),
        ("pow neg a b", "(-a) ^ b"),
        ("pow add a b mul b c", "(a + b) ^ (b * c)"),
        ("pow const(-2.0) const(-3.0)", "(-2.0) ^ -3.0"),
        ("neg pow a b", "-a ^ b"),
        ("neg add a b", "neg(a + b)"),
        ("neg neg a", "neg(-a)"),
        ("neg const(2.0)", "neg(2.0)"),
        ("neg const(-2.0)", "neg(-2.0)"),
        ("neg sin a", "-sin(a)"),
        ("sub a const(-1.5)", "a - -1.5"),
        ("mul const(-1.5) a", "-1.5 * a"),
        ("sin add a b", "sin(a + b)"),
        ("max min a b const(1e-300)", "max(min(a, b), 1e-300)"),
        ("div const(1.0) sqrt a", "1.0 / sqrt(a)"),
    ],
)
def test_infix_text_has_the_brackets_that_it_needs(words: str, text: str) -> None:
    expression = Expression.parse_prefix(words, ABC)
    assert str(expression) == text
    assert repr(expression) == f"<Expression {text}>"
    assert expression.prefix == words


def test_unusual_names_stand_in_backquotes() -> None:
    library = Library.of(["add", "sin"], ["a b", "const", "a`b", "sin", "µ", "x²"])
    assert str(parse("`a b` + `const`", library)) == "`a b` + `const`"
    assert str(parse("`a``b` + `µ`", library)) == "`a``b` + µ"
    assert str(parse("sin(sin) + `x²`", library)) == "sin(sin) + x²"
    assert parse("sin(sin)", library).prefix == "sin `sin`"


def test_a_constant_that_equals_a_literal_says_that_it_is_a_constant() -> None:
    library = Library.of(["add", 2.0], 1, constants=True)
    assert str(Expression.parse_prefix("add 2 const(2)", library)) == "2.0 + const(2.0)"
    assert str(Expression.parse_prefix("add 2 const(3)", library)) == "2.0 + 3.0"


@pytest.mark.parametrize(
    ("text", "length", "depth", "complexity"),
    [
        ("a", 1, 1, 1),
        ("3.5", 1, 1, 1),
        ("sin(a)", 2, 2, 3 + 1),
        ("a + b", 3, 2, 1 + 1 + 1),
        ("a / b", 3, 2, 2 + 1 + 1),
        ("sin(a ^ 2) + 3.5", 6, 4, 1 + 3 + 4 + 1 + 1 + 1),
        ("a + (b + (c + a))", 7, 4, 7),
        ("((a + b) + c) + a", 7, 4, 7),
        ("(a + b) * (c + a)", 7, 3, 7),
        ("exp(log(sqrt(square(cube(a)))))", 6, 6, 4 + 4 + 4 + 2 + 3 + 1),
    ],
)
def test_length_depth_and_complexity_count_tokens(text: str, length: int, depth: int, complexity: int) -> None:
    expression = parse(text)
    assert (len(expression), expression.depth, expression.complexity) == (length, depth, complexity)


def depth_by_recursion(expression: Expression, begin: int = 0) -> tuple[int, int]:
    """Depth of the subtree at `begin`, and where it ends."""
    deepest, place = 0, begin + 1
    for _ in range(expression.tokens[begin].arity):
        depth, place = depth_by_recursion(expression, place)
        deepest = max(deepest, depth)
    return deepest + 1, place


@given(expression=expressions(ABC))
@settings(max_examples=150, deadline=None)
def test_depth_is_that_of_the_tree(expression: Expression) -> None:
    assert depth_by_recursion(expression) == (expression.depth, len(expression))
    assert expression.complexity == sum(ABC[i].complexity for i in expression.ids)
    assert expression.tokens == tuple(ABC[i] for i in expression.ids)


def test_expressions_are_equal_if_tokens_and_constants_are() -> None:
    assert parse("a + 2.0") == parse("(a) + 2")
    assert hash(parse("a + 2.0")) == hash(parse("(a) + 2"))
    assert parse("a + 2.0") != parse("a + 2.0000000000000004")
    assert parse("a + 2.0") != parse("2.0 + a")
    assert parse("a + b") != parse("a - b")
    assert parse("0.0") != parse("-0.0")
    assert parse("a") != "a"
    assert len({parse("a + b"), parse("a+b"), parse("b + a")}) == 2


def test_expressions_of_different_libraries_are_equal_if_they_mean_the_same() -> None:
    small, large = Library.of(["add"], ["a", "b"], constants=True), ABC
    assert parse("a + 1.5", small) == parse("a + 1.5", large)
    assert hash(parse("a + 1.5", small)) == hash(parse("a + 1.5", large))
    assert parse("a + 1.5", small).ids != parse("a + 1.5", large).ids
    crossed = Library.of(["add"], ["b", "a"], constants=True)
    assert parse("a + 1.5", small) != parse("a + 1.5", crossed)
    assert parse("1.5", Library.of([1.5], 0)) != parse("1.5", small)


@given(data=st.data(), library=libraries())
@settings(max_examples=150, deadline=None)
def test_equal_expressions_have_equal_hashes_and_different_ones_different_texts(
    data: st.DataObject, library: Library
) -> None:
    first, second = data.draw(expressions(library, max_length=4)), data.draw(expressions(library, max_length=4))
    assert first == Expression(library, Row(first.ids, tuple(float(value) for value in first.constants)))
    assert (first == second) == (str(first) == str(second)) == (first.prefix == second.prefix)
    if first == second:
        assert hash(first) == hash(second)


@given(expression=expressions())
@settings(max_examples=80, deadline=None)
def test_a_pickled_expression_is_the_same_expression(expression: Expression) -> None:
    restored = pickle.loads(pickle.dumps(expression))
    assert restored == expression
    assert restored.library == expression.library


def test_an_expression_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        parse("a").ids = (1,)  # type: ignore[misc]


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_has_the_values_of_its_numpy_twin(name: str) -> None:
    grid = np.array([-700.0, -3.0, -1.5, -1.0, -0.25, 0.0, 1e-3, 0.5, 1.0, 2.0, np.pi, 30.0, 710.0])
    arity = OPERATORS[name].arity
    X = np.array(np.meshgrid(*[grid] * arity)).reshape(arity, -1).T
    with np.errstate(all="ignore"):
        expected = reference.OPERATORS[name].value(*X.T)
    expected[~np.isfinite(expected)] = np.nan
    values = Expression.parse_prefix(" ".join([name, "x1", "x2"][: arity + 1]), Library.of([name], arity)).evaluate(X)
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("sin(a ^ 2) + 3.5", lambda a, b, c: np.sin(a**2) + 3.5),
        ("a - (b - c)", lambda a, b, c: a - (b - c)),
        ("a - b - c", lambda a, b, c: a - b - c),
        ("-2 ^ b", lambda a, b, c: -(2**b)),
        ("(-2) ^ 3 * a", lambda a, b, c: -8.0 * a),
        ("a / b / c", lambda a, b, c: a / b / c),
        ("2 ^ a ^ b", lambda a, b, c: 2 ** (a**b)),
        ("a - -1.5 * b", lambda a, b, c: a + 1.5 * b),
        ("min(a, b) * max(b, -c)", lambda a, b, c: np.minimum(a, b) * np.maximum(b, -c)),
        ("2.5", lambda a, b, c: np.full_like(a, 2.5)),
        ("exp(-square(a) / 2) / sqrt(c)", lambda a, b, c: np.exp(-(a**2) / 2) / np.sqrt(c)),
    ],
)
def test_a_formula_has_the_values_that_numpy_gives(text: str, formula: Callable[..., npt.NDArray[np.float64]]) -> None:
    X = np.random.default_rng(0).uniform(0.5, 2.0, size=(200, 3))
    np.testing.assert_allclose(parse(text).evaluate(X), formula(*X.T), rtol=1e-12)


def test_rows_without_a_value_are_nan_and_no_others() -> None:
    a = np.array([1.0, -1.0, 4.0, 0.0, 9.0, -2.0, 16.0])
    values = parse("log(a)", Library.of(["log"], ["a"])).evaluate(a)
    assert np.isnan(values).tolist() == [False, True, False, True, False, True, False]
    np.testing.assert_allclose(values[a > 0.0], np.log(a[a > 0.0]))


def test_rows_with_nan_or_infinity_are_nan_and_no_others() -> None:
    X = np.array([[1.0, 2.0], [np.nan, 1.0], [2.0, 2.0], [1.0, np.inf], [-np.inf, 0.0], [3.0, 4.0]])
    np.testing.assert_array_equal(
        parse("x1 + x2", Library.of(["add"], 2)).evaluate(X), [3.0, np.nan, 4.0, np.nan, np.nan, 7.0]
    )
    assert np.isnan(parse("x1", Library.of([], 1)).evaluate(np.full((3, 1), np.nan))).all()


def test_a_value_that_overflows_on_the_way_is_no_value() -> None:
    np.testing.assert_array_equal(
        parse("inv(exp(a))", Library.of(["inv", "exp"], ["a"])).evaluate([1e4, 0.0]), [np.nan, 1]
    )


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 1000])
def test_one_failing_row_anywhere_leaves_the_others_alone(rows: int) -> None:
    expression = parse("sqrt(a)", Library.of(["sqrt"], ["a"]))
    for failing in {0, rows // 2, rows - 1}:
        a = np.arange(rows, dtype=np.float64)
        a[failing] = -1.0
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(expression.evaluate(a), np.sqrt(a))


@given(
    expression=expressions(ABC, max_length=20),
    X=arrays(np.float64, st.tuples(st.integers(1, 12), st.just(3)), elements=st.floats(-100, 100) | st.just(math.nan)),
)
@settings(max_examples=150, deadline=None)
def test_a_rows_value_does_not_depend_on_the_other_rows(expression: Expression, X: npt.NDArray[np.float64]) -> None:
    together = expression.evaluate(X)
    one_by_one = np.concatenate([expression.evaluate(row[None]) for row in X])
    assert together.tobytes() == one_by_one.tobytes()
    assert not np.isinf(together).any()
    assert np.isnan(together[np.isnan(X).any(axis=1)]).all()


def test_a_table_of_any_layout_gives_the_same_values_and_is_not_changed() -> None:
    expression = parse("a * b - c", Library.of(["sub", "mul"], ["a", "b", "c"]))
    X = np.arange(12.0).reshape(4, 3)
    kept = X.copy()
    expected = X[:, 0] * X[:, 1] - X[:, 2]
    read_only = X.copy()
    read_only.setflags(write=False)
    wide = np.repeat(X, 2, axis=1)
    for table in (
        X,
        X.tolist(),
        X.astype(np.int32),
        X.astype(np.float16),
        X.astype(">f8"),
        X.astype(object),
        np.asfortranarray(X),
        wide[:, ::2],
        read_only,
        np.hstack([X, X]),
    ):
        np.testing.assert_array_equal(expression.evaluate(table), expected)
    np.testing.assert_array_equal(X, kept)
    assert X.flags.writeable


def test_one_column_may_be_given_flat_and_no_rows_give_no_values() -> None:
    expression = parse("a + 1", Library.of(["add", 1.0], ["a"]))
    np.testing.assert_array_equal(expression.evaluate([1.0, 2.0, 3.0]), [2.0, 3.0, 4.0])
    np.testing.assert_array_equal(expression.evaluate([[1.0], [2.0]]), [2.0, 3.0])
    assert expression.evaluate(np.empty((0, 1))).shape == (0,)
    assert expression.evaluate([]).shape == (0,)


def test_a_formula_without_variables_has_a_value_at_every_row() -> None:
    expression = parse("const(2.5)", Library.of([], 0, constants=True))
    assert expression.tokens[0].kind is TokenKind.CONSTANT
    np.testing.assert_array_equal(expression.evaluate(np.zeros((3, 2))), [2.5] * 3)


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (np.zeros((3, 2)), r"`X` must be \(M, V\) with V at least 3, but its shape is \(3, 2\)\."),
        (np.zeros(3), r"with V at least 3, but its shape is \(3, 1\)"),
        (np.zeros((2, 3, 4)), r"but its shape is \(2, 3, 4\)"),
        ([["p", "q", "r"]], "`X` must hold numbers"),
        (np.zeros((2, 3), dtype=complex), "`X` must hold real numbers, but its values are complex"),
        (np.ma.masked_equal(np.eye(3), 0.0), "`X` is a masked array with hidden values"),
        ([[1.0, 2.0, 3.0], [1.0]], "`X` must be a table of numbers, but its rows differ in length"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_with_a_sentence(X: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        parse("a").evaluate(X)
