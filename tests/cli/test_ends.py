"""How commands end: whatever goes wrong, a sentence of ordinary length and an exit code, never a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hostile
from symseed import RegressionTask, tables
from symseed.benchmarks.store import Store
from symseed.cli import main
from symseed.errors import SettingsError, brief
from symseed.signals import starting_processes
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


def test_a_benchmark_run_that_is_interrupted_has_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate, calls = RegressionTask.evaluate, [0]

    def interrupted(self: RegressionTask, *given: Any, **named: Any) -> Any:
        calls[0] += 1
        if calls[0] == 4:
            raise KeyboardInterrupt
        return evaluate(self, *given, **named)

    monkeypatch.setattr(RegressionTask, "evaluate", interrupted)
    limits = ("--seeds", "0:2", "--jobs", "1", "--max-evals", "9000", "--store", str(tmp_path))
    code, _, err = hostile.command("bench", "run", "Livermore-8", *limits)
    assert (code, calls[0]) == (130, 4), err
    assert err.startswith("symseed: Stopped.")
    assert Store(tmp_path).read() == []


def ended(script: str) -> tuple[int, str]:
    """The exit code and the messages of a new process."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


_IMPORTS = """
import os, signal, sys
class Signalled:
    def find_spec(self, name, *_):
        if name == {module!r} and sys.meta_path.remove(self) is None:
            os.kill(os.getpid(), signal.{signal})
sys.meta_path.insert(0, Signalled())
sys.argv = ["symseed", "fit", "planets", "-y", "period_days"]
from symseed.__main__ import main
main()
"""


@pytest.mark.parametrize("module", ["click", "numpy", "sklearn"])
@pytest.mark.parametrize(("name", "code", "word"), [("SIGINT", 130, "Ctrl-C"), ("SIGTERM", 143, "SIGTERM")])
def test_a_signal_while_a_module_is_imported_is_a_sentence(module: str, name: str, code: int, word: str) -> None:
    found, said = ended(_IMPORTS.format(module=module, signal=name))
    assert found == code
    assert said.strip().startswith(f"symseed: {word} ended the command ")
    assert said.strip().count("\n") == 0


_ENDING = """
import os, signal, sys
from symseed.signals import Ending, Held
assert "numpy" not in sys.modules, "it begins before anything slow"
def send(number=signal.SIGINT): os.kill(os.getpid(), number)
ending = Ending().__enter__()
"""
_AT_ONCE = "symseed: Ctrl-C ended the command at once.\n"


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("with ending.working():\n    try:\n        send()\n    except KeyboardInterrupt:\n        sys.exit(5)", 5, ""),
        (
            "with ending.working():\n    try:\n        send()\n    except KeyboardInterrupt:\n        send()",
            130,
            _AT_ONCE,
        ),
        (
            "with ending.working(), Held() as held:\n    send()\n    assert held.is_interrupted\n    send()",
            130,
            _AT_ONCE,
        ),
        ("with ending.working():\n    pass\nsend()", 130, _AT_ONCE),
        ("with ending.working():\n    pass\nsend(signal.SIGTERM)", 143, _AT_ONCE.replace("Ctrl-C", "SIGTERM")),
    ],
    ids=["the first", "the second", "the second, held", "after the command", "SIGTERM after the command"],
)
def test_the_first_signal_interrupts_and_any_other_ends_at_once(script: str, code: int, said: str) -> None:
    assert ended(_ENDING + script) == (code, said)


def test_an_interrupt_that_a_finaliser_swallows_comes_again() -> None:
    script = """
import time
class Swallows:
    def __del__(self): send()
try:
    with ending.working():
        Swallows()
        time.sleep(30.0)
except KeyboardInterrupt:
    sys.exit(5)
"""
    assert ended(_ENDING + script) == (5, "")


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    script = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)" + _ENDING + "send(); sys.exit(5)"
    assert ended(script) == (5, "")


def test_signals_wait_while_processes_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []
    script = "import signal; print(*sorted(int(one) for one in signal.pthread_sigmask(signal.SIG_BLOCK, [])))"

    def start() -> None:
        with starting_processes():
            signal.raise_signal(signal.SIGINT)
            done.append(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True))

    with pytest.raises(KeyboardInterrupt):
        start()
    assert done[0].stdout.split() == [str(int(signal.SIGINT)), str(int(signal.SIGTERM))], "a child begins undisturbed"
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_output_to_a_full_disk_is_one_sentence() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([SYMSEED, "methods"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "symseed: Reading or writing failed: No space left on device.\n")
