"""What a search space allows, against a check of the tree that knows nothing of masks; and how its priors sample."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import reference
from reference import accepts, random_population
from symseed import Expression, Library, Population, SearchSpace, SettingsError, SpaceError
from symseed.language.row import Row
from symseed.language.tokens import OPERATORS
from symseed.space.constraints import (
    PAPER,
    ArgumentSizes,
    Constraint,
    NeedsInput,
    Nesting,
    NoInverses,
    NoLoneConstants,
    NoNestedTrigonometry,
    Relational,
    Relationship,
    Repeat,
)
from symseed.space.priors import SoftLength, UniformArity

TINY = Library.of(["sin", "exp", "sub", "const"], 1)
"""x1, sin, exp, sub, const: 5 tokens, 2,874 expressions of up to 7 tokens."""
WHOLE = Library.of([*OPERATORS, 1.0, "const"], 2)
"""Every operator."""
WIDE = Library.of([*OPERATORS, *range(60), "const"], 80)
"""164 tokens: the core's sets of tokens span several machine words."""
LIBRARIES = {"tiny": TINY, "whole": WHOLE, "wide": WIDE}

CONSTRAINTS: dict[str, Constraint] = {
    "inverses": NoInverses(),
    "odd inverses": NoInverses((("sin", "exp"), ("sub", "sub"))),
    "trigonometry": NoNestedTrigonometry(),
    "lone constants": NoLoneConstants(),
    "input": NeedsInput(),
    "at most one": Repeat(("const",), 1),
    "at most two together": Repeat(("sin", "exp", "cos"), 2),
    "none at all": Repeat(("exp",), 0),
    "child": Relational(Relationship.CHILD, ("exp", "x1"), ("sub",)),
    "child of itself": Relational(Relationship.CHILD, ("sub",), ("sub",)),
    "descendant": Relational(Relationship.DESCENDANT, ("exp", "const"), ("sin",)),
    "descendant of a binary": Relational(Relationship.DESCENDANT, ("sin",), ("sub", "exp")),
    "sibling": Relational(Relationship.SIBLING, ("const",), ("const", "exp")),
    "sibling of a terminal": Relational(Relationship.SIBLING, ("sin",), ("x1",)),
    "left child": Relational(Relationship.LEFT_CHILD, ("const", "sub"), ("sub", "sin")),
    "right child": Relational(Relationship.RIGHT_CHILD, ("x1",), ("sub", "sin")),
    "unique child": Relational(Relationship.UNIQUE_CHILD, ("x1", "exp"), ("sub", "sin")),
    "small argument": ArgumentSizes("sin", (2,)),
    "small second argument": ArgumentSizes("sub", (-1, 1)),
    "small arguments": ArgumentSizes("sub", (3, 2)),
    "never nested": Nesting("sin", "exp", 0),
    "nested in itself once": Nesting("exp", "exp", 1),
    "nested in a binary once": Nesting("sub", "sin", 1),
}
BOUNDS = [(1, 7), (4, 6), (5, 5), (1, 1), (3, 4)]


def all_expressions(library: Library, max_length: int) -> list[tuple[int, ...]]:
    """Return every complete expression, by trying every sequence of tokens."""
    return [
        ids
        for length in range(1, max_length + 1)
        for ids in itertools.product(range(len(library)), repeat=length)
        if reference.is_complete(library, ids)
    ]


def as_population(library: Library, rows: Sequence[Sequence[int]]) -> Population:
    width = max(map(len, rows))
    tokens = np.full((len(rows), width), library.pad)
    for i, row in enumerate(rows):
        tokens[i, : len(row)] = row
    return Population.of(library, tokens, [len(row) for row in rows])


def space_of(library: Library, bounds: tuple[int, int], constraints: Sequence[Constraint]) -> SearchSpace | None:
    """Return the space, or None where it is empty."""
    try:
        return SearchSpace(library, *bounds, constraints=tuple(constraints))
    except SpaceError:
        return None


