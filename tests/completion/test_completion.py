"""Semantic completion: desired values are those of the twin, matches are found, and the table keeps what it should."""

from __future__ import annotations

import collections
import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from reference import INVERSES, OPERATORS, Floats, random_ids, random_population
from strategies import expressions
from symseed import DataError, Dataset, Expression, Library, Population, SearchSpace, SettingsError, _core
from symseed.completion.completer import Completer, CompletionCounts, CompletionSettings
from symseed.language.row import Row
from symseed.space.constraints import PAPER, Repeat

LIBRARY = Library.of([*OPERATORS, 2.0, 0.5, "const"], 2)
KOZA = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log"], 2)
FREE = SearchSpace(KOZA, 1, 60, constraints=())
SMALL = Library.of(["add", "mul", "max", "sin", 1.0, "const"], 1)
ANY = SearchSpace(SMALL, 1, 30, constraints=())
x = np.array([0.3, 0.7, 1.1, 1.6, 2.0, 2.9, -0.4, -1.7, 3.3])


def rows(*prefixes: str, library: Library = SMALL) -> Population:
    return Population.from_expressions([Expression.parse_prefix(prefix, library) for prefix in prefixes])


Arrays = tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32], npt.NDArray[np.float64]]


def arrays(population: Population) -> Arrays:
    return population.tokens, population.lengths, population.constants


HALVES = rows("mul x1 x1", "add x1 1.0", "x1")
"""Of x * (x + 1) either of the first two has what the other lacks; the third has nothing, and makes room for a third
completion."""


def everything(population: Population) -> npt.NDArray[np.int64]:
    return np.arange(len(population))


# --- Values and desired values ---------------------------------------------------------------------------------------


def native(expression: Expression, X: Floats, y: Floats, instruction_set: str | None = None) -> reference.Semantics:
    """Return the core's values and desired values of one row."""
    samples = _core.Samples(np.ascontiguousarray(X), np.ascontiguousarray(y), np.ones(len(y)))
    one = arrays(Population.from_expressions([expression]))
    return reference.Semantics(
        *_core.semantics(expression.library.vocabulary, samples, *one, instruction_set=instruction_set)
    )


