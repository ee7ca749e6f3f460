"""Write tables and figures of the pages of results from the records beside them: `python docs/results.py [--check]`.

A generated block of a page is between `<!-- begin NAME: command -->` and `<!-- end NAME -->`; the rest is written by
hand. With `--check` nothing is written, and a block that differs from the records is an error.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
import statistics
import sys
import textwrap
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from symseed import benchmarks, files, methods
from symseed.benchmarks import plots, rates, report
from symseed.benchmarks.execution import failed
from symseed.benchmarks.store import RunKey, RunRecord, Store
from symseed.errors import DataError

FOLDER = Path(__file__).parent
PAGES = tuple(
    FOLDER / f"{name}.md" for name in ("results", "unseen", "results-paper", "results-differences", "results-beyond")
)
"""What a reader meets first, unseen problems, the paper's tables, why figures differ, and the rest."""
BETWEEN = "\f"
"""Stands between two pages while all are one text."""
RECORDS = FOLDER / "records"
UNSEEN = FOLDER / "unseen"
"""The store of runs on unseen problems."""
PEERS = RECORDS / "peers.jsonl"
"""The file that `perf/noise.py` writes."""
FIGURES = FOLDER / "figures"

ALL = ("Nguyen-paper", "R-paper", "Livermore")
"""The sets of the paper's 37 problems."""
MAIN = ("nggp", "gegl", "gp-restarts", "dsr")
ABLATIONS = (
    *("nggp", "nggp-no-rnn-samples", "nggp-vpg", "nggp-entropy-0", "nggp-rspg", "nggp-uniform-mutation"),
    *("nggp-no-constraints", "nggp-uniform-mutation-no-constraints", "nggp-no-gp-samples", "nggp-lr-0"),
    *("gp-restarts", "nggp-random-seeds", "nggp-lr-0-random-seeds", "dsr"),
)
GEGL = ("gegl", "gegl-whole-queue")
EXTRA_ABLATIONS = ("nggp-pm-0.1", "nggp", "nggp-tournament-3", "nggp-batch-1000", "nggp-lr-0.0005")
SET_TITLES = {"all": "All", "nguyen": "Nguyen", "r": "R", "livermore": "Livermore"}
COMPLETION = ("nggp", "nggp-plus", "nggp-complete")
DRAWS = (0, 1, 2)
"""Draws of data on which completion is tried; 0 is that of the released code."""
INTRACTABLE: Mapping[str, str] = types.MappingProxyType({"Nguyen-12": "0", "R-1": "0", "R-2": "0", "R-3": "about 4"})
"""The problems that the paper calls intractable, or nearly so, and the percentage that it recovers."""
COMPLETION_ABLATIONS = ("nggp-complete", *(name for name in methods.METHODS if name.startswith("complete-")))
HARD = ("R-1*", "R-2*", "Livermore-7", "Livermore-9", "Livermore-10", *INTRACTABLE)
"""Problems on which runs of `nggp-complete` differ enough to tell its parts apart."""
OPEN: Mapping[str, tuple[str, ...]] = types.MappingProxyType(
    {
        "Nguyen": benchmarks.SETS["Nguyen-paper"],
        "R": benchmarks.SETS["R-paper"],
        "Livermore": benchmarks.SETS["Livermore"],
        "Nguyen-12 and R-1 to R-3": tuple(INTRACTABLE),
        "Jin": benchmarks.SETS["Jin"],
        "Neat": ("Neat-1", "Neat-2", "Neat-3", "Neat-4", "Neat-5", "Neat-9", "Neat-9/code"),
        "Called not recoverable": ("Neat-6", "Neat-6/code", "Neat-7", "Neat-7/code", "Neat-8"),
    }
)
"""The problems of the open track."""
PARTS = tuple(name for name in methods.METHODS if name.split("-no-")[0] == "default")
PARTS_PROBLEMS = (*INTRACTABLE, "Jin", "Neat-7/code", "Neat-8", "Neat-9")
PARTS_LIMITS = ((0.0, 20.0), (0.01, 7.0))
"""Noise levels, with their time limits, at which parts of `default` are removed."""
NOISE = ("nggp", "nggp-complete", "default")
LEVELS = (0.0, 0.001, 0.01, 0.1)
CODE = ("Livermore-5", "Livermore-11", "Livermore-14", "Livermore-16", "R-1*", "R-2*", "R-3*")
"""Problems of the 37 for which the released code differs from the paper."""
CODE_METHODS = ("nggp", "nggp-slp-her", "gp-restarts", "gegl")
MOVING = ("Livermore-9", "Livermore-10", "Livermore-17", "Livermore-21", "Livermore-22")
"""Problems whose rates depend on details and on the draw of data."""
EARLY = {
    "nggp": ("Livermore-6", "Livermore-10", "Livermore-12", "Livermore-17", "Livermore-21", "Livermore-22"),
    "dsr": ("Livermore-3", "Livermore-6", "Livermore-12", "Livermore-13"),
    "dsr-lr-0.001": ("Livermore-6", "Livermore-12"),
}
"""Problems that were run with the samples of an earlier version of the authors' code, by method."""
DETAILS = ("nggp", "nggp-even-seeds", "nggp-whole-queue", "nggp-lr-0.0005", "nggp-lr-0")
OFF_POLICY = ("nggp-vpg", "nggp-vpg-corrected", "nggp-rspg", "nggp-rspg-corrected")
STANDS_FOR = {"gp-petersen": "gp", "gp-petersen-protected": "gp", "gp-restarts-short": "gp-restarts"}
"""Methods that are compared with the paper's figures of another one."""
SWITCHES = (
    *("nggp", "nggp-released", "nggp-even-seeds", "nggp-random-parent", "nggp-whole-rounds", "nggp-flags"),
    *("nggp-answer-only", "nggp-protected"),
)
BASELINES = ("gp-restarts", "gp-restarts-short", "gp-petersen", "gp-petersen-protected", "nggp-cem")
FIRST_TABLE = ("nggp", "dsr", "pqt", "vpg", "gp", "gp-petersen")
AGREES, CODE_DIFFERS_TOO, UNKNOWN = "=", "c", "?"
"""Marks of a cell; those of `reasons.toml` say which switch explains a difference."""
DEFAULT_SEEDS = "0:25"
"""Seeds of a method without records."""


