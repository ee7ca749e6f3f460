"""Approximate matches: the errors that NumPy's least squares gives, for all contexts and sub-expressions at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symseed.arrays import Floats
from symseed.completion import backsolve

seeds = st.integers(0, 2**32)


def least_squares(columns: list[Floats], desired: Floats, weight: Floats) -> float:
    """Return the weighted squared error of the best combination of some columns and a number."""
    root = np.sqrt(weight)
    design = root[:, None] * np.stack([np.ones(len(desired)), *columns], axis=1)
    solution = np.linalg.lstsq(design, root * desired, rcond=None)[0]
    return float(np.sum((design @ solution - root * desired) ** 2))


def draw(seed: int, contexts: int, parts: int, samples: int) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-3, 3, (parts, 1))
    values = scale * rng.normal(rng.normal(), 1.0, (parts, samples))
    desired = rng.normal(rng.normal(), 1.0, (contexts, samples))
    weights = rng.uniform(0.1, 2.0, (contexts, samples)) * 10.0 ** rng.uniform(-3, 3, (contexts, 1))
    weights[:, :: max(2, samples // 3)] *= rng.integers(0, 2)
    return desired, weights, values


@settings(max_examples=60, deadline=None)
@given(seed=seeds, contexts=st.integers(1, 5), parts=st.integers(1, 6), samples=st.integers(5, 40))
def test_affine_errors_are_those_of_least_squares(seed: int, contexts: int, parts: int, samples: int) -> None:
    desired, weights, values = draw(seed, contexts, parts, samples)
    found = backsolve.affine_errors(desired, weights, values)
    assert found.shape == (contexts, parts)
    for c in range(contexts):
        size = float(weights[c] @ desired[c] ** 2)
        for k in range(parts):
            expected = least_squares([values[k]], desired[c], weights[c])
            assert found[c, k] == pytest.approx(expected, rel=1e-7, abs=1e-9 * size)


@settings(max_examples=60, deadline=None)
@given(seed=seeds, samples=st.integers(5, 40), offset=st.floats(-10, 10), factor=st.floats(-10, 10))
def test_the_affine_fit_gives_the_desired_values(seed: int, samples: int, offset: float, factor: float) -> None:
    desired, weights, values = draw(seed, 1, 1, samples)
    found = backsolve.affine_fit(offset + factor * values[0], weights[0], values[0])
    np.testing.assert_allclose(found, (offset, factor), rtol=1e-6, atol=1e-6 * (1.0 + np.abs(values).max()))
    found = backsolve.affine_fit(desired[0], weights[0], values[0])
    error = float(weights[0] @ (found[0] + found[1] * values[0] - desired[0]) ** 2)
    size = float(weights[0] @ desired[0] ** 2)
    expected = float(backsolve.affine_errors(desired, weights, values)[0, 0])
    assert error == pytest.approx(expected, rel=1e-6, abs=1e-9 * (1.0 + size))


@settings(max_examples=60, deadline=None)
@given(seed=seeds, parts=st.integers(2, 7), samples=st.integers(6, 40))
def test_pair_errors_are_those_of_least_squares(seed: int, parts: int, samples: int) -> None:
    desired, weights, values = draw(seed, 1, parts, samples)
    found = backsolve.pair_errors(desired[0], weights[0], values)
    assert found.shape == (parts, parts)
    size = float(weights[0] @ desired[0] ** 2)
    for i in range(parts):
        for j in range(parts):
            if i == j:
                assert found[i, j] == np.inf, "no pair with itself"
            else:
                expected = least_squares([values[i], values[j]], desired[0], weights[0])
                assert found[i, j] == pytest.approx(expected, rel=1e-6, abs=1e-8 * size)


def test_an_exact_match_has_no_error_and_others_have() -> None:
    x = np.linspace(0.0, 3.0, 30)
    values = np.stack([x, np.sin(x), x**2])
    errors = backsolve.affine_errors((3.0 - 2.0 * np.sin(x))[None], np.ones((1, 30)), values)[0]
    assert errors.argmin() == 1
    assert errors[1] < 1e-12 < 0.1 < min(errors[0], errors[2])
    pairs = backsolve.pair_errors(1.0 + 2.0 * x - 5.0 * x**2, np.ones(30), values)
    assert {int(place) for place in np.unravel_index(pairs.argmin(), pairs.shape)} == {0, 2}
    np.testing.assert_allclose(pairs, pairs.T, atol=1e-9)


def test_a_value_that_does_not_change_explains_nothing() -> None:
    x = np.linspace(0.0, 3.0, 30)
    error = backsolve.affine_errors(x[None], np.ones((1, 30)), np.full((1, 30), 7.0))
    assert error[0, 0] == pytest.approx(float(np.sum((x - x.mean()) ** 2)))
    assert (backsolve.pair_errors(x, np.ones(30), np.stack([np.full(30, 7.0), x])) == np.inf).all()


def test_what_is_not_a_number_is_never_a_match() -> None:
    """Alone it is no better than a number, and in a pair infinitely wrong."""
    x = np.linspace(0.0, 3.0, 30)
    values = np.stack([np.where(x > 1.0, np.nan, x), np.full(30, 1e300), x])
    errors = backsolve.affine_errors(x[None], np.ones((1, 30)), values)[0]
    alone = float(np.sum((x - x.mean()) ** 2))
    assert errors[:2].min() >= alone * (1.0 - 1e-9)
    assert errors[2] < 1e-12
    pairs = backsolve.pair_errors(x, np.ones(30), values)
    assert np.isinf(pairs[0]).all()
    assert not np.isnan(pairs).any()
    assert np.isinf(backsolve.affine_errors(np.full((1, 30), np.nan), np.ones((1, 30)), values)).all()


def test_a_pair_of_two_copies_is_none() -> None:
    x = np.linspace(0.0, 3.0, 30)
    pairs = backsolve.pair_errors(x**2, np.ones(30), np.stack([x, 5.0 - 2.0 * x, np.sin(x)]))
    assert np.isinf(pairs[0, 1])
    assert np.isfinite(pairs[0, 2])
