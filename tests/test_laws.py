"""The judge of `perf/laws.py`: the law in any algebra and with any constants is right, what looks like it is not."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from symseed import Expression, Library
from symseed.language.tokens import OPERATORS

FOLDER = Path(__file__).parents[1] / "perf"


def load() -> ModuleType:
    sys.path.insert(0, str(FOLDER))  # it imports its neighbour
    try:
        spec = importlib.util.spec_from_file_location("laws", FOLDER / "laws.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["laws"] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(FOLDER))


laws = load()
LAWS = {law.name: law for law in laws.LAWS}


def judged(name: str, text: str):  # type: ignore[no-untyped-def]
    """Judge a formula over x1, x2, ..."""
    law = LAWS[name]
    formula = Expression.parse(text, Library.of(OPERATORS, len(law.ranges), constants=True))
    return laws.judge(law, formula.evaluate)


def test_there_are_twelve_laws_with_values_and_noise_as_stated() -> None:
    assert len(LAWS) == 12
    for law in laws.LAWS:
        data = law.data(0)
        exact = law.expression.evaluate(data.X)
        assert np.isfinite(exact).all()
        assert len(data) == 200
        assert (data.y - exact).std() == pytest.approx(0.01 * exact.std(), rel=0.2)
        assert (law.data(1).y != data.y).any()
        assert (law.data(0).y == data.y).all()


@pytest.mark.parametrize("name", LAWS)
def test_a_law_is_its_own_form(name: str) -> None:
    assert laws.judge(LAWS[name], LAWS[name].expression.evaluate).is_right


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ideal gas", "x1 / (x3 / (8.31 * x2))"),
        ("Michaelis-Menten", "x1 / (0.08334 * x1 + 0.0444 * x2 + 0.0667)"),
        ("Arrhenius", "exp(29.9336 - 0.12028 * x1 / x2)"),
        ("damped wave", "1.0005 * x1 * sin(5.2 * x2 + 1.5707963267948966) / exp(0.35 * x2)"),
        ("thin lens", "x1 + square(x1) / (x2 - x1)"),
        ("net radiation", "5.67e-8 * (x1 * x1 - x2 * x2) * (square(x1) + square(x2))"),
        ("projectile", "square(x1) * sin(x2) * cos(x2) / 4.9"),
        ("logistic growth", "1000.5 * exp(0.6 * x1) / (exp(0.6 * x1) + 49.0)"),
        ("relativistic energy", "2.694e25 * x1 / sqrt(8.98755e16 - square(x2))"),
        ("Nernst", "0.00008617 * (log(x2) - log(x3)) * x1"),
    ],
)
def test_the_law_in_another_form_and_with_other_constants_is_right(name: str, text: str) -> None:
    assert judged(name, text).is_right, judged(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ideal gas", "8.314 * x1 * x2 / x3 + 40.0"),
        ("ideal gas", "8.314 * x1 * x2 / (x3 + 0.00001)"),
        ("Arrhenius", "1e13 * exp(-0.12028 * (x1 + 1.0) / x2)"),
        ("net radiation", "5.67e-8 * square(square(x1)) - 5.66e-8 * square(square(x2))"),
        ("logistic growth", "1000.0 - 49004.0 / (exp(0.6 * x1) + 49.0)"),
        ("relativistic energy", "8.98755e16 * x1 / sqrt(1.0 - 1.11265e-17 * square(x2)) + 1e-14"),
        # Its series in the angle, good to 1e-4 of the spread
        (
            "projectile",
            "square(x1) * (2.0 * x2 - 1.3333333 * x2^3 + 0.26666667 * x2^5 - 0.025396825 * x2^7 + 0.0014109347 * x2^9"
            " - 0.000051306717 * x2^11 + 0.0000013155568 * x2^13) / 9.81",
        ),
    ],
)
def test_what_only_looks_like_the_law_is_not(name: str, text: str) -> None:
    judgement = judged(name, text)
    assert judgement.fit_error < laws.GOOD_FIT * laws.LEVEL, "it is as near as the noise asks for"
    assert not judgement.is_right


def test_the_form_with_constants_far_from_the_truth_is_no_good_fit() -> None:
    judgement = judged("ideal gas", "9.0 * x1 * x2 / x3")
    assert judgement.form_error <= laws.SAME_FORM
    assert not judgement.is_right


def test_a_formula_without_values_and_a_mere_number_are_not_the_law() -> None:
    assert not judged("Nernst", "log(-x1)").is_right
    assert not judged("Nernst", "x1 - x1").is_right


def test_a_model_of_scaled_data_is_judged_in_the_data_s_own_units() -> None:
    law = LAWS["gravitation"]
    units = laws.Magnitudes.of(law.data(0))
    factor = 6.674e-11 * units.columns[0] * units.columns[1] / units.columns[2] ** 2 / units.target
    outcome = laws.Outcome("pyoperon mdl", law.name, 0)
    model = f"({factor!r} * x1 * x2 / x3 ^ 2.0)"
    assert laws._judged(outcome, law, model, units).is_right
    # Without the number that a peer adds to every model, and that is said.
    added = laws._judged(outcome, law, f"(0.0005 + {model})", units)
    assert added.is_right
    assert added.is_bare
    ours = laws._judged(laws.Outcome(laws.OURS, law.name, 0), law, f"(0.0005 + {model})", units)
    assert not ours.is_right