def _is_shown_unasked(record: RunRecord) -> bool:
    """Whether a record is shown by default; with another time limit than the method's, only if it has noise."""
    return record.noise > 0.0 or report.time_limit(record) is None


@dataclass(frozen=True, slots=True)
class Reason:
    """Why some rates differ from the paper's."""

    mark: str
    methods: tuple[str, ...]
    where: tuple[str, ...]
    """Problems, or keys of sets."""
    text: str

    def explains(self, compared: report.Comparison) -> bool:
        """Return whether it is the reason of a difference."""
        method, where = {"*", compared.method}, {"*", compared.where}
        return bool(method.intersection(self.methods) and where.intersection(self.where))


def read_reasons() -> tuple[Reason, ...]:
    """Return the reasons, the first that fits a cell before others."""
    entries = files.toml_values((FOLDER / "reasons.toml").read_text(encoding="utf-8"))["reason"]
    return tuple(Reason(e["mark"], tuple(e["methods"]), tuple(e["where"]), e["text"]) for e in entries)


REASONS = read_reasons()


@dataclass(frozen=True, slots=True)
class Source:
    """The records from which blocks are made."""

    everything: Sequence[RunRecord]
    """Records of all data, noise levels and time limits."""
    groups: Mapping[tuple[str, int, str], Sequence[RunRecord]]
    """The same records by label, draw and problem."""
    records: Sequence[RunRecord]
    """Records under the paper's conditions: without noise, on the released data, within the method's own budget."""
    built: report.Report
    """The report of `records`."""
    paper: report.Paper
    peers: Sequence[RunRecord]
    """Runs of other programs, as records."""
    unseen: Sequence[RunRecord]
    """Runs on unseen problems."""

    @classmethod
    def of(
        cls, records: Sequence[RunRecord], peers: Sequence[RunRecord] = (), unseen: Sequence[RunRecord] = ()
    ) -> Source:
        """Report records."""
        everything = report.latest(records)
        own = [r for r in everything if r.draw == 0 and report.label(r) == r.method]
        groups: dict[tuple[str, int, str], list[RunRecord]] = {}
        for record in everything:
            groups.setdefault((report.label(record), record.draw, record.problem), []).append(record)
        return cls(
            everything, groups, own, report.build(own), report.paper(), report.latest(peers), report.latest(unseen)
        )

    @classmethod
    def read(cls) -> Source:
        """Report the records of the folder."""
        return cls.of(Store(RECORDS).read(), read_peers(PEERS), Store(UNSEEN).read())

    def ended(self, method: str, problem: str) -> list[RunRecord]:
        """Return the runs that did not fail."""
        return [run for run in self.runs(method, [problem]) if not run.error]

    def runs(self, method: str, problems: Iterable[str], draw: int = 0) -> list[RunRecord]:
        """Return a method's runs without noise."""
        return [run for problem in problems for run in self.groups.get((method, draw, problem), [])]

    def by_noise(self) -> list[RunRecord]:
        """Return the runs at all levels of noise; without noise, those within their method's own budget."""
        return [r for r in self.everything if r.draw == 0 and _is_shown_unasked(r)]


@dataclass(frozen=True, slots=True)
class Block:
    """A generated part of the page, and its runs."""

    table: Callable[[Source], str]
    problems: tuple[str, ...] = ALL
    """Problems or sets."""
    method_names: tuple[str, ...] = ()
    figure: str = ""
    """Name of the plot below the table."""
    redrawn: str = ""
    """The method that is run on all of `DRAWS`; all others are run on draw 0."""
    levels: tuple[float, ...] = (0.0,)
    limits: tuple[tuple[float, float], ...] = ()
    """Noise and time limits of the runs; empty: all runs with noise, or the method's own limits."""
    has_others: bool = False
    """Whether the table also has all other recorded problems."""
    has_peers: bool = False

    def shows(self, record: RunRecord) -> bool:
        """Return whether runs of that noise and time limit are shown."""
        if self.limits:
            return (record.noise, report.time_limit(record)) in self.limits
        return _is_shown_unasked(record)


