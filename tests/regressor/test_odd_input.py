"""Input that is odd but possible: a sentence, or the right answer in a time that does not depend on how odd it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symseed import DataError, Expression, Library, SettingsError, SymbolicRegressor

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 3.0, (40, 2))


def quick(**given: Any) -> SymbolicRegressor:
    settings: dict[str, Any] = {"method": "nggp", "max_evals": 300, "max_time": None, "random_state": 0}
    return SymbolicRegressor(**settings | given)


def test_a_target_without_columns_or_with_tiny_numbers_gets_a_sentence() -> None:
    with pytest.raises(DataError, match="`y` must have at least one column, but it has none"):
        quick().fit(X, np.zeros((40, 0)))
    with pytest.raises(DataError, match=r"`y` must have larger numbers, .* Multiply it by a power of ten"):
        quick().fit(X, X[:, 0] * 1e-320)


def test_an_output_directory_that_no_system_has_gets_a_sentence() -> None:
    with pytest.raises(SettingsError, match="`output_directory` must be a folder that can be written to"):
        quick(output_directory="a\0b").fit(X, X[:, 0])


def test_a_run_that_cannot_be_made_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("symseed.files.replace", full)
    with pytest.raises(SettingsError, match="No space left on device"):
        quick(output_directory=tmp_path).fit(X, X[:, 0])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "given", [{"constraints": {"*": (10**30, 3)}}, {"nested_constraints": {"sin": {"sin": 10**30}}}]
)
def test_a_limit_beyond_any_formula_is_no_limit(given: dict[str, Any]) -> None:
    operators = {"unary_operators": ["sin"]}
    assert quick(**operators, **given).fit(X, X[:, 0]).equations_ is not None


@pytest.mark.parametrize(
    "text", ["log(x1)", "sqrt(x1 - x2) + exp(700 * x2)", "x1 / (x2 - x2)", "log(x1) * 0.37 + x2^3"]
)
def test_rows_out_of_the_domain_leave_the_others_as_they_are(text: str) -> None:
    """The values are, to the last bit, those of each row alone."""
    table = RNG.uniform(-2.0, 2.0, (301, 2))
    library = Library.of(["add", "sub", "mul", "div", "log", "sqrt", "exp", "pow", "const", "700", "0.37", "3"], 2)
    formula = Expression.parse(text, library)
    alone = np.concatenate([formula.evaluate(table[place : place + 1]) for place in range(len(table))])
    assert np.isnan(alone).any()
    np.testing.assert_array_equal(formula.evaluate(table), alone)
