"""Whether weights are probabilities: of the forms with a weight of 70 %, about 70 % should be right.

    python perf/weights.py [--cases 200] [--seed 1] [--max-evals 20000]

A law is a random formula in the language of the default settings, of 3 to 9 tokens. Its samples have normal noise of
1 to 100 % of its standard deviation. A formula of the fit has the law's form if it gives back the law itself once its
constants are fitted to samples without noise, and if it has no more constants that matter than the law has. The fits
are lines of build/weights-SEED.jsonl, and fits that are there are not repeated. Seed 0 is for tuning, and other seeds
are for reports.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symseed import Dataset, Expression, Library, SymbolicRegressor
from symseed.arrays import Floats
from symseed.errors import SymseedError
from symseed.language.population import Population
from symseed.language.tokens import literal
from symseed.regressor.front import RULES
from symseed.scoring.evaluation import fit_to_convergence
from symseed.scoring.simple_numbers import cost

UNARY = ("sqrt", "square", "exp", "log", "sin", "cos")
BINARY = ("+", "-", "*", "/")
ROWS = (10, 20, 50, 100, 200)
NOISE = (0.01, 1.0)
"""Smallest and largest standard deviation of the noise, as a share of the law's."""
POINTS = 300
"""Samples without noise on which forms are compared."""
SAME = 1e-12
"""Largest mean squared difference of equal forms, as a share of the law's variance: rounding of a fit."""
DETERMINED = 1e-10
"""Smallest eigenvalue of the correlations of constants that matter; a smaller one is rounding."""
BINS = 5


def drawn(rng: np.random.Generator, variables: int, size: int) -> str:
    """Return the text of a random formula."""
    if size <= 1:
        if rng.random() < 0.7:
            return f"x{1 + int(rng.integers(variables))}"
        value = float(rng.integers(1, 6)) if rng.random() < 0.4 else round(float(rng.uniform(0.1, 5.0)), 3)
        return f"{value:g}"
    if size == 2 or rng.random() < 0.35:
        return f"{rng.choice(UNARY)}({drawn(rng, variables, size - 1)})"
    left = int(rng.integers(1, size - 1))
    return f"({drawn(rng, variables, left)} {rng.choice(BINARY)} {drawn(rng, variables, size - 1 - left)})"


def problem(seed: int, index: int) -> tuple[Expression, Floats, Floats, Floats]:
    """Return a law, its samples with noise, and points within their range."""
    rng = np.random.default_rng([seed, index])
    while True:
        variables = int(rng.integers(1, 3))
        text = drawn(rng, variables, int(rng.integers(3, 10)))
        library = Library.of(["add", "sub", "mul", "div", *UNARY], variables, constants=True)
        law = Expression.parse(text, library)
        low, width = rng.uniform(-1.0, 3.0, variables), 10.0 ** rng.uniform(-0.3, 1.0, variables)
        X, points = (
            low + width * rng.uniform(0.0, 1.0, (count, variables)) for count in (int(rng.choice(ROWS)), POINTS)
        )
        y, truth = law.evaluate(X), law.evaluate(points)
        level = math.exp(rng.uniform(*np.log(NOISE)))
        noise = rng.standard_normal(len(X))
        if np.isfinite([*y, *truth]).all() and np.std(truth) > 1e-3 and np.abs(truth).max() < 1e4:
            return law, X, y + level * np.std(truth) * noise, points


def is_right(expression: Expression, points: Floats, values: Floats, needed: int) -> bool:
    """Return whether a formula has the form of a law with `needed` constants, with its simple numbers fitted or not."""
    forms = (expression, with_literals(expression))
    return any(is_same and count <= needed for is_same, count in (form_of(form, points, values) for form in forms))


def with_literals(expression: Expression) -> Expression:
    """Return a formula whose simple numbers are not constants but parts of the form."""
    numbers = {value for value in expression.constants if not math.isnan(value) and cost(value) is not None}
    library = Library(expression.library.tokens + tuple(literal(value) for value in sorted(numbers)))
    return Expression.parse(str(expression), library) if numbers else expression