def data(seed: int, count: int = 13) -> tuple[Floats, Floats]:
    """Return samples on which most operators have a value, and targets that most of them can take."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.1, 2.0, (count, 2)) if seed % 3 else rng.normal(0.0, 2.0, (count, 2))
    return X, rng.uniform(0.05, 0.95, count) if seed % 2 else rng.normal(0.0, 2.0, count)


def assert_like_the_twin(expression: Expression, X: Floats, y: Floats) -> list[int]:
    """Compare values and desired values with the twin's; return the positions that have desired values.

    Numerically delicate ones are left alone: those that appear, vanish or change by more than 1e-10 when everything is
    shaken by 1e-13, this way or that. Such are a logarithm of what cancels to nearly nothing, or an arc sine about 1.
    """
    found, expected = native(expression, X, y), reference.semantics(expression, X, y)
    shaken = [reference.semantics(expression, X, y, jitter=jitter) for jitter in (1e-13, -1e-13)]
    desired = []
    for part in ("values", "desired"):
        for position in range(len(expression)):
            twin, *others = (getattr(each, part)[position] for each in (expected, *shaken))
            core = getattr(found, part)[position]
            scale = np.abs(twin).max()
            if np.isnan(scale) and all(np.isnan(other).all() for other in others):
                assert np.isnan(core).all(), f"{part} of {expression.prefix} at {position}"
            elif all(np.abs(other - twin).max() <= 1e-10 * scale for other in others):
                assert np.abs(core - twin).max() <= 1e-9 * scale, f"{part} of {expression.prefix} at {position}"
                desired += [position] if part == "desired" else []
    return desired


def test_desired_values_through_every_operator_are_those_of_the_twin() -> None:
    """Random rows over the whole table: each inverse was taken, by each argument."""
    taken: collections.Counter[tuple[str, int]] = collections.Counter()
    for seed in range(6):
        population = random_population(np.random.default_rng(seed), LIBRARY, 400, 6)
        for expression in population:
            root = reference.tree(LIBRARY, expression.ids)
            desired = assert_like_the_twin(expression, *data(seed))
            for node in reference.nodes(root):
                for argument, child in enumerate(node.children):
                    if child.position in desired:
                        taken[node.token.name, argument] += 1
    assert set(taken) == {(name, argument) for name in INVERSES for argument in range(len(INVERSES[name]))}


@settings(max_examples=60, deadline=None)
@given(expression=expressions(LIBRARY, max_length=14), seed=st.integers(0, 2**32), count=st.integers(1, 20))
def test_values_and_desired_values_are_those_of_the_twin(expression: Expression, seed: int, count: int) -> None:
    assert_like_the_twin(expression, *data(seed, count))


@settings(max_examples=60, deadline=None)
@given(expression=expressions(LIBRARY, max_length=14), seed=st.integers(0, 2**32), count=st.integers(1, 20))
def test_every_instruction_set_desires_the_same_bits(expression: Expression, seed: int, count: int) -> None:
    X, y = data(seed, count)
    X[::3] *= 1e7  # past what the vector forms of sin and exp take
    expected = native(expression, X, y, "portable")
    for name in _core.instruction_sets():
        found = native(expression, X, y, name)
        assert reference.same_bits(found.values, expected.values)
        assert reference.same_bits(found.desired, expected.desired)


PRINCIPAL: dict[str, tuple[float, float]] = {
    "sin": (-1.5, 1.5),
    "cos": (0.05, 3.1),
    "tan": (-1.5, 1.5),
    "log": (1e-3, 50.0),
    "sqrt": (0.0, 50.0),
    "square": (0.0, 50.0),
    "quartic": (0.0, 50.0),
    "inv": (0.01, 50.0),
    "abs": (0.0, 50.0),
    "tanh": (-4.0, 4.0),
    "logabs": (1e-3, 50.0),
    "pow": (1.05, 4.0),
    "asin": (-0.95, 0.95),
    "acos": (-0.95, 0.95),
    "cosh": (0.05, 10.0),
    "acosh": (1.05, 50.0),
    "atanh": (-0.95, 0.95),
    "log2": (1e-3, 50.0),
    "log10": (1e-3, 50.0),
    "log1p": (-0.9, 50.0),
    "relu": (0.0, 50.0),
    "hypot": (0.05, 10.0),
}
"""Arguments on the principal branch of each operator, where it is not -10 to 10."""
INVERTED = [(name, argument) for name, inverses in INVERSES.items() for argument in range(len(inverses))]


@pytest.mark.parametrize(("name", "argument"), INVERTED, ids=lambda value: str(value))
@settings(max_examples=20, deadline=None)
@given(draws=st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3))
def test_an_operator_of_what_its_argument_should_be_is_what_was_wanted(
    name: str, argument: int, draws: list[float]
) -> None:
    """The target is f(right), the row f(wrong): the desired value is `right`, and f of it is the target."""
    low, high = PRINCIPAL.get(name, (-10.0, 10.0))
    right, wrong, other = (low + (high - low) * draw for draw in draws)
    wrong, other = wrong or high, other or high  # nothing can be divided by 0, nor 0 by anything be more
    if name in ("mul", "div") and argument == 1:
        right = right or 1.0
    columns = [other, other]
    columns[argument] = right
    arity = len(OPERATORS[name].slopes)
    with np.errstate(all="ignore"):
        wanted = OPERATORS[name].value(*(np.array([value]) for value in columns[:arity]))
    columns[argument] = wrong
    row = Expression.parse_prefix(" ".join([name, "x1", "x2"][: 1 + arity]), Library.of([name], 2))
    found = native(row, np.array([columns]), wanted)
    desired = found.desired[1 + argument]
    scale = max(1.0, abs(other))
    np.testing.assert_allclose(desired, [right], rtol=1e-9, atol=1e-9 * scale)
    columns[argument] = float(desired[0])
    with np.errstate(all="ignore"):
        again = OPERATORS[name].value(*(np.array([value]) for value in columns[:arity]))
    np.testing.assert_allclose(again, wanted, rtol=1e-9, atol=1e-9 * scale)


def impossible(name: str, wanted: float, *arguments: float, at: int = 1) -> Any:
    """Say that no argument in the place of the one at a position gives an operator the wanted value."""
    return pytest.param(name, wanted, arguments or (0.5,), at, id=f"{name} {wanted} {arguments} {at}")


@pytest.mark.parametrize("instruction_set", _core.instruction_sets())
@pytest.mark.parametrize(
    ("name", "wanted", "arguments", "at"),
    [
        *(impossible(name, wanted) for name in ("sin", "cos") for wanted in (1.5, -1.01, 1e300)),
        *(impossible(name, wanted) for name in ("exp", "expneg", "sigmoid") for wanted in (0.0, -1.0)),
        *(impossible(name, -1.0) for name in ("sqrt", "square", "quartic", "abs", "tanh")),
        *(impossible(name, 1.5) for name in ("tanh", "sigmoid")),
        impossible("inv", 0.0),
        *(impossible(name, 2.0) for name in ("asin", "atan")),
        *(impossible(name, -1.0) for name in ("acos", "relu")),
        impossible("expm1", -1.5),
        *(impossible(name, 0.5) for name in ("erf", "gamma", "sign", "step", "floor", "ceil")),
        impossible("hypot", 1.0, 0.5, 2.0, at=1),
        *(impossible(name, 0.5, 2.0, 3.0, at=at) for name in ("mod", "greater", "cond", "unless") for at in (1, 2)),
        *(impossible("mul", 2.0, *arguments, at=at) for arguments, at in (((1.0, 0.0), 1), ((0.0, 1.0), 2))),
        impossible("div", 0.0, 2.0, 1.0, at=2),
        impossible("pow", -2.0, 3.0, 2.0, at=1),
        impossible("pow", -2.0, 3.0, 2.0, at=2),
        impossible("pow", 2.0, 1.0, 5.0, at=2),
        *(impossible(name, 1.0, 2.0, 3.0, at=at) for name in ("min", "max") for at in (1, 2)),
        impossible("div", 0.5, 0.0, 1.0, at=2),  # 0 / b
        impossible("pow", 0.5, 2.0, 0.0, at=1),  # a^0
        impossible("pow", -2.0, 2.0, 0.5, at=1),  # a root
        impossible("pow", 0.5, 0.0, 2.0, at=2),  # 0^b
    ],
)
def test_where_no_argument_would_do_none_is_desired(
    name: str, wanted: float, arguments: tuple[float, ...], at: int, instruction_set: str
) -> None:
    """One such point among others is enough."""
    row = Expression.parse_prefix(" ".join([name, "x1", "x2"][: 1 + len(arguments)]), Library.of([name], 2))
    good = {"pow": (1.5, 1.5)}.get(name, (0.5, 0.5))
    X = np.array([[*arguments, 1.0][:2], good, good])
    y = np.array([wanted, 0.5, 0.5])
    found = native(row, X, y, instruction_set)
    assert np.isfinite(found.values).all()
    assert np.isnan(found.desired[at]).all()
    # Without that point there are desired values, unless the operator has no inverse at all.
    assert native(row, X[1:], y[1:], instruction_set).is_desired(at) == (name in INVERSES)


def test_desired_values_go_down_as_far_as_inverses_lead() -> None:
    """In exp(x) + max(sin(x), x), nothing below the maximum has desired values, and all beside it has."""
    row = Expression.parse_prefix("add exp x1 max sin x1 x1", LIBRARY)
    y = np.array([5.0, 9.0])
    X = np.array([[1.0, 0.0], [2.0, 0.0]])
    found = native(row, X, y)
    np.testing.assert_allclose(found.desired[0], y)
    np.testing.assert_allclose(found.desired[1], y - X[:, 0])
    np.testing.assert_allclose(found.desired[2], np.log(y - X[:, 0]))
    np.testing.assert_allclose(found.desired[3], y - np.exp(X[:, 0]))
    assert np.isnan(found.desired[4:]).all()


def test_a_row_that_fails_has_neither_values_nor_desired_values() -> None:
    found = native(Expression.parse_prefix("add x2 log x1", LIBRARY), np.array([[1.0, 1.0], [-1.0, 1.0]]), np.ones(2))
    assert np.isnan(found.values).all()
    assert np.isnan(found.desired).all()


# --- What is found ---------------------------------------------------------------------------------------------------


def completion(y: Floats, X: Floats = x, library: Library = SMALL, **changes: int) -> _core.Completion:
    samples = _core.Samples(np.ascontiguousarray(X.reshape(len(y), -1)), np.ascontiguousarray(y), np.ones(len(y)))
    limits = {"max_bytes": 2**20, "longest": _core.LONGEST_KEPT, "points": 64, **changes}
    return _core.Completion(library.vocabulary, samples, **limits)


def completed(
    table: _core.Completion, population: Population, space: SearchSpace = ANY, **how: Any
) -> tuple[Population, list[int]]:
    """Take rows in and return what they become, and which they were."""
    tokens, lengths, constants, parents = table.complete(
        space.rules, *arrays(population), everything(population), **how
    )
    return Population.wrap(population.library, tokens, lengths, constants), parents.tolist()


def prefixes(population: Population) -> list[str]:
    return [expression.prefix for expression in population]


def test_each_row_is_completed_with_what_the_others_have() -> None:
    """x * x and x + 1 on the target x * (x + 1): each has what the other lacks."""
    table = completion(x * (x + 1.0))
    found, parents = completed(table, HALVES)
    assert prefixes(found) == ["mul add x1 1.0 x1", "mul x1 add x1 1.0", "add x1 mul x1 x1"]
    assert parents == [0, 0, 1]
    # Looked up: the target once, two arguments of each row. Kept: both rows, x1 and 1.
    assert (table.lookups, table.hits, table.splices, table.size) == (5, 3, 3, 4)


def test_what_was_seen_in_one_call_completes_rows_of_later_ones() -> None:
    table = completion(x * (x + 1.0))
    assert not len(completed(table, rows("add x1 1.0"))[0])
    for _ in range(20):
        completed(table, random_population(np.random.default_rng(1), SMALL, 20, 9))
    found, _ = completed(table, rows("mul x1 const(7)"))
    assert "mul x1 add x1 1.0" in prefixes(found)


def test_only_the_chosen_rows_are_taken_in_and_completed() -> None:
    population = rows("mul x1 x1", "add x1 1.0")
    for chosen in ([0], [1]):
        table = completion(x * (x + 1.0))
        *_, parents = table.complete(ANY.rules, *arrays(population), np.array(chosen))
        assert not len(parents)
        assert table.size == 2 + chosen[0]
    table = completion(x * (x + 1.0))
    table.complete(ANY.rules, *arrays(population), np.array([1]))
    *_, parents = table.complete(ANY.rules, *arrays(population), np.array([0]))
    assert parents.tolist() == [0, 0]


def subtree(ids: tuple[int, ...], begin: int, library: Library) -> tuple[int, ...]:
    end, open_slots = begin, 1
    while open_slots:
        open_slots += library[ids[end]].arity - 1
        end += 1
    return ids[begin:end]


def put(ids: tuple[int, ...], begin: int, new: tuple[int, ...], library: Library) -> tuple[int, ...]:
    """Return a row with another subtree in the place of the one at a position."""
    return ids[:begin] + new + ids[begin + len(subtree(ids, begin, library)) :]


def plain(ids: tuple[int, ...], library: Library) -> Expression:
    """Return a row without constants."""
    return Expression(library, Row(ids, (np.nan,) * len(ids)))


def test_a_wrong_subtree_gives_way_to_the_right_one_wherever_that_was_seen() -> None:
    """Random targets with one random subtree replaced; another row has the right one, among 20 that have not."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.2, 2.0, (20, 2))
    solved = 0
    for _ in range(200):
        target, donor = (tuple(random_ids(rng, KOZA, 15)) for _ in range(2))
        begin, at = int(rng.integers(1, len(target) + 1)) - 1, int(rng.integers(len(donor)))
        right = subtree(target, begin, KOZA)
        wrong = plain(put(target, begin, tuple(random_ids(rng, KOZA, 6)), KOZA), KOZA)
        donating = plain(put(donor, at, right, KOZA), KOZA)
        y = reference.evaluate(plain(target, KOZA), X).values
        if begin == 0 or np.isnan(y).any() or np.isnan(reference.semantics(donating, X, y).values).any():
            continue
        twin = reference.semantics(wrong, X, y)
        wanted = reference.evaluate(plain(right, KOZA), X).values
        is_possible = twin.is_desired(begin) and np.allclose(twin.desired[begin], wanted, rtol=1e-12)
        if not is_possible or np.allclose(twin.values[0], y) or np.allclose(wanted, 0.0):
            continue  # a branch that is not the principal one, or nothing to repair
        others = random_population(rng, KOZA, 20, 10)
        population = Population.concatenate([others, Population.from_expressions([donating, wrong])])
        found, parents = completed(completion(y, X, KOZA), population, FREE)
        repaired = found.take(np.flatnonzero(np.array(parents) == 21))
        assert any(np.allclose(row.evaluate(X), y, rtol=1e-6) for row in repaired), wrong.prefix
        solved += 1
    assert solved > 40


