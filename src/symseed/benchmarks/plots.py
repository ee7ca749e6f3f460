"""Figures of many runs: recovery by problem, by S, by expressions used and by noise, and time, beside the paper's.

Methods are compared on the problems that all of them have; noisy runs are only in the figure by noise. matplotlib is
needed to draw, not to import this module.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from symseed import benchmarks, methods
from symseed.benchmarks import report
from symseed.benchmarks.store import RunRecord
from symseed.errors import SettingsError
from symseed.show.style import COLOURS, EDGE, GREY, GRID, spread, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

FORMATS = ("svg", "png")

_DASHES = ("-", "--", ":", "-.")
_MARKERS = "os^vDPX"
_SHORTEST = 1e-3
"""Shortest time that is drawn, in seconds: shorter ones are drawn there, since a logarithmic axis has no 0."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure that can be drawn from records."""

    name: str
    """Name of the file, without its ending."""
    needs: str
    """The records that the plot needs, in words."""
    draw: Callable[[Sequence[RunRecord], Sequence[str]], Figure | None]
    """Draws all records for the methods to compare; if no method is given, for those that have records."""


def save(
    plot: Plot, records: Sequence[RunRecord], folder: Path, *, shown: Sequence[str] = (), form: str
) -> Path | None:
    """Draw a plot of the methods `shown` (all if it is empty) into a folder; None if records for it are missing.

    Raises:
        SettingsError: if matplotlib is missing, or a method of `shown` does not exist.
    """
    known = {record.method for record in records}
    for name in shown:
        if name not in known:
            methods.get(name)
    with style():
        figure = plot.draw(records, shown)
        if figure is None:
            return None
        path = folder / f"{plot.name}.{form}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, metadata={"Date": None} if form == "svg" else None)
        except OSError as error:
            raise SettingsError(f"The figures need a folder, but `{folder}` is not one: {error}.") from error
    return path


def _by_problem(records: Sequence[RunRecord], shown: Sequence[str]) -> Figure | None:
    built = report.build(_compared(records, shown))
    if not built.rows:
        return None
    panels = _Panels.of(built)
    for row in built.rows:
        axes, y, colour = panels.place(row)
        axes.plot(row.interval, (y, y), color=colour, linewidth=2, alpha=0.4, solid_capstyle="butt")
        axes.plot(row.percent, y, "o", color=colour, markersize=4, clip_on=False)
        if row.paper is not None:
            _hollow(axes, row.paper, y)
    for name, axes in panels.axes.items():
        mean = statistics.fmean(row.percent for row in built.rows if row.method == name)
        panels.title(name, f"{name}\n{mean:.1f} % on average")
        axes.set_xlim(-4, 104)
        axes.set_xticks(range(0, 101, 25))
    papers = any(row.paper is not None for row in built.rows)
    return panels.finish("recovered, %", "recovered, with 95 % interval", "the paper's" if papers else None)


def _by_generations(records: Sequence[RunRecord], shown: Sequence[str]) -> Figure | None:
    del shown  # the methods are those that differ in S
    from matplotlib.figure import Figure

    built = report.build(records)
    counts, middles, intervals = [], [], []
    for count, name in methods.GENERATIONS.items():
        mean = built.mean(name, "all")
        if mean is not None and mean.recovered is not None and mean.interval is not None:
            counts.append(count)
            middles.append(mean.recovered)
            intervals.append(mean.interval)
    if len(counts) < 2:
        return None
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.axvspan(10, 25, color=GRID, zorder=0)
    axes.annotate("best in the paper", (17.5, 0.03), xycoords=("data", "axes fraction"), color=GREY, ha="center")
    below = [middle - low for middle, (low, _) in zip(middles, intervals, strict=True)]
    above = [high - middle for middle, (_, high) in zip(middles, intervals, strict=True)]
    axes.errorbar(counts, middles, (below, above), fmt="o-", color=COLOURS[0], markersize=5, elinewidth=2, capsize=3)
    for count, middle, (_, high), after in zip(counts, middles, intervals, [*middles[1:], 0.0], strict=True):
        # Where the line rises, above would be on it.
        rises = after > middle
        axes.annotate(
            f"{middle:.1f}",
            (count, middle if rises else high),
            (6, -3) if rises else (0, 4),
            textcoords="offset points",
            ha="left" if rises else "center",
            va="top" if rises else "bottom",
            color=COLOURS[0],
        )
    for count, name in ((0, "dsr"), (25, "nggp")):
        _hollow(axes, count, report.paper().summary[name]["all"])
    axes.legend(
        handles=[_hollow_key("the paper's; at S = 0 its DSR")], loc="lower right", frameon=False, labelcolor=GREY
    )
    axes.set_xlabel("S, generations of genetic programming in a step")
    axes.set_ylabel("recovered, mean over the 37 problems, %")
    axes.set_xticks(counts)
    axes.margins(0.06, 0.12)
    return figure


