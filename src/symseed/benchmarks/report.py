"""Recovery rates from records of runs, beside those of the paper: as text, Markdown, CSV or JSON.

`benchmarks/paper.toml` has the paper's figures. A run that failed counts as a run that did not recover its target.
Intervals are of 95 %: Wilson's score interval for a rate, and combinations of these for a mean or a difference.
"""

from __future__ import annotations

import csv
import functools
import importlib.resources
import io
import json
import math
import re
import statistics
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from symseed import benchmarks, files, methods
from symseed.benchmarks.store import RunRecord
from symseed.errors import DataError
from symseed.text import for_markdown, for_message, for_spreadsheet

NOTHING = "There are no records to report."

_SETS: Mapping[str, tuple[str, ...]] = types.MappingProxyType(
    {
        "all": ("Nguyen-paper", "R-paper", "Livermore"),
        "nguyen": ("Nguyen-paper",),
        "r": ("R-paper",),
        "livermore": ("Livermore",),
    }
)
"""The catalogue's sets for each key of a summary: those of the paper's Table 2."""
_FURTHER = types.MappingProxyType({"feynman": "Feynman", "feynman-bonus": "Feynman-bonus", "strogatz": "Strogatz"})
"""Sets whose means are reported if they have runs, by key."""
_SUMMARY_HEADER = ("Method", "Set", "Problems", "Recovered %", "Reference test %", "Paper %")
_ROW_HEADER = (
    "Method",
    "Problem",
    "Runs",
    "Recovered",
    "%",
    "95 %",
    "Reference",
    "Failed",
    "Expressions",
    "CPU s",
    "Paper",
)
_CSV_HEADER = (
    "method",
    "problem",
    "runs",
    "recovered",
    "percent",
    "low",
    "high",
    "passes_reference",
    "failed",
    "charged",
    "cpu_seconds",
    "paper",
)
_FIGURES = re.compile(r"\W*(\d.*)?")
"""A cell without words before its first digit."""
_Z = statistics.NormalDist().inv_cdf(0.975)
"""Standard deviations of a 95 % interval, to each side."""


Figures: TypeAlias = Mapping[str, Mapping[str, float]]
"""Numbers by method, and then by problem or set."""


@dataclass(frozen=True, slots=True)
class Paper:
    """The paper's figures: recovery rates in percent, by method and then by problem or by set; errors and times."""

    runs: int
    """Number of runs per method and problem in `summary`."""
    problems: Figures
    summary: Figures
    nguyen_plain: Mapping[str, float]
    """Means over Nguyen-1 to Nguyen-12, where `summary` has Nguyen-12* for the last."""
    intervals: Mapping[str, float]
    """Half the width of the interval of a mean in `summary`, by set."""
    jin: Figures
    """Mean root-mean-square errors, by method and problem."""
    neat: Figures
    """Median root-mean-square errors, by method and problem."""
    hard_cases: Figures
    """Smallest normalised mean square errors, by method and problem."""
    runtime: Mapping[str, float]
    """Seconds of a run of `nggp`, by problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemRow:
    """The runs of one method on one problem."""

    method: str
    problem: str
    recovered: int
    """Number of runs whose answer is proved equal to the target."""
    passes_reference: int
    """Number of runs that pass the released code's test."""
    runs: int
    """Number of runs, failed ones included."""
    failed: int
    interval: tuple[float, float]
    """95 % interval of the recovery rate, in percent."""
    charged: float | None
    """Median number of expressions that count towards the budget, of the runs that did not fail; None if all did."""
    cpu_seconds: float | None
    """Median CPU seconds of the runs that did not fail; None if all did."""
    paper: float | None
    """The paper's recovery rate in percent, None if it has none."""

    @property
    def percent(self) -> float:
        """Return the recovery rate."""
        return 100.0 * self.recovered / self.runs

    @property
    def reference_percent(self) -> float:
        """Return the share of runs that pass the released code's test."""
        return 100.0 * self.passes_reference / self.runs


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMean:
    """Means over the problems of a set that have runs, in percent, None if none has."""

    recovered: float | None
    reference: float | None
    """Mean recovery rate by the released code's test."""
    paper: float | None
    """The paper's mean recovery rate over the whole set."""
    covered: int
    """Number of problems of the set that have runs."""
    size: int
    interval: tuple[float, float] | None
    """95 % interval of `recovered` over other runs on the same problems."""
    runs: tuple[int, int] | None
    """Fewest and most runs of a problem."""

    @property
    def is_complete(self) -> bool:
        """Whether every problem of the set has runs, so that this can be compared with another mean over it."""
        return self.covered == self.size


