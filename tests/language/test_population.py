"""Many formulas as one block of arrays."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import expression_lists, libraries, populations
from symseed import DataError, Expression, Library, Population
from symseed.language.row import Row
from symseed.language.tokens import TokenKind

LIBRARY = Library.of(["add", "sin", 2.0], ["a", "b"], constants=True)
A, B, ADD, SIN, TWO, CONST = range(6)
PAD = LIBRARY.pad


def rows_of(*texts: str) -> Population:
    return Population.from_expressions([Expression.parse(text, LIBRARY) for text in texts])


def check_invariants(population: Population) -> None:
    library = population.library
    tokens, lengths, constants = population.tokens, population.lengths, population.constants
    assert [array.dtype.name for array in (tokens, lengths, constants)] == ["uint16", "int32", "float64"]
    assert tokens.shape == constants.shape
    assert lengths.shape == (len(population),) == (len(tokens),)
    for array in (tokens, lengths, constants):
        assert array.flags.c_contiguous
        assert not array.flags.writeable
    for row, length in enumerate(lengths):
        assert (tokens[row, length:] == library.pad).all()
        holds = [library[i].kind is TokenKind.CONSTANT for i in tokens[row, :length]]
        assert np.isfinite(constants[row, :length]).tolist() == holds
        assert np.isnan(constants[row, length:]).all()


def test_arrays_are_checked_and_copied() -> None:
    tokens = np.array([[ADD, A, CONST, 99], [SIN, B, -7, 0]])
    lengths = np.array([3, 2])
    constants = np.array([[8.0, 8.0, 1.5, 8.0], [8.0, 8.0, 8.0, 8.0]])
    population = Population.of(LIBRARY, tokens, lengths, constants)
    tokens[:], lengths[:], constants[:] = 0, 1, 0.0
    assert population.tokens.tolist() == [[ADD, A, CONST, PAD], [SIN, B, PAD, PAD]]
    assert population.lengths.tolist() == [3, 2]
    assert [str(expression) for expression in population] == ["a + 1.5", "sin(b)"]
    check_invariants(population)


def test_constants_that_are_not_given_are_one() -> None:
    population = Population.of(LIBRARY, [[ADD, CONST, TWO], [CONST, 0, 0]], [3, 1])
    np.testing.assert_array_equal(population.constants, [[np.nan, 1.0, np.nan], [1.0, np.nan, np.nan]])
    check_invariants(population)


@pytest.mark.parametrize("dtype", ["int8", "uint8", ">i2", "uint16", "int64", "uint64"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_integers_of_any_type_and_layout_are_taken(dtype: str, order: Any) -> None:
    tokens = np.array([[ADD, A, SIN, CONST], [SIN, B, 0, 0], [B, 1, 1, 1]], dtype=dtype, order=order)
    constants = np.full((3, 4), 2.5, order=order)
    constants.setflags(write=False)
    population = Population.of(LIBRARY, tokens, np.array([4, 2, 1], dtype=dtype), constants)
    assert [row.prefix for row in population] == ["add a sin const(2.5)", "sin b", "b"]
    assert len(np.unique(population.fingerprints, axis=0)) == 3
    check_invariants(population)


def test_a_population_may_have_no_rows() -> None:
    for population in (
        Population.of(LIBRARY, np.empty((0, 4)), []),
        Population.of(LIBRARY, np.empty((0, 0), dtype=int), np.empty(0, dtype=int)),
        rows_of("a", "b").take([]),
    ):
        assert len(population) == 0
        assert list(population) == []
        assert population.complexity.shape == (0,)
        assert population.fingerprints.shape == (0, 2)
        check_invariants(population)


@pytest.mark.parametrize(
    ("tokens", "lengths", "constants", "sentence"),
    [
        ([A], [1], None, r"`tokens` must be \(N, L\) and `lengths` \(N,\), but their shapes are \(1,\) and \(1,\)\."),
        ([[A]], [1, 1], None, r"but their shapes are \(1, 1\) and \(2,\)"),
        ([[A]], [[1]], None, r"but their shapes are \(1, 1\) and \(1, 1\)"),
        ([[A]], 1, None, r"but their shapes are \(1, 1\) and \(\)"),
        ([[[A]]], [1], None, r"but their shapes are \(1, 1, 1\) and \(1,\)"),
        ([[A], [A]], [1, 0], None, r"Each of `lengths` must be from 1 to L \(1\), but they run from 0 to 1\."),
        ([[A], [A]], [1, -3], None, r"from 1 to L \(1\), but they run from -3 to 1"),
        ([[A], [A]], [1, 2], None, r"from 1 to L \(1\), but they run from 1 to 2"),
        ([[]], [0], None, r"from 1 to L \(0\)"),
        ([[6]], [1], None, r"Each token must be an id of the library, from 0 to 5\."),
        ([[-1]], [1], None, "must be an id of the library"),
        ([[PAD]], [1], None, "must be an id of the library"),
        ([[65536]], [1], None, "must be an id of the library"),
        ([[2**62]], [1], None, "must be an id of the library"),
        ([[A, 0, 0], [ADD, A, 0]], [1, 2], None, "Row 1 is not one complete expression in prefix order"),
        ([[A, 0, 0], [A, 0, 0], [A, B, 0]], [1, 1, 2], None, "Row 2 is not one complete expression"),
        ([[SIN]], [1], None, "Row 0 is not one complete expression"),
        ([[A, ADD, B, A]], [4], None, "Row 0 is not one complete expression"),
        ([[A, SIN, B]], [3], None, "Row 0 is not one complete expression"),
        ([[A]], [1], [[1.0, 2.0]], r"`constants` must have the shape of `tokens`, \(1, 1\), but it is \(1, 2\)\."),
        ([[A]], [1], [1.0], r"shape of `tokens`, \(1, 1\), but it is \(1,\)"),
        ([[CONST]], [1], [[math.nan]], "Each constant must be finite. Leave `constants` out to start each at 1"),
        ([[CONST]], [1], [[math.inf]], "Each constant must be finite"),
        ([[0.5]], [1], None, r"`tokens` must hold integers, but its values are of type float64\."),
        ([[True]], [1], None, "`tokens` must hold integers, but its values are of type bool"),
        ([["a"]], [1], None, "`tokens` must hold integers, but its values are of type <U1"),
        ([[A]], [1.5], None, "`lengths` must hold integers, but its values are of type float64"),
        ([[A]], [None], None, "`lengths` must hold integers, but its values are of type object"),
    ],
)
def test_each_wrong_argument_gets_its_sentence(tokens: Any, lengths: Any, constants: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        Population.of(LIBRARY, tokens, lengths, constants)


@given(tokens=st.lists(st.integers(0, len(LIBRARY) - 1), min_size=1, max_size=7))
@settings(max_examples=300, deadline=None)
def test_exactly_the_complete_prefix_rows_are_taken(tokens: list[int]) -> None:
    waiting: list[int] = []
    for token_id in reversed(tokens):  # an independent reading, from the back
        arity = LIBRARY[token_id].arity
        is_complete = len(waiting) >= arity
        if not is_complete:
            break
        del waiting[len(waiting) - arity :]
        waiting.append(token_id)
    if is_complete and len(waiting) == 1:
        assert Population.of(LIBRARY, [tokens], [len(tokens)])[0].ids == tuple(tokens)
    else:
        with pytest.raises(DataError, match="Row 0 is not one complete expression"):
            Population.of(LIBRARY, [tokens], [len(tokens)])


@given(expressions=expression_lists())
@settings(max_examples=150, deadline=None)
def test_rows_are_the_expressions_that_a_population_was_built_from(expressions: Sequence[Expression]) -> None:
    population = Population.from_expressions(expressions)
    assert len(population) == len(expressions)
    assert list(population) == list(expressions)
    assert population[-1] == expressions[-1]
    assert population.tokens.shape[1] == max(len(expression) for expression in expressions)
    check_invariants(population)


@given(population=populations())
@settings(max_examples=100, deadline=None)
def test_a_populations_own_arrays_pass_every_check(population: Population) -> None:
    again = Population.of(population.library, population.tokens, population.lengths, population.constants)
    assert list(again) == list(population)
    np.testing.assert_array_equal(again.tokens, population.tokens)
    np.testing.assert_array_equal(again.constants, population.constants)
    assert again.tokens is not population.tokens


@given(population=populations())
@settings(max_examples=100, deadline=None)
def test_complexities_are_those_of_the_expressions(population: Population) -> None:
    assert population.complexity.tolist() == [expression.complexity for expression in population]


def test_expressions_of_equal_libraries_make_one_population_and_of_others_none() -> None:
    twin = Library.of(["add", "sin", 2.0], ["a", "b"], constants=True)
    other = Library.of(["add", "sin", 2.0], ["a", "b"])
    expressions = [Expression.parse("a + b", library) for library in (LIBRARY, twin, other)]
    assert len(Population.from_expressions(expressions[:2])) == 2
    with pytest.raises(DataError, match="The expressions of a population must share one library"):
        Population.from_expressions(expressions)


def test_no_expressions_make_no_population() -> None:
    with pytest.raises(DataError, match="at least one expression, but none was given"):
        Population.from_expressions([])


def test_a_row_out_of_range_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        rows_of("a", "b")[2]


def test_rows_are_taken_by_index_mask_or_one_at_a_time() -> None:
    population = rows_of("a", "a + 2.5", "sin(b)")
    for rows, expected in (
        ([2, 0], ["sin(b)", "a"]),
        ([1, 1, -1], ["a + 2.5", "a + 2.5", "sin(b)"]),
        (np.array([False, True, True]), ["a + 2.5", "sin(b)"]),
        ([False, False, False], []),
        (1, ["a + 2.5"]),
        ([], []),
        (range(3), ["a", "a + 2.5", "sin(b)"]),
    ):
        taken = population.take(rows)
        assert [str(expression) for expression in taken] == expected
        assert taken.library is population.library
        check_invariants(taken)


@given(data=st.data(), population=populations())
@settings(max_examples=80, deadline=None)
def test_taking_rows_takes_their_expressions_and_fingerprints(data: st.DataObject, population: Population) -> None:
    rows = data.draw(st.lists(st.integers(0, len(population) - 1), max_size=6))
    taken = population.take(rows)
    assert list(taken) == [population[row] for row in rows]
    np.testing.assert_array_equal(taken.fingerprints, population.fingerprints[rows] if rows else np.empty((0, 2)))


def test_populations_of_different_widths_are_put_together_in_order() -> None:
    narrow, wide = rows_of("a", "b"), rows_of("a + (b + 2.5)", "sin(a)")
    both = Population.concatenate([narrow, wide, narrow.take([])])
    assert [str(expression) for expression in both] == ["a", "b", "a + (b + 2.5)", "sin(a)"]
    assert both.tokens.shape == (4, 5)
    assert both.tokens[0].tolist() == [A, PAD, PAD, PAD, PAD]
    check_invariants(both)


@given(data=st.data(), library=libraries())
@settings(max_examples=80, deadline=None)
def test_putting_together_keeps_rows_complexities_and_fingerprints(data: st.DataObject, library: Library) -> None:
    parts = data.draw(st.lists(populations(library, max_rows=4), min_size=1, max_size=4))
    whole = Population.concatenate(parts)
    assert list(whole) == list(itertools.chain.from_iterable(parts))
    np.testing.assert_array_equal(whole.complexity, np.concatenate([part.complexity for part in parts]))
    np.testing.assert_array_equal(whole.fingerprints, np.concatenate([part.fingerprints for part in parts]))
    check_invariants(whole)


def test_populations_of_different_libraries_are_not_put_together() -> None:
    other = Population.from_expressions([Expression.parse("a", Library.of(["add"], ["a"]))])
    with pytest.raises(DataError, match="Populations to concatenate must share one library"):
        Population.concatenate([rows_of("a"), other])
    with pytest.raises(DataError, match="`concatenate` needs at least one population"):
        Population.concatenate([])


@given(expressions=expression_lists(LIBRARY, max_rows=20, max_length=4))
@settings(max_examples=150, deadline=None)
def test_fingerprints_are_equal_where_rows_are_and_only_there(expressions: Sequence[Expression]) -> None:
    population = Population.from_expressions(expressions)
    fingerprints = [tuple(row) for row in population.fingerprints.tolist()]
    for (first, one), (second, other) in itertools.combinations(zip(expressions, fingerprints, strict=True), 2):
        assert (first == second) == (one == other)


@given(population=populations(LIBRARY, max_rows=3))
@settings(max_examples=80, deadline=None)
def test_the_smallest_change_of_a_constant_or_token_changes_the_fingerprint(population: Population) -> None:
    for row, expression in enumerate(population):
        for place, token in enumerate(expression.tokens):
            ids, constants = list(expression.ids), list(expression.constants)
            if token.kind is TokenKind.CONSTANT:
                constants[place] = float(np.nextafter(constants[place], -1.0 if constants[place] > 0.0 else 1.0))
            elif token.kind is TokenKind.VARIABLE:
                ids[place] = B if ids[place] == A else A
            else:
                continue
            changed = Population.from_expressions([Expression(expression.library, Row(tuple(ids), tuple(constants)))])
            assert changed[0] != expression
            assert changed.fingerprints[0].tolist() != population.fingerprints[row].tolist()


def test_fingerprints_are_the_same_in_a_twin_library() -> None:
    twin = Library(LIBRARY.tokens)
    population = rows_of("a + 2.5", "sin(b)")
    again = Population.of(twin, population.tokens, population.lengths, population.constants)
    np.testing.assert_array_equal(again.fingerprints, population.fingerprints)
    assert population.fingerprints.shape == (2, 2)
    assert population.fingerprints.dtype == np.uint64


def test_other_constants_leave_tokens_and_the_old_population_alone() -> None:
    population = rows_of("a + 2.5", "b + 2.5")
    doubled = population.with_constants(population.constants * 2.0)
    assert [str(row) for row in doubled] == ["a + 5.0", "b + 5.0"]
    assert [str(row) for row in population] == ["a + 2.5", "b + 2.5"]
    check_invariants(doubled)


def test_a_population_cannot_be_changed() -> None:
    population = rows_of("a + 2.5")
    with pytest.raises(dataclasses.FrozenInstanceError):
        population.tokens = population.tokens  # type: ignore[misc]
    for array in (population.tokens, population.lengths, population.constants):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@given(population=populations())
@settings(max_examples=60, deadline=None)
def test_a_pickled_population_has_the_same_rows_and_is_still_read_only(population: Population) -> None:
    restored = pickle.loads(pickle.dumps(population))
    assert list(restored) == list(population)
    np.testing.assert_array_equal(restored.fingerprints, population.fingerprints)
    check_invariants(restored)
