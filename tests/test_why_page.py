"""The page on why the method works is what its data give, and the searches measure what they say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FOLDER = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def why() -> ModuleType:
    spec = importlib.util.spec_from_file_location("why", FOLDER / "why.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["why"] = module
    spec.loader.exec_module(module)
    return module


def test_every_table_is_what_the_data_give(why: ModuleType) -> None:
    page = why.PAGE.read_text(encoding="utf-8")
    assert why.update(page) == page, "run docs/why.py"


def test_a_search_tells_rewards_and_probabilities_of_each_round(
    why: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(why, "ROUNDS", 3)
    still, learning = (np.array(why.search(name, "Livermore-9", 1)) for name in ("nggp-lr-0", "nggp"))
    assert still.shape == learning.shape == (3, 6)
    mean, best, evolved, champion, median, least = learning.T
    assert (mean < best).all()
    assert (best < evolved).all()
    assert (least < median).all()
    assert (champion < 0.0).all()
    # Probabilities are asked for before the first lesson, so both know the same until then.
    assert (still[0] == learning[0]).all()
    assert (still[1] != learning[1]).any()


def test_a_policy_that_has_not_learnt_gives_champions_what_its_priors_give(why: ModuleType) -> None:
    found = why._rounds("nggp-lr-0")
    assert found.shape[0] == len(why.PROBLEMS) * len(why.SEEDS)
    first, last = found[:, :20, 4].mean(), found[:, -20:, 4].mean()
    assert first == pytest.approx(last, abs=0.05)
