"""Fits by islands: settings, run folders, resumes, and processes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

from symseed import SettingsError, SymbolicRegressor, files
from symseed.regressor import threads
from symseed.regressor.run import Run

RANDOM = np.random.default_rng(5)
X = RANDOM.uniform(0.3, 3.0, (40, 2))
Y = np.sin(X[:, 0] * X[:, 1]) * np.exp(-X[:, 0] / X[:, 1]) + RANDOM.normal(0.0, 0.05, 40)
GIVEN: dict[str, Any] = {
    "method": "nggp",
    "constants": True,
    "method_settings": {"batch": 50, "evolution.generations": 4},
    "max_evals": 3_000,
    "max_time": None,
    "random_state": 0,
    "islands": 2,
}


def fitted(**changes: Any) -> SymbolicRegressor:
    return SymbolicRegressor(**GIVEN | changes).fit(X, Y)


def front(model: SymbolicRegressor) -> list[str]:
    return [str(one.expression) for one in model.pareto_front_]


def test_a_fit_by_islands_is_the_same_with_any_number_of_processes_and_after_a_resume(tmp_path: Path) -> None:
    whole = fitted(n_jobs=1)
    with ThreadPoolExecutor(2) as executor:
        assert front(fitted(executor=executor)) == front(whole)

    turns: list[int] = []

    def stop(progress: Any) -> bool:
        turns.append(progress.turn.index)
        return turns[-1] == 2

    stopped = fitted(n_jobs=2, callback=stop, output_directory=str(tmp_path))
    assert turns[-1] == 2
    run = Run.read(Path(str(stopped.run_directory_)))
    assert run.settings.islands == 2
    plan = run.plan()
    state = run.checkpoints.newest(0, run.library(plan, ["x1 + x2"]), plan.settings)
    assert state is not None
    assert len(state.islands) == 2
    resumed = SymbolicRegressor.resume(str(stopped.run_directory_), max_evals=3_000, n_jobs=1)
    assert front(resumed) == front(whole)


def test_an_executor_needs_islands_and_templates_have_none() -> None:
    with pytest.raises(SettingsError, match="`executor` needs `islands`"):
        fitted(islands=1, executor=ThreadPoolExecutor(1))
    with pytest.raises(SettingsError, match=r"`executor` must be a `concurrent\.futures\.Executor`, a Dask client"):
        fitted(executor=3)
    with pytest.raises(SettingsError, match="`islands` and `template` cannot be combined"):
        fitted(template="const * f(x1)")
    with pytest.raises(SettingsError, match="`island_exchange` must be one of ring, best"):
        fitted(island_exchange="star")
    with pytest.raises(SettingsError, match=r"numbers of searches from 0 to \d+, but has 99"):
        fitted(island_tracks=[[99]])
    with pytest.raises(SettingsError, match="`islands` must be"):
        fitted(islands=0)


def test_islands_have_all_cores_but_one_in_a_worker_of_joblib() -> None:
    assert threads.processes(None) == joblib.cpu_count()
    assert threads.processes(3) == 3
    assert set(
        joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(threads.processes)(None) for _ in "ab")
    ) == {1}
    with joblib.parallel_config(n_jobs=2):
        assert threads.processes(None) == 2


def test_a_command_by_islands_that_is_killed_goes_on_to_the_same_answer(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b,y\n" + "\n".join(f"{a},{b},{y}" for (a, b), y in zip(X.tolist(), Y.tolist(), strict=True)))
    base = [sys.executable, "-m", "symseed"]
    config = tmp_path / "settings.toml"
    config.write_text(files.toml_text({name: "none" if value is None else value for name, value in GIVEN.items()}))
    limits = ["--config", str(config)]
    command = [*base, "fit", str(table), "-y", "y", *limits, "--json", "--output-directory"]
    whole = subprocess.run([*command, str(tmp_path / "one"), "--jobs", "1"], check=True, capture_output=True, text=True)
    with subprocess.Popen(
        [*command, str(tmp_path / "two")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as killed:
        while not list((tmp_path / "two").glob("*/checkpoint/*.json")):
            assert killed.poll() is None
            time.sleep(0.05)
        killed.send_signal(signal.SIGKILL)
    (folder,) = (tmp_path / "two").iterdir()
    resumed = subprocess.run(
        [*base, "resume", str(folder), "--json", "--jobs", "1"], check=True, capture_output=True, text=True
    )
    first, second = (json.loads(done.stdout)["targets"] for done in (whole, resumed))
    assert first == second
