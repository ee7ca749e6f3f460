"""The first formulas: a line, a power law and an exponential, without a search."""

from __future__ import annotations

import numpy as np
import pytest

from symseed import Dataset, Library
from symseed.arrays import Floats
from symseed.assembly import first_laws, fitted, mean
from symseed.data.losses import Loss
from symseed.language import Row, Writer
from symseed.scoring import evaluate

KOZA = Writer(Library.of(["add", "sub", "mul", "div", "sin", "exp", "log", "const"], 2))
POWER = Writer(Library.of(["add", "mul", "pow", "exp", "const"], 2))
X = np.random.default_rng(0).uniform(0.5, 3.0, (60, 2))
a, b = X.T


def best(writer: Writer, y: Floats, **options: int) -> float:
    """The smallest error of the first formulas, once fitted, as a share of y's variance."""
    data = Dataset.of(X, y)
    laws = first_laws(writer, data, longest=options.get("longest", 60))
    errors = evaluate(fitted(writer.population(laws), data), data).error
    return float(np.nanmin(errors)) / len(y) / data.deviation**2


@pytest.mark.parametrize("writer", [KOZA, POWER])
@pytest.mark.parametrize(
    "y",
    [3.0 * a - 2.0 * b + 0.7, 2.5 * a**1.5 * b**-0.7, -2.5 * a**1.5, 0.3 * np.exp(1.2 * a - 0.4 * b)],
    ids=["line", "power law", "negative power law", "exponential"],
)
def test_a_law_of_its_kind_is_found_without_a_search(writer: Writer, y: Floats) -> None:
    assert best(writer, y) < 1e-18


def test_a_law_of_one_variable_is_written_in_that_variable_alone() -> None:
    laws = first_laws(KOZA, Dataset.of(X, 2.5 * a**1.5), longest=60)
    assert min(map(len, laws)) <= 6


def test_laws_that_the_data_or_the_operators_do_not_allow_are_left_out() -> None:
    def operators(writer: Writer, rows: list[Row]) -> set[str]:
        return {writer.library[i].name for row in rows for i in row.ids} - {"const", "x1", "x2"}

    assert operators(KOZA, first_laws(KOZA, Dataset.of(X, a - 2.0), longest=60)) == {"add", "mul"}, "y has both signs"
    below = first_laws(KOZA, Dataset.of(X - 1.0, a), longest=60)
    assert operators(KOZA, below) == {"add", "mul", "exp"}, "no logarithm of an input below 0"
    bare = Writer(Library.of(["sin", "const"], 1))
    assert first_laws(bare, Dataset.of(X, a), longest=60) == []
    assert all(len(law) <= 6 for law in first_laws(KOZA, Dataset.of(X, a), longest=6))


def test_the_constant_is_the_best_by_the_loss() -> None:
    y = np.array([1.0, 2.0, 3.0, 4.0, 100.0])
    data = Dataset.of(np.arange(5.0), y)
    writer = Writer(Library.of(["add", "const"], 1))
    assert mean(writer, data).constants == (22.0,)
    (value,) = mean(writer, data.with_loss(Loss.of("absolute"))).constants
    assert value < 10.0
