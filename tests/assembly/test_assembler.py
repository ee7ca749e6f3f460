"""Assembly: answers that need no search, and holes that are filled."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from symseed import Dataset, Expression, Library, evaluate
from symseed.arrays import Floats
from symseed.assembly import Assembler, AssemblySettings, probes
from symseed.assembly import polynomials as blocks
from symseed.assembly.simplify import fitted
from symseed.completion import backsolve
from symseed.language.row import Row
from symseed.language.writer import Writer
from symseed.scoring.description import description_lengths
from symseed.scoring.evaluation import predict

KOZA = ["add", "sub", "mul", "div", "sin", "cos", "exp", "log", "const"]
ONE, TWO = Library.of(KOZA, 1), Library.of(KOZA, 2)
FEW = AssemblySettings(features=150, newer=40)
rng = np.random.default_rng(0)
x = rng.uniform(0.2, 2.0, 25)
X = rng.uniform(0.2, 2.0, (40, 2))
a, b = X.T
HIGH = ((x - 1.0) ** 8 + 2.0 * (x - 1.0) ** 3 - 1.0) / ((x - 1.0) ** 6 + x + 1.0)


def read(prefix: str, library: Library) -> Row:
    expression = Expression.parse_prefix(prefix, library)
    return expression.row


def assembler(library: Library, data: Dataset, settings: AssemblySettings = FEW) -> Assembler:
    return Assembler(Writer(library), data, settings)


def best(parts: list[Row], library: Library, data: Dataset) -> tuple[Expression, float]:
    """Return the formula of the shortest description after fitting, and what it leaves of y's variance."""
    rows = fitted(Writer(library).population(parts), data)
    row = int(description_lengths(rows, data).argmin())
    return rows[row], float(evaluate(rows, data).error[row]) / (data.total_weight * data.deviation**2)


