"""The command line, as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from symseed import DataError, tables


def symseed(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "symseed"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_evaluate_fits_constants_and_orders_by_complexity() -> None:
    result = symseed(
        "evaluate", "planets", "--target", "period_days", "--json", "const * axis_au ^ const", "const * axis_au"
    )
    line, law = json.loads(result.stdout)
    assert line["complexity"] < law["complexity"]
    assert law["r2"] > 0.999999 > line["r2"]
    constant, exponent = (float(part) for part in law["formula"].replace(" * axis_au ^ ", " ").split())
    assert constant == pytest.approx(365.2, abs=0.5)
    assert exponent == pytest.approx(1.5, abs=0.001)


def test_evaluate_prints_a_table_and_says_why_a_formula_failed(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("name,a b,y\nfirst,-1,1\nsecond,2,4\n", encoding="utf-8")
    result = symseed("evaluate", str(path), "--target", "y", "log(`a b`)", "`a b` ^ 2")
    assert result.returncode == 0
    assert "not a number at some sample" in result.stdout
    assert "1.0000000  `a b` ^ 2.0" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nowhere.csv", "--target", "y", "x1"), "must be a CSV file or one of the tables that ship (planets)"),
        (("planets", "--target", "mass", "x1"), "has no column `mass`"),
        (("planets", "--target", "period_days", "axis_au +"), "Expected a number, a name or `(`"),
    ],
)
def test_a_mistake_gets_one_sentence_and_exit_code_2(arguments: tuple[str, ...], sentence: str) -> None:
    result = symseed("evaluate", *arguments)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_runs_with_noise_have_records_of_their_own(tmp_path: Path) -> None:
    command = ["bench", "run", "Nguyen-1", "--seeds", "0", "--jobs", "1", "--max-evals", "3000"]
    command += ["--store", str(tmp_path)]
    first = symseed(*command, "--noise", "0,0.01")
    assert first.returncode == 0, first.stderr
    assert "2 runs, 0 of them done before" in first.stdout
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [record["noise"] for record in records] == [0.0, 0.01]
    assert [record["error"] for record in records] == ["", ""]
    assert records[1]["train_nmse"] > 1e-6, "no formula of 3,000 tried explains noise"
    again = symseed(*command, "--noise", "0.01,0.1", "--max-time", "50")
    assert "2 runs, 0 of them done before" in again.stdout, "another budget is another run"
    once_more = symseed(*command, "--noise", "0.01")
    assert "1 runs, 1 of them done before" in once_more.stdout


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        ("", "must be numbers such as 0.001,0.01, but it is ``"),
        ("a", "must be numbers such as 0.001,0.01, but it is `a`"),
        ("0.1,", "must be numbers"),
        ("0.1;0.2", "must be numbers"),
        ("-0.1", "must be levels of at least 0, but it is `-0.1`"),
        ("0.1,inf", "must be levels of at least 0"),
        ("nan", "must be levels of at least 0"),
    ],
)
def test_levels_of_noise_that_are_none_get_a_sentence(levels: str, sentence: str, tmp_path: Path) -> None:
    result = symseed("bench", "run", "Nguyen-1", f"--noise={levels}", "--store", str(tmp_path / "runs"))
    assert result.returncode == 2
    assert "`--noise`" in result.stderr
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "runs").exists()


def test_doctor_checks_the_core_against_numpy() -> None:
    result = symseed("doctor")
    assert result.returncode == 0
    assert "the core agrees with NumPy" in result.stdout
    assert "portable" in result.stdout


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "must have a header"),
        ("a,y\n", "must have a header and at least one row"),
        ("a,a,y\n1,2,3\n", "needs a name of its own"),
        ("a,y\n1,2,3\n", "Line 2 .* has 3 values"),
        ("a,y\n1,2\nx,3\n", "Column `a` .* line 3 has `x`"),
        ("a,y\n1,two\n2,three\n", "Column `y` .* begins with `two`"),
        ("a,y\nred,2\nblue,3\n", "no column of numbers beside `y`"),
        ("a,y\n1,nan\n", "`y` must be finite"),
    ],
)
def test_a_broken_table_is_refused_with_its_line_or_column(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=sentence):
        tables.read(str(path), "y")


def test_a_table_keeps_its_numbers_and_leaves_labels_out() -> None:
    dataset = tables.read("planets", "period_days")
    assert dataset.names == ("axis_au",)
    assert dataset.X[2, 0] == 1.0
    assert dataset.y[2] == 365.256


def test_fit_finds_keplers_law_and_shows_a_front() -> None:
    outcome = symseed("fit", "planets", "--target", "period_days", "--patience", "2", "--json")
    assert outcome.returncode == 0, outcome.stderr
    found = json.loads(outcome.stdout)
    assert found["formula"] == "365.0 * (axis_au * sqrt(axis_au))"
    assert [line["complexity"] for line in found["front"]] == sorted(line["complexity"] for line in found["front"])
    assert found["formula"] in {line["formula"] for line in found["front"]}
    assert "did not change for 2 turns" in found["reason"]
