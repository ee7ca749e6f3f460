"""Write the tables and figures of results.md from the records in docs/records: `python docs/results.py [--check]`.

A block of the page is what stands between `<!-- begin NAME: command -->` and `<!-- end NAME -->`; all else is written
by hand. With `--check` nothing is written, and a block that is not what the records give is an error.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from symseed import benchmarks, plots, report
from symseed.bench import RunRecord, Store
from symseed.errors import DataError

FOLDER = Path(__file__).parent
PAGE = FOLDER / "results.md"
RECORDS = FOLDER / "records"
FIGURES = FOLDER / "figures"

ALL = ("Nguyen-paper", "R-paper", "Livermore")
"""The sets of the paper's 37 problems."""
MAIN = ("nggp", "gegl", "gp-restarts", "dsr")
ABLATIONS = (
    *("nggp", "nggp-no-rnn-samples", "nggp-vpg", "nggp-entropy-0", "nggp-rspg", "nggp-uniform-mutation"),
    *("nggp-no-constraints", "nggp-uniform-mutation-no-constraints", "nggp-no-gp-samples", "nggp-lr-0"),
    *("gp-restarts", "nggp-random-seeds", "nggp-lr-0-random-seeds", "dsr"),
)
EXTRA_ABLATIONS = ("nggp-pm-0.1", "nggp", "nggp-tournament-3", "nggp-batch-1000", "nggp-lr-0.0005")
SET_TITLES = {"all": "All", "nguyen": "Nguyen", "r": "R", "livermore": "Livermore"}
DEFAULT_SEEDS = "0:25"
"""Of a method that has no records yet."""


@dataclass(frozen=True, slots=True)
class Source:
    """What blocks are made of."""

    records: Sequence[RunRecord]
    built: report.Report
    paper: report.Paper

    @classmethod
    def of(cls, records: Sequence[RunRecord]) -> Source:
        """Report records."""
        runs = report.latest(records)
        return cls(runs, report.build(runs), report.paper())

    def ended(self, method: str, problem: str) -> list[RunRecord]:
        """Return the runs that did not fail."""
        return [r for r in self.records if (r.method, r.problem) == (method, problem) and not r.error]


@dataclass(frozen=True, slots=True)
class Block:
    """A generated part of the page, and the runs that it is of."""

    table: Callable[[Source], str]
    problems: tuple[str, ...] = ALL
    """Problems or sets."""
    method_names: tuple[str, ...] = ()
    figure: str = ""
    """The name of the plot below the table."""


def main() -> int:
    """Write the page and its figures, or check the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a block is out of date")
    check = parser.parse_args().check
    records = Store(RECORDS).read()
    if not check:
        draw(records)
    page = PAGE.read_text(encoding="utf-8")
    written = update(page, Source.of(records))
    if not check:
        PAGE.write_text(written, encoding="utf-8")
        print(f"{len(BLOCKS)} blocks of {PAGE.name} from {len(records):,} records")
    elif written != page:
        print(f"{PAGE.name} is not what the records give. Run `python docs/results.py`.", file=sys.stderr)
        return 1
    return 0


def draw(records: Sequence[RunRecord]) -> None:
    """Draw all figures for which there are records."""
    for plot in plots.PLOTS:
        path = plots.save(plot, records, FIGURES, shown=MAIN, form="svg")
        print(f"{plot.name}: no records of {plot.needs}" if path is None else path.relative_to(FOLDER))


def update(page: str, source: Source) -> str:
    """Return the page with every block as the records give it.

    Raises:
        DataError: where the page lacks a block, or has one that is unknown.
    """
    found = re.findall(r"^<!-- begin ([\w-]+): ", page, re.MULTILINE)
    if sorted(found) != sorted(BLOCKS):
        wrong = ", ".join(sorted(set(found) ^ set(BLOCKS))) or "one of them twice"
        raise DataError(f"{PAGE.name} must have each of the blocks {', '.join(BLOCKS)} once. Look at {wrong}.")
    for name, block in BLOCKS.items():
        pattern = rf"(^<!-- begin {name}: [^\n]* -->\n).*?(^<!-- end {name} -->$)"
        match = re.search(pattern, page, re.MULTILINE | re.DOTALL)
        if match is None:
            raise DataError(f"Block `{name}` of {PAGE.name} must end in a line `<!-- end {name} -->`, but does not.")
        page = f"{page[: match.end(1)]}\n{_content(block, source)}\n{page[match.start(2) :]}"
    return page


def _content(block: Block, source: Source) -> str:
    text, commands = block.table(source), _commands(block, source)
    if block.figure:
        file = FIGURES / f"{block.figure}.svg"
        title = block.figure.replace("-", " ").capitalize()
        picture = (
            f"![{title}](figures/{file.name})" if file.exists() else f"{title}: no figure yet, for want of records."
        )
        text += f"\n{picture}\n"
        commands.append(f"symseed bench plot docs/records {_options(MAIN)} --output docs/figures")
    folded = [" \\\n  ".join(textwrap.wrap(command, 116, break_on_hyphens=False)) for command in commands]
    return text + ("\n```sh\n" + "\n".join(folded) + "\n```\n" if folded else "")


def _commands(block: Block, source: Source) -> list[str]:
    """Return the commands of the block's records, one for all methods that have the same seeds."""
    names = {problem.name for name in block.problems for problem in benchmarks.resolve(name)}
    groups: dict[str, list[str]] = {}
    for method in block.method_names:
        seeds = {r.seed for r in source.records if r.method == method and r.problem in names}
        groups.setdefault(f"{min(seeds)}:{max(seeds) + 1}" if seeds else DEFAULT_SEEDS, []).append(method)
    return [
        f"symseed bench run {' '.join(block.problems)} {_options(group)} --seeds {seeds} --store docs/records"
        for seeds, group in groups.items()
    ]


