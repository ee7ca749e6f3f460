"""Many runs: each once, each with its record, whatever happens to the process."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import _ExecutorManagerThread
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from symseed import DataError, Dataset, Expression, SettingsError, benchmarks, files, methods, portfolio
from symseed.benchmarks import execution, pool, runner
from symseed.benchmarks.runner import run_many
from symseed.benchmarks.store import FILE, RunKey, RunRecord, Store
from symseed.cli.bench import bench_commands
from symseed.portfolio.settings import PortfolioSettings
from symseed.portfolio.solution import Solution
from symseed.recovery.checker import Checker
from symseed.scoring.regression import RegressionTask
from symseed.search.budget import Budget, StopReason


def ignore(record: RunRecord) -> None:
    del record


def run(keys: list[RunKey], folder: Path, jobs: int = 1) -> list[RunRecord]:
    done: list[RunRecord] = []
    runner.run_many(keys, Store(folder), jobs=jobs, done=done.append)
    return done


def symseed(*arguments: str) -> list[str]:
    return [str(Path(sys.executable).parent / "symseed"), *arguments]


def test_a_plan_is_every_problem_with_every_method_and_seed() -> None:
    keys = runner.plan(["R", "Nguyen-1", "R-1"], ["nggp", "gp"], range(3), draw=2, expressions=None)
    assert len(keys) == len(set(keys)) == 4 * 2 * 3
    assert keys[0] == RunKey("R-1", "nggp", 0, 2, 2_000_000)
    assert {key.problem for key in keys} == {"R-1", "R-2", "R-3", "Nguyen-1"}
    assert runner.plan(["Jin-1"], ["nggp"], [0], draw=0, expressions=7)[0].expressions == 7
    with pytest.raises(SettingsError, match="Did you mean `Nguyen-1`"):
        runner.plan(["Nguyen1"], ["nggp"], [0], draw=0, expressions=None)


def test_a_plan_has_each_level_of_noise_and_a_budget_in_time() -> None:
    keys = runner.plan(["R"], ["nggp"], range(2), draw=0, noises=(0.0, 0.01), seconds=5.0)
    assert len(keys) == len(set(keys)) == 3 * 2 * 2
    assert [key.noise for key in keys] == [0.0] * 6 + [0.01] * 6
    assert {key.seconds for key in keys} == {5.0}
    (plain,) = runner.plan(["R-1"], ["nggp"], [0], draw=0)
    assert (plain.seconds, plain.noise) == (None, 0.0)
    (own,) = runner.plan(["R-1"], ["default"], [0], draw=0)
    budget = methods.get("default").budget
    assert (own.expressions, own.seconds) == (budget.expressions, budget.seconds)
    (other,) = runner.plan(["R-1"], ["default"], [0], draw=0, seconds=7.0, expressions=9)
    assert (other.expressions, other.seconds) == (9, 7.0)


def test_a_method_without_a_budget_of_expressions_needs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    timed = dataclasses.replace(methods.get("nggp"), budget=Budget(None, 1.0))
    monkeypatch.setattr(methods, "get", lambda name: timed)
    with pytest.raises(SettingsError, match="has no budget of expressions"):
        runner.plan(["R-1"], ["nggp"], [0], draw=0)
    assert runner.plan(["R-1"], ["nggp"], [0], draw=0, expressions=5)[0].expressions == 5


def test_runs_that_differ_in_noise_or_seconds_alone_are_different_runs(tmp_path: Path) -> None:
    keys = [RunKey("Nguyen-1", "nggp", 0, 0, 2_000, seconds, noise) for seconds in (None, 9.0) for noise in (0.0, 0.1)]
    records = run(keys, tmp_path)
    assert [record.key for record in records] == keys
    assert [(record.seconds, record.noise) for record in records] == [(None, 0.0), (None, 0.1), (9.0, 0.0), (9.0, 0.1)]
    assert run(keys, tmp_path) == []
    assert [record.key for record in Store(tmp_path).read()] == keys


def test_records_from_before_there_was_noise_are_read_as_without(tmp_path: Path) -> None:
    values = dataclasses.asdict(made(3))
    for name in ("noise", "seconds", "lookups", "hits", "splices"):
        del values[name]
    (tmp_path / FILE).write_text(json.dumps(values) + "\n", encoding="utf-8")
    assert Store(tmp_path).read() == [made(3)]
    assert Store(tmp_path).read()[0].key == RunKey("Nguyen-1", "nggp", 3)


def test_noise_is_in_the_training_data_alone_and_the_form_counts(
    checker: Checker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is searched, and what is asked of the answer: here the form of the target with other constants."""
    problem = benchmarks.get("Jin-4")
    clean, test = problem.datasets()
    given: list[Dataset] = []
    answer = Expression.parse("1.4 * exp(x1) + 5.2 * cos(x2)", problem.library)

    def solve(method: object, library: object, train: Dataset, *, test: Dataset, seed: int, budget: Budget) -> object:
        given.extend([train, test])
        solution = portfolio.run(problem.library, Dataset.of(clean.X[:2], [1.0, 1.0]), quick(), budget=budget)
        return execution.Found(answer, solution.history[-1], solution.reason)

    monkeypatch.setattr(execution, "solve", solve)
    noisy, plain = (execution.execute(RunKey("Jin-4", "default", 3, noise=level), checker) for level in (0.05, 0.0))
    np.testing.assert_array_equal(given[0].y, clean.with_noise(0.05, seed=3).y)
    np.testing.assert_array_equal(given[0].X, clean.X)
    np.testing.assert_array_equal(given[2].y, clean.y)
    for held_out in (given[1], given[3]):
        np.testing.assert_array_equal(held_out.y, test.y)
    assert (noisy.error, plain.error) == ("", "")
    assert (noisy.verdict, plain.verdict) == ("exact", "no")


