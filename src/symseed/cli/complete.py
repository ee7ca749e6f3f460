"""Shell completion of tables, their columns, runs, methods, operators, formats and losses.

A shell asks while the user is typing, so nothing here loads scikit-learn, only the header of a table is read, and an
error gives no completion. Every command imports this module, so methods and tables are loaded when they are completed.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from symseed.cli import run_names
from symseed.data import losses
from symseed.errors import SymseedError
from symseed.language.tokens import OPERATORS

SHELLS = ("bash", "zsh", "fish")
"""Shells that `symseed completion` supports."""

_Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def script(group: click.Group, shell: str) -> str:
    """Return the script that makes a shell complete `symseed`."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "click knows every shell of SHELLS"
    return kind(group, {}, "symseed", "_SYMSEED_COMPLETE").source()


def data(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a file, or a table that ships with symseed."""
    from symseed import tables

    return [*_items(tables.shipped(), incomplete), CompletionItem(incomplete, type="file")]


def column(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete one column of the table that was typed before."""
    return _items(_header(context), incomplete)


def columns(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last of several columns."""
    return _last(_header(context), incomplete)


def run(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a run in `outputs`, or a folder."""
    try:
        names = [folder.name for folder in run_names.newest_first(run_names.PARENT)]
    except OSError:
        names = []
    return [*_items([run_names.LATEST, *names], incomplete), CompletionItem(incomplete, type="dir")]


def operators(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last of several operators."""
    return _last(OPERATORS, incomplete)


def of(names: Iterable[str]) -> _Complete:
    """Return the completion of one of some names."""
    return lambda _context, _parameter, incomplete: _items(names, incomplete)


loss = of(losses.NAMED)


def method(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a method."""
    from symseed import methods

    return _items(methods.METHODS, incomplete)


def _items(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    # Bash splits a name with a space; such names, and names with quotes or brackets, must be typed.
    return [CompletionItem(name) for name in names if name.startswith(incomplete) and shlex.quote(name) == name]


def _last(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    before, comma, part = incomplete.rpartition(",")
    used = before.split(",")
    return [CompletionItem(f"{before}{comma}{item.value}") for item in _items(names, part) if item.value not in used]


def _header(context: click.Context) -> list[str]:
    from symseed import tables

    # While an option waits for its value, click does not name the arguments before it.
    source = next(iter((*filter(None, [context.params.get("data")]), *context.args)), "")
    try:
        return tables.header(str(source))
    except SymseedError:
        return []
