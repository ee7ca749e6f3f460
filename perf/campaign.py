"""Runs that signals end at random moments, and that go on: `make campaign`.

For each kind of run and each signal, a run is started, ended by the signal after a random time, and continued, until it
comes to its end undisturbed. Nothing may be lost: after every signal there is no folder or one that can be opened, the
command and its workers, which end with it, said a sentence and no traceback, and the final files are those of the
undisturbed run, byte for byte. A command that was ended at once, by a kill or by a second Ctrl-C, may leave the half of
a file; the end of the run removes it.

Processes are forked from this one, which has imported everything, so that most signals meet the search; those of the
kind `command` are new ones, whose imports the signals meet as well. The figures so far are in the report after every
run; the same command goes on from there.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symseed import SymbolicRegressor
from symseed.benchmarks import runner
from symseed.benchmarks.store import Store
from symseed.cli import bench, fit, main, searching  # imported here, so that a forked process has them
from symseed.regressor.run import Run
from symseed.signals import Ending

assert all((SymbolicRegressor, runner, bench, fit, searching))  # the commands' own modules, imported beforehand

_LONGEST = 120.0
"""Seconds after which a process hangs."""
_LONGEST_LEFT = 30.0
"""Seconds after which a worker that is left behind by its command hangs."""
_SLOWER = 0.5
"""Share of a run by which the moments grow later with each signal: the machine may have become slower since."""
_SEEDS = 3
"""Number of different runs of each kind."""
_ENDING = (signal.SIGINT, signal.SIGTERM)
_QUIET = re.compile(r"Traceback|fault of symseed|Exception ignored|Fatal|terminate called")
_CODES = {
    "INT": {0, signal.SIGINT + 128},
    "INT twice": {0, signal.SIGINT + 128},
    "TERM": {0, signal.SIGTERM + 128},
    "KILL": {0, -signal.SIGKILL},
}
SIGNALS = tuple(_CODES)
_AT_ONCE = {"INT twice", "KILL"}
"""Signals after which nothing is tidied: a second Ctrl-C ends a command wherever it is, as a kill does."""
_BEFORE = {-signal.SIGINT, -signal.SIGTERM}
"""Exit codes of a process that was ended before its first line of Python."""


class WrongError(Exception):
    """Something that the campaign looks for."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of run: the arguments that start it and continue it, and what is there at its end."""

    start: Callable[[Path, int], list[str]]
    end: Callable[[Path], str]
    """A fingerprint of all that is left at the end."""
    is_fork: bool = True
    is_bench: bool = False
    goes_on: bool = True
    """Whether a run that has been ended is continued by another command, and not by the same."""


# --- The kinds -------------------------------------------------------------------------------------------------------


def _fit(*more: str, targets: str = "y") -> Callable[[Path, int], list[str]]:
    def start(folder: Path, seed: int) -> list[str]:
        given = {"max_time": "none", "patience": "none", "random_state": seed, "output_directory": folder / "runs"}
        settings = [f"--set={name}={value}" for name, value in given.items()]
        table = folder.parent / "table.csv"
        columns = [*(f"--target={name}" for name in targets), "--inputs=a,b"]
        return ["fit", str(table), *columns, *settings, *(f"--set={one}" for one in more)]

    return start


