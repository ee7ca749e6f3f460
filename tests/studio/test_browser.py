"""The page in a real browser: from a table to a formula, after a killed server, by keyboard; widths and colours."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from studio_runs import EVIL, make_run, noisy_table

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (`--group browser`)")
BROWSER = os.environ.get("SYMSEED_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium, nor another browser in SYMSEED_BROWSER"),
    pytest.mark.skipif(os.name != "posix", reason="needs signals"),
]
REFUSED = "the server responded with a status of 400"
"""What the browser logs if the server answers with a sentence."""
SLOW = 60_000
"""Milliseconds after which a page that shows nothing has failed."""


class Served:
    """A server in a process of its own."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        command = [sys.executable, "-m", "symseed", "studio", str(folder), "--no-browser", "--port", str(port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.link = self.process.stdout.readline().removeprefix("The page is at ").strip()
        assert self.link.startswith("http://127.0.0.1:")
        self.port = int(self.link.split(":")[2].partition("/")[0])

    def end(self, *, at_once: bool = False) -> None:
        """End it, by `kill -9` if asked to."""
        if self.process.poll() is None:
            self.process.kill() if at_once else self.process.terminate()
        self.process.communicate(timeout=30)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("browser") / "runs"
    make_run(folder)
    one = Served(folder)
    yield one
    one.end()


@pytest.fixture
def page(browser: Any, served: Served) -> Iterator[Any]:
    """The page, opened by its link; it may log no error, and ask nobody else."""
    yield from opened(browser, served)


def opened(browser: Any, served: Served, **context: Any) -> Iterator[Any]:
    own = browser.new_context(viewport={"width": 1300, "height": 900}, **context)
    page = own.new_page()
    page.set_default_timeout(SLOW)
    wrong: list[str] = []
    page.on(
        "console", lambda said: wrong.append(said.text) if said.type == "error" and REFUSED not in said.text else None
    )
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.on("request", lambda asked: None if f"127.0.0.1:{served.port}" in asked.url else wrong.append(asked.url))
    page.goto(served.link)
    page.locator("#runs li").first.wait_for()
    yield page
    own.close()
    assert wrong == [], wrong


def open_run(page: Any) -> None:
    page.locator("nav a").first.click()
    page.locator(".front tbody tr").first.wait_for()
    page.locator(".plot").first.wait_for()


def test_the_key_does_not_stay_in_the_address(page: Any) -> None:
    assert "token" not in page.url
    page.reload()
    page.locator("nav a").first.wait_for()


def test_a_click_on_a_point_chooses_its_formula_and_arrows_choose_the_next(page: Any) -> None:
    open_run(page)
    points = page.locator(".pick")
    assert points.count() == page.locator(".front tbody tr").count() > 2
    points.nth(0).click()
    page.locator('.pick[data-place="0"][aria-pressed="true"]').wait_for()
    tiles = page.locator(".tiles").inner_text()
    page.keyboard.press("ArrowRight")
    page.locator('.pick[data-place="1"][aria-pressed="true"]').wait_for()
    assert page.locator(".tiles").inner_text() != tiles
    assert page.locator(".front tr.is-chosen").count() == 1
    assert page.evaluate("document.activeElement.dataset.place") == "1", "the focus stays at the point"
    assert page.get_by_text("This is your choice").is_visible()


def test_names_of_columns_are_text(page: Any) -> None:
    """No dialog opens, no element appears, and the name is on the page as it is."""
    open_run(page)
    column = page.get_by_label("Column for the residuals")
    column.select_option(label=EVIL)
    page.locator(".plot .name", has_text="<script>").wait_for()
    assert page.locator("script").count() == 1
    assert EVIL in column.inner_text()


def test_a_formula_is_typed_and_the_curve_follows_its_constants(page: Any) -> None:
    open_run(page)
    page.get_by_label("A formula of your own").fill("const * x ^ const")
    page.keyboard.press("Enter")
    page.get_by_text("This is a formula of your own.").wait_for()
    assert page.locator(".front tr.is-chosen").count() == 0
    assert page.locator(".dot.green title", has_text="yours").count() == 1
    line = page.locator(".line.orange")
    line.wait_for()
    # A layer's path is in pixels, and the axes follow the curve: the error says that the constants have changed.
    before = page.get_by_text("Root mean square error with these constants").inner_text()
    page.get_by_label("constant 1", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "before => ![...document.querySelectorAll('.note')].some(note => note.textContent === before)", arg=before
    )
    page.locator(".pick").nth(1).click()
    page.get_by_text("This is your choice").wait_for()


def test_everything_is_reached_by_the_keyboard(page: Any) -> None:
    """From the table to the order, without a mouse."""
    page.get_by_role("button", name="planets", exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Start").wait_for()
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        told = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
        reached.add(page.evaluate(f"({told}).slice(0, 40)"))
    assert {"Start", "period_days as the target", "axis_au as an input", "Unit of axis_au", "The first rows"} <= reached


def test_a_table_that_cannot_be_read_gets_its_sentence(page: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"\x89PNG and more")
    with page.expect_response("**/api/tables/upload*"):
        page.locator("#file").set_input_files(tmp_path / "bad.csv")
    page.locator("#said", has_text="is a picture, which is not read").wait_for()


AXE = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1300])
def test_axe_finds_no_violation_and_nothing_is_wider_than_the_screen(
    browser: Any, served: Served, scheme: str, width: int
) -> None:
    for page in opened(browser, served, color_scheme=scheme, bypass_csp=True):  # axe writes into the page
        page.set_viewport_size({"width": width, "height": 800})
        page.get_by_role("button", name="planets", exact=True).click()
        page.get_by_role("button", name="Start").wait_for()
        page.locator("details").evaluate_all("all => all.forEach(one => (one.open = true))")
        assert_sound(page, width)
        open_run(page)
        assert_sound(page, width)


def assert_sound(page: Any, width: int) -> None:
    found = AXE.Axe().run(page).response["violations"]
    assert [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_from_a_dropped_table_to_a_formula_in_three_clicks_and_after_a_killed_server(
    browser: Any, tmp_path: Path
) -> None:
    (tmp_path / "noisy.csv").write_text(noisy_table(60))
    first = Served(tmp_path / "runs")
    second = None
    try:
        for page in opened(browser, first):
            page.locator("#file").set_input_files(tmp_path / "noisy.csv")  # the first click
            page.get_by_role("button", name="Start").click()  # the second
            page.locator("#content .state.searching").wait_for()
            page.locator(".front tbody tr").first.wait_for()  # the formula, without a third
            turns = page.locator(".head .row p").inner_text()
            page.wait_for_function("before => document.querySelector('.head .row p').textContent !== before", arg=turns)
            address = page.url
            page.goto("about:blank")
        first.end(at_once=True)
        second = Served(tmp_path / "runs", first.port)
        for page in opened(browser, second):
            page.goto(address)
            page.locator("#content .state.searching").wait_for()
            page.get_by_role("button", name="Stop").click()
            page.locator("#content .state.interrupted").wait_for()
            page.get_by_role("button", name="Resume").click()
            page.locator("#content .state.searching").wait_for()
            page.get_by_role("button", name="Stop").click()
            page.locator("#content .state.interrupted").wait_for()
    finally:
        first.end(at_once=True)
        if second is not None:
            second.end()
