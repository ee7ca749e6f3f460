"""Results of a run: printed, exported, as an HTML report, and as predictions."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from symseed import files
from symseed.cli import next_step, run_names
from symseed.data import NoiseKind
from symseed.errors import SettingsError, listed
from symseed.regressor import front_text, settings_text
from symseed.regressor.front import Equation, EquationFront
from symseed.regressor.regressor import SymbolicRegressor
from symseed.regressor.run import Run
from symseed.regressor.run_data import RunData
from symseed.regressor.stability import Stability
from symseed.show import plot_alternatives
from symseed.show.page import Drawing, ReportContent, report_html
from symseed.studio.frozen import frozen
from symseed.text import for_terminal
from symseed.version import version

_MOST_RESAMPLED = 2_000
"""Most rows for which a report says what other samples would give, a bound on time: chosen by hand."""

_MOST_THOUGHT = 3
"""Most forms of the network's that a terminal shows: chosen by hand."""


def show(folder: Path, index: int | None, format_: str | None, *, as_json: bool) -> None:
    """Print the front of a run, or one formula of it."""
    model = SymbolicRegressor.from_file(folder)
    data = Run.read(folder, is_to_search=False).data
    targets = data.targets
    if format_ is None and index is None:
        print_fronts(model, data, as_json=as_json)
        if not as_json:
            next_step.say(f"symseed report {run_names.typed(folder)}")
        return
    rows = model.at(index)
    texts = [str(row) if format_ is None else row.export(format_) for row in rows]
    if as_json:
        shown = [
            {"target": target, **_described(row), "text": text}
            for target, row, text in zip(targets, rows, texts, strict=True)
        ]
        click.echo(files.json_text({"targets": shown}))
        return
    for text in texts:
        click.echo(for_terminal(text))
    next_step.say(f"symseed predict {run_names.typed(folder)} DATA")


def report(folder: Path, output: str | None) -> None:
    """Write a report for each target, and print its path."""
    opened = Run.read(folder, is_to_search=False)
    model = SymbolicRegressor.from_file(folder)
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
            dataset=data.dataset(place),
            noise=front.noise.words,
            remarks=data.remarks(place, front.equations[chosen].expression, front.noise),
            source=data.source,
            units=data.units_of(place),
            table=data.table,
            structure=[str(finding) for finding in opened.log.structure(place)[:1]],
            prior=opened.log.prior(place),
            settings=settings_text.to_values(opened.settings),
            reason=front.reason.value,
            seed=opened.seed,
            versions={"symseed": version(), "Python": platform.python_version(), "NumPy": np.__version__},
            code=_exports(front.equations[chosen]),
            **_sureness(model, data, place),
        )
        name = "report.html" if place == 0 else f"report-{place + 1}.html"
        path = opened.folder / name if output is None else Path(output).with_name(_numbered(Path(output), place))
        try:
            files.replace(path, report_html(content, frozen(opened.folder, place)).encode())
        except OSError as error:
            raise SettingsError(
                f"`--output` must be a file that can be written, but `{path}` is not: {error}."
            ) from error
        click.echo(str(path))
    next_step.say("open it in a browser", f"symseed show {run_names.typed(folder)} --as latex")


def _sureness(model: SymbolicRegressor, data: RunData, place: int) -> dict[str, Any]:
    """What a report says about alternatives and other samples."""
    rivals, dataset = model.alternatives_of(place), data.sample(place)[0]
    contrast, drawings = rivals.contrast, []
    if contrast is not None:
        target, units = data.targets[place], data.units_of(place)
        caption = "Formulas that the data cannot tell apart, and where they differ most"
        drawings = [
            Drawing(
                "alternatives",
                caption,
                lambda: plot_alternatives(rivals.equations, contrast, dataset, target=target, units=units),
            )
        ]
    stability = str(model.stability_of(place, dataset)) if len(dataset) <= _MOST_RESAMPLED else ""
    return {
        "alternatives": rivals.equations,
        "summary": rivals.summary,
        "stability": stability,
        "drawings": drawings,
    }