def _write_table(folder: Path) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.uniform(0.5, 3.0, (2, 40))
    y = np.exp(-a) * np.sin(3.0 * b) + 0.1 * rng.normal(size=40)
    z = a**2 / (1.0 + b) + 0.05 * rng.normal(size=40)
    with (folder / "table.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("a", "b", "y", "z"), *zip(a, b, y, z, strict=True)])


def _bench(jobs: int) -> Callable[[Path, int], list[str]]:
    def start(folder: Path, seed: int) -> list[str]:
        names, seeds = ["Nguyen-1", "Livermore-8"], f"{3 * seed}:{3 * seed + 3}"
        limits = ["--max-evals", "12000", "--jobs", str(jobs), "--store", str(folder / "store")]
        return ["bench", "run", *names, "--method", "nggp", "--seeds", seeds, *limits]

    return start


def _fronts(folder: Path) -> str:
    """The formulas of a run."""
    (run,) = (folder / "runs").iterdir()
    found = sorted(path for pattern in ("front*.csv", "near*.csv") for path in run.glob(pattern))
    return " ".join(f"{path.name}:{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}" for path in found)


def _records(folder: Path) -> str:
    """The records of a store without their times; each run has one."""
    records = Store(folder / "store").read()
    if len({record.key for record in records}) != len(records):
        raise WrongError("A run has two records.")
    texts = [
        repr(sorted((name, getattr(record, name)) for name in record.__slots__ if "_seconds" not in name))
        for record in records
    ]
    return f"{len(texts)} records:{hashlib.sha256(' '.join(sorted(texts)).encode()).hexdigest()[:16]}"


_SMALL = ("method=nggp-s-1", "constants=true", "n_jobs=1")
KINDS: dict[str, Kind] = {
    "one target": Kind(_fit(*_SMALL, "max_evals=9000"), _fronts),
    "default": Kind(_fit("method=default", "n_jobs=1", "max_evals=9000"), _fronts),
    "several targets": Kind(_fit(*_SMALL, "max_evals=5000", targets="yz"), _fronts),
    "islands": Kind(_fit(*_SMALL, "islands=2", "max_evals=9000"), _fronts),
    "islands in processes": Kind(_fit(*_SMALL[:2], "n_jobs=2", "islands=2", "max_evals=20000"), _fronts),
    "bench": Kind(_bench(1), _records, is_bench=True),
    "bench in processes": Kind(_bench(2), _records, is_bench=True),
    "command": Kind(_fit(*_SMALL, "max_evals=5000"), _fronts, is_fork=False),
}


# --- One process -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended."""

    code: int
    said: str
    was_hit: bool
    """Whether it was alive when the signal was sent."""
    seconds: float
    """From its start."""
    after: float
    """From the signal."""


def _begun(arguments: list[str], log: Path, *, is_fork: bool) -> int:
    """Start a command; return the id of its process, and of the group of all its processes."""
    if not is_fork:
        with log.open("wb") as file:
            # It is waited for by its id.
            return subprocess.Popen(
                [sys.executable, "-m", "symseed", *arguments],
                stdout=subprocess.DEVNULL,
                stderr=file,
                start_new_session=True,
            ).pid
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)  # as if they came after its first line
    process = os.fork()
    if process:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        return process
    # What a new process would do; it ends without the end of this one.
    code = 70
    os.setsid()
    try:
        with log.open("wb", buffering=0) as file, open(os.devnull, "wb") as null:  # noqa: PTH123
            os.dup2(file.fileno(), 2)
            os.dup2(null.fileno(), 1)
        sys.argv = ["symseed", *arguments]
        ending = Ending().__enter__()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        main.main(ending)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def ended(arguments: list[str], log: Path, name: str, delay: float | None, gap: float, *, is_fork: bool) -> Ended:
    """Run a command, and send it a signal after a time; None: it is left alone."""
    began = time.monotonic()
    process = _begun(arguments, log, is_fork=is_fork)
    waiting = began + _LONGEST if delay is None else began + delay
    status = _waited(process, waiting)
    sent = time.monotonic()
    was_hit = status is None
    if status is None:
        if delay is None:
            os.killpg(process, signal.SIGKILL)
            _waited(process, None)
            raise WrongError(f"It hung for {_LONGEST:g} s.")
        os.kill(process, getattr(signal, f"SIG{name.split()[0]}"))
        if name.endswith("twice"):
            time.sleep(gap)
            os.kill(process, signal.SIGINT)  # it is not waited for, so its id is still its own
        status = _waited(process, sent + _LONGEST)
        if status is None:
            os.killpg(process, signal.SIGKILL)
            _waited(process, None)
            raise WrongError(f"It hung for {_LONGEST:g} s after SIG{name}.")
    now = time.monotonic()
    code = os.waitstatus_to_exitcode(status)
    _wait_for_workers(process)
    return Ended(code, log.read_text(errors="replace"), was_hit, now - began, now - sent)


