"""Remarks on residuals."""

from __future__ import annotations

import numpy as np
import pytest

from symseed import Dataset
from symseed.arrays import Floats
from symseed.data.noise import ADDITIVE, Noise, NoiseKind
from symseed.scoring.residuals import remarks

ROWS = 60
X = np.linspace(1.0, 30.0, ROWS)
TRUTH = 2.0 * X + 1.0
DRAWS = np.random.default_rng(0).standard_normal(ROWS)
RELATIVE = Noise(NoiseKind.RELATIVE, share=0.05)
GIVEN = Noise(NoiseKind.GIVEN)


def told(residuals: Floats, noise: Noise = ADDITIVE, errors: Floats | None = None) -> str:
    dataset = Dataset.of(X, TRUTH + residuals, names=["time"])
    return " ".join(remarks(TRUTH, dataset, noise, np.arange(ROWS), errors=errors, constants=2))


def test_noise_as_the_model_says_needs_no_remark() -> None:
    assert told(0.3 * DRAWS) == ""
    assert told(0.05 * TRUTH * DRAWS, RELATIVE) == ""
    assert told(0.3 * DRAWS, GIVEN, np.full(ROWS, 0.3)) == ""
    assert told(1e-14 * X) == "", "rounding is no noise"


def test_residuals_that_grow_are_remarked_on_with_the_cure() -> None:
    assert "grow with the value: fit again with noise `relative`" in told(0.001 * TRUTH**2 * DRAWS)
    assert "more than the noise model says" in told(0.001 * TRUTH**3 * DRAWS, RELATIVE)
    assert "fit again with noise `additive`" in told(0.3 / TRUTH * DRAWS, RELATIVE)
    assert "larger where the value is small" in told(3.0 / TRUTH**2 * DRAWS)


def test_a_trend_names_its_column_even_in_twelve_rows() -> None:
    assert "rise or fall along `time`" in told(0.1 * X - 1.5 + 0.1 * DRAWS)
    concentration = np.repeat([0.02, 0.06, 0.11, 0.22, 0.56, 1.1], 2)
    rates = np.array([76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200], dtype=np.float64)
    data = Dataset.of(concentration, rates, names=["concentration"])
    (said,) = remarks(np.full(12, rates.mean()), data, ADDITIVE, np.arange(12), constants=1)
    assert said.startswith("The residuals rise or fall along `concentration`")


def test_a_trend_is_remarked_on_by_chance_hardly_ever() -> None:
    generator = np.random.default_rng(0)
    many = [Dataset.of(X[:12], generator.standard_normal(12), names=["time"]) for _ in range(1_000)]
    assert sum("rise or fall" in str(remarks(np.zeros(12), data, ADDITIVE, np.arange(12))) for data in many) <= 1


def test_slow_waves_name_their_column() -> None:
    assert "form slow waves along `time`" in told(np.sin(X / 3.0))


def test_outliers_are_counted_and_their_rows_named() -> None:
    one = 0.3 * DRAWS
    one[17] = 20.0
    assert "One residual is more than 6 times the usual (row 17, counted from 0)" in told(one)
    assert "robust" in told(one)
    many = one.copy()
    many[[3, 40, 41, 50]] = -30.0, 10.0, 11.0, 9.0
    assert "5 residuals are more than 6 times the usual (the largest in rows 3, 17, 41" in told(many)
    assert "robust" not in told(many, Noise(NoiseKind.ROBUST, floor=0.3))


@pytest.mark.parametrize(("factor", "words"), [(3.0, "larger than given"), (0.3, "smaller than given")])
def test_residuals_are_compared_with_the_errors_that_were_given(factor: float, words: str) -> None:
    assert words in told(factor * 0.3 * DRAWS, GIVEN, np.full(ROWS, 0.3))


def test_rows_without_weight_and_few_rows_are_not_remarked_on() -> None:
    residuals = 0.3 * DRAWS
    residuals[5] = 1e6
    dataset = Dataset.of(X, TRUTH + residuals, np.where(np.arange(ROWS) == 5, 0.0, 1.0))
    assert remarks(TRUTH, dataset, ADDITIVE, np.arange(ROWS)) == ()
    assert remarks(TRUTH[:11], dataset.take(np.arange(11)), ADDITIVE, np.arange(11)) == ()
