"""The commands of `symseed bench`: many runs, and tables and figures of runs."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from symseed import cluster
from symseed.benchmarks import plots, rates, report, runner
from symseed.benchmarks.store import RunRecord, Store
from symseed.cli import next_step, problems
from symseed.errors import DataError, SettingsError
from symseed.signals import INTERRUPTED

_BUDGET = "the method's budget"
_MOST_SEEDS = 100_000
"""Most seeds of one command, so that the list of its runs fits into memory: chosen by hand."""
_MOST_JOBS = 1_000
"""Most processes of one command: more than any machine has cores. Chosen by hand."""

_AHEAD = 3
"""Runs on their way for each thread of a cluster, so that no worker waits for the next: chosen by hand."""


@click.group(name="bench")
def bench_commands() -> None:
    """Run benchmark problems and report recovery rates."""


bench_commands.add_command(problems.list_command)
bench_commands.add_command(problems.show_command)


@bench_commands.command(name="run")
@click.argument("names", metavar="PROBLEMS...", nargs=-1, required=True)
@click.option(
    "--method", "method_names", multiple=True, default=("nggp",), show_default=True, help="Method; may be repeated."
)
@click.option("--seeds", default="0:25", show_default=True, help="One seed, or a range FIRST:END, END excluded.")
@click.option(
    "--jobs", type=click.IntRange(1, _MOST_JOBS), default=2, show_default=True, help="Number of parallel runs."
)
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler whose workers do the runs, in place of --jobs.")
@click.option("--store", "folder", required=True, type=click.Path(path_type=Path), help="Folder for the records.")
@click.option("--draw", default=0, show_default=True, help=problems.DRAW)
@click.option("--max-evals", type=click.IntRange(min=1), show_default=_BUDGET, help="Maximum expressions per run.")
@click.option(
    "--max-time",
    type=click.FloatRange(min=0, min_open=True),
    show_default=_BUDGET,
    help="Maximum CPU seconds per run.",
)
@click.option(
    "--noise",
    "levels",
    default="0",
    show_default=True,
    help="Noise levels, as fractions of the RMS of y, such as 0.001,0.01.",
)
def run_command(
    names: tuple[str, ...],
    method_names: tuple[str, ...],
    seeds: str,
    jobs: int,
    scheduler: str | None,
    folder: Path,
    draw: int,
    max_evals: int | None,
    max_time: float | None,
    levels: str,
) -> None:
    """Run PROBLEMS (sets or single problems) with every method and seed.

    Runs that are already in the folder are skipped.
    """
    keys = runner.plan(
        names,
        method_names,
        _seeds(seeds),
        draw=draw,
        expressions=max_evals,
        seconds=max_time,
        noises=_levels(levels),
    )
    store = Store(folder)
    known = {record.key for record in store.read()}
    missing = sum(key not in known for key in keys)
    click.echo(f"{len(keys)} runs, {len(keys) - missing} of them done before; records in {store.path}")
    try:
        with cluster.connected(scheduler) as executor, _shown(missing) as done:
            several = _AHEAD * executor.threads if isinstance(executor, cluster.Cluster) else jobs
            runner.run_many(keys, store, jobs=several, done=done, executor=executor)
    except cluster.LostSchedulerError as error:
        click.echo(f"symseed: {error} The records so far are in {store.path}; the same command goes on.", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        click.echo(f"symseed: Stopped. The records so far are in {store.path}; the same command goes on.", err=True)
        sys.exit(INTERRUPTED)
    next_step.say(f"symseed bench table {shlex.quote(str(folder))}")


@contextlib.contextmanager
def _shown(missing: int) -> Iterator[Callable[[RunRecord], None]]:
    """Give what shows a record: a bar in a terminal, a line elsewhere."""
    if not sys.stdout.isatty():
        yield lambda record: click.echo(_line(record))
        return
    with click.progressbar(length=missing, label="runs", show_eta=True, show_pos=True) as bar:
        yield lambda _: bar.update(1)


@bench_commands.command(name="table")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "csv", "json"]),
    default="text",
    show_default=True,
    help="Output format.",
)
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
def table_command(folders: tuple[Path, ...], form: str, as_json: bool) -> None:
    """Show the recovery rates of the runs in FOLDERS beside the paper's.

    Runs on unseen problems have a table of their own, in the forms text and markdown.
    """
    records = _read(folders)
    built = report.build(records)
    forms = {"text": built.text, "markdown": built.markdown, "csv": built.csv, "json": built.json}
    click.echo(forms["json" if as_json else form]().rstrip("\n"))
    drawn = [rate.cells for rate in rates.rates(records)]
    if drawn and not as_json and form in ("text", "markdown"):
        table = report.aligned if form == "text" else report.piped
        click.echo("\n" + table(rates.HEADER, drawn).rstrip("\n"))
    if form == "text" and not as_json:
        next_step.say(f"symseed bench plot {shlex.join(map(str, folders))}")


@bench_commands.command(name="plot")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--output", default=".", show_default=True, type=click.Path(path_type=Path), help="Folder for the figures."
)
@click.option("--method", "shown", multiple=True, show_default="all", help="Method to plot; may be repeated.")
@click.option(
    "--format", "form", type=click.Choice(plots.FORMATS), default="svg", show_default=True, help="File format."
)
def plot_command(folders: tuple[Path, ...], output: Path, shown: tuple[str, ...], form: str) -> None:
    """Plot the runs in FOLDERS.

    The figures show recovery by problem, by S, by expressions used and by noise, and the time per run.
    """
    records = _read(folders)
    for plot in plots.PLOTS:
        path = plots.save(plot, records, output, shown=shown, form=form)
        click.echo(f"{plot.name}: skipped, because it needs records of {plot.needs}." if path is None else str(path))


@bench_commands.command(name="pack")
@click.argument("folder", type=click.Path(path_type=Path))
def pack_command(folder: Path) -> None:
    """Compress the records in FOLDER into one file.

    All commands read the compressed records as before.
    """
    store = _store(folder)
    count = store.pack()
    click.echo(f"{count:,} records, {store.packed.stat().st_size:,} bytes, in {store.packed}")


def _read(folders: tuple[Path, ...]) -> list[RunRecord]:
    return [record for folder in folders for record in _store(folder).read()]


def _store(folder: Path) -> Store:
    store = Store(folder)
    if not store.exists:
        expected = f"`{store.path.name}` or `{store.packed.name}`"
        raise DataError(f"`{folder}` must be a folder of records, but it has no {expected}.")
    return store


def _line(record: RunRecord) -> str:
    outcome = record.error or f"{record.verdict}, {record.charged:,} expressions, {record.cpu_seconds:.2f} s"
    return f"{record.method} {record.problem} seed {record.seed}: {outcome}"


def _seeds(text: str) -> range:
    first, colon, end = text.partition(":")
    try:
        seeds = range(int(first or 0), int(end)) if colon else range(int(first), int(first) + 1)
    except ValueError as error:
        raise SettingsError(f"`--seeds` must be a range such as 0:25, or one number, but it is `{text}`.") from error
    if not seeds or seeds[0] < 0 or seeds.stop - seeds.start > _MOST_SEEDS:
        raise SettingsError(
            f"`--seeds` must contain from 1 to {_MOST_SEEDS:,} seeds, none of them negative, but it is `{text}`."
        )
    return seeds


def _levels(text: str) -> list[float]:
    try:
        levels = [float(level) for level in text.split(",")]
    except ValueError as error:
        raise SettingsError(f"`--noise` must be numbers such as 0.001,0.01, but it is `{text}`.") from error
    if not all(0.0 <= level < float("inf") for level in levels):
        raise SettingsError(f"`--noise` must be finite levels of at least 0, but it is `{text}`.")
    return levels