def quick() -> PortfolioSettings:
    settings = methods.get("default").portfolio
    assert settings is not None
    return settings


def test_a_method_is_run_be_it_one_search_or_several(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = benchmarks.get("Nguyen-1")
    train, test = problem.datasets()
    asked: list[Dataset] = []
    original = RegressionTask.__init__

    def watched(self: RegressionTask, *arguments: object, test: Dataset | None = None) -> None:
        asked.extend([] if test is None else [test])
        original(self, *arguments, test=test)  # type: ignore[arg-type]

    monkeypatch.setattr(RegressionTask, "__init__", watched)
    for name in ("nggp", "default"):
        found = execution.solve(methods.get(name), problem.library, train, test=test, seed=0, budget=Budget(200_000))
        assert found.reason is StopReason.SOLVED
        assert abs(found.best.evaluate(test.X) - test.y).max() < 1e-12
        assert found.last.charged < 200_000
        assert [data is test for data in asked] == [True], "only one search asks the test data when to stop"


def test_a_portfolio_gets_its_seed_and_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = benchmarks.get("Nguyen-1")
    train, test = problem.datasets()
    given: list[tuple[int, Budget | None]] = []
    original = portfolio.run

    def watched(*arguments: object, seed: int = 0, budget: Budget | None = None) -> Solution:
        given.append((seed, budget))
        return original(*arguments, seed=seed, budget=budget)  # type: ignore[arg-type]

    monkeypatch.setattr(portfolio, "run", watched)
    execution.solve(methods.get("default"), problem.library, train, test=test, seed=7, budget=Budget(50, 3.0))
    assert given == [(7, Budget(50, 3.0))]


def test_a_run_says_what_it_found_and_whether_that_is_the_target(tmp_path: Path) -> None:
    (record,) = run([RunKey("Nguyen-1", "nggp", 0)], tmp_path)
    assert record.is_recovered
    assert record.passes_reference
    assert record.test_nmse < 1e-12
    assert record.reason == "The task is solved."
    assert 0 < record.evaluated <= record.charged < 2_000_000
    assert record.error == ""
    problem = benchmarks.get("Nguyen-1")
    train, _ = problem.datasets()
    expression = Expression.parse(record.formula, problem.library)
    assert abs(expression.evaluate(train.X) - train.y).max() < 1e-12
    (other,) = run([RunKey("Nguyen-12*", "nggp", 0, 0, 2_000)], tmp_path)
    assert (other.verdict, other.passes_reference) == ("no", False)
    assert other.charged < 4_000


def test_nothing_runs_twice_and_the_same_key_gives_the_same_answer(tmp_path: Path) -> None:
    keys = [RunKey("Nguyen-1", "nggp", seed) for seed in range(2)]
    first = run(keys, tmp_path / "a")
    assert run(keys, tmp_path / "a") == []
    assert [r.key for r in run([*keys, RunKey("Nguyen-1", "nggp", 2)], tmp_path / "a")] == [
        RunKey("Nguyen-1", "nggp", 2)
    ]
    again = run(keys, tmp_path / "b", jobs=2)
    for one, other in zip(first, sorted(again, key=lambda record: record.seed), strict=True):
        assert dataclasses.replace(other, cpu_seconds=one.cpu_seconds, check_seconds=one.check_seconds) == one


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[type, str], None]]:
    """Let the first call of a method be interrupted; every process that was there then must have been killed.

    They are stopped, as they are for long while they start on a busy machine: none ends by itself.
    """
    before = set(multiprocessing.active_children())
    started: list[Any] = []

    def replace(kind: type, name: str) -> None:
        def interrupt(*_: Any, **__: Any) -> None:
            started.extend(set(multiprocessing.active_children()) - before)
            for process in started:
                os.kill(process.pid, signal.SIGSTOP)
            monkeypatch.undo()
            raise KeyboardInterrupt

        monkeypatch.setattr(kind, name, interrupt)

    yield replace
    assert started
    for process in started:
        process.join(20.0)
        assert process.exitcode == -signal.SIGKILL


