"""Ctrl-C and SIGTERM at every moment: what was found is kept."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symseed import StopReason, SymbolicRegressor
from symseed.regressor.judge import Judge
from symseed.regressor.restore import Restorer
from symseed.regressor.run import Run
from symseed.regressor.target import Progress
from symseed.signals import Ending, Held

rng = np.random.default_rng(2)
X = rng.uniform(0.5, 3.0, (60, 2))
Y = X[:, 0] ** 2 * np.sin(X[:, 1]) + 0.05 * rng.normal(size=len(X))
SMALL: dict[str, Any] = {"method": "nggp-s-1", "constants": True, "max_time": None, "patience": None, "random_state": 1}


def formulas(model: SymbolicRegressor) -> list[str]:
    return [str(item.expression) for item in model.pareto_front_]


@pytest.fixture(scope="module")
def whole() -> list[str]:
    return formulas(SymbolicRegressor(**SMALL, max_evals=8_000).fit(X, Y))


@pytest.mark.parametrize("call", [0, 1, 2, 4])
def test_ctrl_c_while_the_front_is_judged_keeps_what_was_found(
    tmp_path: Path, whole: list[str], call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, calls = Judge.best_of, [0]

    def interrupted(self: Judge, *args: Any) -> Any:
        calls[0] += 1
        if calls[0] == call + 1:
            raise KeyboardInterrupt
        return judge(self, *args)

    monkeypatch.setattr(Judge, "best_of", interrupted)
    # No state is saved on the way, because saving judges the front too.
    model = SymbolicRegressor(**SMALL, max_evals=8_000)
    model.fit(X, Y)
    assert calls[0] > call
    assert model.interrupted_
    assert 1 <= len(formulas(model)) <= len(whole)
    assert set(formulas(model)) <= set(whole)
    assert np.isfinite(model.predict(X)).all()


def test_ctrl_c_while_a_front_on_the_way_is_judged_ends_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Judge.best_of
    seen: list[int] = []

    def interrupted(self: Judge, *args: Any) -> Any:
        monkeypatch.setattr(Judge, "best_of", judge)
        raise KeyboardInterrupt

    def watch(progress: Progress) -> None:
        seen.append(progress.turn.index)

    monkeypatch.setattr(Judge, "best_of", interrupted)
    model = SymbolicRegressor(**SMALL, max_evals=8_000, output_directory=tmp_path, callback=watch).fit(X, Y)
    assert model.interrupted_
    assert model.stop_reason_ == StopReason.INTERRUPTED.value
    assert len(seen) <= 2, "the search went on"


def test_a_run_whose_front_was_interrupted_goes_on_to_the_whole_front(
    tmp_path: Path, whole: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Restorer.front
    with monkeypatch.context() as patch:

        def interrupted(self: Restorer, *args: Any) -> Any:
            patch.setattr(Restorer, "front", write)
            raise KeyboardInterrupt

        patch.setattr(Restorer, "front", interrupted)
        patch.setattr(Run, "watch", lambda *_: None)
        model = SymbolicRegressor(**SMALL, max_evals=8_000, output_directory=tmp_path).fit(X, Y)
    assert model.interrupted_
    assert model.run_directory_ is not None
    again = SymbolicRegressor.resume(model.run_directory_)
    assert not again.interrupted_
    assert formulas(again) == whole


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_front_is_written_is_kept_for_afterwards(
    tmp_path: Path, whole: list[str], number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = Run.finish

    def signalled(self: Run, *args: Any) -> None:
        os.kill(os.getpid(), number)
        finish(self, *args)

    monkeypatch.setattr(Run, "finish", signalled)
    with Ending() as ending, ending.working():
        model = SymbolicRegressor(**SMALL, max_evals=8_000, output_directory=tmp_path).fit(X, Y)
    assert model.interrupted_
    assert ending.is_terminated == (number == signal.SIGTERM)
    assert formulas(model) == whole
    assert formulas(SymbolicRegressor.from_file(str(model.run_directory_))) == whole


def test_a_second_ctrl_c_gives_up() -> None:
    with Held() as held:
        os.kill(os.getpid(), signal.SIGINT)
        assert held.is_interrupted
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