ANSWERS: dict[str, tuple[Library, Floats, Floats, tuple[str, ...], int]] = {
    "log of a cubic": (ONE, x, np.log(x**3 + 2.0 * x**2 + x + 3.0), ("log",), 14),
    "two features with factors": (TWO, X, 1.7 * np.sin(a * b) - 3.1 * np.exp(b) + 0.4, ("sin", "exp"), 14),
    "a rational function": (ONE, x - 1.0, ((x - 1) ** 5 - 3 * (x - 1) ** 3 + 1) / ((x - 1) ** 2 + 1), ("div",), 20),
    "a rational function of high degree": (ONE, x - 1.0, HIGH, ("div",), 50),
    "a product s (a + b t)": (TWO, X, a * (2.3 + 0.7 * np.cos(b)), ("cos",), 8),
    "one feature": (TWO, X, 3.0 - 0.5 * np.log(a + b), ("log",), 8),
    "a polynomial of two variables": (TWO, X, a**2 * b - 3.0 * b + 1.0, (), 14),
    "a polynomial in an exponent": (ONE, x, np.exp(-2.0 * x**2 + x), ("exp",), 12),
    "a quotient in an exponent": (ONE, 50.0 * x, np.exp((50.0 * x + 19.0) / (2.7 * x + 12.6)), ("exp", "div"), 12),
    "growth that has an end": (ONE, x, 3.0 / (0.7 + 5.0 * np.exp(-2.37 * x)), ("div", "exp"), 12),
    "decay of a product": (TWO, X, a * (0.3 + np.exp(-1.87 * b)), ("exp",), 10),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_needs_no_search_is_among_the_first(name: str) -> None:
    library, inputs, y, operators, most = ANSWERS[name]
    data = Dataset.of(inputs, y)
    found, error = best(assembler(library, data).first(), library, data)
    assert error < 1e-24, str(found)
    assert set(operators) <= {token.name for token in found.tokens}
    assert len(found) <= most, str(found)


@pytest.mark.parametrize("is_grid", [True, False])
def test_a_sum_of_quotients_is_put_together(is_grid: bool) -> None:
    """Like Neat-9, in whatever order the variables come; the samples need not be a grid."""
    axis = np.linspace(-5.0, 5.0, 21)
    grid = np.array(list(itertools.product(axis, axis)))
    inputs = grid if is_grid else np.random.default_rng(5).uniform(-5.0, 5.0, (400, 2))
    quotients = inputs[:, 0] ** 4 / (1.0 + inputs[:, 0] ** 4) + inputs[:, 1] ** 2 / (1.0 + inputs[:, 1] ** 2)
    data = Dataset.of(inputs, quotients)
    for order in ([0, 1], [1, 0]):
        writer = Writer(TWO).of_columns(order)
        found, error = best(Assembler(writer, data, FEW).split(), TWO, data)
        assert error < 1e-24
        assert len(found) <= 35


PARTS: dict[str, tuple[Floats, tuple[str, ...]]] = {
    "a product": (np.exp(-((a - 1.0) ** 2)) / (1.2 + (b - 2.5) ** 2), ("exp", "div", "mul")),
    "a sum": (np.sin(a**2) - np.log(b + b**2), ("sin", "log", "add")),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_target_of_parts_is_put_together_part_by_part(name: str) -> None:
    """Neither is found whole; the first is Neat-8, which the paper calls not recoverable."""
    y, operators = PARTS[name]
    data = Dataset.of(X, y)
    made = assembler(TWO, data)
    assert best(made.first(), TWO, data)[1] > 1e-15
    found, error = best(made.split(), TWO, data)
    assert error < 1e-24, str(found)
    assert set(operators) <= {token.name for token in found.tokens}


def test_parts_are_looked_for_only_where_that_is_asked_for() -> None:
    data = Dataset.of(X, PARTS["a product"][0])
    assert assembler(TWO, data).split()
    assert Assembler(Writer(TWO), data, replace(FEW, probes=False)).split() == []
    assert assembler(TWO, Dataset.of(X, np.exp(a * b))).split() == []
    assert assembler(Library.of(["add", "exp", "const"], 2), data).split() == [], "a product needs `mul`"


def test_parts_have_parts() -> None:
    """Three functions of one variable each: the second part of the first split is a sum itself."""
    three = Library.of(["add", "mul", "div", "sin", "cos", "exp", "log", "const"], 3)
    u, v, w = (inputs := np.random.default_rng(4).uniform(0.3, 2.0, (150, 3))).T
    data = Dataset.of(inputs, np.sin(u * u) + np.exp(v) / v + np.log(w + w * w))
    made = assembler(three, data)
    assert best(made.first(), three, data)[1] > 1e-15
    assert best(made.split(), three, data)[1] < 1e-24


@pytest.mark.parametrize(("more", "has_probes", "is_found"), [(20, False, False), (60, False, True), (20, True, True)])
def test_once_enlarged_it_knows_more_and_what_has_the_targets_parity(
    more: int, has_probes: bool, is_found: bool
) -> None:
    """`x * sin(x)` is even, and is not among the first twenty sub-expressions."""
    u = np.random.default_rng(2).uniform(-1.5, 1.5, 40)
    library = Library.of(["add", "mul", "sin", "cos", "const"], 1)
    data = Dataset.of(u, 3.0 * np.cos(u * np.sin(u)))
    settings = AssemblySettings(features=20, more_features=more, newer=40, blocks=False, probes=has_probes)
    made = {larger: Assembler(Writer(library), data, settings, is_enlarged=larger) for larger in (False, True)}
    errors = {larger: best(assembler.first(), library, data)[1] for larger, assembler in made.items()}
    assert errors[False] > 1e-9
    assert (errors[True] < 1e-24) == is_found


def test_waves_that_the_data_show_are_known_from_the_start() -> None:
    wide = np.random.default_rng(1).uniform(-20.0, 20.0, (400, 1))
    data = Dataset.of(wide, 1.0 - 2.5 * np.sin(3.3 * wide[:, 0]))
    found, error = best(assembler(ONE, data).first(), ONE, data)
    assert error < 1e-20
    assert len(found) <= 8, str(found)


@pytest.mark.parametrize(
    ("nearly", "y"),
    [
        ("add mul exp x1 sin x2 x2", np.exp(a) * (2.3 + 0.7 * np.cos(b * b)) + b),
        ("log add x1 x1", np.log(a + 1.5 * np.sin(b) + 4.0)),
        ("div sin x1 add x2 x1", np.sin(a) / (b + 2.0 * np.exp(a))),
        ("sin mul x1 x2", np.sin(0.4 * a * b + 0.1)),
    ],
)
def test_a_hole_in_a_nearly_right_formula_is_filled(nearly: str, y: Floats) -> None:
    data = Dataset.of(X, y)
    builder = assembler(TWO, data)
    start = read(nearly, TWO)
    _, before = best([start], TWO, data)
    found, after = best(builder.next([start]), TWO, data)
    assert before > 1e-6
    assert after < 1e-20, str(found)


def test_an_operator_is_put_around_a_hole_of_the_very_best() -> None:
    """What should stand for the sum is a product of two functions: no one feature, scaled and shifted."""
    data = Dataset.of(X, a * np.exp(-1.87 * b) * np.cos(5.2 * a))
    near = [read("mul add x1 x2 cos mul const(5.2) x1", TWO)]
    assert best(assembler(TWO, data).next(near), TWO, data)[1] < 1e-20
    none = AssemblySettings(features=150, newer=40, framed=0)
    assert best(assembler(TWO, data, none).next(near), TWO, data)[1] > 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_a_polynomial_within_a_function_is_found_under_noise(seed: int) -> None:
    library = Library.of(KOZA, 1)
    x = np.random.default_rng(seed).uniform(0.0, 2.0, 30)
    data = Dataset.of(x, np.log((x + 1.0) * (x * x + 1.0))).with_noise(0.01, seed=seed)
    found = [str(Expression(library, part)) for part in assembler(library, data).first()]
    assert "log((x1 + 1.0) * (x1 * x1 + 1.0))" in found


def test_next_knows_the_pieces_of_what_it_is_given() -> None:
    """Half of a product that no small feature is, and the other half: together they are the sum of two pieces."""
    long = "exp sin mul x1 add x1 mul x2 x2"
    data = Dataset.of(X, 2.0 * np.exp(np.sin(a * (a + b * b))) - 0.3 * np.cos(a))
    without = AssemblySettings(features=80, newer=0, blocks=False)
    pieces = [read(f"log {long}", TWO), read("add x1 x2", TWO)]
    assert best(assembler(TWO, data, FEW).next(pieces), TWO, data)[1] < 1e-20
    assert best(assembler(TWO, data, without).next([read("add x1 x2", TWO)]), TWO, data)[1] > 1e-4


def test_each_call_forgets_the_pieces_of_the_last() -> None:
    data = Dataset.of(X, np.exp(a) + b)
    builder = assembler(TWO, data)
    start = [read("add exp sin mul x1 x1 x2", TWO)]
    first = builder.next(start)
    builder.next([read("mul cos add x1 x2 x1", TWO)])
    again = builder.next(start)
    assert [part.ids for part in again] == [part.ids for part in first]
    np.testing.assert_array_equal(
        np.concatenate([part.constants for part in again]), np.concatenate([part.constants for part in first])
    )


@pytest.mark.parametrize("has_blocks", [False, True])
def test_formulas_are_whole_and_different_and_no_more_than_asked_for(has_blocks: bool) -> None:
    settings = AssemblySettings(features=30, matches=5, blocks=has_blocks)
    data = Dataset.of(X, np.exp(a) * b + 0.1 * np.random.default_rng(0).normal(size=40))
    parts = assembler(TWO, data, settings).first()
    assert 0 < len(parts) <= 5 * settings.matches
    writer = Writer(TWO)
    for part in parts:
        assert writer.library.end(part.ids, 0) == len(part)
    keys = [writer.population([part])[0] for part in parts]
    assert len(set(keys)) == len(keys)
    values = predict(writer.population(parts), data).value
    assert np.isfinite(values).all(axis=1).mean() > 0.9


def test_without_blocks_there_are_no_polynomials() -> None:
    data = Dataset.of(x, x**5 - 3.0 * x**3 + 1.0)
    assert best(assembler(ONE, data).first(), ONE, data)[1] < 1e-24
    none = AssemblySettings(features=80, blocks=False)
    assert best(assembler(ONE, data, none).first(), ONE, data)[1] > 1e-12


@pytest.mark.parametrize("operators", [["sin", "exp"], ["add", "sin"], ["mul", "exp"], ["max", "abs"], []])
def test_a_library_with_few_operators_is_used_as_far_as_it_goes(operators: list[str]) -> None:
    library = Library.of([*operators, "const"], 1)
    data = Dataset.of(x, np.sin(x) + 2.0)
    parts = assembler(library, data).first()
    assert all({library[i].name for i in part.ids} <= {*operators, "const", "x1"} for part in parts)
    assert parts or not operators
    if operators == ["add", "sin"]:
        assert best(parts, library, data)[1] < 1e-24


def test_weights_say_which_samples_count() -> None:
    """A third of the samples is spoilt, and without weight."""
    weights = np.where(np.arange(40) % 3 == 0, 0.0, 1.0)
    y = 1.5 * np.sin(a) + 0.5 * b * b
    spoilt = np.where(weights == 0.0, 50.0 * rng.normal(size=40), y)
    data = Dataset.of(X, spoilt, weights)
    found, _ = best(assembler(TWO, data).first(), TWO, data)
    np.testing.assert_allclose(found.evaluate(X), y, rtol=1e-9)


def test_some_of_many_samples_are_looked_at_and_what_is_found_holds_for_all() -> None:
    many = np.random.default_rng(4).uniform(0.2, 2.0, (800, 2))
    data = Dataset.of(many, 1.7 * np.sin(many[:, 0]) - 3.1 * np.exp(many[:, 1]) + 0.4)
    found, error = best(assembler(TWO, data, AssemblySettings(features=80, samples=30)).first(), TWO, data)
    assert error < 1e-24
    assert len(found) <= 12


def test_the_same_data_give_the_same_formulas() -> None:
    data = Dataset.of(X, np.exp(a) * b)
    one, other = (assembler(TWO, data, AssemblySettings(features=30, matches=5)).first() for _ in range(2))
    assert [part.ids for part in one] == [part.ids for part in other]


class Late:
    """Time that is up after so many questions; says how often it is asked again."""

    def __init__(self, after: int) -> None:
        self.left = after
        self.asked_again = 0

    def __call__(self) -> bool:
        self.left -= 1
        self.asked_again += self.left < -1
        return self.left < 0


@pytest.mark.parametrize("after", [0, 1, 5, 60, 300])
@pytest.mark.parametrize("is_enlarged", [False, True])
def test_nothing_more_is_begun_once_time_is_up(after: int, is_enlarged: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Dataset.of(X, np.exp(-((a - 1.0) ** 2)) / (1.2 + (b - 2.5) ** 2))
    whole = len(Assembler(Writer(TWO), data, FEW, is_enlarged=is_enlarged).first())
    late = Late(after)
    begun_late: list[str] = []

    def watched(work: Callable[..., object]) -> Callable[..., object]:
        def begun(*arguments: object, **named: object) -> object:
            if late.left < 0:
                begun_late.append(work.__name__)
            return work(*arguments, **named)

        return begun

    for module, name in ((backsolve, "affine_errors"), (blocks, "rational"), (probes, "frequencies")):
        monkeypatch.setattr(module, name, watched(getattr(module, name)))
    made = Assembler(Writer(TWO), data, FEW, is_enlarged=is_enlarged, is_late=late)
    assert len(made.first()) < whole
    assert made.split() == []
    assert late.asked_again < 20, "each loop asks once, and ends"
    assert not begun_late
    polynomials = made.polynomials()
    assert polynomials, "these take no time"
    assert np.isfinite(description_lengths(Writer(TWO).population(polynomials), data)).all()
