"""Each fuzzer for a second, without atheris: what its corpus has, and random changes of that."""

from __future__ import annotations

import faulthandler
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[1] / "fuzz"


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz", FOLDER / "fuzz.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FUZZ = _loaded()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUZZ.TARGETS)
def test_no_input_of_a_second_fails(name: str) -> None:
    count, failed = FUZZ.change_at_random(FUZZ.target(name), FUZZ.corpus(name), seconds=1.0, seed=0)
    assert failed is None, f"{failed!r} fails: see the traceback above"
    assert count >= len(FUZZ.corpus(name)) > 3


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, int]]:
    """The targets that were fuzzed, with their seconds; that of networks always fails."""
    done: list[tuple[str, int]] = []

    def report(name: str, seconds: int, *, is_blind: bool) -> dict[str, object]:
        done.append((name, seconds))
        wrong = name == "network"
        common = {"target": name, "seconds": seconds, "runs": 7, "branches": 5, "log": f"{name}.log"}
        return {**common, "exit": int(wrong), "failed": ["kept"] if wrong else []}

    monkeypatch.setattr(FUZZ, "_report", report)
    monkeypatch.chdir(tmp_path)
    return done


def fuzz(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["fuzz.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        FUZZ.main()
    return int(ended.value.code or 0)


def test_a_command_without_names_fuzzes_every_target(
    monkeypatch: pytest.MonkeyPatch, done: list[tuple[str, int]]
) -> None:
    assert fuzz(monkeypatch, "--seconds", "1") == 1, "one of them fails"
    assert done == [(name, 1) for name in FUZZ.TARGETS]


def test_figures_add_up_over_commands_until_every_target_has_its_seconds(
    monkeypatch: pytest.MonkeyPatch, done: list[tuple[str, int]]
) -> None:
    report = Path("build/fuzz.json")
    assert fuzz(monkeypatch, "table", "--seconds", "50", "--json", str(report)) == 0
    names = ("formula", "network", "table")
    assert fuzz(monkeypatch, *names, "--seconds", "60", "--until", "100", "--json", str(report)) == 1
    assert done[1:] == [("formula", 60), ("network", 60), ("table", 50), ("formula", 40)], "no second of a failing one"
    found = json.loads(report.read_text())
    assert {name: (one["seconds"], one["runs"], one["failed"]) for name, one in found.items()} == {
        "formula": (100, 14, []),
        "network": (60, 7, ["kept"]),
        "table": (100, 14, []),
    }
    assert fuzz(monkeypatch, "formula", "table", "--until", "100", "--json", str(report)) == 0
    assert len(done) == 5, "nothing is left to do"


def test_a_fuzzer_finds_a_fault_that_is_there() -> None:
    def one(data: bytes) -> None:
        assert b")))))" not in data

    count, failed = FUZZ.change_at_random(one, FUZZ.corpus("formula"), seconds=30.0, seed=0)
    assert failed is not None
    assert b")))))" in failed
    assert count > len(FUZZ.corpus("formula")), "the corpus itself is good"


def test_an_input_that_ends_the_process_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    FUZZ.kept_while_tried(lambda given: None, kept)(b"good")
    assert not kept.exists()
    with pytest.raises(SystemExit):
        FUZZ.kept_while_tried(lambda given: sys.exit(1), kept)(b"bad")
    faulthandler.cancel_dump_traceback_later()
    assert kept.read_bytes() == b"bad"
