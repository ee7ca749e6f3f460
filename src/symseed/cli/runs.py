"""The command that lists runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symseed import files
from symseed.cli import next_step, options, run_names
from symseed.errors import DataError
from symseed.text import clipped, for_terminal, one_line

if TYPE_CHECKING:
    from symseed.regressor.summaries import RunSummary

_HEADER = ("run", "table", "target", "state", "loss", "formula")
_WIDE_RUN = 40
"""Most letters of a run's name: chosen by hand."""
_WIDE_NAME = 16
"""Most letters of a table's or a target's name: chosen by hand."""
_MOST_FORMULA = 1000
"""Most letters of a formula if there is no terminal, whose width would decide: chosen by hand."""


@click.command(
    epilog=options.examples(
        "symseed runs",
        "symseed show latest",
    )
)
@click.argument("folder", default=str(run_names.PARENT), type=click.Path(path_type=Path))
@options.as_json
def runs(folder: Path, as_json: bool) -> None:
    """List the runs in FOLDER, the newest first.

    By default FOLDER is `outputs`. The name of a run begins with the time when it was made; other commands take
    the beginning of it, or `latest`, in place of the folder. A damaged run is listed as such.
    """
    from symseed.regressor import summaries  # scikit-learn comes with it

    found = [summaries.summary(run) for run in _folders(folder)]
    if as_json:
        click.echo(files.json_text([_record(item) for item in found]))
        return
    if not found:
        click.echo(f"There are no runs in {folder}.")
        next_step.say("symseed fit DATA -y COLUMN")
        return
    lines = [_HEADER, *(line for item in found for line in _lines(item))]
    wide = [max(len(line[i]) for line in lines) for i in range(len(_HEADER) - 1)]
    for line in lines:
        cells = "  ".join(cell.ljust(width) for cell, width in zip(line[:-1], wide, strict=True))
        most = shutil.get_terminal_size().columns - len(cells) - 2 if next_step.is_terminal() else _MOST_FORMULA
        click.echo(f"{cells}  {clipped(line[-1], max(most, 8))}".rstrip())
    next_step.say(f"symseed show {run_names.typed(found[0].folder)}")


def _folders(folder: Path) -> list[Path]:
    try:
        return run_names.newest_first(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(f"`{folder}` must be a folder of runs, but it cannot be read: {error}.") from error


def _lines(item: RunSummary) -> Iterator[tuple[str, ...]]:
    if not item.targets:
        yield _shown(item.folder.name, _WIDE_RUN), "", "", item.state.value, "", _shown(item.problem, _MOST_FORMULA)
    for target in item.targets:
        loss = "" if target.chosen is None else f"{target.chosen.loss:.4g}"
        formula = item.problem if target.chosen is None else str(target.chosen)
        yield (
            _shown(item.folder.name, _WIDE_RUN),
            _shown(item.source),
            _shown(target.name),
            item.state.value,
            loss,
            _shown(formula, _MOST_FORMULA),
        )


def _shown(text: str, most: int = _WIDE_NAME) -> str:
    return for_terminal(one_line(text, most))


def _record(item: RunSummary) -> dict[str, Any]:
    return {
        "run_directory": str(item.folder),
        "state": item.state.value,
        "created": item.created,
        "source": item.source,
        "problem": item.problem,
        "targets": [
            {
                "target": target.name,
                "equation": None if target.chosen is None else str(target.chosen.expression),
                "shown": None if target.chosen is None else target.chosen.text,
                "loss": None if target.chosen is None else target.chosen.loss,
                "test_loss": None if target.chosen is None else target.chosen.test_loss,
            }
            for target in item.targets
        ],
    }