@dataclass(frozen=True, slots=True)
class Runs:
    """The runs of one command."""

    draw: int
    seconds: float | None
    """The time limit; None: the method's own."""
    seeds: str
    problems: tuple[str, ...]
    method_names: tuple[str, ...]
    levels: tuple[float, ...]


def main() -> int:
    """Write the page and its figures, or check the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a block is out of date")
    check = parser.parse_args().check
    source = Source.read()
    if not check:
        draw(source)
    text = read_pages()
    written = update(text, source)
    if not check:
        for path, page in zip(PAGES, written.split(BETWEEN), strict=True):
            path.write_text(page, encoding="utf-8")
        count = len(source.everything) + len(source.peers) + len(source.unseen)
        print(f"{len(BLOCKS)} blocks of {len(PAGES)} pages from {count:,} records")
    elif written != text:
        pages = zip(PAGES, text.split(BETWEEN), written.split(BETWEEN), strict=True)
        names = ", ".join(path.name for path, old, new in pages if old != new)
        print(f"{names}: not what the records give. Run `python docs/results.py`.", file=sys.stderr)
        return 1
    return 0


def read_pages() -> str:
    """Return all pages as one text."""
    return BETWEEN.join(path.read_text(encoding="utf-8") for path in PAGES)


def read_peers(path: Path) -> list[RunRecord]:
    """Return the runs that `perf/noise.py` wrote; none if there is no file. An incomplete line is left out.

    The file does not have the time of a run: it is the time limit, which the other programs use up.
    """
    records = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            values = json.loads(line)
        except json.JSONDecodeError:
            continue
        seconds = values["seconds"]
        key = RunKey(values["problem"], values["peer"], values["seed"], seconds=seconds, noise=values["noise"])
        run = failed(key, values["error"])
        records.append(replace(run, verdict=values["verdict"], formula=values["formula"], cpu_seconds=seconds))
    return records


def draw(source: Source) -> None:
    """Draw all figures for which there are records."""
    for plot in plots.PLOTS:
        records, shown = source.records, list(MAIN)
        if plot.name == BLOCKS["noise"].figure:
            records = [*source.by_noise(), *source.peers]
            shown = [*NOISE, *dict.fromkeys(r.method for r in source.peers)]
        path = plots.save(plot, records, FIGURES, shown=shown, form="svg")
        print(f"{plot.name}: no records of {plot.needs}" if path is None else path.relative_to(FOLDER))


def update(page: str, source: Source) -> str:
    """Return the page with every block computed from the records.

    Raises:
        DataError: if the page lacks a block, or has an unknown one.
    """
    found = re.findall(r"^<!-- begin ([\w-]+): ", page, re.MULTILINE)
    if sorted(found) != sorted(BLOCKS):
        wrong = ", ".join(sorted(set(found) ^ set(BLOCKS))) or "one of them twice"
        raise DataError(f"The pages of results must have each of the blocks {', '.join(BLOCKS)} once. Look at {wrong}.")
    for name, block in BLOCKS.items():
        pattern = rf"(^<!-- begin {name}: [^\n]* -->\n).*?(^<!-- end {name} -->$)"
        match = re.search(pattern, page, re.MULTILINE | re.DOTALL)
        if match is None:
            raise DataError(f"Block `{name}` of the results must end in a line `<!-- end {name} -->`, but does not.")
        page = f"{page[: match.end(1)]}\n{_content(block, source)}\n{page[match.start(2) :]}"
    return page


def _content(block: Block, source: Source) -> str:
    text, commands = block.table(source), _commands(block, source)
    if block.figure:
        file = FIGURES / f"{block.figure}.svg"
        title = block.figure.replace("-", " ").capitalize()
        picture = f"![{title}](figures/{file.name})" if file.exists() else f"{title}: no figure yet, no records."
        text += f"\n{picture}\n"
    folded = [" \\\n  ".join(textwrap.wrap(command, 116, break_on_hyphens=False)) for command in commands]
    return text + ("\n```sh\n" + "\n".join(folded) + "\n```\n" if folded else "")


def _commands(block: Block, source: Source) -> list[str]:
    """Return the commands of the block's records."""
    problems = block.problems
    if block.has_others:
        recorded = (r.problem for name in block.method_names for r in source.records if r.method == name)
        problems += _others(recorded, problems)
    records = [r for r in source.everything if block.shows(r)]
    commands = []
    for runs in _runs(records, block.method_names, problems, block.levels, block.redrawn):
        options = [f"--method {name}" for name in runs.method_names]
        options += [f"--draw {runs.draw}"] if runs.draw else []
        options += [f"--max-time {runs.seconds:g}"] if runs.seconds else []
        options += [f"--noise {','.join(f'{level:g}' for level in runs.levels)}"] if any(runs.levels) else []
        names = " ".join(map(shlex.quote, runs.problems))
        commands.append(f"symseed bench run {names} {' '.join(options)} --seeds {runs.seeds} --store docs/records")
    if block.has_peers:
        commands += _peer_commands(source, problems, block.levels)
    return commands


