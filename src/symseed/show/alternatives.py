"""A figure of formulas that explain the same data, and of the place where they differ most."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from symseed.data.dataset import Dataset
from symseed.errors import DataError
from symseed.language.tokens import TokenKind
from symseed.scoring.contrast import Contrast
from symseed.show.figures import MOST_POINTS, FrontRow, finished
from symseed.show.style import COLOURS, EDGE, GREY, label, style
from symseed.text import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZE = (6.0, 3.8)
"""Width and height of the figure, in inches."""
_LONGEST = 44
"""Most characters of a formula in the legend: as many as fit. Chosen by hand."""
_LONGEST_NAME = 32
"""Most characters of a name at an axis: chosen by hand."""
_STEPS = 400
"""Points of a curve."""
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
"""Styles of lines, so that curves on top of each other are seen."""


def plot_alternatives(
    equations: Sequence[FrontRow],
    contrast: Contrast,
    data: Dataset,
    *,
    target: str = "y",
    units: Mapping[str, str] | None = None,
) -> Figure:
    """Draw formulas along one column, with a mark where they differ most.

    The other columns have the values of that place. Samples are drawn if the formulas use no other column.

    Raises:
        DataError: if there are no formulas.
        SettingsError: if matplotlib is missing.
    """
    if not equations:
        raise DataError("`equations` must hold at least one formula to be drawn, but it is empty.")
    tokens = itertools.chain.from_iterable(item.expression.tokens for item in equations)
    columns = {token.name: token.column for token in tokens if token.kind is TokenKind.VARIABLE}
    name = contrast.moved or next(iter(contrast.at))
    column = columns[name]
    low, high = float(data.X[:, column].min()), float(data.X[:, column].max())
    along = np.linspace(low, high, _STEPS)
    places = np.zeros((_STEPS, data.X.shape[1]))
    for other, value in contrast.at.items():
        places[:, columns[other]] = value
    places[:, column] = along
    with style():
        from symseed.show.picture import Picture

        figure = Picture(figsize=_SIZE, layout="constrained")
        axes = figure.subplots()
        axes.tick_params(labelsize=8)
        if len(contrast.at) == 1:
            few = data.sampled(MOST_POINTS, 0)
            axes.plot(few.X[:, column], few.y, "o", color=EDGE, markersize=4, markeredgewidth=0)
        for place, item in enumerate(equations):
            weight = "" if item.weight is None else f"{percent(item.weight)}  "
            axes.plot(
                along,
                item.expression.evaluate(places),
                linestyle=_LINES[place % len(_LINES)],
                color=COLOURS[place % len(COLOURS)],
                linewidth=1.6,
                label=weight + label(item.text, _LONGEST),
            )
        axes.axvline(contrast.at[name], color=GREY, linewidth=1.0, linestyle=":")
        axes.set_xlabel(_named(name, units))
        axes.set_ylabel(_named(target, units))
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, fontsize=8)
        others = [f"{other} = {value:.4g}" for other, value in contrast.at.items() if other != name]
        note = f"they differ most at the dotted line, {name} = {contrast.at[name]:.4g}"
        figure.supxlabel(label(", ".join([note, *others]), 2 * _LONGEST), fontsize=8, color=GREY)
        return finished(figure)


def _named(name: str, units: Mapping[str, str] | None) -> str:
    unit = (units or {}).get(name)
    return label(name, _LONGEST_NAME) + (f" ({label(unit, _LONGEST_NAME)})" if unit else "")