@dataclass(frozen=True, slots=True)
class Summary:
    """One method's means by set: "all", "nguyen", "r" and "livermore", and those of further sets that have runs."""

    method: str
    means: Mapping[str, SetMean]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A recovery rate in percent, and the paper's."""

    method: str
    where: str
    """A problem, or a set's key."""
    ours: float
    paper: float
    interval: tuple[float, float]
    """95 % interval of our rate minus the paper's (Newcombe's, from the intervals of both)."""

    @property
    def differs(self) -> bool:
        """Whether the interval excludes 0; for one in twenty pairs of equal rates it does so by chance."""
        return not self.interval[0] <= 0.0 <= self.interval[1]


@dataclass(frozen=True, slots=True)
class Report:
    """Results of records of runs, in the order of the methods and of the catalogue."""

    rows: tuple[ProblemRow, ...] = ()
    summaries: tuple[Summary, ...] = ()
    expressions: int | None = None
    """The budget of every run, None if there are no runs."""

    def row(self, method: str, problem: str) -> ProblemRow | None:
        """Return the runs of a method on a problem, None if there are none."""
        return next((row for row in self.rows if (row.method, row.problem) == (method, problem)), None)

    def mean(self, method: str, key: str) -> SetMean | None:
        """Return a method's mean over a set, None unless every problem of it has runs."""
        found = next((summary.means[key] for summary in self.summaries if summary.method == method), None)
        return found if found is not None and found.is_complete else None

    def text(self) -> str:
        """Return two tables with aligned columns: means by set, then every problem."""
        if not self.rows:
            return NOTHING + "\n"
        tables = (aligned(_SUMMARY_HEADER, self._summary_cells()), aligned(_ROW_HEADER, self._row_cells()))
        return "\n".join((self._title() + "\n", *tables))

    def markdown(self) -> str:
        """Return the same two tables in Markdown."""
        if not self.rows:
            return NOTHING + "\n"
        tables = (piped(_SUMMARY_HEADER, self._summary_cells()), piped(_ROW_HEADER, self._row_cells()))
        return "\n".join((self._title() + "\n", *tables))

    def csv(self) -> str:
        """Return one line for each method and problem; no cell can be taken for a spreadsheet's formula."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_CSV_HEADER)
        for row in self.rows:
            counts = (row.runs, row.recovered, row.percent, *row.interval, row.passes_reference, row.failed)
            names = map(for_spreadsheet, (row.method, row.problem))
            writer.writerow((*names, *counts, row.charged, row.cpu_seconds, row.paper))
        return file.getvalue()

    def json(self) -> str:
        """Return an object with `summary`, percentages by method, and `problems`, by method and problem."""
        problems: dict[str, dict[str, object]] = {summary.method: {} for summary in self.summaries}
        for row in self.rows:
            problems[row.method][row.problem] = {
                "recovered": row.recovered,
                "runs": row.runs,
                "passes_reference": row.passes_reference,
                "interval": row.interval,
                "charged": row.charged,
                "cpu_seconds": row.cpu_seconds,
                "paper": row.paper,
            }
        summary = {summary.method: self._summary_json(summary) for summary in self.summaries}
        return json.dumps({"summary": summary, "problems": problems}, indent=2, allow_nan=False) + "\n"

    def _summary_json(self, summary: Summary) -> dict[str, object]:
        return {
            **{key: mean.recovered for key, mean in summary.means.items()},
            "reference": {key: mean.reference for key, mean in summary.means.items()},
            "paper": {key: mean.paper for key, mean in summary.means.items()},
            "covered": {key: [mean.covered, mean.size] for key, mean in summary.means.items()},
            "failed": sum(row.failed for row in self.rows if row.method == summary.method),
        }

    def _title(self) -> str:
        runs = sum(row.runs for row in self.rows)
        return f"Recovery rates of {runs:,} runs of at most {self.expressions:,} expressions."

    def _summary_cells(self) -> list[tuple[str, ...]]:
        return [
            (
                for_message(summary.method),
                key,
                f"{mean.covered} of {mean.size}",
                *(number(value, 2) for value in (mean.recovered, mean.reference, mean.paper)),
            )
            for summary in self.summaries
            for key, mean in summary.means.items()
        ]

    def _row_cells(self) -> list[tuple[str, ...]]:
        return [
            (
                for_message(row.method),
                for_message(row.problem),
                *(str(row.runs), str(row.recovered), number(row.percent, 1)),
                f"{row.interval[0]:.1f} to {row.interval[1]:.1f}",
                *(str(row.passes_reference), str(row.failed)),
                *(number(row.charged, 0), number(row.cpu_seconds, 1), number(row.paper, 0)),
            )
            for row in self.rows
        ]


@functools.cache
def paper() -> Paper:
    """Read the paper's figures."""
    file = importlib.resources.files("symseed.benchmarks") / "paper.toml"
    return Paper(**files.toml_values(file.read_text(encoding="utf-8")))


