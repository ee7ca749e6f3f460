"""Runs for the tests of Studio."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symseed import SymbolicRegressor

EVIL = '<script>alert("evil")</script>'
"""A name of a column that a careless page would run."""


def make_run(folder: Path) -> None:
    """Make a finished run in a folder."""
    x = np.linspace(1.0, 3.0, 30)
    X = pd.DataFrame({"x": x, EVIL: np.cos(5.0 * x)})
    given: dict[str, Any] = {"max_evals": 4_000, "max_time": None, "random_state": 0}
    SymbolicRegressor(**given, output_directory=folder).fit(X, 2.0 * x**2 + 0.01 * np.sin(7.0 * x))


def noisy_table(rows: int) -> str:
    """Return a table in CSV whose search does not end by itself, with a target named like an option."""
    x = np.linspace(0.1, 9.0, rows)
    values = np.sin(x) * x + np.random.default_rng(0).normal(0.0, 1.0, rows)
    return "x,-y\n" + "".join(f"{one!r},{other!r}\n" for one, other in zip(x.tolist(), values.tolist(), strict=True))