def _peer_commands(source: Source, problems: Sequence[str], levels: tuple[float, ...]) -> list[str]:
    records = [replace(r, method=r.method.partition(" ")[0]) for r in source.peers]  # the rest says which model
    end = "--out docs/records/peers.jsonl"
    commands = []
    for runs in _runs(records, tuple(dict.fromkeys(r.method for r in records)), problems, levels):
        noise = " ".join(f"{level:g}" for level in runs.levels)
        options = (
            f"--peers {' '.join(runs.method_names)} --noise {noise} --seeds {runs.seeds} --seconds {runs.seconds:g}"
        )
        commands.append(f"python perf/noise.py {' '.join(runs.problems)} {options} {end}")
    return commands or [f"python perf/noise.py {' '.join(problems)} {end}"]


def _runs(
    records: Sequence[RunRecord],
    method_names: Sequence[str],
    problems: Sequence[str],
    levels: tuple[float, ...],
    redrawn: str = "",
) -> list[Runs]:
    """Return the runs of records, combined if one command can ask for them."""
    found = []
    for method in method_names:
        own = [r for r in records if r.method == method and r.noise in levels]
        for draw in DRAWS if method == redrawn else (0,):
            seeds: dict[tuple[float | None, str, float], set[int]] = {}
            for name in problems:
                members = {problem.name for problem in benchmarks.resolve(name)}
                for r in own:
                    if r.draw == draw and r.problem in members:
                        seeds.setdefault((report.time_limit(r), name, r.noise), set()).add(r.seed)
            found += [
                Runs(draw, limit, f"{min(some)}:{max(some) + 1}", (name,), (method,), (level,))
                for (limit, name, level), some in seeds.items()
            ] or [Runs(draw, None, DEFAULT_SEEDS, tuple(problems), (method,), levels)]
    found.sort(key=lambda runs: runs.levels)
    for field in ("levels", "problems", "method_names"):
        found = _merged(found, field)
    return found


def _merged(found: Iterable[Runs], field: str) -> list[Runs]:
    """Combine runs that differ in one field only."""
    groups: dict[Runs, list[Any]] = {}
    for runs in found:
        empty: dict[str, Any] = {field: ()}
        groups.setdefault(replace(runs, **empty), []).extend(getattr(runs, field))
    together: list[dict[str, Any]] = [{field: tuple(values)} for values in groups.values()]
    return [replace(rest, **values) for rest, values in zip(groups, together, strict=True)]


def _others(recorded: Iterable[str], problems: Sequence[str]) -> tuple[str, ...]:
    """Return the recorded problems that are neither in a list nor in one of its sets, in the catalogue's order."""
    listed = {problem.name for name in problems for problem in benchmarks.resolve(name)}
    left = set(recorded).difference(listed)
    return tuple(name for name in benchmarks.names() if name in left)


def _means(source: Source, names: Sequence[str], *, reference: bool = False) -> str:
    """Return a table of means by set; `reference` adds means by the released code's test."""
    lines = []
    for name in names:
        means = {key: source.built.mean(name, key) for key in SET_TITLES}
        cells = [_beside(source, name, key) for key in SET_TITLES]
        lines.append([name, *(["recovered"] if reference else []), _seeds(means["all"]), *cells])
        lines.append(_interval(means.values(), 3 if reference else 2))
        if reference:
            passed = [report.number(mean.reference if mean else None, 1) for mean in means.values()]
            lines.append(["", "released test", "", *passed])
    widths = [f"± {source.paper.intervals[key]:.1f}" for key in SET_TITLES]
    lines.append(["the paper's 95 %", *([""] if reference else []), "", *widths])
    text = report.piped(["Method", *(["Test"] if reference else []), "Seeds", *SET_TITLES.values()], lines)
    return _with_legend(text)


def _with_legend(text: str) -> str:
    legend = _legend(text)
    return f"{text}\n{legend}" if legend else text


def _beside(source: Source, method: str, key: str) -> str:
    """Return a mean, the paper's in parentheses, and the mark that says whether they agree."""
    figure = source.paper.summary.get(STANDS_FOR.get(method, method), {}).get(key)
    mean = source.built.mean(method, key)
    return f"{_mean(mean)} ({report.number(figure, 1)})" + mark(source, report.compared_mean(method, key, mean, figure))


