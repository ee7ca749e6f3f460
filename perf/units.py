"""How many expressions a law takes with and without units: `python perf/units.py [seeds] [budget]`.

Each law is searched for by `nggp` among 20 samples, with columns that it does not need among them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from symseed import Budget, Dataset, Library, SearchSpace, methods, search
from symseed.scoring.regression import RegressionTask
from symseed.space.constraints import PAPER, Dimensions

OPERATORS = ("add", "sub", "mul", "div", "sin", "cos", "exp", "log", "sqrt", "square")


@dataclass(frozen=True, slots=True)
class Law:
    """A law and the units of its quantities."""

    units: dict[str, str]
    y_units: str
    value: Callable[..., npt.NDArray[np.float64]]


LAWS = {
    "Coulomb": Law(
        {"p": "C", "q": "C", "eps": "F/m", "r": "m", "v": "m/s", "t": "s"},
        "N",
        lambda p, q, eps, r, *_: p * q / (eps * r**2),
    ),
    "Lorentz": Law(
        {"q": "C", "E": "V/m", "B": "T", "v": "m/s", "a": "rad"},
        "N",
        lambda q, E, B, v, a: q * (E + v * B * np.sin(a)),
    ),
    "Bernoulli": Law(
        {"p": "Pa", "rho": "kg/m^3", "v": "m/s", "g": "m/s^2", "h": "m", "T": "K"},
        "Pa",
        lambda p, rho, v, g, h, _: p + rho * v**2 / 2 + rho * g * h,
    ),
}


def expressions(law: Law, *, has_units: bool, seed: int, budget: int) -> int | None:
    """Return how many expressions it took, or None where they were not enough."""
    names = list(law.units)
    X = np.random.default_rng(seed).uniform(1.0, 3.0, (20, len(names)))
    data = Dataset.of(X, law.value(*X.T), names=names)
    library = Library.of((*OPERATORS, 2.0), names)
    constraints = (*PAPER, Dimensions.of(names, law.units, law.y_units)) if has_units else PAPER
    space = SearchSpace(library, constraints=constraints)
    task = RegressionTask(library, data)
    result = search.run(space, task, methods.get("nggp").settings, seed=seed, budget=Budget(budget))
    return result.history[-1].charged if result.is_solved else None


def main() -> None:
    """Print a line for each law, with and without units."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    budget = int(sys.argv[2]) if len(sys.argv) > 2 else 300_000
    for name, law in LAWS.items():
        for has_units in (True, False):
            began = time.monotonic()
            found = [expressions(law, has_units=has_units, seed=seed, budget=budget) for seed in range(seeds)]
            median = float(np.median([budget if count is None else count for count in found]))
            solved = sum(count is not None for count in found)
            label = "with units" if has_units else "without"
            seconds = time.monotonic() - began
            least = "" if median < budget else "at least "
            print(f"{name:10} {label:10}: {solved} of {seeds}, median {least}{median:,.0f}, {seconds:.1f} s in all")


if __name__ == "__main__":
    main()