def _by_expressions(records: Sequence[RunRecord], shown: Sequence[str]) -> Figure | None:
    from matplotlib.figure import Figure

    compared = _compared(records, shown)
    built = report.build(compared)
    if not any(record.is_recovered for record in compared):
        return None
    assert built.expressions is not None, "there are runs"
    names = [summary.method for summary in built.summaries]
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    ends = []
    for name, (dash, colour) in zip(names, itertools.cycle(itertools.product(_DASHES, COLOURS)), strict=False):
        # Problems weigh the same, however many runs each has, as in the tables.
        runs = {row.problem: row.runs for row in built.rows if row.method == name}
        done = sorted((r for r in compared if r.method == name and r.is_recovered), key=lambda record: record.charged)
        shares = list(itertools.accumulate(100 / runs[record.problem] / len(runs) for record in done))
        ends.append(shares[-1] if shares else 0.0)
        x = [max(record.charged, 1) for record in done]
        axes.step(
            [*x, max([built.expressions, *x[-1:]])],
            [*shares, ends[-1]],
            where="post",
            color=colour,
            linestyle=dash,
            linewidth=2,
        )
    labels = zip(names, ends, spread(ends, min(5.0, 100 / len(names))), _colours(names), strict=True)
    for name, end, place, colour in labels:
        axes.annotate(f"{name} {end:.1f}", (1.01, place), xycoords=("axes fraction", "data"), va="center", color=colour)
    _logarithmic(axes, ",.0f")
    axes.set_xlim(right=built.expressions)
    axes.set_ylim(0, 100)
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)
    count = len({row.problem for row in built.rows})
    axes.set_xlabel(f"expressions used ({len(compared):,} runs on {count} problem{'s' if count > 1 else ''})")
    axes.set_ylabel("runs that had recovered their target, %")
    return figure


def _time(records: Sequence[RunRecord], shown: Sequence[str]) -> Figure | None:
    compared = [record for record in _compared(records, shown) if not record.error]
    built = report.build(compared)
    if not built.rows:
        return None
    panels = _Panels.of(built)
    seconds: dict[tuple[str, str], list[float]] = {}
    for record in compared:
        seconds.setdefault((record.method, record.problem), []).append(max(record.cpu_seconds, _SHORTEST))
    papers = report.paper().runtime
    for row in built.rows:
        axes, y, colour = panels.place(row)
        times = seconds[row.method, row.problem]
        first, median, third = statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else times * 3
        axes.plot((min(times), max(times)), (y, y), color=colour, linewidth=1, alpha=0.5)
        axes.plot((first, third), (y, y), color=colour, linewidth=3, alpha=0.4, solid_capstyle="butt")
        axes.plot(median, y, "o", color=colour, markersize=4)
        if row.method == "nggp" and row.problem in papers:
            _hollow(axes, papers[row.problem], y)
    for name, axes in panels.axes.items():
        mean = statistics.fmean(statistics.fmean(times) for (method, _), times in seconds.items() if method == name)
        panels.title(name, f"{name}\n{mean:.2g} s on average")
        _logarithmic(axes, "g")
    has_paper = any(row.method == "nggp" and row.problem in papers for row in built.rows)
    paper = "the paper's, on its machine" if has_paper else None
    return panels.finish("CPU seconds of a run", "median, quartiles and range", paper)


_Points: TypeAlias = dict[float, tuple[float, tuple[float, float]]]
"""By level of noise: a mean in percent, and its interval."""