def reachable(space: SearchSpace) -> Iterator[tuple[int, ...]]:
    """Give every complete expression to which the masks lead, from the empty beginning on."""
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        prefix = waiting.pop()
        if reference.is_complete(space.library, prefix):
            yield prefix
        else:
            waiting += [(*prefix, int(token)) for token in np.flatnonzero(space.allowed(prefix))]


def combinations() -> list[tuple[str, ...]]:
    """Return no constraint, each alone, and some at random together."""
    rng = np.random.default_rng(0)
    names = list(CONSTRAINTS)
    some = [tuple(rng.choice(names, size=rng.integers(2, 5), replace=False).tolist()) for _ in range(40)]
    return [(), *((name,) for name in names), *some]


def test_the_tiny_library_has_as_many_expressions_as_it_should() -> None:
    assert len(all_expressions(TINY, 7)) == 2 + 4 + 12 + 40 + 144 + 544 + 2128


@pytest.mark.parametrize("names", combinations(), ids="+".join)
def test_all_short_expressions_are_judged_alike_by_walker_tree_and_masks(names: tuple[str, ...]) -> None:
    constraints = [CONSTRAINTS[name] for name in names]
    rows = all_expressions(TINY, 7)
    bounds = BOUNDS if len(names) < 2 else BOUNDS[:2]
    for low, high in bounds:
        expected = {row for row in rows if accepts(TINY, low, high, constraints, row)}
        space = space_of(TINY, (low, high), constraints)
        if space is None:
            assert not expected
            continue
        judged = space.violations(as_population(TINY, rows)) == -1
        assert {row for row, legal in zip(rows, judged, strict=True) if legal} == expected
        assert set(reachable(space)) == expected
        assert len(expected) > 0


def test_constraints_differ_in_what_they_forbid() -> None:
    """No check of the twin is empty, and no two of them are the same by mistake."""
    rows = all_expressions(TINY, 7)
    forbidden = {
        name: frozenset(row for row in rows if not accepts(TINY, 1, 7, [constraint], row))
        for name, constraint in CONSTRAINTS.items()
    }
    assert [name for name, few in forbidden.items() if not few] == ["inverses"]  # TINY has no log
    assert len(set(forbidden.values())) == len(forbidden)


def random_constraints(rng: np.random.Generator, library: Library) -> list[Constraint]:
    """Draw constraints over any tokens of a library."""

    def some(candidates: list[str]) -> tuple[str, ...]:
        return tuple(rng.choice(candidates, size=rng.integers(1, 1 + min(5, len(candidates))), replace=False).tolist())

    names = [token.name for token in library.tokens]
    operators = [token.name for token in library.tokens if token.arity]
    drawn: list[Constraint] = []
    for _ in range(rng.integers(1, 4)):
        relationship = Relationship(int(rng.integers(0, 6)))
        effectors = some(names if relationship is Relationship.SIBLING else operators)
        drawn.append(Relational(relationship, some(names), effectors))
    if rng.random() < 0.5:
        drawn.append(Repeat(some(names), int(rng.integers(0, 4))))
    return drawn + [constraint for constraint in PAPER if rng.random() < 0.3]


def violations_of_the_twin(space: SearchSpace, population: Population) -> npt.NDArray[np.bool_]:
    return np.array(
        [
            not accepts(space.library, space.min_length, space.max_length, space.constraints, expression.ids)
            for expression in population
        ]
    )


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), name=st.sampled_from(sorted(LIBRARIES)))
def test_walker_and_tree_agree_on_random_rows_under_random_constraints(seed: int, name: str) -> None:
    rng, library = np.random.default_rng(seed), LIBRARIES[name]
    low = int(rng.integers(1, 8))
    space = space_of(library, (low, low + int(rng.integers(3, 30))), random_constraints(rng, library))
    if space is None:
        reject()
    population = random_population(rng, library, 150, 40)
    found = space.violations(population)
    expected = violations_of_the_twin(space, population)
    np.testing.assert_array_equal(found != -1, expected)
    assert np.all(found < population.lengths)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), name=st.sampled_from(sorted(LIBRARIES)))
