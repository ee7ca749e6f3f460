"""A Pareto front as a CSV file, which any program can read and our own parser reads back."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

from symseed import files
from symseed.errors import DataError
from symseed.language import Expression, Library
from symseed.portfolio import Formula
from symseed.regressor.front import Equation, EquationFront

MOST_BYTES = 2**28
"""Most bytes of a front that are read: the usual size is a few kilobytes, but names of columns may be long."""
_COLUMNS = ("Complexity", "Loss", "Score", "Equation", "Description", "Share")


def to_csv(front: EquationFront) -> str:
    """Return a front as text; numbers are written such that they are read back to the last bit."""
    buffer = io.StringIO()
    # Before Python 3.13 a carriage return alone does not make `csv` quote a field, and would end the line.
    has_returns = any("\r" in str(item) for item in front.equations)
    writer = csv.writer(buffer, lineterminator="\n", quoting=csv.QUOTE_ALL if has_returns else csv.QUOTE_MINIMAL)
    writer.writerow(_COLUMNS)
    for item in front.equations:
        numbers = (item.loss, item.score, item.formula.description, item.formula.mean_square)
        texts = [repr(float(value)) for value in numbers]
        writer.writerow([item.complexity, *texts[:2], str(item), *texts[2:]])
    return buffer.getvalue()


def read(path: Path, library_of: Callable[[list[str]], Library]) -> tuple[Equation, ...]:
    """Return the formulas of a file; `library_of` gives the tokens of their texts.

    Raises:
        DataError: where it holds something else.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(files.read(path, MOST_BYTES).decode(), newline="")))
        if not rows:
            raise ValueError("it has no formula")
        library = library_of([row["Equation"] for row in rows])
        return tuple(
            Equation(
                Formula(
                    Expression.parse(row["Equation"], library),
                    mean_square=float(row["Share"]),
                    description=float(row["Description"]),
                ),
                loss=float(row["Loss"]),
                score=float(row["Score"]),
            )
            for row in rows
        )
    except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
        raise DataError(f"`{path}` must hold a front of formulas, but cannot be read: {error}") from error
