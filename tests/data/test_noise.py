"""Noise models: weights, curves, and the evidence for a model."""

from __future__ import annotations

import numpy as np
import pytest

from symseed import Dataset
from symseed.arrays import Floats
from symseed.data.noise import ADDITIVE, Noise, NoiseKind, pilot, robust_size, weighed


def saturating(rows: int, seed: int, *, floor: float = 0.0, share: float = 0.0) -> Dataset:
    """A saturation curve over three decades, with noise."""
    generator = np.random.default_rng(seed)
    x = np.sort(np.exp(generator.uniform(np.log(0.01), np.log(10.0), rows)))
    y = 100.0 * x / (2.0 + x)
    y += np.sqrt(floor**2 + (share * y) ** 2) * generator.standard_normal(rows)
    return Dataset.of(x, y)


def deviations(truth: Noise, X: Floats) -> Floats:
    return truth.deviations(100.0 * X[:, 0] / (2.0 + X[:, 0]))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rows", [30, 200])
def test_the_noise_of_measurements_over_decades_is_recognised(rows: int, seed: int) -> None:
    assert pilot(saturating(rows, seed, floor=1.0)) is None
    found = pilot(saturating(rows, seed, share=0.05))
    assert found is not None
    assert found.noise.kind is NoiseKind.RELATIVE
    assert found.noise.share == pytest.approx(0.05, rel=0.35)
    assert found.noise.evidence > 10.0
    truth, X = Noise(NoiseKind.RELATIVE, share=0.05), saturating(rows, seed).X
    np.testing.assert_allclose(found.deviations(X), deviations(truth, X), rtol=0.5)


def test_a_floor_and_a_relative_part_are_recognised_together() -> None:
    found = pilot(saturating(400, 1, floor=0.5, share=0.05))
    assert found is not None
    assert found.noise.kind is NoiseKind.FLOOR
    assert found.noise.share == pytest.approx(0.05, rel=0.4)
    assert found.noise.floor == pytest.approx(0.5, rel=0.5)


@pytest.mark.parametrize("rows", [8, 40, 300])
def test_data_without_noise_have_no_noise_model(rows: int) -> None:
    assert pilot(saturating(rows, 0)) is None


def test_the_answer_does_not_depend_on_units_or_on_how_many_rows_there_are() -> None:
    data = saturating(1_000, 0, share=0.05)
    found, large = pilot(data), pilot(Dataset.of(1e-12 * data.X, 1e100 * data.y))
    assert found is not None
    assert large is not None
    assert large.noise.share == pytest.approx(found.noise.share, rel=1e-6)
    np.testing.assert_allclose(large.deviations(1e-12 * data.X), 1e100 * found.deviations(data.X), rtol=1e-5)


def test_targets_of_either_sign_and_constant_ones_have_an_answer() -> None:
    generator = np.random.default_rng(0)
    x = np.linspace(-3.0, 3.0, 200)
    wave = 10.0 * np.sin(x) * (1.0 + 0.05 * generator.standard_normal(200))
    found = pilot(Dataset.of(x, wave))
    assert found is not None
    assert found.noise.kind is NoiseKind.RELATIVE
    assert pilot(Dataset.of(x, np.ones(200))) is None
    assert pilot(Dataset.of([1.0, 2.0], [1.0, 3.0])) is None
    assert pilot(Dataset.of(np.ones(50), generator.normal(size=50))) is None


def test_weights_are_inverse_squares_of_deviations_and_keep_their_sum() -> None:
    data = Dataset.of(np.arange(4.0), np.arange(4.0), weights=[1.0, 2.0, 1.0, 0.0])
    found = weighed(data, np.array([1.0, 2.0, 4.0, 1.0]))
    assert found.dataset.weights.sum() == pytest.approx(4.0)
    np.testing.assert_allclose(found.dataset.weights / found.dataset.weights[0], [1.0, 0.5, 1.0 / 16.0, 0.0])
    # A sample whose deviation is the unit keeps its weight.
    np.testing.assert_allclose(found.dataset.weights, data.weights * (found.unit / np.array([1.0, 2.0, 4.0, 1.0])) ** 2)


def test_the_size_of_noise_is_found_despite_outliers() -> None:
    data = saturating(100, 0, floor=1.0)
    y = data.y.copy()
    y[::10] += 500.0
    assert robust_size(Dataset.of(data.X, y)) == pytest.approx(1.0, rel=0.5)


@pytest.mark.parametrize("kind", list(NoiseKind))
def test_a_noise_is_a_sentence_and_survives_being_written(kind: NoiseKind) -> None:
    noise = Noise(kind, floor=0.5, share=0.05, evidence=12.3)
    assert Noise.of_values(noise.values()) == noise
    assert noise.words.startswith("The noise")
    assert noise.words.endswith(".")


def test_additive_noise_leaves_samples_as_they_are() -> None:
    data = saturating(20, 0, floor=1.0)
    assert ADDITIVE.weighed(data, data.y).dataset is data
    assert (ADDITIVE.growth(data.y) == 1.0).all()
