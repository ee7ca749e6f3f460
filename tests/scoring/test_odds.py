"""Weights of formulas: what counts as one form, and what the numbers add up to."""

from __future__ import annotations

import numpy as np
import pytest

from symseed import Dataset, Expression, Library
from symseed.scoring.odds import HANDICAP, TEMPERATURE, UNKNOWN, form_weights, forms

LIBRARY = Library.of(["add", "sub", "mul", "div", "exp"], 1).with_constant()
X = np.linspace(0.1, 3.0, 40)
DATA = Dataset.of(X[:, None], 3.0 * np.exp(-X) + 0.5 + np.random.default_rng(0).normal(0.0, 0.05, 40))


def formula(text: str) -> Expression:
    return Expression.parse(text, LIBRARY)


def test_ways_to_write_a_form_and_rounded_constants_are_one_form() -> None:
    texts = [
        "3.0 * exp(-1.0 * x1) + 0.5",
        "0.52 + 2.96 * exp(-1.02 * x1)",
        "2.5 / exp(1.1 * x1) + 0.4",
        "3.0 / (x1 + 0.5)",
        "1.2",
    ]
    assert forms([formula(text) for text in texts], DATA) == [0, 0, 0, 1, 2]


def test_a_shorter_description_has_the_larger_weight_and_a_part_is_left_for_what_was_not_found() -> None:
    weights = form_weights([10.0, 12.0, 11.0], [0, 0, 1], selected=0, is_certain=False)
    odds = np.exp(-(1.0 + HANDICAP) / TEMPERATURE)
    total = 1.0 + odds + UNKNOWN
    assert weights == pytest.approx([1.0 / total, 1.0 / total, odds / total])
    assert weights[0] + weights[2] < 1.0
    certain = form_weights([10.0, 40.0], [0, 1], selected=0, is_certain=True)
    assert sum(certain) == pytest.approx(1.0)
    assert certain[0] > 0.999


def test_weights_do_not_depend_on_the_zero_of_descriptions() -> None:
    first = form_weights([-900.0, -899.0], [0, 1], selected=0, is_certain=False)
    assert first == pytest.approx(form_weights([5e6, 5e6 + 1.0], [0, 1], selected=0, is_certain=False))
