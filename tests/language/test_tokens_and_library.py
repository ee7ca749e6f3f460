"""The vocabulary, and the ordered tokens of a problem."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from strategies import NASTY_NAMES, libraries, numbers
from symseed import Expression, Library, SettingsError, _core
from symseed.language import tokens
from symseed.language.library import MAX_TOKENS
from symseed.language.tokens import ALIASES, OPERATORS, TokenKind


def test_operators_are_the_cores_table_in_its_order() -> None:
    table = tuple((token.name, token.arity, token.complexity) for token in OPERATORS.values())
    assert table == _core.operators()
    assert [token.code for token in OPERATORS.values()] == list(range(len(OPERATORS)))
    assert all(token.kind is TokenKind.OPERATOR for token in OPERATORS.values())


def test_complexities_are_those_of_the_authors_released_code() -> None:
    expected = {"add": 1, "sub": 1, "mul": 1, "div": 2, "sin": 3, "cos": 3, "exp": 4, "log": 4, "sqrt": 4, "square": 2}
    assert {name: OPERATORS[name].complexity for name in expected} == expected


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_an_alias_is_another_name_of_an_operator(alias: str, name: str) -> None:
    assert alias not in OPERATORS
    assert tokens.operator(alias) is OPERATORS[name]
    assert Library.of([alias], 1).tokens[1] is OPERATORS[name]


@pytest.mark.parametrize("name", ["sine", "", "Sin", "sin ", "x1", "__import__('os')"])
def test_an_unknown_operator_is_refused_with_a_list_of_what_there_is(name: str) -> None:
    with pytest.raises(SettingsError, match=r"is not an operator\. Expected one of add, sub, .*logabs.*alias: \+, -"):
        Library.of([name], 1)


@pytest.mark.parametrize("name", ["", None, 3, 2.5, b"x", ("x",)])
def test_a_variables_name_must_be_text_that_is_not_empty(name: Any) -> None:
    with pytest.raises(SettingsError, match="name must be a text that is not empty, but column 1 has"):
        Library.of(["add"], ["x", name])


@pytest.mark.parametrize("name", [*NASTY_NAMES, "a" * 10_000])
def test_any_other_name_will_do_for_a_variable(name: str) -> None:
    library = Library.of(["sin"], [name])
    assert library[0].name == name
    assert library[0].kind is TokenKind.VARIABLE
    assert library.variables == (library[0],)


@pytest.mark.parametrize(
    ("entry", "name", "value"),
    [
        (1, "1.0", 1.0),
        ("1", "1.0", 1.0),
        ("-2.5", "-2.5", -2.5),
        ("1e3", "1000.0", 1000.0),
        (-0.0, "0.0", 0.0),
        (0.1 + 0.2, "0.30000000000000004", 0.1 + 0.2),
        (5e-324, "5e-324", 5e-324),
        (np.float32(0.5), "0.5", 0.5),
        (np.int64(7), "7.0", 7.0),
    ],
)
def test_a_number_or_numeric_text_is_a_literal(entry: Any, name: str, value: float) -> None:
    token = Library.of([entry], 1)[1]
    assert (token.name, token.value, token.kind, token.arity) == (name, value, TokenKind.LITERAL, 0)


@pytest.mark.parametrize("entry", [float("nan"), float("inf"), "-inf", "nan", "1e999", 10**400, None, 1j, [1.0]])
def test_a_literal_must_be_a_finite_number(entry: Any) -> None:
    with pytest.raises(SettingsError, match="A literal must be a finite number, but it is"):
        Library.of([entry], 1)


@given(value=numbers())
def test_the_name_of_a_literal_reads_as_its_value(value: float) -> None:
    token = tokens.literal(value)
    assert float(token.name) == token.value == value
    assert tokens.literal(token.name) == token


def test_ids_run_over_the_variables_then_the_operators_as_listed_then_the_constant() -> None:
    library = Library.of(["sin", 2.0, "+"], ["mass", "speed"], constants=True)
    assert [token.name for token in library.tokens] == ["mass", "speed", "sin", "2.0", "add", "const"]
    assert len(library) == 6
    assert library[4] is OPERATORS["add"]
    assert [token.column for token in library.variables] == [0, 1]
    assert library.arities.tolist() == [0, 0, 1, 0, 2, 0]
    assert library.complexities.tolist() == [1, 1, 3, 1, 1, 1]
    assert library.is_constant.tolist() == [False] * 5 + [True]
    assert library.has_constants
    assert library.pad >= len(library)


def test_a_constant_stands_where_it_is_listed() -> None:
    assert Library.of(["const", "sin"], 1).ids_of_kind(TokenKind.CONSTANT) == [1]


def test_a_number_of_variables_names_them_x1_x2_and_so_on() -> None:
    assert [token.name for token in Library.of([], 3).tokens] == ["x1", "x2", "x3"]
    assert Library.of([], np.int64(3)) == Library.of([], 3)  # type: ignore[arg-type]
    assert not Library.of([], 3).has_constants


def test_ids_are_found_by_name_and_by_alias_and_unknown_names_are_left_out() -> None:
    library = Library.of(["add", "square", "sin", 1.0], ["a", "b"], constants=True)
    assert library.ids(["sin", "n2", "b", "const", "1.0", "cos"]) == [1, 3, 4, 5, 6]
    assert library.ids(iter(["+"])) == [2]
    assert library.ids([]) == []
    assert library.ids_of_kind(TokenKind.VARIABLE) == [0, 1]
    assert library.ids_of_kind(TokenKind.OPERATOR) == [2, 3, 4]


def test_a_variable_with_the_name_of_an_alias_is_found_by_its_name() -> None:
    library = Library.of(["pow", "square"], ["power", "n2"])
    assert library.ids(["power"]) == [0]
    assert library.ids(["n2", "pow"]) == [1, 2]


@pytest.mark.parametrize(
    ("operators", "variables", "constants"),
    [
        (["sin", "sin"], 1, False),
        (["add", "+"], 1, False),
        ([1.0, "1"], 1, False),
        ([0.0, -0.0], 1, False),
        (["sin"], ["x", "y", "x"], False),
        (["const"], 1, True),
    ],
)
def test_a_token_is_refused_a_second_time(operators: Any, variables: Any, constants: bool) -> None:
    with pytest.raises(SettingsError, match=r"is in the library twice\. Name each token once"):
        Library.of(operators, variables, constants=constants)


def test_tokens_of_different_kinds_may_share_a_name() -> None:
    library = Library.of(["sin", 1.0], ["sin", "1.0", "const"], constants=True)
    assert library.ids(["sin"]) == [0, 3]
    assert library.ids(["1.0"]) == [1, 4]
    assert library.ids(["const"]) == [2, 5]


@pytest.mark.parametrize(("operators", "variables"), [([], 0), ([], MAX_TOKENS), (["sin"], MAX_TOKENS)])
def test_a_library_has_from_one_to_the_most_tokens_there_are_ids_for(operators: list[str], variables: int) -> None:
    count = len(operators) + variables
    if 1 <= count <= MAX_TOKENS:
        assert len(Library.of(operators, variables)) == count
    else:
        with pytest.raises(SettingsError, match=f"from 1 to {MAX_TOKENS} tokens, but {count} were given"):
            Library.of(operators, variables)


@pytest.mark.parametrize("variables", [-1, 10**12])
def test_a_number_of_variables_out_of_range_is_refused_at_once(variables: int) -> None:
    with pytest.raises(SettingsError, match=rf"`variables` must be from 0 to \d+, but it is {variables}\."):
        Library.of(["const"], variables)


def test_operators_alone_make_no_library() -> None:
    with pytest.raises(SettingsError, match="needs a variable or a number, but only operators were given"):
        Library.of(["add", "sin"], 0)


@pytest.mark.parametrize(("argument", "value"), [("operators", "add"), ("variables", "abc")])
def test_one_text_is_not_a_list_of_names(argument: str, value: str) -> None:
    arguments: dict[str, Any] = {"operators": ["add"], "variables": 1, argument: value}
    with pytest.raises(SettingsError, match=f"`{argument}` must be a list of names, but it is the text '{value}'"):
        Library.of(**arguments)


def test_a_library_cannot_be_changed() -> None:
    library = Library.of(["add"], 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        library.tokens = ()  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        library[0].name = "y"  # type: ignore[misc]


def test_libraries_are_equal_if_their_tokens_are_and_in_the_same_order() -> None:
    assert Library.of(["add", "sin"], 2) == Library.of(["+", "sin"], ["x1", "x2"])
    assert hash(Library.of(["add", "sin"], 2)) == hash(Library.of(["+", "sin"], ["x1", "x2"]))
    assert Library.of(["add", "sin"], 2) != Library.of(["sin", "add"], 2)
    assert Library.of(["add"], ["a", "b"]) != Library.of(["add"], ["b", "a"])


@given(library=libraries())
@settings(max_examples=100, deadline=None)
def test_a_pickled_library_is_the_same_library(library: Library) -> None:
    assert library.vocabulary is library.vocabulary
    restored = pickle.loads(pickle.dumps(library))
    assert restored == library
    assert hash(restored) == hash(library)
    np.testing.assert_array_equal(restored.arities, library.arities)


def test_a_pickled_library_evaluates_again() -> None:
    library = Library.of(["sin", "mul", 3.0], 1)
    X = np.linspace(0.0, 1.0, 5)
    expected = Expression.parse("3 * sin(x1)", library).evaluate(X)
    np.testing.assert_allclose(expected, 3.0 * np.sin(X))
    restored = pickle.loads(pickle.dumps(library))
    np.testing.assert_array_equal(Expression.parse("3 * sin(x1)", restored).evaluate(X), expected)
