"""The command line: all commands of `symseed`."""

from __future__ import annotations

import importlib
import io
import sys
import warnings

import click

from symseed.cli import complete, options
from symseed.errors import SymseedError
from symseed.text import for_terminal
from symseed.version import version

ELSEWHERE = {
    "bench": ("bench", "bench_commands"),
    "doctor": ("about", "doctor"),
    "evaluate": ("evaluate", "evaluate"),
    "fit": ("fit", "fit"),
    "methods": ("about", "methods_command"),
    "predict": ("show", "predict"),
    "report": ("show", "report"),
    "resume": ("fit", "resume"),
    "runs": ("runs", "runs"),
    "show": ("show", "show"),
    "stability": ("show", "stability"),
    "studio": ("studio", "studio"),
}
"""Commands of other modules, with their names there. Each module is loaded when its command is needed; those of `fit`,
`show` and `runs` load scikit-learn only when a command runs, because it takes longer than most commands."""


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
