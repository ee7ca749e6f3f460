"""Every call that opens, writes, syncs, renames, makes or removes a file fails once, or from then on.

The calls of one run, and of one store, are counted; then the same work is done once for each call, which fails. What
was there before must still be there, what was said must be a sentence, and no partial file may be left. The search
itself is done once: the turns that it reported are written again each time.
"""

from __future__ import annotations

import dataclasses
import errno
import io
import os
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symseed import DataError, SettingsError, SymbolicRegressor
from symseed.benchmarks.execution import failed
from symseed.benchmarks.store import RunKey, Store
from symseed.regressor.front import EquationFront
from symseed.regressor.run import Run
from symseed.regressor.run_data import RunData
from symseed.regressor.settings import Settings
from symseed.regressor.target import Progress

if sys.platform != "linux":
    pytest.skip("a write that fails in its middle is made by way of Linux's descriptors", allow_module_level=True)

ERRORS = (errno.ENOSPC, errno.EIO, errno.EMFILE, errno.EROFS)
GIVEN: dict[str, Any] = {"method": "nggp-s-1", "constants": True, "max_evals": 5_000, "max_time": None}
GIVEN |= {"patience": None, "random_state": 1, "n_jobs": 1}
rng = np.random.default_rng(4)
X = rng.uniform(0.5, 3.0, (30, 2))
Y = np.exp(-X[:, 0]) * np.sin(3.0 * X[:, 1]) + X[:, 0] + 0.05 * rng.normal(size=len(X))


@dataclass
class Faults:
    """Calls on the files of a folder, one of which fails, or all from one on."""

    folder: Path
    at: int | None = None
    is_for_good: bool = False
    calls: list[str] = field(default_factory=list)
    failed: int = 0

    def meet(self, call: str) -> bool:
        """Count a call; return whether it is to fail."""
        self.calls.append(call)
        place = len(self.calls) - 1
        fails = self.at is not None and (place >= self.at if self.is_for_good else place == self.at)
        self.failed += fails
        return fails

    def error(self) -> OSError:
        number = ERRORS[(self.at or 0) % len(ERRORS)]
        return OSError(number, os.strerror(number))

    def concerns(self, path: Any) -> bool:
        if isinstance(path, int):
            path = Path(f"/proc/self/fd/{path}").readlink()
        return str(path).startswith(str(self.folder))

    def patch(self, patch: pytest.MonkeyPatch) -> None:
        """Let the calls of this process pass by here."""
        for name in ("open", "fsync", "rename", "replace", "mkdir", "unlink"):
            patch.setattr(os, name, self._passing(name, getattr(os, name)))
        given = os.fdopen

        def opened(handle: int, mode: str) -> Any:
            if not self.concerns(handle) or "r" in mode:
                return given(handle, mode)
            raw = _Raw(handle, mode, self)
            return io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)

        patch.setattr(os, "fdopen", opened)

    def _passing(self, name: str, given: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *arguments: Any, **named: Any) -> Any:
            if self.concerns(path) and self.meet(name):
                raise self.error()
            return given(path, *arguments, **named)

        return call