def is_granted(row: Expression, parent: Expression, X: Floats, y: Floats) -> bool:
    """Return whether `row` is `parent` with the desired values in one place."""
    twin, found = (reference.semantics(each, X, y) for each in (parent, row))
    for begin in range(min(len(row), len(parent))):
        new = subtree(row.ids, begin, KOZA)
        is_elsewhere_the_same = put(parent.ids, begin, new, KOZA) == row.ids
        gap = np.abs(twin.desired[begin] - found.values[begin]).max()
        if is_elsewhere_the_same and gap <= 1e-8 * np.abs(found.values[begin]).max():
            return True
    return False


@pytest.mark.parametrize("constraints", [(), PAPER, (*PAPER, Repeat(("x2",), 2))], ids=["none", "paper", "more"])
def test_completions_have_the_desired_values_and_keep_to_the_rules(constraints: tuple[Any, ...]) -> None:
    """They are the target, but where rounding makes them something else: of 1e99 - 1e99, nearly all would do."""
    space = SearchSpace(KOZA, 4, 14, constraints=constraints)
    X = np.random.default_rng(3).uniform(0.2, 2.0, (20, 2))
    y = np.log(X[:, 0] + X[:, 1]) + X[:, 0]
    table = completion(y, X, KOZA)
    solved = count = 0
    for step in range(4):
        population = space.sample(400, seed=1, step=step)
        found, parents = completed(table, population, space)
        checked = Population.of(KOZA, found.tokens, found.lengths, found.constants)
        np.testing.assert_array_equal(space.violations(checked), -1)
        for row, parent in zip(found, parents, strict=True):
            assert row != population[parent]
            is_defined = np.isfinite(row.evaluate(X)).all()  # not 0 / 0
            assert not is_defined or is_granted(row, population[parent], X, y)
            solved += np.allclose(row.evaluate(X), y, rtol=1e-6)
        count += len(found)
    assert table.lookups > table.hits >= table.splices == count
    assert solved > max(10, 0.9 * count)


