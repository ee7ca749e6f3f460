"""The commands `symseed bench list` and `symseed bench show`: benchmark problems."""

from __future__ import annotations

import click
import numpy as np

from symseed import benchmarks, files
from symseed.arrays import Floats
from symseed.benchmarks import rates, unseen
from symseed.cli import next_step

DRAW = "Number of the random sample; 0 is the data of the paper's released code, where it has the problem."


@click.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def list_command(as_json: bool) -> None:
    """List the benchmark sets and their problems."""
    if as_json:
        found = {
            name: {member: benchmarks.get(member).formula for member in members}
            for name, members in benchmarks.SETS.items()
        }
        click.echo(files.json_text(found))
        return
    for name, members in benchmarks.SETS.items():
        sources = dict.fromkeys(benchmarks.get(member).source for member in members)
        click.echo(f"{name} ({len(members)}): {' '.join(sources)}")
        for member in members:
            click.echo(f"  {member:20}{benchmarks.get(member).formula}")
    click.echo(unseen.OVERVIEW)
    next_step.say("symseed bench show Nguyen-5")


@click.command(name="show")
@click.argument("name")
@click.option("--draw", default=0, show_default=True, help=DRAW)
def show_command(name: str, draw: int) -> None:
    """Show a problem: its formula, tokens and data."""
    problem = benchmarks.get(name)
    train, test = problem.datasets(draw)
    click.echo(f"{problem.name}: y = {problem.formula}")
    click.echo(f"tokens: {' '.join(token.name for token in problem.library.tokens)}")
    click.echo(f"data: {len(train)} samples to fit, {len(test)} to test; {problem.source}")
    if problem.units is not None:
        units = (f"{name} [{unit}]" for name, unit in zip(problem.names, problem.units.columns, strict=True))
        click.echo(f"units: {', '.join(units)}, y [{problem.units.target}]")
    if problem.note:
        click.echo(f"note: {problem.note}")
    fit = rates.fit_of(name)
    words = f"fits, in {len(fit.writing)} tokens: {fit.writing}" if fit.writing and fit.holds else fit.reason
    click.echo(f"rules of the paper: {words}")
    click.echo(_plot(train.X[:, 0], train.y))
    for row in range(min(5, len(train))):
        values = ", ".join(f"{name} = {value:.6g}" for name, value in zip(train.names, train.X[row], strict=True))
        click.echo(f"  {values}, y = {train.y[row]:.6g}")
    next_step.say(f"symseed bench run {name} --store FOLDER")


def _plot(x: Floats, y: Floats, width: int = 60, height: int = 12) -> str:
    """Draw points as text, y against x."""
    cells = [[" "] * width for _ in range(height)]
    for column, line in set(zip(_places(x, width), _places(y, height), strict=True)):
        cells[height - 1 - line][column] = "*"
    labels = [f"{y.max():10.4g}", *[" " * 10] * (height - 2), f"{y.min():10.4g}"]
    lines = [f"{label} |{''.join(cell)}" for label, cell in zip(labels, cells, strict=True)]
    return "\n".join([*lines, " " * 11 + "+" + "-" * width, f"{' ' * 11} {x.min():<.4g}{x.max():>{width - 8}.4g}"])


def _places(values: Floats, count: int) -> list[int]:
    """Return the cell of each value; cells of equal size cover the range of the values."""
    least, greatest = values.min(), values.max()
    places: list[int] = np.rint((values - least) / ((greatest - least) or 1.0) * (count - 1)).astype(int).tolist()
    return places
