"""Print how often methods solve problems: `python perf/recovery.py METHOD:PROBLEM,PROBLEM... [--seeds 10] [--jobs 2]`.

"Solved" is the released code's own test: NMSE below 1e-12 on training and on test data.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import itertools
import time
from dataclasses import dataclass

import numpy as np

from problems import PROBLEMS
from symseed import RegressionTask, methods, search


@dataclass(frozen=True)
class Outcome:
    """One search's end."""

    is_solved: bool
    charged: int
    seconds: float


def solve(method_name: str, problem_name: str, seed: int) -> Outcome:
    """Search once, with the method's own budget."""
    method, problem = methods.get(method_name), PROBLEMS[problem_name]
    library = problem.library
    train, test = problem.datasets()
    start = time.process_time()
    task = RegressionTask(library, train, test=test)
    result = search.run(method.space(library), task, method.settings, seed=seed, budget=method.budget)
    return Outcome(result.is_solved, result.history[-1].charged, time.process_time() - start)


def main() -> None:
    """Run every combination and print one line for each problem."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wanted", nargs="+", metavar="METHOD:PROBLEMS")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    pairs = [
        (method, problem)
        for wanted in options.wanted
        for method, _, problems in [wanted.partition(":")]
        for problem in problems.split(",")
    ]
    runs = [(method, problem, seed) for (method, problem), seed in itertools.product(pairs, range(options.seeds))]
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(solve, *zip(*runs, strict=True)))
    for i, (method, problem) in enumerate(pairs):
        own = outcomes[i * options.seeds : (i + 1) * options.seeds]
        solved = sum(outcome.is_solved for outcome in own)
        charged, seconds = (np.median([getattr(o, name) for o in own]) for name in ("charged", "seconds"))
        print(
            f"{method:24} {problem:12} {solved:3d} of {options.seeds}   median {charged:9,.0f} expressions, "
            f"{seconds:6.2f} CPU s"
        )


if __name__ == "__main__":
    main()