def mark(source: Source, compared: report.Comparison | None) -> str:
    """Return the mark of a cell, with a space before it; nothing if there is nothing to compare."""
    if compared is None:
        return ""
    if not compared.differs:
        return f" {AGREES}"
    coded = source.built.row(f"{compared.method}/released", compared.where)
    theirs = report.compared_row(coded, compared.paper)
    if theirs is not None and theirs.differs and (theirs.ours > theirs.paper) == (compared.ours > compared.paper):
        return f" {CODE_DIFFERS_TOO}"
    return f" {next((reason.mark for reason in REASONS if reason.explains(compared)), UNKNOWN)}"


def _legend(text: str) -> str:
    """Return what the marks of a table mean."""
    used = set(re.findall(r" ([a-z=?])(?= \|)", text))
    words = {
        AGREES: "agrees with the paper: the 95 % interval of the difference contains 0",
        **{reason.mark: reason.text[0].lower() + reason.text[1:].rstrip(".") for reason in reversed(REASONS)},
        CODE_DIFFERS_TOO: "the authors' released code, run by `reproduction/released.py`, differs from the paper too",
        UNKNOWN: "differs, and we know no reason",
    }
    return "".join(f"- `{name}`: {meaning}.\n" for name, meaning in words.items() if name in used)


def _mean(mean: report.SetMean | None) -> str:
    return report.number(mean.recovered if mean else None, 1)


def _interval(means: Iterable[report.SetMean | None], before: int) -> list[str]:
    """Return the line below means: their intervals, after the title and `before` - 1 empty cells."""
    ranges = [f"{mean.interval[0]:.1f} to {mean.interval[1]:.1f}" if mean and mean.interval else "-" for mean in means]
    return ["95 % interval", *[""] * (before - 1), *ranges]


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
        figures = [source.paper.problems.get(STANDS_FOR.get(name, name), {}).get(problem) for name in names]
        pairs = zip(rows, figures, strict=True)
        cells = [
            f"{report.number(row.percent if row else None, 0)} / {report.number(figure, 0)}"
            + mark(source, report.compared_row(row, figure))
            for row, figure in pairs
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
    return _with_legend(report.piped(["Problem", *names], [*lines, ["Mean", *mean_cells]]))


def _slp_her(source: Source) -> str:
    return _means(source, ("nggp", "nggp-slp-her"))


def _ablations(source: Source) -> str:
    return _means(source, ABLATIONS)


def _extra_ablations(source: Source) -> str:
    return _means(source, EXTRA_ABLATIONS)


def _gegl(source: Source) -> str:
    return _means(source, GEGL)


def _generations(source: Source) -> str:
    lines = []
    for count, name in methods.GENERATIONS.items():
        means = [source.built.mean(name, key) for key in SET_TITLES]
        lines.append([str(count), name, _seeds(means[0]), *map(_mean, means)])
        lines.append(_interval(means, 3))
    return report.piped(["S", "Method", "Seeds", *SET_TITLES.values()], lines)


def _nguyen(source: Source) -> str:
    names, members = FIRST_TABLE, benchmarks.SETS["Nguyen"]
    averages = ["Mean"]
    for name in names:
        figure = source.paper.nguyen_plain[STANDS_FOR.get(name, name)]
        mean = report.mean_over(members, source.built.rows, method=name, figure=figure)
        ours = mean.recovered if mean.is_complete else None
        averages.append(f"{report.number(ours, 1)} / {report.number(mean.paper, 1)}")
    quoted = [report.number(source.paper.problems["eureqa"][problem], 0) for problem in members]
    quoted.append(report.number(source.paper.nguyen_plain["eureqa"], 1))
    lines = [[*line, cell] for line, cell in zip([*_by_problem(source, members, names), averages], quoted, strict=True)]
    return _with_legend(report.piped(["Problem", *names, "Eureqa, quoted"], lines))


def _overview(source: Source) -> str:
    """How many cells of the paper's tables agree, and what is known of the others."""
    tables = {
        "Main comparison, ablations, variants (tables 2, 3, 12, 13)": [
            report.compared_mean(name, key, source.built.mean(name, key), figures.get(key))
            for name, figures in source.paper.summary.items()
            for key in SET_TITLES
        ],
        "Problem by problem (tables 5 and 13)": [
            report.compared_row(source.built.row(name, problem))
            for name in (*MAIN, "nggp-slp-her")
            for problem in report.problems_of("all")
        ],
        "Nguyen (table 1)": [
            report.compared_row(
                source.built.row(name, problem), source.paper.problems[STANDS_FOR.get(name, name)].get(problem)
            )
            for name in FIRST_TABLE
            for problem in benchmarks.SETS["Nguyen"]
        ],
    }
    lines = []
    for title, cells in tables.items():
        marks = [mark(source, compared).strip() for compared in cells if compared is not None]
        known = len(marks) - sum(marks.count(name) for name in (AGREES, CODE_DIFFERS_TOO, UNKNOWN))
        counts = [len(marks), marks.count(AGREES), known, marks.count(CODE_DIFFERS_TOO), marks.count(UNKNOWN)]
        lines.append([title, *map(str, counts)])
    lines.append(["All", *(str(sum(int(line[place]) for line in lines)) for place in range(1, 6))])
    headers = ["agree", "differ by a known switch", "released code differs too", "differ, no reason known"]
    return report.piped(["Tables", "Cells compared", *headers], lines)


def _unseen_first(source: Source) -> str:
    return _rates(source, lambda rate: not rate.family)


def _unseen(source: Source) -> str:
    return _rates(source, lambda rate: bool(rate.family))


def _rates(source: Source, shows: Callable[[rates.Rate], bool]) -> str:
    return report.piped(rates.HEADER, [rate.cells for rate in rates.rates(source.unseen) if shows(rate)])


def _not_recovered(source: Source) -> str:
    lines = [
        [run.problem, run.method, benchmarks.get(run.problem).formula, run.formula[:80], f"{run.test_nmse:.1e}"]
        for run in source.unseen
        if not run.is_recovered and run.method in ("default", "nggp-complete") and rates.fit_of(run.problem).holds
    ]
    headers = ["Problem", "Method", "Target", "Answer", "Test NMSE"]
    return report.piped(headers, lines)


def _open_first(source: Source) -> str:
    runs = [run for run in source.records if run.method == "default"]
    groups = {"The paper's 37": report.problems_of("all"), **OPEN}
    lines = [_open_line(title, [run for run in runs if run.problem in set(names)]) for title, names in groups.items()]
    return report.piped(["Problems", "Recovered", "Median CPU s", "Largest CPU s", "Median test NMSE"], lines)


def _switches(source: Source) -> str:
    return _means(source, SWITCHES)


def _baselines(source: Source) -> str:
    return _means(source, BASELINES)


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
    for printed in benchmarks.SETS[name]:
        for problem in (printed, f"{printed}/code"):
            runs = source.ended("nggp", problem)
            value = average([report.rmse(run) for run in runs]) if runs else None
            if problem == printed:
                averages.append(value)
            elif value is None:
                continue
            theirs = [_error(column[printed]) for column in figures.values()]
            lines.append([problem, _count(runs), _error(value), *theirs])
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
        f"{len(found)} of {len(compared)} figures differ from the paper's: the 95 % interval of the difference does not"
        " contain 0.\nBy chance, one in twenty would differ.\n"
    )
    lines = [
        [
            comparison.method,
            SET_TITLES.get(comparison.where, comparison.where),
            f"{comparison.ours:.1f}",
            f"{comparison.paper:.1f}",
            f"{comparison.ours - comparison.paper:+.1f}",
            f"{comparison.interval[0]:+.1f} to {comparison.interval[1]:+.1f}",
            mark(source, comparison).strip(),
        ]
        for comparison in found
    ]
    headers = ["Method", "Where", "Ours", "Paper", "Difference", "95 %", "Reason"]
    return f"{intro}\n" + _with_legend(report.piped(headers, lines))


