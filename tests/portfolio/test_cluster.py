"""A Dask cluster of processes of this machine: `make cluster` installs Dask, and runs these tests."""

from __future__ import annotations

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.model_selection import GridSearchCV
from test_islands import followed, islands

from symseed import DataError, SettingsError, SymbolicRegressor
from symseed.benchmarks.runner import run_many, run_one
from symseed.benchmarks.store import RunKey, RunRecord, Store
from symseed.cli.bench import bench_commands
from symseed.cluster import Cluster, LostSchedulerError
from symseed.data.chunks import Chunk
from symseed.regressor import threads as fit_threads
from symseed.search import StopReason
from symseed.tables import LargeTable, TableOptions
from symseed.tables.large import Roles, TableChunks
from symseed.tables.opening import opened

distributed = pytest.importorskip("distributed", reason="Dask is not installed: make cluster")
ROOT = Path(__file__).parent.parent.parent
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as running:
        yield running


@pytest.fixture(scope="module")
def expected() -> Any:
    return followed(islands())


def plain(records: list[RunRecord]) -> dict[RunKey, RunRecord]:
    return {record.key: dataclasses.replace(record, cpu_seconds=0.0, check_seconds=0.0) for record in records}


KEYS = [RunKey("Nguyen-1", "nggp-s-1", seed, expressions=300) for seed in range(6)]


def test_islands_give_the_same_answer_even_if_a_worker_is_killed(cluster: Any, expected: Any) -> None:
    with Cluster(cluster.scheduler_address) as executor:
        search = islands(executor=executor)
        turns = []
        for turn in search.turns():
            turns.append(dataclasses.replace(turn, seconds=0.0))
            if turn.index == 2:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
    assert turns == expected[0]
    assert [(str(one.expression), one.description) for one in search.front()] == expected[1]


def test_benchmark_runs_give_the_same_records_as_here(cluster: Any, tmp_path: Path) -> None:
    here = Store(tmp_path / "here")
    run_many(KEYS, here, jobs=1, done=lambda _: None)
    arguments = ["run", "Nguyen-1", "--method", "nggp-s-1", "--seeds", "0:6", "--max-evals", "300"]
    where = ["--scheduler", cluster.scheduler_address, "--store", str(tmp_path / "there")]
    done = CliRunner().invoke(bench_commands, [*arguments, *where])
    assert done.exit_code == 0, done.output
    there = plain(Store(tmp_path / "there").read())
    assert {dataclasses.replace(key) for key in there} == set(KEYS)
    assert there == plain(here.read())


def test_the_client_of_a_cluster_is_an_executor_too(cluster: Any) -> None:
    with distributed.Client(cluster, set_as_default=False) as client:
        random = np.random.default_rng(0)
        X = random.uniform(1.0, 2.0, (30, 2))
        given: dict[str, Any] = {"method": "nggp", "constants": True, "max_evals": 1_000, "max_time": None}
        given |= {"method_settings": {"batch": 50, "evolution.generations": 4}, "random_state": 0, "islands": 2}
        y = np.sin(X[:, 0]) + random.normal(0.0, 0.1, 30)
        fitted = [SymbolicRegressor(**given, **own).fit(X, y) for own in ({"executor": client}, {"n_jobs": 1})]
        assert str(fitted[0].pareto_front_) == str(fitted[1].pareto_front_)
        assert client.status == "running"


def test_a_fit_in_a_worker_of_joblib_on_the_cluster_has_one_thread(cluster: Any) -> None:
    """So a `GridSearchCV` with this backend has as many threads as the cluster."""
    joblib = pytest.importorskip("joblib")
    with distributed.Client(cluster, set_as_default=False) as client, joblib.parallel_config("dask", client=client):
        work = joblib.Parallel()
        assert set(work(joblib.delayed(fit_threads.processes)(None) for _ in range(3))) == {1}
        assert set(work(joblib.delayed(fit_threads.count)(None, 10**6, constants=True) for _ in range(3))) == {1}
        X = np.linspace(1.0, 2.0, 20)[:, None]
        given: dict[str, Any] = {"method": "nggp", "max_evals": 200, "max_time": None, "random_state": 0}
        search = GridSearchCV(SymbolicRegressor(**given), {"maxsize": [3, 5]}, cv=2).fit(X, X[:, 0])
    assert search.best_score_ == pytest.approx(1.0)


# --- Large tables ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    random = np.random.default_rng(0)
    a, b = random.uniform(0.5, 2.0, (2, 1_500_000))
    return pd.DataFrame({"a": a, "b": b, "y": 1.234 * a * a + 0.567 * b + random.normal(0.0, 0.2, len(a))})


