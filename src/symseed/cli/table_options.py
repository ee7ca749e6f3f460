"""Options of reading a table, which several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from symseed.tables.options import DATES, MISSING, TableOptions

_Command = TypeVar("_Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--separator", metavar="CHAR", help="Column separator: one character, tab or blanks. [default: detected]"
    ),
    click.option("--decimal", metavar="MARK", help="Decimal mark, . or , [default: detected]"),
    click.option("--encoding", metavar="NAME", help="Encoding of text, such as latin-1. [default: detected]"),
    click.option("--sheet", metavar="NAME", help="Sheet of a workbook. [default: the first]"),
    click.option(
        "--dates",
        type=click.Choice(DATES),
        default=DATES[0],
        show_default=True,
        help="Leave dates and times out, or use them as seconds since the first row; the last two say how 03/04/2024 "
        "is read.",
    ),
)
missing_option = click.option(
    "--missing",
    type=click.Choice(MISSING),
    default=MISSING[0],
    show_default=True,
    help="Rows with gaps: leave them out, fill inputs with their mean, or refuse.",
)


def reading_options(command: _Command) -> _Command:
    """Give a command the options of reading a table; it receives them as one argument, `reading`."""

    @functools.wraps(command)
    def wrapped(
        separator: str | None,
        decimal: str | None,
        encoding: str | None,
        sheet: str | None,
        dates: str,
        **others: Any,
    ) -> Any:
        reading = TableOptions(separator=separator, decimal=decimal, encoding=encoding, sheet=sheet, dates=dates)
        return command(reading=reading, **others)

    decorated: Any = wrapped
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]
