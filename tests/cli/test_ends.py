"""How commands end: whatever goes wrong, a sentence of ordinary length and an exit code, never a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import hostile
from symseed import tables
from symseed.cli import main
from symseed.errors import SettingsError, brief
from symseed.tables import TableOptions

SYMSEED = str(Path(sys.executable).parent / "symseed")
LONG = "9" * 5_000
QUICK = ("-y", "period_days", "--in-memory", "--set", "max_evals=300")


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", LONG),
        ("show", "a/" * 5_000),
        (LONG,),
        ("fit", f"--{LONG}"),
        ("fit", LONG, "-y", "y"),
        ("fit", "planets", "-y", LONG),
        ("fit", "planets", *QUICK, "--set", LONG),
        ("fit", "planets", *QUICK, "--set", f"maxsize={LONG}"),
        ("fit", "planets", *QUICK, "--set", f"maxsize={'[' * 5_000}"),
        ("fit", "planets", *QUICK, "--set", f"maxsize=[{'1, ' * 5_000}]"),
        ("fit", "planets", *QUICK, "--set", f"{'a.' * 5_000}b=1"),
        ("fit", "planets", *QUICK, "--unit", f"period_days={'m*' * 5_000}"),
        ("fit", "planets", *QUICK, "--unit", LONG),
        ("fit", "planets", *QUICK, "--ops", f"sin,{LONG}"),
        ("fit", "planets", *QUICK, "--maxsize", LONG),
        ("fit", "planets", *QUICK, "--template", "f(" * 5_000),
        ("fit", "planets", *QUICK, "--loss", LONG),
        ("fit", "planets", *QUICK, "--method", LONG),
        ("evaluate", "planets", "-y", "period_days", "+".join(["const"] * 901)),
        ("evaluate", "planets", "-y", "period_days", "x" * 5_000),
        ("evaluate", "planets", "-y", "period_days", "a " * 5_000),
        ("bench", "run", "Nguyen-1", "--store", "s", "--seeds", "0:999999999999"),
        ("bench", "run", "Nguyen-1", "--store", "s", "--jobs", "999999999999"),
        ("bench", "run", LONG, "--store", "s"),
        ("bench", "run", "Nguyen-1", "--store", "s", "--noise", LONG),
    ],
    ids=lambda arguments: " ".join(part[:12] for part in arguments[:8]),
)
def test_hostile_arguments_get_a_short_sentence(arguments: tuple[str, ...]) -> None:
    code, _, err = hostile.command(*arguments)
    assert code == 2, err
    hostile.check_sentence(code, err)
    assert max(map(len, err.split("\n"))) < 1_500
    assert "9" * 220 not in err


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    error = SettingsError(f"`{'x' * 900}` must be {'a b ' * 900}, but is not. Lower it.")
    assert str(error).startswith(f"`{'x' * 200}...` must be a b")
    assert str(error).endswith("but is not. Lower it.")
    assert len(str(error)) < 1_200
    assert brief("`short` stays, with `two` parts") == "`short` stays, with `two` parts"


def test_a_fault_of_symseed_is_one_sentence_that_says_how_to_report_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(source: str, options: TableOptions) -> None:
        raise ZeroDivisionError("x" * 900)

    monkeypatch.setattr(tables, "read", broken)
    code, _, err = hostile.command("fit", "planets", *QUICK)
    assert code == main.FAULT
    assert err.startswith("symseed: This is a fault of symseed, not of your input: ZeroDivisionError: xxx")
    assert "symseed doctor" in err
    assert len(err) < 600
    monkeypatch.setenv(main.DEBUG, "1")
    with pytest.raises(ZeroDivisionError):
        hostile.command("fit", "planets", *QUICK)


def test_ctrl_c_while_a_table_is_read_is_exit_code_130_and_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(source: str, options: TableOptions) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(tables, "read", interrupted)
    code, _, err = hostile.command("fit", "planets", *QUICK)
    assert (code, err.strip()) == (130, "symseed: Ctrl-C ended the command before there was a result.")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_output_to_a_full_disk_is_one_sentence() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([SYMSEED, "methods"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "symseed: Reading or writing failed: No space left on device.\n")