def _options(names: Sequence[str]) -> str:
    return " ".join(f"--method {name}" for name in names)


def _means(source: Source, names: Sequence[str], *, reference: bool = False) -> str:
    """Return a table of means by set; `reference` adds those by the released code's test."""
    lines = []
    for name in names:
        means = {key: source.built.mean(name, key) for key in SET_TITLES}
        figures = source.paper.summary.get(name, {})
        cells = [_beside(mean, figures.get(key)) for key, mean in means.items()]
        lines.append([name, *(["recovered"] if reference else []), _seeds(means["all"]), *cells])
        if reference:
            passed = [report.number(mean.reference if mean else None, 2) for mean in means.values()]
            lines.append(["", "released test", "", *passed])
    widths = [f"± {source.paper.intervals[key]:.2f}" for key in SET_TITLES]
    lines.append(["the paper's 95 %", *([""] if reference else []), "", *widths])
    return report.piped(["Method", *(["Test"] if reference else []), "Seeds", *SET_TITLES.values()], lines)


def _beside(mean: report.SetMean | None, figure: float | None) -> str:
    """Return a mean and its interval, and the paper's in parentheses."""
    ours = "-"
    if mean is not None:
        assert mean.interval is not None, "the set has runs"
        ours = f"{mean.recovered:.2f}, {mean.interval[0]:.2f} to {mean.interval[1]:.2f}"
    return f"{ours} ({report.number(figure, 2)})"


def _seeds(mean: report.SetMean | None) -> str:
    if mean is None or mean.runs is None:
        return "-"
    fewest, most = mean.runs
    return str(most) if fewest == most else f"{fewest} to {most}"


def _by_problem(source: Source, problems: Sequence[str], names: Sequence[str]) -> list[list[str]]:
    """Return a line for each problem: ours / the paper's."""
    lines = []
    for problem in problems:
        rows = [source.built.row(name, problem) for name in names]
        figures = [source.paper.problems.get(name, {}).get(problem) for name in names]
        pairs = zip(rows, figures, strict=True)
        cells = [
            f"{report.number(row.percent if row else None, 0)} / {report.number(figure, 0)}" for row, figure in pairs
        ]
        lines.append([problem, *cells])
    return lines


def _table_1(source: Source) -> str:
    return _means(source, MAIN, reference=True)


def _problems(source: Source) -> str:
    names = (*MAIN, "nggp-slp-her")
    lines = _by_problem(source, report.problems_of("all"), names)
    means = [(source.built.mean(name, "all"), source.paper.summary[name]["all"]) for name in names]
    mean_cells = [f"{report.number(mean.recovered if mean else None, 2)} / {figure:.2f}" for mean, figure in means]
    return report.piped(["Problem", *names], [*lines, ["Mean", *mean_cells]])


def _slp_her(source: Source) -> str:
    return _means(source, ("nggp", "nggp-slp-her"))


def _ablations(source: Source) -> str:
    return _means(source, ABLATIONS)


def _extra_ablations(source: Source) -> str:
    return _means(source, EXTRA_ABLATIONS)


def _generations(source: Source) -> str:
    lines = []
    for count, name in report.by_generations(source.built).items():
        means = [source.built.mean(name, key) for key in SET_TITLES]
        lines.append([str(count), name, _seeds(means[0]), *(_ours(mean) for mean in means)])
    return report.piped(["S", "Method", "Seeds", *SET_TITLES.values()], lines)


def _ours(mean: report.SetMean | None) -> str:
    return _beside(mean, None).removesuffix(" (-)")


def _nguyen(source: Source) -> str:
    names, members = ("nggp", "dsr", "pqt", "vpg", "gp"), benchmarks.SETS["Nguyen"]
    averages = ["Mean"]
    for name in names:
        mean = report.mean_over(members, source.built.rows, method=name, figure=source.paper.nguyen_plain[name])
        ours = mean.recovered if mean.is_complete else None
        averages.append(f"{report.number(ours, 1)} / {report.number(mean.paper, 1)}")
    return report.piped(["Problem", *names], [*_by_problem(source, members, names), averages])


