"""The command line: all commands of `symseed`."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import warnings

import click

from symseed.cli import complete, options
from symseed.errors import SettingsError, SymseedError, brief, check_lock
from symseed.signals import INTERRUPTED, TERMINATED, Ending
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

DEBUG = "SYMSEED_DEBUG"
"""Variable of the environment; if it is set, a fault of symseed is shown with its traceback."""
_LEAST_MEMORY = 2**29
"""Least limit of memory, in bytes: what NumPy, SciPy and their threads reserve on two cores, rounded up."""
FAULT = 70
"""Exit code after a fault of symseed: EX_SOFTWARE of the C library's sysexits.h."""


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


def main(ending: Ending | None = None) -> None:
    """Run a command; whatever goes wrong ends it with a sentence and an exit code.

    2: the input is wrong; 130: Ctrl-C; 143: SIGTERM; 70: a fault of symseed; 1: something else, such as a full disk.

    Args:
        ending: obeys signals, also before and after the command; None: only during it.
    """
    if ending is None:
        with Ending() as ending:
            code = _ended(ending)
    else:
        code = _ended(ending)
    sys.exit(TERMINATED if code == INTERRUPTED and ending.is_terminated else code)


def _ended(ending: Ending) -> int:
    """Run a command, and return its exit code; commands need not know which signal interrupted them."""
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a console may lack letters of a name
    code: object = 0
    try:
        with ending.working():
            check_lock()
            _check_memory()
            code = commands(standalone_mode=False)
    except SystemExit as left:
        code = left.code
    except (Exception, KeyboardInterrupt) as error:
        sentence, code = _told(error, ending)
        if code == FAULT and os.environ.get(DEBUG):
            raise
        _discard_output()
        with contextlib.suppress(OSError):
            click.echo(for_terminal(sentence), err=True)
    return code if isinstance(code, int) else 0


def _check_memory() -> None:
    """Refuse a limit of memory below which libraries cannot be loaded: BLAS would try for ever.

    Raises:
        SettingsError: if the limit is that low.
    """
    try:
        import resource
    except ImportError:
        return  # only POSIX has such limits
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY and most < _LEAST_MEMORY:
        raise SettingsError(
            f"symseed needs at least {_LEAST_MEMORY >> 20} MiB of memory, but this process may have {most >> 20} MiB. "
            "Raise the limit (`ulimit -v`)."
        )


def _told(error: BaseException, ending: Ending) -> tuple[str, int]:
    """What a user is told of an exception, and the exit code."""
    if isinstance(error, SymseedError):
        return f"symseed: {error}", 2
    if isinstance(error, click.ClickException):
        shown = io.StringIO()
        error.show(shown)
        return brief(shown.getvalue().rstrip()), error.exit_code
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        name = "SIGTERM" if ending.is_terminated else "Ctrl-C"
        return f"symseed: {name} ended the command before there was a result.", INTERRUPTED
    if isinstance(error, MemoryError):
        return "symseed: There is not enough memory. Use fewer samples or columns.", 1
    if isinstance(error, ImportError):
        return (
            f"symseed: A library cannot be loaded: {brief(str(error))}. If memory is limited, allow more; if not, "
            "install symseed and what it needs again.",
            1,
        )
    if isinstance(error, OSError):
        name = "" if error.filename is None else f" `{error.filename}`"
        return f"symseed: Reading or writing{brief(name)} failed: {error.strerror or error}.", 1
    return (
        f"symseed: This is a fault of symseed, not of your input: {type(error).__name__}: {brief(str(error))}. Please "
        f"report it with the command and what `symseed doctor` prints. With {DEBUG}=1 in the environment, the command "
        "prints where it happened.",
        FAULT,
    )


def _discard_output() -> None:
    """Discard what could not be written, such as to a full disk, or Python fails again at its end."""
    try:
        sys.stdout.flush()
    except (AttributeError, ValueError):
        return  # there is no output, or it is closed
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(for_terminal(f"symseed: warning: {message}"), err=True)