class _Raw(io.FileIO):
    """A file whose write fails in its middle, as on a disk that has just become full: the first half is written."""

    def __init__(self, handle: int, mode: str, faults: Faults) -> None:
        super().__init__(handle, mode)
        self._faults, self._has_failed = faults, False

    def write(self, content: Any, /) -> int:
        if self._has_failed:
            self._has_failed = False
            raise self._faults.error()
        if self._faults.meet("write"):
            if len(content) < 2:
                raise self._faults.error()
            self._has_failed = True
            return super().write(bytes(content)[: len(content) // 2])
        return super().write(content)


# --- A run -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """What a search gave its run to write."""

    settings: Settings
    data: RunData
    turns: list[Progress]
    front: EquationFront
    answer: list[str]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Work:
    turns: list[Progress] = []

    def keep(progress: Progress) -> None:
        front, learnt = progress.front(), progress.policies()
        turns.append(dataclasses.replace(progress, front=lambda: front, policies=lambda: learnt))

    model = SymbolicRegressor(**GIVEN, output_directory=tmp_path_factory.mktemp("whole"), callback=keep).fit(X, Y)
    assert model.run_directory_ is not None
    run = Run.read(Path(model.run_directory_))
    front = run.found(run.plan())[0].front
    assert sum(turn.state is not None for turn in turns) > 2
    return Work(run.settings, run.data, turns, front, [str(one.expression) for one in front.equations])


def written(work: Work, folder: Path) -> tuple[Run | None, str]:
    """Write a run as a fit does; return it, and what was said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            run = Run.create(folder / "runs", work.settings, work.data, seed=1, known=[[]])
        except SettingsError as error:
            return None, str(error)
        for turn in work.turns:
            run.watch(turn)
        run.finish(0, work.front)
        run.close()
    return run, " ".join(str(one.message) for one in said)


def count(work: Work, folder: Path) -> int:
    """The number of calls of a run that is written without a fault."""
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        faults = Faults(folder)
        faults.patch(patch)
        written(work, folder)
    assert {"open", "write", "fsync", "replace", "mkdir", "rename"} <= set(faults.calls)
    return len(faults.calls)


def check(run: Run | None, said: str, faults: Faults, work: Work) -> None:
    """Check what is left of a run after a fault."""
    if run is None:
        assert "`output_directory` must be a folder that can be written to" in said
        assert os.strerror(ERRORS[(faults.at or 0) % len(ERRORS)]) in said
        left = [path.name for path in faults.folder.glob("runs/*")]
        assert not left or faults.is_for_good, "nothing of it remains"
        for name in left:  # where nothing can be removed, it is hidden, or whole
            assert name.startswith(".") or Run.read(faults.folder / "runs" / name).seed == 1
        return
    # A folder that exists need not be made, and a file that does not exist need not be removed.
    if faults.is_for_good or faults.calls[faults.at or 0] not in ("mkdir", "unlink"):
        assert said.count("cannot be written to any more") == 1, said
        assert "the files that were written before are still good" in said
    again = Run.read(run.folder)
    plan = again.plan()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = again.found(plan)
    fronts = [[str(one.expression) for one in turn.front().equations] for turn in work.turns]
    assert not found or [str(one.expression) for one in found[0].front.equations] in [*fronts, work.answer]
    for item in again.log.events:
        assert item["event"] in ("begin", "structure", "turn", "noise", "found")


@pytest.mark.parametrize("is_for_good", [False, True], ids=["once", "for good"])
def test_a_run_survives_a_fault_of_each_of_its_calls(
    work: Work, tmp_path: Path, is_for_good: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = count(work, tmp_path / "whole")
    assert calls > 60
    most = {turn.state.turn for turn in work.turns if turn.state is not None}
    for at in range(calls):
        folder = tmp_path / str(at)
        folder.mkdir()
        faults = Faults(folder, at, is_for_good)
        with monkeypatch.context() as patch:
            faults.patch(patch)
            run, said = written(work, folder)
        assert faults.failed, at
        check(run, said, faults, work)
        if run is None:
            continue
        if not is_for_good:
            assert not list(folder.rglob("*.partial")), at
        library = work.turns[0].library
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one of the two states may be damaged, which is said
            state = Run.read(run.folder).checkpoints.newest(0, library, work.settings.plan().settings)
        if not is_for_good:
            assert state is not None, "one state at least is good"
        assert state is None or state.turn in most
        made = faults.calls[:at].count("replace")
        assert state is not None or made < 8, "a state that was complete is still there"


# --- A store ---------------------------------------------------------------------------------------------------------

RECORDS = [failed(RunKey("Nguyen-1", "nggp", seed), "") for seed in range(4)]


def add(folder: Path, done: list[int]) -> None:
    """Write two more records, and pack all, as `bench run` and `bench pack` do."""
    store = Store(folder)
    with store.writer() as append:
        for record in RECORDS[2:]:
            append(record)
            done.append(record.seed)
    store.pack()


@pytest.fixture
def stores(tmp_path: Path) -> Callable[[int], Path]:
    """Make a store that has two records."""

    def made(number: int) -> Path:
        with Store(tmp_path / str(number)).writer() as append:
            for record in RECORDS[:2]:
                append(record)
        return tmp_path / str(number)

    return made


@pytest.mark.parametrize("is_for_good", [False, True], ids=["once", "for good"])
def test_a_store_survives_a_fault_of_each_of_its_calls(
    stores: Callable[[int], Path], is_for_good: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Faults(stores(-1))
    with monkeypatch.context() as patch:
        whole.patch(patch)
        add(whole.folder, [])
    assert {"open", "write", "fsync", "replace", "unlink"} <= set(whole.calls)
    for at, name in enumerate(whole.calls):
        faults = Faults(stores(at), at, is_for_good)
        done: list[int] = []
        with monkeypatch.context() as patch:
            faults.patch(patch)
            if name == "mkdir" and not is_for_good:  # the folder exists
                add(faults.folder, done)
            else:
                with pytest.raises((DataError, OSError), match=os.strerror(ERRORS[at % len(ERRORS)])):
                    add(faults.folder, done)
        found = [record.seed for record in Store(faults.folder).read()]
        assert {0, 1, *done} <= set(found), (at, name)
        assert len(found) == len(set(found)), (at, name)
        assert is_for_good or not list(faults.folder.glob(".*")), (at, name)
        add(faults.folder, [])
        assert sorted(record.seed for record in Store(faults.folder).read()) == [0, 1, 2, 3]


# --- Limits of the system --------------------------------------------------------------------------------------------


def limited(limit: int, value: int, *arguments: str) -> tuple[int, str]:
    """Run a command under a limit; return its exit code and what it said."""
    script = "import sys; from symseed.__main__ import main; sys.argv[0] = 'symseed'; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        preexec_fn=lambda: resource.setrlimit(limit, (value, value)),
        capture_output=True,
        text=True,
        check=False,
        timeout=100.0,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert "fault of symseed" not in done.stderr, done.stderr
    return done.returncode, done.stderr


@pytest.fixture
def table(tmp_path: Path) -> Path:
    content = "\n".join(f"{a},{b},{y}" for (a, b), y in zip(X.tolist(), Y.tolist(), strict=True))
    (tmp_path / "table.csv").write_text(f"a,b,y\n{content}\n")
    return tmp_path / "table.csv"


def fit(table: Path) -> tuple[str, ...]:
    runs = table.parent / "runs"
    return ("fit", str(table), "-y", "y", f"--set=output_directory={runs}", "--set=max_evals=300", "--set=method=nggp")


@pytest.mark.parametrize(("megabytes", "codes"), [(300, {2}), (800, {0, 1})])
def test_too_little_memory_is_a_sentence(table: Path, megabytes: int, codes: set[int]) -> None:
    code, said = limited(resource.RLIMIT_AS, megabytes * 10**6, *fit(table))
    assert code in codes
    assert not code or (said.startswith("symseed: ") and "memory" in said)


@pytest.mark.parametrize("descriptors", [6, 12])
def test_too_few_descriptors_are_a_sentence(table: Path, descriptors: int) -> None:
    code, said = limited(resource.RLIMIT_NOFILE, descriptors, *fit(table))
    assert code in (0, 1, 2)
    assert not code or said.startswith("symseed: ")


def test_a_file_that_may_not_grow_is_said_once_and_the_answer_is_printed(table: Path) -> None:
    """RLIMIT_FSIZE is a disk that is full for every file: the data still fit, longer files do not."""
    code, said = limited(resource.RLIMIT_FSIZE, 2_200, *fit(table))
    assert code == 0, said
    assert said.count("cannot be written to any more") == 1, said
    assert "File too large" in said
