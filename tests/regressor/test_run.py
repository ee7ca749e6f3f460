"""Runs on disk: killed at any moment they go on to the same end, and nothing that is found in a folder is trusted."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load, save

from symseed import DataError, Library, SettingsError, StopReason, SymbolicRegressor, files
from symseed.cli import run_names
from symseed.cli.main import commands
from symseed.language.tokens import TokenKind
from symseed.regressor.run import Run
from symseed.regressor.run_data import RunData
from symseed.regressor.settings import Plan, Settings
from symseed.regressor.target import Progress

rng = np.random.default_rng(4)
X = pd.DataFrame(rng.uniform(0.5, 3.0, (30, 2)), columns=["a b", "=cmd|' /C calc'!A0"])
Y = np.exp(-X.iloc[:, 0]) * np.sin(3.0 * X.iloc[:, 1]) + X.iloc[:, 0] + 0.05 * rng.normal(size=len(X))
SMALL: dict[str, Any] = {"method": "nggp-s-1", "constants": True, "max_time": None, "patience": None, "random_state": 1}


def fitted(folder: Path, **settings: Any) -> SymbolicRegressor:
    model = SymbolicRegressor(**(SMALL | {"max_evals": 12_000, "output_directory": folder} | settings))
    return model.fit(X, Y)


def run_of(model: SymbolicRegressor) -> Path:
    assert model.run_directory_ is not None
    return Path(model.run_directory_)


def formulas(model: SymbolicRegressor) -> list[tuple[str, float]]:
    return [(str(item.expression), item.loss) for item in model.pareto_front_]


def test_a_run_keeps_its_settings_its_data_what_happened_and_the_front(tmp_path: Path) -> None:
    model = fitted(tmp_path, maxsize=15)
    folder = run_of(model)
    assert folder.parent == tmp_path
    run = Run.read(folder)
    assert run.settings.maxsize == 15
    assert run.settings.max_time is None
    np.testing.assert_array_equal(run.data.X, X.to_numpy())
    assert run.data.names == tuple(X.columns)
    kinds = [event["event"] for event in run.log.events]
    assert kinds[0] == "begin"
    assert kinds[-1] == "found"
    assert kinds.count("turn") >= 4
    table = pd.read_csv(folder / "front.csv")
    assert list(table.columns[:4]) == ["Complexity", "Loss", "Score", "Equation"]
    assert list(table["Loss"]) == list(model.equations_["loss"])


def test_a_run_read_again_predicts_to_the_last_bit_what_it_did(tmp_path: Path) -> None:
    model = fitted(tmp_path)
    again = SymbolicRegressor.from_file(run_of(model))
    assert formulas(again) == formulas(model)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict(X[X.columns[::-1]]), model.predict(X))
    assert again.stop_reason_ == model.stop_reason_
    assert again.run_directory_ == model.run_directory_


def test_several_targets_have_a_front_each(tmp_path: Path) -> None:
    model = SymbolicRegressor(**SMALL, max_evals=6_000, output_directory=tmp_path).fit(X, np.stack([Y, -Y], axis=1))
    again = SymbolicRegressor.from_file(run_of(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert (run_of(model) / "front-2.csv").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        *((kind, ["INT", "TERM", "KILL"]) for kind in ("one target", "default", "several targets", "islands", "bench")),
        ("one target", ["INT twice"]),
        ("bench in processes", ["INT"]),
    ],
)
def test_runs_that_signals_end_at_any_moment_go_on_to_the_same_answer(
    kind: str, names: list[str], tmp_path: Path
) -> None:
    """Some ways to end a run, three signals or more of each: the least of `make campaign`."""
    report = tmp_path / "report.json"
    campaign = Path(__file__).parents[2] / "perf" / "campaign.py"
    command = [sys.executable, str(campaign), "--signals", "3", "--kinds", kind, "--json", str(report)]
    command += ["--names", *names]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr
    found = json.loads(report.read_text())
    assert len(found) == len(names)
    assert all(one["signals"] >= 3 and not one["failures"] for one in found.values())


def data_of() -> tuple[RunData, tuple[str, ...]]:
    names = tuple(X.columns)
    y = np.asarray(Y)[:, None]
    return RunData(X.to_numpy(), y, np.ones(len(X)), names, True, is_multiple=False, targets=("y",)), names


def plan_of(model: SymbolicRegressor) -> Plan:
    return Settings(**model.get_params()).plan()


def watched(folder: Path, watch: Callable[[Path, Progress], None]) -> SymbolicRegressor:
    """Fit, and do something to the run's folder at every turn."""
    data, names = data_of()

    def callback(progress: Progress) -> None:
        watch(next(folder.iterdir()), progress)

    model = SymbolicRegressor(**SMALL, max_evals=20_000, output_directory=folder, callback=callback)
    model.fit_data(plan_of(model), data, labels=names, seed=1)
    return model


