"""Rows that are held out: the search never sees them, and each formula's loss on them is shown beside its own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import mean_squared_error
from sklearn.utils import check_random_state

from symseed import DataError, SettingsError, SymbolicRegressor
from symseed.regressor.run import Run
from symseed.regressor.run_data import RunData

RNG = np.random.default_rng(7)
X = RNG.uniform(0.5, 3.0, (40, 2))
Y = X[:, 0] ** 2 + 0.3 * X[:, 1] + 0.1 * RNG.normal(size=len(X))


def quick(**parameters: Any) -> SymbolicRegressor:
    given = {"method": "nggp-s-1", "max_evals": 3_000, "max_time": None, "random_state": 5, "test_size": 0.25}
    return SymbolicRegressor(**{**given, **parameters})


def held_out(size: float, weights: Any = None, *, seed: int | None = None) -> Any:
    """Which rows a fit of `random_state` 5 holds out."""
    data = RunData(X, Y[:, None], np.ones(len(X)) if weights is None else weights, ("a", "b"), True, False, ("y",))
    found = data.with_test(size, int(check_random_state(5).randint(2**31 - 1)) if seed is None else seed)
    assert found.is_test is not None
    return found.is_test


def test_the_search_never_sees_the_rows_that_are_held_out() -> None:
    rows = held_out(0.25)
    assert rows.sum() == 10
    other = np.where(rows, 1e6, Y)
    first, second = quick().fit(X, Y), quick().fit(X, other)
    without = quick(test_size=None).fit(X[~rows], Y[~rows])
    seen = [[(str(item), item.loss) for item in model.pareto_front_] for model in (first, second, without)]
    assert seen[0] == seen[1] == seen[2]
    assert first.best_.test_loss < 1.0 < second.best_.test_loss
    assert without.best_.test_loss is None


def test_a_test_loss_is_that_of_predict_on_these_rows() -> None:
    rows = held_out(0.25)
    model = quick().fit(X, Y)
    for place, item in enumerate(model.pareto_front_):
        assert item.test_loss == mean_squared_error(Y[rows], model.predict(X[rows], place))
        assert item.loss == mean_squared_error(Y[~rows], model.predict(X[~rows], place))
    assert list(model.equations_["test_loss"]) == [item.test_loss for item in model.pareto_front_]
    assert "test loss" in repr(model)
    assert "<th>test loss</th>" in model._repr_html_()
    plain = quick(test_size=None).fit(X, Y)
    assert "test_loss" not in plain.equations_
    assert "test loss" not in repr(plain)


def test_weights_and_the_loss_count_on_these_rows_too() -> None:
    weights = np.r_[np.zeros(10), RNG.uniform(0.5, 2.0, 30)]
    rows = held_out(0.5, weights)
    assert rows.sum() == 15
    assert not rows[:10].any(), "a row that does not count cannot test"
    model = quick(test_size=0.5, loss="mae").fit(X, Y, weights)
    error = np.abs(Y - model.predict(X))[rows]
    assert model.best_.test_loss == pytest.approx(np.average(error, weights=weights[rows]))


def test_a_formula_without_a_value_there_has_no_test_loss() -> None:
    rows = held_out(0.25)
    hidden = X.copy()
    hidden[rows, 0] = -1.0
    model = quick(binary_operators=["*"], unary_operators=["log"]).fit(hidden, np.log(X[:, 0]) ** 2)
    assert str(model.best_) == "log(x1)^2"
    assert math.isnan(model.best_.test_loss)


def test_a_run_that_is_read_or_resumed_has_the_same_test(tmp_path: Path) -> None:
    model = quick(output_directory=tmp_path).fit(X, Y)
    assert model.run_directory_ is not None
    expected = [item.test_loss for item in model.pareto_front_]
    assert [item.test_loss for item in SymbolicRegressor.from_file(model.run_directory_).pareto_front_] == expected
    run = Run.read(Path(model.run_directory_))
    np.testing.assert_array_equal(run.data.is_test, held_out(0.25))
    longer = SymbolicRegressor.resume(model.run_directory_, max_evals=6_000)
    whole = quick(max_evals=6_000).fit(X, Y)
    assert [(str(item), item.test_loss) for item in longer.pareto_front_] == [
        (str(item), item.test_loss) for item in whole.pareto_front_
    ]
    with pytest.raises(SettingsError, match="`test_size` of a run cannot be changed"):
        SymbolicRegressor.resume(model.run_directory_, test_size=0.5)


@pytest.mark.parametrize(("size", "count"), [(0.25, 10), (0.01, 1), (3, 3), (0.9, 36)])
def test_a_size_is_a_share_or_a_number_of_rows(size: float, count: int) -> None:
    assert held_out(size).sum() == count


def test_another_seed_holds_out_other_rows() -> None:
    assert (held_out(0.5, seed=0) != held_out(0.5, seed=1)).any()
    assert (held_out(0.5, seed=0) == held_out(0.5, seed=0)).all()


@pytest.mark.parametrize("size", [0, 0.0, 1.0, 1.5, -1, True, "0.2", math.nan])
def test_a_size_that_is_none_gets_a_sentence(size: Any) -> None:
    with pytest.raises(SettingsError, match="`test_size` must be a share of the rows between 0 and 1, or a number"):
        quick(test_size=size).fit(X, Y)


def test_a_test_leaves_rows_to_fit_and_an_earlier_fit_may_not_have_seen_them() -> None:
    with pytest.raises(DataError, match="`test_size` must leave a row to fit, but 40 of 40 rows leaves none"):
        quick(test_size=40).fit(X, Y)
    with pytest.raises(SettingsError, match="`test_size` and `warm_start` cannot be combined"):
        quick(warm_start=True).fit(X, Y)
