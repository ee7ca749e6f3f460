"""Categories: a column of kinds as columns of 0 and 1, and a constant for each kind in a formula."""

from __future__ import annotations

import numpy as np
import pytest

from symseed import DataError
from symseed.language import Expression, Library, Template
from symseed.language.categories import Categories, named_in, text_of, with_plain_constants, written_out
from symseed.language.tokens import OPERATORS

SPECIES = Categories("species", ("A", "B", "C"))


def test_a_column_of_kinds_becomes_columns_of_0_and_1() -> None:
    values = SPECIES.indicators(["B", "A", "C", "B"])
    np.testing.assert_array_equal(values, [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]])
    assert SPECIES.names == ("species_A", "species_B", "species_C")
    assert SPECIES.cells(values) == ["B", "A", "C", "B"]


def test_gaps_and_unknown_kinds_have_no_numbers() -> None:
    values = SPECIES.indicators(["A", None, "D", float("nan")])
    assert np.isnan(values).all(axis=1).tolist() == [False, True, True, True]


@pytest.mark.parametrize(
    ("cell", "text"), [("a b ", "a b"), (3.0, "3"), (2.5, "2.5"), (True, "True"), (None, None), (" ", None), (7, "7")]
)
def test_a_kind_is_a_text(cell: object, text: str | None) -> None:
    assert text_of(cell) == text


def test_kinds_are_sorted_and_neither_one_nor_countless() -> None:
    assert Categories.of("k", ["b", "a", None, "b"], "Column `k`").values == ("a", "b")
    with pytest.raises(DataError, match=r"Column `k` must have from 2 to 100 .*, but it has only one\."):
        Categories.of("k", ["a", "a"], "Column `k`")
    with pytest.raises(DataError, match="but it has 101, such as `0`"):
        Categories.of("k", list(range(101)), "Column `k`")


def test_constants_by_category_are_found_and_written_out() -> None:
    text = "const[species] * f(`const[x]`) + const [ `soil ``type``` ]"
    assert named_in(text) == ("species", "soil `type`")
    assert len(with_plain_constants(text)) == len(text)
    assert with_plain_constants(text).split() == ["const", "*", "f(`const[x]`)", "+", "const"]
    expected = "(const * `species_A` + const * `species_B` + const * `species_C`) * f(`const[x]`)"
    assert written_out(text, [SPECIES]).startswith(expected)


def test_the_constant_of_each_category_is_read_off_a_formula() -> None:
    operators = [OPERATORS[name] for name in ("add", "sub", "mul", "sin")]
    template = Template.of("const[species] * f(x) + const[species]", operators)
    assert template.by_category == ("species", "species")
    template = template.with_categories([SPECIES])
    library = Library.of(["add", "sub", "mul", "sin"], ("x", *SPECIES.names), constants=True)
    text = "(2.0*species_A + species_B - 3.0*species_C)*sin(x) + (5.0*species_A + 6.0*species_B + 7.0*species_C)"
    assert template.constants_of(Expression.parse(text, library)) == [
        ("species", [("A", 2.0), ("B", 1.0), ("C", -3.0)]),
        ("species", [("A", 5.0), ("B", 6.0), ("C", 7.0)]),
    ]
    assert template.constants_of(Expression.parse("sin(x)", library)) == []