@pytest.mark.parametrize("name", ["a.safetensors", "b.json", "front.csv"])
def test_a_full_disk_is_said_once_and_what_was_written_before_stays_good(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fitted(tmp_path / "whole", max_evals=20_000)
    sync = os.fsync

    def full(handle: int) -> None:
        if Path(f"/proc/self/fd/{handle}").readlink().name.startswith(f".{name}."):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    def fill(folder: Path, progress: Progress) -> None:
        if progress.turn.index == 0:
            monkeypatch.setattr(os, "fsync", full)

    with pytest.warns(
        RuntimeWarning, match="continues in memory; the files that were written before are still good"
    ) as record:
        model = watched(tmp_path / "full", fill)
    monkeypatch.undo()
    assert len(record) == 1
    assert "No space left" in str(record[0].message)
    assert len(formulas(model)) > 2
    folder = run_of(model)
    assert not list(folder.rglob("*.partial"))
    assert (
        Run.read(folder).checkpoints.newest(0, search_library(folder), Run.read(folder).settings.plan().settings)
        is not None
    )
    again = SymbolicRegressor.resume(folder, max_evals=20_000)
    assert formulas(again) == formulas(model)
    assert formulas(again) != formulas(whole), "another seed"


def search_library(folder: Path) -> Library:
    run = Run.read(folder)
    library = run.library(run.settings.plan(), [])
    return Library(tuple(token for token in library.tokens if token.kind is not TokenKind.CONSTANT))


def test_a_folder_that_vanishes_does_not_end_the_search(tmp_path: Path) -> None:
    data, names = data_of()

    def vanish(_: Progress) -> None:
        shutil.rmtree(tmp_path / "runs", ignore_errors=True)

    model = SymbolicRegressor(**SMALL, max_evals=20_000, output_directory=tmp_path / "runs", callback=vanish)
    with pytest.warns(RuntimeWarning, match="cannot be written to any more"):
        model.fit_data(plan_of(model), data, labels=names, seed=1)
    assert len(formulas(model)) > 2


@pytest.mark.parametrize("kind", ["a file", "below a file", "a very long path"])
def test_a_folder_that_cannot_be_made_is_refused_before_the_search(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_text("")
    path = {"a file": "file", "below a file": "file/runs", "a very long path": "long" * 100}[kind]
    with pytest.raises(SettingsError, match=r"`output_directory` must be a folder that can be written to"):
        fitted(tmp_path / path)


def interrupted(folder: Path, turns: int = 9) -> Path:
    """A run that Ctrl-C ended after so many turns."""

    def stop(_: Path, progress: Progress) -> None:
        if progress.turn.index == turns:
            raise KeyboardInterrupt

    return run_of(watched(folder, stop))


@pytest.fixture(scope="module")
def broken_off(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return interrupted(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def not_broken_off(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, float]]:
    return formulas(watched(tmp_path_factory.mktemp("runs"), lambda *_: None))


@pytest.fixture
def folder(broken_off: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(broken_off, tmp_path / "run"))


def test_an_interrupted_run_says_so_and_goes_on_to_the_same_end(
    folder: Path, not_broken_off: list[tuple[str, float]]
) -> None:
    assert SymbolicRegressor.from_file(folder).interrupted_
    model = SymbolicRegressor.resume(folder)
    assert not model.interrupted_
    assert formulas(model) == not_broken_off
    assert formulas(SymbolicRegressor.resume(folder)) == not_broken_off, "a run that has ended stays as it is"


def fitted_to_two(folder: Path, callback: Callable[[Progress], None] | None = None) -> SymbolicRegressor:
    """Fit two targets, one after the other."""
    targets = np.stack([np.asarray(Y), np.log(X.iloc[:, 0] + X.iloc[:, 1])], axis=1)
    data = replace(data_of()[0], y=targets, is_multiple=True, targets=("y1", "y2"))
    settings = SMALL | {"method": "default", "max_evals": 8_000}
    model = SymbolicRegressor(**settings, output_directory=folder, callback=callback)
    model.fit_data(plan_of(model), data, labels=data.names, seed=1)
    return model


@pytest.fixture(scope="module")
def whole_of_two(tmp_path_factory: pytest.TempPathFactory) -> SymbolicRegressor:
    return fitted_to_two(tmp_path_factory.mktemp("runs"))


@pytest.mark.parametrize("turn", [0, 1, 3, 6])
@pytest.mark.parametrize("target", [0, 1])
def test_a_run_of_several_targets_goes_on_to_the_same_end_wherever_it_was_interrupted(
    whole_of_two: SymbolicRegressor, tmp_path: Path, target: int, turn: int
) -> None:
    def stop(progress: Progress) -> None:
        if (progress.output, progress.turn.index) == (target, turn):
            raise KeyboardInterrupt

    model = fitted_to_two(tmp_path, stop)
    assert model.interrupted_ or not turn_is_reached(whole_of_two, target, turn)
    again = SymbolicRegressor.resume(run_of(model))
    assert not again.interrupted_
    for before, after in zip(whole_of_two.pareto_front_, again.pareto_front_, strict=True):
        assert [(str(item.expression), item.loss) for item in before] == [
            (str(item.expression), item.loss) for item in after
        ]


def turn_is_reached(model: SymbolicRegressor, target: int, turn: int) -> bool:
    events = Run.read(run_of(model)).log.events
    return any(event.get("output") == target and event.get("turn") == turn for event in events)


def test_a_run_that_has_ended_goes_on_where_its_limits_are_raised(tmp_path: Path) -> None:
    longer = formulas(fitted(tmp_path / "longer", max_evals=24_000))
    model = fitted(tmp_path / "short", max_evals=12_000)
    assert formulas(SymbolicRegressor.resume(run_of(model), max_evals=24_000)) == longer


@pytest.mark.parametrize("slot", ["a", "b", "ab"])
@pytest.mark.parametrize("how", ["cut", "zeroed", "gone", "manifest cut"])
def test_a_damaged_checkpoint_costs_time_and_not_the_answer(
    folder: Path, not_broken_off: list[tuple[str, float]], slot: str, how: str
) -> None:
    for name in slot:
        path = folder / "checkpoint" / f"{name}.safetensors"
        if how == "cut":
            path.write_bytes(path.read_bytes()[:-7])
        elif how == "zeroed":
            path.write_bytes(bytes(len(path.read_bytes())))
        elif how == "gone":
            path.unlink()
        else:
            manifest = folder / "checkpoint" / f"{name}.json"
            manifest.write_bytes(manifest.read_bytes()[:50])
    with pytest.warns(RuntimeWarning, match="is damaged .* the answer is the same"):
        model = SymbolicRegressor.resume(folder)
    assert formulas(model) == not_broken_off


def test_a_checkpoint_whose_hash_is_right_but_whose_arrays_are_not_is_damaged_too(
    folder: Path, not_broken_off: list[tuple[str, float]]
) -> None:
    for name in "ab":
        path, manifest = folder / "checkpoint" / f"{name}.safetensors", folder / "checkpoint" / f"{name}.json"
        arrays = load(path.read_bytes())
        arrays["formulas.tokens"] = arrays["formulas.tokens"] + np.uint16(40)
        content = save(arrays)
        path.write_bytes(content)
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"sha256": files.digest(content)}))
    with pytest.warns(RuntimeWarning, match="is damaged"):
        model = SymbolicRegressor.resume(folder)
    assert formulas(model) == not_broken_off