def _released_code(source: Source) -> str:
    lines = []
    for problem in CODE:
        for name in CODE_METHODS:
            printed, coded = source.runs(name, [problem]), source.runs(name, [f"{problem}/code"])
            passed = f"{sum(run.passes_reference for run in coded)} of {len(coded)}" if coded else "-"
            figure = source.paper.problems.get(name, {}).get(problem)
            cells = [_count(printed), _count(coded), passed, report.number(figure, 0)]
            lines.append([problem, name, *cells])
    headers = ["As printed, recovered", "As in the code, recovered", "As in the code, released test", "The paper's %"]
    return report.piped(["Problem", "Method", *headers], lines)


def _early(source: Source) -> str:
    lines = []
    for name, problems in EARLY.items():
        for problem in problems:
            cells = [_count(source.runs(name, [variant])) for variant in (problem, f"{problem}/early")]
            figure = source.paper.problems.get(name.removesuffix("-lr-0.001"), {}).get(problem)
            lines.append([problem, name, *cells, report.number(figure, 0)])
    headers = ["Samples of the released code", "Samples of an earlier version", "The paper's %"]
    return report.piped(["Problem", "Method", *headers], lines)


def _details(source: Source) -> str:
    draws = (*DRAWS, 3)
    lines = []
    for problem in MOVING:
        cells = [_count(source.runs(name, [problem])) for name in DETAILS[1:]]
        others = [_count(source.runs("nggp", [problem], draw)) for draw in draws]
        lines.append([problem, *others, *cells, report.number(source.paper.problems["nggp"].get(problem), 0)])
    headers = [*(f"nggp, draw {draw}" for draw in draws), *DETAILS[1:], "The paper's %"]
    return report.piped(["Problem", *headers], lines)


