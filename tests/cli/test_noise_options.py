"""Noise and errors of columns on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from symseed import DataError, SettingsError
from symseed.cli.choice import Choice
from symseed.cli.main import commands

ROWS = 30
X = np.geomspace(0.01, 100.0, ROWS)
Y = 3.0 * X**1.5 * (1.0 + 0.05 * np.random.default_rng(0).standard_normal(ROWS))
QUICK = ("--set", "max_evals=300", "--time", "600", "--in-memory")


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "table.csv"
    columns = {"x": X, "y": Y, "sx": np.full(ROWS, 0.001), "sy": 0.05 * Y, "z": 2.0 * Y}
    lines = np.stack(list(columns.values()), axis=1)
    np.savetxt(path, lines, delimiter=",", header=",".join(columns), comments="", fmt="%.17g")
    return str(path)


def output_of(*arguments: str) -> str:
    result = CliRunner().invoke(commands, arguments)
    if result.exception is not None:
        raise result.exception
    return result.stdout


def test_a_fit_says_which_noise_it_chose_and_why(table: str) -> None:
    told = output_of("fit", table, "-y", "y", "--inputs", "x", *QUICK)
    assert "The noise is relative: its standard deviation is about 4.2 % of the value." in told
    assert "nats." in told
    plain = output_of("fit", table, "-y", "y", "--inputs", "x", "--noise", "additive", *QUICK)
    assert "The noise is" not in plain
    assert "The residuals grow with the value: fit again with noise `relative`" in plain
    answer = json.loads(output_of("fit", table, "-y", "y", "--inputs", "x", "--noise", "relative", "--json", *QUICK))
    assert answer["targets"][0]["noise"]["kind"] == "relative"


def test_columns_of_errors_are_read_and_are_no_inputs(table: str) -> None:
    data = Choice(("y",), drop=("z",), errors=("sy", "x=sx")).read(table)
    assert data.names == ("x",)
    np.testing.assert_array_equal(data.y_errors, 0.05 * Y[:, None])
    np.testing.assert_array_equal(data.X_errors, np.full((ROWS, 1), 0.001))
    told = output_of("fit", table, "-y", "y", "--drop", "z,sx", "--errors", "sy", *QUICK)
    assert "sy  errors    numbers" in told
    assert "The noise has the standard errors that were given." in told
    both = Choice(("y", "z"), errors=("y=sy", "z=sx")).read(table)
    np.testing.assert_array_equal(both.y_errors, np.stack([0.05 * Y, np.full(ROWS, 0.001)], axis=1))


def test_errors_that_cannot_be_used_get_a_sentence(table: str) -> None:
    with pytest.raises(SettingsError, match="must be COLUMN=ERRORS, because there are several targets: `y`, `z`"):
        Choice(("y", "z"), errors=("sy",)).read(table)
    with pytest.raises(SettingsError, match="of every target or of none, but lacks those of `z`"):
        Choice(("y", "z"), errors=("y=sy",)).read(table)
    with pytest.raises(SettingsError, match="with a target or an input, but `w` is neither"):
        Choice(("y",), errors=("w=sy",)).read(table)
    with pytest.raises(DataError, match="has no column `s`"):
        Choice(("y",), errors=("s",)).read(table)
    with pytest.raises(SettingsError, match="Give it one role"):
        Choice(("y",), inputs=("sy",), errors=("sy",)).read(table)
