"""Islands against one portfolio with as many formulas in all, on the problems that noise makes hardest for `default`.

    python perf/islands.py [PROBLEM ...] [--islands 1 4] [--noise 0.01] [--seeds 0:25] [--evals 60000] \
        [--out build/islands.jsonl]

The problems are by default those of the paper's 37 that `default` did not recover in 30 seconds at this noise, by the
records in docs/records. Each run has one process, the limit of formulas and no other limit, and is judged as a run of
`symseed bench` is: whether the selected formula has the form of the target. Results are lines of JSON; what the file
has already is not run again. Ends with a table of the runs of which the file has all islands.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from symseed import SymbolicRegressor, benchmarks
from symseed.benchmarks.store import Store
from symseed.recovery.checker import Checker, Verdict

PAPERS = ("Nguyen-paper", "R-paper", "Livermore")


def hardest(noise: float) -> list[str]:
    """Return the problems that `default` did not recover."""
    names = {problem.name for name in PAPERS for problem in benchmarks.resolve(name)}
    records = [one for one in Store(Path("docs/records")).read() if one.method == "default" and one.noise == noise]
    longest = max(one.seconds or 0.0 for one in records)
    own = [one for one in records if one.seconds == longest and one.problem in names]
    return sorted(one.problem for one in own if not one.is_recovered)


def run(name: str, noise: float, seed: int, islands: int, evals: int, checker: Checker) -> dict[str, Any]:
    """Search one problem."""
    problem = benchmarks.get(name)
    train, test = problem.datasets(0)
    given = train.with_noise(noise, seed=seed)
    began = time.process_time()
    operators = [token for token in problem.library.tokens if token.arity]
    model = SymbolicRegressor(
        binary_operators=[token.name for token in operators if token.arity == 2],
        unary_operators=[token.name for token in operators if token.arity == 1],
        islands=islands,
        max_evals=evals,
        max_time=None,
        patience=None,
        n_jobs=1,
        random_state=seed,
    ).fit(given.X, given.y)
    spent = time.process_time() - began
    assert problem.target is not None
    recovery = checker.check(model.best_.expression, problem.target, test, refit=True)
    return {
        "problem": name,
        "noise": noise,
        "seed": seed,
        "islands": islands,
        "evals": evals,
        "is_recovered": recovery.verdict is Verdict.EXACT,
        "description": model.best_.description,
        "formula": str(model.best_),
        "cpu": spent,
    }


def table(lines: Iterable[dict[str, Any]], islands: list[int]) -> None:
    """Print how often each number of islands recovered the target."""
    by_key: dict[tuple[str, int], dict[int, dict[str, Any]]] = {}
    for one in lines:
        by_key.setdefault((one["problem"], one["seed"]), {})[one["islands"]] = one
    whole = {key: found for key, found in by_key.items() if all(count in found for count in islands)}
    print(
        "problem        " + "".join(f"{count:>4} island{'s' if count > 1 else ' '}" for count in islands) + "  shorter"
    )
    for problem in [*sorted({name for name, _ in whole}), None]:
        own = [found for (name, _), found in whole.items() if problem in (name, None)]
        rates = "".join(f"{sum(one[count]['is_recovered'] for one in own):>6}/{len(own):<5}" for count in islands)
        first, last = islands[0], islands[-1]
        gains = [one[first]["description"] - one[last]["description"] for one in own]
        print(
            f"{problem or 'all':15}{rates} {sum(gain > 0.01 for gain in gains):>4} shorter, "
            f"{sum(gain < -0.01 for gain in gains)} longer"
        )
    cpu = [sum(found[count]["cpu"] for found in whole.values()) for count in islands]
    print(f"CPU s: {', '.join(f'{one:.0f}' for one in cpu)}")


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*")
    parser.add_argument("--islands", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--noise", type=float, default=0.01)
    parser.add_argument("--seeds", default="0:25")
    parser.add_argument("--evals", type=int, default=60_000)
    parser.add_argument("--out", type=Path, default=Path("build/islands.jsonl"))
    parser.add_argument("--table", action="store_true", help="run nothing")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    first, end = map(int, given.seeds.split(":"))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(line) for line in given.out.read_text().splitlines()] if given.out.exists() else []
    lines = [one for one in lines if (one["noise"], one["evals"]) == (given.noise, given.evals)]
    done = {(one["problem"], one["seed"], one["islands"]) for one in lines}
    names, checker = given.problems or hardest(given.noise), Checker()
    for seed in range(first, first if given.table else end):
        for name in names:
            for islands in given.islands:
                if (name, seed, islands) not in done:
                    lines.append(run(name, given.noise, seed, islands, given.evals, checker))
                    with given.out.open("a") as file:
                        file.write(json.dumps(lines[-1]) + "\n")
    table(lines, given.islands)


if __name__ == "__main__":
    main()
