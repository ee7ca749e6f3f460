"""The harness of the released code: what it asks for, what it refuses, and the records it writes.

The released code itself is not here. A small package of the same interface answers in its place.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from symseed import SettingsError, benchmarks, methods
from symseed.benchmarks.store import RunKey, RunRecord, Store
from symseed.errors import DataError
from symseed.recovery.checker import Checker

FOLDER = Path(__file__).parent.parent / "reproduction"

PACKAGE = """
import json, pathlib
import numpy as np

class Token:
    def __init__(self, name, value=None):
        self.name, self.value = name, None if value is None else np.array([value])

class Task: pass

class Program:
    task = Task()

class DeepSymbolicOptimizer:
    def __init__(self, configuration):
        print("noise on standard output")
        pathlib.Path(__file__).with_name("seen.json").write_text(json.dumps(configuration))
        given = json.loads(pathlib.Path(__file__).with_name("given.json").read_text())
        for name, table in given["samples"].items():
            setattr(Program.task, name, np.array(table))
        Program.task.library = type("Library", (), {"tokens": [Token("add")]})()
        self.words = given["words"]
    def train(self):
        if not self.words:
            raise RuntimeError("it broke")
        found = type("Found", (), {"traversal": [Token(*word) for word in self.words]})()
        return {"program": found, "success": True, "n_samples": 12345, "n_cached": 99, "n_epochs": 3}
