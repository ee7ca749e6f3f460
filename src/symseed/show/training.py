"""Figure of how a search learnt: rewards of samples and of evolved formulas, entropy, and what found improvements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from symseed.errors import DataError
from symseed.portfolio.progress import Moment, TrackLearning
from symseed.search import Part
from symseed.show.figures import finished, loss_axis
from symseed.show.style import COLOURS, EDGE, GREY, GRID, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDE, _EACH = 6.0, 2.4
"""Width of the figure of one search, and of each of several searches, in inches."""
_MARKERS = {
    Part.POLICY: ("o", COLOURS[0]),
    Part.RANDOM: ("v", COLOURS[0]),
    Part.EVOLUTION: ("^", COLOURS[1]),
    Part.COMPLETION: ("D", COLOURS[1]),
    Part.ASSEMBLY: ("s", GREY),
    Part.KNOWN: ("*", GREY),
    Part.MEAN: ("X", EDGE),
    Part.STRUCTURE: ("P", GREY),
    Part.NETWORK: ("h", COLOURS[0]),
}


def plot_training(history: Sequence[Moment]) -> Figure:
    """Draw how the searches learnt, against the number of formulas tried.

    On top is the loss of the selected formula, with a mark for each part that found a better one. Below, for each
    search: the mean reward of the policy's samples and of evolved formulas, each with the band between the worst and
    the best tenth, and the entropy of the policy.

    Raises:
        DataError: if the history holds no statistics of a search.
        SettingsError: if matplotlib is missing.
    """
    tracks = sorted({item.track for moment in history for item in moment.learning})
    if not tracks:
        raise DataError(
            "`history` must hold statistics of a search to be drawn, but it has none: no search took a turn, or the "
            "run was made by an earlier version."
        )
    with style():
        from symseed.show.picture import Picture

        figure = Picture(figsize=(max(_WIDE, _EACH * len(tracks)), 5.6), layout="constrained")
        grid = figure.add_gridspec(3, len(tracks), height_ratios=(1.3, 1.3, 1.0))
        _improvements(figure.add_subplot(grid[0, :]), history)
        first: tuple[Axes, Axes] | None = None
        for column, track in enumerate(tracks):
            records = [(moment.charged, item) for moment in history for item in moment.learning if item.track == track]
            rewards = figure.add_subplot(grid[1, column], sharey=None if first is None else first[0])
            entropy = figure.add_subplot(grid[2, column], sharex=rewards, sharey=None if first is None else first[1])
            _rewards(rewards, records)
            _entropy(entropy, records)
            if len(tracks) > 1:
                rewards.set_title(f"search {track}", loc="left", fontsize=9, color=GREY, pad=18)  # above the legend
            if first is None:
                first = rewards, entropy
                rewards.set_ylabel("reward")
                entropy.set_ylabel("entropy, nats\nper token")
                _legend(rewards)
        for axes in figure.axes:
            _ruled(axes, max(moment.charged for moment in history), ticks=4 if len(tracks) == 1 else 2)
        return finished(figure)


def _improvements(axes: Axes, history: Sequence[Moment]) -> None:
    """Draw the loss of the selected formula, with a mark for the part that found it."""
    shown = [moment for moment in history if math.isfinite(moment.loss)]
    heights = loss_axis(axes, [moment.loss for moment in shown])
    axes.step([moment.charged for moment in shown], heights, where="post", color=EDGE, linewidth=1.2, zorder=1)
    for part, (marker, colour) in _MARKERS.items():
        places = [place for place, moment in enumerate(shown) if moment.found_by is part]
        if places:
            x, y = [shown[place].charged for place in places], [heights[place] for place in places]
            axes.plot(x, y, marker, color=colour, markersize=6, label=part.value, zorder=2)
    axes.set_ylabel("loss")
    axes.set_xlabel("formulas tried")
    if axes.get_legend_handles_labels()[0]:
        _legend(axes)
        axes.set_title("selected formula, found by", loc="left", fontsize=8, color=GREY)


def _rewards(axes: Axes, records: Sequence[tuple[int, TrackLearning]]) -> None:
    axes.tick_params(labelbottom=False)
    for name, words, colour in (("sampled", "samples", COLOURS[0]), ("evolved", "evolved", COLOURS[1])):
        batches = [(x, getattr(item.learning, name)) for x, item in records if getattr(item.learning, name) is not None]
        if batches:
            x = [x for x, _ in batches]
            axes.fill_between(
                x,
                [batch.low for _, batch in batches],
                [batch.high for _, batch in batches],
                color=colour,
                alpha=0.15,
                linewidth=0,
            )
            marker = "o" if len(x) == 1 else ""
            axes.plot(x, [batch.mean for _, batch in batches], color=colour, linewidth=1.6, marker=marker, label=words)


def _entropy(axes: Axes, records: Sequence[tuple[int, TrackLearning]]) -> None:
    axes.set_xlabel("formulas tried")
    points = [(x, item.learning.entropy) for x, item in records if item.learning.entropy is not None]
    marker = "o" if len(points) == 1 else ""
    axes.plot([x for x, _ in points], [y for _, y in points], color=COLOURS[0], linewidth=1.6, marker=marker)


def _legend(axes: Axes) -> None:
    """Name the lines and marks above the axes, where they hide nothing."""
    axes.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 0.98),
        ncols=len(_MARKERS),
        frameon=False,
        fontsize=8,
        labelcolor=GREY,
        columnspacing=1.2,
        handletextpad=0.4,
        handlelength=1.2,
    )


def _ruled(axes: Axes, most: int, *, ticks: int) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.grid(color=GRID)
    axes.set_axisbelow(True)
    axes.set_xlim(-0.02 * most, 1.02 * most + 1.0)
    axes.xaxis.set_major_locator(MaxNLocator(ticks))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1e6:g} M" if value >= 1e6 else f"{value:,.0f}")