def wilson(successes: int, runs: int) -> tuple[float, float]:
    """Return the 95 % interval of a rate by Wilson's score, in percent; without runs, 0 to 100."""
    if not 0 <= successes <= runs:
        raise DataError(f"`successes` must be from 0 to `runs` ({runs}), but it is {successes}.")
    if runs == 0:
        return 0.0, 100.0
    rate, square = successes / runs, _Z**2 / runs
    middle = (rate + square / 2) / (1 + square)
    half = _Z * math.sqrt(rate * (1 - rate) / runs + square / (4 * runs)) / (1 + square)
    low = 0.0 if successes == 0 else 100 * (middle - half)
    high = 100.0 if successes == runs else 100 * (middle + half)
    return low, high


def latest(records: Iterable[RunRecord]) -> list[RunRecord]:
    """Return one record of each run: if two have the same key, the later one."""
    return list({record.key: record for record in records}.values())


def time_limit(record: RunRecord) -> float | None:
    """Return the seconds that a run was given, None if that is its method's own budget."""
    method = methods.METHODS.get(record.method)
    return None if method is not None and record.seconds == method.budget.seconds else record.seconds


def label(record: RunRecord) -> str:
    """Return the name under which a run is reported: its method, a time limit that is not the method's, the noise."""
    limit = time_limit(record)
    time = "" if limit is None else f", {limit:g} s"
    return f"{record.method}{time}" + (f", noise {record.noise:g}" if record.noise else "")


def named(record: RunRecord) -> RunRecord:
    """Return a record with its label as its method, and without what the label says."""
    return replace(record, method=label(record), seconds=None, noise=0.0)


def by_noise(records: Iterable[RunRecord]) -> dict[str, dict[float, list[RunRecord]]]:
    """Return runs by label without the noise, in the order of the methods, and then by level of noise."""
    order = {name: place for place, name in enumerate(methods.METHODS)}
    runs = [(record, named(replace(record, noise=0.0))) for record in latest(records)]
    runs.sort(key=lambda pair: (order.get(pair[0].method, len(order)), pair[1].method, pair[0].noise))
    levels: dict[str, dict[float, list[RunRecord]]] = {}
    for record, run in runs:
        levels.setdefault(run.method, {}).setdefault(record.noise, []).append(run)
    return levels