@pytest.fixture(scope="module")
def folder(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table")
    for place, begin in enumerate(range(0, len(frame), 400_000)):
        frame.iloc[begin : begin + 400_000].to_parquet(path / f"part-{place}.parquet", row_group_size=70_000)
    return path


QUICK: dict[str, Any] = {"method": "nggp", "constants": True, "max_evals": 300, "max_time": None, "random_state": 0}
QUICK |= {"method_settings": {"batch": 50, "evolution.generations": 4}}


@pytest.fixture(scope="module")
def in_memory(frame: pd.DataFrame) -> str:
    return described(SymbolicRegressor(**QUICK).fit(frame[["a", "b"]], frame["y"]))


def described(model: SymbolicRegressor) -> str:
    return str([(str(one.expression), one.loss, one.description) for one in model.pareto_front_])


def slowly(chunk: Chunk) -> Any:
    time.sleep(0.2)
    return np.array([chunk.data.X.sum(), chunk.data.y.sum()])


def test_a_large_table_is_read_by_the_workers_even_if_one_is_killed_on_the_way(cluster: Any, folder: Path) -> None:
    table = LargeTable.of(opened(str(folder), TableOptions()), Roles(("a", "b"), "y"))
    here = TableChunks(table, ("a", "b"), threads=2).total(slowly)
    with Cluster(cluster.scheduler_address) as executor:
        killer = threading.Timer(1.0, lambda: os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL))
        killer.start()
        there = TableChunks(table, ("a", "b"), executor=executor).total(slowly)
        assert not killer.is_alive()
    assert there.tolist() == here.tolist()


def test_a_fit_on_a_cluster_has_the_formulas_of_the_table_in_memory(cluster: Any, folder: Path, in_memory: str) -> None:
    assert described(SymbolicRegressor(**QUICK, executor=cluster.scheduler_address).fit(folder, "y")) == in_memory


def test_a_dask_frame_is_fitted_partition_by_partition(cluster: Any, folder: Path, in_memory: str) -> None:
    dask_frame = pytest.importorskip("dask.dataframe").read_parquet(folder)
    with distributed.Client(cluster):
        assert described(SymbolicRegressor(**QUICK).fit(dask_frame[["a", "b"]], dask_frame["y"])) == in_memory
    assert described(SymbolicRegressor(**QUICK).fit(dask_frame, "y")) == in_memory


def test_a_partition_whose_column_has_another_type_is_named(frame: pd.DataFrame) -> None:
    dask = pytest.importorskip("dask.dataframe")
    parts = dask.from_pandas(frame[:20_000], npartitions=4)
    changed = parts.map_partitions(
        lambda part: part.assign(a="x") if part.index[0] == 10_000 else part, meta=parts._meta
    )
    with pytest.raises(DataError, match="Partition 2 must have numbers in `a`, as the others have"):
        SymbolicRegressor(**QUICK).fit(changed, "y")


# --- Other executors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["islands_loky", "islands_mpi"])
def test_the_examples_of_executors_print_what_one_process_finds(name: str) -> None:
    command = [sys.executable, str(ROOT / "examples" / f"{name}.py")]
    if name == "islands_mpi":
        pytest.importorskip("mpi4py")
        starter = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        if starter is None:
            pytest.skip("There is no mpiexec.")
        command = [starter, "-n", "3", sys.executable, "-m", "mpi4py.futures", *command[1:]]
    else:
        pytest.importorskip("loky")
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    t = np.linspace(0.0, 6.0, 60)
    y = 1.5 * np.exp(-0.4 * t) * np.cos(3.0 * t) + np.random.default_rng(0).normal(0.0, 0.05, 60)
    islands_, most = (4, 12_000) if name == "islands_mpi" else (2, 6_000)
    model = SymbolicRegressor(islands=islands_, n_jobs=1, max_evals=most, max_time=None, random_state=0)
    model.fit(t[:, None], y)
    assert done.stdout == f"{model.best_}\n{model.stop_reason_}\n"


def test_a_worker_of_another_version_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"A worker has symseed \d.*, but the search runs symseed 9\.9\.9"):
        run_one(KEYS[0], "9.9.9")


def test_an_address_at_which_nothing_answers_gets_a_sentence() -> None:
    with pytest.raises(SettingsError, match=r"must be one that answers, such as tcp://10\.0\.0\.1:8786"):
        Cluster("tcp://127.0.0.1:9")


def test_a_scheduler_that_goes_away_ends_the_work_with_what_there_is(tmp_path: Path, expected: Any) -> None:
    base = [sys.executable, "-m"]
    file = tmp_path / "scheduler.json"
    options = ["--scheduler-file", str(file), "--no-dashboard"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*base, "distributed.cli.dask_scheduler", *options, "--port", "0", "--host", "127.0.0.1"], **quiet
    )
    worker = subprocess.Popen([*base, "distributed.cli.dask_worker", *options, "--nthreads", "1"], **quiet)
    try:
        while not file.exists():
            time.sleep(0.1)
        address = distributed.Client(scheduler_file=str(file), timeout=30).scheduler.address
        with Cluster(address) as executor:
            executor._client.wait_for_workers(1, timeout=60)
            search = islands(executor=executor)
            turns = []
            for turn in search.turns():
                turns.append(dataclasses.replace(turn, seconds=0.0))
                if turn.index == 2:
                    scheduler.kill()
            assert turns[-1].reason is StopReason.LOST
            assert turns[:2] == expected[0][:2]
            with pytest.raises(LostSchedulerError):
                run_many(KEYS, Store(tmp_path / "store"), jobs=2, done=lambda _: None, executor=executor)
        assert search.state is not None
        again = followed(islands(begin=search.state))
        assert again[1] == expected[1]
    finally:
        scheduler.kill()
        worker.terminate()
        scheduler.wait()
        worker.wait()
