"""Whether the data of small tables can tell their law: its margin over common forms, and what it leaves.

    python perf/tellable.py [--tables yeast copper]

The law of each table in `small_tables.py` from `FIRST` on is fitted by least squares of errors, or of relative errors
(`RELATIVE`), and so is every form of a fixed list. A margin is the BIC of another form less that of the law. `SAME` has
the forms that are the law itself, and `NESTED` those that become it with fewer constants; they need a margin of 1, and
all others one of 6. For a plain law (`PLAIN`), which has one constant, 0.5 suffices in place of 1. The tests of trends
are those that the README beside the tables describes: rank correlations of what is left with the inputs and with the
law's values, the number of runs of its sign, and a parabola in the ranks, the last two by permutations. Each constant
needs a standard error of at most 10 %, and no test for a trend may be beyond 1 %. Nothing is searched for here: SciPy
fits the forms.
"""

from __future__ import annotations

import argparse
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

import small_tables
from symseed import Expression, Library, tables
from symseed.arrays import Floats

FIRST = "yeast"
"""The first of the tables that were chosen by these criteria: it and all after it are judged."""
RELATIVE = frozenset(
    {
        "irradiation",
        "vibrio",
        "urease",
        "enzyme",
        "copper",
        "paramecium",
        "blood_groups",
        "steam",
        "acetic_acid",
        "pendulum",
    }
)
"""The tables whose errors are in proportion to the values."""
SAME: Mapping[str, frozenset[str]] = {
    "irradiation": frozenset({"a exp(b x)"}),
    "vibrio": frozenset({"a exp(b x)"}),
    "trityl": frozenset({"a / (x + b)"}),
    "urease": frozenset({"a x / (x + b)"}),
    "enzyme": frozenset({"a x / (x + b)"}),
    "steam": frozenset({"exp(a + b / x)"}),
    "acetic_acid": frozenset({"exp(a + b / x)"}),
    "pendulum": frozenset({"c sqrt(x)"}),
}
NESTED: Mapping[str, frozenset[str]] = {
    "arrow": frozenset({"a + b x + c x^2"}),
    "blood_groups": frozenset({"c x1^k x2^l"}),
    "pendulum": frozenset({"c x^k"}),
}
PLAIN = frozenset({"pendulum"})
"""The tables with a law of one constant, such as `c x` or `c sqrt(x)`, of the batch for which these may be close."""
FAR, NEAR, CLOSE = 6.0, 1.0, 0.5
"""The margins that a form needs, one that has the law as a special case, and such a one where the law is plain."""
MOST_PLAIN = 4
LARGEST_ERROR = 0.1
CLEAR = 0.01
PERMUTATIONS = 4000
OPERATORS = ("add", "sub", "mul", "div", "sqrt", "square", "exp", "log", "sin", "cos", "neg")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d*)?(?:e-?\d+)?(?!\w)")

Basis = Callable[[float], Floats]
"""The column of a form with one factor, by a constant within it."""


@dataclass(frozen=True)
class Verdict:
    """What a law and the other forms make of a table."""

    table: str
    rows: int
    margin: float
    rival: str
    nested: float
    """The smallest margin over forms that have the law as a special case."""
    errors: tuple[float, ...]
    """Relative standard errors of the law's constants."""
    trend: float
    """The smallest probability of the tests for a trend."""

    @property
    def can_tell(self) -> bool:
        """Return whether the table keeps the criteria."""
        few = self.margin >= FAR and self.nested >= (CLOSE if self.table in PLAIN else NEAR)
        return few and max(self.errors) <= LARGEST_ERROR and self.trend >= CLEAR


def function_of(law: str, names: Sequence[str]) -> tuple[Callable[[Floats, Floats], Floats], Floats]:
    """Return a law as a function of its constants, the decimals in its text, and of a table; and their values."""
    starts = [float(text) for text in _NUMBER.findall(law) if re.search("[.e]", text)]
    places = [f"constant_{place}" for place in range(len(starts))]
    left = iter(places)
    text = _NUMBER.sub(lambda found: next(left) if re.search("[.e]", found[0]) else found[0], law)
    expression = Expression.parse(text, Library.of(OPERATORS, (*names, *places), constants=True))

    def values(constants: Floats, X: Floats) -> Floats:
        return expression.evaluate(np.column_stack([X, np.broadcast_to(constants, (len(X), len(constants)))]))

    return values, np.array(starts)


