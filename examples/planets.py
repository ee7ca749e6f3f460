"""Find Kepler's third law in the six planets that Kepler knew, and predict the periods of the two found later.

The table ships with symseed. It has mean distances from the Sun in astronomical units, and periods in days.
"""

from __future__ import annotations

from symseed import SymbolicRegressor, read_table


def main() -> None:
    """Fit Mercury to Saturn, and compare the formula with Uranus and Neptune."""
    table = read_table("planets").frame
    data, period = table[["axis_au"]], table["period_days"]
    weight = 1.0 / period[:6] ** 2  # relative errors count, so that Saturn does not dominate Mercury
    model = SymbolicRegressor(max_evals=100_000, random_state=0).fit(data[:6], period[:6], sample_weight=weight)
    print("period_days =", model.best_)
    for name, predicted, measured in zip(("Uranus", "Neptune"), model.predict(data[6:]), period[6:], strict=True):
        print(f"{name:8} {predicted:8.0f} days predicted, {measured:.0f} measured")


if __name__ == "__main__":
    main()
