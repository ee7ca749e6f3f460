"""Find Hubble's law in his measurements of 1929: 24 nebulae with much noise.

The table ships with symseed. It has distances in megaparsecs, as estimated in 1929, and velocities in km/s.
"""

from __future__ import annotations

import numpy as np

from symseed import SymbolicRegressor, read_table


def find() -> SymbolicRegressor:
    """Search for a formula for the velocity of a nebula in terms of its distance."""
    data = read_table("hubble").frame
    return SymbolicRegressor(maxsize=12, max_evals=100_000, random_state=0).fit(
        data[["distance_mpc"]], data["velocity_km_s"]
    )


def main() -> None:
    """Run the search and print the front."""
    model = find()
    print("    error     velocity_km_s =")
    for equation in model.pareto_front_:
        mark = ">>>" if equation is model.best_ else "   "
        print(f"{mark} {np.sqrt(equation.loss):3.0f} km/s  {equation}")


if __name__ == "__main__":
    main()
