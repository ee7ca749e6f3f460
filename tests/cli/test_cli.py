"""The command line, as a user calls it."""

from __future__ import annotations

import itertools
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from symseed import SettingsError, files, tables
from symseed.cli.main import commands
from symseed.errors import SymseedError
from symseed.search.budget import StopReason


def symseed(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "symseed"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def output_of(*arguments: str) -> str:
    """What a command prints, in this process, which saves loading everything anew."""
    result = CliRunner().invoke(commands, arguments)
    if result.exception is not None:
        raise result.exception
    return result.stdout


def written(path: Path, **columns: np.typing.ArrayLike) -> str:
    lines = np.stack([np.asarray(values, dtype=np.float64) for values in columns.values()], axis=1)
    np.savetxt(path, lines, delimiter=",", header=",".join(columns), comments="", fmt="%.17g")
    return str(path)


def test_evaluate_fits_until_nothing_is_gained(tmp_path: Path) -> None:
    kelvin = np.linspace(300.0, 400.0, 30)
    path = written(tmp_path / "rates.csv", T=kelvin, k=1e13 * np.exp(-12_000.0 / kelvin))
    (law,) = json.loads(output_of("evaluate", path, "--target", "k", "--json", "const * exp(const / T)"))
    assert law["r2"] == pytest.approx(1.0, abs=1e-12)
    assert "-12000" in law["formula"] or "-11999.9" in law["formula"]


def test_evaluate_takes_a_target_that_does_not_vary(tmp_path: Path) -> None:
    path = written(tmp_path / "flat.csv", x=[1, 2, 4], y=[3, 3, 3])
    shown = output_of("evaluate", path, "--target", "y", "const")
    assert shown.splitlines()[-1].split() == ["1", "0", "-", "3.0"]


def test_json_has_null_where_a_loss_is_beyond_float64(tmp_path: Path) -> None:
    path = written(tmp_path / "large.csv", x=[1, 2, 3, 4, 5], y=np.array([2, 4, 6.1, 8, 9.9]) * 1e200)
    shown = output_of("fit", path, "--target", "y", "--json", "--in-memory", "--set", "max_evals=1000")
    found = json.loads(shown, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert found["targets"][0]["front"][0]["loss"] is None


def test_options_come_before_a_config_file_and_one_row_may_be_asked_for_as_json(tmp_path: Path) -> None:
    path = written(tmp_path / "line.csv", x=[1, 2, 3, 4, 5], y=[2, 4, 6.1, 8, 9.9])
    first, second = tmp_path / "first", tmp_path / "second"
    output_of("fit", path, "--target", "y", "--set", "max_evals=1000", "--output-directory", str(first))
    (run,) = first.iterdir()
    again = ["fit", path, "--target", "y", "--config", str(run / "config.toml")]
    assert "The run is in" not in output_of(*again, "--in-memory")
    assert str(second) in output_of(*again, "--output-directory", str(second))
    assert len(list(first.iterdir())) == 1
    (row,) = json.loads(output_of("show", str(run), "--index", "0", "--json"))["targets"]
    assert row["target"] == "y"
    assert row["shown"] == row["text"] == output_of("show", str(run), "--index", "0").strip()
    (row,) = json.loads(output_of("show", str(run), "--as", "c", "--json"))["targets"]
    assert row["text"].strip() == output_of("show", str(run), "--as", "c").strip()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("random_state=-1", "`random_state` must be None, a whole number from 0"),
        ("random_state=abc", "`random_state` must be None, a whole number from 0"),
        ('unary_operators=[["sin"]]', "`unary_operators` has `['sin']`, which is not one of sin"),
        ("warm_start=maybe", "`warm_start` must be true or false, but it is 'maybe'."),
    ],
)
def test_a_setting_of_another_kind_gets_a_sentence(change: str, sentence: str) -> None:
    with pytest.raises(SettingsError, match=f"^{re.escape(sentence)}"):
        output_of("fit", "planets", "--target", "period_days", "--set", change)


def test_places_that_cannot_be_written_to_get_a_sentence(tmp_path: Path) -> None:
    path, file = written(tmp_path / "line.csv", x=[1, 2, 3], y=[2, 4, 6]), tmp_path / "file"
    file.touch()
    output_of("fit", path, "--target", "y", "--set", "max_evals=500", "--output-directory", str(tmp_path / "runs"))
    (run,) = (tmp_path / "runs").iterdir()
    for command, sentence in [
        (["report", str(run), "--output", "."], "`--output` must be a file that can be written"),
        (["bench", "run", "Nguyen-1", "--store", str(file)], "The store must be a folder that can be written to"),
    ]:
        with pytest.raises(SymseedError, match=sentence):
            output_of(*command)