def linear(columns: Sequence[Floats], y: Floats, weights: Floats) -> float:
    """Return what a linear combination of columns leaves, as a sum of squares."""
    table = np.column_stack(columns) * weights[:, None]
    if not np.isfinite(table).all():
        return math.inf
    table /= np.maximum(np.abs(table).max(axis=0), 1e-300)
    found = np.linalg.lstsq(table, y * weights, rcond=None)[0]
    return float(np.sum((table @ found - y * weights) ** 2))


def profiled(column: Basis, places: Floats, y: Floats, weights: Floats) -> float:
    """Return what a form leaves that is a factor and a column with a constant within it."""
    left = np.array([linear([column(place)], y, weights) for place in places])
    best = int(np.argmin(left))
    low, high = places[max(best - 1, 0)], places[min(best + 1, len(places) - 1)]
    found = optimize.minimize_scalar(
        lambda place: linear([column(place)], y, weights),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-9 * max(abs(low), abs(high))},
    )
    return float(min(left[best], found.fun))


def forms(x: Floats, y: Floats, weights: Floats) -> dict[str, tuple[float, int]]:
    """Return what each form in one column leaves, and the number of its constants."""
    one, span = np.ones(len(x)), float(np.ptp(x))
    steps = span * np.geomspace(1e-6, 1e4, 1500)
    shifts = (-x.min() + steps, -x.max() - steps[::-1])
    rates = np.linspace(-30.0, 30.0, 2001)

    def shifted(column: Callable[[float], Floats]) -> float:
        return min(profiled(column, side, y, weights) for side in shifts)

    found = {
        "a constant": (linear([one], y, weights), 1),
        "c x": (linear([x], y, weights), 1),
        "c x^2": (linear([x**2], y, weights), 1),
        "a + b x": (linear([one, x], y, weights), 2),
        "a + b x + c x^2": (linear([one, x, x**2], y, weights), 3),
        "a exp(b x)": (profiled(lambda rate: np.exp(rate * (x - x.mean()) / span), rates, y, weights), 2),
        "a / (x + b)": (shifted(lambda shift: 1.0 / (x + shift)), 2),
        "a x / (x + b)": (shifted(lambda shift: x / (x + shift)), 2),
    }
    if (x >= 0.0).all():
        powers = np.linspace(-12.0 if x.all() else 0.01, 12.0, 2001)
        found["c x^k"] = (profiled(lambda power: (x / x.max()) ** power, powers, y, weights), 2)
        found["c sqrt(x)"] = (linear([np.sqrt(x)], y, weights), 1)
    if (x > 0.0).all():
        found["a + b log x"] = (linear([one, np.log(x)], y, weights), 2)
    if x.all():
        inverse = (1.0 / x - np.mean(1.0 / x)) / np.ptp(1.0 / x)
        found["a + b / x"] = (linear([one, 1.0 / x], y, weights), 2)
        found["c / x"] = (linear([1.0 / x], y, weights), 1)
        found["c / x^2"] = (linear([1.0 / x**2], y, weights), 1)
        found["exp(a + b / x)"] = (profiled(lambda rate: np.exp(rate * inverse), rates, y, weights), 2)
    return found


def rivals(X: Floats, y: Floats, weights: Floats) -> dict[str, tuple[float, int]]:
    """Return what each form leaves, and the number of its constants: in every column, and in both if there are two."""
    if X.shape[1] == 1:
        return forms(X[:, 0], y, weights)
    found = {
        f"{name} of column {column + 1}": left
        for column in range(X.shape[1])
        for name, left in forms(X[:, column], y, weights).items()
    }
    constants = 1 + X.shape[1]
    found["a + b x1 + c x2"] = (linear([np.ones(len(X)), *X.T], y, weights), constants)
    if (X > 0.0).all() and (y > 0.0).all():
        logs = np.column_stack([np.ones(len(X)), np.log(X)])
        start = np.linalg.lstsq(logs, np.log(y), rcond=None)[0]
        power = optimize.least_squares(lambda p: (np.exp(logs @ p) - y) * weights, start)
        found["c x1^k x2^l"] = (2.0 * float(power.cost), constants)
    return found