def test_what_is_sampled_is_legal_and_each_of_its_beginnings_allows_the_next_token(seed: int, name: str) -> None:
    rng, library = np.random.default_rng(seed), LIBRARIES[name]
    space = space_of(library, (3, 20), random_constraints(rng, library))
    if space is None:
        reject()
    try:
        population = space.sample(30, seed=seed)
    except SpaceError:  # Constraints drawn at random may leave hardly any way through.
        reject()
    assert not violations_of_the_twin(space, population).any()
    assert (space.violations(population) == -1).all()
    for expression in itertools.islice(population, 5):
        for length in range(len(expression)):
            assert space.allowed(expression.ids[:length])[expression.ids[length]]


@pytest.mark.parametrize("names", combinations()[:-20], ids="+".join)
def test_walks_along_the_masks_end_in_legal_rows(names: tuple[str, ...]) -> None:
    constraints = [CONSTRAINTS[name] for name in names]
    space = space_of(WHOLE, (4, 18), constraints)
    assert space is not None
    rng = np.random.default_rng(1)
    ended = 0
    for _ in range(30):
        prefix: list[int] = []
        while not reference.is_complete(WHOLE, prefix):
            allowed = np.flatnonzero(space.allowed(prefix))
            if not len(allowed):
                break
            prefix.append(int(rng.choice(allowed)))
        else:
            ended += 1
            assert accepts(WHOLE, 4, 18, constraints, prefix)
            assert space.allows(Expression(WHOLE, Row(tuple(prefix), (1.0,) * len(prefix))))
    assert ended >= 20


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_the_position_of_a_violation_is_the_first_that_no_legal_row_shares(name: str) -> None:
    """A token is forbidden where no legal expression begins like that, for constraints that never lead astray."""
    constraints = [CONSTRAINTS[name]]
    space = space_of(TINY, (2, 6), constraints)
    assert space is not None
    rows = all_expressions(TINY, 6)
    legal = [row for row in rows if accepts(TINY, 2, 6, constraints, row)]
    beginnings = {row[:length] for row in legal for length in range(len(row) + 1)}
    for row, position in zip(rows, space.violations(as_population(TINY, rows)), strict=True):
        last_good = max(length for length in range(len(row) + 1) if row[:length] in beginnings)
        if position == -1:
            assert last_good == len(row)
        else:
            assert position >= last_good
            assert row[: position + 1] not in beginnings


def test_rows_that_are_no_expressions_violate_at_their_length() -> None:
    space = SearchSpace(TINY, 1, 10, constraints=())
    tokens = np.array(
        [[3, 0, 0, 0], [3, 0, 3, 0], [0, 0, 0, 0]], dtype=np.uint16
    )  # sub x1 x1 x1; sub x1 sub x1; x1 x1 ...
    found = space.rules.violations(tokens, np.array([4, 4, 2], dtype=np.int32))
    assert found.tolist() == [4, 4, 2]


@pytest.mark.parametrize("bounds", [(1, 1), (1, 2), (2, 2), (4, 9), (9, 9), (30, 30), (1, 200)])
def test_lengths_stay_within_their_bounds_and_reach_them(bounds: tuple[int, int]) -> None:
    population = SearchSpace(WHOLE, *bounds, constraints=()).sample(2000, seed=3)
    assert bounds[0] <= population.lengths.min()
    assert population.lengths.max() <= bounds[1]
    if bounds[1] <= 30:
        assert {*bounds} <= set(population.lengths.tolist())


def test_a_space_can_be_as_long_as_ids_allow() -> None:
    population = SearchSpace(Library.of(["neg"], 1), 32_767, 32_767, constraints=()).sample(2, seed=0)
    assert population.lengths.tolist() == [32_767, 32_767]


