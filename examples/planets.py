"""Find Kepler's third law in the orbits of eight planets: a table with almost no noise.

The table ships with symseed. It has mean distances from the Sun in astronomical units, and periods in days.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from symseed import SymbolicRegressor
from symseed.data import tables


def find() -> SymbolicRegressor:
    """Search for a formula for the period of a planet in terms of its distance."""
    table = tables.read("planets", target="period_days")
    data = pd.DataFrame(table.X, columns=table.names)
    return SymbolicRegressor(max_evals=100_000, random_state=0).fit(data, table.y)


def main() -> None:
    """Run the search and print the front."""
    model = find()
    print("    error       period_days =")
    for equation in model.pareto_front_:
        mark = ">>>" if equation is model.best_ else "   "
        print(f"{mark} {np.sqrt(equation.loss):8.1f} d  {str(equation)[:70]}")


if __name__ == "__main__":
    main()