def test_a_completion_that_the_rules_forbid_is_a_hit_and_no_splice() -> None:
    for space, splices in (
        (ANY, 3),
        (SearchSpace(SMALL, 1, 30, constraints=(Repeat(("add",), 0),)), 0),
        (SearchSpace(SMALL, 1, 30, constraints=(Repeat(("1.0",), 0),)), 1),
        (SearchSpace(SMALL, 1, 4, constraints=()), 0),
        (SearchSpace(SMALL, 6, 30, constraints=()), 0),
    ):
        table = completion(x * (x + 1.0))
        found, _ = completed(table, HALVES, space)
        assert (table.lookups, table.hits, table.splices) == (5, 3, splices)
        assert len(found) == splices


@pytest.mark.parametrize("operator", ["max", "add"])
def test_nothing_is_completed_below_an_operator_without_an_inverse(operator: str) -> None:
    """The row lacks sin(x) below a maximum: no inverse says so, though it does below a sum."""
    y = OPERATORS[operator].value(np.sin(x), x * x) + x
    table = completion(y)
    found, _ = completed(table, rows(f"add {operator} x1 mul x1 x1 x1", "sin x1"))
    if operator == "max":
        assert prefixes(found) == []
        assert table.hits == 0
    else:
        assert f"add {operator} sin x1 mul x1 x1 x1" in prefixes(found)


