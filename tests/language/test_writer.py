"""A writer puts formulas together that are what they say, with the tokens that the library has."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from reference import same_bits
from strategies import expressions
from symseed import Dataset, Expression, Library, Population, predict
from symseed.arrays import Floats
from symseed.language.row import Row
from symseed.language.writer import Writer

LIBRARY = Library.of(["add", "sub", "mul", "div", "sin", "square", 3.0, "const"], ["a", "b", "c"])
WRITER = Writer(LIBRARY)
X = np.random.default_rng(0).uniform(-2.0, 2.0, (15, 3))
DATA = Dataset.of(X, X[:, 0], names=["a", "b", "c"])
A, B, C = (WRITER.variable(column) for column in range(3))


def read(prefix: str, library: Library = LIBRARY) -> Row:
    expression = Expression.parse_prefix(prefix, library)
    return expression.row


def text(part: Row, writer: Writer = WRITER) -> str:
    return writer.population([part])[0].prefix


def values(part: Row, writer: Writer = WRITER) -> Floats:
    return np.asarray(predict(writer.population([part]), DATA).value[0])


def test_parts_that_are_the_same_are_equal_wherever_they_come_from() -> None:
    rows = Population.from_expressions([Expression.parse_prefix("add mul const(2.5) a a", LIBRARY)] * 2)
    first, second = rows.row(0), rows.row(1)
    assert first == second
    assert len({first, second}) == 1


def test_the_smallest_parts_are_variables_and_numbers() -> None:
    assert [text(part) for part in (A, B, C)] == ["a", "b", "c"]
    assert text(WRITER.number(2.5)) == "const(2.5)"
    assert text(WRITER.number(3)) == "const(3.0)", "a constant, also where the library has the literal"
    assert len(A) == len(WRITER.number(1.0)) == 1


def test_operators_are_written_before_their_arguments() -> None:
    part = WRITER.apply("div", WRITER.apply("sin", A), WRITER.apply("sub", WRITER.number(2.0), B))
    assert text(part) == "div sin a sub const(2.0) b"
    assert len(part) == 6
    np.testing.assert_allclose(values(part), np.sin(X[:, 0]) / (2.0 - X[:, 1]), rtol=1e-12)


def test_sums_and_products_of_any_number_of_parts() -> None:
    assert text(WRITER.total([])) == "const(0.0)"
    assert text(WRITER.product([])) == "const(1.0)"
    assert WRITER.total([B]) == B
    assert WRITER.product([B]) == B
    assert text(WRITER.total([A, B, C])) == "add add a b c"
    np.testing.assert_allclose(values(WRITER.total([A, B, C, A])), X.sum(axis=1) + X[:, 0], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(values(WRITER.product([A, B, C, A])), X.prod(axis=1) * X[:, 0], rtol=1e-12)


@pytest.mark.parametrize(
    ("offset", "factor", "expected"),
    [
        (0.0, 1.0, "a"),
        (0.0, 2.0, "mul const(2.0) a"),
        (-1.0, 1.0, "add a const(-1.0)"),
        (0.5, -1.0, "add mul const(-1.0) a const(0.5)"),
    ],
)
def test_what_is_scaled_and_shifted_is_written_without_what_does_nothing(
    offset: float, factor: float, expected: str
) -> None:
    assert text(WRITER.affine(offset, factor, A)) == expected
    np.testing.assert_allclose(values(WRITER.affine(offset, factor, A)), offset + factor * X[:, 0], rtol=1e-12)
    assert text(WRITER.scaled(factor, A)) == text(WRITER.affine(0.0, factor, A))


@pytest.mark.parametrize("exponent", range(1, 13))
@pytest.mark.parametrize(
    "powers", [(), ("square",), ("cube",), ("quartic",), ("square", "cube"), ("square", "cube", "quartic")], ids=str
)
def test_a_power_is_a_product_of_so_many(exponent: int, powers: tuple[str, ...]) -> None:
    writer = Writer(Library.of(["add", "mul", *powers, "const"], ["a", "b", "c"]))
    part = writer.power(1, exponent)
    np.testing.assert_allclose(values(part, writer), X[:, 1] ** exponent, rtol=1e-13)
    assert len(part) <= 2 * exponent - 1, "never longer than the product"
    others = {writer.library[i].name for i in part.ids} - {"b", "mul", *powers}
    assert not others
    if exponent in (2, 3, 4) and {2: "square", 3: "cube", 4: "quartic"}[exponent] in powers:
        assert len(part) == 2
    if not powers:
        assert len(part) == 2 * exponent - 1


def test_a_part_takes_the_place_of_a_subtree() -> None:
    whole = read("add mul const(2) a sin b")
    assert WRITER.library.end(whole.ids, 0) == 6
    assert [WRITER.library.end(whole.ids, at) for at in (1, 2, 3, 4, 5)] == [4, 3, 4, 6, 6]
    assert text(whole.spliced(1, 4, read("sub c const(7)"))) == "add sub c const(7.0) sin b"
    assert text(whole.spliced(0, 6, C)) == "c"
    assert text(whole.spliced(5, 6, whole)) == "add mul const(2.0) a sin add mul const(2.0) a sin b"


@settings(max_examples=50, deadline=None)
@given(expression=expressions(LIBRARY, max_length=20))
def test_every_subtree_ends_where_it_does_and_is_itself_in_its_own_place(expression: Expression) -> None:
    part = expression.row
    for begin in range(len(part)):
        end = WRITER.library.end(part.ids, begin)
        piece = part.part(begin, end)
        Population.of(LIBRARY, [piece.ids], [len(piece)])  # which refuses what is not one whole expression
        again = part.spliced(begin, end, piece)
        assert again.ids == part.ids
        assert same_bits(np.array(again.constants), np.array(part.constants))


def test_a_writer_knows_its_operators_and_variables() -> None:
    assert WRITER.has("add", "sin")
    assert WRITER.has()
    assert not WRITER.has("add", "exp")
    assert not WRITER.has("a")
    assert WRITER.operators(1) == ["sin", "square"]
    assert WRITER.operators(2) == ["add", "sub", "mul", "div"]
    assert WRITER.columns == [0, 1, 2]
    some = WRITER.of_columns([2, 0])
    assert some.columns == [2, 0]
    assert some.variable(2) == C
    assert WRITER.columns == [0, 1, 2], "the other one is as it was"
    with pytest.raises(KeyError):
        some.variable(1)


@settings(max_examples=40, deadline=None)
@given(first=expressions(LIBRARY, max_length=15), second=expressions(LIBRARY, max_length=15))
def test_translated_rows_have_the_same_values(first: Expression, second: Expression) -> None:
    """Into a library with more tokens, in another order."""
    other = Library((*LIBRARY.tokens[::-1], *Library.of(["exp", 4.0], 0).tokens))
    population = Population.from_expressions([first, second])
    translated = Writer(other).translated(population)
    assert translated.library == other
    assert [row.prefix for row in translated] == [row.prefix for row in population]
    expected, found = predict(population, DATA), predict(translated, DATA)
    assert same_bits(found.value, expected.value)
    assert same_bits(found.failure, expected.failure)
    assert Writer(other).translated(translated) is translated
    assert WRITER.translated(population) is population


def test_numbers_that_the_writer_has_not_are_translated_to_constants() -> None:
    other = Library.of(["add", "mul", 1.0, 3.0, "const"], ["a"])
    row = Expression.parse_prefix("add mul 1.0 a mul 3.0 const(2.5)", other)
    translated = WRITER.translated(Population.from_expressions([row, row]))
    assert [found.prefix for found in translated] == ["add mul const(1.0) a mul 3.0 const(2.5)"] * 2


def test_rows_with_tokens_that_the_writer_has_not_cannot_be_translated() -> None:
    other = Library.of(["exp", "const"], ["a"])
    with pytest.raises(KeyError):
        WRITER.translated(Population.from_expressions([Expression.parse_prefix("exp a", other)]))


def test_a_row_is_a_part_and_back() -> None:
    population = WRITER.population([A, read("add mul const(2.5) a sin b")])
    assert text(population.row(1)) == "add mul const(2.5) a sin b"
    assert [math.isnan(value) for value in population.row(0).constants] == [True]
