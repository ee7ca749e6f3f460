"""Rows of the front for each table that ships with symseed, whose target is its last column.

    python perf/front_rows.py [TABLE ...] [--evals 20000]

Prints for each table its samples, the rows of the front, whether one of them fits to rounding (the front ends there,
so that a law in exact data has few rows), and the selected formula; then the smallest number of rows.
"""

from __future__ import annotations

import argparse

from symseed import SymbolicRegressor, tables


def main() -> None:
    """Fit every table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=tables.shipped())
    parser.add_argument("--evals", type=int, default=20_000)
    given = parser.parse_args()
    counts = {}
    print(f"{'table':20} {'samples':>7} {'rows':>5} {'exact':>6}  selected")
    for name in given.tables:
        chosen = tables.read_table(name)
        selection = chosen.select([chosen.names[-1]])
        model = SymbolicRegressor(max_evals=given.evals, max_time=None, random_state=0)
        model.fit(dict(zip(selection.names, selection.X.T, strict=True)), selection.y[:, 0])
        front = model.pareto_front_
        is_exact = front[-1].loss <= 1e-20 * float((selection.y**2).mean())
        counts[name] = len(front)
        print(f"{name:20} {len(selection.X):>7} {len(front):>5} {is_exact!s:>6}  {model.best_}", flush=True)
    fewest = min(counts, key=lambda name: counts[name])
    print(f"fewest rows: {counts[fewest]} ({fewest})")


if __name__ == "__main__":
    main()