def test_ctrl_c_while_processes_are_awaited_leaves_none(interrupted: Callable[[type, str], None]) -> None:
    """One may still be starting when all runs are done."""
    interrupted(_ExecutorManagerThread, "join")
    with pytest.raises(KeyboardInterrupt):
        pool.run([RunKey("Nguyen-1", "nggp", seed, expressions=300) for seed in range(2)], 2, ignore)


def test_ctrl_c_during_a_run_that_is_repeated_ends_it(interrupted: Callable[[type, str], None]) -> None:
    interrupted(Future, "result")
    with pytest.raises(KeyboardInterrupt):
        pool._run_alone(RunKey("Nguyen-1", "nggp", 0, expressions=300))


def test_a_run_that_fails_is_recorded_and_the_others_go_on(tmp_path: Path) -> None:
    keys = [RunKey("Nguyen-1", "nggp", 0), RunKey("Nguyen-1", "nggp", -1), RunKey("Nguyen-1", "nggp", 1)]
    records = run(keys, tmp_path, jobs=2)
    by_seed = {record.seed: record for record in records}
    assert "`seed` must be at least 0" in by_seed[-1].error
    assert by_seed[0].is_recovered
    assert by_seed[1].is_recovered
    assert not by_seed[-1].is_recovered


def test_a_torn_last_line_is_left_out_and_its_run_is_done_again(tmp_path: Path) -> None:
    keys = [RunKey("Nguyen-1", "nggp", seed) for seed in range(2)]
    run(keys, tmp_path)
    path = tmp_path / FILE
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    assert [record.seed for record in Store(tmp_path).read()] == [0]
    assert [record.seed for record in run(keys, tmp_path)] == [1]
    assert [record.seed for record in Store(tmp_path).read()] == [0, 1]