def _waited(process: int, until: float | None) -> int | None:
    while True:
        found, status = os.waitpid(process, 0 if until is None else os.WNOHANG)
        if found:
            return status
        if until is not None and time.monotonic() >= until:
            return None
        time.sleep(0.001)


def _wait_for_workers(group: int) -> None:
    """Wait until no process of a command's group is left; what they say until then is part of what the command says."""
    until = time.monotonic() + _LONGEST_LEFT
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < until:
            os.killpg(group, 0)
            time.sleep(0.01)
        os.killpg(group, signal.SIGKILL)
        raise WrongError(f"A worker was left behind for {_LONGEST_LEFT:g} s.")


# --- One run, with all signals that it gets --------------------------------------------------------------------------


def _check(how: Ended, kind: Kind, name: str) -> None:
    """Check what a process said, and how it ended."""
    if not kind.is_fork and how.code in _BEFORE and not how.said:
        return
    if not kind.is_fork and "symseed" not in how.said and how.code in (1, signal.SIGINT + 128, -signal.SIGINT):
        return  # Python's own traceback, from before the first line of symseed
    if how.code not in _CODES[name]:
        raise WrongError(f"Exit code {how.code}: {how.said[-2_000:]}")
    # A worker whose parent is killed while it is being started says so; the others, nobody can speak for.
    if _QUIET.search(how.said) and name != "KILL":
        raise WrongError(f"No sentence: {how.said[-3_000:]}")


def _arguments(folder: Path, kind: Kind, seed: int, name: str) -> list[str]:
    """The command that starts the run, or continues it if there is a folder."""
    start = kind.start(folder, seed)
    if kind.is_bench:
        left = _litter(folder / "store")
    else:
        left = _litter(folder / "runs")
        runs = sorted((folder / "runs").iterdir()) if (folder / "runs").exists() else []
        runs = [path for path in runs if not path.name.startswith(".")]
        if len(runs) > 1:
            raise WrongError(f"There are several folders: {runs}")
        if runs:
            try:
                Run.read(runs[0])
            except Exception as error:
                raise WrongError(
                    f"A half-made folder, {sorted(path.name for path in runs[0].iterdir())}: {error}"
                ) from error
            start = ["resume", str(runs[0])]
    if left and name not in _AT_ONCE:
        raise WrongError(f"Litter: {left}")
    return start


def _litter(folder: Path) -> list[Path]:
    """Half-written files and folders, and locks."""
    return sorted(folder.rglob(".*")) if folder.exists() else []


def chain(kind: Kind, name: str, number: int, whole: float, folder: Path) -> tuple[int, float]:
    """Make one run through signals to its end; return the number of signals, and the longest time to obey one."""
    rng = random.Random(f"{name} {number}")  # noqa: S311 - the same moments each time
    count, slowest = 0, 0.0
    while True:
        arguments = _arguments(folder, kind, number % _SEEDS, name)
        delay, gap = rng.uniform(0.0, whole * (1.0 + _SLOWER * count)), rng.uniform(0.0, 0.02)
        how = ended(arguments, folder / "log", name, delay, gap, is_fork=kind.is_fork)
        if not how.was_hit and how.code:
            raise WrongError(f"Exit code {how.code} without a signal: {how.said[-2_000:]}")
        _check(how, kind, name)
        count += how.was_hit
        slowest = max(slowest, how.after if how.was_hit else 0.0)
        if not how.code and (how.was_hit or count or rng.random() < 0.2):
            break
        if not how.code:
            shutil.rmtree(folder)
            folder.mkdir()
    # The end may have come just before the signal, which then ended what comes after it; so once more, undisturbed.
    last = ended(_arguments(folder, kind, number % _SEEDS, name), folder / "log", name, None, 0.0, is_fork=True)
    if last.code or _QUIET.search(last.said):
        raise WrongError(f"Exit code {last.code} at the end: {last.said[-2_000:]}")
    if left := [path for path in _litter(folder) if not path.is_dir()]:  # half-made folders are removed after an hour
        raise WrongError(f"Litter at the end: {left}")
    return count, slowest


