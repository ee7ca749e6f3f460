"""Each fuzzer for a second, without atheris: what its corpus has, and random changes of that."""

from __future__ import annotations

import importlib.util
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


def test_a_command_without_names_fuzzes_every_target(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done: list[str] = []

    def report(name: str, seconds: int) -> dict[str, object]:
        done.append(name)
        return {"branches": None, "exit": 0, "runs": 0}

    monkeypatch.setattr(FUZZ, "_report", report)
    monkeypatch.setattr("sys.argv", ["fuzz.py", "--seconds", "1"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        FUZZ.main()
    assert not ended.value.code
    assert done == FUZZ.TARGETS


def test_a_fuzzer_finds_a_fault_that_is_there() -> None:
    def one(data: bytes) -> None:
        assert b")))))" not in data

    count, failed = FUZZ.change_at_random(one, FUZZ.corpus("formula"), seconds=30.0, seed=0)
    assert failed is not None
    assert b")))))" in failed
    assert count > len(FUZZ.corpus("formula")), "the corpus itself is good"