def test_constants_move_with_their_tokens() -> None:
    table = completion(2.5 * np.sin(x + 1.0) + 7.5)
    found, parents = completed(table, rows("add mul const(2.5) x1 const(7.5)", "sin add x1 1.0"))
    assert parents == [0]
    assert found[0].prefix == "add mul const(2.5) sin add x1 1.0 const(7.5)"
    expected = np.array([np.nan, np.nan, 2.5, np.nan, np.nan, np.nan, np.nan, 7.5])
    np.testing.assert_array_equal(found.constants[0, :8], expected)
    assert np.isnan(found.constants[0, 8:]).all()


def test_the_constants_of_what_gives_way_go_with_it() -> None:
    table = completion(np.sin(x) + 7.5)
    found, _ = completed(table, rows("add mul const(2.5) add const(3.5) x1 const(7.5)", "sin x1"))
    assert "add sin x1 const(7.5)" in prefixes(found)
    for row in found:
        assert np.isfinite(row.constants).tolist() == [token.name == "const" for token in row.tokens]
        np.testing.assert_allclose(row.evaluate(x[:, None]), np.sin(x) + 7.5, rtol=1e-6)


def test_a_subtree_that_holds_a_fitted_constant_is_not_kept() -> None:
    table = completion(x + np.sin(2.5 * x))
    found, _ = completed(table, rows("add x1 x1", "mul sin mul const(2.5) x1 sin x1"))
    assert prefixes(found) == []
    assert table.size == 3  # x1, sin(x1) and x1 + x1
    table = completion(x + np.sin(2.5 * x))
    found, _ = completed(table, rows("add x1 x1", "add x1 sin x1"))
    assert table.size == 4


