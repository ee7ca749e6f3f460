"""The display of a terminal: at every width, numbers, mark and status are whole, and no line wraps."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from symseed import Expression, Library
from symseed.cli import live
from symseed.portfolio import Activity, Formula, Stage
from symseed.regressor.front import Equation, EquationFront
from symseed.regressor.status import Meter
from symseed.search import Budget, StopReason

WIDTHS = [60, 80, 100, 120, 160]
LIBRARY = Library.of(["add", "mul", "sin", "const"], ["displacement [mm]", "x"])
LONG = " + ".join(f"1.{place}345678901234567 * sin(`displacement [mm]`)" for place in range(10))


def equation(text: str, loss: float, test_loss: float | None) -> Equation:
    expression = Expression.parse(text, LIBRARY)
    return Equation(Formula(expression, loss, len(expression)), loss, 0.001234, text, test_loss)


def front(rows: int = 3, *, has_test: bool = False) -> EquationFront:
    texts = ["x", *(f"{place}.0 * x" for place in range(2, rows)), LONG]
    test_loss = 1.235e-104 if has_test else None
    equations = tuple(equation(text, 1.234e-105, test_loss) for text in texts)
    return EquationFront(equations, StopReason.NOT_ENDED, rows=100, rounding=0.0)


def printed(renderable: Any, width: int) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=width, force_terminal=True, color_system=None).print(renderable)
    return file.getvalue().splitlines()


@pytest.mark.parametrize("has_test", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_numbers_and_mark_are_whole_at_every_width(width: int, has_test: bool) -> None:
    shown = front(has_test=has_test)
    lines = printed(live.front_table(shown, "accuracy"), width)
    assert len(lines) == 1 + len(shown.equations)
    assert max(map(len, lines)) <= width
    assert lines[0].split()[:2] == ["complexity", "loss"]
    numbers = ["1.234e-105", *(["1.235e-104"] if has_test else []), "0.00123"]
    assert lines[1].split() == [">", "1", *numbers, "x"]
    assert lines[-1].split()[1 : 1 + len(numbers)] == numbers
    assert lines[-1].rstrip().endswith("…")


def test_of_many_formulas_those_around_the_selected_one_are_shown() -> None:
    lines = printed(live.front_table(front(40), "accuracy", 10), 80)
    assert len(lines) == 11
    assert lines[1].startswith(">")


def status(target: str, charged: int, seconds: float) -> Any:
    meter = Meter((target,), patience=8, now=lambda: 0.0)
    budget = Budget(2_000_000_000, 36_000.0)
    for charges, elapsed in ((0, 0.0), (1, 1.0), (charged, seconds)):
        meter.hear(0, Activity(Stage.SIMPLIFYING, elapsed, charges, budget))
    meter.hear_turn(SimpleNamespace(unchanged=1))  # type: ignore[arg-type]
    return meter.status()


@pytest.mark.parametrize("target", ["y", "displacement of the upper mass [mm]", "変位の大きさと速度の大きさの積"])
def test_the_status_is_one_line_with_clock_stage_speed_and_time_left(target: str) -> None:
    for width in range(60, 161):
        (line,) = printed(live.status_line(status(target, 987_654_321, 9_000.0), width), width)
        for part in ("2:30:00", "simplifying", "109,752", "/s", " left", target[0]):
            assert part in line, (width, line)
    assert "unchanged for 1 of 8 turns" in line
    assert "━" in line


def test_the_display_says_at_once_that_it_has_begun_and_leaves_the_cursor_on_an_empty_line() -> None:
    console = Console(file=io.StringIO(), width=80, height=24, force_terminal=True, color_system=None)
    display = live.Display(("y",), 8, "accuracy", console)
    assert printed(display._drawn(), 80) == ["Preparing", ""]
    display.activity(0, Activity(Stage.SEARCHING, 3.0, 100, Budget()))
    display.turn(SimpleNamespace(output=0, turn=SimpleNamespace(unchanged=0), front=front))  # type: ignore[arg-type]
    lines = printed(display._drawn(), 80)
    assert re.search(r"^y .*0:03  searching ", lines[0])
    assert len(lines) == 6
    # The terminal writes ^C there; after a full line it would begin another, and the first would stay.
    assert lines[-1] == ""


def test_the_display_takes_the_screen_and_gives_it_back_empty() -> None:
    file = io.StringIO()
    console = Console(file=file, width=80, height=24, force_terminal=True, color_system=None)
    with live.Display(("y",), 8, "accuracy", console) as display:
        display.turn(SimpleNamespace(output=0, turn=SimpleNamespace(unchanged=0), front=front))  # type: ignore[arg-type]
    # Every line that was drawn is erased (2K) on the way up (1A).
    assert file.getvalue().count("\x1b[2K") >= 5
    assert file.getvalue().rstrip("\x1b[?25h").endswith("\x1b[2K")


def test_without_a_terminal_there_is_one_line_for_each_new_formula() -> None:
    file = io.StringIO()
    display = live.Display(("y",), 8, "best", Console(file=file, width=60))
    best = Expression.parse(LONG, LIBRARY)
    for unchanged in (0, 1):
        turn = SimpleNamespace(unchanged=unchanged, seconds=1.25, charged=1_000)
        display.turn(SimpleNamespace(output=0, turn=turn, best=best))  # type: ignore[arg-type]
    (line,) = file.getvalue().splitlines()
    assert re.match(r" +1\.2 s +1,000 formulas  y = ", line)
    assert "…" not in line