"""


@pytest.fixture(scope="module")
def released() -> ModuleType:
    spec = importlib.util.spec_from_file_location("released", FOLDER / "released.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checkout(folder: Path, problem: str, words: list[tuple[str, float | None]], *, shift: float = 0.0) -> Path:
    """Make a checkout whose code has our samples and answers with a formula."""
    package = folder / "dso" / "dso"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(PACKAGE)
    (package / "program.py").write_text("from dso import Program\n")
    train, test = benchmarks.get(problem).datasets()
    samples = {"X_train": train.X, "y_train": train.y + shift, "X_test": test.X, "y_test": test.y}
    given = {"samples": {name: table.tolist() for name, table in samples.items()}, "words": words}
    (package / "given.json").write_text(json.dumps(given))
    return folder


def plain(formula: str) -> list[tuple[str, float | None]]:
    """Return prefix words without constants."""
    return [(name, None) for name in formula.split()]


Ran = Callable[[Path, str], RunRecord]


@pytest.fixture
def ran(released: ModuleType, checker: Checker) -> Ran:
    """Let the code of a checkout run once, and judge its answer."""

    def ran(folder: Path, problem: str) -> RunRecord:
        key = RunKey(problem, "nggp/released", 3, expressions=50_000)
        record: RunRecord = released.run(key, methods.get("nggp"), folder, Path(sys.executable), checker)
        return record

    return ran


def test_an_answer_becomes_a_record_that_is_judged_on_our_data(ran: Ran, tmp_path: Path) -> None:
    words = plain("mul x1 add x1 x1")
    wrong = ran(checkout(tmp_path / "a", "Nguyen-1", words), "Nguyen-1")
    assert (wrong.verdict, wrong.formula, wrong.charged, wrong.unique, wrong.steps) == (
        "no",
        "x1 * (x1 + x1)",
        12345,
        99,
        3,
    )
    _, test = benchmarks.get("Nguyen-1").datasets()
    assert wrong.test_nmse == pytest.approx(np.mean((2 * test.X[:, 0] ** 2 - test.y) ** 2) / np.var(test.y))
    assert not wrong.passes_reference
    words = plain("add x1 mul x1 add x1 mul x1 x1")
    right = ran(checkout(tmp_path / "b", "Nguyen-1", words), "Nguyen-1")
    assert right.is_recovered
    assert right.passes_reference
    assert right.method == "nggp/released"


def test_names_constants_and_literals_of_its_formulas_are_read(released: ModuleType) -> None:
    jin = benchmarks.get("Jin-4")
    words = [("add", None), ("mul", None), ("const", 1.5), ("exp", None), ("x1", None), ("n2", None), ("x2", None)]
    assert str(released.expression(jin, words)) == "1.5 * exp(x1) + square(x2)"
    neat = benchmarks.get("Neat-1")
    assert str(released.expression(neat, [("add", None), ("x1", None), ("1.0", None)])) == "x1 + 1.0"


def test_the_configuration_says_what_our_method_does(released: ModuleType, ran: Ran, tmp_path: Path) -> None:
    words = plain("add x1 x1")
    ran(checkout(tmp_path, "Nguyen-12*", words), "Nguyen-12*")
    seen = json.loads((tmp_path / "dso" / "dso" / "seen.json").read_text())
    assert seen["task"]["dataset"] == "Nguyen-12a"
    assert seen["experiment"]["seed"] == 3
    assert seen["training"]["n_samples"] == 50_000
    assert seen["training"]["batch_size"] == 500
    assert (seen["controller"]["learning_rate"], seen["controller"]["entropy_weight"]) == (0.0025, 0.005)
    assert (seen["controller"]["pqt"], seen["controller"]["pqt_k"], seen["controller"]["pqt_weight"]) == (True, 10, 200)
    assert (seen["gp_meld"]["generations"], seen["gp_meld"]["train_n"], seen["gp_meld"]["tournament_size"]) == (
        25,
        1,
        5,
    )
    assert seen["prior"]["length"] == {"min_": 4, "max_": 30, "on": True}
    nguyen = benchmarks.get("Nguyen-4")
    vpg = released.configuration(methods.get("vpg"), nguyen, seed=0, expressions=10)
    assert (vpg["training"]["epsilon"], vpg["training"]["baseline"]) == (1.0, "ewma_R")
    assert vpg["gp_meld"] == {"run_gp_meld": False}
    dsr = released.configuration(methods.get("dsr"), nguyen, seed=0, expressions=10)
    assert (dsr["training"]["epsilon"], dsr["training"]["batch_size"]) == (0.05, 1000)
    soft = released.configuration(methods.get("nggp-slp-her"), nguyen, seed=0, expressions=10)
    assert soft["prior"]["soft_length"] == {"on": True, "loc": 10.0, "scale": 5.0}
    assert soft["controller"]["entropy_gamma"] == 0.7


@pytest.mark.parametrize(
    "method", ["default", "gp", "gegl", "nggp-complete", "nggp-no-constraints", "nggp-uniform-mutation"]
)
def test_a_method_that_it_has_no_settings_for_is_refused(released: ModuleType, method: str) -> None:
    with pytest.raises(SettingsError, match=r"released code|must have the paper's constraints"):
        released.configuration(methods.get(method), benchmarks.get("Nguyen-1"), seed=0, expressions=10)


def test_other_samples_than_ours_are_refused(ran: Ran, tmp_path: Path) -> None:
    folder = checkout(tmp_path, "Nguyen-1", [("x1", None)], shift=1e-6)
    with pytest.raises(DataError, match=r"our samples of `Nguyen-1`, but its train data differ"):
        ran(folder, "Nguyen-1")


def test_an_error_of_its_code_is_recorded(ran: Ran, tmp_path: Path) -> None:
    record = ran(checkout(tmp_path, "Nguyen-1", []), "Nguyen-1")
    assert record.error.endswith("RuntimeError: it broke")
    assert not record.is_recovered


def test_a_second_start_does_only_the_missing_runs(
    released: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = checkout(tmp_path / "code", "Nguyen-1", plain("add x1 mul x1 add x1 mul x1 x1"))
    command = ["released.py", str(folder), sys.executable, "Nguyen-1", "--store", str(tmp_path / "store")]
    for seeds, lines in (("0:1", 1), ("0:2", 1)):
        monkeypatch.setattr(sys, "argv", [*command, "--seeds", seeds])
        assert released.main() == 0
        assert capsys.readouterr().out.count("nggp/released Nguyen-1 seed") == lines
    assert [record.seed for record in Store(tmp_path / "store").read()] == [0, 1]
