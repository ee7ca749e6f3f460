"""A process that forks while native work goes on, and Pythons that the core does not work with."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

import symseed
from symseed import SettingsError

_FORKS = """
    import os, threading, warnings
    import numpy as np
    from symseed import Dataset, Library, SearchSpace, evaluate

    warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
    rng = np.random.default_rng(0)
    data = Dataset.of(rng.uniform(0.5, 2.0, (50, 2)), rng.normal(size=50))
    population = SearchSpace(Library.of(["add", "mul", "sin", "const"], 2), 5, 15).sample(400, seed=0)
    expected = [evaluate(population, data, threads=count).error.tobytes() for count in (1, 2)]
    is_over, done = threading.Event(), []

    def work():
        while not is_over.is_set():
            done.append(evaluate(population, data, threads=2).error.tobytes() == expected[0])

    background = threading.Thread(target=work)
    background.start()
    for _ in range(20):
        child = os.fork()
        if child == 0:
            found = [evaluate(population, data, threads=count).error.tobytes() for count in (1, 2)]
            os._exit(0 if found == expected else 3)
        assert os.waitpid(child, 0)[1] == 0
    is_over.set()
    background.join()
    assert done and all(done)
    print("the same")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_a_thread_evaluates_evaluates_alike() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_FORKS)], capture_output=True, text=True, check=False, timeout=100
    )
    assert (done.stdout, done.returncode) == ("the same\n", 0), done.stderr


def test_a_python_without_its_global_lock_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(symseed.__dict__, "Library", raising=False)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    with pytest.raises(SettingsError, match=r"needs Python's global lock .* Set PYTHON_GIL=1"):
        symseed.Library  # noqa: B018 - its first use
    script = "import sys; sys._is_gil_enabled = lambda: False; from symseed.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=100)
    assert (done.returncode, done.stderr.startswith("symseed: symseed needs Python's global lock")) == (2, True)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    assert symseed.Library is not None
