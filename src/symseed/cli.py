"""The command line: every command that `symseed` has."""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import replace

import click
import numpy as np

import symseed
from symseed import _core, methods, search, tables
from symseed.cli_bench import bench_commands
from symseed.dataset import Dataset
from symseed.errors import SymseedError
from symseed.evaluation import Errors, Failure, fit
from symseed.expression import Expression
from symseed.fitting import FitSettings
from symseed.library import Library
from symseed.parsing import numbers_in
from symseed.population import Population
from symseed.portfolio import Portfolio
from symseed.regression import RegressionSettings, RegressionTask
from symseed.search import Budget
from symseed.tokens import OPERATORS

DEFAULT_OPERATORS = "add sub mul div sqrt square exp log sin cos const"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(symseed.__version__, prog_name="symseed")
def commands() -> None:
    """Find short formulas in data."""


@commands.command()
@click.argument("data")
@click.argument("formulas", nargs=-1, required=True)
@click.option("--target", required=True, help="The column to be explained.")
@click.option("--restarts", default=20, show_default=True, help="Random starts for the constants of each formula.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def evaluate(data: str, formulas: tuple[str, ...], target: str, restarts: int, as_json: bool) -> None:
    """Fit the constants of FORMULAS to DATA and compare them.

    DATA is a CSV file with a header, or a table that ships with symseed (planets). In a formula, `const` is a constant
    to be fitted, numbers stay as they are, and columns go by their names: 'const * sqrt(axis_au ^ 3)'.
    """
    dataset = tables.read(data, target)
    numbers = dict.fromkeys(number for formula in formulas for number in numbers_in(formula))
    library = Library.of([*OPERATORS, *numbers], dataset.names, constants=True)
    population = Population.from_expressions([Expression.parse(formula, library) for formula in formulas])
    fitted, errors = fit(population, dataset, FitSettings(iterations=100, restarts=restarts))
    order = np.lexsort((errors.error, fitted.complexity))
    if as_json:
        click.echo(json.dumps([_record(fitted, errors, dataset, int(row)) for row in order]))
        return
    click.echo(f"{len(dataset)} samples, target {target}, from {', '.join(dataset.names)}")
    click.echo(f"{'complexity':>10}  {'rmse':>10}  {'R^2':>10}  formula")
    for row in order:
        record = _record(fitted, errors, dataset, int(row))
        if record["failure"]:
            click.echo(f"{record['complexity']:>10}  {'-':>10}  {'-':>10}  {record['formula']}  ({record['failure']})")
        else:
            click.echo(
                f"{record['complexity']:>10}  {record['rmse']:>10.4g}  {record['r2']:>10.7f}  {record['formula']}"
            )


@commands.command(name="fit")
@click.argument("data")
@click.option("--target", required=True, help="The column to be explained.")
@click.option("--method", "method_name", default="default", show_default=True, help="One of `symseed methods`.")
@click.option("--operators", default=DEFAULT_OPERATORS, show_default=True, help="Operators, numbers and `const`.")
@click.option("--maxsize", type=int, help="Most tokens of a formula; the method's own limit where left out.")
@click.option("--max-evals", type=int, help="Most expressions; the method's own budget where left out.")
@click.option("--max-time", type=float, help="Most seconds.")
@click.option("--patience", default=8, show_default=True, help="Turns of `default` without another choice.")
@click.option("--stop-nmse", default=1e-12, show_default=True, help="An error that ends other methods' searches.")
@click.option("--seed", default=0, show_default=True)
@click.option("--threads", default=1, show_default=True, help="Of scoring. The answer does not depend on it.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else.")
def fit_command(
    data: str,
    target: str,
    method_name: str,
    operators: str,
    maxsize: int | None,
    max_evals: int | None,
    max_time: float | None,
    patience: int,
    stop_nmse: float,
    seed: int,
    threads: int,
    as_json: bool,
) -> None:
    """Search for a formula that explains a column of DATA by the others.

    DATA is a CSV file with a header, or a table that ships with symseed (planets). Ctrl-C ends the search with the best
    so far.
    """
    dataset = tables.read(data, target)
    method = methods.get(method_name)
    method = replace(method, max_length=method.max_length if maxsize is None else maxsize)
    library = Library.of(operators.split(), dataset.names)
    if method.portfolio is not None:
        limits = Budget(max_evals or method.budget.expressions, max_time or method.budget.seconds)
        settings = method.portfolio if maxsize is None else method.portfolio.with_max_length(maxsize)
        prepared = Portfolio(library, dataset, settings, seed=seed, budget=limits, threads=threads)
        _fit_portfolio(prepared, target, patience=patience, as_json=as_json, seed=seed)
        return
    task = RegressionTask(library, dataset, RegressionSettings(solved_nmse=stop_nmse, threads=threads))
    budget = Budget(max_evals if max_evals or max_time else method.budget.expressions, max_time)
    last = None
    for step in search.steps(method.space(library), task, method.settings, seed=seed, budget=budget):
        is_news = last is None or step.reward > last.reward or step.reason is not None
        if is_news and not as_json:
            click.echo(f"{step.seconds:7.2f} s  {step.charged:>10,} expressions  reward {step.reward:.9f}  {step.best}")
        last = step
    assert last is not None, "a search has at least one step"
    assert last.reason is not None, "its last step says why it ended"
    if as_json:
        record = {"formula": str(last.best), "reward": last.reward, "reason": last.reason.value, "seed": seed}
        counts = {name: getattr(last, name) for name in ("charged", "evaluated", "unique", "seconds")}
        click.echo(json.dumps(record | counts))
    else:
        click.echo(f"{target} = {last.best}\n{last.reason.value}")


def _fit_portfolio(portfolio: Portfolio, target: str, *, patience: int, as_json: bool, seed: int) -> None:
    """Follow a portfolio until it ends or its choice stays the same; print the front and the choice."""
    last, since = None, 0
    for turn in portfolio.turns():
        since = since + 1 if last is not None and turn.best == last.best else 0
        if since == 0 and not as_json:
            click.echo(f"{turn.seconds:7.2f} s  {turn.charged:>10,} expressions  {turn.best.expression}")
        last = turn
        if since >= patience:
            break
    assert last is not None, "a portfolio has at least one turn"
    reason = f"The choice did not change for {patience} turns." if last.reason is None else last.reason.value
    front = [
        {"complexity": len(item.expression), "rmse": item.mean_square**0.5, "formula": str(item.expression)}
        for item in portfolio.front()
    ]
    if as_json:
        record = {
            "formula": str(last.best.expression),
            "rmse": last.best.mean_square**0.5,
            "reason": reason,
            "seed": seed,
        }
        counts = {name: getattr(last, name) for name in ("charged", "evaluated", "unique", "seconds")}
        click.echo(json.dumps(record | counts | {"front": front}))
        return
    click.echo(f"{'tokens':>7}  {'rmse':>10}  formula")
    for line in front:
        click.echo(f"{line['complexity']:>7}  {line['rmse']:>10.4g}  {line['formula']}")
    click.echo(f"{target} = {last.best.expression}\n{reason}")


@commands.command(name="methods")
def methods_command() -> None:
    """List the methods that `fit` knows."""
    for method in methods.METHODS.values():
        click.echo(f"{method.name:40}{method.description}")


@commands.command()
def doctor() -> None:
    """Say what symseed runs on, and check that it computes what NumPy does."""
    click.echo(f"symseed {symseed.__version__}, Python {platform.python_version()}, NumPy {np.__version__}")
    click.echo(f"{platform.platform()}, {os.cpu_count()} cores")
    click.echo(f"instruction sets: {', '.join(_core.instruction_sets())} (the first is used)")
    x = np.linspace(0.1, 3.0, 1000)
    expression = Expression.parse("sin(x1 * x1) * exp(-x1) + log(x1) / sqrt(x1)", Library.of(list(OPERATORS), 1))
    expected = np.sin(x * x) * np.exp(-x) + np.log(x) / np.sqrt(x)
    worst = float(np.max(np.abs(expression.evaluate(x[:, None]) - expected)))
    if worst > 1e-14:
        raise click.ClickException(f"The core differs from NumPy by {worst:.1e}; expected at most 1e-14. Rebuild it.")
    click.echo(f"the core agrees with NumPy (largest difference {worst:.1e})")


def _record(population: Population, errors: Errors, dataset: Dataset, row: int) -> dict[str, float | int | str | None]:
    """One line of the comparison."""
    failure = Failure(errors.failure[row])
    rmse = (float(errors.error[row]) / dataset.total_weight) ** 0.5
    is_scored = failure is Failure.NONE
    return {
        "complexity": int(population.complexity[row]),
        "rmse": rmse if is_scored else None,
        "r2": 1.0 - (rmse / dataset.deviation) ** 2 if is_scored and dataset.deviation > 0.0 else None,
        "formula": str(population[row]),
        "failure": None if is_scored else failure.sentence,
    }


commands.add_command(bench_commands)


def main() -> None:
    """Run a command; a mistake of the user's ends it with one sentence and exit code 2."""
    try:
        commands()
    except SymseedError as error:
        click.echo(f"symseed: {error}", err=True)
        sys.exit(2)
