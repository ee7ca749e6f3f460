"""Quick laws: relative noise of few rows over decades is recognised, and what is not that stays additive."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from symseed import Dataset
from symseed.arrays import Floats
from symseed.data.noise import NoiseKind
from symseed.data.quick_laws import MOST_SAMPLES, SPAN, law_curve

LAWS: dict[str, Callable[[Floats], Floats]] = {
    "a power": lambda x: 3.0 * x**-3,
    "an exponential": lambda x: 50.0 * np.exp(-0.9 * x),
    "an exponential of a reciprocal": lambda x: 1e5 * np.exp(-14.0 / x),
}


def measured(law: Callable[[Floats], Floats], rows: int, *, share: float = 0.0, floor: float = 0.0) -> Dataset:
    generator = np.random.default_rng(rows)
    x = np.linspace(1.0, 10.0, rows)
    draws = generator.standard_normal(rows)
    return Dataset.of(x, law(x) * (1.0 + share * draws) + floor * law(x).max() * np.abs(draws))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("rows", [6, 9, 14])
def test_relative_noise_over_decades_is_recognised(name: str, rows: int) -> None:
    data = measured(LAWS[name], rows, share=0.05)
    found = law_curve(data)
    assert found is not None
    assert found.noise.kind is NoiseKind.RELATIVE
    assert 0.02 < found.noise.share < 0.1
    truth = found.noise.share * LAWS[name](data.X[:, 0])
    np.testing.assert_allclose(found.deviations(data.X), truth, rtol=0.25)


@pytest.mark.parametrize("name", ["an exponential", "an exponential of a reciprocal"])
def test_additive_noise_stays_additive(name: str) -> None:
    """Where it drowns the smallest values; a power law of few rows may hide it in another exponent."""
    data = measured(LAWS[name], 9, floor=0.01)
    assert data.y.max() > SPAN * data.y.min() > 0.0, "or the case would be none"
    assert law_curve(data) is None


def test_a_law_that_none_of_them_resembles_says_nothing() -> None:
    assert law_curve(measured(lambda x: np.exp(3.0 * np.sin(2.0 * x)), 12, share=0.05)) is None


def test_values_within_two_decades_of_either_sign_or_of_many_rows_say_nothing() -> None:
    power = LAWS["a power"]
    assert law_curve(measured(lambda x: x, 9, share=0.05)) is None
    wide = measured(power, 9, share=0.05)
    assert law_curve(Dataset.of(wide.X, wide.y * np.where(np.arange(9) == 4, -1.0, 1.0))) is None
    assert law_curve(measured(power, MOST_SAMPLES + 1, share=0.05)) is None
    assert law_curve(measured(power, 3, share=0.05)) is None


def test_the_answer_does_not_depend_on_units_or_the_sign() -> None:
    data = measured(LAWS["an exponential"], 9, share=0.05)
    found, other = law_curve(data), law_curve(Dataset.of(1e-9 * data.X, -1e60 * data.y))
    assert found is not None
    assert other is not None
    assert other.noise.share == pytest.approx(found.noise.share, rel=1e-6)
    np.testing.assert_allclose(other.deviations(1e-9 * data.X), 1e60 * found.deviations(data.X), rtol=1e-6)


def test_samples_where_the_law_has_no_value_have_finite_deviations() -> None:
    found = law_curve(measured(LAWS["a power"], 9, share=0.05))
    assert found is not None
    beyond = found.deviations(np.array([[0.0], [-1.0], [1e300], [5.0]]))
    assert (np.isfinite(beyond) & (beyond > 0.0)).all()
