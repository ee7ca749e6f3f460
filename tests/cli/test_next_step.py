"""The line that says what to type next: for people, and never for programs."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from symseed.cli import next_step
from symseed.cli.main import commands
from symseed.methods import METHODS

FEW = ("--method", "nggp", "--set", "max_evals=300")


def output_of(*arguments: str) -> str:
    result = CliRunner().invoke(commands, arguments)
    if result.exception is not None:
        raise result.exception
    return result.stdout


def test_a_person_is_told_what_to_type_next_and_a_program_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments, expected in (
        (["fit", "planets", "-y", "period_days", *FEW], "symseed report latest"),
        (["fit", "planets", "-y", "period_days", *FEW, "--output-directory", "my fits"], "symseed report 'my fits/"),
        (["resume", "latest"], "symseed report latest"),
        (["runs"], "symseed show latest"),
        (["show", "latest"], "symseed report latest"),
        (["show", "latest", "--as", "c"], "symseed predict latest DATA"),
        (["predict", "latest", "planets"], "symseed predict latest DATA > predicted.csv"),
        (["evaluate", "planets", "-y", "period_days", "const"], "symseed fit planets -y period_days"),
        (["methods"], "symseed fit DATA -y COLUMN --method NAME"),
        (["doctor"], "symseed fit planets -y period_days"),
        (["bench", "list"], "symseed bench show Nguyen-5"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(next_step, "is_terminal", lambda: True)
            last = output_of(*arguments).splitlines()[-1]
            assert last.startswith(f"Next: {expected}"), arguments
            if arguments[0] not in {"fit", "predict"}:
                assert "Next" not in output_of(*arguments, "--json")
        if arguments[0] != "fit":
            assert "Next" not in output_of(*arguments)


def test_a_list_of_runs_keeps_to_the_width_of_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    output_of("fit", "diabetes", "-y", "progression", *FEW)
    monkeypatch.setattr(next_step, "is_terminal", lambda: True)
    assert all(len(line) <= 80 for line in output_of("runs").splitlines())


def test_methods_keep_to_the_width_of_a_terminal_and_have_a_line_each_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert len(output_of("methods").splitlines()) == len(METHODS)
    monkeypatch.setattr(next_step, "is_terminal", lambda: True)
    shown = output_of("methods").splitlines()
    assert len(shown) > len(METHODS)
    assert all(len(line) <= 80 for line in shown)


def test_a_terminal_is_seen() -> None:
    parent, child = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "symseed", "methods"], stdout=child):
        os.close(child)
        out = b""
        while part := _read(parent):
            out += part
    os.close(parent)
    assert b"Next: symseed fit DATA -y COLUMN --method NAME" in out


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other side is closed
        return b""