def mean_over(
    members: Sequence[str], rows: Iterable[ProblemRow], *, method: str, figure: float | None = None
) -> SetMean:
    """Return a method's means over problems; `figure` is the paper's."""
    own = {row.problem: row for row in rows if row.method == method}
    found = [own[problem] for problem in members if problem in own]
    mean = statistics.fmean(row.percent for row in found) if found else None
    interval = None
    if mean is not None:
        # Wilson's interval has a width even if all runs agree; one from a standard error would not.
        below = _root_sum([row.percent - row.interval[0] for row in found]) / len(found)
        above = _root_sum([row.interval[1] - row.percent for row in found]) / len(found)
        interval = mean - below, mean + above
    return SetMean(
        recovered=mean,
        reference=statistics.fmean(row.reference_percent for row in found) if found else None,
        paper=figure,
        covered=len(found),
        size=len(members),
        interval=interval,
        runs=(min(row.runs for row in found), max(row.runs for row in found)) if found else None,
    )


def problems_of(key: str) -> tuple[str, ...]:
    """Return the problems of a summary's set: "all", "nguyen", "r" or "livermore"."""
    return tuple(problem for name in _SETS[key] for problem in benchmarks.SETS[name])


def comparisons(built: Report) -> list[Comparison]:
    """Return each method's means over sets, and `nggp` on each of the 37 problems, beside the paper's.

    Sets without runs on all their problems are left out. The paper prints one interval for all methods; we take it for
    `nggp-slp-her` too, for which it prints none.
    """
    found: list[Comparison] = []
    for summary in built.summaries:
        means = (compared_mean(summary.method, key, mean, mean.paper) for key, mean in summary.means.items())
        found += [compared for compared in means if compared is not None]
    rows = (built.row("nggp", problem) for problem in problems_of("all"))
    return found + [compared for compared in map(compared_row, rows) if compared is not None]


def compared_mean(method: str, key: str, mean: SetMean | None, figure: float | None) -> Comparison | None:
    """Return a method's mean over a set beside a figure of the paper; None if either is missing or incomplete."""
    if mean is None or figure is None or not mean.is_complete:
        return None
    assert mean.recovered is not None, "the set has runs"
    assert mean.interval is not None, "a mean has an interval"
    half = paper().intervals[key]
    return _comparison(method, key, (mean.recovered, mean.interval), (figure, (figure - half, figure + half)))


def compared_row(row: ProblemRow | None, figure: float | None = None) -> Comparison | None:
    """Return a method's rate on a problem beside the paper's figure of it, or another; None without either."""
    runs = paper().runs
    value = figure if row is None or figure is not None else row.paper
    if row is None or value is None:
        return None
    theirs = value, wilson(round(value * runs / 100), runs)
    return _comparison(row.method, row.problem, (row.percent, row.interval), theirs)


def rmse(record: RunRecord) -> float:
    """Return the root of a run's mean square error on the test data."""
    return math.sqrt(record.test_nmse) * _test_deviation(record.problem, record.draw)


