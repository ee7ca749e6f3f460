"""How often "solved" is wrong: fits of noiseless targets drawn from a grammar, look-alikes of series among them.

    python perf/certainty.py [--targets 1000] [--seed 1] [--max-evals 20000]

A target is a random formula of one or two variables, over an interval drawn at random; many use functions that the
search lacks (sinh, atan, ...), so that often only a series can imitate them. A fit that ends with "solved" is wrong if
its formula differs from the target on the interval made three times as wide. Each fit is a line of
build/certainty-SEED.jsonl, and fits that are there are not repeated. Seed 0 is for tuning, and other seeds for reports.
"""

from __future__ import annotations

import argparse
import collections
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from symseed import SymbolicRegressor
from symseed.data import Dataset
from symseed.language.population import Population
from symseed.scoring.certainty import least_determined
from symseed.search.budget import StopReason

UNARY: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("sin", "cos", "exp", "log", "sqrt", "square", "tanh", "sinh", "cosh")},
    **{"atan": np.arctan, "cbrt": np.cbrt, "log1p": np.log1p},
}
BINARY: dict[str, Callable[..., Any]] = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
BEYOND = 1.0
"""Share of the interval's width by which agreement is tested on each side of it."""
SAME = 1e-7
"""Largest difference of equal formulas, as a share of the value or of the target's deviation, whichever is larger."""


def drawn(rng: np.random.Generator, variables: int, size: int) -> tuple[str, Callable[[Any], Any]]:
    """Return a random formula as text and as a function of the columns."""
    if size <= 1:
        if rng.random() < 0.65:
            column = int(rng.integers(variables))
            return f"x{column + 1}", lambda X: X[:, column]
        value = float(rng.integers(1, 5)) if rng.random() < 0.5 else round(float(rng.uniform(0.1, 5.0)), 3)
        return f"{value:g}", lambda X: np.full(len(X), value)
    if size == 2 or rng.random() < 0.4:
        name = str(rng.choice(list(UNARY)))
        text, inner = drawn(rng, variables, size - 1)
        return f"{name}({text})", lambda X: UNARY[name](inner(X))
    name = str(rng.choice(list(BINARY)))
    left = int(rng.integers(1, size - 1))
    (text, first), (other, second) = drawn(rng, variables, left), drawn(rng, variables, size - 1 - left)
    return f"({text} {name} {other})", lambda X: BINARY[name](first(X), second(X))


def problem(seed: int, index: int) -> tuple[str, Callable[[Any], Any], Any, Any]:
    """Return a target as text and function, its samples, and samples beyond them."""
    rng = np.random.default_rng([seed, index])
    while True:
        variables = int(rng.integers(1, 3))
        text, target = drawn(rng, variables, int(rng.integers(3, 10)))
        low = rng.uniform(-2.0, 3.0, variables)
        width = 10.0 ** rng.uniform(-1.0, 1.0, variables)
        rows = int(rng.choice([20, 50, 200]))
        X = low + width * rng.uniform(0.0, 1.0, (rows, variables))
        far = low - BEYOND * width + (1.0 + 2.0 * BEYOND) * width * rng.uniform(0.0, 1.0, (500, variables))
        with np.errstate(all="ignore"):
            y = target(X)
        if np.isfinite(y).all() and np.std(y) > 1e-3 and np.abs(y).max() < 1e6:
            return text, target, X, far


def measure(seed: int, index: int, max_evals: int) -> dict[str, Any]:
    """Fit one target, and judge the answer."""
    text, target, X, far = problem(seed, index)
    y = target(X)
    started = time.process_time()
    model = SymbolicRegressor(max_evals=max_evals, max_time=None, random_state=0).fit(X, y)
    seconds = time.process_time() - started
    best = model.best_
    with np.errstate(all="ignore"):
        wanted, found = target(far), best.expression.evaluate(far)
    both = np.isfinite(wanted) & np.isfinite(found)
    size = np.maximum(np.abs(wanted), np.std(y))
    difference = float((np.abs(found - wanted) / size)[both].max(initial=0.0))
    lost = float(np.mean(~np.isfinite(found)[np.isfinite(wanted)])) if np.isfinite(wanted).any() else 0.0
    population = Population.from_expressions([best.expression])
    ratio = least_determined(population, 0, Dataset.of(X, y), best.loss)
    return {
        "index": index,
        "target": text,
        "rows": len(X),
        "found": str(best),
        "tokens": best.complexity,
        "nmse": best.loss / float(np.var(y)),
        "reason": StopReason(model.stop_reason_).name,
        "is_same": difference < SAME and lost < 0.1,
        "least_determined": min(ratio, 1e300),
        "cpu_seconds": round(seconds, 3),
    }


def main() -> None:
    """Fit what is not there yet, and print a summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-evals", type=int, default=20_000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    path = Path(__file__).parent.parent / "build" / f"certainty-{arguments.seed}.jsonl"
    path.parent.mkdir(exist_ok=True)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    done = {line["index"] for line in lines}
    with path.open("a", encoding="utf-8") as file:
        for index in range(arguments.targets):
            if index not in done:
                lines.append(measure(arguments.seed, index, arguments.max_evals))
                file.write(json.dumps(lines[-1]) + "\n")
                file.flush()
    lines = [line for line in lines if line["index"] < arguments.targets]
    solved = [line for line in lines if line["reason"] == "SOLVED"]
    wrong = [line for line in solved if not line["is_same"]]
    print(f"{len(lines)} targets, ended by {dict(collections.Counter(line['reason'] for line in lines))}")
    print(f"solved: {len(solved)}, wrong: {len(wrong)}, {100 * len(wrong) / max(1, len(lines)):.2f} % of the targets")
    for line in wrong:
        print(f"  {line['index']:5}  {line['target']}  by  {line['found'][:100]}")
    exact = [line for line in lines if line["nmse"] < 1e-20]
    for is_same, what in ((True, "laws, smallest"), (False, "others, largest")):
        ratios = sorted(line["least_determined"] for line in exact if line["is_same"] is is_same)
        edge = ratios[:5] if is_same else ratios[-5:]
        print(f"digits of the least determined constant, {what}: {[f'{ratio:.1e}' for ratio in edge]}")


if __name__ == "__main__":
    main()