def _by_noise(records: Sequence[RunRecord], shown: Sequence[str]) -> Figure | None:
    from matplotlib.figure import Figure

    asked = [record for record in report.latest(records) if not shown or record.method in shown]
    noisy = {record.method for record in asked if record.noise}
    asked = [record for record in asked if record.method in noisy]
    tried, own = {record.problem for record in asked if record.noise}, report.problems_of("all")
    panels = []
    for part in (tried.intersection(own), tried.difference(own)):
        lines = report.by_noise(record for record in asked if record.problem in part)
        members = _common(lines)
        points = {name: _points(name, levels, members) for name, levels in lines.items()}
        if any(points.values()):
            panels.append((_title(members), points))
    levels = sorted({level for _, points in panels for line in points.values() for level in line})
    if len(levels) < 2:
        return None
    figure = Figure(figsize=(1.2 + 3.6 * len(panels), 3.9), layout="constrained")
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)
    names = list(report.by_noise(asked))
    drawn: dict[str, Any] = {}
    for axes, (title, points) in zip(grid.flat, panels, strict=True):
        axes.set_title(title, color=GREY, fontsize=9)
        axes.set_xticks(range(len(levels)), [f"{level:g}" for level in levels])
        axes.set_xlim(-0.5, len(levels) - 0.5)
        axes.set_ylim(0, 102)
        axes.grid(axis="y", color=GRID)
        axes.set_axisbelow(True)
        for name, line in points.items():
            if line:
                drawn[name] = _draw_line(axes, line, levels, names.index(name), len(names))
    figure.supxlabel("noise, of the target's root mean square", color=GREY, fontsize=9)
    figure.supylabel("recovered, %, with 95 % interval", color=GREY, fontsize=9)
    keys = {name: drawn[name] for name in names if name in drawn}
    figure.legend(list(keys.values()), list(keys), loc="outside upper center", ncols=4, frameon=False, labelcolor=GREY)
    return figure


def _common(lines: Mapping[str, Mapping[float, Sequence[RunRecord]]]) -> list[str]:
    """Return the problems that every line has, at some level."""
    had = [{run.problem for runs in levels.values() for run in runs} for levels in lines.values()]
    return sorted(set.intersection(*had)) if had else []


def _points(name: str, levels: Mapping[float, Sequence[RunRecord]], members: Sequence[str]) -> _Points:
    """Return a line's mean over problems at each level that has all of them."""
    points: _Points = {}
    for level, runs in levels.items():
        mean = report.mean_over(members, report.build(runs).rows, method=name)
        if mean.is_complete and mean.recovered is not None and mean.interval is not None:
            points[level] = mean.recovered, mean.interval
    return points


def _draw_line(axes: Axes, points: _Points, levels: Sequence[float], place: int, count: int) -> ErrorbarContainer:
    aside = 0.06 * (place - (count - 1) / 2)  # otherwise bars would hide each other
    below = [mean - low for mean, (low, _) in points.values()]
    above = [high - mean for mean, (_, high) in points.values()]
    is_again = place >= len(COLOURS)  # colours repeat, so lines differ in dashes too
    return axes.errorbar(
        [levels.index(level) + aside for level in points],
        [mean for mean, _ in points.values()],
        (below, above),
        color=COLOURS[place % len(COLOURS)],
        marker=_MARKERS[place % len(_MARKERS)],
        markersize=5,
        fillstyle="none" if is_again else "full",
        linewidth=1.5,
        linestyle="--" if is_again else "-",
        elinewidth=1,
        clip_on=False,
    )


def _title(members: Sequence[str]) -> str:
    own = report.problems_of("all")
    if set(members) == set(own):
        return f"the paper's {len(own)} problems"
    sets = (name for name, problems in benchmarks.SETS.items() if set(problems) == set(members))
    return next(sets, members[0] if len(members) == 1 else f"{len(members)} problems")


PLOTS = (
    Plot("recovery-by-problem", "methods on a problem that all of them have", _by_problem),
    Plot("recovery-by-generations", "two values of S (`nggp-s-5`, ...) on all 37 problems", _by_generations),
    Plot("recovery-by-expressions", "a run that recovered its target", _by_expressions),
    Plot("time", "a run that ended well", _time),
    Plot("recovery-by-noise", "two levels of noise on a problem that all methods have", _by_noise),
)
"""All plots."""


