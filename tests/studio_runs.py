"""Runs for the tests of Studio."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symseed import SymbolicRegressor
from symseed.benchmarks.store import RunRecord, Store

EVIL = '<script>alert("evil")</script>'
"""A name of a column that a careless page would run."""


def make_run(folder: Path) -> None:
    """Make a finished run in a folder."""
    x = np.linspace(1.0, 3.0, 30)
    X = pd.DataFrame({"x": x, EVIL: np.cos(5.0 * x)})
    given: dict[str, Any] = {"max_evals": 4_000, "max_time": None, "random_state": 0}
    SymbolicRegressor(**given, output_directory=folder).fit(X, 2.0 * x**2 + 0.01 * np.sin(7.0 * x))


def make_store(folder: Path) -> None:
    """Make a store of two benchmark runs, of which one found its target."""
    record = RunRecord(
        problem="Nguyen-1", method="nggp", seed=0, draw=0, expressions=1_000, formula="x1", prefix="x1", reward=1.0,
        train_nmse=0.0, test_nmse=math.nan, passes_reference=True, verdict="exact", evidence="", charged=900,
        evaluated=800, unique=700, steps=3, cpu_seconds=1.5, check_seconds=0.1, reason="", error="",
    )  # fmt: skip
    with Store(folder).writer() as write:
        write(record)
        write(replace(record, seed=1, verdict="no"))


def noisy_table(rows: int) -> str:
    """Return a table in CSV whose search does not end by itself, with a target named like an option."""
    x = np.linspace(0.1, 9.0, rows)
    values = np.sin(x) * x + np.random.default_rng(0).normal(0.0, 1.0, rows)
    return "x,-y\n" + "".join(f"{one!r},{other!r}\n" for one, other in zip(x.tolist(), values.tolist(), strict=True))
