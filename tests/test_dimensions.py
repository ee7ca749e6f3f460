"""Dimensions as a rule of the walker, against the dimension of a tree by recursion."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from reference import accepts
from symseed import Budget, Dataset, Library, Population, SearchSpace, SettingsError, SpaceError, methods, search
from symseed.constraints import PAPER, Constraint, Dimensions, NeedsInput, Relational, Relationship, Repeat
from symseed.policy import LSTMPolicy
from symseed.regression import RegressionTask
from symseed.tokens import OPERATORS
from symseed.units import Dimension
from symseed.variation import Mutation, VariationSettings, crossover, mutate, next_generation

MOTION = {"x": "m", "t": "s"}
WHOLE = Library.of([*OPERATORS, 1.0, "const"], ["x", "t", "v", "m", "a"])
WHOLE_UNITS = {"x": "m", "t": "s", "v": "m/s", "m": "kg", "a": "1"}
LAWS: dict[str, tuple[tuple[list[str | float], list[str]], dict[str, str], str]] = {
    "speed": ((["add", "mul", "div", "sin"], ["x", "t"]), MOTION, "m/s"),
    "root": ((["add", "mul", "sqrt", "square"], ["x", "t"]), MOTION, "m^(1/2)*s"),
    "inverse": ((["sub", "inv", "exp", 2.0], ["x", "t"]), MOTION, "1/s"),
    "pure": ((["div", "max", "pow", "cube"], ["x", "t"]), MOTION, "1"),
    "constant": ((["div", "add", "log", "const"], ["x", "t"]), MOTION, "kg*m"),
    "dear": ((["mul", "div", "neg", "const"], ["x", "t"]), {"x": "[USD]", "t": "s"}, "[USD]/s"),
}


def of(library: Library, units: dict[str, str], target: str, *, free: bool = True) -> Dimensions:
    names = [variable.name for variable in library.variables]
    return Dimensions.of(names, {name: units[name] for name in names}, target, constants_are_free=free)


def all_rows(library: Library, longest: int) -> list[tuple[int, ...]]:
    return [
        ids
        for length in range(1, longest + 1)
        for ids in itertools.product(range(len(library)), repeat=length)
        if reference.is_complete(library, ids)
    ]


def as_population(library: Library, rows: Sequence[Sequence[int]]) -> Population:
    tokens = np.full((len(rows), max(map(len, rows))), library.pad)
    for i, row in enumerate(rows):
        tokens[i, : len(row)] = row
    return Population.of(library, tokens, [len(row) for row in rows])


def reachable(space: SearchSpace) -> set[tuple[int, ...]]:
    """Every complete expression to which the masks lead."""
    found: set[tuple[int, ...]] = set()
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        prefix = waiting.pop()
        if reference.is_complete(space.library, prefix):
            found.add(prefix)
        else:
            waiting += [(*prefix, int(token)) for token in np.flatnonzero(space.allowed(prefix))]
    return found


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("name", LAWS)
def test_what_is_allowed_is_exactly_what_has_the_targets_dimension(name: str, free: bool) -> None:
    (operators, variables), units, target = LAWS[name]
    library = Library.of(operators, variables)
    constraint = of(library, units, target, free=free)
    rows = all_rows(library, 6)
    expected = {row for row in rows if accepts(library, 1, 6, [constraint], row)}
    if name == "constant" and not free:
        assert not expected
        return
    space = SearchSpace(library, 1, 6, constraints=(constraint,))
    judged = space.violations(as_population(library, rows)) == -1
    assert {row for row, is_legal in zip(rows, judged, strict=True) if is_legal} == expected
    assert reachable(space) == expected
    assert 0 < len(expected) < len(rows)


def test_no_token_is_forbidden_with_which_a_legal_row_begins() -> None:
    library = Library.of(["add", "mul", "div", "sqrt", "sin"], ["x", "t"])
    constraint = of(library, MOTION, "m/s")
    rows = all_rows(library, 6)
    space = SearchSpace(library, 2, 6, constraints=(*PAPER, constraint))
    legal = [row for row in rows if accepts(library, 2, 6, space.constraints, row)]
    beginnings = {row[:length] for row in legal for length in range(len(row) + 1)}
    for row, position in zip(rows, space.violations(as_population(library, rows)), strict=True):
        assert position == -1 or row[: position + 1] not in beginnings


@pytest.mark.parametrize(
    "others",
    [
        (Relational(Relationship.CHILD, ("mul",), ("mul", "div")),),
        (Relational(Relationship.DESCENDANT, ("div", "sqrt"), ("div",)), Repeat(("x",), 2)),
        (Relational(Relationship.SIBLING, ("x",), ("t", "x")),),
        (Relational(Relationship.LEFT_CHILD, ("x", "t"), ("mul", "div")),),
        (Relational(Relationship.UNIQUE_CHILD, ("t", "const"), ("mul", "sqrt", "add")), NeedsInput()),
        PAPER,
    ],
    ids=lambda others: others[0].describe(),
)
def test_dimensions_and_other_rules_do_not_get_into_each_others_way(others: tuple[Constraint, ...]) -> None:
    for constants, target in ((False, "m/s"), (False, "m^(1/2)/s"), (True, "m/s"), (True, "kg")):
        library = Library.of(["add", "mul", "div", "sqrt"], ["x", "t"], constants=constants)
        constraints = (*others, of(library, MOTION, target))
        rows = all_rows(library, 6)
        expected = [accepts(library, 1, 7, constraints, row) for row in rows]
        if target == "kg" or any(expected):
            space = SearchSpace(library, 1, 7, constraints=constraints)
            np.testing.assert_array_equal(space.violations(as_population(library, rows)) == -1, expected)


def random_units(rng: np.random.Generator) -> dict[str, str]:
    some = ["m", "s", "kg", "m/s", "1", "J/K", "m^(1/2)", "[USD]", "K"]
    return {variable.name: str(rng.choice(some)) for variable in WHOLE.variables}


def is_broken(space: SearchSpace, population: Population) -> list[bool]:
    return [
        not accepts(space.library, space.min_length, space.max_length, space.constraints, row.ids) for row in population
    ]


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32), free=st.booleans(), paper=st.booleans())
def test_walker_and_tree_agree_on_random_rows(seed: int, free: bool, paper: bool) -> None:
    """Rows drawn at random seldom have the target's dimension, so the target is what a row has.

    Without free constants, dimensions that take many tokens to make are out of reach, which short rows never are.
    """
    rng = np.random.default_rng(seed)
    units = random_units(rng)
    population = reference.random_population(rng, WHOLE, 40, 12 if free else 5)
    any_target = of(WHOLE, units, "1", free=free)
    found = [reference.dimension_of(any_target, reference.tree(WHOLE, row.ids)) for row in population]
    targets = sorted({one for one in found if isinstance(one, Dimension)}, key=str)
    for target in targets[:5]:
        constraint = Dimensions(any_target.variables, target, constants_are_free=free)
        space = SearchSpace(WHOLE, 1, 12, constraints=(*PAPER, constraint) if paper else (constraint,))
        np.testing.assert_array_equal(space.violations(population) != -1, is_broken(space, population))


SPACES = {
    "a force": (["m1", "m2", "r", "G", "v"], ["kg", "kg", "m", "m^3/kg/s^2", "m/s"], "N"),
    "a time": (["l", "g", "angle"], ["m", "m/s^2", "deg"], "s"),
    "a number": (["p", "q"], ["Pa", "kPa"], "1"),
}


def space_of(name: str, *, constants: bool, free: bool = True) -> SearchSpace:
    names, X_units, y_units = SPACES[name]
    operators: list[str | float] = ["add", "sub", "mul", "div", "sin", "exp", "log", "sqrt", "square", 1.0]
    library = Library.of(operators, names, constants=constants)
    constraint = Dimensions.of(names, X_units, y_units, constants_are_free=free)
    return SearchSpace(library, 4, 20, constraints=(*PAPER, constraint))


@pytest.mark.parametrize(("constants", "free"), [(False, True), (True, True), (True, False)])
@pytest.mark.parametrize("name", SPACES)
def test_what_is_drawn_and_what_evolution_makes_has_the_targets_dimension(
    name: str, constants: bool, free: bool
) -> None:
    space = space_of(name, constants=constants, free=free)
    drawn = space.sample(100, seed=1)
    trees = space.random_trees(100, seed=2)
    sampled = LSTMPolicy(space, seed=3).sample(100, seed=3, step=0)
    generations = [Population.concatenate([drawn, trees, sampled])]
    for step in range(3):
        reward = np.random.default_rng(step).random(len(generations[-1]))
        varied = VariationSettings(crossover=0.8, mutation=0.8, weights=(1.0,) * 6)
        generations.append(next_generation(space, generations[-1], reward, varied, seed=4, step=step).population)
    for population in generations:
        assert not any(is_broken(space, population))
        assert (space.violations(population) == -1).all()


@pytest.mark.parametrize("mutation", Mutation)
def test_most_mutations_find_a_legal_child_where_dimensions_are_kept(mutation: Mutation) -> None:
    """Undone children are copies of their parents. Blind changes would nearly all be undone."""
    space = space_of("a force", constants=True)
    parents = space.sample(300, seed=5)
    children = mutate(space, parents, mutation, VariationSettings(), seed=6)
    changed = (children.fingerprints != parents.fingerprints).any(axis=1)
    assert changed.mean() > 0.5


def test_crossover_finds_subtrees_of_the_same_dimension() -> None:
    space = space_of("a force", constants=False)
    parents = space.sample(400, seed=5)
    children = crossover(space, parents, VariationSettings(), seed=6)
    changed = (children.fingerprints != parents.fingerprints).any(axis=1)
    assert changed.mean() > 0.4
    assert not any(is_broken(space, children))


def test_walks_seldom_end_where_nothing_is_allowed() -> None:
    for name in ("a force", "a time"):
        for constants in (False, True):
            _, lengths = space_of(name, constants=constants).rules.sample(1000, 7, 0, 1)
            assert (lengths == 0).mean() < 0.1


def test_lengths_are_spread_as_without_dimensions() -> None:
    """Dimensions forbid most ends of an expression; walks must not all go on to the last token for that."""
    for constants in (False, True):
        lengths = space_of("a force", constants=constants).sample(1000, seed=8).lengths
        assert np.median(lengths) < 15


def test_a_target_that_no_product_of_powers_gives_is_refused_by_name() -> None:
    library = Library.of(["mul", "div", "sqrt"], ["m", "v"])
    constraint = of(library, {"m": "kg", "v": "m/s"}, "s")
    with pytest.raises(SpaceError, match=r"No formula over `m` \(kg\), `v` \(m/s\) .* dimension of `y` \(s\)"):
        SearchSpace(library, constraints=(constraint,))
    with_constants = Library.of(["mul", "div", "sqrt", "const"], ["m", "v"])
    assert SearchSpace(with_constants, constraints=(constraint,)).sample(1, seed=0)
    with pytest.raises(SpaceError, match="dimension of `t`"):
        Dimensions.of(["m", "v"], ["kg", "m/s"], "s", target_name="t", constants_are_free=False).rules(with_constants)


def test_a_target_that_the_operators_cannot_give_is_refused_with_what_forbids_what() -> None:
    library = Library.of(["add", "mul"], ["x", "t"])
    with pytest.raises(SpaceError, match=r"`y` \(m/s\) from `x` \(m\), `t` \(s\): x, t"):
        SearchSpace(library, 1, 9, constraints=(of(library, MOTION, "m/s"),))


@pytest.mark.parametrize(
    ("X_units", "sentence"),
    [
        (["m"], "a unit for each of the 2 variables"),
        ("ms", "a unit for each of the 2 variables"),
        ({"z": "m"}, "`z`, but the variables are x, t"),
        (["m", "parsnip"], "`parsnip`, in the unit 'parsnip' of `t`"),
    ],
)
def test_units_that_do_not_go_with_the_variables_are_refused(X_units: list[str], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        Dimensions.of(["x", "t"], X_units, "m")


def test_units_may_be_given_by_name_and_those_left_out_are_pure_numbers() -> None:
    given_all = Dimensions.of(["x", "a"], ["km", None], "m")
    assert Dimensions.of(["x", "a"], {"x": "m"}, (1, 0, 0, 0, 0, 0, 0)) == given_all


def test_a_space_has_one_set_of_dimensions_and_knows_all_variables() -> None:
    library = Library.of(["add"], ["x", "t"])
    constraint = of(library, MOTION, "m")
    with pytest.raises(SettingsError, match="at most one `Dimensions`, but 2"):
        SearchSpace(library, constraints=(constraint, constraint))
    with pytest.raises(SettingsError, match="dimension of `t` must be given"):
        SearchSpace(library, constraints=(Dimensions.of(["x"], ["m"], "m"),))


def test_a_law_is_found_with_units_that_is_not_found_without_them() -> None:
    """Lorentz's force, q (E + v B sin a), from 20 samples and at most 20,000 expressions."""
    names = ["q", "E", "B", "v", "a"]
    X = np.random.default_rng(0).uniform(1.0, 3.0, (20, 5))
    q, E, B, v, a = X.T
    data = Dataset.of(X, q * (E + v * B * np.sin(a)), names=names)
    library = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log", "sqrt", "square"], names)
    units = Dimensions.of(names, ["C", "V/m", "T", "m/s", "rad"], "N")
    found = {}
    for constraints in ((*PAPER, units), PAPER):
        space = SearchSpace(library, constraints=constraints)
        result = search.run(space, RegressionTask(library, data), seed=0, budget=Budget(20_000))
        found[len(constraints)] = result.is_solved
    assert found == {5: True, 4: False}


def test_everything_that_a_search_scores_has_the_targets_dimension() -> None:
    """Completion puts rows together from parts of others."""
    space = space_of("a force", constants=False)
    rng = np.random.default_rng(0)
    data = Dataset.of(rng.uniform(1.0, 3.0, (20, 5)), rng.normal(0.0, 1.0, 20), names=SPACES["a force"][0])
    scored: list[Population] = []
    steps = search.Search(
        space,
        RegressionTask(space.library, data),
        methods.get("nggp-complete").settings,
        budget=Budget(3_000),
        watch=lambda one: scored.append(one.population),
    )
    last = list(steps)[-1]
    rows = Population.concatenate(scored)
    assert len(rows) >= 3_000
    assert (space.violations(rows) == -1).all()
    assert not any(is_broken(space, rows.take(np.arange(0, len(rows), 7))))
    assert not any(is_broken(space, Population.from_expressions([last.best])))
