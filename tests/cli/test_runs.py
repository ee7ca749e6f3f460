"""Runs by name, and the list of them: the newest first, damaged ones as such, and no link followed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from symseed import DataError, SymbolicRegressor
from symseed.cli import results, run_names
from symseed.cli.main import commands
from symseed.regressor.summaries import RunState, summary

X = np.linspace(1.0, 3.0, 12)[:, None]
Y = 2.0 * X[:, 0] ** 2 + 0.01 * np.sin(7.0 * X[:, 0])


def output_of(*arguments: str) -> str:
    result = CliRunner().invoke(commands, arguments)
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder `outputs` with three runs, all made within a second or two."""
    folder = tmp_path_factory.mktemp("made") / "outputs"
    for size in (3, 5, 7):
        given: dict[str, Any] = {"method": "nggp", "max_evals": 300, "max_time": None, "random_state": 0}
        SymbolicRegressor(**given, maxsize=size, output_directory=folder).fit(X, np.column_stack([Y, -Y]))
    return folder


@pytest.fixture
def outputs(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, with its times, in the folder in which commands are typed."""
    shutil.copytree(made, tmp_path / "outputs")
    monkeypatch.chdir(tmp_path)
    return Path("outputs")


def sizes(folders: list[Path]) -> list[int]:
    return [SymbolicRegressor.from_file(folder).maxsize or 0 for folder in folders]


# --- By name ----------------------------------------------------------------------------------------------------------


def test_runs_are_ordered_by_when_they_were_made_also_within_a_second(outputs: Path) -> None:
    same = "20200101-000000"
    for folder in run_names.newest_first(outputs):
        folder.rename(outputs / f"{same}-{folder.name[-6:]}")
    assert sizes(run_names.newest_first(outputs)) == [7, 5, 3]


def test_a_run_is_found_by_its_folder_by_latest_and_by_the_beginning_of_its_name(outputs: Path) -> None:
    newest, *_, oldest = run_names.newest_first(outputs)
    oldest = oldest.rename(outputs / "20200101-000000-abcdef")
    assert run_names.find("latest") == newest == run_names.find("outputs/latest")
    assert run_names.find(str(newest)) == newest
    assert run_names.find("2020") == run_names.find("outputs/20200101-0") == oldest
    assert run_names.typed(newest) == "latest"
    assert run_names.typed(oldest) == "outputs/20200101-000000-abcdef"
    assert run_names.typed(Path("my runs/one")) == "'my runs/one'"


@pytest.mark.parametrize("text", ["nothing", "elsewhere/latest", "outputs/x"])
def test_a_name_of_no_run_gets_a_sentence(outputs: Path, text: str) -> None:
    with pytest.raises(DataError, match=r"there is none\. `symseed runs` lists the runs\.") as raised:
        run_names.find(text)
    assert f"`{text}` must be the folder of a run, `latest`" in str(raised.value)


def test_a_beginning_of_several_names_gets_a_sentence(outputs: Path) -> None:
    with pytest.raises(DataError, match="must be the beginning of one run's name, but 3 runs in `outputs` begin so"):
        run_names.find("2")


def test_every_command_that_takes_a_run_takes_latest(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = run_names.find("latest")
    assert output_of("show", "latest") == output_of("show", str(newest))
    reported: list[Path] = []
    monkeypatch.setattr(results, "report", lambda folder, _output: reported.append(folder))
    output_of("report", "latest")
    assert reported == [newest]
    (tmp_path / "new.csv").write_text("x1\n2\n", encoding="utf-8")
    assert output_of("predict", "latest", "new.csv").startswith("x1,y1 predicted,y2 predicted\n2,")
    resumed = json.loads(output_of("resume", "latest", "--json", "--jobs", "1"))
    assert resumed["run_directory"] == str(newest)


# --- The list ---------------------------------------------------------------------------------------------------------


def test_the_list_has_a_line_for_each_target_the_newest_run_first(outputs: Path) -> None:
    newest, _, oldest = run_names.newest_first(outputs)
    header, *lines = output_of("runs").splitlines()
    assert header.split() == ["run", "table", "target", "state", "loss", "formula"]
    assert len(lines) == 6
    assert lines[0].startswith(newest.name)
    assert lines[-1].startswith(oldest.name)
    first, second = SymbolicRegressor.from_file(newest).best_
    assert lines[0].split()[1:4] == ["y1", "ended", f"{first.loss:.4g}"]
    assert lines[0].endswith(f"  {first}")
    assert "  y2  " in lines[1]
    assert lines[1].endswith(str(second))


def test_the_list_comes_as_json(outputs: Path) -> None:
    found = json.loads(output_of("runs", "--json"))
    assert [item["run_directory"] for item in found] == [str(run) for run in run_names.newest_first(outputs)]
    first, _ = SymbolicRegressor.from_file(run_names.find("latest")).best_
    assert found[0]["state"] == "ended"
    assert found[0]["targets"][0] == {
        "target": "y1",
        "equation": str(first.expression),
        "shown": str(first),
        "loss": first.loss,
        "test_loss": None,
    }


def test_there_may_be_no_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert output_of("runs") == "There are no runs in outputs.\n"
    assert json.loads(output_of("runs", "--json")) == []
    Path("file").touch()
    with pytest.raises(DataError, match="`file` must be a folder of runs, but it cannot be read"):
        output_of("runs", "file")


def test_the_state_is_that_of_the_last_search(outputs: Path) -> None:
    newest, middle, _ = run_names.newest_first(outputs)
    events = (newest / "events.jsonl").read_text().splitlines()
    (newest / "events.jsonl").write_text("\n".join(events[:-1]))
    (middle / "events.jsonl").write_text("\n".join(events).replace('"is_final": true', '"is_final": false'))
    assert summary(newest).state is RunState.NOT_ENDED
    assert summary(middle).state is RunState.INTERRUPTED


@pytest.mark.parametrize("name", ["config.toml", "front.csv", "events.jsonl"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"[1]\n", b"schema = 1\n", b"a,b\n1,2\n"])
def test_a_damaged_run_is_listed_as_such_and_the_others_as_before(outputs: Path, name: str, content: bytes) -> None:
    _, middle, _ = run_names.newest_first(outputs)
    before = output_of("runs").splitlines()
    (middle / name).write_bytes(content)
    lines = output_of("runs").splitlines()
    assert [line.split()[0] for line in lines if middle.name not in line] == [
        "run",
        *(before[i].split()[0] for i in (1, 2, 5, 6)),
    ]
    state = summary(middle).state
    assert state is (RunState.NOT_ENDED if name == "events.jsonl" else RunState.DAMAGED)
    assert any(middle.name in line and state.value in line for line in lines)


def test_a_run_without_settings_is_damaged_and_a_folder_of_other_things_is_none(outputs: Path) -> None:
    _, middle, oldest = run_names.newest_first(outputs)
    (middle / "config.toml").unlink()
    shutil.rmtree(oldest)
    oldest.mkdir()
    (oldest / "notes.txt").touch()
    assert summary(middle).state is RunState.DAMAGED
    assert middle in run_names.newest_first(outputs)
    assert oldest not in run_names.newest_first(outputs)


def test_no_link_is_followed(outputs: Path, tmp_path: Path) -> None:
    newest, middle, oldest = run_names.newest_first(outputs)
    newest.rename(tmp_path / "secret")
    newest.symlink_to(tmp_path / "secret", target_is_directory=True)
    assert run_names.newest_first(outputs) == [middle, oldest]
    (middle / "config.toml").rename(tmp_path / "config.toml")
    (middle / "config.toml").symlink_to(tmp_path / "config.toml")
    assert summary(middle).state is RunState.DAMAGED
    (oldest / "front.csv").rename(tmp_path / "front.csv")
    (oldest / "front.csv").symlink_to(tmp_path / "front.csv")
    assert summary(oldest).state is RunState.DAMAGED


def test_a_run_with_a_function_of_python_is_listed_without_its_formula(tmp_path: Path) -> None:
    def bump(x: Any) -> Any:
        return np.exp(-x * x)

    given: dict[str, Any] = {"method": "nggp", "max_evals": 200, "max_time": None, "random_state": 0}
    SymbolicRegressor(**given, unary_operators=[bump], output_directory=tmp_path).fit(X, Y)
    (run,) = tmp_path.iterdir()
    found = summary(run)
    assert found.state is RunState.ENDED
    assert found.targets[0].chosen is None
    assert "bump, which no file can hold" in found.problem
    assert "bump" in output_of("runs", str(tmp_path))


def test_names_that_would_move_the_cursor_are_written_out(outputs: Path) -> None:
    newest = run_names.find("latest")
    (newest / "config.toml").write_text(
        (newest / "config.toml").read_text().replace('source = ""', 'source = "\\u001b[2J\\nevil"')
    )
    shown = output_of("runs")
    assert "evil" in shown
    assert "\x1b" not in shown
    assert len(shown.splitlines()) == 7
