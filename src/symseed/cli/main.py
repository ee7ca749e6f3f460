"""The command line: every command that `symseed` has."""

from __future__ import annotations

import importlib
import io
import os
import platform
import sys
import warnings

import click
import numpy as np

from symseed import _core, files, methods
from symseed.data import tables
from symseed.data.backend import Errors, Failure
from symseed.data.dataset import Dataset
from symseed.errors import SymseedError
from symseed.language.expression import Expression
from symseed.language.library import Library
from symseed.language.parsing import numbers_in
from symseed.language.population import Population
from symseed.language.tokens import OPERATORS
from symseed.scoring.evaluation import fit, fit_to_convergence
from symseed.scoring.fitting import FitSettings
from symseed.text import for_terminal
from symseed.version import version

ELSEWHERE = {
    "bench": ("bench", "bench_commands"),
    "fit": ("fit", "fit"),
    "predict": ("fit", "predict"),
    "report": ("fit", "report"),
    "resume": ("fit", "resume"),
    "show": ("fit", "show"),
}
"""Commands of other modules, and what they are called there. They are loaded when they are asked for: scikit-learn
takes longer to load than most commands to run."""
_MOST_FITS = 200  # of a formula, each of 100 iterations: constants that can stand in for one another take thousands


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *ELSEWHERE])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in ELSEWHERE:
            return super().get_command(ctx, name)
        module, attribute = ELSEWHERE[name]
        command: click.Command = getattr(importlib.import_module(f"symseed.cli.{module}"), attribute)
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version(), prog_name="symseed")
def commands() -> None:
    """Find short formulas in data."""


@commands.command()
@click.argument("data")
@click.argument("formulas", nargs=-1, required=True)
@click.option("--target", required=True, help="Target column.")
@click.option("--restarts", default=20, show_default=True, help="Random starts for the constants of each formula.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def evaluate(data: str, formulas: tuple[str, ...], target: str, restarts: int, as_json: bool) -> None:
    """Fit the constants of FORMULAS to DATA and compare the fits.

    DATA is a CSV file with a header, or a table that ships with symseed (diabetes, hubble, planets). A formula uses
    column names, numbers, which stay fixed, and `const` for constants to fit: 'const * sqrt(axis_au ^ 3)'.
    """
    dataset = tables.read(data, target)
    numbers = dict.fromkeys(number for formula in formulas for number in numbers_in(formula))
    library = Library.of([*OPERATORS, *numbers], dataset.names, constants=True)
    population = Population.from_expressions([Expression.parse(formula, library) for formula in formulas])
    fitted, _ = fit(population, dataset, FitSettings(iterations=100, restarts=restarts))
    fitted, errors = fit_to_convergence(fitted, dataset, most=_MOST_FITS)
    order = np.lexsort((errors.error, fitted.complexity))
    if as_json:
        click.echo(files.json_text([_record(fitted, errors, dataset, int(row)) for row in order]))
        return
    click.echo(for_terminal(f"{len(dataset)} samples, target {target}, from {', '.join(dataset.names)}"))
    click.echo(f"{'complexity':>10}  {'rmse':>10}  {'R^2':>10}  formula")
    for row in order:
        record = _record(fitted, errors, dataset, int(row))
        rmse = "-" if record["rmse"] is None else f"{record['rmse']:.4g}"
        r2 = "-" if record["r2"] is None else f"{record['r2']:.7f}"
        failure = f"  ({record['failure']})" if record["failure"] else ""
        click.echo(for_terminal(f"{record['complexity']:>10}  {rmse:>10}  {r2:>10}  {record['formula']}{failure}"))


_json = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")


@commands.command(name="methods")
@_json
def methods_command(as_json: bool) -> None:
    """List the search methods."""
    if as_json:
        click.echo(files.json_text({method.name: method.description for method in methods.METHODS.values()}))
        return
    for method in methods.METHODS.values():
        click.echo(f"{method.name:40}{method.description}")


@commands.command()
@_json
def doctor(as_json: bool) -> None:
    """Show versions and hardware, and compare the core with NumPy."""
    x = np.linspace(0.1, 3.0, 1000)
    expression = Expression.parse("sin(x1 * x1) * exp(-x1) + log(x1) / sqrt(x1)", Library.of(list(OPERATORS), 1))
    expected = np.sin(x * x) * np.exp(-x) + np.log(x) / np.sqrt(x)
    worst = float(np.max(np.abs(expression.evaluate(x[:, None]) - expected)))
    if worst > 1e-14:
        raise click.ClickException(f"The core must agree with NumPy to 1e-14, but differs by {worst:.1e}. Rebuild it.")
    facts = {
        "symseed": version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "instruction_sets": _core.instruction_sets(),
        "largest_difference": worst,
    }
    if as_json:
        click.echo(files.json_text(facts))
        return
    click.echo(f"symseed {facts['symseed']}, Python {facts['python']}, NumPy {facts['numpy']}")
    click.echo(f"{facts['platform']}, {facts['cores']} cores")
    click.echo(f"instruction sets: {', '.join(_core.instruction_sets())} (the first is used)")
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


def main() -> None:
    """Run a command; invalid input ends it with one sentence and exit code 2."""
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a console need not know the letters of every name
    try:
        commands()
    except SymseedError as error:
        click.echo(for_terminal(f"symseed: {error}"), err=True)
        sys.exit(2)
    except MemoryError:
        click.echo("symseed: There is not enough memory. Use fewer samples or columns.", err=True)
        sys.exit(1)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(for_terminal(f"symseed: warning: {message}"), err=True)