def stability(folder: Path, times: int, changes: Sequence[str] | None, seed: int, *, as_json: bool) -> None:
    """Print what a run would have selected from other rows; with changes of settings, each time by a whole search."""
    data = Run.read(folder, is_to_search=False).data
    model = SymbolicRegressor.from_file(folder)
    search = None if changes is None else settings_text.read_changes(changes)
    found = [
        model.stability_of(place, data.sample(place)[0], times, search, seed) for place in range(len(data.targets))
    ]
    if as_json:
        click.echo(files.json_text({"targets": [_stable(*pair) for pair in zip(data.targets, found, strict=True)]}))
        return
    for target, item in zip(data.targets, found, strict=True):
        click.echo(for_terminal(f"{target}: {item}" if data.is_multiple else str(item)))
    next_step.say(f"symseed report {run_names.typed(folder)}")


def _stable(target: str, found: Stability) -> dict[str, Any]:
    formulas = [
        {
            "equation": str(item.expression),
            "shown": item.text,
            "count": item.count,
            "constants": item.constants.to_dict("records"),
        }
        for item in found.formulas
    ]
    return {"target": target, "resamples": len(found.selected), "searched": found.is_searched, "formulas": formulas}


def print_fronts(model: SymbolicRegressor, data: RunData, *, as_json: bool) -> None:
    """Print the front of every target, and the folder of the run; JSON also has the report on the table."""
    rule = model.model_selection
    selected = model.selected_features_ if data.is_multiple else [model.selected_features_]
    structures = model.structure_ if data.is_multiple else [model.structure_]
    priors = model.prior_ if data.is_multiple else [model.prior_]
    if as_json:
        parts = model.parts() if data.is_multiple else [model.parts()]
        records = [
            {
                **_record(target, front, rule),
                "columns": names,
                **({"parts": own} if own else {}),
                **({"structure": [asdict(finding) for finding in structure]} if structure else {}),
                **({"prior": [asdict(guess) for guess in prior]} if prior else {}),
            }
            for target, front, names, own, structure, prior in zip(
                data.targets, model.fronts, selected, parts, structures, priors, strict=True
            )
        ]
        table = {} if data.table is None else {"table": data.table.values()}
        click.echo(files.json_text({"run_directory": model.run_directory_, "targets": records, **table}))
        return
    width = shutil.get_terminal_size().columns if next_step.is_terminal() else None
    remarks = model.remarks_ if data.is_multiple else [model.remarks_]
    for target, front, names, own, structure, prior in zip(
        data.targets, model.fronts, selected, remarks, structures, priors, strict=True
    ):
        click.echo(for_terminal(front.text(rule, width)))
        formula = f"{target} = {front.equations[front.choice(rule)]}"
        click.echo(for_terminal("\n".join(front_text.wrapped(formula, width))))
        constants = front.equations[front.choice(rule)].constants
        if any("±" in constant for constant in constants):
            click.echo("\n".join(front_text.wrapped(f"Constants: {', '.join(constants)}", width)))
        if front.noise.kind is not NoiseKind.ADDITIVE:
            click.echo(for_terminal("\n".join(front_text.wrapped(front.noise.words, width))))
        for remark in own:
            click.echo(for_terminal("\n".join(front_text.wrapped(remark, width))))
        for finding in structure[:1]:
            click.echo(for_terminal("\n".join(front_text.wrapped(f"By evidence, {finding}.", width))))
        if prior:
            thought = f"Before any search, the network thought of {', '.join(map(str, prior[:_MOST_THOUGHT]))}."
            click.echo(for_terminal("\n".join(front_text.wrapped(thought, width))))
        if len(names) < len(data.names):
            click.echo(for_terminal(f"The search used {len(names)} of {len(data.names)} columns: {listed(names)}."))
    for parts in model.parts() if data.is_multiple else [model.parts()]:
        for name, text in parts.items():
            click.echo(for_terminal("\n".join(front_text.wrapped(f"  {name} = {text}", width))))
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
        "noise": {**front.noise.values(), "words": front.noise.words},
        "front": rows,
    }


def _described(item: Equation) -> dict[str, Any]:
    return {
        "complexity": item.complexity,
        "loss": item.loss,
        "score": item.score,
        "test_loss": item.test_loss,
        "cv_loss": item.cv_loss,
        "weight": item.weight,
        "equation": str(item.expression),
        "shown": item.text,
    }


def _numbered(path: Path, place: int) -> str:
    return path.name if place == 0 else f"{path.stem}-{place + 1}{path.suffix}"


def _exports(equation: Equation) -> dict[str, str]:
    """The formula in every notation that can express it."""
    out = equation.exports()
    if any("±" in constant for constant in equation.constants):
        out["constants, in LaTeX"] = equation.latex_constants()
    return out
