"""Simplification: shorter formulas with the same values, and simple numbers where the data allow them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from strategies import expressions
from symseed import Dataset, Expression, Library, Population, evaluate, predict
from symseed.arrays import Floats
from symseed.assembly.simplify import converged, fitted, reduced, simplified
from symseed.language.row import Row
from symseed.language.writer import Writer
from symseed.scoring import fit, simple_numbers
from symseed.scoring.description import description_lengths

LIBRARY = Library.of(["add", "sub", "mul", "div", "sin", "exp", "log", "const"], 1)
WRITER = Writer(LIBRARY)
x = np.linspace(0.5, 3.0, 30)
CLEAN = Dataset.of(x, 2.0 * x + np.sin(x))
CLEAN_TWO = Dataset.of(x, 2.5 * np.exp(x) - 2.0 * np.sin(x))


def read(prefix: str) -> Row:
    expression = Expression.parse_prefix(prefix, LIBRARY)
    return expression.row


def text(part: Row) -> str:
    return WRITER.population([part])[0].prefix


def values(part: Row, data: Dataset = CLEAN) -> Floats:
    return np.asarray(predict(WRITER.population([part]), data).value[0])


def length(part: Row, data: Dataset) -> float:
    return float(description_lengths(WRITER.population([part]), data)[0])


def noisy(y: Floats, size: float, seed: int = 0) -> Dataset:
    return Dataset.of(x, y + np.random.default_rng(seed).normal(0.0, size, len(x)))


def test_values_near_the_largest_number_are_compared() -> None:
    """A formula and the negative of it differ, by more than the largest number."""
    part = read("sub const(0) mul const(1.5e308) sin x1")
    assert reduced(WRITER, part, CLEAN) == part


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("add x1 const(0)", "x1"),
        ("mul const(1) sin x1", "sin x1"),
        ("add x1 sub x1 x1", "x1"),
        ("mul x1 div x1 x1", "x1"),
        ("log exp sin x1", "sin x1"),
        ("sub add x1 const(3) const(3)", "x1"),
        ("add x1 mul const(0) sin x1", "x1"),
        ("add x1 mul const(2) const(3)", "add x1 const(6.0)"),
        ("sin exp log x1", "sin x1"),
        ("add mul const(2) x1 sin x1", "add mul const(2.0) x1 sin x1"),
        ("add x1 const(1e-20)", "x1"),
    ],
)
def test_what_does_nothing_goes(prefix: str, expected: str) -> None:
    assert text(reduced(WRITER, read(prefix), CLEAN)) == expected


@settings(max_examples=80, deadline=None)
@given(expression=expressions(LIBRARY, max_length=16), seed=st.integers(0, 2**32))
def test_the_simplified_has_the_same_values_in_no_more_tokens(expression: Expression, seed: int) -> None:
    draws = np.random.default_rng(seed).choice([0.0, 1.0, 2.0, -0.5, 0.3], len(expression))
    constants = tuple(
        math.nan if math.isnan(old) else new for old, new in zip(expression.constants, draws, strict=True)
    )
    part = Row(expression.ids, constants)
    shorter = reduced(WRITER, part, CLEAN)
    assert len(shorter) <= len(part)
    before = values(part)
    if np.isnan(before).any():
        assert shorter is part
        return
    # What changes a node by 1e-12 of its scale changes those above it by more where they are steep: not too much here.
    pieces = [
        Row(part.ids[i:end], constants[i:end]) for i in range(len(part)) for end in [WRITER.library.end(part.ids, i)]
    ]
    scale = max(np.abs(values(piece)).max() for piece in pieces)
    assume(scale < 1e3 and not {"div", "log"} & {LIBRARY[i].name for i in part.ids})
    np.testing.assert_allclose(values(shorter), before, rtol=0.0, atol=1e-7 * scale)


@pytest.mark.parametrize("form", ["sin mul const({}) x1", "exp sin add const(0.3) mul x1 const({})"])
@pytest.mark.parametrize("turns", [1, 92, -3])
def test_a_wave_is_as_slow_as_samples_in_equal_steps_allow(form: str, turns: int) -> None:
    t = np.linspace(0.0, 10.0, 80)
    row = read(form.format(2.0 + turns * 2.0 * math.pi / t[1]))
    on_grid, scattered = Dataset.of(t, np.sin(t)), Dataset.of(np.sqrt(t), np.sin(t))
    slow = reduced(WRITER, row, on_grid)
    assert [c for c in slow.constants if c > 1.0] == [pytest.approx(2.0)]
    np.testing.assert_allclose(values(slow, on_grid), values(row, on_grid), atol=1e-9)
    assert reduced(WRITER, row, scattered) == row


def test_one_sample_tells_no_number_from_a_variable() -> None:
    """At a single sample every subtree is a number, which says nothing."""
    one = Dataset.of([2.0], [4.0])
    assert text(reduced(WRITER, read("mul x1 x1"), one)) == "mul x1 x1"


def test_a_row_that_fails_stays_as_it_is() -> None:
    below = Dataset.of(x - 1.0, x)
    part = read("add log x1 const(0)")
    assert reduced(WRITER, part, below) is part
    # Fitting may bring it back: log(e) is the 1 that is missing.
    assert text(simplified(WRITER, read("add log const(-1) x1"), below)) == "add const(1.0) x1"


def test_constants_are_fitted_to_convergence() -> None:
    rows = WRITER.population([read("add mul const(1) x1 mul const(5) sin x1")])
    again = fitted(rows, CLEAN)
    assert evaluate(again, CLEAN).error[0] < 1e-25
    np.testing.assert_allclose(again.constants[0][[2, 5]], [2.0, 1.0], rtol=1e-10)
    plain = Population.from_expressions([Expression.parse_prefix("sin x1", Library.of(["add", "sin"], 1))])
    assert fitted(plain, CLEAN) is plain


def test_a_value_next_to_a_plain_number_becomes_it_on_clean_data() -> None:
    assert text(simplified(WRITER, read("add mul const(2.0000001) x1 sin x1"), CLEAN)) == "add mul const(2.0) x1 sin x1"


@pytest.mark.parametrize(
    "prefix",
    [
        "add add mul const(1.9) x1 sin x1 const(0.01)",
        "mul const(1.01) add mul const(1.9) x1 sin x1",
        "add mul const(1.9) x1 mul const(1.1) sin x1",
        "add mul const(1.9) x1 sin mul const(1.02) x1",
        "div add mul const(1.9) x1 sin x1 const(0.99)",
    ],
)
def test_added_zeros_and_factors_of_one_are_dropped(prefix: str) -> None:
    assert text(simplified(WRITER, read(prefix), CLEAN)) == "add mul const(2.0) x1 sin x1"


def test_several_constants_become_plain_together() -> None:
    data = Dataset.of(x, 0.5 * x - 3.0 + math.pi * np.sin(x))
    simple = simplified(WRITER, read("add add mul const(0.4) x1 const(-2) mul const(3) sin x1"), data)
    assert sorted(value for value in simple.constants if value == value) == [0.5, 3.0, math.pi]


def test_a_constant_that_is_no_plain_number_stays_fitted() -> None:
    """2.0537 with noise of 1e-3: 2 would be cheaper to write, but the data know better."""
    data = noisy(2.0537 * x, 1e-3)
    simple = simplified(WRITER, read("mul const(2.1) x1"), data)
    value = simple.constants[1]
    assert text(simple) == f"mul const({value!r}) x1"
    assert value == pytest.approx(2.0537, abs=1e-3)
    assert value == pytest.approx(float(x @ data.y / (x @ x)), rel=1e-6) or simple_numbers.cost(value) is not None


def test_noise_that_hides_the_difference_makes_a_constant_plain() -> None:
    for seed in range(5):
        assert text(simplified(WRITER, read("mul const(2.1) x1"), noisy(2.0 * x, 0.05, seed))) == "mul const(2.0) x1"


@pytest.mark.parametrize("true", [5336.0, 8.957, 183.6])
def test_a_simple_number_must_be_worth_it(true: float) -> None:
    """With 1 % of noise, four digits say less than a fitted constant does, and 9 is five deviations away from 8.957."""
    for seed in range(10):
        simple = simplified(WRITER, read("mul const(2.1) x1"), noisy(true * x, 0.01 * true * float(x.std()), seed))
        value = simple.constants[1]
        assert abs(value / true - 1.0) < 0.003, "as the data determine it"
        assert simple_numbers.cost(value) is None


def test_a_constant_whose_work_the_others_can_do_goes() -> None:
    """An added 0.03 next to a factor in an exponent: each is known well alone, and not together."""
    data = noisy(5.0 * np.exp(-1.3 * x), 0.01)
    simple = simplified(WRITER, read("mul const(5) exp mul const(-1.3) add x1 const(0.03)"), data)
    assert [LIBRARY[i].name for i in simple.ids] == ["mul", "const", "exp", "mul", "const", "x1"]


@pytest.mark.parametrize(
    ("prefix", "y", "expected"),
    [
        ("sub mul const(2.3) exp x1 mul const(2.2) sin x1", np.exp(x) - np.sin(x), ["mul", "const", "sub"]),
        ("add mul const(2.3) exp x1 mul const(-2.2) sin x1", np.exp(x) - np.sin(x), ["mul", "const", "sub"]),
    ],
)
def test_factors_that_the_data_cannot_tell_apart_become_one(prefix: str, y: Floats, expected: list[str]) -> None:
    simple = simplified(WRITER, read(prefix), noisy(2.2537 * y, 0.003))
    assert [LIBRARY[i].name for i in simple.ids[:3]] == expected
    assert sum(simple_numbers.cost(value) is None for value in simple.constants if not math.isnan(value)) <= 1
    assert simple.constants[1] == pytest.approx(2.2537, abs=0.01)


def test_factors_that_the_data_can_tell_apart_stay_two() -> None:
    simple = simplified(WRITER, read("sub mul const(2.3) exp x1 mul const(2.2) sin x1"), noisy(2.25 * np.exp(x), 0.01))
    assert text(simple).startswith("mul const(2.25) exp x1") or "sin" not in text(simple)
    apart = simplified(WRITER, read("sub mul const(2.3) exp x1 mul const(2.2) sin x1"), CLEAN_TWO)
    assert sorted(abs(value) for value in apart.constants if not math.isnan(value)) == [2.0, 2.5]


STARTS = (
    "const(1)",
    "add mul const(1) x1 const(1)",
    "add mul const(1.5) sin x1 mul const(2) x1",
    "div add x1 const(2) add mul const(0.1) x1 const(1)",
    "add add mul const(1) x1 const(0.3) mul const(0.2) sin mul const(2) x1",
    "mul const(3) exp mul const(-0.5) x1",
)


@settings(max_examples=25, deadline=None)
@given(
    prefix=st.sampled_from(STARTS),
    seed=st.integers(0, 2**32),
    noise=st.sampled_from([0.0, 1e-6, 1e-2, 1.0]),
)
def test_tidying_never_lengthens_the_description(prefix: str, seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    a, b, c = rng.choice([1.0, 2.0, -0.5, 0.37, 1.234567], 3)
    data = noisy(a * x + b * np.sin(x) + c, noise, seed)
    start = fitted(WRITER.population([read(prefix)]), data).row(0)
    simple = simplified(WRITER, start, data)
    assert length(simple, data) <= length(start, data) + 1e-8  # a fit ends where its error changes no more than that
    assert len(simple) <= len(start)


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("add sin x1 const(-1.234567)", "sub sin x1 const(1.234567)"),
        ("add const(-1.234567) sin x1", "sub sin x1 const(1.234567)"),
        ("sub sin x1 const(-1.234567)", "add sin x1 const(1.234567)"),
        ("add sin x1 mul const(-1.234567) x1", "sub sin x1 mul const(1.234567) x1"),
        ("add mul x1 const(-1.234567) sin x1", "sub sin x1 mul x1 const(1.234567)"),
        ("sub sin x1 mul x1 const(-1.234567)", "add sin x1 mul x1 const(1.234567)"),
        ("cos sub mul const(-1) x1 x1", "cos add x1 x1"),
        ("sub const(-1.234567) sin x1", "sub const(-1.234567) sin x1"),
    ],
)
def test_what_is_negative_is_subtracted(prefix: str, expected: str) -> None:
    library = Library.of(["add", "sub", "mul", "sin", "cos", "const"], 1)
    expression = Expression.parse_prefix(prefix, library)
    writer = Writer(library)
    part = simplified(writer, expression.row, Dataset.of(x, expression.evaluate(x)))
    assert writer.population([part])[0].prefix == expected


@pytest.mark.parametrize(
    "prefix",
    [
        "add mul const(4.628) sin mul x1 x1 mul const(2.972) cos mul x1 x1",
        "add mul cos mul x1 x1 const(2.972) mul const(4.628) sin mul x1 x1",
        "sub mul const(4.628) sin mul x1 x1 mul const(-2.972) cos mul x1 x1",
        "add x1 sub mul const(2.972) cos mul x1 x1 mul const(-4.628) sin mul x1 x1",
    ],
)
def test_a_sine_and_a_cosine_of_the_same_become_one(prefix: str) -> None:
    library = Library.of(["add", "sub", "mul", "sin", "cos", "const"], 1)
    expression = Expression.parse_prefix(prefix, library)
    rest = x if prefix.startswith("add x1") else 0.0 * x
    part = simplified(
        Writer(library),
        expression.row,
        Dataset.of(x, rest + 5.5 * (np.sin(x * x) * np.cos(0.5708) + np.cos(x * x) * np.sin(0.5708))),
    )
    assert sum(library[token].name in ("sin", "cos") for token in part.ids) == 1
    assert len(part) == (8 if prefix.startswith("add x1") else 6) + 2
    found = sorted(abs(value) for value in part.constants if not math.isnan(value))
    assert found in (pytest.approx([0.5708, 5.5]), pytest.approx([math.pi / 2 - 0.5708, 5.5]))


def test_tidying_twice_is_tidying_once() -> None:
    for seed, noise in enumerate([0.0, 1e-3, 0.1]):
        data = noisy(2.0 * x + 0.77 * np.sin(x), noise, seed)
        once = simplified(WRITER, read("add mul const(1) x1 mul const(1) sin x1"), data)
        assert length(simplified(WRITER, once, data), data) == pytest.approx(length(once, data), rel=1e-9)


def test_literals_of_the_library_are_left_alone() -> None:
    """Where a constant becomes a number that is also a literal, the other constants are still fitted."""
    library = Library.of(["add", "mul", "sin", 2.0, "const"], 1)
    writer = Writer(library)
    start = Expression.parse_prefix("add mul const(1.9) x1 mul const(0.7) sin x1", library)
    data = Dataset.of(x, 2.0 * x + math.sqrt(0.5) * np.sin(x))
    simple = simplified(writer, start.row, data)
    assert simple.constants[2] == 2.0
    assert simple.constants[5] == pytest.approx(math.sqrt(0.5), rel=1e-9)


def test_what_was_simplified_so_far_is_kept_once_time_is_up() -> None:
    start = read("add add mul const(2.0000001) x1 sin x1 mul const(0.0000001) exp x1")
    questions = [0]

    def is_late() -> bool:
        questions[0] += 1
        return questions[0] > most

    lengths = []
    for most in (0, 3, 20, 1_000):
        questions[0] = 0
        lengths.append(length(simplified(WRITER, start, CLEAN, is_late=is_late), CLEAN))
        assert questions[0] <= most + 3, "asked once more after time is up, in each of few steps"
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[-1]


def test_simplification_ends_at_its_next_question_once_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    fits: list[object] = []

    def counted(*given: Any) -> Any:
        fits.append(given)
        return fit(*given)

    monkeypatch.setattr("symseed.assembly.simplify.fit", counted)
    part = read("add mul const(2.1) x1 add mul const(1.03) sin x1 mul const(0.1) exp x1")
    for most in range(4):
        asked, before = [0], len(fits)

        def is_late(most: int = most, asked: list[int] = asked) -> bool:
            asked[0] += 1
            return asked[0] > most

        found = simplified(WRITER, part, CLEAN, is_late=is_late)
        assert len(found) > 0
        assert asked[0] <= most + 3
        assert len(fits) - before <= most + 1
    assert converged(WRITER, part, CLEAN, is_late=lambda: True) == part
