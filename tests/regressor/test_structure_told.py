"""What evidence says of the structure of the data is told by the estimator, kept in the run, and shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from symseed import SymbolicRegressor
from symseed.cli.main import commands
from symseed.structure import Finding


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(1.0, 3.0, (150, 4)), columns=["a", "b", "c", "d"])
    y = X.a * np.exp(-X.b * X.c / X.d)
    parent = tmp_path_factory.mktemp("runs")
    model = SymbolicRegressor(
        max_time=None, max_evals=6_000, random_state=0, verbosity=0, output_directory=str(parent), n_jobs=1
    ).fit(X, y + 0.01 * y.std() * rng.normal(size=150))
    assert model.run_directory_ is not None
    first = model.structure_[0]
    assert isinstance(first, Finding)
    assert first.target == "y/a"
    assert len(first.columns) == 1
    assert first.gain > 20.0
    assert SymbolicRegressor.from_file(model.run_directory_).structure_ == model.structure_
    return Path(model.run_directory_)


def test_the_log_of_a_run_has_the_structure_once(folder: Path) -> None:
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    (told,) = [event for event in events if event["event"] == "structure"]
    assert told["output"] == 0
    assert told["findings"][0]["target"] == "y/a"


def test_it_is_shown_and_reported(folder: Path) -> None:
    shown = CliRunner().invoke(commands, ["show", str(folder)])
    assert "By evidence, y/a depends only on" in shown.stdout
    record = json.loads(CliRunner().invoke(commands, ["show", str(folder), "--json"]).stdout)
    assert record["targets"][0]["structure"][0]["target"] == "y/a"
    CliRunner().invoke(commands, ["report", str(folder)])
    assert "<h2>Structure</h2>" in (folder / "report.html").read_text()


def test_a_fit_of_few_columns_has_none() -> None:
    x = np.linspace(0.1, 3.0, 60)[:, None]
    model = SymbolicRegressor(max_time=None, max_evals=1_000, random_state=0, verbosity=0).fit(x, x[:, 0] ** 2)
    assert model.structure_ == []


def test_several_targets_have_a_list_each() -> None:
    x = np.linspace(0.1, 3.0, 60)[:, None]
    targets = np.stack([x[:, 0] ** 2, x[:, 0] + 1.0], axis=1)
    model = SymbolicRegressor(max_time=None, max_evals=1_000, random_state=0, verbosity=0).fit(x, targets)
    assert model.structure_ == [[], []]


def test_a_sentence_lists_the_combinations() -> None:
    assert str(Finding("y/a", ("b", "c/d"), 12.0)) == "y/a depends only on b and c/d"
    assert str(Finding("y", ("a", "b", "c/d"), 12.0)) == "y depends only on a, b and c/d"
    assert str(Finding("y", ("a*b",), 12.0)) == "y depends only on a*b"