@pytest.mark.parametrize(("longest", "kept"), [(1, 2), (2, 3), (3, 4), (4, 5), (23, 6)])
def test_no_subtree_of_more_tokens_than_the_longest_is_kept(longest: int, kept: int) -> None:
    """x, 1, sin(x), x + 1, sin(sin(sin(x))) and the whole have 1, 1, 2, 3, 4 and 8 tokens."""
    whole = "add add x1 1.0 sin sin sin x1"
    table = completion(x * (x + 1.0), longest=longest)
    completed(table, rows(whole))
    assert table.size == kept + (longest >= 3)  # sin(sin(x)) has 3
    found, _ = completed(table, rows("mul const(3) x1"))
    assert ("mul add x1 1.0 x1" in prefixes(found)) == (longest >= 3)


def test_a_subtree_that_no_entry_can_hold_is_not_kept() -> None:
    chain = "sin " * _core.LONGEST_KEPT
    table = completion(x)
    completed(table, rows(f"{chain}x1"), SearchSpace(SMALL, 1, 60, constraints=()))
    assert table.size == _core.LONGEST_KEPT  # all but the whole


def test_points_whose_target_is_0_do_not_keep_a_product_from_being_inverted() -> None:
    """At 0 a product with x wants anything: those points are not asked."""
    with_zeros = np.concatenate([[0.0, -1.0], x, [0.0]])
    y = with_zeros * (with_zeros + 1.0)
    half = rows("mul x1 x1")
    assert not native(half[0], with_zeros[:, None], y).is_desired(1)
    found, _ = completed(completion(y, with_zeros), rows("mul x1 x1", "add x1 1.0"))
    assert "mul x1 add x1 1.0" in prefixes(found)


def test_points_that_weigh_nothing_are_not_asked() -> None:
    """The last sample belongs to another formula."""
    y = x * (x + 1.0)
    y[-1] = 77.0
    for weight, is_found in ((0.0, True), (1.0, False)):
        weights = np.append(np.ones(len(x) - 1), weight)
        samples = _core.Samples(x[:, None].copy(), y, weights)
        table = _core.Completion(SMALL.vocabulary, samples, 2**20, 23, 64)
        found, _ = completed(table, rows("mul x1 x1", "add x1 1.0"))
        assert bool(len(found)) == is_found


def test_a_target_that_is_0_everywhere_does_no_harm() -> None:
    table = completion(np.zeros(len(x)))
    completed(table, rows("add x1 1.0", "mul x1 x1", "sin x1"))
    assert table.size == 5
    assert table.splices == 0


def test_as_many_points_as_were_asked_for_are_compared() -> None:
    """At x = 2, the first point, x * x is x + x: who looks at no other takes one for the other."""
    points = np.array([2.0, 0.5, 1.5, 2.5])
    for count, expected in ((1, ["add add x1 x1 1.0"]), (2, []), (64, [])):
        table = completion(points**2 + 1.0, points, points=count)
        found, _ = completed(table, rows("add const(2) 1.0", "add x1 x1"))
        assert [prefix for prefix in prefixes(found) if prefix.endswith(" 1.0")] == expected