def made(seed: int, method: str = "nggp", **values: object) -> RunRecord:
    return dataclasses.replace(execution.failed(RunKey("Nguyen-1", method, seed), ""), **values)  # type: ignore[arg-type]


def stored(folder: Path, *records: RunRecord) -> Store:
    store = Store(folder)
    with store.writer() as append:
        for record in records:
            append(record)
    return store


def test_packed_records_are_read_as_they_were_and_before_the_others(tmp_path: Path) -> None:
    records = [made(seed, formula="x1", reward=1 / 3, test_nmse=2 / 3) for seed in range(3)]
    store = stored(tmp_path, *records)
    assert store.pack() == 3
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl.gz"]
    assert store.read() == records
    stored(tmp_path, made(3))
    assert store.read() == [*records, made(3)]
    assert store.pack() == 4
    assert store.read() == [*records, made(3)]


def test_of_two_records_of_a_run_the_later_one_is_packed(tmp_path: Path) -> None:
    store = stored(tmp_path, made(0, formula="x1"))
    store.pack()
    stored(tmp_path, made(0, formula="x1 + x1"))
    assert store.pack() == 1
    assert [record.formula for record in store.read()] == ["x1 + x1"]


def test_packing_sorts_and_the_same_records_give_the_same_bytes(tmp_path: Path) -> None:
    records = [made(seed, method) for method in ("nggp", "dsr") for seed in range(4)]
    one, other = stored(tmp_path / "a", *records), stored(tmp_path / "b", records[0], *records[:0:-1])
    for store in (one, other):
        store.pack()
        first = store.packed.read_bytes()
        store.pack()
        assert store.packed.read_bytes() == first
    assert [(record.method, record.seed) for record in one.read()] == [
        (method, seed) for method in ("nggp", "dsr") for seed in range(4)
    ]
    assert one.packed.read_bytes() == other.packed.read_bytes()
    assert one.packed.read_bytes()[3:8] == bytes(5), "the header has neither a name nor a date"


def test_packing_rounds_times_and_nothing_else(tmp_path: Path) -> None:
    exact = made(0, cpu_seconds=1.23456789, check_seconds=0.000123456789, reward=0.123456789, train_nmse=1.23456789e-9)
    store = stored(tmp_path, exact)
    store.pack()
    assert store.read() == [dataclasses.replace(exact, cpu_seconds=1.23457, check_seconds=0.000123457)]


def test_nothing_that_is_packed_runs_again(tmp_path: Path) -> None:
    keys = [RunKey("Nguyen-1", "nggp", seed) for seed in range(2)]
    run(keys[:1], tmp_path)
    Store(tmp_path).pack()
    assert [record.key for record in run(keys, tmp_path)] == keys[1:]
    assert [record.key for record in Store(tmp_path).read()] == keys


def test_packing_that_is_interrupted_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = stored(tmp_path, made(0))

    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            store.pack()
    assert store.read() == [made(0)]
    assert store.pack() == 1
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl.gz"]


