"""What to type next: one dim line at the end of a command, where a person is reading."""

from __future__ import annotations

import sys

import click

from symseed.text import for_terminal


def is_terminal() -> bool:
    """Whether what is printed is read by a person, and not by a program or from a file."""
    return sys.stdout is not None and sys.stdout.isatty()  # None: a program without a console


def say(*commands: str) -> None:
    """Name commands that may follow; pipes and files get nothing."""
    if is_terminal():
        click.secho(for_terminal(f"Next: {'  or  '.join(commands)}"), dim=True)
