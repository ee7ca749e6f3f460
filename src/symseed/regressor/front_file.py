"""A Pareto front as a CSV file, which any program can read and symseed's parser reads back."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from symseed import files
from symseed.errors import MALFORMED, DataError
from symseed.export import from_text, to_text
from symseed.language import Expression, Library
from symseed.portfolio import Formula
from symseed.regressor.front import Equation, EquationFront

MOST_BYTES = 2**28
"""Most bytes of a front that are read: a front has a few kilobytes, unless names of columns are long."""
_COLUMNS = ("Complexity", "Loss", "Score", "Equation", "Description", "Share", "Shown")
_FURTHER = {"Test loss": "test_loss", "CV loss": "cv_loss", "CV error": "cv_error", "Weight": "weight"}
"""Further columns, and the attributes of a formula that they hold; they are left out if no formula has the number."""


def path(folder: Path, output: int) -> Path:
    """Return the path of a target's front in the folder of a run."""
    return folder / ("front.csv" if output == 0 else f"front-{output + 1}.csv")


def others_path(folder: Path, output: int) -> Path:
    """Return the path of the further formulas of a target, beside its front."""
    return folder / ("near.csv" if output == 0 else f"near-{output + 1}.csv")


def write(folder: Path, output: int, front: EquationFront) -> None:
    """Write a front, and its further formulas if it has some."""
    files.replace(path(folder, output), to_csv(front.equations).encode())
    others = others_path(folder, output)
    if front.others:
        files.replace(others, to_csv(front.others).encode())
    else:
        others.unlink(missing_ok=True)


def to_csv(equations: Sequence[Equation]) -> str:
    """Return formulas as text; every number is read back to the last bit."""
    buffer = io.StringIO()
    # Before Python 3.13, `csv` does not quote a field because of a single carriage return, which would end the line.
    has_returns = any("\r" in str(item.expression) for item in equations)
    further = [name for name, own in _FURTHER.items() if any(getattr(item, own) is not None for item in equations)]
    writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL if has_returns else csv.QUOTE_MINIMAL)
    writer.writerow((*_COLUMNS, *further))
    for item in equations:
        numbers = (item.loss, item.score, item.formula.description, item.formula.mean_square)
        texts = [repr(float(value)) for value in numbers]
        more = [_written(getattr(item, _FURTHER[name])) for name in further]
        writer.writerow([item.complexity, *texts[:2], str(item.expression), *texts[2:], item.text, *more])
    return buffer.getvalue()


def read(file: Path, library_of: Callable[[list[str]], Library]) -> tuple[Equation, ...]:
    """Return the formulas of a file; `library_of` gives the tokens of their texts.

    Raises:
        DataError: if the file does not hold a front.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(files.read(file, MOST_BYTES).decode(), newline="")))
        if not rows:
            raise ValueError("it has no formula")
        library = library_of([row["Equation"] for row in rows])
        return tuple(_equation(row, library) for row in rows)
    except (OSError, csv.Error, *MALFORMED) as error:
        raise DataError(f"`{file}` must hold a front of formulas, but cannot be read: {error}") from error


def read_others(folder: Path, output: int, library_of: Callable[[list[str]], Library]) -> tuple[Equation, ...]:
    """Return the further formulas of a target, as `read` does; runs of earlier versions have none."""
    others = others_path(folder, output)
    return read(others, library_of) if os.path.lexists(others) else ()


def _equation(row: Mapping[str, str], library: Library) -> Equation:
    expression = Expression.parse(row["Equation"], library)
    formula = Formula(expression, mean_square=float(row["Share"]), description=float(row["Description"]))
    text = row.get("Shown") or to_text(expression)  # files of earlier versions have no such column
    from_text(text, library)
    further = {own: float(row[name]) for name, own in _FURTHER.items() if row.get(name)}
    if not 0.0 <= further.get("weight", 0.0) <= 1.0:
        raise ValueError(f"`Weight` must be from 0 to 1, but it is {further['weight']}")
    return replace(Equation(formula, loss=float(row["Loss"]), score=float(row["Score"]), text=text), **further)  # type: ignore[arg-type]


def _written(number: float | None) -> str:
    return "" if number is None else repr(float(number))
