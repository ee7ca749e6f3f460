"""The commands that search, go on, and look at what was found: fit, resume, show, report, predict."""

from __future__ import annotations

import contextlib
import csv
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from click.core import ParameterSource
from sklearn.utils import check_random_state

from symseed import files
from symseed.cli.live import Display
from symseed.data import tables
from symseed.data.dataset import Dataset
from symseed.errors import SettingsError
from symseed.export.source import FORMATS, export
from symseed.language.expression import Expression
from symseed.regressor import settings_text
from symseed.regressor.fitting import Observer
from symseed.regressor.front import Equation, EquationFront
from symseed.regressor.regressor import SymbolicRegressor
from symseed.regressor.run import Run
from symseed.regressor.run_data import RunData
from symseed.regressor.settings import Settings
from symseed.search.budget import Budget
from symseed.show.page import ReportContent, report_html
from symseed.signals import Termination
from symseed.text import for_spreadsheet, for_terminal
from symseed.version import version

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes after Ctrl-C and SIGTERM; the best formulas so far were printed and kept."""

_set = click.option(
    "--set", "changes", multiple=True, metavar="NAME=VALUE", help="Setting of SymbolicRegressor; may be repeated."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
_EXAMPLES = """\b
Examples:
  symseed fit planets --target period_days
  symseed fit data.csv --target y --set max_time=300
  symseed fit data.csv --target y --set 'unary_operators=["sin", "exp"]'
