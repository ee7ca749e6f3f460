"""What shells complete, asked as a shell does; and that asking loads nothing that takes long."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete
from click.testing import CliRunner

from symseed.cli.main import commands


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text('axis,mass,"b, c",height [m],period\n1,2,3,4,5\n', encoding="utf-8")
    for name in ("20260101-000000-aaaaaa", "20260102-000000-bbbbbb"):
        (tmp_path / "outputs" / name).mkdir(parents=True)
        (tmp_path / "outputs" / name / "config.toml").touch()
    return tmp_path


def completed(line: str, kind: type[ShellComplete] = ShellComplete) -> list[str]:
    """What the last word of a line is completed to."""
    *words, last = line.split(" ")
    return [item.value for item in kind(commands, {}, "symseed", "_SYMSEED_COMPLETE").get_completions(words, last)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("f", ["fit"]),
        ("fit pla", ["planets", "pla"]),
        ("fit data.csv -y ", ["axis", "mass", "period"]),
        ("fit data.csv -y ma", ["mass"]),
        ("fit planets --target per", ["period_days"]),
        ("fit data.csv --inputs ", ["axis", "mass", "period"]),
        ("fit data.csv --inputs axis,", ["axis,mass", "axis,period"]),
        ("fit data.csv --drop axis,p", ["axis,period"]),
        ("fit data.csv --weights m", ["mass"]),
        ("fit nowhere.csv -y ", []),
        ("fit . -y ", []),
        ("evaluate data.csv --target ax", ["axis"]),
        ("fit data.csv --method gegl-", ["gegl-whole-queue"]),
        ("fit data.csv --ops sin,sq", ["sin,sqrt", "sin,square"]),
        ("fit data.csv --loss h", ["huber"]),
        ("fit data.csv --ti", ["--time"]),
        ("show ", ["latest", "20260102-000000-bbbbbb", "20260101-000000-aaaaaa", ""]),
        ("report lat", ["latest", "lat"]),
        ("resume 20260101", ["20260101-000000-aaaaaa", "20260101"]),
        ("show latest --as la", ["latex"]),
        ("completion z", ["zsh"]),
    ],
)
def test_a_word_is_completed(line: str, expected: list[str]) -> None:
    assert completed(line) == expected


def test_other_separators_are_seen(folder: Path) -> None:
    (folder / "german.csv").write_text("weg;zeit\n1,5;2\n", encoding="utf-8")
    assert completed("fit german.csv -y ") == ["weg", "zeit"]
    (folder / "latin.csv").write_bytes("Höhe;zeit\n1;2\n".encode("latin-1"))
    assert "zeit" in completed("fit latin.csv -y ")


@pytest.mark.parametrize(("shell", "kind"), [("bash", BashComplete), ("zsh", ZshComplete), ("fish", FishComplete)])
def test_a_script_is_printed_for_every_shell(shell: str, kind: type[ShellComplete]) -> None:
    done = CliRunner().invoke(commands, ["completion", shell])
    assert f"_SYMSEED_COMPLETE={shell}_complete" in done.stdout
    assert "symseed" in done.stdout
    assert completed("fit data.csv -y ma", kind) == ["mass"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_itself_completes_a_column(folder: Path) -> None:
    """Source the script in bash, and ask for what it completes a line to."""
    command = folder / "symseed"
    command.write_text(f"#!{sys.executable}\nfrom symseed.cli.main import main\nmain()\n")
    command.chmod(0o755)
    script = """
        source <(symseed completion bash)
        COMP_WORDS=(symseed fit data.csv -y ma) COMP_CWORD=4
        _symseed_completion symseed
        echo "${COMPREPLY[@]}"
        complete -p symseed
    """
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )
    first, *rest = done.stdout.splitlines()
    assert first == "mass", done.stderr
    assert "_symseed_completion symseed" in rest[0]


SLOW = {"sklearn", "pandas", "scipy", "sympy", "rich", "joblib"}
"""Packages that take long to load."""
RUN = """
import runpy, sys
from symseed.cli.main import commands
try:
    {}
except SystemExit:
    pass
sys.stderr.write(" ".join(sys.modules))
"""
"""Runs a command, and writes the names of all modules that it loaded."""


@pytest.mark.parametrize("words", ["symseed fit data.csv -y ", "symseed show "])
def test_a_shell_that_asks_does_not_load_what_takes_long(words: str) -> None:
    asked = {"_SYMSEED_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", RUN.format('commands(prog_name="symseed")')],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **asked},
    )
    assert done.stdout
    assert not SLOW & set(done.stderr.split())


@pytest.mark.parametrize("words", [["--help"], ["fit", "--help"], ["predict", "--help"]])
def test_help_of_the_package_run_as_a_module_does_not_load_what_takes_long(words: list[str]) -> None:
    code = RUN.format('runpy.run_module("symseed", run_name="__main__")')
    done = subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("Usage: ")
    assert not SLOW & set(done.stderr.split())
