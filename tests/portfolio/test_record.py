"""The record of a turn: which part found a formula, and how it came about."""

from __future__ import annotations

from symseed import Expression, Library
from symseed.portfolio.record import TurnRecord
from symseed.search import Change, Part
from symseed.search.lineage import Ancestor

LIBRARY = Library.of(["add", "mul", "sin", "exp", "const"], 2)


def read(text: str) -> Expression:
    return Expression.parse(text, LIBRARY)


def test_an_assembled_formula_names_those_whose_parts_it_has() -> None:
    record = TurnRecord()
    record.begin()
    donors = [read(text) for text in ("x2 + x1", "exp(x1 * x2) + x1", "3 * sin(x1)", "sin(x1)")]
    record.gave([donor.row for donor in donors])
    whole = read("2 * sin(x1) + 5 * exp(x1 * x2)")
    record.found([whole.row], Part.ASSEMBLY)
    (ancestor,) = record.lineage(whole)
    assert ancestor.change is Change.ASSEMBLED
    assert [str(one) for one in ancestor.others] == [str(donors[2]), str(donors[1])], "the shorter first"


def test_a_lineage_goes_on_with_what_becomes_of_the_formula() -> None:
    record = TurnRecord()
    record.begin()
    sampled, fitted, simple = read("x1 + x1 * 1"), read("x1 + x1 * 2"), read("3 * x1")
    lineage = (Ancestor(Change.SAMPLED, sampled),)
    record.found([sampled.row], Part.EVOLUTION, lineage)
    record.became(sampled.row, fitted.row)
    record.became(fitted.row, simple.row)
    assert record.lineage(fitted) == lineage, "only its constants have changed"
    assert record.lineage(simple) == (*lineage, Ancestor(Change.SIMPLIFIED, simple))
    assert record.finder(simple.row) is Part.EVOLUTION
    record.begin()
    assert record.lineage(simple) == ()


def test_the_first_part_to_find_a_formula_counts() -> None:
    record = TurnRecord()
    record.begin()
    formula = read("sin(x1)")
    record.found([formula.row], Part.MEAN)
    record.found([formula.row], Part.POLICY, (Ancestor(Change.SAMPLED, formula),))
    assert [one.change for one in record.lineage(formula)] == [Change.MEAN]
    assert record.finder(formula.row) is Part.MEAN


def test_a_form_has_const_in_the_place_of_fitted_numbers() -> None:
    assert read("2.5 * sin(x1) + 3 * x2").form == "const * sin(x1) + const * x2"