def test_a_report_has_units_as_they_were_given(tmp_path: Path) -> None:
    path = written(tmp_path / "fall.csv", speed=[1, 2, 3, 5], time=[3, 1, 2, 2], way=[3, 2, 6, 10])
    given = ["--unit", "speed=km/h", "--unit", "time=h", "--unit", "way=km"]
    output_of("fit", path, "--target", "way", *given, "--set", "max_evals=500", "--output-directory", str(tmp_path))
    (run,) = (folder for folder in tmp_path.iterdir() if folder.is_dir())
    output_of("report", str(run))
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "km/h" in page
    assert "way in km" in page or "way (km)" in page or "way, km" in page


def test_the_help_of_fit_has_its_examples_on_lines_of_their_own() -> None:
    lines = [line.strip() for line in output_of("fit", "--help").splitlines()]
    assert "symseed fit planets -y period_days" in lines
    assert not any("\\b" in line for line in lines), "click's own mark is not shown"


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
        (
            ("nowhere.csv", "--target", "y", "x1"),
            "one of the tables that ship (`acetaldehyde`, ",
        ),
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
        ("-0.1", "must be finite levels of at least 0, but it is `-0.1`"),
        ("0.1,inf", "must be finite levels of at least 0"),
        ("nan", "must be finite levels of at least 0"),
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
    ("command", "key"), [(("doctor",), "instruction_sets"), (("methods",), "nggp"), (("bench", "list"), "Nguyen-paper")]
)
def test_what_a_program_may_read_comes_as_json(command: tuple[str, ...], key: str) -> None:
    found = json.loads(symseed(*command, "--json").stdout)
    assert found[key]


def test_a_method_is_explained_with_every_setting_that_can_be_set() -> None:
    shown = symseed("methods", "dsr").stdout
    assert shown.startswith("dsr: A recurrent network")
    assert re.search(r"^  trainer +\"risk-seeking\"$", shown, re.MULTILINE)
    assert re.search(r"^  policy.learning_rate +0.0005$", shown, re.MULTILINE)
    assert len(json.loads(symseed("methods", "default", "--json").stdout)["searches"]) == 4
    assert "Did you mean `dsr`" in symseed("methods", "dsrr").stderr


def test_a_table_keeps_its_numbers_and_leaves_labels_out() -> None:
    chosen = tables.read_table("planets").select(["period_days"])
    assert chosen.names == ("axis_au",)
    assert chosen.X[2, 0] == 1.0
    assert chosen.y[2, 0] == 365.256


