"""The report: one well-formed page that asks for nothing, says what is so, and lets no name be more than a name.

Its script, which is Studio's, is tried in `tests/studio/test_frozen.py` and in a browser.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from symseed import Dataset, Expression, Library
from symseed.errors import DataError, SettingsError
from symseed.export import to_mathml, to_text
from symseed.language.row import Row
from symseed.show.figures import plot_front
from symseed.show.page import Drawing, Frozen, Measures, ReportContent
from symseed.show.page import report_html as with_script

pytest.importorskip("matplotlib")

LIBRARY = Library.of(["add", "sub", "mul", "square", "exp", "log", "const"], ["a", "b"])
HOSTILE = ("<script>alert(1)</script>&lt;'$x_1^2$", '--><img src=x onerror=y>"onload="z]]>')
VOID = {"meta", "br", "img", "link"}


@dataclass(frozen=True)
class Shown:
    """A formula of a front, with nothing but what a report may ask for."""

    expression: Expression
    complexity: int
    loss: float
    score: float
    test_loss: float | None = None
    cv_loss: float | None = None
    weight: float | None = None

    @property
    def text(self) -> str:
        return to_text(self.expression)


class Page(HTMLParser):
    """Reads a page, and fails where an element is closed that is not the last one opened."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.comments: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def values(self, name: str) -> list[str]:
        return [value for attribute, value in self.attributes if attribute == name]


def rows(library: Library = LIBRARY) -> list[Shown]:
    first, second = (Expression(library, Row((i,), (np.nan,))) for i in (0, 1))
    both = Expression(library, Row((*library.ids(["add"]), 0, 1), (np.nan,) * 3))
    return [Shown(first, 1, 4.0, 0.0), Shown(second, 2, 0.25, 1.5), Shown(both, 3, 1e-6, 2.5)]


def data(names: tuple[str, str] = ("a", "b")) -> Dataset:
    X = np.array([[1.0, 2.0], [2.0, 5.0], [4.0, 3.0]])
    return Dataset.of(X, X.sum(axis=1) + np.array([0.5, 0.0, -1.0]), names=names)


CONTENT = ReportContent(
    title="Sums",
    equations=rows(),
    chosen=2,
    target="total",
    dataset=data(),
    source="sums.csv",
    units={"total": "kg", "a": "m"},
    settings={"max_time": 60.0, "unary_operators": ("sin", "cos")},
    reason="The budget of expressions is used up.",
    seed=7,
    versions={"symseed": "0.1.0"},
    code={"Python": "def total(a, b):\n    return a + b\n"},
    drawings=[Drawing(name, "The front", lambda: plot_front(rows(), 2)) for name in ("one", "other")],
)
FROZEN = Frozen("const one = 1;\n", ".frozen{color:red}", '{"text": "</script><script>"}')


def report_html(content: ReportContent) -> str:
    return with_script(content, FROZEN)


@functools.cache
def written() -> str:
    return report_html(CONTENT)


def test_the_page_says_everything_that_it_was_given() -> None:
    page = Page(written())
    text = " ".join(page.texts)
    for said in ("Sums", "total", "sums.csv", "kg", "max_time", "60.0", "The budget of expressions is used up."):
        assert said in text
    for said in ("seed", "7", "0.1.0", "def total(a, b):\n    return a + b\n", "('sin', 'cos')"):
        assert said in page.texts or said in text
    assert page.tags.count("math") == 1 + len(CONTENT.equations)
    assert page.tags.count("svg") == 2
    assert page.values("aria-label").count("selected") == 1
    assert "Export" in page.texts
    measures = Measures.of(rows()[2].expression, data())
    assert measures is not None
    assert {f"{measures.rmse:.4g}", "1", "total", "4", "0.25", "1e-06"} <= {part.strip() for part in page.texts}