@pytest.mark.parametrize(
    ("operators", "variables", "bounds", "constraints", "words"),
    [
        (["add"], 1, (2, 2), (), ["length from 2 to 2"]),
        ([], 1, (4, 30), PAPER, ["length from 4 to 30", "after `the start`"]),
        (["sin", "const"], 0, (1, 9), (NeedsInput(),), ["at least one variable"]),
        (["add"], 1, (1, 9), (Repeat(("x1",), 0),), ["at most 0 of [x1]"]),
        (
            ["add"],
            1,
            (3, 9),
            (Relational(Relationship.SIBLING, ("x1",), ("x1", "add")), Repeat(("add",), 3)),
            ["[x1] never sibling of [x1, add]", "at most 3 of [add]", "length from 3 to 9"],
        ),
        (
            ["sin", "cos"],
            1,
            (4, 9),
            (NoNestedTrigonometry(), NoInverses()),
            ["no trigonometric operator below another", "no operator directly below its inverse", "after `sin`"],
        ),
        (
            ["neg", "const"],
            0,
            (2, 9),
            (NoLoneConstants(),),
            ["a constant is never an operator's only kind of argument"],
        ),
    ],
)
def test_an_empty_space_is_refused_with_a_table_of_what_forbids_what(
    operators: list[str], variables: int, bounds: tuple[int, int], constraints: tuple[Constraint, ...], words: list[str]
) -> None:
    library = Library.of(operators, variables)
    assert not any(
        accepts(library, *bounds, constraints, row) for row in all_expressions(library, min(bounds[1], 7))
    ), "The case is wrong: this space has an expression."
    with pytest.raises(SpaceError) as caught:
        SearchSpace(library, *bounds, constraints=constraints)
    for word in [*words, "admits no expression", "Loosen one of them"]:
        assert word in str(caught.value)


def test_a_space_is_not_called_empty_because_most_beginnings_lead_nowhere() -> None:
    """Below `sin` no variable may stand and one is needed, so nothing that begins with `sin` can end."""
    library = Library.of(["sin", "add", "const"], 1)
    below = Relational(Relationship.DESCENDANT, ("x1",), ("sin",))
    space = SearchSpace(library, 4, 30, constraints=(below, NeedsInput()))
    population = space.sample(100, seed=0)
    assert not violations_of_the_twin(space, population).any()
    assert {expression.tokens[0].name for expression in population} == {"add"}


@pytest.mark.parametrize(("low", "high"), [(0, 5), (5, 4), (-1, 3), (1, 32_768)])
def test_bounds_out_of_range_are_refused(low: int, high: int) -> None:
    with pytest.raises(SettingsError, match=f"but they are {low} and {high}"):
        SearchSpace(TINY, low, high)


