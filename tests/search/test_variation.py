"""Selection, crossover and mutation: each child is what its operator says, and evolution moves."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from reference import random_population
from symseed import DataError, Expression, Library, Population, SearchSpace, SettingsError
from symseed.language.row import Row
from symseed.language.tokens import OPERATORS, TokenKind
from symseed.search.variation import Mutation, VariationSettings, crossover, mutate, next_generation, tournament
from symseed.space.constraints import PAPER, Relational, Relationship, Repeat
from symseed.space.priors import SoftLength

LIBRARY = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log", 2.0, "const"], 2)
FREE = SearchSpace(LIBRARY, 1, 200, constraints=())
"""A space in which nothing that the parents below can become is forbidden."""
KOZA = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log"], 2)
STRICT = SearchSpace(LIBRARY, 4, 16, constraints=(*PAPER, Repeat(("const",), 3)))


def parents(count: int = 400, *, seed: int = 0, max_length: int = 25) -> Population:
    """Rows whose constants are all different, so that each can be told from the others."""
    population = random_population(np.random.default_rng(seed), LIBRARY, count, max_length)
    holds = ~np.isnan(population.constants)
    values = np.where(holds, 10.0 + np.cumsum(holds).reshape(holds.shape), np.nan)
    return population.with_constants(values)


Pairs = tuple[tuple[int, float | None], ...]


def pairs(population: Population, row: int) -> Pairs:
    """Return the (token, constant) pairs of one row, in order; None for no constant."""
    expression = population[row]
    return tuple(
        (i, None if np.isnan(value) else value) for i, value in zip(expression.ids, expression.constants, strict=True)
    )


def subtree_end(ids: Pairs, begin: int) -> int:
    open_slots, end = 1, begin
    while open_slots:
        open_slots += LIBRARY[ids[end][0]].arity - 1
        end += 1
    return end


def assert_sound(space: SearchSpace, children: Population) -> None:
    """Each row is one complete expression with finite constants where they belong, and nothing else."""
    checked = Population.of(children.library, children.tokens, children.lengths, children.constants)
    assert reference.same_bits(checked.tokens, children.tokens)
    assert reference.same_bits(checked.constants, children.constants)
    for expression in children:
        assert reference.accepts(LIBRARY, space.min_length, space.max_length, space.constraints, expression.ids)


@pytest.mark.parametrize("step", range(3))
def test_children_of_every_operator_are_complete_legal_and_within_bounds(step: int) -> None:
    for space in (FREE, STRICT):
        population = space.sample(200, seed=step)
        assert_sound(space, crossover(space, population, seed=1, step=step))
        for mutation in Mutation:
            assert_sound(space, mutate(space, population, mutation, seed=1, step=step))
        reward = np.random.default_rng(step).random(200)
        for retries in (0, 3):
            varied = next_generation(space, population, reward, VariationSettings(retries=retries), seed=1, step=step)
            assert_sound(space, varied.population)
            assert len(varied.population) == 200


# --- Tournament ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 5])
def test_tournaments_choose_each_rank_as_often_as_they_should(size: int) -> None:
    """The best of k rows drawn with replacement has rank i of n with probability ((i + 1) / n)^k - (i / n)^k."""
    count, draws = 20, 40_000
    reward = np.random.default_rng(0).permutation(count).astype(float)
    winners = tournament(reward, draws, size, seed=3)
    ranks = np.arange(count)
    probability = ((ranks + 1) / count) ** size - (ranks / count) ** size
    expected = probability * draws
    found = np.bincount(reward[winners].astype(int), minlength=count)
    seen = expected > 5.0
    statistic = np.sum((found[seen] - expected[seen]) ** 2 / expected[seen])
    assert statistic < seen.sum() + 5.0 * np.sqrt(2.0 * seen.sum())
    assert np.all(found[~seen] < 25)


def test_a_tournament_of_equals_is_a_fair_draw() -> None:
    winners = tournament(np.zeros(10), 20_000, 5, seed=1)
    found = np.bincount(winners, minlength=10)
    assert np.sum((found - 2000.0) ** 2 / 2000.0) < 9 + 5.0 * np.sqrt(18.0)


def test_a_tournament_takes_minus_infinity_for_the_worst() -> None:
    winners = tournament(np.array([-np.inf, -1.0, -np.inf]), 1000, 60, seed=1)
    assert set(winners.tolist()) == {1}


@pytest.mark.parametrize(("rows", "count", "size"), [(0, 1, 1), (3, 1, 0), (3, -1, 1)])
def test_an_impossible_tournament_is_refused(rows: int, count: int, size: int) -> None:
    with pytest.raises(SettingsError, match="A tournament needs at least one row"):
        tournament(np.zeros(rows), count, size, seed=0)


# --- Crossover -------------------------------------------------------------------------------------------------------


def test_crossover_swaps_one_subtree_and_keeps_every_token_and_constant() -> None:
    population = parents()
    children = crossover(FREE, population, seed=5)
    moved = 0
    for first, second in zip(range(0, 400, 2), range(1, 400, 2), strict=True):
        a, b = pairs(population, first), pairs(population, second)
        c, d = pairs(children, first), pairs(children, second)
        assert collections.Counter(c + d) == collections.Counter(a + b)
        swaps = [
            (i, j)
            for i, j in itertools.product(range(1, len(a)), range(1, len(b)))
            if c == a[:i] + b[j : subtree_end(b, j)] + a[subtree_end(a, i) :]
            and d == b[:j] + a[i : subtree_end(a, i)] + b[subtree_end(b, j) :]
        ]
        if min(len(a), len(b)) == 1:
            assert (c, d) == (a, b)
        else:
            assert swaps
        moved += (c, d) != (a, b)
    assert moved > 150  # of 200; rows of one token stay


def test_crossover_draws_every_pair_of_places_equally_often() -> None:
    """Two rows of tokens that are all different, so that the places can be read off the children."""
    library = Library.of(["add", "mul", "sin", "cos"], 5)
    first = Expression.parse_prefix("add x1 sin x2", library)
    second = Expression.parse_prefix("mul x3 cos mul x4 x5", library)
    population = Population.from_expressions([first, second] * 3000)
    children = crossover(SearchSpace(library, 1, 50, constraints=()), population, seed=2)
    found = collections.Counter(children[i].ids for i in range(0, 6000, 2))
    assert len(found) == 3 * 5
    assert all(120 < count < 290 for count in found.values())  # 200 each, standard deviation 14


def test_crossover_needs_pairs() -> None:
    with pytest.raises(DataError, match="an even number of them, but there are 3"):
        crossover(FREE, parents(3), seed=0)


# --- Mutations -------------------------------------------------------------------------------------------------------


def mutated(mutation: Mutation, population: Population, new_depth: int = 3) -> list[tuple[Pairs, Pairs]]:
    """Return each row with its mutant."""
    children = mutate(FREE, population, mutation, VariationSettings(new_depth=new_depth), seed=7)
    return [(pairs(population, i), pairs(children, i)) for i in range(len(population))]


def height(ids: Pairs) -> int:
    return Expression(LIBRARY, Row(tuple(i for i, _ in ids), (1.0,) * len(ids))).depth - 1


def is_full(ids: Pairs) -> bool:
    """Return whether all leaves are equally deep."""

    def depths(node: reference.Node, depth: int) -> set[int]:
        below = [depths(child, depth + 1) for child in node.children]
        return set().union(*below) if below else {depth}

    return len(depths(reference.tree(LIBRARY, [i for i, _ in ids]), 0)) == 1


def has_new_constants_of_one(ids: Pairs) -> bool:
    return all(value in (None, 1.0) for _, value in ids)


def test_a_subtree_mutation_puts_a_new_full_tree_in_the_place_of_any_subtree() -> None:
    heights: collections.Counter[int] = collections.Counter()
    begins: collections.Counter[bool] = collections.Counter()
    for old, new in mutated(Mutation.SUBTREE, parents()):
        explained = [
            (begin, new[begin : subtree_end(new, begin)])
            for begin in range(min(len(old), len(new)))
            if new[:begin] == old[:begin]
            and new[subtree_end(new, begin) :] == old[subtree_end(old, begin) :]
            and is_full(new[begin : subtree_end(new, begin)])
            and height(new[begin : subtree_end(new, begin)]) <= 3
            and has_new_constants_of_one(new[begin : subtree_end(new, begin)])
        ]
        assert explained
        begin, fresh = explained[-1]
        heights[height(fresh)] += 1
        begins[begin == 0] += 1
    assert set(heights) == {0, 1, 2, 3}
    assert begins[True] > 10  # The root may be replaced too.


@pytest.mark.parametrize("depth", [0, 1, 5])
def test_new_subtrees_are_no_higher_than_they_may_be_and_of_every_height(depth: int) -> None:
    one = Population.from_expressions([Expression.parse("x1", LIBRARY)] * 600)
    heights = collections.Counter(height(new) for _, new in mutated(Mutation.SUBTREE, one, new_depth=depth))
    assert set(heights) == set(range(depth + 1))
    assert all(0.6 < count * (depth + 1) / 600 < 1.5 for count in heights.values())


def test_a_point_mutation_changes_one_token_below_the_root_for_one_of_its_arity() -> None:
    changed = 0
    for old, new in mutated(Mutation.POINT, parents()):
        assert len(new) == len(old)
        assert new[0] == old[0]
        places = [i for i in range(len(old)) if old[i] != new[i]]
        assert len(places) <= 1
        for i in places:
            assert LIBRARY[new[i][0]].arity == LIBRARY[old[i][0]].arity
            assert has_new_constants_of_one(new[i : i + 1])
        changed += len(places)
    assert changed > 200  # of 400; the drawn token may be the old one


def test_an_insertion_puts_an_operator_above_any_subtree_and_a_terminal_beside_it() -> None:
    roots = 0
    for old, new in mutated(Mutation.INSERT, parents()):
        explained = [
            (begin, kept)
            for begin in range(len(old))
            if new[:begin] == old[:begin] and LIBRARY[new[begin][0]].arity > 0
            for kept in range(LIBRARY[new[begin][0]].arity)
            if is_inserted(old, new, begin, kept)
        ]
        assert explained
        roots += explained[0][0] == 0
        assert len(new) - len(old) in (1, 2)
    assert roots > 10


def is_inserted(old: Pairs, new: Pairs, begin: int, kept: int) -> bool:
    """Is `new` the row `old` with an operator at `begin` of which the old subtree is argument `kept`?"""
    end = subtree_end(old, begin)
    arguments = [old[begin:end]]
    if LIBRARY[new[begin][0]].arity == 2:
        at = begin + 1 if kept == 1 else begin + 1 + end - begin
        terminal = new[at : at + 1]
        if not terminal or LIBRARY[terminal[0][0]].arity or not has_new_constants_of_one(terminal):
            return False
        arguments.insert(1 - kept, terminal)
    return new == old[:begin] + new[begin : begin + 1] + sum(arguments, ()) + old[end:]


def test_a_shrink_puts_an_argument_in_the_place_of_an_operator_below_the_root() -> None:
    shrunk = 0
    for old, new in mutated(Mutation.SHRINK, parents()):
        candidates = set()
        for begin in range(1, len(old)):
            at = begin + 1
            for _ in range(LIBRARY[old[begin][0]].arity):
                argument = old[at : subtree_end(old, at)]
                candidates.add(old[:begin] + argument + old[subtree_end(old, begin) :])
                at += len(argument)
        if candidates:
            assert new in candidates
            assert len(new) < len(old)
            shrunk += 1
        else:
            assert new == old  # nothing but a root, or a root and terminals
    assert shrunk > 250  # of 400


def inserted_number(old: Pairs, new: Pairs, library: Library) -> list[tuple[int, str, Pairs]]:
    """Return every reading of `new` as `old` in which a subtree f became f op n: its place, op and n."""
    found = []
    for begin in range(len(old)):
        end = subtree_end(old, begin)
        number = new[end + 1 : end + 1 + len(new) - len(old) - 1]
        if new == old[:begin] + new[begin : begin + 1] + old[begin:end] + number + old[end:]:
            found.append((begin, library[new[begin][0]].name, number))
    return found


def value_of(ids: Pairs, library: Library) -> set[float]:
    """Return what a subtree without constants is at some points, rounded."""
    X = np.random.default_rng(0).uniform(0.5, 3.0, (5, len(library.variables)))
    expression = Expression(library, Row(tuple(i for i, _ in ids), (np.nan,) * len(ids)))
    return set(np.round(reference.evaluate(expression, X).values, 12).tolist())


def test_a_number_mutation_adds_subtracts_multiplies_or_divides_by_a_small_number() -> None:
    """Any subtree f becomes f op n; 2 is a literal of the library, and the others are spelt with a variable."""
    places: collections.Counter[bool] = collections.Counter()
    kinds: collections.Counter[tuple[str, float]] = collections.Counter()
    for old, new in mutated(Mutation.NUMBER, parents()):
        readings = inserted_number(old, new, LIBRARY)
        assert readings
        begin, name, number = readings[0]
        (value,) = value_of(number, LIBRARY)
        kinds[name, value] += 1
        places[begin == 0] += 1
        assert len(number) == {1.0: 3, 2.0: 1, 3.0: 7, 0.5: 5}[value]
    assert set(kinds) == set(itertools.product(("add", "sub", "mul", "div"), (1.0, 2.0, 3.0, 0.5)))
    assert all(10 < count < 45 for count in kinds.values())  # 25 each
    assert places[True] > 10
    assert places[False] > 100


def test_a_row_with_a_number_is_the_old_one_with_f_op_n_in_the_place_of_f() -> None:
    """The same said by values: 400 mutants of sin(x1) are sin(x1) op n or sin(x1 op n), and all of these occur."""
    row = Expression.parse("sin(x1)", KOZA)
    space = SearchSpace(KOZA, 1, 30, constraints=())
    children = mutate(space, Population.from_expressions([row] * 400), Mutation.NUMBER, seed=1)
    X = np.random.default_rng(0).uniform(0.5, 3.0, (5, 2))
    found = {tuple(np.round(child.evaluate(X), 9)) for child in children}
    names, numbers = ("add", "sub", "mul", "div"), (1.0, 2.0, 3.0, 0.5)
    apply = {name: reference.OPERATORS[name].value for name in names}
    expected = [apply[name](np.sin(X[:, 0]), n) for name in names for n in numbers]
    expected += [np.sin(apply[name](X[:, 0], n)) for name in names for n in numbers]
    assert found == {tuple(np.round(values, 9)) for values in expected}


@pytest.mark.parametrize("literals", [(), (1.0,), (2.0, 3.0), (1.0, 2.0, 3.0, 0.5)], ids=str)
def test_a_number_is_a_literal_where_the_library_has_one_and_else_is_spelt(literals: tuple[float, ...]) -> None:
    library = Library.of(["add", "div", *literals, 7.0], 1)
    space = SearchSpace(library, 1, 30, constraints=())
    one = Population.from_expressions([Expression.parse("x1", library)] * 200)
    spelt = {1.0: "div x1 x1", 2.0: "div add x1 x1 x1", 3.0: "div add x1 add x1 x1 x1", 0.5: "div x1 add x1 x1"}
    expected = {
        f"{name} x1 {value if value in literals else spelt[value]}" for name in ("add", "div") for value in spelt
    }
    assert {child.prefix for child in mutate(space, one, Mutation.NUMBER, seed=1)} == expected


@pytest.mark.parametrize(
    ("entries", "variables", "numbers"),
    [
        (["add", "mul", "sin"], 1, set()),  # nothing to divide by
        (["mul", "div"], 1, {1.0}),  # 1 is x1 / x1, but 2 needs a sum
        (["mul", 2.0], 1, {2.0}),
        (["sin", "exp", 1.0, 2.0, 3.0], 1, set()),  # no operator to put above
        (["add", "div", 7.0], 0, set()),  # no variable to spell with
        (["add", "div", 7.0, 0.5], 0, {0.5}),
    ],
    ids=str,
)
def test_a_number_that_the_library_cannot_say_leaves_the_parent_as_it_was(
    entries: list[str | float], variables: int, numbers: set[float]
) -> None:
    library = Library.of(entries, variables)
    parent = Expression.parse_prefix("x1" if variables else "7.0", library)
    space = SearchSpace(library, 1, 30, constraints=())
    children = mutate(space, Population.from_expressions([parent] * 300), Mutation.NUMBER, seed=1)
    found: collections.Counter[float | None] = collections.Counter()
    for child in children:
        new = tuple((i, None) for i in child.ids)
        found[None if child == parent else value_of(new[2:], library).pop()] += 1
    assert set(found) == numbers | {None}
    assert all(45 < found[number] < 110 for number in numbers)  # each is drawn 75 times of 300


def test_twice_puts_a_sum_or_product_of_a_subtree_with_itself_in_its_place() -> None:
    names: collections.Counter[str] = collections.Counter()
    places: collections.Counter[bool] = collections.Counter()
    for old, new in mutated(Mutation.TWICE, parents()):
        readings = [
            begin
            for begin in range(len(old))
            if new
            == old[:begin]
            + new[begin : begin + 1]
            + 2 * old[begin : subtree_end(old, begin)]
            + old[subtree_end(old, begin) :]
        ]
        assert readings
        names[LIBRARY[new[readings[0]][0]].name] += 1
        places[readings[0] == 0] += 1
    assert set(names) == {"add", "mul"}
    assert all(150 < count < 250 for count in names.values())
    assert places[True] > 10
    assert places[False] > 100


def test_twice_is_f_plus_f_or_f_times_f_in_values_too() -> None:
    row = Expression.parse("sin(x1)", KOZA)
    space = SearchSpace(KOZA, 1, 30, constraints=())
    children = mutate(space, Population.from_expressions([row] * 100), Mutation.TWICE, seed=1)
    assert {str(child) for child in children} == {
        "sin(x1) + sin(x1)",
        "sin(x1) * sin(x1)",
        "sin(x1 + x1)",
        "sin(x1 * x1)",
    }


def test_twice_without_a_sum_or_a_product_leaves_the_parent_as_it_was() -> None:
    library = Library.of(["sub", "div", "sin"], 2)
    space = SearchSpace(library, 1, 30, constraints=())
    population = space.sample(50, seed=0)
    children = mutate(space, population, Mutation.TWICE, seed=1)
    assert list(children) == list(population)


def test_a_mutation_draws_every_place_equally_often() -> None:
    library = Library.of(["add", "sin", "cos", "exp"], 2)
    row = Expression.parse_prefix("add sin x1 cos exp x2", library)
    population = Population.from_expressions([row] * 3000)
    space = SearchSpace(library, 1, 50, constraints=())
    shrunk = collections.Counter(child.ids for child in mutate(space, population, Mutation.SHRINK, seed=1))
    assert len(shrunk) == 3  # one of sin, cos, exp is taken out
    assert all(850 < count < 1150 for count in shrunk.values())
    point = mutate(space, population, Mutation.POINT, seed=1)
    places = collections.Counter(
        i for child in point for i, (new, old) in enumerate(zip(child.ids, row.ids, strict=True)) if new != old
    )
    assert set(places) == {1, 2, 3, 4, 5}
    # Each place is drawn 600 times; 2 of 3 unary operators and 1 of 2 terminals are other ones.
    assert all(350 < places[i] * (1.0 if i in (1, 3, 4) else 4 / 3) < 450 for i in places)


def test_arguments_are_chosen_equally_often() -> None:
    """An insertion puts the old subtree on either side, and a shrink keeps either side."""
    library = Library.of(["add", "sin"], 3)
    space = SearchSpace(library, 1, 9, constraints=())
    one = Population.from_expressions([Expression.parse("x1", library)] * 3000)
    inserted = collections.Counter(child.prefix for child in mutate(space, one, Mutation.INSERT, seed=1))
    assert set(inserted) == {"sin x1", "add x1 x1", "add x1 x2", "add x1 x3", "add x2 x1", "add x3 x1"}
    assert all(190 < inserted[prefix] < 310 for prefix in ("add x1 x2", "add x1 x3", "add x2 x1", "add x3 x1"))
    two = Population.from_expressions([Expression.parse("sin(x1 + x2)", library)] * 3000)
    shrunk = collections.Counter(child.prefix for child in mutate(space, two, Mutation.SHRINK, seed=1))
    assert set(shrunk) == {"sin x1", "sin x2"}
    assert all(1350 < count < 1650 for count in shrunk.values())


def test_a_library_without_operators_is_mutated_among_its_terminals() -> None:
    library = Library.of(["const", 1.0], 3)
    space = SearchSpace(library, 1, 5, constraints=())
    population = space.sample(100, seed=0)
    for mutation in Mutation:
        children = mutate(space, population, mutation, seed=0)
        assert (children.lengths == 1).all()
        if mutation is Mutation.SUBTREE:
            assert not reference.same_bits(children.tokens[:, :1], population.tokens[:, :1])


# --- Constraints and retries -----------------------------------------------------------------------------------------


def share_changed(before: Population, after: Population) -> float:
    return float(np.mean([pairs(before, i) != pairs(after, i) for i in range(len(before))]))


OPERATIONS: list[Callable[[SearchSpace, Population, VariationSettings], Population]] = [
    lambda space, population, how: crossover(space, population, how, seed=4),
    *(
        lambda space, population, how, mutation=mutation: mutate(space, population, mutation, how, seed=4)
        for mutation in Mutation
    ),
    lambda space, population, how: (
        next_generation(space, population, np.zeros(len(population)), how, seed=4).population
    ),
]


@pytest.mark.parametrize("operation", OPERATIONS, ids=["crossover", *(m.name for m in Mutation), "generation"])
def test_a_space_in_which_every_child_violates_gives_copies_of_the_parents(
    operation: Callable[[SearchSpace, Population, VariationSettings], Population],
) -> None:
    """Of all rows of four tokens only `x1 + sin(x2)` is allowed, so there is nothing that it could become."""
    library = Library.of(["add", "sin"], 2)
    constraints = (
        Relational(Relationship.LEFT_CHILD, ("x2", "sin"), ("add",)),
        Relational(Relationship.CHILD, ("add", "sin", "x1"), ("sin",)),
    )
    space = SearchSpace(library, 4, 4, constraints=constraints)
    rows = itertools.product(range(4), repeat=4)
    only = [row for row in rows if reference.accepts(library, 4, 4, constraints, row)]
    population = Population.from_expressions([Expression.parse("x1 + sin(x2)", library)] * 50)
    assert only == [population[0].ids]
    children = operation(space, population, VariationSettings(crossover=1.0, mutation=1.0, retries=2))
    assert reference.same_bits(children.tokens, population.tokens)
    assert reference.same_bits(children.constants, population.constants)


@pytest.mark.parametrize("mutation", Mutation)
def test_a_child_that_may_not_be_is_a_copy_of_its_parent(mutation: Mutation) -> None:
    population = parents(200)
    children = mutate(FREE, population, mutation, seed=9)
    narrow = SearchSpace(LIBRARY, 1, 200, constraints=(Repeat(("sin", "x2"), 2),))
    held = mutate(narrow, population, mutation, seed=9)
    verdict = narrow.violations(children) == -1
    assert 20 < verdict.sum() < 200
    for i in range(200):
        assert pairs(held, i) == pairs(children if verdict[i] else population, i)


def test_a_crossed_child_that_may_not_be_is_a_copy_of_its_own_parent() -> None:
    population = parents(400)
    children = crossover(FREE, population, seed=9)
    narrow = SearchSpace(LIBRARY, 1, 200, constraints=(Repeat(("sin", "x2"), 2),))
    held = crossover(narrow, population, seed=9)
    verdict = narrow.violations(children) == -1
    assert 50 < verdict.sum() < 400
    for i in range(400):
        assert pairs(held, i) == pairs(children if verdict[i] else population, i)


def test_a_crossed_child_that_may_not_be_is_a_random_one_of_both_parents_if_that_is_asked_for() -> None:
    population = parents(800)
    children = crossover(FREE, population, seed=9)
    narrow = SearchSpace(LIBRARY, 1, 200, constraints=(Repeat(("sin", "x2"), 2),))
    held = crossover(narrow, population, VariationSettings(any_parent=True), seed=9)
    verdict = narrow.violations(children) == -1
    swapped = collections.Counter[tuple[int, bool]]()
    for i in range(0, 800, 2):
        own = [pairs(population, i), pairs(population, i + 1)]
        got = [pairs(held, i), pairs(held, i + 1)]
        assert all(got[k] == pairs(children, i + k) for k in (0, 1) if verdict[i + k])
        undone = [k for k in (0, 1) if not verdict[i + k]]
        if undone and own[0] != own[1]:
            others = [own[1 - k] for k in undone]
            assert [got[k] for k in undone] in ([own[k] for k in undone], others)  # never one parent twice
            swapped[len(undone), [got[k] for k in undone] == others] += 1
    for count in (1, 2):
        total = swapped[count, True] + swapped[count, False]
        assert total > 30
        assert abs(swapped[count, True] - total / 2) < 4.0 * (total / 4) ** 0.5


@pytest.mark.parametrize("operation", OPERATIONS, ids=["crossover", *(m.name for m in Mutation), "generation"])
def test_retries_raise_the_share_of_new_rows(
    operation: Callable[[SearchSpace, Population, VariationSettings], Population],
) -> None:
    population = STRICT.sample(1000, seed=3)
    known = {pairs(population, i) for i in range(1000)}
    shares = []
    for retries in (0, 1, 20):
        children = operation(STRICT, population, VariationSettings(retries=retries))
        shares.append(np.mean([pairs(children, i) not in known for i in range(1000)]))
    assert shares[0] < shares[1] < shares[2]


def test_parents_longer_than_the_space_allows_do_no_harm() -> None:
    population = parents(100, max_length=60)
    small = SearchSpace(LIBRARY, 1, 10)
    for operation in OPERATIONS:
        children = operation(small, population, VariationSettings(crossover=1.0, mutation=1.0))
        Population.of(LIBRARY, children.tokens, children.lengths, children.constants)
        legal = small.violations(children) == -1
        known = {pairs(population, i) for i in range(100)}
        assert all(legal[i] or pairs(children, i) in known for i in range(100))
        assert legal.sum() > 0


# --- Whole generations -----------------------------------------------------------------------------------------------


def generations(
    count: int = 20, size: int = 1000, *, space: SearchSpace | None = None, settings: VariationSettings | None = None
) -> tuple[npt.NDArray[np.bool_], list[float]]:
    """Return what was touched, and the share of new rows in each of several generations of the same parents."""
    chosen = space or SearchSpace(KOZA)
    drawn = chosen.sample(3 * size, seed=1)
    _, first = np.unique(drawn.fingerprints[:, 0], return_index=True)
    population = drawn.take(np.sort(first)[:size])
    known = {row.tobytes() for row in population.fingerprints}
    assert len(known) == size
    reward = np.random.default_rng(0).random(size)
    touched, shares = [], []
    for step in range(count):
        varied = next_generation(chosen, population, reward, settings, seed=1, step=step)
        touched.append(varied.touched)
        shares.append(float(np.mean([row.tobytes() not in known for row in varied.population.fingerprints])))
        untouched = varied.population.fingerprints[~varied.touched]
        np.testing.assert_array_equal(untouched, population.fingerprints[varied.parent[~varied.touched]])
    return np.concatenate(touched), shares


@pytest.mark.parametrize(
    ("soft", "retries", "mean"),
    [
        (
            False,
            0,
            0.44,
        ),  # The paper's: at most 30 tokens, which most untrained samples have; many children are undone.
        (False, 3, 0.59),
        (True, 0, 0.60),  # Of the authors' code: at most 100 tokens, and the soft length prior.
        (True, 3, 0.68),
    ],
)
def test_evolution_moves(soft: bool, retries: int, mean: float) -> None:
    """From distinct parents, a stated share of one generation is new; 0.75 would be if nothing were undone."""
    space = SearchSpace(KOZA, max_length=100, soft_length=SoftLength()) if soft else SearchSpace(KOZA)
    _, shares = generations(space=space, settings=VariationSettings(retries=retries))
    assert np.mean(shares) == pytest.approx(mean, abs=0.03)
    assert min(shares) >= (0.35 if (soft, retries) == (False, 0) else 0.5)


def test_three_quarters_of_a_generation_are_touched() -> None:
    touched, _ = generations()
    # 1 - 0.5 * 0.5; pairs cross together, so the variance is a little more than that of single draws.
    assert touched.mean() == pytest.approx(0.75, abs=4.0 * 1.3 * np.sqrt(0.75 * 0.25 / len(touched)))


@pytest.mark.parametrize(
    ("cross", "mutation", "expected"), [(0.0, 0.0, 0.0), (1.0, 0.0, 1.0), (0.0, 1.0, 1.0), (0.3, 0.2, 0.44)]
)
def test_the_share_touched_follows_from_the_two_probabilities(cross: float, mutation: float, expected: float) -> None:
    touched, shares = generations(5, settings=VariationSettings(crossover=cross, mutation=mutation))
    assert touched.mean() == pytest.approx(expected, abs=0.04)
    if expected == 0.0:
        assert shares == [0.0] * 5


@pytest.mark.parametrize("mutation", Mutation)
def test_weights_choose_the_mutations(mutation: Mutation) -> None:
    weights = tuple(float(other is mutation) for other in Mutation)
    how = VariationSettings(crossover=0.0, mutation=1.0, weights=weights)
    population = parents()
    varied = next_generation(FREE, population, np.zeros(len(population)), how, seed=1)
    change = varied.population.lengths - population.lengths[varied.parent]
    if mutation is Mutation.POINT:
        assert (change == 0).all()
    if mutation is Mutation.INSERT:
        assert set(change.tolist()) == {1, 2}
    if mutation is Mutation.SHRINK:
        assert change.max() == 0
        assert change.min() < 0
    if mutation is Mutation.SUBTREE:
        assert change.min() < -2
        assert change.max() > 2
    if mutation is Mutation.NUMBER:
        assert set(change.tolist()) == {2, 4, 6, 8}  # an operator, and a number of 1, 3, 5 or 7 tokens
    if mutation is Mutation.TWICE:
        assert change.min() == 2
        assert change.max() > 8


def test_the_papers_four_mutations_are_the_default() -> None:
    assert VariationSettings().weights == (1.0, 1.0, 1.0, 1.0, 0.0, 0.0)
    assert [mutation.name for mutation in Mutation] == ["SUBTREE", "POINT", "INSERT", "SHRINK", "NUMBER", "TWICE"]
    # Of a lone x1 the four make at most a tree of three tokens, unless it is new; the other two make more.
    one = Population.from_expressions([Expression.parse("x1", KOZA)] * 2000)
    space = SearchSpace(KOZA, 1, 30, constraints=())
    how = VariationSettings(crossover=0.0, mutation=1.0, new_depth=0)
    lengths = next_generation(space, one, np.zeros(2000), how, seed=1).population.lengths
    assert set(lengths.tolist()) == {1, 2, 3}


def test_mutations_are_drawn_in_proportion_to_their_weights() -> None:
    """Insertions lengthen rows by 1 or 2 and point mutations do not, so that the two can be told apart."""
    how = VariationSettings(crossover=0.0, mutation=1.0, weights=(0.0, 3.0, 1.0, 0.0, 0.0, 0.0))
    population = parents(2000)
    varied = next_generation(FREE, population, np.zeros(2000), how, seed=1)
    change = varied.population.lengths - population.lengths[varied.parent]
    assert np.mean(change > 0) == pytest.approx(0.25, abs=0.04)


def test_better_rows_have_more_children() -> None:
    population = parents(100)
    reward = np.arange(100.0)
    counts = np.zeros(100)
    for step in range(100):
        varied = next_generation(FREE, population, reward, seed=0, step=step)
        counts += np.bincount(varied.parent, minlength=100)
    ranks = np.arange(100)
    probability = ((ranks + 1) / 100) ** 5 - (ranks / 100) ** 5
    np.testing.assert_allclose(counts[50:] / counts.sum(), probability[50:], atol=0.006)
    assert counts[:30].sum() / counts.sum() < 0.006


@pytest.mark.parametrize("space", [FREE, SearchSpace(KOZA)])
def test_children_do_not_depend_on_the_number_of_threads(space: SearchSpace) -> None:
    rows = space.sample(3001, seed=4)  # some parts of pairs, the last without a partner
    reward = np.random.default_rng(0).random(len(rows))
    one, *others = (next_generation(space, rows, reward, seed=1, step=2, threads=count) for count in (1, 2, 3, 100))
    for other in others:
        for name in ("tokens", "lengths", "constants"):
            assert reference.same_bits(getattr(other.population, name), getattr(one.population, name))
        np.testing.assert_array_equal(other.parent, one.parent)
        np.testing.assert_array_equal(other.done, one.done)


def test_an_odd_row_out_is_only_mutated() -> None:
    population = parents(5)
    varied = next_generation(FREE, population, np.zeros(5), VariationSettings(crossover=1.0, mutation=0.0), seed=0)
    assert varied.touched.tolist() == [True] * 4 + [False]
    assert pairs(varied.population, 4) == pairs(population, int(varied.parent[4]))
    alone = next_generation(FREE, population.take([0]), np.zeros(1), VariationSettings(mutation=1.0), seed=0)
    assert len(alone.population) == 1
    assert alone.touched.all()


def test_constants_travel_with_their_tokens_through_a_generation() -> None:
    population = parents(600)
    reward = np.random.default_rng(0).random(600)
    varied = next_generation(FREE, population, reward, seed=3)
    known = set(population.constants[~np.isnan(population.constants)].tolist())
    is_constant = np.append(LIBRARY.is_constant, False)
    holds = is_constant[np.minimum(varied.population.tokens, len(LIBRARY))]
    np.testing.assert_array_equal(np.isnan(varied.population.constants), ~holds)
    values = varied.population.constants[holds].tolist()
    assert set(values) <= known | {1.0}
    assert values.count(1.0) > 10
    assert sum(value in known for value in values) > 200


def test_the_same_seed_makes_the_same_children_and_another_seed_or_step_others() -> None:
    population = parents(200)
    reward = np.random.default_rng(0).random(200)

    def children(seed: int, step: int) -> list[Population]:
        return [
            crossover(FREE, population, seed=seed, step=step),
            *(mutate(FREE, population, mutation, seed=seed, step=step) for mutation in Mutation),
            next_generation(FREE, population, reward, seed=seed, step=step).population,
        ]

    base = children(1, 2)
    for again, first in zip(children(1, 2), base, strict=True):
        assert reference.same_bits(again.tokens, first.tokens)
        assert reference.same_bits(again.constants, first.constants)
    for seed, step in ((1, 3), (2, 2), (2, 1)):
        for other, first in zip(children(seed, step), base, strict=True):
            assert share_changed(first, other) > 0.3
    assert not np.array_equal(tournament(reward, 200, 2, seed=1), tournament(reward, 200, 2, seed=2))
    assert not np.array_equal(tournament(reward, 200, 2, seed=1), tournament(reward, 200, 2, seed=1, step=1))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**64 - 1), step=st.integers(0, 2**64 - 1), max_length=st.integers(1, 40))
def test_any_seed_and_any_population_give_sound_children(seed: int, step: int, max_length: int) -> None:
    library = Library.of([*OPERATORS, 3.0, "const"], 1)
    space = SearchSpace(library, 1, max_length)
    population = random_population(np.random.default_rng(seed % 1000), library, 40, max_length)
    legal = population.take(space.violations(population) == -1)
    if len(legal) == 0:
        return
    varied = next_generation(space, legal, np.zeros(len(legal)), VariationSettings(retries=1), seed=seed, step=step)
    for expression in varied.population:
        assert reference.accepts(library, 1, max_length, space.constraints, expression.ids)
        for token, value in zip(expression.tokens, expression.constants, strict=True):
            assert np.isfinite(value) == (token.kind is TokenKind.CONSTANT)


def test_parents_are_left_alone() -> None:
    population = parents(100)
    arrays: tuple[npt.NDArray[Any], ...] = (population.tokens, population.lengths, population.constants)
    before = [array.copy() for array in arrays]
    for operation in OPERATIONS:
        operation(FREE, population, VariationSettings(crossover=1.0, mutation=1.0))
    for array, copy in zip(arrays, before, strict=True):
        assert reference.same_bits(array, copy)


@pytest.mark.parametrize(
    "values",
    [
        {"crossover": -0.1},
        {"mutation": 1.1},
        {"mutation": float("nan")},
        {"tournament": -1},
        {"new_depth": 17},
        {"new_depth": -1},
        {"retries": -1},
        {"weights": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)},
        {"weights": (1.0, 1.0, 1.0, 1.0)},
        {"weights": (1.0, 1.0, 1.0, 1.0, 1.0, -1.0)},
        {"weights": (1.0, float("nan"), 1.0, 1.0, 0.0, 0.0)},
        {"weights": (1.0, float("inf"), 1.0, 1.0, 0.0, 0.0)},
    ],
)
def test_settings_out_of_range_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=r"but (it is|they are) "):
        VariationSettings(**values)  # type: ignore[arg-type]


def test_another_library_and_a_wrong_number_of_rewards_are_refused() -> None:
    other = SearchSpace(Library.of(["add"], 1))
    population = parents(4)
    for operation in OPERATIONS:
        with pytest.raises(SettingsError, match="must share one library"):
            operation(other, population, VariationSettings())
    for reward in (np.zeros(3), np.zeros((4, 1)), np.zeros(0)):
        with pytest.raises(DataError, match="one value for each of the 4 rows"):
            next_generation(FREE, population, reward, seed=0)
