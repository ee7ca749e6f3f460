"""The Gaussian process of the core has the evidence, gradient and predictions of NumPy's linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from reference import Floats
from symseed import _core

SETS = _core.instruction_sets()


def problem(seed: int, rows: int, columns: int) -> tuple[Floats, Floats, Floats, Floats, float]:
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(columns, rows))
    goal = np.sin(inputs).sum(axis=0) + 0.1 * rng.normal(size=rows) + 3.0
    return inputs, goal, rng.uniform(0.5, 2.0, rows), rng.uniform(0.5, 3.0, columns), float(rng.uniform(0.01, 0.3))


sizes = st.tuples(st.integers(0, 1000), st.integers(2, 40), st.integers(0, 5))


@settings(max_examples=40, deadline=None)
@given(sizes)
def test_the_evidence_is_that_of_a_gaussian(size: tuple[int, int, int]) -> None:
    given_ = problem(*size)
    value, gradient = _core.process_evidence(*given_)
    assert value == pytest.approx(reference.log_evidence(*given_), rel=1e-8, abs=1e-7)
    assert gradient.shape == (size[2] + 1,)


@settings(max_examples=20, deadline=None)
@given(sizes)
def test_the_gradient_is_that_of_the_evidence(size: tuple[int, int, int]) -> None:
    inputs, goal, noise, scales, ratio = problem(*size)
    _, gradient = _core.process_evidence(inputs, goal, noise, scales, ratio)
    step = 1e-5

    def at(place: int, change: float) -> float:
        moved = scales * np.exp(change * (np.arange(len(scales)) == place))
        own = ratio * np.exp(change) if place == len(scales) else ratio
        return _core.process_evidence(inputs, goal, noise, moved, own, gradient=False)[0]

    slopes = [(at(place, step) - at(place, -step)) / (2.0 * step) for place in range(len(gradient))]
    assert gradient == pytest.approx(slopes, rel=1e-4, abs=1e-4)


@settings(max_examples=20, deadline=None)
@given(sizes)
def test_predictions_are_those_of_a_gaussian(size: tuple[int, int, int]) -> None:
    given_ = problem(*size)
    points = np.random.default_rng(1).normal(size=(size[2], 7))
    mean, variance, *_ = _core.process_prediction(*given_, points)
    expected, spread = reference.process_prediction(*given_, points)
    assert mean == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert variance == pytest.approx(spread, rel=1e-5, abs=1e-7)


def test_a_row_left_out_is_predicted_by_the_others() -> None:
    inputs, goal, noise, scales, ratio = problem(3, 30, 2)
    _, _, mean, variance, noise_variance = _core.process_prediction(inputs, goal, noise, scales, ratio, inputs)
    whole = reference.covariance(inputs, noise, scales, ratio)
    ones = np.ones(30)
    constant = ones @ np.linalg.solve(whole, goal) / (ones @ np.linalg.solve(whole, ones))
    size = (goal - constant) @ np.linalg.solve(whole, goal - constant) / 30
    for i in (0, 11, 29):
        rest = np.arange(30) != i
        share = np.linalg.solve(whole[np.ix_(rest, rest)], whole[rest, i])
        assert mean[i] == pytest.approx(constant + share @ (goal[rest] - constant))
        assert variance[i] == pytest.approx(size * (whole[i, i] - share @ whole[rest, i]))
    assert noise_variance == pytest.approx(size * ratio)


def test_every_instruction_set_gives_the_same_bits() -> None:
    for rows, columns in ((1, 1), (8, 2), (37, 3), (200, 9)):
        given_ = problem(5, rows, columns)
        points = np.ascontiguousarray(given_[0][:, :3])
        found: set[bytes] = set()
        for name in SETS:
            parts: list[Any] = [*_core.process_evidence(*given_, instruction_set=name)]
            parts += _core.process_prediction(*given_, points, instruction_set=name)
            found.add(b"".join(np.asarray(part).tobytes() for part in parts))
        assert len(found) == 1


def test_a_covariance_that_is_singular_has_no_evidence() -> None:
    inputs = np.zeros((1, 3))
    args = (inputs, np.array([1.0, 2.0, 4.0]), np.ones(3), np.ones(1), 1e-300)
    value, gradient = _core.process_evidence(*args)
    assert np.isnan(value)
    assert np.isnan(gradient).all()
    assert all(np.isnan(part).all() for part in _core.process_prediction(*args, inputs))
    inputs[0, 1] = np.nan
    assert np.isnan(_core.process_evidence(inputs, np.ones(3), np.ones(3), np.ones(1), 0.1)[0])


def test_arguments_that_do_not_fit_are_refused() -> None:
    inputs, goal, noise, scales, ratio = problem(0, 5, 2)
    with pytest.raises(ValueError, match="same M"):
        _core.process_evidence(inputs, goal[1:], noise, scales, ratio)
    with pytest.raises(ValueError, match="each column"):
        _core.process_evidence(inputs, goal, noise, scales[1:], ratio)
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="positive"):
            _core.process_evidence(inputs, goal, noise, scales, bad)
    with pytest.raises(ValueError, match="columns of the inputs"):
        _core.process_prediction(inputs, goal, noise, scales, ratio, inputs[:1])