def _completion(source: Source) -> str:
    rates, costs = [], []
    for name in COMPLETION:
        for draw in DRAWS if name == "nggp-complete" else (0,):
            runs = source.runs(name, report.problems_of("all"), draw)
            built, charged = report.build(runs), report.build(map(_with_lookups_charged, runs))
            means = [*(built.mean(name, key) for key in SET_TITLES), charged.mean(name, "all")]
            rates.append([name, str(draw), _count(runs), *map(_mean, means)])
            rates.append(_interval(means, 3))
            # Some problems take more than others: a mean over a part of them says nothing.
            ended = [r for r in runs if not r.error] if built.mean(name, "all") else []
            taken = [[r.charged, r.lookups, r.hits, r.splices] for r in ended]
            means_taken = [report.number(statistics.fmean(column), 0) for column in zip(*taken, strict=True)]
            seconds = report.number(statistics.fmean(r.cpu_seconds for r in ended) if ended else None, 3)
            costs.append([name, str(draw), seconds, *(means_taken or ["-"] * 4)])
    titles = [*SET_TITLES.values(), "All, look-ups charged"]
    return (
        report.piped(["Method", "Draw", "Recovered", *titles], rates)
        + "\n"
        + report.piped(["Method", "Draw", "CPU s", "Expressions", "Look-ups", "Hits", "Splices"], costs)
    )


def _with_lookups_charged(record: RunRecord) -> RunRecord:
    """Return the run as it would have ended if each look-up were charged as an expression."""
    return record if record.charged + record.lookups <= record.expressions else replace(record, verdict="no")


def _count(runs: Sequence[RunRecord]) -> str:
    return f"{sum(run.is_recovered for run in runs)} of {len(runs)}" if runs else "-"


def _intractable(source: Source) -> str:
    lines = []
    for problem, figure in INTRACTABLE.items():
        for name in (*COMPLETION, "nggp-complete-plus"):
            # The R problems' data are even grids, the same in every draw.
            for draw in DRAWS if (problem, name) == ("Nguyen-12", "nggp-complete-plus") else (0,):
                runs = source.runs(name, [problem], draw)
                rows = report.build(runs).rows
                charged, seconds = (rows[0].charged, rows[0].cpu_seconds) if rows else (None, None)
                cells = [_count(runs), _count([*map(_with_lookups_charged, runs)])]
                cells += [report.number(charged, 0), report.number(seconds, 2), figure if name == "nggp" else ""]
                lines.append([problem, name, str(draw), *cells])
    headers = ["Recovered", "Look-ups charged", "Median charged", "Median CPU s", "The paper's %"]
    return report.piped(["Problem", "Method", "Draw", *headers], lines)


def _completion_ablations(source: Source) -> str:
    lines = []
    for name in COMPLETION_ABLATIONS:
        groups = [source.runs(name, [problem]) for problem in HARD]
        logarithms = [[math.log10(max(run.charged, 1)) for run in runs if not run.error] for runs in groups]
        mean = statistics.fmean(map(statistics.fmean, logarithms)) if all(logarithms) else None
        lines.append([name, *map(_count, groups), report.number(mean, 2)])
    return report.piped(["Method", *(name.replace("*", r"\*") for name in HARD), "Mean log10 charged"], lines)


def _open_track(source: Source) -> str:
    runs: dict[str, list[RunRecord]] = {}
    for record in source.records:
        if record.method == "default":
            runs.setdefault(record.problem, []).append(record)
    parts = {**OPEN, "Others": _others(runs, [name for names in OPEN.values() for name in names])}

    def pooled(names: Iterable[str]) -> list[RunRecord]:
        return [record for name in names for record in runs.get(name, [])]

    lines = [_open_line("The paper's 37", pooled(report.problems_of("all")))]
    for title, members in parts.items():
        # Problems that are always recovered share a line, and so do those that were not run.
        full = [name for name in members if name in runs and all(r.is_recovered for r in runs[name])]
        missing = [name for name in members if name not in runs]
        for names, what in ((full, "always recovered"), (missing, "not run")):
            if names:
                number = f"all {len(names)}" if len(names) == len(members) else f"{len(names)} of {len(members)}"
                lines.append(_open_line(f"{title}, {number}, {what}", pooled(names)))
        lines += [_open_line(name, runs[name]) for name in members if name not in full and name not in missing]
    return report.piped(["Problems", "Recovered", "Median CPU s", "Largest CPU s", "Median test NMSE"], lines)


def _open_line(title: str, runs: Sequence[RunRecord]) -> list[str]:
    ended = [run for run in runs if not run.error]
    seconds = [run.cpu_seconds for run in ended]
    times = [statistics.median(seconds), max(seconds)] if seconds else [None, None]
    error = statistics.median(run.test_nmse for run in ended) if ended else None
    return [title, _count(runs), *(report.number(value, 1) for value in times), _error(error)]


