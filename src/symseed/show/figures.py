"""Figures of one fit: its front, the data with the selected formula, the formula as a tree, and the convergence.

Every function returns a new figure; pyplot and its global state are not used. matplotlib is needed to draw, not to
import this module. Axis letters: M samples, V variables.
"""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats, floats
from symseed.errors import DataError, SettingsError, check_between
from symseed.export import to_text
from symseed.language.expression import Expression
from symseed.language.spelling import DIGITS, decimal
from symseed.language.tokens import Token, TokenKind
from symseed.portfolio.progress import Moment
from symseed.show.style import COLOURS, EDGE, GREY, GRID, PAPER, label, spread, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from symseed.show.picture import Picture, Pictures

MOST_POINTS = 2_000
"""Most samples that are drawn as points; for more, their density is drawn. Chosen by hand."""
MOST_LABELS = 24
"""Most formulas written beside one figure: chosen by hand."""

_WIDE = 6.0
"""Width of a figure, in inches: about that of a printed page."""
_LONGEST_FORMULA = 36
"""Most characters of a formula beside a figure: as many as fit. Chosen by hand."""
_LONGEST_TITLE = 68
"""Most characters of a formula above a figure: as many as fit. Chosen by hand."""
_LONGEST_NAME = 32
"""Most characters of a name at an axis: chosen by hand."""
_LONGEST_NODE = 14
"""Most characters of a node of a tree: chosen by hand."""
_POINTS = 72.0
"""Points in an inch."""
_LINE = 11.5
"""Distance of two labels, in points: one line of text."""
_MANY_TIMES = 30.0
"""Factor that the middle four fifths of positive values must exceed to get a logarithmic axis: chosen by hand."""
_PLAIN_SIZES = (1e-100, 1e100)
"""Smallest and largest |value| that axes can show unscaled."""
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SIGNS = {
    "add": "+",
    "sub": "−",
    "mul": "×",
    "div": "÷",
    "pow": "^",
    "sqrt": "√",
    "square": "(·)²",
    "cube": "(·)³",
    "quartic": "(·)⁴",
    "inv": "1/(·)",
    "neg": "−(·)",
    "abs": "|·|",
    "expneg": "exp(−·)",
    "logabs": "log|·|",
}
"""Labels of operators in a tree that differ from their names."""


class FrontRow(Protocol):
    """A formula on a front, as figures need it; `Equation` is one."""

    @property
    def expression(self) -> Expression:
        """The formula."""

    @property
    def text(self) -> str:
        """The formula as people read it."""

    @property
    def complexity(self) -> int:
        """Number of tokens."""

    @property
    def loss(self) -> float:
        """Mean loss."""

    @property
    def test_loss(self) -> float | None:
        """Mean loss on samples that were held out; None if there are none."""

    @property
    def cv_loss(self) -> float | None:
        """Cross-validated mean loss; None if it was not computed."""

    @property
    def weight(self) -> float | None:
        """Probability that the form is right; None if it is not known."""

    @property
    def score(self) -> float:
        """Decrease of log(loss) per additional token, compared with the formula before."""


def plot_front(equations: Sequence[FrontRow], chosen: int | None = None) -> Figure:
    """Draw loss against complexity as steps, with formulas beside them; `chosen` is the index of the selected formula.

    A loss of 0 is drawn at the bottom of the logarithmic axis. Formulas whose loss is not finite are left out, and a
    note in the figure says so.

    Raises:
        DataError: if `equations` is empty.
        SettingsError: if `chosen` is not an index of a formula, or matplotlib is missing.
    """
    if not equations:
        raise DataError("`equations` must hold at least one formula to be drawn, but it is empty.")
    if chosen is not None:
        check_between("chosen", chosen, 0, len(equations) - 1)
    shown = [place for place, equation in enumerate(equations) if math.isfinite(equation.loss)]
    by_score = sorted(shown, key=lambda place: (place != chosen, -equations[place].score))
    with style():
        from matplotlib.ticker import MaxNLocator

        named = sorted(by_score[:MOST_LABELS])
        figure, axes = _labelled_figure(len(named))
        x = [equations[place].complexity for place in shown]
        heights = dict(zip(shown, loss_axis(axes, [equations[place].loss for place in shown]), strict=True))
        axes.step(x, list(heights.values()), where="post", color=COLOURS[0], linewidth=1.6)
        axes.plot(x, list(heights.values()), "o", color=COLOURS[0], markersize=4.5)
        if chosen in heights:
            axes.plot(equations[chosen].complexity, heights[chosen], "o", color=COLOURS[1], markersize=9)
        marks = [
            _Mark(
                equations[place].complexity,
                heights[place],
                label(equations[place].text, _LONGEST_FORMULA),
                place == chosen,
            )
            for place in named
        ]
        _label(axes, marks)
        axes.set_xlabel("complexity, tokens")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlim(min(x, default=1) - 1, max(x, default=1) + 1)
        missing = len(equations) - len(shown)
        _note(figure, f"{missing:,} of {len(equations):,} formulas have no finite loss" if missing else "")
        return finished(figure)


