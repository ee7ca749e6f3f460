"""How often the noise of simulated measurements is recognised: additive, relative, or a floor and a relative part.

    python perf/noise_models.py --seed 1

Each draw is a law of one to four columns, a product or a sum of one function of each: powers, exponentials,
saturations, waves, logarithms, and straight lines. The columns span a factor of five, or three decades, evenly in
their logarithm. Noise of 1 to 10 % is additive (of the standard deviation of y), relative, or relative with a floor of
the same share of the median |y|; `none` is no noise. The limits of `data/noise.py` were chosen with seed 0, those of
`data/quick_laws.py` with other draws of these laws.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable

import numpy as np

from symseed import Dataset
from symseed.arrays import Floats
from symseed.regressor.measurements import chosen

TRUTHS = ("none", "additive", "relative", "floor")
ROWS = (10, 20, 50, 200, 1_000)


def function(x: Floats, generator: np.random.Generator) -> Floats:
    """A random positive or oscillating function of one column."""
    unit, largest = float(np.median(x)), float(x.max())
    size = generator.uniform(1.0, 4.0)
    shapes: tuple[Callable[[], Floats], ...] = (
        lambda: (x / unit) ** float(generator.choice([-2.0, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 3.0])),
        lambda: np.exp(-size * x / largest),
        lambda: np.exp(size * x / largest),
        lambda: x / (unit * generator.uniform(0.3, 3.0) + x),
        lambda: np.sin(2.0 * size * x / largest) + float(generator.choice([0.0, 1.5])),
        lambda: np.log(1.0 + size * x / unit),
        lambda: 1.0 + generator.uniform(0.3, 3.0) * x / unit,
    )
    return np.asarray(shapes[generator.integers(len(shapes))](), dtype=np.float64)


def law(rows: int, columns: int, *, is_wide: bool, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw the columns and a law of them."""
    span = np.log(1e3 if is_wide else 5.0)
    X = np.exp(generator.uniform(0.0, span, (rows, columns)))
    value = function(X[:, 0], generator)
    for x in X.T[1:]:
        other = function(x, generator)
        value = value * other if generator.random() < 0.7 else value + other * generator.uniform(0.3, 3.0)
    return X, value


def measured(value: Floats, truth: str, level: float, generator: np.random.Generator) -> Floats:
    """Add noise of a kind to the values of a law."""
    draws = generator.standard_normal(len(value))
    floor = {"none": 0.0, "additive": level * value.std(), "relative": 0.0, "floor": level * np.median(np.abs(value))}
    share = level if truth in ("relative", "floor") else 0.0
    return np.asarray(value + np.sqrt(floor[truth] ** 2 + (share * value) ** 2) * draws)


def main() -> None:
    """Print what was chosen, by the true noise, the number of rows, and the range of the columns."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=40, help="of each truth, number of rows and range")
    asked = parser.parse_args()
    kinds = ("additive", "relative", "floor")
    begin = time.process_time()
    for is_wide in (False, True):
        for truth in TRUTHS:
            for rows in ROWS:
                found: Counter[str] = Counter()
                for draw in range(asked.draws):
                    generator = np.random.default_rng([asked.seed, draw, rows, is_wide])
                    columns = int(generator.integers(1, 5))
                    level = float(np.exp(generator.uniform(np.log(0.01), np.log(0.1))))
                    X, value = law(rows, columns, is_wide=is_wide, generator=generator)
                    order = np.argsort(X[:, 0])
                    y = measured(value, truth, level, generator)
                    found[chosen(Dataset.of(X[order], y[order]), None, is_given=False).noise.kind.value] += 1
                shares = "".join(f"{found[kind]:10}" for kind in kinds)
                if rows == ROWS[0]:
                    label = f"{truth}, {'three decades' if is_wide else 'a factor of five'}"
                    print(f"{label:34}" + "".join(f"{kind:>10}" for kind in kinds))
                print(f"{rows:34}{shares}", flush=True)
    print(f"{time.process_time() - begin:.0f} CPU seconds")


if __name__ == "__main__":
    main()