def runs(signs: Floats) -> int:
    """Return the number of runs."""
    return 1 + int(np.sum(signs[1:] != signs[:-1]))


def trend(columns: Sequence[Floats], left: Floats) -> float:
    """Return the smallest probability, over tests and columns, that what is left has no trend."""
    rng = np.random.default_rng(0)
    shuffled = [rng.permutation(len(left)) for _ in range(PERMUTATIONS)]
    found = []
    for column in columns:
        found.append(float(stats.spearmanr(column, left).pvalue))
        signs = np.sign(left[np.argsort(column, kind="stable")])
        counts = np.array([runs(signs[order]) for order in shuffled])
        tails = (np.sum(counts <= runs(signs)), np.sum(counts >= runs(signs)))
        found.append(min(1.0, 2.0 * (int(min(tails)) + 1) / (PERMUTATIONS + 1)))
        ranks = stats.rankdata(column)
        bent = np.column_stack([np.ones(len(left)), ranks, ranks**2])
        onto, centred = bent @ np.linalg.pinv(bent), left - left.mean()
        sizes = np.array([np.sum((onto @ centred[order]) ** 2) for order in shuffled])
        found.append((int(np.sum(sizes >= np.sum((onto @ centred) ** 2))) + 1) / (PERMUTATIONS + 1))
    return min(found)


def judged() -> dict[str, small_tables.Measured]:
    """Return the tables that these criteria are for, by their names."""
    names = [measured.name for measured in small_tables.TABLES]
    return {measured.name: measured for measured in small_tables.TABLES[names.index(FIRST) :]}


def judge(measured: small_tables.Measured) -> Verdict:
    """Fit the law of a table and its rivals."""
    frame = tables.read_table(measured.name).frame
    X, y = frame[list(measured.inputs)].to_numpy(float), frame[measured.target].to_numpy(float)
    weights = 1.0 / np.abs(y) if measured.name in RELATIVE else np.ones(len(y))
    law, starts = function_of(measured.law, measured.inputs)
    fitted = optimize.least_squares(
        lambda constants: (law(constants, X) - y) * weights, starts, x_scale=np.abs(starts), xtol=1e-14, ftol=1e-14
    )
    spread = 2.0 * float(fitted.cost) / (len(y) - len(starts))
    errors = np.sqrt(np.diag(np.linalg.inv(fitted.jac.T @ fitted.jac)) * spread) / np.abs(fitted.x)

    def bic(left: float, constants: int) -> float:
        return len(y) * math.log(left / len(y)) + constants * math.log(len(y))

    own = bic(2.0 * float(fitted.cost), len(starts))
    same, nested = SAME.get(measured.name, frozenset()), NESTED.get(measured.name, frozenset())
    margins = {name: bic(*left) - own for name, left in rivals(X, y, weights).items() if name not in same}
    rival = min((name for name in margins if name not in nested), key=margins.__getitem__)
    values = law(fitted.x, X)
    return Verdict(
        measured.name,
        len(y),
        margin=margins[rival],
        rival=rival,
        nested=min((margins[name] for name in nested), default=math.inf),
        errors=tuple(errors.tolist()),
        trend=trend([*X.T, values], (y - values) * weights),
    )


def report(verdicts: Sequence[Verdict]) -> str:
    """Show the verdicts as a table."""
    lines = [
        f"{'table':16}{'rows':>5}{'margin':>8}  {'best other form':18}{'nested':>7}{'trend':>7}  errors of constants"
    ]
    for each in verdicts:
        nested = f"{each.nested:.1f}" if math.isfinite(each.nested) else ""
        errors = " ".join(f"{error:.1%}" for error in each.errors)
        line = (
            f"{each.table:16}{each.rows:>5}{each.margin:>8.1f}  {each.rival:18}{nested:>7}{each.trend:>7.3f}  {errors}"
        )
        lines.append(line if each.can_tell else f"{line}  (fails)")
    return "\n".join(lines)


def main() -> None:
    """Read the command line."""
    known = judged()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=list(known), default=list(known))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with np.errstate(all="ignore"):
        print(report([judge(known[name]) for name in asked.tables]))


if __name__ == "__main__":
    main()
