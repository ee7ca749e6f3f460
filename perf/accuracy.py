"""Print how far each operator is from the truth, in units in the last place: `python perf/accuracy.py`.

The truth is NumPy's extended precision (64 bits of mantissa), so this needs a machine that has it (x86).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import symseed

Extended = npt.NDArray[np.longdouble]

COUNT = 400_000
CASES: dict[str, tuple[Callable[[Extended], Extended], tuple[tuple[float, float], ...]]] = {
    "exp": (np.exp, ((-700.0, 700.0), (-2.0, 2.0))),
    "log": (np.log, ((1e-300, 1e300), (0.5, 2.0))),
    "sin": (np.sin, ((-10.0, 10.0), (-1e6, 1e6))),
    "cos": (np.cos, ((-10.0, 10.0), (-1e6, 1e6))),
    "tan": (np.tan, ((-10.0, 10.0), (-1e6, 1e6))),
    "tanh": (np.tanh, ((-30.0, 30.0), (-1e-3, 1e-3))),
}


def main() -> None:
    """Print the worst error of each operator over random arguments."""
    rng = np.random.default_rng(0)
    library = symseed.Library.of(list(CASES), 1)
    for name, (truth, ranges) in CASES.items():
        expression = symseed.Expression.parse(f"{name}(x1)", library)
        for low, high in ranges:
            x = rng.uniform(low, high, COUNT)
            exact = truth(x.astype(np.longdouble))
            error = np.abs(expression.evaluate(x[:, None]) - exact) / np.spacing(np.abs(exact).astype(np.float64))
            print(f"{name:5} from {low:g} to {high:g}: at most {float(error.max()):.2f} ulp")


if __name__ == "__main__":
    main()
