"""The options of the commands: what each sets, and what is said where they cannot be right."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

from symseed import DataError, SettingsError, SymbolicRegressor, files
from symseed.cli import options
from symseed.cli.choice import Choice
from symseed.cli.main import ELSEWHERE, commands
from symseed.cli.searching import settings
from symseed.regressor.settings import NAMES, Settings


def output_of(*arguments: str) -> str:
    result = CliRunner().invoke(commands, arguments)
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Columns a, "b, c", w, id and label; y = a * b."""
    rng = np.random.default_rng(0)
    a, b, w = rng.uniform(1.0, 3.0, (3, 20))
    rows = [
        f"{x!r},{z!r},{v!r},{i},r{i},{x * z!r}"
        for i, (x, z, v) in enumerate(zip(*map(np.ndarray.tolist, (a, b, w)), strict=True))
    ]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(['a,"b, c",w,id,label,y', *rows]), encoding="utf-8")
    return str(path)


def config_of(folder: Path) -> dict[str, Any]:
    (run,) = folder.iterdir()
    return files.toml_values((run / "config.toml").read_text(encoding="utf-8"))


# --- Settings ---------------------------------------------------------------------------------------------------------


def test_every_option_stands_for_settings_that_there_are() -> None:
    assert {name for option in options.OPTIONS.values() for name in option.settings} <= set(NAMES)
    names = {"time", "ops", "seed", "test", "method", "maxsize", "template", "loss", "noise", "jobs"}
    assert set(options.OPTIONS) == names | {"islands", "scheduler", "device", "network"}


@pytest.mark.parametrize(
    ("name", "typed", "setting", "value"),
    [
        ("time", "60", "max_time", 60.0),
        ("time", "2m", "max_time", 120.0),
        ("time", "1.5 min", "max_time", 90.0),
        ("time", "1h30m", "max_time", 5400.0),
        ("time", "1d", "max_time", 86400.0),
        ("time", "none", "max_time", None),
        ("seed", "7", "random_state", 7),
        ("test", "0.2", "test_size", 0.2),
        ("method", "nggp", "method", "nggp"),
        ("maxsize", "12", "maxsize", 12),
        ("template", "f(x) + 2", "template", "f(x) + 2"),
        ("loss", "L1DistLoss()", "loss", "L1DistLoss()"),
        ("noise", "relative", "noise", "relative"),
        ("jobs", "-1", "n_jobs", -1),
        ("device", "auto", "device", "auto"),
    ],
)
def test_an_option_sets_what_its_setting_would(name: str, typed: str, setting: str, value: Any) -> None:
    found = settings(None, options.read({name: typed, "ops": None}), ())
    assert found[setting] == value
    assert type(found[setting]) is type(value)
    Settings.of(found).plan()