def test_rows_that_cannot_be_evaluated_are_left_out() -> None:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (8, 2))
    y = X[:, 0] + X[:, 1] ** 2
    table = completion(y, X, KOZA)
    found, _ = completed(table, rows("add x1 log x1", "add x1 x2", library=KOZA), FREE)
    assert len(found) == 0
    assert table.size == 3  # of the second row
    assert table.lookups == 3


@pytest.mark.parametrize("name", _core.instruction_sets())
def test_the_same_rows_give_the_same_completions(name: str) -> None:
    X = np.random.default_rng(0).uniform(0.2, 2.0, (20, 2))
    y = X[:, 0] ** 2 + X[:, 1]
    populations = [SearchSpace(KOZA, 1, 12).sample(1000, seed=3, step=step) for step in range(3)]

    def found(chosen: str | None) -> tuple[list[npt.NDArray[Any]], tuple[int, ...]]:
        table = completion(y, X, KOZA, max_bytes=2**14)
        outcome: list[npt.NDArray[Any]] = []
        for population in populations:
            outcome += table.complete(FREE.rules, *arrays(population), everything(population), instruction_set=chosen)
        return outcome, (table.lookups, table.hits, table.splices, table.size, table.bytes)

    expected, counts = found(None)
    assert counts[2] > 20
    again, same_counts = found(name)
    assert same_counts == counts
    assert all(reference.same_bits(a, b) for a, b in zip(again, expected, strict=True))


def test_no_more_completions_are_given_than_there_are_rows() -> None:
    """x + (x + (x + 1)) lacks one more 1 wherever it has an argument."""
    lacking = "add x1 add x1 add x1 1.0"
    for count in (1, 2, 7):
        table = completion(3.0 * x + 2.0)
        completed(table, rows("add x1 1.0", "add 1.0 1.0"))
        before = table.splices
        found, _ = completed(table, rows(lacking, *["x1"] * (count - 1)))
        assert len(found) == table.splices - before == min(count, 4)


# --- The table -------------------------------------------------------------------------------------------------------


def kept_as(population: Population, values: Floats, X: Floats, **changes: int) -> tuple[int, ...] | None:
    """Return the sub-expression that a table fed with some rows, one by one, has for some values.

    The table does not depend on the target, so it is made for these values; a lone constant, of which nothing is kept,
    then asks for them.
    """
    library = population.library
    space = SearchSpace(library, 1, 60, constraints=())
    table = completion(values, X, library, **changes)
    for row in range(len(population)):
        completed(table, population.take([row]), space)
    size = table.size
    found, _ = completed(table, rows("const(1)", library=library), space)
    assert table.size == size
    return found[0].ids if len(found) else None


def test_of_equal_values_the_shortest_sub_expression_stays() -> None:
    """(x + x) * x, and longer ways to say it; of the same length the first stays."""
    short, long, longest = "mul add x1 x1 x1", "add mul x1 x1 mul x1 x1", "mul mul x1 1.0 add x1 mul x1 1.0"
    for order in itertools.permutations([short, long, longest]):
        assert kept_as(rows(*order), 2.0 * x * x, x) == rows(short)[0].ids
    assert kept_as(rows(longest, long), 2.0 * x * x, x) == rows(long)[0].ids
    assert kept_as(rows(long, "mul x1 add x1 x1", short), 2.0 * x * x, x) == rows("mul x1 add x1 x1")[0].ids


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_full_bucket_gives_up_its_longer_sub_expression(seed: int) -> None:
    """The smallest table has room for two; what it has in the end is what the twin has."""
    rng = np.random.default_rng(seed)
    library = Library.of(["add", "mul", "sin", "const"], 2)
    X = rng.uniform(0.5, 2.0, (8, 2))
    population = random_population(rng, library, 4, 7)
    bucket = reference.Bucket([None, None])
    seen: dict[tuple[int, ...], Floats] = {}
    for row in population:
        values = reference.semantics(row, X, np.ones(8)).values
        for position in range(len(row)):
            ids = subtree(row.ids, position, library)
            if not library.is_constant[list(ids)].any():
                bucket.keep(values[position], ids)
                seen[ids] = values[position]
    for values in seen.values():
        assert kept_as(population, values, X, max_bytes=128) == bucket.find(values)


