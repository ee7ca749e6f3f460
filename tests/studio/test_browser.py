"""The page in a real browser: from a table to a formula, after a killed server, by keyboard; widths and colours.

The report, which is the same page without a server, and the pages of comparisons and of benchmark stores are tried too.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from studio_runs import EVIL, make_run, make_store, noisy_table

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
        self.folder = folder
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
    make_run(folder)
    make_store(folder / "records")
    one = Served(folder)
    yield one
    one.end()


@pytest.fixture
def page(browser: Any, served: Served) -> Iterator[Any]:
    """The page, opened by its link; it may log no error, and ask nobody else."""
    yield from opened(browser, served)


def opened(browser: Any, served: Served, *, is_empty: bool = False, **context: Any) -> Iterator[Any]:
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
    if is_empty:
        page.get_by_text("There are no runs yet.").wait_for()
    yield page
    own.close()
    assert wrong == [], wrong


def open_run(page: Any) -> None:
    page.locator("#runs a").first.click()
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
    line = page.locator("svg[aria-label^='The formula along']").locator(".line.orange")
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


def tabbed_to(page: Any, name: str) -> set[str]:
    """Press Tab until an element of that name has the focus; return the names of all that had it."""
    reached: set[str] = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        told = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
        reached.add(page.evaluate(f"({told}).slice(0, 40)"))
        if name in reached:
            return reached
    raise AssertionError(f"{name} was not reached, only {sorted(reached)}")


def test_a_search_is_started_stopped_and_a_formula_chosen_by_the_keyboard_alone(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    served = Served(tmp_path / "runs")
    try:
        for page in opened(browser, served, is_empty=True):
            tabbed_to(page, "diabetes")
            page.keyboard.press("Enter")
            page.get_by_role("button", name="Start").wait_for()
            reached = tabbed_to(page, "Operators beside + − × ÷")
            assert {"Start", "bmi as an input", "progression as the target", "Unit of age", "The first rows"} <= reached
            page.get_by_role("button", name="Start").focus()
            page.keyboard.press("Enter")
            page.locator("#content .state.searching").wait_for()
            page.locator(".front tbody tr").nth(2).wait_for()
            tabbed_to(page, "Stop")
            page.keyboard.press("Enter")
            page.locator("#content .state.interrupted").wait_for()
            page.locator(".pick.chosen").focus()
            page.keyboard.press("ArrowLeft")
            page.get_by_text("This is your choice").wait_for()
            page.get_by_label("Turn of the search").focus()
            page.keyboard.press("Home")
            page.wait_for_function("() => document.querySelector('[aria-label=\"Turn of the search\"]').value === '0'")
    finally:
        served.end()


def test_the_page_says_how_the_formula_came_about_and_what_the_policies_learnt(page: Any) -> None:
    open_run(page)
    assert page.locator(".lineage li").count() >= 1
    page.get_by_text("The first token of a formula").wait_for()
    assert page.locator(".key").count() > 2
    legal = page.get_by_text("given those before it").is_visible()
    assert legal == (page.locator(".along tbody tr").count() > 0)
    assert page.locator(".band").count() == 1
    assert page.locator(".beyond").count() == 2


def test_the_formula_is_copied_and_files_are_downloaded(page: Any, served: Served) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_run(page)
    for name, sign in [("latex", "^{2}"), ("python", "def "), ("c", "double"), ("sympy", "**")]:
        page.get_by_role("button", name=name, exact=True).click()
        page.get_by_role("button", name="Copy").click()
        page.locator("#said", has_text="Copied.").wait_for()
        copied = page.evaluate("() => navigator.clipboard.readText()")
        assert copied == page.locator("pre code").first.inner_text()
        assert sign in copied, (name, copied)
        page.evaluate("() => { document.getElementById('said').textContent = ''; }")
    for name, file, beginning in [
        ("Front as CSV", "front.csv", "Complexity,"),
        ("Settings", "config.toml", "# A run of"),
        ("Report", "report.html", "<!DOCTYPE"),
    ]:
        with page.expect_download() as waiting:
            page.get_by_role("link", name=name, exact=True).click()
        assert waiting.value.suggested_filename == file
        assert Path(waiting.value.path()).read_text(encoding="utf-8").startswith(beginning)


def test_buttons_go_to_the_parts_of_the_page(page: Any) -> None:
    open_run(page)
    parts = page.get_by_role("navigation", name="Parts of the page").get_by_role("button")
    assert [parts.nth(place).inner_text() for place in range(parts.count())] == [
        "Figures", "The front", "The search", "Understand", "Explore", "Use the formula",
    ]  # fmt: skip
    parts.get_by_text("Explore").click()
    page.wait_for_function("() => document.activeElement.textContent === 'Explore'")
    assert 0 <= page.get_by_role("heading", name="Explore").bounding_box()["y"] < 900


def test_two_runs_stand_side_by_side(page: Any) -> None:
    open_run(page)
    page.get_by_role("link", name="Compare", exact=True).click()
    page.get_by_role("heading", name="Compare runs").wait_for()
    assert page.locator(".compare thead th").count() == 1
    page.locator(".chip input:not(:checked)").first.check()
    page.locator(".compare thead th").nth(1).wait_for()
    assert page.locator(".compare math").count() == 2
    assert page.locator(".plot").count() == 2
    page.locator(".chip input:checked").first.uncheck()
    page.wait_for_function("() => document.querySelectorAll('.compare thead th').length === 1")


def test_a_store_opens_as_its_recovery_table_with_its_figures(page: Any) -> None:
    page.locator("#stores a").click()
    page.get_by_role("heading", name="Recovery by problem").wait_for()
    assert "Nguyen-1" in page.locator(".rates").nth(1).inner_text()
    page.wait_for_function("() => [...document.images].some(image => image.naturalWidth > 0)")
    page.get_by_text("This figure needs records of").first.wait_for()
    page.get_by_text("Methods in the figures").click()
    page.get_by_label("nggp", exact=True).uncheck()


def drop(page: Any, path: Path, onto: str) -> None:
    """Drop a file on an element, as a file manager does."""
    content = base64.b64encode(path.read_bytes()).decode()
    told = """([content, name, onto]) => {
        const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
        const held = new DataTransfer();
        held.items.add(new File([bytes], name));
        for (const kind of ["dragenter", "dragover", "drop"]) {
            const options = { bubbles: true, cancelable: true, dataTransfer: held };
            const isTaken = !document.querySelector(onto).dispatchEvent(new DragEvent(kind, options));
            if (kind === "drop" && !isTaken) throw new Error("the browser would leave the page for the file");
        }
    }"""
    page.evaluate(told, [content, path.name, onto])


@pytest.mark.parametrize("onto", [".zone", "#runs", "body"])
def test_a_table_is_dropped_anywhere_and_its_choices_are_within_sight(
    page: Any, served: Served, tmp_path: Path, onto: str
) -> None:
    """Also on the page of a run, and on a narrow screen, where they are far below."""
    if onto == "body":
        open_run(page)
    page.set_viewport_size({"width": 360, "height": 740})
    (tmp_path / "mine.csv").write_text("a,b,word\n1,2,x\n2,,y\n3,6,x\n4,9,x\n")
    drop(page, tmp_path / "mine.csv", onto)
    start = page.get_by_role("button", name="Start")
    start.wait_for()
    assert page.get_by_role("heading", name="mine.csv: 4 rows").is_visible()
    box = start.bounding_box()
    assert 0 <= box["y"] < box["y"] + box["height"] <= 740
    assert page.locator(".columns .odd").inner_text() == "numbers; 1 gap"
    assert page.locator(".columns .bars").count() == 2
    page.get_by_label("word as an input").check()
    assert page.get_by_label("word as the target").is_disabled()


def test_names_of_a_dropped_table_are_text(page: Any, tmp_path: Path) -> None:
    evil = EVIL.replace('"', '""')
    (tmp_path / "evil.csv").write_text(
        f"=cmd|' /C calc'!A0,\"{evil}\",y\n1,<img src=x onerror=alert(1)>,3\n4,5,6\n7,8,9\n"
    )
    drop(page, tmp_path / "evil.csv", ".zone")
    page.get_by_role("button", name="Start").wait_for()
    page.get_by_text("The first rows").click()
    shown = page.locator("#content").inner_text()
    assert "=cmd|' /C calc'!A0" in shown
    assert EVIL in shown
    assert "<img src=x onerror=alert(1)>" in shown
    assert page.locator("#content img").count() == page.locator("#content script").count() == 0


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
        page.get_by_role("link", name="Compare", exact=True).click()
        page.locator(".compare").wait_for()
        assert_sound(page, width)
        page.locator("#stores a").click()
        page.get_by_role("heading", name="Recovery by problem").wait_for()
        assert_sound(page, width)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1300), ("dark", 360)])
def test_the_report_is_the_same_page_and_a_click_chooses(
    browser: Any, served: Served, tmp_path: Path, scheme: str, width: int
) -> None:
    (run, *_) = (path for path in served.folder.iterdir() if path.name != "records")
    path = tmp_path / "report.html"
    command = [sys.executable, "-m", "symseed", "report", str(run), "--output", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    own = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True)
    page = own.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda asked: None if asked.url == path.as_uri() else wrong.append(asked.url))
    page.goto(path.as_uri())
    page.locator(".pick").nth(1).click()
    page.get_by_text("This is your choice").wait_for()
    page.locator("svg[aria-label^='The formula along']").locator(".line.orange").wait_for()
    page.get_by_role("button", name="python", exact=True).click()
    assert "def " in page.locator("pre code").first.inner_text()
    assert page.get_by_role("button", name="Stop").count() == 0
    assert page.get_by_label("A formula of your own").is_hidden()
    assert page.get_by_role("heading", name="Settings").is_visible()
    assert_sound(page, width)
    own.close()
    assert wrong == []


def test_the_script_of_a_report_is_what_its_policy_allows(browser: Any, served: Served, tmp_path: Path) -> None:
    """Nothing is logged, so the hash is right; another script in the file does not run."""
    (run, *_) = (path for path in served.folder.iterdir() if path.name != "records")
    path = tmp_path / "report.html"
    command = [sys.executable, "-m", "symseed", "report", str(run), "--output", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    page.locator(".pick").first.wait_for()
    assert said == []
    path.write_text(path.read_text(encoding="utf-8").replace("</main>", "<script>window.evil = 1</script></main>"))
    page.goto(path.as_uri())
    page.locator(".pick").first.wait_for()
    assert page.evaluate("window.evil") is None
    assert "Content Security Policy" in said[0]
    page.close()


def assert_sound(page: Any, width: int) -> None:
    found = AXE.Axe().run(page).response["violations"]
    assert [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


CLOCK = """() => {
    const text = document.querySelector(".head .row p").textContent;
    const [time, tried] = [/left|judged/.test(text) && text.split(": ")[0], /[0-9,]+ formulas tried/.exec(text)?.[0]];
    const before = window.before ?? {};
    window.before = { time, tried };
    return before.tried !== undefined && before.tried === tried && before.time !== time;
}"""
"""Whether the time has changed, and the number of formulas that were tried has not."""


@pytest.mark.timeout(420)  # it takes 20 s, but on a busy machine several minutes
def test_the_front_grows_and_the_clock_goes_on_while_the_search_works(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(1.0, 4.0, (1_000, 4))
    y = np.sin(X).sum(axis=1) * X[:, 0] / X[:, 1] + rng.normal(0.0, 0.5, 1_000)
    np.savetxt(tmp_path / "large.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,d,y", comments="")
    served = Served(tmp_path / "runs")
    try:
        for page in opened(browser, served):
            page.locator("#file").set_input_files(tmp_path / "large.csv")
            page.get_by_label("for at most").fill("600")
            page.get_by_role("button", name="Start").click()
            page.locator(".front tbody tr").first.wait_for()
            size = page.locator(".front tbody tr").count()
            grows = "before => document.querySelectorAll('.front tbody tr').length > before"
            page.wait_for_function(grows, arg=size, timeout=4 * SLOW)
            page.wait_for_function(CLOCK)
            page.get_by_role("button", name="Stop").click()
            page.locator("#content .state.interrupted").wait_for()
            page.get_by_label("Additional time").select_option(label="5 minutes")
            page.get_by_role("button", name="More time").click()
            page.locator("#content .state.searching").wait_for()
            page.get_by_text(re.compile(r"at most 1[0-4]:\d\d left")).wait_for()
            page.get_by_role("button", name="Stop").click()
            page.locator("#content .state.interrupted").wait_for()
    finally:
        served.end()


@pytest.mark.timeout(420)
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
            assert " left." in page.locator(".head .row p").inner_text()
            page.get_by_role("button", name="Pause").click()
            page.locator("#content .state.paused").wait_for()
            page.get_by_role("button", name="Go on").click()
            page.locator("#content .state.searching").wait_for()
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