def _whole(kind: Kind, seed: int, folder: Path) -> tuple[str, float]:
    """The end of an undisturbed run, and its seconds."""
    own = folder / f"whole-{seed}"
    own.mkdir()
    how = ended(kind.start(own, seed), own / "log", "KILL", None, 0.0, is_fork=kind.is_fork)
    if how.code or not (end := kind.end(own)):
        raise WrongError(f"Exit code {how.code} of an undisturbed run: {how.said}")
    return end, how.seconds


# --- The campaign ----------------------------------------------------------------------------------------------------


def campaign(kinds: Mapping[str, Kind], names: tuple[str, ...], signals: int, report: Path | None) -> dict[str, Any]:
    """Send `signals` signals of each name to runs of each kind; return the figures."""
    found: dict[str, Any] = json.loads(report.read_text()) if report is not None and report.exists() else {}
    with tempfile.TemporaryDirectory() as parent:
        wholes: dict[tuple[str, int], tuple[str, float]] = {}
        # A few of everything, then more of everything: a campaign that is cut short has seen all kinds.
        for goal in sorted({min(signals, 10), min(signals, 50), signals}):
            for kind_name, kind in kinds.items():
                base = Path(parent) / kind_name.replace(" ", "-")
                for name in names:
                    key = f"{kind_name}, SIG{name}"
                    one = found.setdefault(key, {"signals": 0, "runs": 0, "slowest": 0.0, "failures": []})
                    while one["signals"] < goal and len(one["failures"]) < 20:
                        if not base.exists():
                            base.mkdir()
                            _write_table(base)
                        seed = one["runs"] % _SEEDS
                        if (kind_name, seed) not in wholes:
                            wholes[kind_name, seed] = _whole(kind, seed, base)
                        _one(kind, name, one, wholes[kind_name, seed], base)
                        if report is not None:
                            report.parent.mkdir(parents=True, exist_ok=True)
                            report.write_text(json.dumps(found, indent=2) + "\n")
                    print(
                        f"{key}: {one['signals']} signals in {one['runs']} runs, ended within {one['slowest']:.1f} s, "
                        f"{len(one['failures'])} failures",
                        flush=True,
                    )
    return found


def _one(kind: Kind, name: str, one: dict[str, Any], whole: tuple[str, float], base: Path) -> None:
    """Make one run, and add it to the figures."""
    number = one["runs"]
    folder = base / "run"
    folder.mkdir()
    one["runs"] += 1
    try:
        count, slowest = chain(kind, name, number, whole[1], folder)
        one["signals"] += count
        one["slowest"] = round(max(one["slowest"], slowest), 2)
        if (end := kind.end(folder)) != whole[0]:
            raise WrongError(f"Another end: {end} in place of {whole[0]}")
    except WrongError as error:
        one["failures"].append(f"run {number}: {error}")
        print(f"SIG{name}: run {number}: {error}", file=sys.stderr, flush=True)
    shutil.rmtree(folder)


def begin() -> None:
    """Run the campaign; exit code 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--signals", type=int, default=200, help="signals of each name for each kind (default: 200)")
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS), help="kinds of runs")
    parser.add_argument("--names", nargs="*", choices=SIGNALS, default=list(SIGNALS), help="signals")
    parser.add_argument("--json", type=Path, help="report, which is continued if it exists")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    found = campaign({name: KINDS[name] for name in given.kinds}, tuple(given.names), given.signals, given.json)
    failures = sum(len(one["failures"]) for one in found.values())
    print(f"{sum(one['signals'] for one in found.values())} signals, {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    begin()