def test_the_page_is_alone_and_its_pictures_do_not_share_names() -> None:
    text = written()
    page = Page(text)
    (policy,) = (value for value in page.values("content") if "default-src" in value)
    digest = base64.b64encode(hashlib.sha256(FROZEN.script.encode()).digest()).decode()
    assert policy.startswith(
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:;"
    )
    assert f'<script type="module">{FROZEN.script}</script>' in text
    assert page.tags.count("script") == 2, "the answers, and the script of the policy"
    assert not {"link", "iframe", "object", "a", "base", "form"} & set(page.tags)
    assert all(
        value.startswith(("#", "data:")) for name in ("href", "xlink:href", "src") for value in page.values(name)
    )
    assert set(re.findall(r"https?://[^\s\"<]*", text)) == {
        *("http://www.w3.org/1998/Math/MathML", "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink")
    }
    names = page.values("id")
    assert len(set(names)) == len(names)
    used = {value.removeprefix("#") for value in page.values("xlink:href")} | set(re.findall(r"url\(#([^)]*)\)", text))
    assert used
    assert used <= set(names)
    assert page.comments == []
    assert len(text.encode()) < 300_000


def test_every_colour_of_a_picture_has_a_light_and_a_dark_side() -> None:
    text = written()
    used = set(re.findall(r"var\((--[a-z0-9]+)\)", text))
    assert len(used) > 8
    for name in used:
        assert len(re.findall(f"{name}:", text)) == 3, "light, dark and print"
    assert not re.findall(r"(?:fill|stroke): #", text), "no colour that would stay the same"
    assert "prefers-color-scheme:dark" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_becomes_part_of_the_page(name: str) -> None:
    names = (name, "b")
    library = Library.of(["add"], names)
    hostile = ReportContent(
        title=name,
        equations=rows(library),
        chosen=2,
        target=name + "y",
        dataset=data(names),
        source=name,
        units={name: name, name + "y": name},
        settings={name: name},
        reason=name,
        versions={name: name},
        code={name: name},
    )
    plain, page = Page(written()), Page(report_html(hostile))
    assert set(page.tags) <= set(plain.tags)
    assert {attribute for attribute, _ in page.attributes} <= {attribute for attribute, _ in plain.attributes}
    # Title and heading; source; unit; setting and its value; reason; version and its name; code and its name; formulas.
    assert sum(part.strip() == name for part in page.texts) >= 12


def test_no_answer_ends_the_element_that_holds_it() -> None:
    held = re.search('<script type="application/json" id="frozen">(.*?)</script>', written(), re.DOTALL)
    assert held is not None
    assert json.loads(held[1]) == {"text": "</script><script>"}


def test_a_name_of_any_length_or_character_gives_a_page_that_can_be_written() -> None:
    for name in ("z" * 10_000, "\ud800\0\x1b\u202e", "line\nbreak", "日本 🌍"):
        content = replace(CONTENT, title=name, target=name + "!", equations=rows(Library.of(["add"], [name, "b"])))
        text = report_html(content)
        assert len(text.encode()) < 300_000
        assert not re.search("[\0\x1b\u202e]", text)
        Page(text)
    assert "日本 🌍" in text


def test_the_same_content_gives_the_same_bytes_in_another_process() -> None:
    script = "import sys; sys.path.insert(0, sys.argv[1]); import test_page; print(test_page.written())"
    command = [sys.executable, "-X", "utf8", "-c", script, str(Path(__file__).parent)]
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    other = subprocess.run(command, check=True, capture_output=True, env=environment).stdout.decode()
    assert other == report_html(CONTENT) + "\n"


def test_without_matplotlib_the_page_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = Page(report_html(CONTENT))
    assert "svg" not in page.tags
    assert any("pip install matplotlib" in text for text in page.texts)
    assert page.tags.count("math") == 4


def test_what_is_not_given_has_no_place_on_the_page() -> None:
    page = Page(report_html(ReportContent(title="Bare", equations=rows(), chosen=0)))
    text = " ".join(page.texts)
    assert page.tags.count("svg") == 0
    assert "The run" not in text
    assert "Export" not in page.texts
    assert "R²" not in text
    assert "RMSE" in text
    assert "2" in page.texts, "the root of its loss"