"""  # \b: click keeps the lines of this paragraph


@click.command(epilog=_EXAMPLES)
@click.argument("data")
@click.option("--target", "targets", required=True, multiple=True, help="Target column; may be repeated.")
@click.option(
    "--unit",
    "unit_texts",
    multiple=True,
    metavar="COLUMN=UNIT",
    help="Unit of a column, such as v=m/s; may be repeated.",
)
@click.option("--config", type=click.Path(dir_okay=False), help="TOML file of settings.")
@_set
@click.option("--output-directory", default="outputs", show_default=True, help="Parent of the run folder.")
@click.option("--in-memory", is_flag=True, help="Create no run folder; the run cannot be resumed.")
@_json
@click.pass_context
def fit(
    context: click.Context,
    data: str,
    targets: tuple[str, ...],
    unit_texts: tuple[str, ...],
    config: str | None,
    changes: tuple[str, ...],
    output_directory: str,
    in_memory: bool,
    as_json: bool,
) -> None:
    """Search for formulas that predict a column of DATA.

    DATA is a CSV file with a header, or a table that ships with symseed (diabetes, hubble, planets). Columns without
    numbers, such as labels, are ignored. If there are more than 10,000 samples, the search uses a random subset; losses
    are computed on all samples.

    Ctrl-C stops the search and prints the best formulas so far; a second Ctrl-C stops at once. The commands `resume`,
    `show`, `predict` and `report` take the run folder.
    """
    sheet = tables.read_sheet(data)
    y = sheet.columns(targets)
    names = tables.inputs(sheet, targets)
    X = sheet.columns(names)
    values: dict[str, Any] = {"output_directory": output_directory, "random_state": 0}
    values |= {} if config is None else settings_text.read_file(config)
    if in_memory or context.get_parameter_source("output_directory") is not ParameterSource.DEFAULT:
        values["output_directory"] = None if in_memory else output_directory
    values |= settings_text.read_changes(changes)
    plan = Settings.of(values).plan()
    read = RunData(
        X,
        y,
        np.ones(len(X)),
        tuple(names),
        has_labels=True,
        is_multiple=len(targets) > 1,
        targets=targets,
        source=Path(data).name,
    )
    read = _with_units(read, unit_texts)
    seed = int(check_random_state(plan.given.random_state).randint(2**31 - 1))

    def search(observers: tuple[Observer, ...]) -> SymbolicRegressor:
        model = SymbolicRegressor(**values)
        model.fit_data(plan, read, labels=tuple(names), seed=seed, observers=observers)
        return model

    _follow(search, plan.given, targets, as_json=as_json)


@click.command()
@click.argument("run")
@_set
@_json
def resume(run: str, changes: tuple[str, ...], as_json: bool) -> None:
    """Continue an interrupted or killed RUN.

    The formulas are the same as without the interruption. A finished run is left unchanged unless its limits are
    raised, for example by --set max_time=600.
    """
    values = settings_text.read_changes(changes)
    opened = Run.read(Path(run), **values)

    def search(observers: tuple[Observer, ...]) -> SymbolicRegressor:
        return SymbolicRegressor.resume(run, observers=observers, **values)

    _follow(search, opened.settings, opened.data.targets, as_json=as_json)


@click.command()
@click.argument("run")
@click.option("--index", type=int, help="Show only this row of the front, counted from 0.")
@click.option("--as", "format_", help=f"Show the selected formula, or that row, as {', '.join(FORMATS)}.")
@_json
def show(run: str, index: int | None, format_: str | None, as_json: bool) -> None:
    """Show the formulas that a RUN has found."""
    model = SymbolicRegressor.from_file(run)
    targets = Run.read(Path(run), is_to_search=False).data.targets
    if format_ is None and index is None:
        _print(model, targets, as_json=as_json)
        return
    rows = model.at(index)
    texts = [str(row) if format_ is None else export(row.expression, format_) for row in rows]
    if as_json:
        shown = [
            {"target": target, **_described(row), "text": text}
            for target, row, text in zip(targets, rows, texts, strict=True)
        ]
        click.echo(files.json_text({"targets": shown}))
        return
    for text in texts:
        click.echo(for_terminal(text))


@click.command()
@click.argument("run")
@click.option("--output", show_default="report.html in the run folder", help="File to write.")
def report(run: str, output: str | None) -> None:
    """Write a report of a RUN as one self-contained HTML page."""
    opened = Run.read(Path(run), is_to_search=False)
    model = SymbolicRegressor.from_file(run)
    data = opened.data
    if output is not None and not Path(output).name:
        raise SettingsError(f"`--output` must be a file that can be written, but it is `{output}`.")
    for place, (target, front) in enumerate(zip(data.targets, model.fronts, strict=True)):
        chosen = front.choice(model.model_selection)
        content = ReportContent(
            title=f"{target}, from {data.source}" if data.source else target,
            equations=front.equations,
            chosen=chosen,
            target=target,
            dataset=Dataset.of(data.X, data.y[:, place], data.weights, data.names),
            source=data.source,
            units=data.units_of(place),
            history=opened.history(place),
            settings=settings_text.to_values(opened.settings),
            reason=front.reason.value,
            seed=opened.seed,
            versions={"symseed": version(), "Python": platform.python_version(), "NumPy": np.__version__},
            code=_exports(front.equations[chosen].expression),
        )
        name = "report.html" if place == 0 else f"report-{place + 1}.html"
        path = opened.folder / name if output is None else Path(output).with_name(_numbered(Path(output), place))
        try:
            files.replace(path, report_html(content).encode())
        except OSError as error:
            raise SettingsError(
                f"`--output` must be a file that can be written, but `{path}` is not: {error}."
            ) from error
        click.echo(str(path))


def _numbered(path: Path, place: int) -> str:
    return path.name if place == 0 else f"{path.stem}-{place + 1}{path.suffix}"


def _exports(expression: Expression) -> dict[str, str]:
    """The formula in every notation that can express it."""
    out = {}
    for name in FORMATS:
        with contextlib.suppress(SettingsError):
            out[name] = export(expression, name)
    return out


@click.command()
@click.argument("run")
@click.argument("data")
@click.option("--index", type=int, show_default="the selected formula", help="Row of the front, counted from 0.")
def predict(run: str, data: str, index: int | None) -> None:
    """Predict the target for every sample of DATA with a RUN.

    DATA is a CSV file with the input columns of the run. It is printed with the predictions as its last column, one for
    each target. Cells of DATA are printed unchanged, even those that a spreadsheet would read as formulas.
    """
    opened = Run.read(Path(run), is_to_search=False)
    model = SymbolicRegressor.from_file(run)
    sheet = tables.read_sheet(data)
    names = opened.data.names
    X = sheet.columns(names)
    values = model.predict(pd.DataFrame(X, columns=list(names)) if opened.data.has_labels else X, index)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([*sheet.header, *(for_spreadsheet(f"{target} predicted") for target in opened.data.targets)])
    for line, row in zip(sheet.lines, values.reshape(len(X), -1), strict=True):
        writer.writerow([*line, *("" if np.isnan(value) else repr(float(value)) for value in row)])


# --- Following a search ----------------------------------------------------------------------------------------------


def _follow(
    search: Callable[[tuple[Observer, ...]], SymbolicRegressor],
    settings: Settings,
    targets: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    """Run a search under a display, and print what it found."""
    plan = settings.plan()
    ending = Termination()
    try:
        with ending:
            if as_json:
                model = search(())
            else:
                with Display(targets, Budget(plan.max_evals, plan.max_time), settings.model_selection) as display:
                    model = search((display.watch,))
    except KeyboardInterrupt:
        click.echo("symseed: The search was stopped before it found a formula.", err=True)
        sys.exit(TERMINATED if ending.is_terminated else INTERRUPTED)
    _print(model, targets, as_json=as_json)
    if ending.is_terminated:
        sys.exit(TERMINATED)
    if model.interrupted_:
        sys.exit(INTERRUPTED)


def _print(model: SymbolicRegressor, targets: Sequence[str], *, as_json: bool) -> None:
    rule = model.model_selection
    if as_json:
        records = [_record(target, front, rule) for target, front in zip(targets, model.fronts, strict=True)]
        click.echo(files.json_text({"run_directory": model.run_directory_, "targets": records}))
        return
    for target, front in zip(targets, model.fronts, strict=True):
        click.echo(for_terminal(front.text(rule)))
        click.echo(for_terminal(f"{target} = {front.equations[front.choice(rule)]}"))
    if model.run_directory_ is not None:
        click.echo(f"The run is in {model.run_directory_}")


def _record(target: str, front: EquationFront, rule: str) -> dict[str, Any]:
    rows = [_described(item) for item in front.equations]
    chosen = front.choice(rule)
    return {
        "target": target,
        "equation": rows[chosen]["equation"],
        "index": chosen,
        "reason": front.reason.value,
        "front": rows,
    }


def _described(item: Equation) -> dict[str, Any]:
    return {"complexity": item.complexity, "loss": item.loss, "score": item.score, "equation": str(item)}


def _with_units(data: RunData, texts: Sequence[str]) -> RunData:
    """Read COLUMN=UNIT; columns that are left out are pure numbers."""
    units: dict[str, str] = {}
    for text in texts:
        name, equals, unit = text.rpartition("=")
        if not equals or name not in (*data.names, *data.targets):
            raise SettingsError(
                f"`--unit` must be COLUMN=UNIT with a column of numbers, but it is `{text}`. The columns are "
                f"{', '.join((*data.names, *data.targets))}."
            )
        units[name] = unit
    if not units:
        return data
    columns = {name: unit for name, unit in units.items() if name in data.names}
    targets = [units.get(name) for name in data.targets]
    return data.with_units(columns, targets if data.is_multiple else targets[0])