def _jin(source: Source) -> str:
    return _errors(source, "Jin", source.paper.jin, "mean", statistics.fmean)


def _neat(source: Source) -> str:
    return _errors(source, "Neat", source.paper.neat, "median", statistics.median)


def _errors(
    source: Source,
    name: str,
    figures: report.Figures,
    word: str,
    average: Callable[[Sequence[float]], float],
) -> str:
    lines, averages = [], []
    for problem in benchmarks.SETS[name]:
        runs = source.ended("nggp", problem)
        value = average([report.rmse(run) for run in runs]) if runs else None
        averages.append(value)
        recovered = f"{sum(run.is_recovered for run in runs)} of {len(runs)}" if runs else "-"
        lines.append([problem, recovered, _error(value), *(_error(column[problem]) for column in figures.values())])
    known = [value for value in averages if value is not None]
    ours = statistics.fmean(known) if len(known) == len(averages) else None
    lines.append(
        ["Mean", "", _error(ours), *(_error(statistics.fmean(column.values())) for column in figures.values())]
    )
    headers = [f"the paper's {column}" for column in figures]
    return report.piped(["Problem", "Recovered", f"nggp, {word} test RMSE", *headers], lines)


def _error(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _hard_cases(source: Source) -> str:
    lines = []
    for problem in source.paper.hard_cases["nggp"]:
        cells = []
        for name, figures in source.paper.hard_cases.items():
            runs = source.ended(name, problem)
            cells += [str(len(runs) or "-"), _error(min((run.test_nmse for run in runs), default=None))]
            cells.append(_error(figures[problem]))
        lines.append([problem, *cells])
    headers = [cell for name in source.paper.hard_cases for cell in (f"{name}, seeds", "least NMSE", "the paper's")]
    return report.piped(["Problem", *headers], lines)


def _runtime(source: Source) -> str:
    rows = [(problem, source.built.row("nggp", problem), seconds) for problem, seconds in source.paper.runtime.items()]
    lines = []
    for problem, row, seconds in rows:
        ours = row.cpu_seconds if row else None
        ratio = seconds / ours if ours else None
        lines.append([problem, str(row.runs) if row else "-", report.number(ours, 3), f"{seconds:.2f}"])
        lines[-1].append(report.number(ratio, 0))
    medians = [row.cpu_seconds for _, row, _ in rows if row and row.cpu_seconds is not None]
    mean = statistics.fmean(medians) if len(medians) == len(rows) else None
    theirs = statistics.fmean(source.paper.runtime.values())
    ratio = theirs / mean if mean else None
    lines.append(["Mean", "", report.number(mean, 3), f"{theirs:.2f}", report.number(ratio, 0)])
    return report.piped(["Problem", "Seeds", "nggp, median CPU s", "the paper's s", "ratio"], lines)


def _differences(source: Source) -> str:
    compared = report.comparisons(source.built)
    found = [comparison for comparison in compared if comparison.differs]
    intro = (
        f"{len(found)} of {len(compared)} figures differ from the paper's such that the 95 % interval of the difference"
        " leaves out 0.\nOne in twenty would do so by chance.\n"
    )
    lines = [
        [
            comparison.method,
            SET_TITLES.get(comparison.where, comparison.where),
            f"{comparison.ours:.1f}",
            f"{comparison.paper:.1f}",
            f"{comparison.ours - comparison.paper:+.1f}",
            f"{comparison.interval[0]:+.1f} to {comparison.interval[1]:+.1f}",
        ]
        for comparison in found
    ]
    return f"{intro}\n" + report.piped(["Method", "Where", "Ours", "Paper", "Difference", "95 %"], lines)


BLOCKS = {
    "table-1": Block(_table_1, method_names=MAIN, figure="recovery-by-expressions"),
    "problems": Block(_problems, method_names=(*MAIN, "nggp-slp-her"), figure="recovery-by-problem"),
    "slp-her": Block(_slp_her, method_names=("nggp", "nggp-slp-her")),
    "ablations": Block(_ablations, method_names=ABLATIONS),
    "extra-ablations": Block(_extra_ablations, method_names=EXTRA_ABLATIONS),
    "generations": Block(
        _generations,
        method_names=tuple(report.by_generations(report.Report()).values()),
        figure="recovery-by-generations",
    ),
    "nguyen": Block(_nguyen, problems=("Nguyen",), method_names=("nggp", "dsr", "pqt", "vpg", "gp")),
    "jin": Block(_jin, problems=("Jin",), method_names=("nggp",)),
    "neat": Block(_neat, problems=("Neat",), method_names=("nggp",)),
    "hard-cases": Block(_hard_cases, problems=("Nguyen-12", "R-1", "R-2"), method_names=("nggp", "dsr")),
    "runtime": Block(_runtime, problems=("Nguyen-paper",), method_names=("nggp",), figure="time"),
    "differences": Block(_differences),
}
"""All blocks by name."""

if __name__ == "__main__":
    sys.exit(main())