def build(records: Iterable[RunRecord]) -> Report:
    """Return the report of records; if two have the same key, the later one counts. Draws are pooled.

    Runs on noisy data, or with a time limit that is not their method's own, are rows of their own (`label`).

    Raises:
        DataError: if the runs of one method had different budgets.
    """
    runs = [named(record) for record in latest(records)]
    if not runs:
        return Report()
    budgets: dict[str, set[int]] = {}
    for record in runs:
        budgets.setdefault(record.method, set()).add(record.expressions)
    for method, found in budgets.items():
        if len(found) > 1:
            amounts = ", ".join(f"{budget:,}" for budget in sorted(found))
            raise DataError(
                f"Records of a method must be of one budget, but those of `{method}` are of {amounts} expressions. "
                "Report each by itself."
            )
    figures = paper()
    groups: dict[tuple[str, str], list[RunRecord]] = {}
    for record in runs:
        groups.setdefault((record.method, record.problem), []).append(record)
    method_names = _ordered({method for method, _ in groups}, methods.METHODS)
    problem_names = _ordered({problem for _, problem in groups}, benchmarks.names())
    pairs = [(method, problem) for method in method_names for problem in problem_names if (method, problem) in groups]
    rows = tuple(_row(groups[pair], figures.problems.get(pair[0], {}).get(pair[1])) for pair in pairs)
    summaries = tuple(_summary(name, rows, figures.summary.get(name, {})) for name in method_names)
    return Report(rows, summaries, max(max(found) for found in budgets.values()))


def _ordered(found: set[str], known: Iterable[str]) -> list[str]:
    """Sort names in the order of the known ones; unknown names come last, by name."""
    order = [name for name in known if name in found]
    return order + sorted(found.difference(order))


def _row(records: Sequence[RunRecord], figure: float | None) -> ProblemRow:
    recovered = sum(record.is_recovered for record in records)
    ended = [record for record in records if not record.error]
    return ProblemRow(
        method=records[0].method,
        problem=records[0].problem,
        recovered=recovered,
        passes_reference=sum(record.passes_reference for record in records),
        runs=len(records),
        failed=len(records) - len(ended),
        interval=wilson(recovered, len(records)),
        charged=statistics.median(record.charged for record in ended) if ended else None,
        cpu_seconds=statistics.median(record.cpu_seconds for record in ended) if ended else None,
        paper=figure,
    )


def _summary(method: str, rows: Sequence[ProblemRow], figures: Mapping[str, float]) -> Summary:
    means = {key: mean_over(problems_of(key), rows, method=method, figure=figures.get(key)) for key in _SETS}
    further = {key: mean_over(benchmarks.SETS[name], rows, method=method) for key, name in _FURTHER.items()}
    means |= {key: mean for key, mean in further.items() if mean.covered}
    return Summary(method, types.MappingProxyType(means))


_Estimate: TypeAlias = tuple[float, tuple[float, float]]
"""A rate in percent and its interval."""


def _comparison(method: str, where: str, ours: _Estimate, theirs: _Estimate) -> Comparison:
    (rate, (low, high)), (figure, (figure_low, figure_high)) = ours, theirs
    below = _root_sum([rate - low, figure_high - figure])
    above = _root_sum([high - rate, figure - figure_low])
    gap = rate - figure
    return Comparison(method, where, rate, figure, (gap - below, gap + above))


def _root_sum(widths: Iterable[float]) -> float:
    """Return one side of the interval of a sum of independent estimates from those of its parts."""
    return math.sqrt(math.fsum(width**2 for width in widths))


@functools.cache
def _test_deviation(problem: str, draw: int) -> float:
    return float(benchmarks.get(problem).datasets(draw)[1].deviation)


def number(value: float | None, digits: int) -> str:
    """Return a number with `digits` digits after the point, or `-` for None."""
    return "-" if value is None else f"{value:,.{digits}f}"


def aligned(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table as text, its first two columns, which are names, aligned to the left, all others to the right."""
    table = [header, *lines]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    text = ""
    for line in table:
        cells = [
            cell.ljust(width) if index < 2 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        text += "  ".join(cells).rstrip() + "\n"
    return text


def piped(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown whose cells are taken as they are, figures after the first column to the right."""
    table = [tuple(line) for line in lines]
    figures = [all(map(_FIGURES.fullmatch, column)) for column in zip(*table, strict=True)] or [True] * len(header)
    rule = ["---:" if index and is_figures else "---" for index, is_figures in enumerate(figures)]
    escaped = [map(for_markdown, line) for line in table]
    return "".join(f"| {' | '.join(line)} |\n" for line in [header, rule, *escaped])
