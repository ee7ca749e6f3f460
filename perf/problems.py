"""Problems of the paper that the measurements here use, with the data of the authors' released code.

Data are drawn as there: NumPy's legacy generator, seeded by the Adler-32 checksum of the problem's name in that code.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import symseed

Floats = npt.NDArray[np.float64]

OPERATORS = ("add", "sub", "mul", "div", "sin", "cos", "exp", "log")


@dataclass(frozen=True)
class Problem:
    """A target function of columns, and where its 20 samples lie."""

    code_name: str
    target: Callable[..., Floats]
    low: float
    high: float
    variables: int = 1

    @property
    def library(self) -> symseed.Library:
        """The paper's tokens."""
        return symseed.Library.of(OPERATORS, self.variables)

    def datasets(self) -> tuple[symseed.Dataset, symseed.Dataset]:
        """Return training and test data."""
        # Legacy on purpose: it is the generator that the released code draws with.
        rng = np.random.RandomState(zlib.adler32(self.code_name.encode()))
        train, test = (
            np.stack([rng.uniform(self.low, self.high, 20) for _ in range(self.variables)], axis=1) for _ in range(2)
        )
        first, second = (symseed.Dataset.of(X, self.target(*X.T)) for X in (train, test))
        return first, second


PROBLEMS = {
    "Nguyen-1": Problem("Nguyen-1", lambda x: x**3 + x**2 + x, -1, 1),
    "Nguyen-2": Problem("Nguyen-2", lambda x: x**4 + x**3 + x**2 + x, -1, 1),
    "Nguyen-3": Problem("Nguyen-3", lambda x: x**5 + x**4 + x**3 + x**2 + x, -1, 1),
    "Nguyen-4": Problem("Nguyen-4", lambda x: x**6 + x**5 + x**4 + x**3 + x**2 + x, -1, 1),
    "Nguyen-5": Problem("Nguyen-5", lambda x: np.sin(x**2) * np.cos(x) - 1, -1, 1),
    "Nguyen-6": Problem("Nguyen-6", lambda x: np.sin(x) + np.sin(x + x**2), -1, 1),
    "Nguyen-7": Problem("Nguyen-7", lambda x: np.log(x + 1) + np.log(x**2 + 1), 0, 2),
    "Nguyen-8": Problem("Nguyen-8", np.sqrt, 0, 4),
    "Nguyen-9": Problem("Nguyen-9", lambda x, y: np.sin(x) + np.sin(y**2), 0, 1, 2),
    "Nguyen-10": Problem("Nguyen-10", lambda x, y: 2 * np.sin(x) * np.cos(y), 0, 1, 2),
    "Nguyen-11": Problem("Nguyen-11", lambda x, y: x**y, 0, 1, 2),
    "Nguyen-12*": Problem("Nguyen-12a", lambda x, y: x**4 - x**3 + y**2 / 2 - y, 0, 10, 2),
    "Livermore-8": Problem("Livermore-8", np.cosh, -1, 1),
}