def _parts(source: Source) -> str:
    (_, clean), (level, noisy) = PARTS_LIMITS
    problems = [problem.name for name in PARTS_PROBLEMS for problem in benchmarks.resolve(name)]
    lines = []
    for name in PARTS:
        runs = source.runs(f"{name}, {clean:g} s", problems)
        seconds = [run.cpu_seconds for run in runs if not run.error]
        missed = ", ".join(run.problem for run in runs if not run.is_recovered)
        under_noise = source.runs(f"{name}, {noisy:g} s, noise {level:g}", report.problems_of("all"))
        mean = report.number(statistics.fmean(seconds) if seconds else None, 1)
        lines.append([name, _count(runs), mean, missed, _count(under_noise)])
    headers = ["Without noise", "Mean CPU s", "Not recovered", f"The 37, noise {level:g}, {noisy:g} s"]
    return report.piped(["Method", *headers], lines)


def _noise(source: Source) -> str:
    ours = [r for r in source.by_noise() if r.method in NOISE]
    lines = report.by_noise([*ours, *source.peers])
    missing = [name for name in NOISE if all(r.method != name for r in ours)]
    cells = [
        [title, name, *(_noise_cell(members, name, lines.get(name, {}).get(level, [])) for level in LEVELS)]
        for title, members in (("The paper's 37", report.problems_of("all")), ("Jin", benchmarks.SETS["Jin"]))
        for name in [*lines, *missing]
    ]
    return report.piped(["Problems", "Method", *(f"Noise {level:g}" for level in LEVELS)], cells)


def _noise_cell(members: Sequence[str], name: str, runs: Sequence[RunRecord]) -> str:
    of_members = [run for run in runs if run.problem in members]
    mean = report.mean_over(members, report.build(of_members).rows, method=name)
    if not mean.is_complete:
        return "-"
    seconds = [run.cpu_seconds for run in of_members if not run.error]
    time = f", {statistics.fmean(seconds):.1f} s" if seconds else ""
    return f"{report.number(mean.recovered, 1)} ({_count(of_members)}{time})"


def _off_policy(source: Source) -> str:
    return _means(source, OFF_POLICY)


BLOCKS = {
    "overview": Block(_overview),
    "unseen-first": Block(_unseen_first),
    "unseen": Block(_unseen),
    "not-recovered": Block(_not_recovered),
    "open-first": Block(_open_first),
    "switches": Block(_switches, method_names=SWITCHES),
    "baselines": Block(_baselines, method_names=BASELINES),
    "table-1": Block(_table_1, method_names=MAIN, figure="recovery-by-expressions"),
    "problems": Block(_problems, method_names=(*MAIN, "nggp-slp-her"), figure="recovery-by-problem"),
    "slp-her": Block(_slp_her, method_names=("nggp", "nggp-slp-her")),
    "ablations": Block(_ablations, method_names=ABLATIONS),
    "extra-ablations": Block(_extra_ablations, method_names=EXTRA_ABLATIONS),
    "generations": Block(
        _generations,
        method_names=tuple(methods.GENERATIONS.values()),
        figure="recovery-by-generations",
    ),
    "nguyen": Block(_nguyen, problems=("Nguyen",), method_names=FIRST_TABLE),
    "jin": Block(_jin, problems=("Jin",), method_names=("nggp",)),
    "neat": Block(_neat, problems=("Neat", "Neat-6/code", "Neat-9/code"), method_names=("nggp",)),
    "hard-cases": Block(_hard_cases, problems=("Nguyen-12", "R-1", "R-2"), method_names=("nggp", "dsr")),
    "runtime": Block(_runtime, problems=("Nguyen-paper",), method_names=("nggp",), figure="time"),
    "differences": Block(_differences),
    "released-code": Block(_released_code, problems=tuple(f"{name}/code" for name in CODE), method_names=CODE_METHODS),
    "early": Block(_early, problems=benchmarks.SETS["Livermore-early"], method_names=tuple(EARLY)),
    "gegl": Block(_gegl, method_names=GEGL),
    "details": Block(_details, problems=MOVING, method_names=DETAILS, redrawn="nggp"),
    "completion": Block(_completion, method_names=COMPLETION, redrawn="nggp-complete"),
    "intractable": Block(
        _intractable,
        problems=tuple(INTRACTABLE),
        method_names=(*COMPLETION, "nggp-complete-plus"),
        redrawn="nggp-complete-plus",
    ),
    "completion-ablations": Block(_completion_ablations, problems=HARD, method_names=COMPLETION_ABLATIONS),
    "off-policy": Block(_off_policy, method_names=OFF_POLICY),
    "open-track": Block(
        _open_track,
        problems=(*ALL, *INTRACTABLE, "Jin", *OPEN["Neat"], *OPEN["Called not recoverable"]),
        method_names=("default",),
        has_others=True,
    ),
    "default-parts": Block(
        _parts,
        problems=(*ALL, *PARTS_PROBLEMS),
        method_names=PARTS,
        levels=tuple(level for level, _ in PARTS_LIMITS),
        limits=PARTS_LIMITS,
    ),
    "noise": Block(
        _noise,
        problems=(*ALL, "Jin"),
        method_names=NOISE,
        figure="recovery-by-noise",
        levels=LEVELS,
        has_peers=True,
    ),
}
"""All blocks by name."""

if __name__ == "__main__":
    sys.exit(main())
