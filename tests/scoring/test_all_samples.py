"""All samples by passes over chunks: the same bits however they are added, and the same fits as the core's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symseed import Dataset, Expression, Population, fit
from symseed.arrays import Floats
from symseed.data import Loss, chunks
from symseed.data.chunks import ArrayChunks, Distinct, Tree, blocks
from symseed.language import Library
from symseed.scoring import FitSettings, evaluate
from symseed.scoring.all_samples import AllSamples
from symseed.scoring.description import description_lengths

LIBRARY = Library.of(["add", "mul", "exp", "div", "log", "const"], 2)


def table(count: int, seed: int = 0) -> Dataset:
    random = np.random.default_rng(seed)
    X = random.uniform(0.5, 2.0, (count, 2))
    y = 1.3 * np.exp(0.7 * X[:, 0]) + 0.2 * X[:, 1] + random.normal(0.0, 0.1, count)
    return Dataset.of(X, y, random.uniform(0.5, 2.0, count))


def of_all(data: Dataset, threads: int = 1, loss: Loss | None = None) -> AllSamples:
    data = data.with_loss(loss)
    return AllSamples(ArrayChunks(data, data, (0, 1), threads), data.take(np.arange(50)), data.ruler)


FORMS = [
    Expression.parse(text, LIBRARY)
    for text in ("1.0*exp(0.5*x1) + 0.3*x2", "2.0*x1 + 1.5", "x1 + x2", "1.5*log(x1 + 0.5)")
]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "CHUNK", 1_000)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("loss", [None, "huber"])
def test_fits_and_descriptions_are_those_of_the_core(loss: str | None) -> None:
    data = table(7_300)
    given = None if loss is None else Loss.of(loss)
    whole = of_all(data, loss=given)
    fitted = whole.fitted(FORMS, iterations=50)
    for form, found in zip(FORMS, fitted, strict=True):
        expected = data.with_loss(given)
        population, errors = fit(Population.from_expressions([form]), expected, FitSettings(iterations=100))
        rows = Population.from_expressions([found])
        assert evaluate(rows, whole).error[0] == pytest.approx(errors.error[0], rel=1e-9)
        np.testing.assert_allclose(found.constants, population[0].constants, rtol=1e-4)
        np.testing.assert_allclose(
            description_lengths(rows, whole), description_lengths(rows, expected), rtol=1e-9, atol=1e-6
        )
    judged = whole.judged(fitted)
    for found, own in zip(fitted, judged, strict=True):
        expected_error = evaluate(Population.from_expressions([found]), data.with_loss(given)).error[0]
        assert own.fitted == own.given == pytest.approx(expected_error / data.total_weight, rel=1e-12)


@pytest.mark.usefixtures("small_chunks")
def test_sums_have_the_same_bits_with_any_number_of_threads() -> None:
    data = table(7_300)
    one, two = (of_all(data, threads).fitted(FORMS, iterations=50) for threads in (1, 3))
    assert one == two
    assert one != of_all(table(7_300, seed=1)).fitted(FORMS, iterations=50)


@pytest.mark.usefixtures("small_chunks")
def test_samples_of_weight_0_count_as_if_they_were_not_there() -> None:
    data = table(5_100)
    rows = np.sort(np.random.default_rng(0).choice(len(data), 4_000, replace=False))
    weights = np.zeros(len(data))
    weights[rows] = data.weights[rows]
    y = np.where(weights > 0.0, data.y, 1e9)
    without, marked = of_all(data.take(rows)), of_all(Dataset.of(data.X, y, weights))
    assert without.fitted(FORMS, iterations=20) == marked.fitted(FORMS, iterations=20)
    assert (len(without), without.rounding) == (len(marked), marked.rounding)


def test_a_formula_without_a_value_at_a_sample_fails_and_the_others_do_not() -> None:
    data = table(300)
    data = Dataset.of(np.r_[data.X, [[-1.0, 1.0]]], np.r_[data.y, 0.0])
    whole = of_all(data)
    log, line = Expression.parse("1.5*log(x1)", LIBRARY), FORMS[1]
    fitted = whole.fitted([log, line], iterations=20)
    assert fitted[0] == log
    assert fitted[1] != line
    assert [np.isnan(own.given) for own in whole.judged(fitted)] == [True, False]


def test_time_that_is_up_leaves_a_formula_as_it_is() -> None:
    whole = of_all(table(300))
    assert whole.fitted(FORMS, iterations=20, is_late=lambda: True) == FORMS


@pytest.mark.parametrize("count", range(1, 20))
def test_the_tree_of_a_sum_follows_from_the_number_of_its_values(count: int) -> None:
    """Whole subtrees may come from elsewhere."""
    words = [chr(97 + i) for i in range(count)]

    class Word(str):
        def __add__(self, other: str) -> Word:
            return Word(f"({self!s}{other})")

    tree: Tree[Any] = Tree()
    for word in words:
        tree.push(Word(word))
    spans: Tree[Any] = Tree()
    for begin in range(0, count, 4):
        own: Tree[Any] = Tree()
        for word in words[begin : begin + 4]:
            own.push(Word(word))
        for level, part in own.parts:
            spans.push(part, level)
    assert str(tree.total) == str(spans.total)
    assert str(tree.total).replace("(", "").replace(")", "") == "".join(words)


def test_blocks_have_their_size_whatever_the_arrays_were() -> None:
    values = np.arange(100.0).reshape(50, 2)
    for sizes in ([50], [1] * 50, [7, 13, 30]):
        parts: list[Floats] = np.split(values, np.cumsum(sizes)[:-1])
        found = list(blocks(parts, 16))
        assert [len(one) for one in found] == [16, 16, 16, 2]
        np.testing.assert_array_equal(np.concatenate(found), values)


def test_different_samples_are_counted_exactly_or_to_a_thousandth(monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(40_000)
    parts = [data.take(np.arange(begin, begin + 20_000)) for begin in (0, 10_000, 20_000)]
    first, second, third = (Distinct.of(part) for part in parts)
    assert first.count == 20_000
    assert (first + second + third).count == 40_000
    assert (third + first + first).count == 40_000
    monkeypatch.setattr(chunks, "_MOST_KEPT", 2_000)
    few = [Distinct.of(part) for part in parts]
    found = few[0] + few[1] + few[2]
    assert found.count == (few[2] + few[0]).count == Distinct.of(data).count
    assert abs(found.count / 40_000 - 1.0) < 0.1
    assert len(found.kept) <= 2_000