@pytest.mark.parametrize("damage", [lambda content: content[:-9], lambda content: b"", lambda content: b"no gzip" * 9])
def test_a_damaged_packed_file_is_refused(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    store = stored(tmp_path, *(made(seed) for seed in range(5)))
    store.pack()
    store.packed.write_bytes(damage(store.packed.read_bytes()))
    with pytest.raises(DataError, match=r"records\.jsonl\.gz` must be a whole gzip file"):
        store.read()


def test_records_are_neither_packed_while_they_are_written_nor_written_to_a_file_that_was_packed_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = stored(tmp_path, made(0))
    with store.writer(), pytest.raises(DataError, match="Another process is writing"):
        Store(tmp_path).pack()
    # As if another process packed between the opening of the file and its lock.
    monkeypatch.setattr(files, "_lock", lambda file, path: path.unlink())
    with pytest.raises(DataError, match="has just been packed by another process"), store.writer():
        pass


def test_the_command_packs_and_tables_go_on_from_it(tmp_path: Path) -> None:
    stored(tmp_path, made(0, verdict="exact"), made(1))
    packed = subprocess.run(symseed("bench", "pack", str(tmp_path)), capture_output=True, text=True, check=True).stdout
    assert packed.startswith("2 records, ")
    table = symseed("bench", "table", str(tmp_path), "--json")
    figures = json.loads(subprocess.run(table, capture_output=True, text=True, check=True).stdout)
    assert figures["summary"]["nggp"]["nguyen"] == 50.0
    missing = symseed("bench", "pack", str(tmp_path / "nowhere"))
    result = subprocess.run(missing, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "must be a folder of records, but it has no `records.jsonl` or `records.jsonl.gz`" in result.stderr
    assert not (tmp_path / "nowhere").exists()


def test_records_of_another_version_are_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(json.dumps({"schema": 99}) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="must hold records of version 1"):
        Store(tmp_path).read()


def test_two_writers_on_one_folder_are_refused(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.writer(), pytest.raises(DataError, match="Another process is writing"), Store(tmp_path).writer():
        pass


def test_a_killed_process_goes_on_where_it_was(tmp_path: Path) -> None:
    command = symseed("bench", "run", "Nguyen-1", "Nguyen-6", "Nguyen-9", "--seeds", "0:6", "--jobs", "2")
    command += ["--store", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    path = tmp_path / FILE
    while not path.exists() or path.read_bytes().count(b"\n") < 3:
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = Store(tmp_path).read()
    assert 3 <= len(before) <= 18
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{len(before)} of them done before" in result.stdout
    after = Store(tmp_path).read()
    assert after[: len(before)] == before
    assert len(after) == len({record.key for record in after}) == 18


def test_a_worker_that_dies_ends_no_other_run(tmp_path: Path) -> None:
    keys = [RunKey("Nguyen-1", "nggp", 0)] + [RunKey("Livermore-8", "nggp", seed) for seed in range(3)]
    script = (
        "import sys, threading, os, signal, time, multiprocessing\n"
        "from pathlib import Path\n"
        "from symseed.benchmarks import runner as bench\n"
        "from symseed.benchmarks.store import RunKey, Store\n"
        "folder = Path(sys.argv[1])\n"
        "if __name__ == '__main__':\n"
        "    def kill_one():\n"
        "        while not Store(folder).read():\n"
        "            time.sleep(0.02)\n"
        "        child = multiprocessing.active_children()[0]\n"
        "        os.kill(child.pid, signal.SIGKILL)\n"
        "        print('killed', flush=True)\n"
        "    threading.Thread(target=kill_one, daemon=True).start()\n"
        f"    keys = [RunKey(*values) for values in {[dataclasses.astuple(key) for key in keys]!r}]\n"
        "    bench.run_many(keys, Store(folder), jobs=2, done=lambda record: None)\n"
    )
    (tmp_path / "kill.py").write_text(script, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "kill.py"), str(tmp_path / "store")]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "killed\n"
    records = Store(tmp_path / "store").read()
    assert sorted(record.key for record in records) == sorted(keys)
    assert all(record.error == "" for record in records)


def test_problems_are_listed_and_shown() -> None:
    listing = subprocess.run(symseed("bench", "list"), capture_output=True, text=True, check=True).stdout
    assert "Livermore (22): " in listing
    assert f"\nStrogatz (14): {benchmarks.get('Strogatz-lv1').source}\n  Strogatz-bacres1    20 - x1 - " in listing
    assert "Nguyen-12*" in listing
    shown = subprocess.run(symseed("bench", "show", "Nguyen-7"), capture_output=True, text=True, check=True).stdout
    assert "y = log(x1 + 1) + log(x1^2 + 1)" in shown
    assert "x1 add sub mul div sin cos exp log" in shown
    assert shown.count("*") >= 10
    assert "x1 = 0.605918, y = 0.786413" in shown
    physics = subprocess.run(symseed("bench", "show", "Feynman-I.25.13"), capture_output=True, text=True, check=True)
    assert "\nunits: q [C], C [F], y [V]\n" in physics.stdout


def test_every_problem_is_shown_however_many_samples_it_has() -> None:
    for name in benchmarks.names():
        shown = CliRunner().invoke(bench_commands, ["show", name])
        assert shown.exit_code == 0, name
        assert shown.output.startswith(f"{name}: y = "), name
        assert "*\n" in shown.output.replace(" ", ""), name  # a picture's line ends with a point


@pytest.mark.parametrize("limit", [["--max-evals", "0"], ["--max-evals", "-5"], ["--max-time", "0"]])
def test_limits_that_are_none_are_refused_and_nothing_is_stored(limit: list[str], tmp_path: Path) -> None:
    store = tmp_path / "store"
    result = CliRunner().invoke(bench_commands, ["run", "Nguyen-1", *limit, "--store", str(store)])
    assert result.exit_code == 2
    assert f"Invalid value for '{limit[0]}'" in result.output
    assert not store.exists()


@pytest.mark.parametrize("seeds", ["", "a:b", "5:5", "-1:3", "3:1"])
def test_seeds_that_are_none_get_a_sentence(seeds: str, tmp_path: Path) -> None:
    command = symseed("bench", "run", "Nguyen-1", f"--seeds={seeds}", "--store", str(tmp_path))
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "`--seeds` must" in result.stderr


def test_a_table_is_made_of_the_records_of_several_folders(tmp_path: Path) -> None:
    for name, seed in (("a", 0), ("b", 1)):
        run([RunKey("Nguyen-1", "nggp", seed)], tmp_path / name)
    command = symseed("bench", "table", str(tmp_path / "a"), str(tmp_path / "b"))
    figures = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)
    assert figures["problems"]["nggp"]["Nguyen-1"]["recovered"] == figures["problems"]["nggp"]["Nguyen-1"]["runs"] == 2
    assert figures["summary"]["nggp"]["nguyen"] == 100.0
    assert figures["summary"]["nggp"]["r"] is None
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Nguyen-1" in shown
    missing = subprocess.run(symseed("bench", "table", str(tmp_path)), capture_output=True, text=True, check=False)
    assert missing.returncode == 2
    assert "must be a folder of records" in missing.stderr


def test_runs_may_be_done_on_an_executor_of_the_callers(tmp_path: Path) -> None:
    """A worker that fails leaves a record that says so, and the other runs are done."""
    keys = [RunKey("Nguyen-1", "nggp-s-1", seed, expressions=300) for seed in range(3)]
    own, other = Store(tmp_path / "own"), Store(tmp_path / "other")
    run_many(keys, own, jobs=1, done=lambda _: None)
    done: list[RunRecord] = []
    with ThreadPoolExecutor(2) as threads:
        run_many(keys, other, jobs=2, done=done.append, executor=threads)
    records = [
        {record.key: replace(record, cpu_seconds=0.0, check_seconds=0.0) for record in store.read()}
        for store in (own, other)
    ]
    assert records[0] == records[1]
    assert {record.key for record in done} == set(keys)

    class Failing(ThreadPoolExecutor):
        def submit(self, work: Any, /, *arguments: Any, **named: Any) -> Any:
            if arguments[0].seed == 1:
                return super().submit(lambda: 1 / 0)
            return super().submit(work, *arguments, **named)

    third = Store(tmp_path / "third")
    with Failing(1) as failing:
        run_many(keys, third, jobs=1, done=lambda _: None, executor=failing)
    errors = {record.seed: record.error for record in third.read()}
    assert errors == {0: "", 1: "Its worker failed: division by zero", 2: ""}
