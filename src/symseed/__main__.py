"""The command line as `symseed` and as `python -m symseed`: signals are obeyed before anything slow is imported."""

from __future__ import annotations

from symseed.signals import Ending


def main() -> None:
    """Run a command, and end the process."""
    ending = Ending()
    ending.__enter__()  # until the process ends: after the command, Python's own handler would show a traceback
    from symseed.cli.main import main

    main(ending)


if __name__ == "__main__":
    main()
