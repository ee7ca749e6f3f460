"""The commands that explain symseed: its methods with their settings, and the machine it runs on."""

from __future__ import annotations

import dataclasses
import os
import platform
import shutil

import click
import numpy as np

from symseed import _core, files, methods
from symseed.cli import next_step, options
from symseed.data import Dataset
from symseed.language import Expression, Library, Population
from symseed.language.tokens import OPERATORS
from symseed.search import changes
from symseed.version import version


@click.command(name="methods")
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


@click.command()
@options.as_json
def doctor(as_json: bool) -> None:
    """Show versions and hardware, and compare the core with NumPy, and the GPU with the core."""
    x = np.linspace(0.1, 3.0, 1000)
    expression = Expression.parse("sin(x1 * x1) * exp(-x1) + log(x1) / sqrt(x1)", Library.of(list(OPERATORS), 1))
    expected = np.sin(x * x) * np.exp(-x) + np.log(x) / np.sqrt(x)
    worst = float(np.max(np.abs(expression.evaluate(x[:, None]) - expected)))
    if worst > 1e-14:
        raise click.ClickException(f"The core must agree with NumPy to 1e-14, but differs by {worst:.1e}. Rebuild it.")
    from symseed import cuda

    few = Dataset.of(x[:, None], expected)
    gpu = cuda.check(Population.from_expressions([expression]), few)
    facts = {
        "symseed": version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "instruction_sets": _core.instruction_sets(),
        "largest_difference": worst,
        "gpu": None if gpu.facts is None else dataclasses.asdict(gpu.facts),
        "gpu_problem": gpu.problem,
    }
    if as_json:
        click.echo(files.json_text(facts))
        return
    click.echo(f"symseed {facts['symseed']}, Python {facts['python']}, NumPy {facts['numpy']}")
    click.echo(f"{facts['platform']}, {facts['cores']} cores")
    click.echo(f"instruction sets: {', '.join(_core.instruction_sets())} (the first is used)")
    click.echo(f"the core agrees with NumPy (largest difference {worst:.1e})")
    if gpu.facts is not None:
        click.echo(f"GPU: {gpu.facts}")
    if gpu.problem is None:
        click.echo("the GPU agrees with the core to the last bit (use it by --device cuda)")
    else:
        click.echo(f"{'the GPU is not used' if gpu.facts else 'no GPU is used'}: {gpu.problem}")
    next_step.say("symseed fit planets -y period_days")
