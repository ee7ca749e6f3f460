"""Recovery rates from records of runs, beside those of the paper: as text, Markdown, CSV or JSON.

`benchmarks/paper.toml` has the paper's figures. A run that failed counts as a run that did not recover its target.
"""

from __future__ import annotations

import csv
import importlib.resources
import io
import json
import math
import re
import statistics
import sys
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from symseed import benchmarks, methods
from symseed.bench import RunRecord
from symseed.errors import DataError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NOTHING = "There are no records to report."

_SETS: Mapping[str, tuple[str, ...]] = types.MappingProxyType(
    {
        "all": ("Nguyen-paper", "R-paper", "Livermore"),
        "nguyen": ("Nguyen-paper",),
        "r": ("R-paper",),
        "livermore": ("Livermore",),
    }
)
"""The sets of the catalogue that a summary's key stands for: those of the paper's Table 2."""
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
    "Charged",
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
_Z = statistics.NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Paper:
    """The paper's recovery rates in percent, by method and then by problem or by set."""

    problems: Mapping[str, Mapping[str, float]]
    summary: Mapping[str, Mapping[str, float]]
    nguyen_plain: Mapping[str, float]
    """Means over Nguyen-1 to Nguyen-12, where `summary` has Nguyen-12* for the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The runs of one method on one problem."""

    method: str
    problem: str
    recovered: int
    """Runs whose answer is the target, symbolically."""
    passes_reference: int
    """Runs that pass the released code's test."""
    runs: int
    """All of them, those that failed included."""
    failed: int
    interval: tuple[float, float]
    """95 % interval of the recovery rate, in percent."""
    charged: float | None
    """Median of the runs that did not fail, None where all did."""
    cpu_seconds: float | None
    """Likewise."""
    paper: float | None
    """The paper's recovery rate in percent, None where it has none."""

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
    """Means over the problems of a set that have runs, in percent, None where none has."""

    recovered: float | None
    reference: float | None
    """By the released code's test."""
    paper: float | None
    """Over the whole set."""
    covered: int
    """How many of the set's problems have runs."""
    size: int


@dataclass(frozen=True, slots=True)
class Summary:
    """One method's means by set: "all", "nguyen", "r" and "livermore"."""

    method: str
    means: Mapping[str, SetMean]


@dataclass(frozen=True, slots=True)
class Report:
    """What records of runs say, in the order of the methods and of the catalogue."""

    rows: tuple[Row, ...] = ()
    summaries: tuple[Summary, ...] = ()
    expressions: int | None = None
    """The budget of every run, None where there are no runs."""

    def text(self) -> str:
        """Return two tables with aligned columns: means by set, then every problem."""
        if not self.rows:
            return NOTHING + "\n"
        tables = (_aligned(_SUMMARY_HEADER, self._summary_cells()), _aligned(_ROW_HEADER, self._row_cells()))
        return "\n".join((self._title() + "\n", *tables))

    def markdown(self) -> str:
        """Return the same two tables in Markdown."""
        if not self.rows:
            return NOTHING + "\n"
        tables = (_piped(_SUMMARY_HEADER, self._summary_cells()), _piped(_ROW_HEADER, self._row_cells()))
        return "\n".join((self._title() + "\n", *tables))

    def csv(self) -> str:
        """Return one line for each method and problem; no cell can be taken for a spreadsheet's formula."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_CSV_HEADER)
        for row in self.rows:
            counts = (row.runs, row.recovered, row.percent, *row.interval, row.passes_reference, row.failed)
            writer.writerow(
                (_harmless(row.method), _harmless(row.problem), *counts, row.charged, row.cpu_seconds, row.paper)
            )
        return file.getvalue()

    def json(self) -> str:
        """Return an object of two: `summary`, percentages by method, and `problems`, by method and problem."""
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
                _printable(summary.method),
                key,
                f"{mean.covered} of {mean.size}",
                *(_number(value, 2) for value in (mean.recovered, mean.reference, mean.paper)),
            )
            for summary in self.summaries
            for key, mean in summary.means.items()
        ]

    def _row_cells(self) -> list[tuple[str, ...]]:
        return [
            (
                _printable(row.method),
                _printable(row.problem),
                *(str(row.runs), str(row.recovered), _number(row.percent, 1)),
                f"{row.interval[0]:.1f} to {row.interval[1]:.1f}",
                *(str(row.passes_reference), str(row.failed)),
                *(_number(row.charged, 0), _number(row.cpu_seconds, 1), _number(row.paper, 0)),
            )
            for row in self.rows
        ]


def paper() -> Paper:
    """Read the paper's figures."""
    file = importlib.resources.files("symseed.benchmarks") / "paper.toml"
    return Paper(**tomllib.loads(file.read_text(encoding="utf-8")))


def wilson(successes: int, runs: int) -> tuple[float, float]:
    """Return the 95 % interval of a rate by Wilson's score, in percent; without runs it is everything."""
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


def build(records: Iterable[RunRecord]) -> Report:
    """Return the report of records; of two with the same key the later one counts, and draws are pooled.

    Raises:
        DataError: where the runs had different budgets.
    """
    runs = list({record.key: record for record in records}.values())
    if not runs:
        return Report()
    budgets = sorted({record.expressions for record in runs})
    if len(budgets) > 1:
        found = ", ".join(f"{budget:,}" for budget in budgets)
        raise DataError(f"Records must be of one budget, but these are of {found} expressions. Report each by itself.")
    figures = paper()
    groups: dict[tuple[str, str], list[RunRecord]] = {}
    for record in runs:
        groups.setdefault((record.method, record.problem), []).append(record)
    method_names = _ordered({method for method, _ in groups}, methods.METHODS)
    problem_names = _ordered({problem for _, problem in groups}, benchmarks.names())
    pairs = [(method, problem) for method in method_names for problem in problem_names if (method, problem) in groups]
    rows = tuple(_row(groups[pair], figures.problems.get(pair[0], {}).get(pair[1])) for pair in pairs)
    summaries = tuple(_summary(name, rows, figures.summary.get(name, {})) for name in method_names)
    return Report(rows, summaries, budgets[0])


def _ordered(found: set[str], known: Iterable[str]) -> list[str]:
    """Sort names as the known ones are; others come last, by name."""
    order = [name for name in known if name in found]
    return order + sorted(found.difference(order))


def _row(records: Sequence[RunRecord], figure: float | None) -> Row:
    recovered = sum(record.is_recovered for record in records)
    ended = [record for record in records if not record.error]
    return Row(
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


def _summary(method: str, rows: Iterable[Row], figures: Mapping[str, float]) -> Summary:
    own = {row.problem: row for row in rows if row.method == method}
    means = {}
    for key, sets in _SETS.items():
        members = [problem for name in sets for problem in benchmarks.SETS[name]]
        found = [own[problem] for problem in members if problem in own]
        means[key] = SetMean(
            recovered=statistics.fmean(row.percent for row in found) if found else None,
            reference=statistics.fmean(row.reference_percent for row in found) if found else None,
            paper=figures.get(key),
            covered=len(found),
            size=len(members),
        )
    return Summary(method, types.MappingProxyType(means))


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _printable(name: str) -> str:
    """Return a name that may come from anywhere such that it cannot break a line or steer a terminal."""
    return name if name.isprintable() else ascii(name)


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell


def _aligned(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Lay cells out in columns: the first two to the left, as they are names, all others to the right."""
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


def _piped(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rule = ["---" if index < 2 else "---:" for index in range(len(header))]
    escaped = [[re.sub(r"([\\`*_|<>\[\]])", r"\\\1", cell) for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in [header, rule, *escaped])
