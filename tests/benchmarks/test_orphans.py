"""Runs in several processes that are killed or terminated leave no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are counted as Linux lists them"
)


def family(pid: int) -> set[int]:
    """The processes that descend from one, itself included."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_processes_end_with_the_command_that_started_them(tmp_path: Path, number: signal.Signals) -> None:
    command = [str(Path(sys.executable).parent / "symseed"), "bench", "run", "Livermore-8", "--method", "nggp"]
    options = ["--jobs", "2", "--seeds", "0:9", "--store", str(tmp_path / "store")]
    process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    with process.stderr:
        began = time.monotonic()
        while len(others := family(process.pid) - {process.pid}) < 3:  # a tracker of resources and two workers at least
            assert process.poll() is None
            assert time.monotonic() < began + 60.0
            time.sleep(0.2)
        os.kill(process.pid, number)
        code = process.wait(60.0)
        said = process.stderr.read() if number is not signal.SIGKILL else ""
    expected = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}
    assert code == expected[number]
    assert said.startswith("symseed: Stopped.") or number is signal.SIGKILL, said
    began = time.monotonic()
    while any(map(is_alive, others)):
        assert time.monotonic() < began + 30.0, [pid for pid in others if is_alive(pid)]
        time.sleep(0.2)
