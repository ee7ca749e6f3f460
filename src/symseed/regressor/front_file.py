"""A Pareto front as a CSV file, which any program can read and symseed's parser reads back."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path

from symseed import files
from symseed.errors import DataError
from symseed.export import from_text, to_text
from symseed.language import Expression, Library
from symseed.portfolio import Formula
from symseed.regressor.front import Equation, EquationFront

MOST_BYTES = 2**28
"""Most bytes of a front that are read: a front has a few kilobytes, unless names of columns are long."""
_COLUMNS = ("Complexity", "Loss", "Score", "Equation", "Description", "Share", "Shown")
_TEST = "Test loss"
"""A further column if samples were held out."""


def path(folder: Path, output: int) -> Path:
    """Return the path of a target's front in the folder of a run."""
    return folder / ("front.csv" if output == 0 else f"front-{output + 1}.csv")


def to_csv(front: EquationFront) -> str:
    """Return a front as text; every number is read back to the last bit."""
    buffer = io.StringIO()
    # Before Python 3.13, `csv` does not quote a field because of a single carriage return, which would end the line.
    has_returns = any("\r" in str(item.expression) for item in front.equations)
    writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL if has_returns else csv.QUOTE_MINIMAL)
    writer.writerow((*_COLUMNS, _TEST) if front.has_test else _COLUMNS)
    for item in front.equations:
        numbers = (item.loss, item.score, item.formula.description, item.formula.mean_square)
        texts = [repr(float(value)) for value in numbers]
        test = [] if item.test_loss is None else [repr(float(item.test_loss))]
        writer.writerow([item.complexity, *texts[:2], str(item.expression), *texts[2:], item.text, *test])
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
    except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
        raise DataError(f"`{file}` must hold a front of formulas, but cannot be read: {error}") from error


def _equation(row: Mapping[str, str], library: Library) -> Equation:
    expression = Expression.parse(row["Equation"], library)
    formula = Formula(expression, mean_square=float(row["Share"]), description=float(row["Description"]))
    text = row.get("Shown") or to_text(expression)  # files of earlier versions have no such column
    from_text(text, library)
    return Equation(
        formula,
        loss=float(row["Loss"]),
        score=float(row["Score"]),
        text=text,
        test_loss=float(row[_TEST]) if _TEST in row else None,
    )
