"""Arrays of numbers: their type, and the conversion of users' values to it."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from symseed.errors import DataError

Floats: TypeAlias = npt.NDArray[np.float64]


def floats(values: npt.ArrayLike, name: str) -> Floats:
    """Return numbers as contiguous and aligned float64, perhaps the caller's own array; refuse everything else."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise DataError(f"`{name}` is a masked array with hidden values. Leave those samples out, or fill them.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(f"`{name}` must be a table of numbers, but its rows differ in length.") from error
    if array.dtype.kind == "c":
        raise DataError(f"`{name}` must hold real numbers, but its values are complex.")
    try:
        if array.dtype.kind not in "biufOSU":
            raise TypeError("dates and records would be read as numbers that mean something else")
        return np.require(array, np.float64, ["C_CONTIGUOUS", "ALIGNED"])
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"`{name}` must hold numbers, but its values are of type {array.dtype}.") from error