def test_fit_finds_keplers_law_and_shows_a_front() -> None:
    outcome = symseed("fit", "planets", "--target", "period_days", "--set", "patience=2", "--in-memory", "--json")
    assert outcome.returncode == 0, outcome.stderr
    answer = json.loads(outcome.stdout)
    assert answer["run_directory"] is None
    found = answer["targets"][0]
    assert found["target"] == "period_days"
    assert re.fullmatch(r"365\.034\d* \* \(sqrt\(axis_au\) \* axis_au\)", found["equation"])
    assert [line["complexity"] for line in found["front"]] == sorted(line["complexity"] for line in found["front"])
    assert found["equation"] == found["front"][found["index"]]["equation"]
    assert found["reason"] == StopReason.PATIENCE.value


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three columns and labels; y = 2 a b + 1, z = a - b."""
    path = tmp_path_factory.mktemp("data") / "table.csv"
    rows = [
        f"r{i},{a},{b},{2.0 * a * b + 1.0},{a - b}" for i, (a, b) in enumerate(itertools.product((1, 2, 5), (3, 4, 7)))
    ]
    path.write_text("\n".join(["label,a,b c,y,z", *rows]), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def run(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    outcome = symseed("fit", str(table), "--target", "y", "--target", "z", "--output-directory", str(folder))
    assert outcome.returncode == 0, outcome.stderr
    assert "y = " in outcome.stdout
    return next(folder.iterdir())


def test_show_prints_the_front_a_row_or_json(run: Path) -> None:
    assert ">>>>" in symseed("show", str(run)).stdout
    found = json.loads(symseed("show", str(run), "--json").stdout)["targets"]
    assert [item["target"] for item in found] == ["y", "z"]
    first = [item["front"][0]["shown"] for item in found]
    assert symseed("show", str(run), "--index", "0").stdout.splitlines() == first
    outcome = symseed("show", str(run), "--index", "99")
    assert outcome.returncode == 2
    assert "`index` must be a row of `equations_`" in outcome.stderr


def test_predict_prints_the_table_with_what_the_formula_says(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("b c,a\n3,10\n8,0.5\n", encoding="utf-8")
    outcome = symseed("predict", str(run), str(other))
    assert outcome.returncode == 0, outcome.stderr
    header, *lines = outcome.stdout.splitlines()
    assert header == "b c,a,y predicted,z predicted"
    values = [[float(value) for value in line.split(",")[2:]] for line in lines]
    assert values == [pytest.approx([61.0, 7.0]), pytest.approx([9.0, -7.5])]
    lacking = symseed("predict", str(run), "planets")
    assert lacking.returncode == 2
    assert "has no column `a`" in lacking.stderr


def test_resume_leaves_a_run_that_has_ended_as_it_is(run: Path) -> None:
    before = (run / "front.csv").read_bytes()
    outcome = symseed("resume", str(run), "--json")
    assert outcome.returncode == 0, outcome.stderr
    assert (run / "front.csv").read_bytes() == before


def test_a_config_file_holds_the_same_settings(table: Path, run: Path, tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text(
        'max_evals = 2000\nmax_time = "none"\nunary_operators = ["sin"]\nmethod = "nggp"\n', encoding="utf-8"
    )
    command = ["fit", str(table), "--target", "y", "--config", str(config), "--set", "maxsize=9"]
    outcome = symseed(*command, "--output-directory", str(tmp_path / "runs"), "--json")
    assert outcome.returncode == 0, outcome.stderr
    settings = files.toml_values((Path(json.loads(outcome.stdout)["run_directory"]) / "config.toml").read_text())[
        "settings"
    ]
    assert settings["max_evals"] == 2000
    assert settings["max_time"] == "none"
    assert settings["unary_operators"] == ["sin"]
    assert settings["maxsize"] == 9
    again = symseed(*command, "--config", str(run / "config.toml"), "--in-memory", "--json")
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--set", "maxsiz=3"), "There is no setting `maxsiz`. Did you mean `maxsize`?"),
        (("--set", "maxsize"), "`--set` must be NAME=VALUE, but it is `maxsize`."),
        (("--set", "maxsize=0"), "`maxsize` must be a whole number of at least 1, but it is 0."),
        (("--set", "method=ngp"), "There is no method `ngp`. Did you mean `nggp`?"),
        (("--config", "nowhere.toml"), "`--config` must be a TOML file of settings, but `nowhere.toml` cannot be read"),
    ],
)
def test_settings_that_are_none_get_a_sentence(table: Path, arguments: tuple[str, ...], sentence: str) -> None:
    outcome = symseed("fit", str(table), "--target", "y", "--in-memory", *arguments)
    assert outcome.returncode == 2
    assert sentence in outcome.stderr
    assert outcome.stdout == ""


@pytest.mark.parametrize(("sign", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_to_end_keeps_what_was_found_and_the_run_goes_on(
    sign: signal.Signals, code: int, tmp_path: Path
) -> None:
    command = [str(Path(sys.executable).parent / "symseed"), "fit", str(noisy(tmp_path)), "--target", "y"]
    command += ["--set", "patience=none", "--set", "max_time=none", "--output-directory", str(tmp_path / "runs")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not [*(tmp_path / "runs").glob("*/checkpoint/a.json")]:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(sign)
    output, errors = process.communicate()
    assert process.returncode == code, errors
    assert "The search was interrupted; this is the best so far." in output
    run = next((tmp_path / "runs").iterdir())
    assert json.loads((run / "events.jsonl").read_text().splitlines()[-1])["is_final"] is False
    outcome = symseed("resume", str(run), "--set", "max_evals=1", "--json")
    assert outcome.returncode == 0, outcome.stderr


def noisy(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (30, 2))
    y = np.exp(-X[:, 0]) * np.sin(3.0 * X[:, 1]) + X[:, 0] + 0.05 * rng.normal(size=len(X))
    path = folder / "noisy.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="")
    return path