def test_a_large_fit_makes_no_large_file() -> None:
    rng = np.random.default_rng(0)
    names = [f"column number {i}" for i in range(200)]
    library = Library.of(["add", "mul"], names)
    (add,) = library.ids(["add"])
    long = Expression(library, Row((*([add] * 49), *range(50)), (np.nan,) * 99))
    X = rng.normal(size=(20_000, 200))
    content = replace(
        CONTENT,
        equations=[replace(row, expression=long) for row in rows()],
        dataset=Dataset.of(X, X[:, :50].sum(axis=1) + rng.normal(size=20_000), names=names),
        code={"Text": "x" * 10**7},
    )
    text = report_html(content)
    assert len(text.encode()) < 1_500_000
    assert "and 140 more columns." in text


def test_measures_are_those_of_the_textbook_with_weights() -> None:
    measures = Measures.of(rows()[2].expression, data())
    y = data().y
    assert measures is not None
    assert measures.rmse == pytest.approx(np.sqrt(1.25 / 3))
    assert measures.r2 == pytest.approx(1 - 1.25 / ((y - y.mean()) ** 2).sum())
    assert measures.largest == pytest.approx(1.0)
    weighted = Measures.of(rows()[2].expression, Dataset.of(data().X, y, weights=[3.0, 1.0, 0.0]))
    assert weighted is not None
    assert weighted.rmse == pytest.approx(np.sqrt(0.75 / 4))
    assert weighted.largest == pytest.approx(0.5)


def test_measures_of_a_constant_target_and_of_a_formula_without_values() -> None:
    X = [[1.0, 1.0], [-1.0, 1.0]]
    constant = Measures.of(rows()[1].expression, Dataset.of(X, [1.0, 1.0]))
    assert constant == Measures(rmse=0.0, r2=None, largest=0.0, rows=2)
    log = Expression.parse("log(a)", LIBRARY)
    half = Measures.of(log, Dataset.of(X, [0.0, 5.0]))
    assert half == Measures(rmse=0.0, r2=None, largest=0.0, rows=1)
    assert Measures.of(log, Dataset.of([[-1.0, 0.0]], [1.0])) is None
    huge = Measures.of(rows()[0].expression, Dataset.of([[1e300, 0.0], [2e300, 0.0]], [0.0, 2e300]))
    assert huge is not None
    assert huge.rmse == pytest.approx(1e300 * np.sqrt(0.5))
    assert huge.r2 == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        ([[1.0, 1.0], [-1.0, 1.0]], [0.0, 5.0], "The formula has no finite value at 1 of the samples."),
        ([[-1.0, 1.0]], [0.0], "The formula has no finite value at 1 of the samples."),
        ([[1.0, 1.0], [1.0, 2.0]], [3.0, 3.0], "R² is not defined, because the target does not vary."),
    ],
)
def test_what_cannot_be_measured_is_said(X: list[list[float]], y: list[float], said: str) -> None:
    row = Shown(Expression.parse("log(a)", LIBRARY), 2, 0.5, 1.0)
    page = Page(report_html(replace(CONTENT, equations=[row], chosen=0, dataset=Dataset.of(X, y, names=["a", "b"]))))
    assert said in page.texts


def test_the_front_has_a_column_for_a_test_where_there_was_one() -> None:
    def head(equations: list[Shown]) -> list[str]:
        text = report_html(replace(CONTENT, equations=equations, dataset=None))
        return re.findall("<th>(.*?)</th>", text)

    assert "test loss" not in head(rows())
    tested = [replace(row, test_loss=0.125) for row in rows()]
    assert head(tested)[1:4] == ["complexity", "loss", "test loss"]
    assert report_html(replace(CONTENT, equations=tested)).count("<td>0.125</td>") == len(tested)


def test_a_front_without_its_choice_is_refused() -> None:
    with pytest.raises(DataError, match="at least one formula"):
        ReportContent(title="", equations=[], chosen=0)
    with pytest.raises(SettingsError, match="`chosen` must be from 0 to 2, but it is -1"):
        replace(CONTENT, chosen=-1)


def test_mathml_has_a_dot_between_factors_and_signs_that_are_no_hyphens() -> None:
    text = to_mathml(Expression.parse("exp(a) * b - 1.5 * a", LIBRARY))
    assert "&InvisibleTimes;" not in text
    assert "&ExponentialE;" not in text
    assert "<mo>−</mo>" in text
    assert ">-<" not in text
    assert "<mo>−</mo><mn>2.5</mn>" in to_mathml(Expression.parse("-2.5", LIBRARY))
