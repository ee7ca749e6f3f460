"""A run folder with any bytes in any of its files: every command that reads it says a sentence, or the right answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import hostile
from symseed import SymbolicRegressor, files

FORGED = {
    "config.toml": hostile.forged_toml,
    "data.safetensors": hostile.forged_arrays,
    "events.jsonl": hostile.forged_lines,
    "front.csv": hostile.forged_table,
    "near.csv": hostile.forged_table,
    "checkpoint/a.json": hostile.forged_json,
    "checkpoint/a.safetensors": hostile.forged_arrays,
    "checkpoint/b.json": hostile.forged_json,
    "checkpoint/b.safetensors": hostile.forged_arrays,
}
"""The files of a run, and what each may hold in place of what it holds."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was killed after its last turn, so that it has checkpoints and no end."""
    rng = np.random.default_rng(3)
    X = rng.uniform(0.5, 3.0, (20, 2))
    y = np.exp(-X[:, 0]) * np.sin(3.0 * X[:, 1]) + 0.1 * rng.normal(size=20)
    given: dict[str, Any] = {"method": "nggp-s-1", "constants": True, "max_evals": 6_000, "max_time": None}
    parent = tmp_path_factory.mktemp("whole")
    model = SymbolicRegressor(**given, patience=None, random_state=1, output_directory=parent).fit(X, y)
    assert model.run_directory_ is not None
    folder = Path(model.run_directory_)
    events = folder / "events.jsonl"
    events.write_bytes(b"".join(line for line in events.read_bytes().splitlines(True) if b'"found"' not in line))
    if not (folder / "near.csv").exists():
        shutil.copy(folder / "front.csv", folder / "near.csv")
    return folder


@pytest.fixture(scope="module")
def folder(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The place of the copies that are damaged."""
    return tmp_path_factory.mktemp("damaged") / "run"


def copy_with(whole: Path, folder: Path, name: str, content: bytes) -> None:
    """Copy a run with another content of one file; hashes are forged too, so that they do not protect it."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    (folder / name).write_bytes(content)
    if name == "data.safetensors":
        config = folder / "config.toml"
        config.write_text(config.read_text().replace(files.digest((whole / name).read_bytes()), files.digest(content)))
    elif name.endswith(".safetensors"):
        manifest = folder / name.replace("safetensors", "json")
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"sha256": files.digest(content)}))


@st.composite
def damage(draw: st.DrawFn, whole: Path) -> tuple[str, bytes]:
    name = draw(st.sampled_from(sorted(FORGED)))
    content = (whole / name).read_bytes()
    return name, draw(hostile.damaged(content) | FORGED[name](content))


FEW = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)


@FEW
@given(st.data())
def test_a_damaged_run_is_shown_or_gets_a_sentence(whole: Path, folder: Path, data: st.DataObject) -> None:
    copy_with(whole, folder, *data.draw(damage(whole)))
    code, _, err = hostile.command("show", str(folder))
    hostile.check_sentence(code, err)
    code, _, err = hostile.command("runs", str(folder.parent))
    hostile.check_sentence(code, err)
    assert code == 0


@settings(FEW, max_examples=6)
@given(st.data())
def test_a_damaged_run_is_reported_or_gets_a_sentence(whole: Path, folder: Path, data: st.DataObject) -> None:
    copy_with(whole, folder, *data.draw(damage(whole)))
    code, _, err = hostile.command("report", str(folder))
    hostile.check_sentence(code, err)


@settings(FEW, max_examples=15)
@given(st.data())
def test_a_damaged_run_resumes_to_the_right_answer_or_gets_a_sentence(
    whole: Path, folder: Path, data: st.DataObject
) -> None:
    name, content = data.draw(damage(whole))
    copy_with(whole, folder, name, content)
    code, _, err = hostile.command("resume", str(folder), "--set", "max_evals=6000", "--set", "max_time=none")
    hostile.check_sentence(code, err)
    is_protected = name == "events.jsonl" or not name.endswith((".toml", ".safetensors", "a.json", "b.json"))
    if code == 0 and is_protected:
        assert (folder / "front.csv").read_bytes() == (whole / "front.csv").read_bytes()
