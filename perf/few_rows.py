"""How often the chosen formula is the law that the data were drawn from, by the number of rows.

    python perf/few_rows.py [--cases 120] [--seed 1] [--max-evals 20000] [--tag after] [--rows 5 10]
    python perf/few_rows.py --constants [--cases 400] [--seed 1] [--tag after]

A case is a random formula of one or two variables, 5 to 1,000 rows, and noise drawn at random: 0.1 to 10 %, additive
or in proportion to the value. The choice of a fit is compared with the law by values, constants free on both sides: it
is the law if each can take on the values of the other; too long if only it can take on those of the law; too short if
only the law can take on those of the choice; otherwise it is another formula. A law that was not chosen is a failure
of the search if its description is shorter than that of the choice, and of the rules otherwise.

With --constants the form is given, and only its constants are rounded: half of the true constants are simple numbers
(integers, halves, pi), half are random reals. A rounding is wrong if a random real became a simple number, or if a
simple number became another one; a simple number is missed if it stays a fitted constant.

Each case is a line of build/few-rows-TAG-SEED.jsonl (or build/rounding-TAG-SEED.jsonl), and cases that are there are
not repeated. Seed 0 is for tuning, and other seeds for reports.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from symseed import Dataset, Expression, Library, SymbolicRegressor
from symseed.arrays import Floats
from symseed.assembly.simplify import converged, simplified
from symseed.language import Population, Writer
from symseed.language.tokens import OPERATORS
from symseed.scoring import simple_numbers
from symseed.scoring.description import description_lengths
from symseed.scoring.evaluation import fit
from symseed.scoring.fitting import FitSettings

ROWS = (5, 10, 20, 50, 200, 1_000)
NOISE = (1e-3, 1e-1)
"""Range of the noise's standard deviation, in those of y or in the values of y; its logarithm is drawn evenly."""
UNARY = {"square": 0.3, "sqrt": 0.25, "exp": 0.2, "log": 0.15, "sin": 0.1}
BINARY = {"*": 0.4, "/": 0.3, "+": 0.2, "-": 0.1}
SAME = 1e-5
"""Of the spread: the largest difference of equal formulas, whose constants were fitted to each other's values."""
POINTS, WIDER = 200, 1.25
"""Points at which formulas are compared, in the range of the data and in one that is wider by this factor."""
VERDICTS = ("law", "too long", "too short", "other")


# --- Cases ------------------------------------------------------------------------------------------------------------


def number(rng: np.random.Generator) -> float:
    """Return a constant of a law: half of them are simple numbers."""
    if rng.random() < 0.5:
        return float(rng.choice([1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 0.5, 1.5, 0.25, np.pi]))
    return float(f"{10.0 ** rng.uniform(-1.0, 1.5):.4g}")


def drawn(rng: np.random.Generator, names: list[str], operators: int) -> str:
    """Return a random formula of some operators."""
    if operators == 0:
        return str(rng.choice(names))
    if rng.random() < 0.35:
        return f"{rng.choice(list(UNARY), p=list(UNARY.values()))}({drawn(rng, names, operators - 1)})"
    sign = rng.choice(list(BINARY), p=list(BINARY.values()))
    left = int(rng.integers(0, operators))
    first = drawn(rng, names, left)
    second = drawn(rng, names, operators - 1 - left)
    if left == 0 and rng.random() < 0.5:
        first = repr(number(rng))
    return f"({first} {sign} {second})"


def problem(seed: int, index: int, count: int) -> tuple[Expression, Dataset, Floats, dict[str, Any]]:
    """Return a law, its noisy data, points at which formulas are compared, and facts about the case."""
    rng = np.random.default_rng([seed, index])
    while True:
        names = ["x", "z"][: int(rng.integers(1, 3))]
        text = f"{number(rng)!r} * {drawn(rng, names, int(rng.integers(1, 5)))}"
        if rng.random() < 0.3:
            text = f"{number(rng)!r} + {text}"
        if not all(name in text.replace("exp", "") for name in names):
            continue
        law = Expression.parse(text, Library.of(OPERATORS, names, constants=True))
        low = rng.uniform(0.1, 2.0, len(names))
        width = low * 10.0 ** rng.uniform(0.0, 1.0, len(names))
        X = low + width * rng.uniform(0.0, 1.0, (count, len(names)))
        points = low + width * rng.uniform(0.0, 1.0, (POINTS, len(names)))
        wide = low + width * (0.5 + WIDER * (rng.uniform(0.0, 1.0, (POINTS, len(names))) - 0.5))
        points = np.concatenate([points, np.maximum(wide, 0.5 * low)])
        y, values = law.evaluate(X), law.evaluate(points)
        level, is_relative = float(np.exp(rng.uniform(*np.log(NOISE)))), bool(rng.random() < 0.5)
        draws = rng.standard_normal(count)
        if not np.isfinite(values).all() or not np.isfinite(y).all() or np.abs(values).max() > 1e6:
            continue
        if values.std() < 0.05 * np.abs(values).mean() or y.std() == 0.0:
            continue
        noisy = y + level * (np.abs(y) if is_relative else values.std()) * draws
        facts = {"rows": count, "noise": round(level, 5), "is_relative": is_relative, "law": text}
        return law, Dataset.of(X, noisy, names=names), points, facts