@pytest.mark.parametrize(
    ("constraint", "sentence"),
    [
        (Repeat(("sine",), 1), "names `sine`, which is neither an operator nor a token"),
        (Relational(Relationship.CHILD, ("exp",), ("x1",)), "must be operators, but x1 take no arguments"),
    ],
)
def test_a_constraint_that_makes_no_sense_is_refused(constraint: Constraint, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        SearchSpace(TINY, constraints=(constraint,))


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(SettingsError, match="`most` must be at least 0, but it is -1"):
        Repeat(("x1",), -1)


def test_tokens_that_a_library_lacks_say_nothing() -> None:
    plain = SearchSpace(TINY, 1, 7, constraints=())
    for constraint in (NoInverses(), Repeat(("tan", "n2"), 0), Relational(Relationship.CHILD, ("log",), ("exp",))):
        space = SearchSpace(TINY, 1, 7, constraints=(constraint,))
        rows = as_population(TINY, all_expressions(TINY, 6))
        np.testing.assert_array_equal(space.violations(rows), plain.violations(rows))


def test_another_library_is_refused() -> None:
    space = SearchSpace(TINY, 1, 7)
    with pytest.raises(SettingsError, match="must share one library"):
        space.violations(SearchSpace(WHOLE).sample(1, seed=0))


# --- Priors ----------------------------------------------------------------------------------------------------------


def softmax(logits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    weight: npt.NDArray[np.float64] = np.exp(logits - logits.max())
    weight /= weight.sum()
    return weight


def assert_frequencies(counts: npt.NDArray[Any], probabilities: npt.NDArray[np.float64]) -> None:
    """Pearson's chi-square, five standard deviations wide; cells that are expected to be all but empty are left out."""
    expected = probabilities * counts.sum()
    assert counts[probabilities == 0.0].sum() == 0
    seen = expected > 5.0
    assert seen.sum() > 1
    statistic = np.sum((counts[seen] - expected[seen]) ** 2 / expected[seen])
    freedom = seen.sum() - 1
    assert statistic < freedom + 5.0 * np.sqrt(2.0 * freedom)


def koza(variables: int = 1) -> Library:
    return Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log"], variables)


PRIORS: list[dict[str, Any]] = [
    {},
    {"soft_length": SoftLength(5.0, 2.0)},
    {"uniform_arity": UniformArity()},
    {"soft_length": SoftLength(), "uniform_arity": UniformArity()},
]


@pytest.mark.parametrize("priors", PRIORS)
def test_tokens_are_drawn_in_proportion_to_their_logits(priors: dict[str, Any]) -> None:
    space = SearchSpace(koza(2), 4, 12, **priors)
    population = space.sample(60_000, seed=11)
    first = population.tokens[:, 0]
    assert_frequencies(np.bincount(first, minlength=10), softmax(space.logits([])))
    for begin in ([2], [6], [2, 0], [2, 6], [4, 0], [4, 0, 5]):  # add; sin; add x1; add sin; mul x1; mul x1 div
        rows = population.tokens[:, : len(begin)] == begin
        follow = population.tokens[rows.all(axis=1), len(begin)]
        assert len(follow) > 50
        assert_frequencies(np.bincount(follow, minlength=10), softmax(space.logits(begin)))


def test_the_soft_length_prior_is_its_formula() -> None:
    """Terminals that would end the row lose (t - 10)^2 / 10 before t = 10, operators from there on."""
    library = koza()
    space = SearchSpace(library, 1, 100, constraints=(), soft_length=SoftLength(10.0, 5.0))
    is_terminal = library.arities == 0
    assert (space.logits([]) == 0.0).all()
    for t, loss in {1: 8.1, 5: 2.5, 9: 0.1, 10: 0.0, 15: 2.5, 20: 10.0, 30: 40.0}.items():
        one_open = [5] * t  # sin sin sin ...
        two_open = [5] * (t - 1) + [1]  # sin sin ... add
        np.testing.assert_allclose(space.logits(one_open), np.where(is_terminal == (t < 10), -loss, 0.0), atol=1e-12)
        expected = np.zeros(len(library)) if t < 10 else np.where(is_terminal, 0.0, -loss)
        np.testing.assert_allclose(space.logits(two_open), expected, atol=1e-12)


def test_the_uniform_arity_prior_is_its_formula() -> None:
    library = koza(3)
    space = SearchSpace(library, 1, 30, constraints=(), uniform_arity=UniformArity())
    np.testing.assert_allclose(space.logits([]), [-np.log(3)] * 3 + [-np.log(4)] * 8)
    probability = softmax(space.logits([]))
    assert [probability[library.arities == arity].sum() for arity in range(3)] == pytest.approx([1 / 3] * 3)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    location=st.sampled_from([0.0, 10.0, 1e6, -50.0, 1e200]),
    variance=st.sampled_from([5.0, 1e-3, 1e-320, 1e300]),
)
def test_priors_never_change_what_is_legal(seed: int, location: float, variance: float) -> None:
    rng = np.random.default_rng(seed)
    plain = SearchSpace(WHOLE, 4, 20)
    soft = SearchSpace(WHOLE, 4, 20, soft_length=SoftLength(location, variance), uniform_arity=UniformArity())
    rows = random_population(rng, WHOLE, 100, 25)
    np.testing.assert_array_equal(soft.violations(rows), plain.violations(rows))
    drawn = soft.sample(20, seed=seed)
    assert not violations_of_the_twin(plain, drawn).any()
    for expression in itertools.islice(drawn, 5):
        for length in range(len(expression)):
            prefix = expression.ids[:length]
            np.testing.assert_array_equal(soft.allowed(prefix), plain.allowed(prefix))
            assert np.isfinite(soft.logits(prefix)[soft.allowed(prefix)]).all()


@pytest.mark.parametrize("location", [4.0, 8.0, 16.0, 40.0])
def test_the_soft_length_prior_moves_lengths_towards_its_location(location: float) -> None:
    space = SearchSpace(koza(), 4, 100, soft_length=SoftLength(location, 1.0), uniform_arity=UniformArity())
    lengths = space.sample(500, seed=2).lengths
    assert location - 2.0 < lengths.mean() < 1.5 * location + 6.0
    free = SearchSpace(koza(), 4, 100, uniform_arity=UniformArity()).sample(500, seed=2).lengths
    assert lengths.std() < 0.5 * free.std()


@pytest.mark.parametrize(
    ("variables", "max_length", "priors", "mean", "median", "share_at_most"),
    [
        (1, 30, {}, 28.3, 30, 0.93),
        (1, 30, {"uniform_arity": UniformArity()}, 17.2, 14, 0.33),
        (1, 100, {"soft_length": SoftLength()}, 22.4, 23, 0.0),
        (1, 256, {"soft_length": SoftLength()}, 22.4, 23, 0.0),
        (1, 64, {"soft_length": SoftLength(), "uniform_arity": UniformArity()}, 15.5, 16, 0.0),
        (2, 30, {}, 24.9, 30, 0.75),
        (2, 100, {"soft_length": SoftLength()}, 19.4, 20, 0.0),
    ],
)
def test_lengths_are_those_measured_on_the_authors_code(
    variables: int, max_length: int, priors: dict[str, Any], mean: float, median: float, share_at_most: float
) -> None:
    """Untrained sampling, constraints on inverses and trigonometry; as if they had measured about 2,000 rows."""
    constraints = (NoInverses(), NoNestedTrigonometry())
    lengths = SearchSpace(koza(variables), 4, max_length, constraints, **priors).sample(100_000, seed=5).lengths
    assert lengths.mean() == pytest.approx(mean, abs=max(0.15, 0.045 * lengths.std()))
    assert np.median(lengths) == pytest.approx(median, abs=1.0)
    assert np.mean(lengths == max_length) == pytest.approx(share_at_most, abs=0.03)


def test_the_same_seed_draws_the_same_rows_and_another_step_others() -> None:
    space = SearchSpace(WHOLE)
    rows = space.sample(50, seed=1, step=2)
    assert reference.same_bits(space.sample(50, seed=1, step=2).tokens, rows.tokens)
    assert reference.same_bits(space.sample(80, seed=1, step=2).tokens[:50], rows.tokens)
    for other in (space.sample(50, seed=1, step=3), space.sample(50, seed=2, step=2)):
        same = sum(a == b for a, b in zip(rows, other, strict=True))
        assert same < 10


def test_samples_are_populations_ready_for_use() -> None:
    population = SearchSpace(WHOLE).sample(300, seed=0)
    checked = Population.of(WHOLE, population.tokens, population.lengths, population.constants)
    assert reference.same_bits(checked.tokens, population.tokens)
    assert reference.same_bits(checked.constants, population.constants)
    values = population.constants[~np.isnan(population.constants)]
    assert len(values) > 50
    assert (values == 1.0).all()
    assert len(SearchSpace(WHOLE).sample(0, seed=0)) == 0
    with pytest.raises(SettingsError, match="`count` must be at least 0, but it is -1"):
        SearchSpace(WHOLE).sample(-1, seed=0)


@pytest.mark.parametrize(
    "values", [(10.0, 0.0), (10.0, -1.0), (10.0, float("nan")), (float("nan"), 5.0), (float("inf"), 5.0)]
)
def test_a_soft_length_that_is_no_distribution_is_refused(values: tuple[float, float]) -> None:
    with pytest.raises(SettingsError, match="of the soft length prior must be"):
        SoftLength(*values)


def test_logits_along_rows_are_those_before_each_token() -> None:
    space = SearchSpace(WHOLE, 1, 12)
    population = space.sample(30, seed=3)
    along = space.logits_along(population)
    assert along.shape == (*population.tokens.shape, len(WHOLE))
    for row, expression in enumerate(population):
        for position in range(len(expression)):
            np.testing.assert_array_equal(along[row, position], space.logits(expression.ids[:position]))
        assert (along[row, len(expression) :] == 0.0).all()
    broken = Population.wrap(WHOLE, population.tokens[:, ::-1].copy(), population.lengths, population.constants)
    with pytest.raises(ValueError, match="must be the beginning of a legal expression"):
        space.logits_along(broken)
