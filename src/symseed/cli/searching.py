"""A search from the command line: its settings, its display, and its results."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from sklearn.utils import check_random_state

from symseed.cli import live, next_step, options, results, run_names
from symseed.cli.choice import Choice
from symseed.regressor import settings_text
from symseed.regressor.fitting import Screen
from symseed.regressor.regressor import SymbolicRegressor
from symseed.regressor.run import Run
from symseed.regressor.run_data import RunData
from symseed.regressor.settings import Settings
from symseed.signals import INTERRUPTED
from symseed.text import for_terminal


def changes(typed: Mapping[str, tuple[Any, str]], texts: Sequence[str]) -> dict[str, Any]:
    """Return the settings of options and of `--set`."""
    plain = settings_text.from_values({name: value for name, (value, _) in typed.items()})
    return options.combined(
        {name: (plain[name], text) for name, (_, text) in typed.items()}, settings_text.read_changes(texts)
    )


def settings(config: str | None, typed: Mapping[str, tuple[Any, str]], texts: Sequence[str]) -> dict[str, Any]:
    """Return the settings of a file, changed by options and `--set`."""
    values: dict[str, Any] = {"output_directory": str(run_names.PARENT), "random_state": 0}
    values |= {} if config is None else settings_text.read_file(config)
    return settings_text.merged(values, changes(typed, texts))


def fit(source: str, chosen: Choice, values: Mapping[str, Any], *, as_json: bool) -> None:
    """Search a table for formulas, and print them."""
    plan = Settings.of(values).plan()
    plan.backend()  # A GPU that is missing is said before the table is read.
    if plan.template is not None:
        chosen = replace(chosen, categories=plan.template.by_category)
    seed = int(check_random_state(plan.given.random_state).randint(2**31 - 1))
    with live.reading(source, live.console()) if not as_json else contextlib.nullcontext():
        data = chosen.read(source, seed)

    def search(screen: Screen | None) -> SymbolicRegressor:
        model = SymbolicRegressor(**values)
        model.fit_data(plan, data, labels=data.given_names, seed=seed, screen=screen)
        return model

    if data.table is not None and not as_json:
        click.echo(for_terminal(data.table.text()))
    _follow(search, plan.given, data, as_json=as_json)


def resume(folder: Path, values: Mapping[str, Any], *, as_json: bool) -> None:
    """Continue a run, and print its formulas."""
    opened = Run.read(folder, **values)

    def search(screen: Screen | None) -> SymbolicRegressor:
        return SymbolicRegressor.resume(folder, screen=screen, **values)

    _follow(search, opened.settings, opened.data, as_json=as_json)


def _follow(
    search: Callable[[Screen | None], SymbolicRegressor],
    given: Settings,
    data: RunData,
    *,
    as_json: bool,
) -> None:
    """Run a search under a display, and print its results."""
    try:
        display = live.Display(data.targets, given.plan().patience, given.model_selection, live.console())
        model = search(None if as_json else display)
    except KeyboardInterrupt:
        click.echo("symseed: The search was stopped before it found a formula.", err=True)
        sys.exit(INTERRUPTED)
    results.print_fronts(model, data, as_json=as_json)
    if not as_json and model.run_directory_ is not None:
        name = run_names.typed(Path(model.run_directory_))
        next_step.say(*([f"symseed resume {name}"] if model.interrupted_ else []), f"symseed report {name}")
    if model.interrupted_:
        sys.exit(INTERRUPTED)
