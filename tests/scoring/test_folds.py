"""Cross-validation: against fits by hand, and against what it is for."""

from __future__ import annotations

import math

import numpy as np

from symseed import Dataset, Expression, Library
from symseed.language import Row, Writer
from symseed.scoring.folds import cross_validated

LIBRARY = Library.of(["add", "mul", "exp", "log"], 1).with_constant()
WRITER = Writer(LIBRARY)
RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 4.0, 30)
Y = 1.7 * X - 2.3 + RNG.normal(0.0, 0.4, 30)
DATA = Dataset.of(X[:, None], Y)


def row(text: str) -> Row:
    return Expression.parse(text, LIBRARY).row


def never() -> bool:
    return False


def test_the_loss_is_that_of_a_line_fitted_to_the_other_parts() -> None:
    found = cross_validated(WRITER, [row("1.0 * x1 + 1.0")], DATA, seed=3, is_late=never)
    assert found is not None
    parts = np.random.default_rng(3).permutation(30) % 10
    means = []
    for part in range(10):
        slope, offset = np.polyfit(X[parts != part], Y[parts != part], 1)
        means.append(np.mean((slope * X[parts == part] + offset - Y[parts == part]) ** 2))
    assert math.isclose(found[0].loss, np.mean(means), rel_tol=1e-6)
    assert math.isclose(found[0].error, np.std(means, ddof=1) / np.sqrt(10), rel_tol=1e-6)


def test_a_polynomial_that_follows_the_noise_has_a_smaller_loss_but_a_larger_one_on_other_samples() -> None:
    few = DATA.take(np.arange(10))
    power = "x1"
    terms = ["1.0"]
    for _ in range(6):
        terms.append(f"1.0 * ({power})")
        power = f"x1 * ({power})"
    rows = [row("1.0 * x1 + 1.0"), row(" + ".join(terms))]
    found = cross_validated(WRITER, rows, few, seed=0, is_late=never)
    assert found is not None
    line, long = found
    assert long.loss > 2.0 * line.loss


def test_a_formula_with_as_many_constants_as_other_samples_has_no_loss() -> None:
    """Its constants, fitted to all samples, would stay as they are and know the sample that is left out."""
    three = row("1.0 + 1.0 * x1 + 1.0 * exp(x1)")
    for rows, is_known in ((4, False), (5, True)):
        found = cross_validated(WRITER, [three], DATA.take(np.arange(rows)), seed=0, is_late=never)
        assert found is not None
        assert math.isfinite(found[0].loss) is is_known


def test_one_sample_or_no_time_gives_nothing_and_a_formula_without_a_value_has_no_loss() -> None:
    line = row("1.0 * x1 + 1.0")
    assert cross_validated(WRITER, [line], DATA.take(np.arange(1)), seed=0, is_late=never) is None
    assert cross_validated(WRITER, [line], DATA, seed=0, is_late=lambda: True) is None
    shifted = DATA.with_samples(X[:, None] - 2.0, Y)
    found = cross_validated(WRITER, [row("log(x1)")], shifted, seed=0, is_late=never)
    assert found is not None
    assert math.isnan(found[0].loss)
