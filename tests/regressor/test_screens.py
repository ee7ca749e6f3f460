"""Screens: the clock moves between turns, a notebook is updated in place, and text fits its width."""

from __future__ import annotations

import re
import sys
import types
from typing import Any

import numpy as np
import pytest

from symseed import SymbolicRegressor
from symseed.portfolio import Activity, Portfolio, Stage
from symseed.regressor import screens
from symseed.regressor.front_text import table, wrapped
from symseed.regressor.notebook import NotebookScreen
from symseed.regressor.status import Meter, clock
from symseed.search import Budget

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 3.0, (40, 2))
NOISY = X[:, 0] * X[:, 1] + 1.5 + RNG.normal(0.0, 0.2, 40)
LONG = "3.1234567890123456 * sin(2.088794968038178 * `a b + c` + 0.4) / (x1 - 1.0) + exp(sin(sqrt(log(x1 + 3.25e-12))))"


def quick(**parameters: Any) -> SymbolicRegressor:
    """A search of some milliseconds."""
    given = {"method": "nggp", "max_evals": 600, "max_time": None, "random_state": 0}
    return SymbolicRegressor(**{**given, **parameters})


class Notebook:
    """A notebook that keeps what is published, in order."""

    def __init__(self) -> None:
        self.published: list[tuple[bool, str, dict[str, str]]] = []

    def display(self, data: dict[str, str], *, raw: bool, display_id: str) -> None:
        assert raw
        self.published.append((True, display_id, data))

    def update_display(self, data: dict[str, str], *, raw: bool, display_id: str) -> None:
        assert raw
        self.published.append((False, display_id, data))

    @property
    def shown(self) -> list[str]:
        """The pages that are on the screen in the end, in the order of their places."""
        pages: dict[str, str] = {}
        for is_new, name, data in self.published:
            assert is_new is (name not in pages), "a piece is made once, and updated from then on"
            pages[name] = data["text/html"]
        return list(pages.values())


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    """Make the process look like a kernel's."""
    published = Notebook()
    module = types.ModuleType("IPython")
    module.get_ipython = lambda: types.SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    module.display = published  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", published)
    return published


# --- Status ----------------------------------------------------------------------------------------------------------


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def test_the_clock_moves_and_the_time_left_falls_without_a_turn() -> None:
    now = Clock()
    meter = Meter(("y",), patience=8, now=now)
    assert meter.status() is None
    budget = Budget(1_000_000, 60.0)
    meter.hear(0, Activity(Stage.PREPARING, 0.0, 0, budget))
    meter.hear(0, Activity(Stage.SEARCHING, 2.0, 10_000, budget))
    status = meter.status()
    assert status is not None
    assert (status.clock, status.stage, status.rate, status.remaining) == ("0:02", "searching", "–/s", "0:58 left")
    meter.hear(0, Activity(Stage.ASSEMBLING, 4.0, 50_000, budget))
    now.time += 3.0
    status = meter.status()
    assert status is not None
    # The limit in formulas is further away: 950,000 of them take 47.5 s, of which 3 have gone by.
    assert (status.clock, status.stage, status.rate, status.remaining) == (
        "0:07",
        "assembling",
        "20,000/s",
        "0:44 left",
    )
    assert status.share == pytest.approx(7.0 / 60.0)


def test_a_clock_has_minutes_and_hours() -> None:
    assert [clock(seconds) for seconds in (-1.0, 0.9, 59.9, 60.0, 3_725.0)] == [
        "0:00",
        "0:00",
        "0:59",
        "1:00",
        "1:02:05",
    ]


def test_a_search_tells_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Activity] = []

    class Recorder(screens.Lines):
        def activity(self, output: int, activity: Activity) -> None:
            heard.append(activity)

    monkeypatch.setattr(screens, "of", lambda *_: Recorder())
    SymbolicRegressor(max_evals=3_000, max_time=None, random_state=0).fit(X, NOISY)
    assert [activity.stage for activity in heard[:1]] == [Stage.PREPARING]
    assert heard[-1].stage is Stage.JUDGING
    assert {activity.stage for activity in heard} == set(Stage)
    assert [activity.charged for activity in heard] == sorted(activity.charged for activity in heard)
    assert heard[-1].charged > 2_000


# --- Notebooks -------------------------------------------------------------------------------------------------------


def test_a_notebook_shows_the_fit_in_place_and_keeps_the_formula(notebook: Notebook) -> None:
    model = quick(max_evals=20_000).fit(X, NOISY)
    line, below = notebook.shown
    pages = [data["text/html"] for _, _, data in notebook.published]
    assert "<math" in line
    assert str(model.stop_reason_) in line
    assert below == ""
    assert any("<progress" in page and "formulas" in page for page in pages)
    assert any("<table " in page for page in pages)


def test_a_notebook_stays_silent_if_told_so(notebook: Notebook, capsys: pytest.CaptureFixture[str]) -> None:
    quick(verbosity=0).fit(X, NOISY)
    assert notebook.published == []
    quick(verbosity=1).fit(X, NOISY)
    assert len(notebook.shown) == 2
    assert capsys.readouterr() == ("", "")


def test_names_are_escaped_in_a_notebook(notebook: Notebook) -> None:
    with NotebookScreen(("<b>y",), None, "best", notebook) as screen:
        screen.activity(0, Activity(Stage.SEARCHING, 1.0, 10, Budget()))
        screen._draw()
    pages = "".join(data["text/html"] for _, _, data in notebook.published)
    assert "&lt;b&gt;y" in pages
    assert "<b>y" not in pages


def test_a_fit_that_fails_leaves_no_clock_behind(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(Portfolio, "front", broken)
    with pytest.raises(RuntimeError, match="broken"):
        quick().fit(X, NOISY)
    assert notebook.shown == ["", ""]


# --- Text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formula", [LONG, LONG.replace(" * ", "*").replace(" / ", "/")])
@pytest.mark.parametrize("width", [24, 30, 40, 60, 80, 120])
def test_a_formula_is_broken_between_its_parts_and_never_within_a_number_or_a_name(width: int, formula: str) -> None:
    lines = wrapped(formula, width)
    assert len(lines) == 1 or max(map(len, lines)) <= width
    assert re.sub(r"\s", "", "".join(lines)) == re.sub(r"\s", "", formula)
    for part in (*re.findall(r"\d+\.\d+(?:e-\d+)?", formula), "`a b + c`"):
        assert any(part in line for line in lines)
    assert wrapped(formula, None) == [formula]


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_a_table_fits_its_width_with_every_number_whole(width: int) -> None:
    rows = [
        ("", "complexity", "loss", "test loss", "score", "equation"),
        (">>>>", "113", "1.234e-108", "1.235e-108", "0.00123", LONG),
        ("", "1", "3.976", "4.1", "0", "x1"),
    ]
    lines = table(rows, width)
    assert max(map(len, lines)) <= width
    words = " ".join(" ".join(lines).split())
    assert ">>>> 113 1.234e-108 1.235e-108 0.00123 3.1234567890123456 " in words
    assert words.endswith(" 1 3.976 4.1 0 x1")
    assert len(table(rows, None)) == 3