@pytest.mark.parametrize(
    ("typed", "unary", "binary"),
    [
        ("sin,exp", ["sin", "exp"], None),
        ("sin exp", ["sin", "exp"], None),
        ("+,*,sin", ["sin"], ["+", "*"]),
        ("+, **, ln", ["ln"], ["+", "**"]),
        ("add,mul", [], ["add", "mul"]),
    ],
)
def test_operators_are_sorted_by_their_arguments(typed: str, unary: list[str], binary: list[str] | None) -> None:
    found = settings(None, options.read({"ops": typed}), ())
    assert found["unary_operators"] == unary
    assert found.get("binary_operators") == binary, "operators of one argument alone leave the others as they are"
    Settings.of(found).plan()


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("sinn", r"`--ops` has `sinn`, which is not an operator\. Did you mean `sin`\?"),
        ("erfc", r"`--ops` has `erfc`, .* From Python, a function of arrays can be given"),
        (",", r"`--ops` must name operators, such as 'sin,exp', but it is `,`\."),
        ('"sin', r"must be names separated by commas"),
    ],
)
def test_operators_that_are_none_get_a_sentence(typed: str, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        options.read({"ops": typed})


@pytest.mark.parametrize("typed", ["soon", "1x", "2m later", "m"])
def test_a_time_that_is_none_gets_a_sentence(typed: str) -> None:
    with pytest.raises(SettingsError, match="`max_time` must be a number"):
        Settings.of(settings(None, options.read({"time": typed}), ())).plan()


def test_an_option_and_a_setting_that_disagree_get_a_sentence() -> None:
    typed = options.read({"time": "5"})
    assert settings(None, typed, ["max_time=5"])["max_time"] == 5
    with pytest.raises(SettingsError, match="`--time 5` and `--set max_time=6` disagree about `max_time`"):
        settings(None, typed, ["max_time=6"])
    with pytest.raises(SettingsError, match=r"`--ops sin` and `--set unary_operators=\['exp'\]` disagree"):
        settings(None, options.read({"ops": "sin"}), ['unary_operators=["exp"]'])
    with pytest.raises(SettingsError, match="`--in-memory` and `--output-directory` exclude each other"):
        output_of("fit", "planets", "-y", "period_days", "--in-memory", "--output-directory", "x")


def test_options_come_before_a_file(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text('max_time = 7\nmethod = "nggp"\n', encoding="utf-8")
    found = settings(str(config), options.read({"time": "5"}), ["maxsize=9"])
    assert (found["max_time"], found["method"], found["maxsize"], found["random_state"]) == (5.0, "nggp", 9, 0)


@pytest.mark.parametrize(
    ("flag", "sentence"),
    [
        ("--niterations", "There is no option `--niterations`. Use --set max_evals=VALUE."),
        ("--timeout-in-seconds", "Use --time."),
        ("--allowed-functions", "Use --ops."),
        ("--generations", "Use --set max_evals=VALUE or --time."),
        ("--max-time", "Use --time."),
        ("--patience", "Use --set patience=VALUE."),
        ("--turbo", "Formulas are computed in float64, by compiled code."),
        ("--tyme", "No such option '--tyme'"),
    ],
)
def test_an_option_of_another_tool_is_answered_with_ours(flag: str, sentence: str) -> None:
    result = CliRunner().invoke(commands, ["fit", "planets", "-y", "period_days", flag, "5"])
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())


def test_an_option_that_only_fit_has_is_answered_so() -> None:
    result = CliRunner().invoke(commands, ["resume", "latest", "--ops", "sin"])
    assert "There is no option `--ops`. Only `fit` has it, because a run keeps the settings" in " ".join(
        result.stderr.split()
    )
    result = CliRunner().invoke(commands, ["resume", "latest", "--timeout", "5"])
    assert "Use --time." in result.stderr
    result = CliRunner().invoke(commands, ["resume", "latest", "--maximum-formula-complexity", "5"])
    assert "Use --set maxsize=VALUE." in result.stderr


# --- Columns ----------------------------------------------------------------------------------------------------------


def test_the_columns_of_a_fit_can_be_chosen(table: str, tmp_path: Path) -> None:
    few = ["--set", "max_evals=300", "--method", "nggp"]
    output_of(
        *("fit", table, "-y", "y", "--inputs", 'a,"b, c"', "--weights", "w", "--test", "0.2", "--seed", "3"),
        *("--output-directory", str(tmp_path / "runs"), *few),
    )
    config = config_of(tmp_path / "runs")
    assert config["data"]["names"] == ["a", "b, c"]
    assert config["settings"]["test_size"] == 0.2
    assert config["settings"]["random_state"] == 3
    (run,) = (tmp_path / "runs").iterdir()
    assert SymbolicRegressor.from_file(run).best_.test_loss is not None
    target = json.loads(output_of("show", str(run), "--json"))["targets"][0]
    assert target["front"][target["index"]]["test_loss"] is not None
    assert "test loss" in output_of("show", str(run)).splitlines()[0]


def test_weights_and_dropped_columns_are_no_inputs(table: str) -> None:
    assert Choice(("y",)).read(table).names == ("a", "b, c", "w"), "ids are no inputs unless they are asked for"
    assert Choice(("y",), inputs=("a", "id")).read(table).names == ("a", "id")
    data = Choice(("y",), drop=("id",), weights="w").read(table)
    assert data.names == ("a", "b, c")
    assert data.weights.min() >= 1.0
    assert data.weights.max() > data.weights.min()
    assert Choice(("y",), inputs=("w", "a")).read(table).names == ("w", "a"), "in the order that was typed"


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (Choice(()), "Name the column to predict by -y. The columns of `.*` are `a`, `b, c`, `w`, `id`, `label`, `y`"),
        (Choice(("Y",)), "has no column `Y`. Did you mean `y`?"),
        (Choice(("y",), drop=("ids",)), "has no column `ids`. Did you mean `id`?"),
        (Choice(("y",), inputs=("b", "c")), "has no column `b`.* put a name with a comma in double quotes"),
        (Choice(("y",), inputs=("a", "y")), "`y` is named by `--target` and `--inputs`. Give it one role."),
        (Choice(("y",), weights="y"), "`y` is named by `--target` and `--weights`"),
        (Choice(("y",), weights="label"), "Column `label` .* must hold numbers"),
        (Choice(("y",), units=("z=m",)), "`--unit` must be COLUMN=UNIT with a column of numbers, but it is `z=m`"),
    ],
)
def test_columns_that_cannot_be_get_a_sentence(choice: Choice, sentence: str, table: str) -> None:
    with pytest.raises((DataError, SettingsError), match=sentence):
        choice.read(table)


def test_weights_below_zero_get_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,w,y\n1,1,2\n2,-3,4\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"Column `w` must not be negative, but it is -3\.0 in row 1\."):
        Choice(("y",), weights="w").read(str(path))


# --- Help -------------------------------------------------------------------------------------------------------------


def every_command() -> dict[str, click.Command]:
    names = [*ELSEWHERE, "completion"]
    found = {name: commands.get_command(click.Context(commands), name) for name in names}
    return {name: command for name, command in found.items() if command is not None}


EXAMPLES = [
    line.strip()
    for command in (commands, *every_command().values())
    for line in (command.epilog or "").splitlines()
    if line.strip().startswith("symseed ")
]


def test_the_commands_that_are_used_most_have_examples() -> None:
    shown = {example.split()[1] for example in EXAMPLES}
    assert {"fit", "resume", "show", "report", "predict", "runs", "evaluate"} <= shown


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_can_be_pasted(example: str) -> None:
    words = shlex.split(example.partition(" > ")[0].partition(" | ")[0], comments=True)[1:]
    assert len(example) <= 90
    command = every_command()[words[0]]
    context = command.make_context(words[0], words[1:])
    if words[0] == "fit":
        given = context.params
        columns = given["inputs"] and tuple(options.as_columns(given["inputs"]))
        Choice(given["targets"], inputs=columns, units=given["units"]).read(given["data"])
        typed = {name: given[name] for name in options.OPTIONS}
        Settings.of(settings(None, options.read(typed), given["changes"])).plan()
