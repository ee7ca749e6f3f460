"""The command `evaluate`: formulas of the user, fitted to a table and compared."""

from __future__ import annotations

import shlex

import click
import numpy as np

from symseed import files, tables
from symseed.cli import complete, next_step, options
from symseed.cli.table_options import missing_option, reading_options
from symseed.data import Dataset
from symseed.language import Population, categories
from symseed.scoring import Errors, Failure, typed
from symseed.text import for_terminal


@click.command(
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

    DATA is a table in any format that `fit` reads, or one that ships with symseed, such as `planets`. A formula
    uses column names, numbers, which stay fixed, and `const` for constants to fit; `const[species]` is a
    constant for each value of the column `species`.
    """
    by_category = dict.fromkeys(name for formula in formulas for name in categories.named_in(formula))
    chosen = tables.read(data, reading).select([target], missing=missing, categories=list(by_category))
    formulas = tuple(categories.written_out(formula, chosen.categories) for formula in formulas)
    dataset = Dataset.of(chosen.X, chosen.y[:, 0], chosen.weights, chosen.names)
    fitted, errors = typed.fitted(typed.read(formulas, dataset.names), dataset, restarts)
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


def _record(population: Population, errors: Errors, dataset: Dataset, row: int) -> dict[str, float | int | str | None]:
    """One line of the comparison."""
    failure = Failure(errors.failure[row])
    rmse = float(dataset.mean_squares(errors.error)[row]) ** 0.5
    is_scored = failure is Failure.NONE
    return {
        "complexity": int(population.complexity[row]),
        "rmse": rmse if is_scored else None,
        "r2": 1.0 - (rmse / dataset.deviation) ** 2 if is_scored and dataset.deviation > 0.0 else None,
        "formula": str(population[row]),
        "failure": None if is_scored else failure.sentence,
    }