def plot_convergence(
    history: Sequence[Moment], selected: FrontRow | None = None, *, against: Literal["seconds", "charged"] = "seconds"
) -> Figure:
    """Draw the loss of the selected formula against seconds or formulas tried; each new formula is a label.

    Args:
        history: the selected formula at each time of the search.
        selected: the formula that was selected in the end; after the search, formulas are fitted and simplified again.
        against: what the horizontal axis shows.

    Raises:
        DataError: if the history is empty.
    """
    if not history:
        raise DataError("`history` must hold at least one moment to be drawn, but it is empty.")
    if against not in ("seconds", "charged"):
        raise SettingsError(f"`against` must be 'seconds' or 'charged', but it is {against!r}.")
    if selected is not None and selected.text != history[-1].formula:
        history = [*history, replace(history[-1], formula=selected.text, loss=selected.loss)]
    shown = [moment for moment in history if math.isfinite(moment.loss) and math.isfinite(getattr(moment, against))]
    changes = [place for place, moment in enumerate(shown) if place == 0 or moment.formula != shown[place - 1].formula]
    with style():
        named = changes[-MOST_LABELS:]
        figure, axes = _labelled_figure(len(named))
        x = [float(getattr(moment, against)) for moment in shown]
        heights = loss_axis(axes, [moment.loss for moment in shown])
        axes.step(x, heights, where="post", color=COLOURS[0], linewidth=1.6)
        axes.plot([x[i] for i in changes], [heights[i] for i in changes], "o", color=COLOURS[0], markersize=4.5)
        if changes:
            axes.plot(x[changes[-1]], heights[changes[-1]], "o", color=COLOURS[1], markersize=9)
        marks = [_Mark(x[i], heights[i], label(shown[i].formula, _LONGEST_FORMULA), i == changes[-1]) for i in named]
        _label(axes, marks)
        is_log = _is_wide(np.array(x))
        if is_log:
            _to_log(axes, "x")
        elif against == "charged":
            axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlim(_limits(np.array(x), is_log))
        axes.set_xlabel("seconds" if against == "seconds" else "formulas tried")
        missing = len(history) - len(shown)
        _note(figure, f"{missing:,} of {len(history):,} moments have no finite loss" if missing else "")
        return finished(figure)