@pytest.mark.parametrize("max_bytes", [128, 1000, 2**15, 2**18, 10**6, 2**22])
def test_the_table_grows_up_to_its_memory_and_no_further(max_bytes: int) -> None:
    X = np.random.default_rng(0).uniform(0.2, 2.0, (20, 2))
    table = completion(X[:, 0], X, KOZA, max_bytes=max_bytes)
    before = table.size
    for step in range(4):
        completed(table, SearchSpace(KOZA, 4, 25).sample(2000, seed=0, step=step), FREE)
        assert table.bytes <= max_bytes
        assert before <= table.size <= table.bytes // 64
        before = table.size
    assert table.size > (0.9 * table.bytes / 64 if max_bytes <= 10**6 else 10_000)


# --- As the search uses it -------------------------------------------------------------------------------------------


def test_a_completer_completes_some_rows_of_a_population() -> None:
    completer = Completer(ANY, Dataset.of(x, x * (x + 1.0)))
    population = rows("sin x1", "mul x1 x1", "add x1 1.0")
    assert completer.counts == CompletionCounts(0, 0, 0)
    found = completer.complete(population, np.array([1, 2]))
    assert prefixes(found) == ["mul add x1 1.0 x1", "mul x1 add x1 1.0", "add x1 mul x1 x1"]
    assert completer.counts == CompletionCounts(lookups=5, hits=3, splices=3)
    assert completer.size == 4
    assert len(completer.complete(population, np.array([], dtype=np.intp))) == 0


def test_a_completer_keeps_to_its_settings() -> None:
    data = Dataset.of(x, x * (x + 1.0))
    population = rows("mul x1 x1", "add x1 1.0")
    short = Completer(ANY, data, CompletionSettings(longest=2))
    assert len(short.complete(population, np.arange(2))) == 0
    assert short.size == 2
    tiny = Completer(ANY, data, CompletionSettings(max_bytes=128))
    tiny.complete(population, np.arange(2))
    assert tiny.size == 2
    two = Dataset.of([2.0, 0.5], [5.0, 1.25])
    loose = Completer(ANY, two, CompletionSettings(points=1))
    assert "add add x1 x1 1.0" in prefixes(loose.complete(rows("add const(2) 1.0", "add x1 x1"), np.arange(2)))


def test_rows_of_another_library_and_data_without_its_columns_are_refused() -> None:
    with pytest.raises(SettingsError, match="The population and the search space must share one library"):
        Completer(ANY, Dataset.of(x, x)).complete(rows("add x1 x2", library=KOZA), np.arange(1))
    with pytest.raises(DataError, match="need 2 columns, but the dataset has 1"):
        Completer(FREE, Dataset.of(x, x))


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"max_bytes": 127}, "`max_bytes` must be from 128 to 1099511627776, but it is 127"),
        ({"max_bytes": 2**41}, "`max_bytes` must be from 128"),
        ({"longest": 0}, "`longest` must be from 1 to 23, but it is 0"),
        ({"longest": 24}, "`longest` must be from 1 to 23, but it is 24"),
        ({"points": 0}, "`points` must be from 1 to 1048576, but it is 0"),
        ({"points": 2**21}, "`points` must be from 1"),
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(values: dict[str, int], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        CompletionSettings(**values)  # type: ignore[arg-type]


def test_the_core_refuses_what_it_cannot_read() -> None:
    population = rows("mul x1 x1", "add x1 1.0")
    table = completion(x)
    for chosen in ([2], [-1]):
        with pytest.raises(ValueError, match="`chosen` must be rows"):
            table.complete(ANY.rules, *arrays(population), np.array(chosen))
    with pytest.raises(ValueError, match="of the same library"):
        table.complete(FREE.rules, *arrays(rows("mul x1 x1", library=KOZA)), np.array([0]))
    with pytest.raises(ValueError, match="out of range"):
        completion(x, longest=24)
    with pytest.raises(ValueError, match="out of range"):
        completion(x, points=0)
    with pytest.raises(ValueError, match="one row"):
        _core.semantics(SMALL.vocabulary, _core.Samples(x[:, None].copy(), x, x * x), *arrays(population))
    assert (table.lookups, table.size) == (0, 0)
