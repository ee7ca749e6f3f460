"""Dimensions as a rule of the walker, against the dimension of a tree by recursion."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from reference import accepts
from symseed import (
    Budget,
    Dataset,
    Library,
    Population,
    SearchSpace,
    SettingsError,
    SpaceError,
    SymbolicRegressor,
    methods,
    search,
)
from symseed.language import tokens
from symseed.language.tokens import OPERATORS
from symseed.scoring.regression import RegressionTask
from symseed.search.policy import LSTMPolicy
from symseed.search.variation import Mutation, VariationSettings, crossover, mutate, next_generation
from symseed.space.constraints import PAPER, Constraint, Dimensions, NeedsInput, Relational, Relationship, Repeat
from symseed.space.dimensions import NUMBER, Dimension

MOTION = {"x": "m", "t": "s"}
WHOLE = Library.of([*OPERATORS, 1.0, "const"], ["x", "t", "v", "m", "a"])
WHOLE_UNITS = {"x": "m", "t": "s", "v": "m/s", "m": "kg", "a": "1"}
LAWS: dict[str, tuple[tuple[list[str | float], list[str]], dict[str, str], str]] = {
    "speed": ((["add", "mul", "div", "sin"], ["x", "t"]), MOTION, "m/s"),
    "root": ((["add", "mul", "sqrt", "square"], ["x", "t"]), MOTION, "m^(1/2)*s"),
    "inverse": ((["sub", "inv", "exp", 2.0], ["x", "t"]), MOTION, "1/s"),
    "pure": ((["div", "max", "pow", "cube"], ["x", "t"]), MOTION, "1"),
    "constant": ((["div", "add", "log", "const"], ["x", "t"]), MOTION, "kg*m"),
    "angle": ((["atan2", "mul", "sign", "cbrt"], ["x", "t"]), MOTION, "1"),
    "choice": ((["greater", "cond", "hypot", "mul"], ["x", "t"]), MOTION, "m"),
    "default": ((["step", "unless", "mod", "const"], ["x", "t"]), MOTION, "m"),
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
        watch=lambda one, _part: scored.append(one.population),
    )
    last = list(steps)[-1]
    rows = Population.concatenate(scored)
    assert len(rows) >= 3_000
    assert (space.violations(rows) == -1).all()
    assert not any(is_broken(space, rows.take(np.arange(0, len(rows), 7))))
    assert not any(is_broken(space, Population.from_expressions([last.best])))


# --- Functions of the user's own --------------------------------------------------------------------------------------


def bump(x: Any) -> Any:
    return np.exp(-x * x)


def leaky(x: Any) -> Any:
    """One that only Python knows: of a length it would be one, but nobody can tell."""
    return np.where(x > 0.0, x, 0.1 * x)


OWN: dict[str, Callable[..., Any]] = {
    "bump": bump,
    "leaky": leaky,
    "shifted": lambda x: x + 1.0,
    "unity": lambda x: x / x,
    "doubled": lambda x: 2.0 * x,
    "kepler": lambda x: x * np.sqrt(x),
    "hypotenuse": lambda a, b: np.sqrt(a * a + b * b),
    "reduced": lambda a, b: a * b / (a + b),
    "work": lambda a, b: 0.5 * a * b,
    "fall": lambda a, b: -a / b,
    "damped": lambda a, b: a / np.sqrt(1.0 + b**2),
    "spring": lambda a, b: a * b**2,
    "excess": lambda a, b: np.where(a > b, a - b, 0.0),
}
RULES = {
    "pure": ("bump", "leaky", "shifted", "unity", "damped", "spring", "excess"),
    "power": ("doubled", "kepler"),
    "alike": ("hypotenuse", "reduced"),
    "product": ("work",),
    "quotient": ("fall",),
}


@pytest.mark.parametrize(("rule", "name"), [(rule, name) for rule, names in RULES.items() for name in names])
def test_a_function_of_ones_own_has_the_dimensions_of_its_expansion_or_is_of_pure_numbers(rule: str, name: str) -> None:
    """All rows over it, and a few operators, against the twin; and that the twin's rule is the one named here."""
    own = tokens.custom(OWN[name], name=name)
    library = Library.of(["div" if own.arity == 2 else "mul", own, 1.0], ["x", "t"])
    rows = all_rows(library, 6)
    length, time = (Dimension.of({base: Fraction(1)}) for base in "ms")
    has_any = Dimensions.of(["x", "t"], ["m", "s"], "m")
    ids = [library.tokens.index(own), *range(own.arity)]
    found = reference.dimension_of(has_any, reference.tree(library, ids))
    alike = reference.dimension_of(has_any, reference.tree(library, [ids[0]] + [0] * own.arity))
    assert (found, alike) == {
        "pure": (None, None),
        "power": (length ** Fraction(1 if name == "doubled" else Fraction(3, 2)),) * 2,
        "alike": (None, length),
        "product": (length * time, length * length),
        "quotient": (length / time, NUMBER),
    }[rule]
    counts = []
    for target in ("m", "s", "1", "m*s", "m/s", "m^(3/2)"):
        constraint = of(library, MOTION, target)
        expected = [accepts(library, 1, 6, [constraint], row) for row in rows]
        if any(expected):
            space = SearchSpace(library, 1, 6, constraints=(constraint,))
            np.testing.assert_array_equal(space.violations(as_population(library, rows)) == -1, expected)
            assert reachable(space) == {row for row, is_legal in zip(rows, expected, strict=True) if is_legal}
            counts.append(sum(ids[0] in row for row, is_legal in zip(rows, expected, strict=True) if is_legal))
    assert sum(counts) > 0