def form_of(expression: Expression, points: Floats, values: Floats) -> tuple[bool, int]:
    """Return whether a form gives values at points once its constants are fitted, and how many constants matter."""
    data = Dataset.of(points, values)
    population, errors = fit_to_convergence(Population.from_expressions([expression]), data, most=20)
    error = float(data.mean_squares(errors.error)[0]) / float(np.var(values))
    if len(expression.constant_places) == 0:
        return error < SAME, 0
    curvature = data.backend.linearise(population).curvature
    scale = np.diagonal(curvature)
    used = scale > 0.0
    if not used.any():
        return error < SAME, 0
    unit = 1.0 / np.sqrt(scale[used])
    correlated = curvature[np.ix_(used, used)] * unit[:, None] * unit
    if not np.isfinite(correlated).all():
        return False, len(scale)
    return error < SAME, int(np.sum(np.linalg.eigvalsh(correlated) > DETERMINED))


def measure(seed: int, index: int, max_evals: int) -> dict[str, Any]:
    """Fit the samples of one law, and judge every formula that has a weight."""
    law, X, y, points = problem(seed, index)
    started = time.process_time()
    try:
        model = SymbolicRegressor(
            max_evals=max_evals, max_time=None, model_selection="cv", n_jobs=1, random_state=0
        ).fit(X, y)
    except SymseedError as error:
        return {"index": index, "law": str(law), "error": str(error)}
    seconds = time.process_time() - started
    truth = law.evaluate(points)
    _, needed = form_of(law, points, truth)
    front = model.fronts[0]
    chosen = {rule: front.choice(rule) for rule in RULES}
    chosen["least cv"] = int(np.nanargmin([item.cv_loss or math.nan for item in front.equations]))
    found = [
        {
            "text": item.text,
            "expression": str(item.expression),
            "description": item.description,
            "weight": item.weight,
            "is_right": is_right(item.expression, points, truth, needed),
            "is_on_front": place < len(front.equations),
            "chosen_by": [rule for rule, choice in chosen.items() if choice == place],
        }
        for place, item in enumerate([*front.equations, *front.others])
    ]
    return {
        "index": index,
        "law": str(law),
        "rows": len(X),
        "noise": float(np.std(y - law.evaluate(X)) / np.std(truth)),
        "reason": front.reason.name,
        "cpu_seconds": round(seconds, 3),
        "found": found,
    }


def calibration(pairs: Sequence[tuple[float, bool]]) -> list[tuple[float, float, int]]:
    """Return the mean weight, the share that is right, and the count of each bin of weights."""
    out = []
    for bin_ in range(BINS):
        inside = [pair for pair in pairs if min(int(BINS * pair[0]), BINS - 1) == bin_]
        weight, right = (float(np.mean([pair[i] for pair in inside])) if inside else math.nan for i in (0, 1))
        out.append((weight, right, len(inside)))
    return out


def of_forms(case: dict[str, Any]) -> list[tuple[float, bool]]:
    """Return the weight of each form of a fit, and whether it is right; formulas of one form have the same weight."""
    by_weight: dict[float, bool] = {}
    for item in case["found"]:
        by_weight[item["weight"]] = by_weight.get(item["weight"], False) or item["is_right"]
    return list(by_weight.items())


def main() -> None:
    """Fit what is not there yet, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-evals", type=int, default=20_000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    path = Path(__file__).parent.parent / "build" / f"weights-{arguments.seed}.jsonl"
    path.parent.mkdir(exist_ok=True)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    done = {line["index"] for line in lines}
    with path.open("a", encoding="utf-8") as file:
        for index in range(arguments.cases):
            if index not in done:
                lines.append(measure(arguments.seed, index, arguments.max_evals))
                file.write(json.dumps(lines[-1]) + "\n")
                file.flush()
    fits = [line for line in lines if line["index"] < arguments.cases and "error" not in line]
    known = [any(item["is_right"] for item in line["found"]) for line in fits]
    print(f"{len(fits)} laws: the form was found in {sum(known)}; selected by")
    for rule in (*RULES, "least cv"):
        right = sum(item["is_right"] for line in fits for item in line["found"] if rule in item["chosen_by"])
        print(f"  {rule:10} {right}")
    print(f"CPU seconds of a fit: {np.mean([line['cpu_seconds'] for line in fits]):.2f}")
    print(f"{'weight':>10}  {'forms':>6}  {'mean weight':>12}  {'right':>6}")
    for bin_, (weight, right, count) in enumerate(calibration([pair for line in fits for pair in of_forms(line)])):
        print(f"{bin_ / BINS:4.1f} - {(bin_ + 1) / BINS:3.1f}  {count:6}  {weight:12.3f}  {right:6.3f}")


if __name__ == "__main__":
    main()
