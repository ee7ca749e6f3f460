"""A report of one fit as a self-contained HTML page: no other files, no network.

It is the page of Studio, frozen: its script finds in the report what a server would answer. Without scripts, as in a
preview of mail, the formulas and their numbers remain. Every text from outside is escaped here, and clipped if it is
very long.
"""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.resources
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.errors import DataError, SettingsError, check_between
from symseed.export import from_text, to_mathml
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.network import Guess
from symseed.scoring.uncertainty import MOST_SAMPLES, Uncertainty
from symseed.show.figures import FrontRow
from symseed.show.style import COLOURS, EDGE, GREY, GRID, PAPER, style
from symseed.tables.report import TableReport
from symseed.text import clipped, for_html, one_line, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LONGEST = 80
"""Most characters of a name or setting that are shown: about a line. Chosen by hand."""
_LONGEST_CODE = 20_000
"""Most characters of the formula in one language that are shown: chosen by hand."""
_MOST_COLUMNS = 60
"""Most columns of the data that are listed: chosen by hand."""
_DARK = {
    COLOURS[0]: "#5cb3ec",
    COLOURS[1]: "#ff9a4d",
    GREY: "#b9c2cd",
    EDGE: "#6f7a87",
    GRID: "#2b333d",
    PAPER: "#171c22",
}
"""The colours of figures, and the colour that replaces each on a dark background."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure that is drawn for the report."""

    name: str
    """A word, for ids in the page."""
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportContent:
    """Content of a report; a part that is left out does not appear on the page."""

    title: str
    equations: Sequence[FrontRow]
    """The front: at least one formula, shortest first."""
    chosen: int
    """Index of the selected formula on the front."""
    target: str = "y"
    """Name of the target."""
    dataset: Dataset | None = None
    """The data that were fitted; None: the report has no figure of the fit and no R²."""
    source: str = ""
    """Source of the data."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Units by name of column or target."""
    table: TableReport | None = None
    """What was read, used and left out of the file."""
    structure: Sequence[str] = ()
    """What the data say of their structure, as sentences."""
    prior: Sequence[Guess] = ()
    """What a network thought of the data before the searches."""
    settings: Mapping[str, object] = field(default_factory=dict)
    noise: str = ""
    """The noise by which formulas were fitted, as a sentence."""
    remarks: Sequence[str] = ()
    """Sentences about the residuals of the selected formula."""
    reason: str = ""
    """Why the search ended, as a sentence."""
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions by name of software."""
    code: Mapping[str, str] = field(default_factory=dict)
    """The selected formula as code, by the name of the language."""
    alternatives: Sequence[FrontRow] = ()
    """Formulas that explain the data about equally well, the most probable first."""
    summary: str = ""
    """A sentence about the alternatives."""
    stability: str = ""
    """What would be selected from other samples, as lines of text."""
    drawings: Sequence[Drawing] = ()
    """Further figures."""

    def __post_init__(self) -> None:
        """Refuse a front without the selected formula."""
        if not self.equations:
            raise DataError("`equations` must hold at least one formula to report, but it is empty.")
        check_between("chosen", self.chosen, 0, len(self.equations) - 1)


@dataclass(frozen=True, slots=True)
class Frozen:
    """The page of Studio without its server."""

    script: str
    style: str
    """Rules beside those of `page_css`."""
    answers: str
    """What the server would answer, in JSON."""


@dataclass(frozen=True, slots=True)
class Measures:
    """Errors of a formula on the samples at which it has a value, weighted as in the fit."""

    rmse: float
    r2: float | None
    """None if the target does not vary."""
    largest: float
    rows: int
    """Number of samples at which the formula has a value."""

    @classmethod
    def of(cls, expression: Expression, dataset: Dataset) -> Measures | None:
        """Measure a formula; None if it has no value at any sample of positive weight."""
        predicted = expression.evaluate(dataset.X)
        counts = np.isfinite(predicted) & (dataset.weights > 0.0)
        if not counts.any():
            return None
        y, weights = dataset.y[counts], dataset.weights[counts]
        # In units of the largest value, so that squares neither overflow nor underflow.
        unit = float(np.abs([y, predicted[counts]]).max()) or 1.0
        rest = y / unit - predicted[counts] / unit
        around = y / unit - np.average(y / unit, weights=weights)
        mean, spread = (float(np.average(values**2, weights=weights)) for values in (rest, around))
        varies = y.min() < y.max() and spread > 0.0
        return cls(
            rmse=unit * mean**0.5,
            r2=1.0 - mean / spread if varies else None,
            largest=unit * float(np.abs(rest).max()),
            rows=int(np.isfinite(predicted).sum()),
        )


def report_html(content: ReportContent, frozen: Frozen) -> str:
    """Return a report as the text of one HTML file; the same content gives the same text."""
    # The script replaces these by the page, with the same content and more.
    replaced = [
        _head(content),
        _chosen(content),
        _structure(content.structure),
        _front(content),
        _take_away(content.code),
    ]
    kept = [
        _prior(content.prior),
        _constants(content),
        _alternatives(content),
        _pictures(content.drawings),
        _data(content),
        _run(content),
    ]
    digest = base64.b64encode(hashlib.sha256(frozen.script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    answers = frozen.answers.replace("<", "\\u003c")  # no text in it can end the element
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{_text(content.title)}</title>\n<style>\n{page_css()}{frozen.style}</style>\n</head>\n"
        '<body class="report">\n<main>\n<p class="brand">symseed report</p><p id="said" role="status"></p>\n'
        f'<div id="content">\n{_joined(replaced)}\n</div>\n{_joined(kept)}\n</main>\n'
        f'<script type="application/json" id="frozen">{answers}</script>\n'
        f'<script type="module">{frozen.script}</script>\n</body>\n</html>\n'
    )


def _joined(parts: Sequence[str]) -> str:
    return "\n".join(filter(None, parts))


# --- Sections --------------------------------------------------------------------------------------------------------


def _head(content: ReportContent) -> str:
    about = [f"A formula for <b>{_text(content.target)}</b>"]
    if content.dataset is not None:
        rows, columns = content.dataset.X.shape
        about.append(f"from {rows:,} row{_s(rows)} of {columns:,} column{_s(columns)}")
    return f"<header><h1>{_text(content.title)}</h1><p>{' '.join(about)}</p></header>"


def _chosen(content: ReportContent) -> str:
    equation = content.equations[content.chosen]
    measures = None if content.dataset is None else Measures.of(equation.expression, content.dataset)
    unit = content.units.get(content.target, "")
    tiles: list[tuple[str, str, str]] = []
    if measures is not None:
        tiles = [
            ("RMSE", f"{measures.rmse:.4g}", unit),
            ("R²", "–" if measures.r2 is None else _r2(measures.r2), ""),
            ("largest error", f"{measures.largest:.4g}", unit),
        ]
    elif content.dataset is None:
        tiles = [("RMSE", f"{max(equation.loss, 0.0) ** 0.5:.4g}", unit)]
    is_weighed = equation.complexity != len(equation.expression)
    unit_of_size = "" if is_weighed else "token" + _s(equation.complexity)
    tiles.append(("complexity", str(equation.complexity), unit_of_size))
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{value}{f' <small>{_text(of)}</small>' if of else ''}</dd></div>"
        for name, value, of in tiles
    )
    notes = [_text(remark, 400) for remark in (content.noise, *content.remarks) if remark]
    if content.dataset is not None:
        valued = 0 if measures is None else measures.rows
        if valued < len(content.dataset):
            notes.append(f"The formula has no finite value at {len(content.dataset) - valued:,} of the samples.")
        if measures is not None and measures.r2 is None:
            notes.append("R² is not defined, because the target does not vary.")
    # A long formula has smaller type, so that more of it is visible at once.
    size = "large" if len(equation.expression) <= 15 else "middle" if len(equation.expression) <= 40 else "small"
    formula = f'<div class="formula {size} scroll" tabindex="0">{named_mathml(content.target, equation)}</div>'
    return (
        f'<section class="chosen" aria-label="The selected formula">{formula}<dl class="tiles">{cells}</dl>'
        + "".join(f'<p class="note">{note}</p>' for note in notes)
        + "</section>"
    )


def _constants(content: ReportContent) -> str:
    """The constants of the selected formula with their standard errors; nothing without constants or data."""
    expression = content.equations[content.chosen].expression
    if content.dataset is None or not expression.constant_places:
        return ""
    data = content.dataset.counted()
    known = Uncertainty.of(expression, data.sampled(MOST_SAMPLES, 0), len(data))
    rows = "".join(
        _row([f"{value:.6g}", f"± {error:.2g}", f"{low:.6g} to {high:.6g}"], is_marked=False)
        for value, error, low, high in zip(known.values, known.standard_errors, *known.intervals(0.95), strict=True)
    )
    return (
        '<section><h2>Constants of the selected formula</h2><div class="scroll" tabindex="0"><table><thead>'
        f"<tr><th>constant</th><th>standard error</th><th>95 % interval</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
        '<p class="note">In the order of the formula as exported. The errors assume that the form of the formula is '
        "right.</p></section>"
    )


def _structure(structure: Sequence[str]) -> str:
    """What the data say of their structure, before any formula; nothing if they say nothing."""
    if not structure:
        return ""
    sentences = "".join(f"<p>{_text(sentence, 1_000)}.</p>" for sentence in structure)
    return (
        f"<section><h2>Structure</h2>{sentences}"
        '<p class="note">By the evidence of Gaussian processes: a function of fewer columns explains the data better '
        "than one of all columns, whatever its form.</p></section>"
    )


def _prior(prior: Sequence[Guess]) -> str:
    """What a network thought of the data before any search; nothing if none was asked."""
    if not prior:
        return ""
    rows = "".join(_row([guess.percent, _text(guess.formula, 1_000)], is_marked=False) for guess in prior)
    head = "<thead><tr><th>probability</th><th>form f, for y = a + b f</th></tr></thead>"
    return (
        "<section><h2>Before the search</h2><p>The network that read the data thought these forms the most probable, "
        "before any formula was fitted.</p>"
        f'<div class="scroll" tabindex="0"><table class="front weighed">{head}<tbody>{rows}</tbody></table></div>'
        "</section>"
    )


def _front(content: ReportContent) -> str:
    rows = []
    for place, equation in enumerate(content.equations):
        is_chosen = place == content.chosen
        mark = '<span role="img" aria-label="selected">▸</span>' if is_chosen else ""
        losses = [f"{loss:.4g}" for loss in (equation.loss, equation.test_loss, equation.cv_loss) if loss is not None]
        weight = [] if equation.weight is None else [for_html(percent(equation.weight))]
        numbers = str(equation.complexity), *losses, f"{equation.score:.3g}", *weight
        rows.append(_row([mark, *numbers, formula_mathml(equation)], is_marked=is_chosen))
    first = content.equations[0]
    names, more = ["complexity", "loss"], []
    if first.test_loss is not None:
        names.append("test loss")
        more.append(" Test loss is the same mean over samples that the search has not seen.")
    if first.cv_loss is not None:
        names.append("cv loss")
        more.append(" CV loss is that over samples that the constants were not fitted to.")
    names.append("score")
    if first.weight is not None:
        names.append("weight")
        more.append(" Weight is the probability that the form of a formula is right.")
    head = f"<tr><th></th>{''.join(f'<th>{name}</th>' for name in (*names, 'formula'))}</tr>"
    return (
        "<section><h2>The front</h2>"
        "<p>The Pareto front: each formula has a smaller error, weighed by the noise, than all shorter ones. The "
        "selected formula is always included. Loss is the mean squared error, or the mean of the loss that was "
        "set. Score is the decrease of "
        f"log(loss) per additional token.{''.join(more)}</p>"
        f'<div class="scroll" tabindex="0"><table class="front"><thead>{head}</thead><tbody>{"".join(rows)}</tbody>'
        "</table></div></section>"
    )


def _alternatives(content: ReportContent) -> str:
    """Formulas that the data cannot tell apart, and the place of the measurement that can."""
    if not content.summary and not content.stability:
        return ""
    rows = "".join(
        _row(["" if item.weight is None else for_html(percent(item.weight)), formula_mathml(item)], is_marked=False)
        for item in content.alternatives
    )
    table = ""
    if len(content.alternatives) > 1:
        head = "<thead><tr><th>weight</th><th>formula</th></tr></thead>"
        table = (
            f'<div class="scroll" tabindex="0"><table class="front weighed">{head}<tbody>{rows}</tbody></table></div>'
        )
    stability = f"<h3>Other samples</h3><pre>{_text(content.stability, 4000, is_line=False)}</pre>"
    return (
        f"<section><h2>Alternatives</h2>{table}<p>{_text(content.summary, 400)}</p>"
        f"{stability if content.stability else ''}</section>"
    )


def _pictures(drawings: Sequence[Drawing]) -> str:
    """Further figures; nothing without them."""
    if not drawings:
        return ""
    try:
        with style():
            figures = [_figure(one) for one in drawings]
    except SettingsError as error:  # no matplotlib
        return f'<section><h2>Figures</h2><p class="note">{_text(str(error), 200)}</p></section>'
    return f'<section><h2>Figures</h2><div class="pictures">{"".join(figures)}</div></section>'


def _figure(drawing: Drawing) -> str:
    picture = _svg(drawing.draw(), drawing.name, drawing.caption)
    return (
        f'<figure class="{drawing.name}"><div class="scroll" tabindex="0">{picture}</div>'
        f"<figcaption>{drawing.caption}</figcaption></figure>"
    )


def _take_away(code: Mapping[str, str]) -> str:
    if not code:
        return ""
    blocks = "".join(
        f"<h3>{_text(name)}</h3><pre><code>{_text(text, _LONGEST_CODE, is_line=False)}</code></pre>"
        for name, text in code.items()
    )
    return f"<section><h2>Export</h2>{blocks}</section>"


def _data(content: ReportContent) -> str:
    facts: dict[str, object] = {"source": content.source} if content.source else {}
    if content.dataset is not None:
        facts["rows"] = f"{len(content.dataset):,}"
        facts["columns"] = f"{content.dataset.X.shape[1]:,}"
    facts["target"] = content.target + _in_unit(content.units.get(content.target))
    table = ""
    if content.dataset is not None:
        columns = [*zip(content.dataset.names, content.dataset.X.T, strict=True)][:_MOST_COLUMNS]
        columns.insert(0, (content.target, content.dataset.y))
        rows = "".join(
            _row([_text(name), _text(content.units.get(name, "")), *_range(values)], is_marked=place == 0)
            for place, (name, values) in enumerate(columns)
        )
        head = "<tr><th>column</th><th>unit</th><th>smallest</th><th>median</th><th>largest</th></tr>"
        table = (
            f'<div class="scroll" tabindex="0"><table class="data"><thead>{head}</thead><tbody>{rows}</tbody></table>'
            "</div>"
        )
        rest = content.dataset.X.shape[1] - _MOST_COLUMNS
        table += f"<p>and {rest:,} more column{_s(rest)}.</p>" if rest > 0 else ""
    read = "" if content.table is None else _table(content.table)
    return f"<section><h2>Data</h2>{_list(facts)}{table}{read}</section>"


def _table(table: TableReport) -> str:
    """Report what was understood, used, converted, filled and left out of a file."""
    rows = "".join(
        _row([_text(column.name), _text(column.role), _text(column.words, 200)], is_marked=False)
        for column in table.columns[:_MOST_COLUMNS]
    )
    head = "<tr><th>column</th><th>used as</th><th>read as</th></tr>"
    rest = len(table.columns) - _MOST_COLUMNS
    used = f"{table.used:,} of {table.rows:,} row{_s(table.rows)} used"
    about = "; ".join([used, *(_text(fact, 200) for fact in table.facts)])
    return (
        f"<h3>The file as it was read</h3><p>{about}.</p>"
        f'<div class="scroll" tabindex="0"><table class="read"><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
        + (f"<p>and {rest:,} more column{_s(rest)}.</p>" if rest > 0 else "")
        + "".join(f'<p class="note">{_text(note, 400)}</p>' for note in table.notes)
    )


def _run(content: ReportContent) -> str:
    facts: dict[str, object] = {}
    if content.reason:
        facts["ended"] = content.reason
    if content.seed is not None:
        facts["seed"] = content.seed
    parts = [
        _list(facts),
        "<h3>Settings</h3>" + _list(content.settings) if content.settings else "",
        "<h3>Versions</h3>" + _list(content.versions) if content.versions else "",
    ]
    return f"<section><h2>The run</h2>{''.join(parts)}</section>" if any(parts) else ""


# --- Pieces ----------------------------------------------------------------------------------------------------------


def _text(value: object, most: int = _LONGEST, *, is_line: bool = True) -> str:
    """Return a text from outside as HTML, clipped."""
    return for_html((one_line if is_line else clipped)(str(value), most))


def _list(facts: Mapping[str, object]) -> str:
    if not facts:
        return ""
    rows = "".join(f"<div><dt>{_text(name)}</dt><dd>{_text(value, 400)}</dd></div>" for name, value in facts.items())
    return f'<dl class="facts">{rows}</dl>'


def _row(cells: Sequence[str], *, is_marked: bool) -> str:
    """Return a row of a table; its cells are HTML."""
    opening = '<tr class="is-chosen">' if is_marked else "<tr>"
    return f"{opening}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _range(values: Floats) -> list[str]:
    middle = np.quantile(values, 0.5, method="lower")  # a value of the data: a mean of two could overflow
    return [f"{value:.4g}" for value in (values.min(), middle, values.max())]


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _r2(value: float) -> str:
    """Write R² with enough digits that only 1 is written as 1."""
    if value >= 1.0 or value < 0.9:
        return f"{value:.4g}"
    return f"1 − {1.0 - value:.2g}" if value > 0.9999 else f"{value:.5f}"


def _in_unit(unit: str | None) -> str:
    return f" ({unit})" if unit else ""


def formula_mathml(equation: FrontRow) -> str:
    """Return a formula as MathML, with clipped names."""
    return text_mathml(equation.text, equation.expression.library)


def text_mathml(text: str, library: Library) -> str:
    """Return a formula that was written as `to_text` does as MathML, with clipped names."""
    return re.sub(
        "<mi>([^<]+)</mi>",
        lambda match: f"<mi>{_text(html.unescape(match[1]), 40)}</mi>",
        to_mathml(from_text(text, library), None),
    )


def named_mathml(target: str, equation: FrontRow) -> str:
    """Return `target = formula` as one MathML element."""
    opening, _, rest = formula_mathml(equation).partition(">")
    name = f"<mi>{_text(target, 40)}</mi>"
    return f'{opening} display="block"><mrow>{name}<mo>=</mo>{rest.removesuffix("</math>")}</mrow></math>'


def _svg(figure: Figure, name: str, caption: str) -> str:
    """Return a figure as an SVG element with unique ids, so that a page can hold several, and the page's colours."""
    file = io.StringIO()
    figure.savefig(file, format="svg", facecolor="none", metadata={"Date": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    # Comments repeat the texts, and metadata describe the program that drew the figure.
    text = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", text)
    for colour in _DARK:
        text = re.sub(f"{colour}\\b", f"var({_variable(colour)})", text, flags=re.IGNORECASE)
    opening, _, rest = re.sub(">\\s+<", "><", text).partition(">")
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    view = re.search('viewBox="[^"]*"', opening)
    assert view is not None, "matplotlib writes one"
    return (
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg" {view[0]} '
        f'style="width:{width}px;aspect-ratio:{width}/{height}" role="img" aria-label="{caption}">'
        f"<title>{caption}</title>{rest}"
    )


def _variable(colour: str) -> str:
    return f"--c{colour[1:].lower()}"


def page_css() -> str:
    """Return the style of a page: the rules of `page.css`, with the colours of figures in its placeholders."""
    light = "".join(f"{_variable(colour)}:{colour};" for colour in _DARK)
    dark = "".join(f"{_variable(colour)}:{shade};" for colour, shade in _DARK.items())
    rules = (importlib.resources.files("symseed.show") / "page.css").read_text(encoding="utf-8")
    return rules.replace("/*light*/", light).replace("/*dark*/", dark)
