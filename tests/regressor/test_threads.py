"""The number of threads: what is asked for, all cores where that pays, and one in a worker."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pytest

from symseed import SymbolicRegressor
from symseed.portfolio.portfolio import Portfolio
from symseed.regressor import target
from symseed.regressor.threads import ENOUGH_ROWS, count

CORES = joblib.cpu_count()


@pytest.mark.parametrize(
    ("asked", "rows", "constants", "expected"),
    [
        (None, ENOUGH_ROWS, True, CORES),
        (None, ENOUGH_ROWS - 1, True, 1),
        (None, 10_000, False, 1),
        (3, 10, True, 3),
        (1, 10_000, True, 1),
        (-1, 10, False, CORES),
        (10**6, 10, True, 1024),
    ],
)
def test_all_cores_are_used_where_that_pays(asked: int | None, rows: int, constants: bool, expected: int) -> None:
    assert count(asked, rows, constants=constants) == expected


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_a_worker_of_joblib_has_one_thread_unless_it_is_told_otherwise(backend: str) -> None:
    work = joblib.Parallel(n_jobs=2, backend=backend)
    assert work(joblib.delayed(count)(None, 10_000, constants=True) for _ in range(2)) == [1, 1]
    assert work(joblib.delayed(count)(2, 10_000, constants=True) for _ in range(2)) == [2, 2]


@pytest.mark.parametrize("jobs", [1, 2])
def test_joblib_may_be_told_the_number(jobs: int) -> None:
    with joblib.parallel_config(n_jobs=jobs):
        assert [count(None, rows, constants=True) for rows in (10, 10_000)] == [jobs, jobs]


@pytest.mark.parametrize(("rows", "expected"), [(ENOUGH_ROWS, 7), (ENOUGH_ROWS - 1, 1)])
def test_a_fit_has_as_many_threads_as_its_samples_are_worth(
    monkeypatch: pytest.MonkeyPatch, rows: int, expected: int
) -> None:
    seen: list[int] = []

    class Seen(Portfolio):
        def __init__(self, *args: Any, **given: Any) -> None:
            seen.append(given["threads"])
            super().__init__(*args, **given)

    monkeypatch.setattr(target, "Portfolio", Seen)
    monkeypatch.setattr(joblib, "effective_n_jobs", lambda jobs: 7 if jobs == -1 else 1)
    X = np.random.default_rng(0).uniform(1.0, 2.0, (rows, 2))
    y = X[:, 0] + np.random.default_rng(1).normal(size=rows)
    fronts = [
        SymbolicRegressor(method="nggp", constants=True, max_evals=500, max_time=None, random_state=0, n_jobs=jobs)
        .fit(X, y)
        .equations_
        for jobs in (None, 1)
    ]
    assert seen == [expected, 1]
    assert fronts[0].expression.tolist() == fronts[1].expression.tolist()
