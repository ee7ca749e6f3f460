"""What a template gains: formulas of a known structure, searched with and without it.

    python perf/templates.py [SECONDS]

For each structure a formula is given values at 200 random samples, without and with 1% of noise. Printed are, for a fit
with the template and one without it, the seconds and the error of the selected formula: its root mean square against
the true values at 1,000 other samples, as a share of their standard deviation.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd

from symseed import SymbolicRegressor

Values = npt.NDArray[np.float64]
CASES: tuple[tuple[str, Callable[[pd.DataFrame], pd.Series]], ...] = (
    ("const * f(a) + g(b)", lambda X: 2.5 * np.sin(1.3 * X.a) + np.exp(X.b) / (1.0 + X.b)),
    ("f(a) * g(b)", lambda X: (X.a**2 + 1.0) * np.log(1.0 + X.b)),
    ("f(a) * exp(-g(b))", lambda X: X.a**2 / (1.0 + X.a**2) * np.exp(-X.b * np.sqrt(X.b))),
    ("f(a, b) * g(c, d)", lambda X: (X.a * X.b + X.a) * np.sqrt(X.c + X.d)),
    ("f(a) + g(b) + h(c)", lambda X: X.a**2 / (1.0 + X.a) + 3.0 * np.sin(2.0 * X.b) + np.log(X.c)),
    ("f(a) / (1 + g(b))", lambda X: np.exp(X.a / 2.0) * np.sin(X.a) / (1.0 + X.b**2 * np.sqrt(X.b))),
)


def _table(rows: int, seed: int) -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(seed).uniform(0.2, 3.0, (rows, 4)), columns=list("abcd"))


def _tried(template: str | None, truth: Callable[[pd.DataFrame], pd.Series], noise: float, seconds: float) -> str:
    X, other = _table(200, 0), _table(1_000, 1)
    y = truth(X)
    y = y + noise * np.sqrt(np.mean(y**2)) * np.random.default_rng(2).normal(size=len(y))
    started = time.monotonic()
    model = SymbolicRegressor(template=template, max_time=seconds, random_state=0).fit(X, y)
    wanted = truth(other)
    error = np.sqrt(np.mean((model.predict(other) - wanted) ** 2)) / wanted.std()
    return f"{time.monotonic() - started:6.1f} s {error:9.1e}"


def main() -> None:
    """Print a line for each structure and size of noise."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    print(f"{'template':22}{'noise':>6}   {'with it':>18}   {'without':>18}")
    for template, truth in CASES:
        for noise in (0.0, 0.01):
            found = [_tried(given, truth, noise, seconds) for given in (template, None)]
            print(f"{template:22}{noise:6.0%}   {found[0]}   {found[1]}", flush=True)


if __name__ == "__main__":
    main()