# --- Judging ----------------------------------------------------------------------------------------------------------


def imitates(form: Expression, values: Floats, points: Floats) -> bool:
    """Return whether a form, its constants fitted, has some values at some points."""
    spread = float(values[:POINTS].std())
    if not np.isfinite(values).all() or spread == 0.0:
        return False
    if not np.isfinite(form.evaluate(points[:POINTS])).all():
        return False
    data = Dataset.of(points[:POINTS], values[:POINTS])
    found = fit(Population.from_expressions([form]), data, FitSettings(iterations=300))[0][0]
    off = np.abs(found.evaluate(points) - values)
    return bool(np.isfinite(off).all() and off.max() <= SAME * (spread + np.abs(values).max()))


def verdict(law: Expression, found: Expression, points: Floats) -> str:
    """Compare a formula with a law."""
    is_within = imitates(law, found.evaluate(points), points)
    covers = imitates(found, law.evaluate(points), points)
    return VERDICTS[{(True, True): 0, (False, True): 1, (True, False): 2, (False, False): 3}[is_within, covers]]


def described(law: Expression, library: Library, data: Dataset) -> float:
    """Return the shortest description of the law's form on the data: fitted, and with simple numbers."""
    writer = Writer(library)
    row = writer.row(law)
    assert row is not None, "laws use the operators of the default settings"
    given = fit(writer.population([row]), data, FitSettings(iterations=300))[0].row(0)
    simple = converged(writer, simplified(writer, given, data), data)
    return float(description_lengths(writer.population([given, simple]), data).min())


def measure(seed: int, index: int, max_evals: int) -> dict[str, Any]:
    """Fit one case, and judge the choice."""
    law, data, points, facts = problem(seed, index, ROWS[index % len(ROWS)])
    started = time.process_time()
    model = SymbolicRegressor(max_evals=max_evals, max_time=None, n_jobs=1, random_state=0)
    model.fit(pd.DataFrame(data.X, columns=list(data.names)), data.y)
    seconds = time.process_time() - started
    front = [verdict(law, equation.expression, points) for equation in model.fronts[0].equations]
    chosen = model.fronts[0].choice("best")
    best = model.fronts[0].equations[chosen]
    return {
        "index": index,
        **facts,
        "found": str(best),
        "verdict": front[chosen],
        "is_on_front": "law" in front,
        "law_nats": described(law, best.expression.library, data),
        "chosen_nats": best.description,
        "front": [
            [equation.expression.prefix, equation.description, equation.formula.mean_square, said]
            for equation, said in zip(model.fronts[0].equations, front, strict=True)
        ],
        "cpu_seconds": round(seconds, 2),
    }


def report(lines: list[dict[str, Any]]) -> str:
    """Show, by the number of rows, what the choices were."""
    head = f"{'rows':>6}{'cases':>7}" + "".join(f"{name:>11}" for name in VERDICTS)
    out = [head + f"{'on front':>11}{'search':>9}{'rules':>8}{'CPU s':>8}"]
    for count in (*ROWS, None):
        mine = [line for line in lines if count is None or line["rows"] == count]
        if not mine:
            continue
        said = [sum(line["verdict"] == name for line in mine) for name in VERDICTS]
        missed = [line for line in mine if line["verdict"] != "law"]
        search = sum(line["law_nats"] < line["chosen_nats"] - 1e-6 for line in missed)
        seconds = sum(line["cpu_seconds"] for line in mine) / len(mine)
        out.append(
            f"{count or 'all':>6}{len(mine):>7}"
            + "".join(f"{value:>11}" for value in said)
            + f"{sum(line['is_on_front'] for line in mine):>11}{search:>9}{len(missed) - search:>8}{seconds:>8.1f}"
        )
    return "\n".join(out)


# --- Rounding of constants --------------------------------------------------------------------------------------------

FORMS = (
    "{} * x",
    "{} + {} * x",
    "{} * exp(-({} * x))",
    "{} * square(x) + {} * x",
    "{} / ({} + x)",
    "{} + {} * sqrt(x)",
    "{} + {} * x * z",
)
SIMPLE = (*map(float, range(1, 11)), 0.5, 1.5, 2.5, 0.25, 0.1, 1.0 / 3.0, 20.0, 50.0, 100.0, np.pi, 2.0 * np.pi)
OUTCOMES = ("kept", "wrongly rounded", "rounded", "missed", "rounded to another")
"""What became of a constant: the first two of random reals, the others of simple numbers."""
EQUAL = 1e-9
"""Relative difference of equal constants."""


