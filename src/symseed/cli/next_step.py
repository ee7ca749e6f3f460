"""A hint on the next command: one dim line at the end of a command, if a person is reading."""

from __future__ import annotations

import sys

import click

from symseed.text import for_terminal


def is_terminal() -> bool:
    """Whether the output goes to a terminal, not to a program or a file."""
    return sys.stdout is not None and sys.stdout.isatty()  # None: a program without a console


def say(*commands: str) -> None:
    """Suggest commands that may follow; pipes and files get nothing."""
    if is_terminal():
        click.secho(for_terminal(f"Next: {'  or  '.join(commands)}"), dim=True)