def plot_fit(
    expression: Expression,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    target: str = "y",
    units: Mapping[str, str] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw data and formula, and the residuals below.

    A formula of one variable is drawn against that variable, another as measured against predicted values. Many samples
    are drawn as a density, and samples with a value that is not finite are left out; a note in the figure says so.

    Args:
        X: (M, V), with the columns of the formula's library; one column may be given as (M,).
        y: (M,).
        target: name of y.
        units: units by name of column or target.
        title: the formula as text; None: with numbers to a few digits.
    """
    table, measured = floats(X, "X"), floats(y, "y")
    table = table[:, None] if table.ndim == 1 else table
    if measured.shape != table.shape[:1]:
        raise DataError(f"`y` must have one value for each sample of `X`, but its shape is {measured.shape}.")
    predicted = expression.evaluate(table)
    column = _only_column(expression, table.shape[1])
    across = predicted if column is None else table[:, column]
    keep = np.isfinite(across) & np.isfinite(measured) & np.isfinite(predicted)
    across, measured, predicted = across[keep], measured[keep], predicted[keep]
    with style():
        from symseed.show.picture import Picture

        figure = Picture(figsize=(_WIDE, 4.6), layout="constrained")
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.2))
        along, up = _AxisScale.of(across), _AxisScale.of(measured, predicted)
        rest = measured / up.unit - predicted / up.unit
        below = _AxisScale.of(np.append(rest, 0.0))
        _points(upper, across / along.unit, measured / up.unit, (along.is_log, up.is_log), cells=24)
        _points(lower, across / along.unit, rest / below.unit, (along.is_log, False), cells=8)
        line = _between(across / along.unit, along.limits, along.is_log)
        values = line if column is None else _along(expression, line * along.unit, column, table.shape[1]) / up.unit
        upper.plot(line, _without_poles(values, up.limits), color=COLOURS[1], linewidth=1.6, label="formula")
        lower.axhline(0.0, color=COLOURS[1], linewidth=1.2)
        predicted_name = f"{label(target, _LONGEST_NAME)}, by the formula"
        x_name = predicted_name if column is None else _with_unit(_column_name(expression, column), units)
        up.rule(upper, "y", up.named(_with_unit(target, units)))
        along.rule(upper, "x", "")
        along.rule(lower, "x", along.named(x_name))
        below.rule(lower, "y", replace(below, unit=below.unit * up.unit).named("residual"))
        upper.set_title(label(title or to_text(expression), _LONGEST_TITLE), loc="left", fontsize=8, color=COLOURS[1])
        _note(figure, _fit_note(len(across), int((~keep).sum())))
        return finished(figure)


def plot_tree(expression: Expression) -> Figure:
    """Draw a formula as a tree: with the root at the top, or on the left if the tree is wide."""
    tokens = expression.tokens
    arities = [token.arity for token in tokens]
    depths, parents = _depths_and_parents(arities)
    with style():
        from symseed.show.picture import Picture

        texts = [node_label(token, value) for token, value in zip(tokens, expression.constants, strict=True)]
        widths = [_width(text) for text in texts]
        level = 38.0 if max(depths) <= 10 else 28.0
        places = np.array(_layout(arities, widths, gap=9.0))
        x, y = places, -level * np.array(depths)
        # A wider figure would need scrolling; with the root on the left, a tree takes one line for each leaf.
        step = max(widths) + 24.0
        if np.ptp(places) > 600.0 and np.ptp(places) > step * max(depths):
            x, y = step * np.array(depths, float), -np.array(_layout(arities, [16.0] * len(arities), gap=4.0))
        sides = max(widths) / 2 + 8.0
        size = np.ptp(x) + 2 * sides, np.ptp(y) + 30.0
        figure = Picture(figsize=(size[0] / _POINTS, size[1] / _POINTS))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(x.min() - sides, x.max() + sides)
        axes.set_ylim(y.min() - 15.0, y.max() + 15.0)
        axes.axis("off")
        for child, parent in enumerate(parents):
            if parent is not None:
                axes.plot(x[[parent, child]], y[[parent, child]], color=EDGE, linewidth=1.0, zorder=1)
        for place, token in enumerate(tokens):
            _draw_node(axes, (x[place], y[place]), texts[place], token.kind)
        return figure


def together(pictures: Sequence[Picture]) -> Pictures:
    """Return pictures as a list that a notebook shows one below the other."""
    from symseed.show.picture import Pictures

    return Pictures(pictures)


# --- Labels and axes -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Mark:
    """A labelled point."""

    x: float
    y: float
    text: str
    is_chosen: bool


def _labelled_figure(labels: int) -> tuple[Figure, Axes]:
    """Return a figure high enough for a column of `labels` labels."""
    from symseed.show.picture import Picture

    figure = Picture(figsize=(_WIDE, _height(labels)), layout="constrained")
    axes = figure.subplots()
    axes.grid(color=GRID)
    axes.set_axisbelow(True)
    axes.set_ylabel("loss")
    return figure, axes


def _height(labels: int) -> float:
    """Return the height of a figure with a column of `labels` labels, in inches."""
    return max(3.6, 1.0 + labels * _LINE / _POINTS)


def _label(axes: Axes, marks: Sequence[_Mark]) -> None:
    """Write labels in a column on the right, in the order of the points' heights, each with a line to its point."""
    low, high = axes.get_ylim()
    gap = _LINE / ((_height(len(marks)) - 1.0) * _POINTS)
    places = spread([(mark.y - low) / (high - low) for mark in marks], gap, top=1.0)
    for mark, place in zip(marks, places, strict=True):
        axes.annotate(
            mark.text,
            (mark.x, mark.y),
            (1.03, place),
            textcoords="axes fraction",
            va="center",
            fontsize=8,
            color=COLOURS[1] if mark.is_chosen else GREY,
            arrowprops={
                "arrowstyle": "-",
                "color": COLOURS[1] if mark.is_chosen else EDGE,
                "linewidth": 0.6,
                "linestyle": (0, (1, 2)),
                "relpos": (0.0, 0.5),
                "shrinkA": 2,
                "shrinkB": 5,
            },
            annotation_clip=False,
        )


def loss_axis(axes: Axes, losses: Sequence[float]) -> list[float]:
    """Make the y axis logarithmic, with 0 at its bottom, and return the losses' heights on it.

    Heights are decimal logarithms on a linear axis, so that no loss is too large or too small.
    """
    powers = [math.log10(loss) for loss in losses if loss > 0.0] or [0.0]
    low, high = min(powers), max(powers)
    ticks = _ticks(low, high) if any(loss > 0.0 for loss in losses) else {}
    foot = low
    if any(loss <= 0.0 for loss in losses):
        foot = low - max(0.5, 0.2 * (high - low))
        ticks = {foot: "0"} | {height: text for height, text in ticks.items() if height >= low - 0.1}
    margin = 0.06 * (high - foot) or 0.5
    axes.set_ylim(foot - margin, high + margin)
    inside = {height: text for height, text in ticks.items() if foot - margin <= height <= high + margin}
    axes.set_yticks(list(inside), list(inside.values()))
    return [math.log10(loss) if loss > 0.0 else foot for loss in losses]


def _ticks(low: float, high: float) -> dict[float, str]:
    """Return heights and labels of the ticks between two powers of ten."""
    if high - low >= 2.0:
        step = math.ceil((high - low) / 7.0)
        return {float(power): _power(power) for power in range(math.floor(low), math.ceil(high) + 1, step)}
    from matplotlib.ticker import MaxNLocator

    base = math.floor(low)
    if high - low >= 0.7:
        values = [digit * 10.0**power for power in range(4) for digit in (1, 2, 5)]
    else:
        ends = 10 ** (low - base), 10 ** (high - base)
        values = [ends[0]] if low == high else [float(value) for value in MaxNLocator(5).tick_values(*ends)]
    shown = {base + math.log10(value): value for value in values if value > 0.0}
    if -4 <= base <= 4:
        return {height: f"{value * 10.0**base:.6g}" for height, value in shown.items()}
    return {height: f"{value:.6g}·{_power(base)}" for height, value in shown.items()}


def _power(power: int) -> str:
    return f"{10.0**power:g}" if -3 <= power <= 3 else f"10{str(power).translate(_SUPERSCRIPTS)}"


@dataclass(frozen=True, slots=True)
class _AxisScale:
    """Scale of an axis."""

    unit: float
    """Divisor of the values: 1 unless their size is extreme."""
    is_log: bool
    limits: tuple[float, float]

    @classmethod
    def of(cls, *values: Floats) -> _AxisScale:
        """Choose the scale for all values on one axis."""
        together = np.concatenate(values)
        largest = float(np.abs(together).max(initial=0.0))
        is_plain = largest == 0.0 or _PLAIN_SIZES[0] <= largest <= _PLAIN_SIZES[1]
        unit = 1.0 if is_plain else 10.0 ** max(math.floor(math.log10(largest)), -307)
        is_log = all(_is_wide(some) for some in values)
        return cls(unit, is_log, _limits(together / unit, is_log))

    def rule(self, axes: Axes, which: Literal["x", "y"], name: str) -> None:
        """Give an axis its scale, limits and name."""
        if self.is_log:
            _to_log(axes, which)
        axes.set(**{f"{which}lim": self.limits, f"{which}label": name})

    def named(self, name: str) -> str:
        """Return the name of an axis, with the divisor of its values."""
        return name if self.unit == 1.0 else f"{name}, in {self.unit:.0e}"


def _is_wide(values: Floats) -> bool:
    if not len(values) or not (_PLAIN_SIZES[0] < values.min() and values.max() < _PLAIN_SIZES[1]):
        return False
    low, high = np.quantile(values, (0.1, 0.9))
    return bool(high / low >= _MANY_TIMES)


def _limits(values: Floats, is_log: bool) -> tuple[float, float]:
    """Return distinct limits, with a margin."""
    if not len(values):
        return 0.0, 1.0
    values = np.log10(values) if is_log else values
    low, high = float(values.min()), float(values.max())
    # Limits that are closer than this have too few digits between them for ticks.
    margin = 0.06 * (high - low) if high - low > 1e-12 * max(abs(low), abs(high)) else 0.1 * abs(high) or 1.0
    return (10 ** (low - margin), 10 ** (high + margin)) if is_log else (low - margin, high + margin)


def _to_log(axes: Axes, which: Literal["x", "y"]) -> None:
    axes.set(**{f"{which}scale": "log"})
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter("")


def _note(figure: Figure, text: str) -> None:
    if text:
        figure.supxlabel(text, fontsize=8, color=GREY)


def finished(figure: Figure) -> Figure:
    """Lay out a figure while its style is active, and keep the layout."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


# --- Data and formula ------------------------------------------------------------------------------------------------


def _only_column(expression: Expression, count: int) -> int | None:
    """The column that a formula can be drawn against; None if it depends on several."""
    used = {token.column for token in expression.tokens if token.kind is TokenKind.VARIABLE}
    if not used and count == 1:
        return 0
    return used.pop() if len(used) == 1 else None


def _column_name(expression: Expression, column: int) -> str:
    names = {token.column: token.name for token in expression.library.variables}
    return names.get(column, f"x{column + 1}")


def _with_unit(name: str, units: Mapping[str, str] | None) -> str:
    unit = (units or {}).get(name)
    return label(name, _LONGEST_NAME) + (f" ({label(unit, _LONGEST_NODE)})" if unit else "")


def _points(axes: Axes, x: Floats, y: Floats, is_log: tuple[bool, bool], *, cells: int) -> None:
    if len(x) <= MOST_POINTS:
        # A few points are drawn above the line, many below it.
        size, alpha, order = (6.0, 1.0, 3) if len(x) <= 100 else (4.0, 0.5, 1)
        axes.plot(x, y, "o", color=COLOURS[0], markersize=size, alpha=alpha, markeredgewidth=0, zorder=order)
        return
    from matplotlib.colors import LinearSegmentedColormap, to_rgba

    # One colour of growing opacity works on any background.
    colours = LinearSegmentedColormap.from_list("density", [to_rgba(COLOURS[0], 0.15), to_rgba(COLOURS[0], 1.0)])
    axes.hexbin(
        *(x, y),
        gridsize=(50, cells),
        mincnt=1,
        bins="log",
        cmap=colours,
        linewidths=0,
        xscale="log" if is_log[0] else "linear",
        yscale="log" if is_log[1] else "linear",
    )


def _between(x: Floats, limits: tuple[float, float], is_log: bool) -> Floats:
    """Return the points of a curve: over the range of the data, and at the data; over the whole axis for one point."""
    given = np.unique(x)
    low, high = (float(given[0]), float(given[-1])) if len(given) > 1 else limits
    even = np.geomspace(low, high, 500) if is_log else np.linspace(low, high, 500)
    return np.clip(np.union1d(even, given[:: 1 + len(given) // MOST_POINTS]), low, high)


def _along(expression: Expression, x: Floats, column: int, count: int) -> Floats:
    """Return a formula's values along the one column, of `count`, that it depends on."""
    values = np.zeros((len(x), count))
    values[:, column] = x
    return expression.evaluate(values)


def _without_poles(y: Floats, limits: tuple[float, float]) -> Floats:
    """Break a curve where neighbouring points lie beyond opposite ends of the axis."""
    beyond = (y > limits[1]).astype(int) - (y < limits[0])
    out = y.copy()
    out[1:][beyond[1:] * beyond[:-1] < 0] = np.nan
    return out


def _fit_note(drawn: int, missing: int) -> str:
    notes = []
    if drawn > MOST_POINTS:
        notes.append(f"{drawn:,} samples drawn as a density: the stronger the colour, the more samples")
    if missing:
        notes.append(f"{missing:,} sample{'s' if missing > 1 else ''} without a finite value left out")
    return "; ".join(notes)


# --- Tree ------------------------------------------------------------------------------------------------------------


def node_label(token: Token, value: float) -> str:
    """Return what a node of a tree says."""
    if token.kind is TokenKind.OPERATOR:
        return _SIGNS.get(token.name, token.name)
    if token.kind is TokenKind.VARIABLE:
        return label(token.name, _LONGEST_NODE)
    number = value if token.kind is TokenKind.CONSTANT else token.value
    return decimal(number, DIGITS).replace("-", "−")


def _width(text: str) -> float:
    """Return the approximate width of a node with that text, in points."""
    letters = sum(9.5 if unicodedata.east_asian_width(letter) in "WF" else 5.8 for letter in text)
    return max(letters, 10.0) + 8.0


def _draw_node(axes: Axes, place: tuple[float, float], text: str, kind: TokenKind) -> None:
    colours = {TokenKind.OPERATOR: (COLOURS[0], COLOURS[0], PAPER), TokenKind.VARIABLE: (PAPER, COLOURS[1], COLOURS[1])}
    face, edge, ink = colours.get(kind, (PAPER, EDGE, GREY))
    box = {"boxstyle": "round,pad=0.35,rounding_size=0.6", "facecolor": face, "edgecolor": edge, "linewidth": 1.0}
    axes.text(*place, text, ha="center", va="center", fontsize=9, color=ink, bbox=box, zorder=2)


def _depths_and_parents(arities: Sequence[int]) -> tuple[list[int], list[int | None]]:
    """Return the depth and the parent's position of each token of a prefix."""
    depths: list[int] = []
    parents: list[int | None] = []
    open_: list[int] = []  # each operator, once for each argument that is still missing
    for place, arity in enumerate(arities):
        parent = open_.pop() if open_ else None
        parents.append(parent)
        depths.append(0 if parent is None else depths[parent] + 1)
        open_ += [place] * arity
    return depths, parents


@dataclass(frozen=True, slots=True)
class _Branch:
    """The layout of a subtree whose root is at 0: positions in prefix order, and its extent at each depth."""

    places: list[float]
    left: list[float]
    right: list[float]


def _layout(arities: Sequence[int], sizes: Sequence[float], gap: float) -> list[float]:
    """Return coordinates of a prefix's nodes across the tree, by the layout of Reingold & Tilford (1981).

    Parents are centred over their arguments, equal subtrees have equal layouts, and two nodes of one depth are at least
    half their sizes and `gap` apart.
    """
    waiting: list[_Branch] = []
    for arity, size in zip(reversed(arities), reversed(sizes), strict=True):
        waiting.append(_joined(size, [waiting.pop() for _ in range(arity)], gap))
    return waiting[0].places


def _joined(size: float, branches: Sequence[_Branch], gap: float) -> _Branch:
    shifts: list[float] = []
    reach: list[float] = []  # to the right, of the branches so far
    for branch in branches:
        shift = max((right - left + gap for right, left in zip(reach, branch.left, strict=False)), default=0.0)
        shifts.append(shift)
        reach = [*(right + shift for right in branch.right), *reach[len(branch.right) :]]
    middle = (shifts[0] + shifts[-1]) / 2 if shifts else 0.0
    moved = [(branch, shift - middle) for branch, shift in zip(branches, shifts, strict=True)]
    left: list[float] = []
    for branch, shift in moved:
        left += [place + shift for place in branch.left[len(left) :]]
    return _Branch(
        [0.0, *itertools.chain.from_iterable([place + shift for place in branch.places] for branch, shift in moved)],
        [-size / 2, *left],
        [size / 2, *(right - middle for right in reach)],
    )
