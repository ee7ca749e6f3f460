"""Commands that read a table: what they say of it, what they keep, and what they do about gaps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from symseed.cli.main import commands
from symseed.regressor.run import Run

QUICK = ("--set", "method=nggp", "--set", "constants=true", "--set", "max_evals=300", "--set", "max_time=none")


def run(*arguments: str, given: bytes = b"") -> Any:
    result = CliRunner().invoke(commands, arguments, input=given)
    if result.exception is not None:
        raise result.exception
    return result


LOG = "when;site;v;y\n;;m/s;m\n01.01.2024;Nord;1,5;3\n02.01.2024;Süd;;4\n03.01.2024;Nord;2,5;5\n04.01.2024;Süd;4;8\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a German log with a row of units, dates, text, and a gap."""
    path = tmp_path_factory.mktemp("log")
    (path / "log.csv").write_bytes(LOG.encode("latin-1"))
    shown = run("fit", str(path / "log.csv"), "--target", "y", "--output-directory", str(path / "runs"), *QUICK).stdout
    (path / "shown.txt").write_text(shown, encoding="utf-8")
    return path


SAID = """\
log.csv: 3 of 4 rows; semicolons between columns; decimal commas; Latin-1
  y     target    numbers in m
  v     input     numbers in m/s; 1 gap
  when  left out  dates; such as 01.01.2024
  site  left out  text; 2 values
1 row with gaps was left out; `--missing mean` fills gaps of inputs.
"""


def test_what_was_read_is_said_before_the_search(folder: Path) -> None:
    assert (folder / "shown.txt").read_text(encoding="utf-8").startswith(SAID)


def test_what_was_read_is_kept_in_the_run_and_in_its_report(folder: Path) -> None:
    (made,) = (folder / "runs").iterdir()
    opened = Run.read(made)
    assert opened.data.table is not None
    assert opened.data.table.text() + "\n" == SAID
    assert opened.data.units_of(0) == {"v": "m/s", "y": "m"}
    page = Path(run("report", str(made)).stdout.strip()).read_text(encoding="utf-8")
    assert "<h3>The file as it was read</h3><p>3 of 4 rows used; semicolons between columns" in page
    assert "<td>site</td><td>left out</td><td>text; 2 values</td>" in page


def test_what_was_read_is_in_the_json_too(folder: Path) -> None:
    found = json.loads(run("fit", str(folder / "log.csv"), "--target", "y", "--json", "--in-memory", *QUICK).stdout)
    assert found["table"]["used"] == 3
    assert [column["role"] for column in found["table"]["columns"]] == ["left out", "left out", "input", "target"]


def test_a_unit_that_is_given_comes_before_the_row_of_units(folder: Path, tmp_path: Path) -> None:
    arguments = ("--target", "y", "--unit", "v=km/h", "--output-directory", str(tmp_path), *QUICK)
    run("fit", str(folder / "log.csv"), *arguments)
    (made,) = tmp_path.iterdir()
    assert Run.read(made).data.units_of(0) == {"v": "km/h", "y": "m"}


def test_a_table_comes_from_standard_input(folder: Path) -> None:
    shown = run("evaluate", "-", "const * v", "--target", "y", "--missing", "mean", given=LOG.encode()).stdout
    assert shown.startswith("standard input: 4 rows; semicolons between columns; decimal commas; UTF-8\n")
    assert "1 gap, 1 filled by the mean" in shown


def test_evaluate_says_in_json_mode_what_was_left_out_beside_the_json(folder: Path) -> None:
    result = run("evaluate", str(folder / "log.csv"), "const * v", "--target", "y", "--json")
    assert len(json.loads(result.stdout)) == 1
    assert result.stderr.startswith("symseed: 1 row with gaps was left out")


# --- Predictions ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of y = a + a, beside a column that the formula does not need."""
    path = tmp_path_factory.mktemp("line")
    (path / "t.csv").write_text("a,b,y\n1,5,2\n2,1,4\n3,7,6\n5,2,10\n")
    run("fit", str(path / "t.csv"), "--target", "y", "--output-directory", str(path / "runs"), *QUICK)
    return next((path / "runs").iterdir())


def test_a_row_with_a_gap_has_no_prediction_and_the_others_have_theirs(line: Path, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("note;b;a\nx;1;1,50\n\ny;1;\nz;;NA\nu;;2\n,;1;<3\n")
    result = run("predict", str(line), str(tmp_path / "new.csv"))
    assert result.stdout.splitlines() == [
        "note,b,a,y predicted",
        'x,1,"1,50",3.0',
        "y,1,,",
        "z,,NA,",
        "u,,2,4.0",  # `b` is not in the formula
        '",",1,<3,',
    ]
    assert result.stderr == "symseed: 3 of 5 rows have no prediction.\n"


def test_predictions_count_seconds_from_the_moment_of_the_fit(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("t,y\n2024-01-01,0\n2024-01-02,86400\n2024-01-03,172800\n2024-01-05,345600\n")
    arguments = ("--target", "y", "--dates", "seconds", "--output-directory", str(tmp_path / "runs"), *QUICK)
    run("fit", str(tmp_path / "t.csv"), *arguments)
    (tmp_path / "new.csv").write_text("t\n2024-01-04\n")
    result = run("predict", str(next((tmp_path / "runs").iterdir())), str(tmp_path / "new.csv"))
    assert result.stdout.splitlines()[1] == "2024-01-04,259200.0"
