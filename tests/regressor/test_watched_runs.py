"""What a run keeps to be looked at: its policies and lineages; and pauses, whose time does not count."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symseed import SymbolicRegressor
from symseed.portfolio import Turn
from symseed.regressor import front_file
from symseed.regressor import run as runs
from symseed.regressor.fitting import chosen_names
from symseed.regressor.policies import Policies, readers
from symseed.regressor.run import Run, set_pause
from symseed.regressor.target import Progress
from symseed.search import Part, StopReason

GIVEN: dict[str, Any] = {
    "method": "default-no-assembly", "max_evals": 90_000, "max_time": None, "random_state": 0, "patience": None,
    "model_selection": "best", "verbosity": 0, "n_jobs": 1, "network": None,  # which leaves more to evolution
}  # fmt: skip


def fit(folder: Path, **given: Any) -> SymbolicRegressor:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (60, 2))
    y = np.exp(np.sin(X[:, 0] * X[:, 1])) / X[:, 1] + rng.normal(0.0, 0.1, 60)
    return SymbolicRegressor(**(GIVEN | given), output_directory=folder).fit(X, y)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SymbolicRegressor:
    return fit(tmp_path_factory.mktemp("watched"))


@pytest.fixture(scope="module")
def run(model: SymbolicRegressor) -> Run:
    return Run.read(Path(str(model.run_directory_)))


# --- Lineages ---------------------------------------------------------------------------------------------------------


def test_the_log_tells_how_each_selected_formula_came_about(run: Run) -> None:
    evolved = [moment.lineage for moment in run.log.history(0) if moment.found_by is Part.EVOLUTION]
    assert evolved
    for lineage in evolved:
        assert lineage[0].change == "sampled"
        assert {step.change for step in lineage} & {"crossed", "mutated", "crossed and mutated"}


# --- Policies ---------------------------------------------------------------------------------------------------------


def test_policies_are_kept_from_the_first_turn_to_the_last(run: Run) -> None:
    kept = run.checkpoints.policies.read(0)
    history = run.log.history(0)
    assert kept[0].turn == 1
    assert kept[-1].charged == history[-1].charged
    assert [one.turn for one in kept] == sorted({one.turn for one in kept})


def test_a_kept_policy_is_that_of_the_search(tmp_path: Path) -> None:
    live: list[Any] = []
    fit(tmp_path, max_evals=20_000, callback=lambda progress: live.append(progress.policies()))
    (folder,) = tmp_path.iterdir()
    run = Run.read(folder)
    first, *_ = readers(run.plan(), chosen_names(run.plan(), run.data, run.seed, 0), run.data.dimensions(0))
    weights = run.checkpoints.policies.read(0)[-1].weights[first.place]
    np.testing.assert_array_equal(weights, live[-1][first.place]["weights"][0])
    prior, last = first.policy(None), first.policy(weights)
    assert prior is not None
    assert last is not None
    row = prior.sample(1, seed=0, step=0)[0]
    assert not np.allclose(prior.distributions(row), last.distributions(row), atol=1e-3), "it has learnt"
    assert first.policy(np.zeros(3, dtype=np.float32)) is None


def test_damaged_policies_are_left_out(run: Run, tmp_path: Path) -> None:
    source = run.folder / "policies"
    (tmp_path / "policies").mkdir()
    names = sorted(path.name for path in source.iterdir())
    for name in names:
        (tmp_path / "policies" / name).write_bytes((source / name).read_bytes())
    (tmp_path / "policies" / names[0]).write_bytes(b"nothing")
    (tmp_path / "policies" / "0-99.safetensors").symlink_to(source / names[0])
    (tmp_path / "policies" / "other.txt").write_text("x")
    assert [one.turn for one in Policies(tmp_path).read(0)] == [one.turn for one in Policies(run.folder).read(0)][1:]


def test_ever_fewer_turns_are_kept_and_the_last_one(tmp_path: Path) -> None:
    policies = Policies(tmp_path)
    seen: list[Progress] = []
    folder = tmp_path / "fit"
    fit(folder, max_evals=20_000, callback=seen.append)
    turn: Turn = seen[-1].turn
    for index in range(1, 101):
        reason = StopReason.PATIENCE if index == 100 else None
        policies.keep(0, replace(turn, index=index, reason=reason), lambda: [{"weights": np.zeros((3, 5))}])
    turns = [one.turn for one in policies.read(0)]
    assert turns[:4] == [1, 2, 3, 4]
    assert turns[-1] == 100
    assert len(turns) < 22


# --- Pauses -----------------------------------------------------------------------------------------------------------


def test_a_pause_changes_nothing_and_its_time_does_not_count(tmp_path: Path, model: SymbolicRegressor) -> None:
    events: list[float] = []

    def pause(progress: Progress) -> None:
        if progress.turn.index == 1 and not events:
            (folder,) = tmp_path.iterdir()
            set_pause(folder, is_paused=True)
            events.append(time.monotonic())
            threading.Timer(1.0, lambda: set_pause(folder, is_paused=False)).start()

    began = time.monotonic()
    paused = fit(tmp_path, callback=pause)
    whole = time.monotonic() - began
    assert [str(item.expression) for item in paused.fronts[0].equations] == [
        str(item.expression) for item in model.fronts[0].equations
    ]
    (folder,) = tmp_path.iterdir()
    log = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    kinds = [event["event"] for event in log]
    assert kinds.count("pause") == kinds.count("continue") == 1
    assert not [event for event in log[kinds.index("pause") : kinds.index("continue")] if event["event"] == "turn"]
    assert log[-2]["seconds"] <= whole - 0.9, "the search has not counted its pause"
    assert not Run.read(folder).log.is_paused


def test_a_pause_does_not_survive_a_resume(tmp_path: Path) -> None:
    def end(progress: Progress) -> bool:
        (folder,) = tmp_path.iterdir()
        set_pause(folder, is_paused=progress.turn.index == 0)
        set_pause(folder, is_paused=False)
        return progress.turn.index >= 1

    fit(tmp_path, callback=end)
    (folder,) = tmp_path.iterdir()
    set_pause(folder, is_paused=True)
    run = Run.read(folder)
    assert run.is_to_pause
    run.lock()
    run.close()
    assert not run.is_to_pause


def test_a_link_named_pause_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "pause").symlink_to(tmp_path / "elsewhere")
    set_pause(tmp_path, is_paused=True)
    assert not (tmp_path / "elsewhere").exists()
    set_pause(tmp_path, is_paused=False)
    assert not (tmp_path / "pause").is_symlink()


# --- The front while the search works ---------------------------------------------------------------------------------


def fronts_on_disk(folder: Path) -> list[tuple[str, str]]:
    """The front on disk and the front itself, after each turn of a search."""
    seen: list[tuple[str, str]] = []

    def look(progress: Progress) -> None:
        if progress.turn.reason is None:
            (path,) = folder.glob("*/front.csv")
            seen.append((path.read_text(encoding="utf-8"), front_file.to_csv(progress.front().equations)))

    fit(folder, callback=look, method="nggp-s-1", constants=True, max_evals=12_000)
    return seen


def test_the_front_on_disk_is_that_of_each_turn_if_there_is_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_MOST_SHARE", float("inf"))
    seen = fronts_on_disk(tmp_path)
    assert len({found for found, _ in seen}) > 3, "the front grows"
    assert all(found == known for found, known in seen)


def test_a_front_that_is_slow_to_compute_is_renewed_at_checkpoints_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_MOST_SHARE", 1e-9)
    seen = fronts_on_disk(tmp_path)
    assert any(found != known for found, known in seen)
    assert seen[0][0] == seen[0][1], "the first front is there at once"