@dataclass(frozen=True, slots=True)
class _Panels:
    """One narrow panel for each method, side by side, with a line for each problem."""

    figure: Figure
    axes: Mapping[str, Axes]
    lines: Mapping[str, int]
    """Line of each problem."""
    colours: Mapping[str, str]

    @classmethod
    def of(cls, built: report.Report) -> _Panels:
        from matplotlib.figure import Figure

        names = [summary.method for summary in built.summaries]
        found = dict.fromkeys(row.problem for row in built.rows)
        problems = list(dict.fromkeys([*filter(found.__contains__, report.problems_of("all")), *found]))
        across = min(len(names), 5)
        down = -(-len(names) // across)
        figure = Figure(figsize=(1.6 + 1.9 * across, 0.6 + down * (0.9 + 0.175 * len(problems))), layout="constrained")
        grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
        for spare in grid.flat[len(names) :]:
            spare.set_visible(False)
        panels = cls(
            figure,
            dict(zip(names, grid.flat, strict=False)),
            {problem: place for place, problem in enumerate(problems)},
            dict(zip(names, _colours(names), strict=True)),
        )
        for axes in panels.axes.values():
            panels._rule(axes, problems)
        return panels

    def _rule(self, axes: Axes, problems: Sequence[str]) -> None:
        axes.set_yticks(range(len(problems)), problems)
        axes.set_ylim(len(problems) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.tick_params(axis="x", labelbottom=True)
        axes.grid(color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines["left"].set_visible(False)
        for place, (one, other) in enumerate(itertools.pairwise(problems)):
            if one.rpartition("-")[0] != other.rpartition("-")[0]:
                axes.axhline(place + 0.5, color=EDGE, linewidth=0.8)

    def place(self, row: report.ProblemRow) -> tuple[Axes, int, str]:
        return self.axes[row.method], self.lines[row.problem], self.colours[row.method]

    def title(self, name: str, text: str) -> None:
        self.axes[name].set_title(text, color=self.colours[name], fontsize=9)

    def finish(self, label: str, mark: str, paper: str | None) -> Figure:
        from matplotlib.lines import Line2D

        self.figure.supxlabel(label, color=GREY, fontsize=9)
        handles = [Line2D([], [], color=GREY, marker="o", markersize=4, linewidth=2, label=mark)]
        if paper is not None:
            handles.append(_hollow_key(paper))
        self.figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False, labelcolor=GREY)
        return self.figure


def _compared(records: Sequence[RunRecord], shown: Sequence[str]) -> list[RunRecord]:
    """Return the records of the methods shown, without noise, on the problems that all of these have."""
    latest = [record for record in report.latest(records) if not record.noise]
    asked = [report.named(record) for record in latest if not shown or record.method in shown]
    problems: dict[str, set[str]] = {}
    for record in asked:
        problems.setdefault(record.method, set()).add(record.problem)
    common = set.intersection(*problems.values()) if problems else set()
    return [record for record in asked if record.problem in common]


def _colours(names: Sequence[str]) -> list[str]:
    return [colour for _, colour in zip(names, itertools.cycle(COLOURS), strict=False)]


def _logarithmic(axes: Axes, numbers: str) -> None:
    """Give the x axis a logarithmic scale; 2 and 5 are labelled too if it spans less than a decade and a half."""

    def between(value: float, _: object) -> str:
        low, high = axes.get_xlim()
        is_labelled = high < 10**1.5 * low and f"{value:e}"[0] in "25"
        return format(value, numbers) if is_labelled else ""

    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: format(value, numbers))
    axes.xaxis.set_minor_formatter(between)


def _hollow(axes: Axes, x: float, y: float) -> None:
    """Mark a value of the paper, large enough to be visible around a mark of ours."""
    axes.plot(x, y, "D", color=GREY, markersize=6, fillstyle="none", markeredgewidth=0.9, clip_on=False)


def _hollow_key(label: str) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=GREY, marker="D", markersize=6, fillstyle="none", linestyle="", label=label)