def rounding(seed: int, index: int) -> dict[str, Any]:
    """Simplify a known form with noisy data, and compare its constants with the true ones."""
    rng = np.random.default_rng([seed, index, 1])
    count, form = ROWS[index % len(ROWS)], FORMS[int(rng.integers(len(FORMS)))]
    is_simple = [bool(rng.random() < 0.5) for _ in range(form.count("{}"))]
    true = [float(rng.choice(SIMPLE)) if one else float(10.0 ** rng.uniform(-1.0, 4.0)) for one in is_simple]
    if "exp" in form or "(" in form:  # a rate or a shift beyond the range of x has no effect
        true[1] = true[1] if is_simple[1] else float(10.0 ** rng.uniform(-1.0, 0.5))
    law = Expression.parse(form.format(*map(repr, true)), Library.of(OPERATORS, ["x", "z"], constants=True))
    X = rng.uniform(0.1, 3.0, (count, 2))
    y = law.evaluate(X)
    level = float(np.exp(rng.uniform(*np.log(NOISE))))
    noisy = y + level * float(y.std()) * rng.standard_normal(count)
    data = Dataset.of(X, noisy, names=["x", "z"])
    writer = Writer(law.library)
    given = fit(Population.from_expressions([law]), data, FitSettings(iterations=300))[0].row(0)
    row = converged(writer, simplified(writer, given, data), data)
    found = Expression(law.library, row)
    values = found.evaluate(X)
    implied, _ = fit(Population.from_expressions([law]), Dataset.of(X, values), FitSettings(iterations=300))
    off = np.abs(implied[0].evaluate(X) - values).max()
    constants = [value for value in implied[0].constants if not np.isnan(value)]
    outcomes = []
    if off <= 1e-8 * np.abs(values).max() and len(constants) == len(true):
        outcomes = [_outcome(*each) for each in zip(is_simple, true, constants, strict=True)]
    return {"index": index, "rows": count, "noise": level, "true": true, "found": str(found), "outcomes": outcomes}


def _outcome(is_simple: bool, true: float, found: float) -> str:
    near = [value for value, _ in simple_numbers.candidates(found, EQUAL * abs(found))]
    if not is_simple:
        return OUTCOMES[1 if near else 0]
    if any(abs(value - true) <= EQUAL * true for value in near):
        return OUTCOMES[2]
    return OUTCOMES[4 if near else 3]


def rounding_report(lines: list[dict[str, Any]]) -> str:
    """Show, by the number of rows, what became of constants."""
    out = [f"{'rows':>6}" + "".join(f"{name:>20}" for name in OUTCOMES) + f"{'another form':>14}"]
    for count in (*ROWS, None):
        mine = [line for line in lines if count is None or line["rows"] == count]
        said = [outcome for line in mine for outcome in line["outcomes"]]
        changed = sum(not line["outcomes"] for line in mine)
        out.append(f"{count or 'all':>6}" + "".join(f"{said.count(name):>20}" for name in OUTCOMES) + f"{changed:>14}")
    return "\n".join(out)


# --- Command line -----------------------------------------------------------------------------------------------------


def run(path: Path, cases: list[int], one: Callable[[int], dict[str, Any]]) -> list[dict[str, Any]]:
    """Measure the cases that are not in a file yet, and return the lines of all of them."""
    path.parent.mkdir(exist_ok=True)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    done = {line["index"] for line in lines}
    with path.open("a", encoding="utf-8") as file:
        for index in cases:
            if index not in done:
                lines.append(one(index))
                file.write(json.dumps(lines[-1]) + "\n")
                file.flush()
    return [line for line in lines if line["index"] in set(cases)]


def main() -> None:
    """Read the command line, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-evals", type=int, default=20_000)
    parser.add_argument("--rows", type=int, nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--tag", default="now", help="a part of the file's name: the version that is measured")
    parser.add_argument("--constants", action="store_true", help="measure the rounding of constants")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = [index for index in range(asked.cases) if ROWS[index % len(ROWS)] in asked.rows]
    folder = Path(__file__).parent.parent / "build"
    if asked.constants:
        path = folder / f"rounding-{asked.tag}-{asked.seed}.jsonl"
        print(rounding_report(run(path, cases, lambda index: rounding(asked.seed, index))))
        return
    path = folder / f"few-rows-{asked.tag}-{asked.seed}.jsonl"
    print(report(run(path, cases, lambda index: measure(asked.seed, index, asked.max_evals))))


if __name__ == "__main__":
    main()
