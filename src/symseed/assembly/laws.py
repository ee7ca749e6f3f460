"""The first formulas of a fit, made without a search: a constant, a line, a power law and an exponential."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from symseed import arithmetic
from symseed.arrays import Floats
from symseed.assembly.holes import MOST_VARIABLES
from symseed.assembly.simplify import fitted
from symseed.completion.backsolve import Backsolver
from symseed.data import Dataset
from symseed.language import Row, Writer

_SAMPLES = 1_000
"""Most samples that give the first guess of the constants: a bound on time."""


def mean(writer: Writer, dataset: Dataset) -> Row:
    """Return the best constant formula."""
    y = dataset.y
    # The computed mean of equal numbers may differ from them by rounding.
    is_one = dataset.deviation == 0.0
    number = writer.number(float(y[0] if is_one else np.average(y, weights=dataset.weights)))
    return number if dataset.loss is None else fitted(writer.population([number]), dataset).row(0)


def first_laws(writer: Writer, dataset: Dataset, *, longest: int) -> list[Row]:
    """Return a line, a power law and an exponential in the first variable, and in all of the first few.

    Constants are a first guess by least squares, on the logarithm of y if y has one sign; they must still be fitted.
    """
    few = Backsolver.of(dataset, _SAMPLES).dataset
    columns = writer.columns[:MOST_VARIABLES]
    laws = [law for some in dict.fromkeys([tuple(columns[:1]), tuple(columns)]) for law in _laws(writer, few, some)]
    return [law for law in dict.fromkeys(laws) if len(law) <= longest]


def _laws(writer: Writer, few: Dataset, columns: Sequence[int]) -> list[Row]:
    X, y = few.X[:, columns], few.y
    variables = [writer.variable(column) for column in columns]
    sign = float(np.sign(y[0]))
    out: list[Row] = []
    if writer.has("add", "mul"):
        out += [writer.affine(offset, 1.0, _sum(writer, slopes, variables)) for offset, slopes in _solved(X, y, few)]
    if not (writer.has("mul") and sign and (sign * y > 0.0).all()):
        return out
    size = arithmetic.log(sign * y)
    if writer.has("exp") and (len(columns) == 1 or writer.has("add")):
        for offset, slopes in _solved(X, size, few):
            grown = writer.apply("exp", _sum(writer, slopes, variables))
            out.append(writer.apply("mul", writer.number(sign * arithmetic.exp(offset)), grown))
    if (X > 0.0).all():
        for offset, slopes in _solved(arithmetic.log(X), size, few):
            power = _power(writer, slopes, variables)
            if power is not None:
                out.append(writer.apply("mul", writer.number(sign * arithmetic.exp(offset)), power))
    return out


def _solved(X: Floats, goal: Floats, few: Dataset) -> list[tuple[float, Floats]]:
    """The best offset and slopes by least squares; empty if a formula cannot hold these numbers."""
    root = np.sqrt(few.weights)
    design = root[:, None] * np.concatenate([np.ones((len(goal), 1)), X], axis=1)
    found = arithmetic.least_squares(design, root * goal)
    is_usable = bool(np.isfinite(found).all()) and bool(found[1:].any()) and abs(float(found[0])) < 1e100
    return [(float(found[0]), found[1:])] if is_usable else []


def _sum(writer: Writer, factors: Floats, parts: Sequence[Row]) -> Row:
    return writer.total([writer.scaled(float(f), part) for f, part in zip(factors, parts, strict=True) if f != 0.0])


def _power(writer: Writer, exponents: Floats, variables: Sequence[Row]) -> Row | None:
    """A product of powers; None if the library cannot write it."""
    if writer.has("pow"):
        pairs = zip(exponents, variables, strict=True)
        return writer.product([writer.apply("pow", part, writer.number(float(exponent))) for exponent, part in pairs])
    if not (writer.has("exp", "log") and (len(variables) == 1 or writer.has("add"))):
        return None
    return writer.apply("exp", _sum(writer, exponents, [writer.apply("log", part) for part in variables]))