@pytest.mark.parametrize("name", [name for name in OWN if name not in ("leaky", "excess")])
def test_no_function_of_ones_own_is_used_where_its_expansion_makes_no_sense(name: str) -> None:
    own = tokens.custom(OWN[name], name=name)
    assert own.expansion is not None
    units = {"x": "m", "t": "s", "v": "m/s", "a": "1"}
    library = Library.of([own], list(units))
    allowed = 0
    for target in units.values():
        constraint = of(library, units, target)
        space = SearchSpace(library, 1, 3, constraints=(constraint,))
        for chosen in itertools.product(constraint.variables, repeat=own.arity):
            ids = [library.ids([one])[0] for one in (name, *(variable for variable, _ in chosen))]
            if space.violations(as_population(library, [ids])) == [-1]:
                found = reference.expansion_dimension(own.expansion, *(dimension for _, dimension in chosen))
                assert found == constraint.target
                allowed += 1
    assert allowed > 0


@pytest.mark.parametrize("function", [bump, leaky])
@pytest.mark.parametrize("free", [True, False])
def test_functions_of_ones_own_are_drawn_and_varied_with_units(function: Callable[[Any], Any], free: bool) -> None:
    reduced = tokens.custom(OWN["reduced"], name="reduced")
    library = Library.of(["add", "mul", "div", "sqrt", function, reduced, "const"], ["x", "t"])
    space = SearchSpace(library, 1, 15, constraints=(*PAPER, of(library, MOTION, "m/s", free=free)))
    population = space.sample(300, seed=0)
    for step in range(3):
        reward = np.random.default_rng(step).random(len(population))
        varied = VariationSettings(crossover=0.8, mutation=0.8, weights=(1.0,) * 6)
        population = next_generation(space, population, reward, varied, seed=1, step=step).population
        assert not any(is_broken(space, population))
        assert (space.violations(population) == -1).all()
    for name in (function.__name__, "reduced"):
        assert (population.tokens == [token.name for token in library.tokens].index(name)).any()


def test_a_fit_with_units_uses_functions_of_ones_own() -> None:
    """Two masses to one, and a function that takes pure numbers."""

    def reduced(a: Any, b: Any) -> Any:
        return a * b / (a + b)

    X = np.random.default_rng(0).uniform(0.5, 2.0, (40, 3))
    y = reduced(X[:, 0], X[:, 1]) * bump(X[:, 2])
    model = SymbolicRegressor(
        unary_operators=[bump], binary_operators=["+", "*", "/", reduced], max_evals=20_000, random_state=0
    )
    model.fit(X, y, X_units=["kg", "kg", None], y_units="kg")
    assert "bump(x3)" in str(model.best_)
    assert "reduced(" in str(model.best_)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-9)


def test_a_fit_with_units_and_a_function_ends_without_a_pure_number_to_give_it() -> None:
    X = np.random.default_rng(0).uniform(0.5, 2.0, (40, 2))
    model = SymbolicRegressor(unary_operators=[bump], max_evals=5_000, random_state=0)
    model.fit(X, X[:, 0] / X[:, 1], X_units=["m", "s"], y_units="m/s")
    assert str(model.best_) == "x1/x2"
