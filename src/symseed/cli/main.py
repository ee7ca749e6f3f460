"""The command line: all commands of `symseed`."""

from __future__ import annotations

import importlib
import io
import os
import platform
import shlex
import shutil
import sys
import warnings

import click
import numpy as np

from symseed import _core, files, methods, tables
from symseed.cli import complete, next_step, options
from symseed.cli.table_options import missing_option, reading_options
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
from symseed.search import changes
from symseed.text import for_terminal
from symseed.version import version

ELSEWHERE = {
    "bench": ("bench", "bench_commands"),
    "fit": ("fit", "fit"),
    "predict": ("show", "predict"),
    "report": ("show", "report"),
    "resume": ("fit", "resume"),
    "runs": ("runs", "runs"),
    "show": ("show", "show"),
}
"""Commands of other modules, with their names there. These modules load scikit-learn only when a command runs, not for
help or shell completion, because it takes longer to load than most commands take."""
_MOST_FITS = 200  # fits of 100 iterations each: redundant constants need thousands of iterations


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *ELSEWHERE])

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in ELSEWHERE:
            return super().get_command(ctx, name)
        module, attribute = ELSEWHERE[name]
        command: click.Command = getattr(importlib.import_module(f"symseed.cli.{module}"), attribute)
        return command


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=options.examples(
        "symseed fit planets -y period_days",
        "symseed show latest",
        "symseed report latest",
    ),
)
@click.version_option(version(), prog_name="symseed")
def commands() -> None:
    """Find short formulas in data."""


@commands.command(
    epilog=options.examples(
        "symseed evaluate planets -y period_days 'const * axis_au' 'const * axis_au ^ const'",
    )
)
@click.argument("data", shell_complete=complete.data)
@click.argument("formulas", nargs=-1, required=True)
@click.option(
    "-y", "--target", required=True, metavar="COLUMN", shell_complete=complete.column, help="Column to predict."
)
@click.option("--restarts", default=20, show_default=True, help="Random starts for the constants of each formula.")
@missing_option
@reading_options
@options.as_json
def evaluate(
    data: str,
    formulas: tuple[str, ...],
    target: str,
    restarts: int,
    missing: str,
    reading: tables.TableOptions,
    as_json: bool,
) -> None:
    """Fit the constants of FORMULAS to DATA and compare the fits.

    DATA is a table in any format that `fit` reads, or one that ships with symseed (diabetes, hubble, planets). A
    formula uses column names, numbers, which stay fixed, and `const` for constants to fit.
    """
    chosen = tables.read(data, reading).select([target], missing=missing)
    dataset = Dataset.of(chosen.X, chosen.y[:, 0], chosen.weights, chosen.names)
    numbers = dict.fromkeys(number for formula in formulas for number in numbers_in(formula))
    library = Library.of([*OPERATORS, *numbers], dataset.names, constants=True)
    population = Population.from_expressions([Expression.parse(formula, library) for formula in formulas])
    fitted, _ = fit(population, dataset, FitSettings(iterations=100, restarts=restarts))
    fitted, errors = fit_to_convergence(fitted, dataset, most=_MOST_FITS)
    order = np.lexsort((errors.error, fitted.complexity))
    if as_json:
        for note in chosen.report.notes:
            click.echo(for_terminal(f"symseed: {note}"), err=True)
        click.echo(files.json_text([_record(fitted, errors, dataset, int(row)) for row in order]))
        return
    click.echo(for_terminal(chosen.report.text()))
    click.echo(f"{'complexity':>10}  {'rmse':>10}  {'R^2':>10}  formula")
    for row in order:
        record = _record(fitted, errors, dataset, int(row))
        rmse = "-" if record["rmse"] is None else f"{record['rmse']:.4g}"
        r2 = "-" if record["r2"] is None else f"{record['r2']:.7f}"
        failure = f"  ({record['failure']})" if record["failure"] else ""
        click.echo(for_terminal(f"{record['complexity']:>10}  {rmse:>10}  {r2:>10}  {record['formula']}{failure}"))
    next_step.say(f"symseed fit {shlex.quote(data)} -y {shlex.quote(target)}")


@commands.command(name="methods")
@click.argument("name", required=False)
@options.as_json
def methods_command(name: str | None, as_json: bool) -> None:
    """List the search methods, or the settings of the method NAME.

    Every method runs in `symseed fit` (--method NAME) and in `symseed bench run` (--method NAME). The settings of
    its searches can be set by --set, such as --set policy.learning_rate=0.001.
    """
    if name is not None:
        _explain(methods.get(name), as_json=as_json)
        return
    if as_json:
        click.echo(files.json_text({method.name: method.description for method in methods.METHODS.values()}))
        return
    rows = [(method.name, method.description) for method in methods.METHODS.values()]
    if next_step.is_terminal():
        formatter = click.HelpFormatter(width=shutil.get_terminal_size().columns - 1)
        formatter.write_dl(rows)
        click.echo(formatter.getvalue(), nl=False)
    else:  # one line each, for programs that search for words
        for name, description in rows:
            click.echo(f"{name:40}{description}")
    next_step.say("symseed fit DATA -y COLUMN --method NAME")


def _explain(method: methods.Method, *, as_json: bool) -> None:
    """Print what a method is, and the settings of each of its searches."""
    searches = [method.settings] if method.portfolio is None else [track.settings for track in method.portfolio.tracks]
    every = [changes.values(settings) for settings in searches]
    if as_json:
        click.echo(files.json_text({"name": method.name, "description": method.description, "searches": every}))
        return
    click.echo(f"{method.name}: {method.description}")
    for place, values in enumerate(every):
        click.echo("\nsettings:" if len(every) == 1 else f"\nsettings of search {place}:")
        for name, value in values.items():
            text = "none" if value is None else files.json_text(list(value) if isinstance(value, tuple) else value)
            click.echo(f"  {name:34}{text}")


@commands.command()
@options.as_json
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
    next_step.say("symseed fit planets -y period_days")


@commands.command(
    epilog=options.examples(
        'eval "$(symseed completion bash)"        # ~/.bashrc',
        'eval "$(symseed completion zsh)"         # ~/.zshrc',
        "symseed completion fish | source         # ~/.config/fish/config.fish",
        title="Add the line for your shell to its file",
    )
)
@click.argument("shell", type=click.Choice(complete.SHELLS))
def completion(shell: str) -> None:
    """Print a script that lets SHELL complete options, columns, runs and methods."""
    click.echo(complete.script(commands, shell))


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
            stream.reconfigure(errors="backslashreplace")  # a console may lack letters of a name
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
