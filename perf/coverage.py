"""How often 95 % intervals of constants hold the truth: fits with noise of laws whose form is known.

    python perf/coverage.py [--fits 500] [--seed 1]

A case is one of seven forms with constants drawn at random, 10 to 200 rows, and normal noise of 0.5 to 20 % of the
law's standard deviation. The constants are fitted, and made simple numbers where the description allows it, as a search
does with every formula; the case counts if the form stays the same. Both the least squares and the formula with simple
numbers have intervals. Seed 0 is for tuning, and other seeds are for reports.
"""

from __future__ import annotations

import argparse
import collections
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symseed import Dataset, Expression, Library
from symseed.arrays import Floats
from symseed.assembly import simplified
from symseed.language import Writer
from symseed.language.population import Population
from symseed.scoring.evaluation import fit_to_convergence
from symseed.scoring.simple_numbers import cost
from symseed.scoring.uncertainty import Uncertainty

ROWS = (10, 15, 25, 50, 100, 200)
NOISE = (0.005, 0.2)
LEVEL = 0.95
FORMS: dict[str, tuple[str, Callable[..., Floats], tuple[float, float]]] = {
    "line": ("const * x1 + const", lambda x, a, b: a * x + b, (0.0, 5.0)),
    "exponential": ("const / exp(const * x1)", lambda x, a, b: a / np.exp(b * x), (0.0, 1.5)),
    "saturation": ("const * x1 / (x1 + const)", lambda x, a, b: a * x / (x + b), (0.1, 20.0)),
    "parabola": ("const * x1 * x1 + const * x1 + const", lambda x, a, b, c: a * x * x + b * x + c, (-2.0, 3.0)),
    "wave": ("const * sin(const * x1 + const)", lambda x, a, b, c: a * np.sin(b * x + c), (0.0, 5.0)),
    "logarithm": ("const * log(x1) + const", lambda x, a, b: a * np.log(x) + b, (0.5, 30.0)),
    "power": ("const * x1 ^ const", lambda x, a, b: a * x**b, (0.2, 6.0)),
}
"""The text of each form, its values, and the range of x."""
LIBRARY = Library.of(["add", "mul", "div", "pow", "exp", "log", "sin"], 1).with_constant()


def measure(seed: int, index: int) -> dict[str, Any]:
    """Fit one law, and say which constants are within their intervals."""
    rng = np.random.default_rng([seed, index])
    name = list(FORMS)[index % len(FORMS)]
    form, law, (low, high) = FORMS[name]
    constants = rng.uniform(0.5, 4.0, form.count("const"))
    x = np.sort(rng.uniform(low, high, int(rng.choice(ROWS))))
    truth = law(x, *constants)
    level = math.exp(rng.uniform(*np.log(NOISE)))
    data = Dataset.of(x, truth + level * np.std(truth) * rng.standard_normal(len(x)))
    for value in constants:
        form = form.replace("const", f"{float(value)!r}", 1)
    start = Population.from_expressions([Expression.parse(form, LIBRARY)])
    free = fit_to_convergence(start, data, most=20)[0]
    shown = Expression(LIBRARY, simplified(Writer(LIBRARY), free.row(0), data))
    places = shown.constant_places
    out = {"form": name, "rows": len(x), "noise": level, "is_right": shown.ids == free[0].ids}
    for kind, expression in (("shown", shown), ("least squares", free[0])):
        below, above = Uncertainty.of(expression, data, len(x)).intervals(LEVEL)
        inside: Any = (below <= constants) & (constants <= above) if len(below) == len(constants) else []
        out[kind] = [bool(one) for one in inside]
    out["rounded"] = [cost(shown.constants[place]) is not None for place in places]
    return out


def main() -> None:
    """Fit the laws, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    lines: list[dict[str, Any]] = []
    while sum(line["is_right"] for line in lines) < arguments.fits:
        lines.append(measure(arguments.seed, len(lines)))
    right = [line for line in lines if line["is_right"]][: arguments.fits]
    print(f"{len(right)} fits in which the form is right, of {lines.index(right[-1]) + 1}")
    groups = {"all": right}
    for form in FORMS:
        groups[form] = [line for line in right if line["form"] == form]
    groups["10 to 25 rows"] = [line for line in right if line["rows"] <= 25]
    groups["50 to 200 rows"] = [line for line in right if line["rows"] > 25]
    print(f"{'':16} {'fits':>5} {'shown':>7} {'least squares':>14}")
    for name, own in groups.items():
        shares = [np.mean([inside for line in own for inside in line[kind]]) for kind in ("shown", "least squares")]
        print(f"{name:16} {len(own):5} {100 * shares[0]:6.1f} % {100 * shares[1]:12.1f} %")
    kinds: dict[bool, list[bool]] = collections.defaultdict(list)
    for line in right:
        for is_rounded, inside in zip(line["rounded"], line["shown"], strict=True):
            kinds[is_rounded].append(inside)
    for is_rounded, inside in kinds.items():
        name = "made simple numbers" if is_rounded else "fitted"
        print(f"{len(inside)} constants {name}: {100 * np.mean(inside):.1f} % within")


if __name__ == "__main__":
    main()