@pytest.mark.parametrize("call", [0, 1])
def test_a_run_whose_making_is_interrupted_leaves_no_folder(
    tmp_path: Path, call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, calls = files.replace, [0]

    def interrupted(path: Path, content: bytes) -> None:
        calls[0] += 1
        if calls[0] == call + 1:
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(files, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        SymbolicRegressor(**SMALL, output_directory=tmp_path / "runs").fit(X, Y)
    assert calls[0] == call + 1
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_run_whose_making_is_killed_is_not_listed_and_goes_after_an_hour(tmp_path: Path) -> None:
    def killed(folder: Path) -> None:
        (folder / "config.toml").touch()
        os._exit(0)

    process = os.fork()
    if process == 0:
        files.make_folder(tmp_path / "run", killed)
    os.waitpid(process, 0)
    (left,) = tmp_path.iterdir()
    assert run_names.newest_first(tmp_path) == []
    files.make_folder(tmp_path / "another", lambda folder: None)
    assert left.exists(), "its maker may be alive"
    os.utime(left, (0, 0))
    files.make_folder(tmp_path / "one more", lambda folder: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["another", "one more"]


def test_a_torn_last_line_is_left_out_and_the_next_one_is_whole(folder: Path) -> None:
    events = folder / "events.jsonl"
    count = len(Run.read(folder).log.events)
    events.write_bytes(events.read_bytes()[:-5])
    assert len(Run.read(folder).log.events) == count - 1
    SymbolicRegressor.resume(folder)
    assert Run.read(folder).log.events[-1]["event"] == "found"


def test_a_run_that_another_process_writes_to_can_be_read_and_not_resumed(folder: Path) -> None:
    run = Run.read(folder)
    run.lock()
    try:
        assert len(formulas(SymbolicRegressor.from_file(folder))) > 2
        with pytest.raises(DataError, match=r"Another process is writing to .*Wait for it"):
            SymbolicRegressor.resume(folder)
    finally:
        run.close()


# --- A folder from somebody else -------------------------------------------------------------------------------------

VICTIM = "# the user's own file\n"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_text(VICTIM)
    return path


@pytest.mark.parametrize("name", ["report.html", "report.html.partial", "front.csv.partial"])
def test_a_report_is_never_written_through_a_link(folder: Path, victim: Path, name: str) -> None:
    (folder / name).symlink_to(victim)
    commands(["report", str(folder)], standalone_mode=False)
    assert victim.read_text() == VICTIM
    assert "<html" in (folder / "report.html").read_text()
    assert not (folder / "report.html").is_symlink()


@pytest.mark.parametrize("name", ["checkpoint/a.safetensors", "checkpoint/a.json"])
def test_a_checkpoint_that_is_a_link_is_damaged_and_never_written_through(
    folder: Path, victim: Path, name: str, not_broken_off: list[tuple[str, float]]
) -> None:
    (folder / name).unlink()
    (folder / name).symlink_to(victim)
    with pytest.warns(RuntimeWarning, match="is damaged"):
        model = SymbolicRegressor.resume(folder)
    assert formulas(model) == not_broken_off
    assert victim.read_text() == VICTIM


@pytest.mark.parametrize("kind", ["link", "hard link", "folder"])
def test_events_are_never_appended_to_another_file(folder: Path, victim: Path, kind: str) -> None:
    events = folder / "events.jsonl"
    if kind == "hard link":
        os.link(events, victim.with_name("second"))
        victim = victim.with_name("second")
    else:
        events.unlink()
        events.symlink_to(victim) if kind == "link" else events.mkdir()
    before = victim.read_bytes()
    with pytest.raises(DataError, match=r"must be a run that can be written to|must be the log of a run"):
        SymbolicRegressor.resume(folder, max_evals=30_000)
    assert victim.read_bytes() == before


def test_a_checkpoint_folder_that_is_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    shutil.move(folder / "checkpoint", tmp_path / "elsewhere")
    (folder / "checkpoint").symlink_to(tmp_path / "elsewhere")
    before = {path.name: path.read_bytes() for path in (tmp_path / "elsewhere").iterdir()}
    with pytest.raises(DataError, match="`checkpoint` must be a folder, and not a link to one"):
        SymbolicRegressor.resume(folder)
    assert {path.name: path.read_bytes() for path in (tmp_path / "elsewhere").iterdir()} == before


@pytest.mark.parametrize("name", ["config.toml", "data.safetensors", "events.jsonl", "front.csv", "checkpoint/a.json"])
@pytest.mark.parametrize("kind", ["pipe", "endless"])
def test_what_is_not_a_plain_file_is_neither_waited_for_nor_read(folder: Path, name: str, kind: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name) if kind == "pipe" else (folder / name).symlink_to("/dev/zero")
    if name == "checkpoint/a.json":
        with pytest.warns(RuntimeWarning, match="is damaged"):
            SymbolicRegressor.resume(folder)
        return
    with pytest.raises(DataError):
        SymbolicRegressor.from_file(folder)


def test_a_file_that_is_too_large_is_not_read(folder: Path) -> None:
    with (folder / "front.csv").open("r+b") as file:
        file.truncate(2**40)  # without blocks on the disk
    with pytest.raises(DataError, match=r"`front\.csv` has 1,099,511,627,776 bytes, but may have at most"):
        SymbolicRegressor.from_file(folder)


@pytest.mark.parametrize("of", [".", "checkpoint", "policies"])
def test_what_a_killed_writer_left_goes_when_the_run_goes_on(folder: Path, of: str) -> None:
    (folder / of).mkdir(exist_ok=True)
    (folder / of / ".front.csv.0123456789abcdef.partial").write_text("torn")
    SymbolicRegressor.resume(folder)
    assert not list(folder.rglob("*.partial"))


def changed(path: Path, pattern: str, text: str) -> None:
    content = path.read_text(encoding="utf-8")
    assert re.search(pattern, content)
    path.write_text(re.sub(pattern, text, content), encoding="utf-8")


def test_a_run_of_another_version_of_runs_is_refused(folder: Path) -> None:
    changed(folder / "config.toml", "schema = 1", "schema = 99")
    with pytest.raises(DataError, match=r"must have version 1 of the format of runs, but it has 99\. Use the symseed"):
        SymbolicRegressor.from_file(folder)


def test_an_end_for_an_unknown_reason_is_left_out_with_a_warning(folder: Path) -> None:
    with (folder / "events.jsonl").open("a") as file:
        file.write(json.dumps({"event": "found", "output": 0, "reason": "boredom", "is_final": True}) + "\n")
    with pytest.warns(RuntimeWarning, match=r"events\.jsonl` is damaged, .* is left out: 'boredom' is not"):
        assert SymbolicRegressor.from_file(folder).stop_reason_ != "boredom"


def test_a_run_with_the_former_sentence_for_patience_can_be_opened(folder: Path) -> None:
    former = "The choice has not changed for as many turns as `patience` says."
    with (folder / "events.jsonl").open("a") as file:
        file.write(json.dumps({"event": "found", "output": 0, "reason": former, "is_final": True}) + "\n")
    assert SymbolicRegressor.from_file(folder).stop_reason_ == StopReason.PATIENCE.value != former


def test_a_checkpoint_of_another_version_is_refused_and_nothing_is_overwritten(folder: Path) -> None:
    for name in "ab":
        changed(folder / "checkpoint" / f"{name}.json", '"version": "[^"]*"', '"version": "9.9"')
    before = {path: path.read_bytes() for path in (folder / "checkpoint").iterdir()}
    with pytest.raises(DataError, match=r"is from symseed 9.9, but this is .*might give another answer"):
        SymbolicRegressor.resume(folder)
    assert {path: path.read_bytes() for path in (folder / "checkpoint").iterdir()} == before
    assert len(formulas(SymbolicRegressor.from_file(folder))) > 2, "the formulas can still be read"


def test_a_run_of_version_0_1_opens_and_is_not_searched_further(tmp_path: Path) -> None:
    """The folder was written by symseed 0.1.0."""
    folder = tmp_path / "run"
    shutil.copytree(Path(__file__).parent / "run-0.1.0", folder)
    model = SymbolicRegressor.from_file(folder)
    assert str(model.best_.expression) == "sqrt(0.20356874032855918 * height)"
    assert model.equations_["complexity"].tolist() == [1, 4, 6, 10]
    assert model.stop_reason_ == StopReason.EXPRESSIONS.value
    assert model.predict(pd.DataFrame({"height": [2.0], "mass": [1.0]}))[0] == pytest.approx(0.6381, abs=1e-4)
    with pytest.raises(DataError, match=r"is from symseed 0\.1\.0, but this is .*Use that version, or start a new fit"):
        SymbolicRegressor.resume(folder, max_evals=10_000)


def test_a_run_whose_data_were_changed_is_refused(folder: Path) -> None:
    arrays = load((folder / "data.safetensors").read_bytes())
    (folder / "data.safetensors").write_bytes(save(arrays | {"y": arrays["y"] + 1.0}))
    with pytest.raises(DataError, match="must hold the data that the run began with, but it holds others"):
        SymbolicRegressor.resume(folder)


def test_a_checkpoint_of_other_settings_is_refused_and_nothing_is_overwritten(folder: Path) -> None:
    front = (folder / "front.csv").read_bytes()
    changed(folder / "config.toml", '"log",', '"log", "abs",')
    with pytest.raises(DataError, match=r"has other settings than config\.toml.*Restore config\.toml"):
        SymbolicRegressor.resume(folder)
    assert (folder / "front.csv").read_bytes() == front


def test_a_setting_that_makes_another_search_cannot_be_changed_on_the_way(folder: Path) -> None:
    with pytest.raises(SettingsError, match="`maxsize` of a run cannot be changed: it would be another search"):
        SymbolicRegressor.resume(folder, maxsize=9)


def test_nothing_but_pictures_needs_matplotlib(tmp_path: Path) -> None:
    """As in an install without dependencies of its own, where it cannot be imported."""
    script = f"""
        import sys
        sys.modules["matplotlib"] = None
        import numpy as np
        from symseed import SymbolicRegressor
        from symseed.cli.main import commands
        x = np.linspace(1.0, 3.0, 20)
        folder = {str(tmp_path)!r}
        model = SymbolicRegressor(max_evals=3_000, patience=1, output_directory=folder).fit(x[:, None], x * x)
        assert str(SymbolicRegressor.resume(model.run_directory_).best_) == str(model.best_)
        assert "double" in model.export("c")
        for command in (["fit", "planets", "--target", "period_days", "--set", "max_evals=3000", "--in-memory"],
                        ["show", model.run_directory_], ["report", model.run_directory_]):
            commands(command, standalone_mode=False)
    """
    outcome = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stderr
    assert "period_days = " in outcome.stdout


@pytest.mark.parametrize(
    ("pattern", "text", "sentence"),
    [
        ("method = ", "mehtod = ", "no setting `mehtod`. Did you mean `method`"),
        ("max_evals = 20000", "max_evals = -1", "`max_evals` must be a whole number of at least 1, but it is -1"),
        ("max_evals = 20000", "max_evals = [", "config.toml cannot be read"),
        ("seed = 1", "sed = 1", "must have every key of a run, but it was changed or damaged: it must have `seed`"),
        (r"\[data\]", "[dada]", "must have every key of a run, but it was changed or damaged: it must have `data`"),
    ],
)
def test_a_config_that_was_changed_for_the_worse_gets_a_sentence(
    folder: Path, pattern: str, text: str, sentence: str
) -> None:
    changed(folder / "config.toml", pattern, text)
    with pytest.raises((DataError, SettingsError), match=sentence):
        SymbolicRegressor.resume(folder)


@pytest.mark.parametrize("text", ["__import__('os').system('touch pwned')", "a(", "", "x" * 20_000, "nan"])
def test_a_front_is_read_by_our_own_parser(folder: Path, text: str) -> None:
    (folder / "front.csv").write_text(f'Complexity,Loss,Score,Equation,Description,Share\n1,1,1,"{text}",1,1\n')
    with pytest.raises(DataError, match="must hold a front of formulas"):
        SymbolicRegressor.from_file(folder)


def test_a_folder_that_is_no_run_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="must be the folder of a run"):
        SymbolicRegressor.from_file(tmp_path / "nowhere")


def test_a_run_with_a_function_is_resumed_from_python(tmp_path: Path) -> None:
    def enough(loss: float, complexity: int) -> bool:
        return False

    model = fitted(tmp_path, early_stop_condition=enough)
    with pytest.raises(SettingsError, match="`early_stop_condition` was a function of your own: enough, which no file"):
        SymbolicRegressor.resume(run_of(model))
    again = SymbolicRegressor.resume(run_of(model), early_stop_condition=enough)
    assert formulas(again) == formulas(model)


def test_a_run_with_a_function_can_be_looked_at_without_it_unless_that_is_an_operator(tmp_path: Path) -> None:
    def cost(y: Any, prediction: Any) -> Any:
        return np.abs(y - prediction) ** 1.5

    def bump(x: Any) -> Any:
        return 1.0 / (1.0 + x * x)

    model = fitted(tmp_path, loss=cost, early_stop_condition=lambda loss, complexity: False, max_evals=2_000)
    assert formulas(SymbolicRegressor.from_file(run_of(model))) == formulas(model)
    model = fitted(tmp_path, unary_operators=[bump], max_evals=2_000)
    with pytest.raises(SettingsError, match="`unary_operators` was a function of your own: bump, which no file"):
        SymbolicRegressor.from_file(run_of(model))


def test_a_carriage_return_in_a_name_is_read_back(tmp_path: Path) -> None:
    data = pd.DataFrame({"a\rb": X.iloc[:, 0]})
    model = SymbolicRegressor(**SMALL, max_evals=2_000, output_directory=tmp_path).fit(data, 2.0 * X.iloc[:, 0])
    assert formulas(SymbolicRegressor.from_file(run_of(model))) == formulas(model)


@pytest.mark.filterwarnings("ignore:`X` has 70000 columns")
def test_a_run_of_more_columns_than_a_library_has_room_for_is_read_back(tmp_path: Path) -> None:
    many = np.random.default_rng(0).uniform(1.0, 2.0, (12, 70_000))
    model = SymbolicRegressor(**SMALL, max_evals=2_000, output_directory=tmp_path).fit(many, 3.0 * many[:, -1])
    again = SymbolicRegressor.from_file(run_of(model))
    assert len(formulas(model)) > 1, "a number needs no column"
    assert formulas(again) == formulas(model)
    for index in range(len(formulas(model))):
        np.testing.assert_array_equal(again.predict(many, index), model.predict(many, index))


@pytest.mark.parametrize("content", ["", "Complexity,Loss,Score,Equation,Description,Share\n"])
def test_a_front_without_formulas_gets_a_sentence(folder: Path, content: str) -> None:
    (folder / "front.csv").write_text(content)
    with pytest.raises(DataError, match="must hold a front of formulas, but cannot be read: it has no formula"):
        SymbolicRegressor.from_file(folder)


def test_what_happened_is_json_for_every_reader(tmp_path: Path) -> None:
    model = SymbolicRegressor(**SMALL, max_evals=2_000, output_directory=tmp_path).fit(X, Y * 1e200)
    lines = (run_of(model) / "events.jsonl").read_text().splitlines()
    assert any('"loss": null' in line for line in lines), "the squares of such errors are beyond float64"
    for line in lines:
        json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert formulas(SymbolicRegressor.from_file(run_of(model))) == formulas(model)


def test_a_warm_start_is_part_of_the_run(tmp_path: Path) -> None:
    model = SymbolicRegressor(**SMALL, max_evals=6_000, warm_start=True).fit(X, Y)
    known = {str(item.expression) for item in model.pareto_front_}
    model.set_params(output_directory=tmp_path).fit(X, Y)
    assert set(Run.read(run_of(model)).known[0]) == known


def test_an_alarm_of_the_callers_leaves_the_estimator_with_the_best_so_far() -> None:
    class AlarmError(Exception):
        pass

    def ring(_: int, frame: FrameType | None) -> None:
        if frame is not None and frame.f_code.co_name == "gc_callback":
            signal.setitimer(signal.ITIMER_REAL, 0.01)  # hypothesis counts collections; Python ignores what they raise
            return
        raise AlarmError

    model = SymbolicRegressor(**SMALL, max_evals=50_000_000)
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 3.0)
    try:
        with pytest.raises(AlarmError):
            model.fit(X, Y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert model.interrupted_
    assert len(formulas(model)) > 1


def test_a_run_shows_its_formulas_as_the_fit_did_and_folders_without_that_can_be_read(tmp_path: Path) -> None:
    x = np.linspace(1.0, 5.0, 40)[:, None]
    y = 2.34567 * x[:, 0] + 1.23456 + 0.05 * np.random.default_rng(0).normal(size=40)
    model = SymbolicRegressor(max_evals=2_000, random_state=0, output_directory=str(tmp_path)).fit(x, y)
    folder = Path(str(model.run_directory_))
    again = SymbolicRegressor.from_file(folder)
    assert [item.text for item in again.pareto_front_] == [item.text for item in model.pareto_front_]
    path = folder / "front.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith(",Shown,Weight")
    path.write_text("\n".join(line.rsplit(",", 2)[0] for line in lines) + "\n", encoding="utf-8")
    old = SymbolicRegressor.from_file(folder)
    assert [item.expression for item in old.pareto_front_] == [item.expression for item in model.pareto_front_]
    assert all(item.text for item in old.pareto_front_)
