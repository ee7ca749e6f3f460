"""What units gain: `default` with and without them on the public sets, and how many expressions a law takes.

    python perf/units.py Feynman --noise 0.01 --seeds 0:1 --seconds 60 --out build/units.jsonl
    python perf/units.py --laws --seeds 0:10 --budget 300000

The first command runs `default` with the published units of a problem as a constraint (some problems of many variables
if none is named), and without; the runs are as in `symseed bench run`. Results are lines of JSON; what the file has
already is not run again. The second counts the expressions that `nggp` takes, from 20 samples of a law, with columns
that it does not need among them.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

import noise
from symseed import Budget, Dataset, Library, SearchSpace, benchmarks, methods, portfolio, search
from symseed.recovery import Checker
from symseed.scoring.regression import RegressionTask
from symseed.space.constraints import PAPER, Dimensions

OPERATORS = ("add", "sub", "mul", "div", "sin", "cos", "exp", "log", "sqrt", "square")
SUBSET = tuple(
    f"Feynman-{name}"
    for name in ("I.9.18", "I.12.11", "I.13.12", "I.32.17", "I.40.1", "II.6.15a", "II.11.17", "II.36.38", "III.9.52")
)
"""Problems of four to nine variables, of all volumes."""
LABELS = {True: "default with units", False: "default without"}


def default(problem_name: str, level: float, seed: int, seconds: int, *, has_units: bool) -> noise.Outcome:
    """Run `default`, with a problem's units or without, for at most some CPU seconds."""
    problem, method = benchmarks.get(problem_name), methods.get("default")
    assert method.portfolio is not None, "`default` is a portfolio"
    assert problem.dimensions is not None, "only problems with units are planned"
    assert problem.target is not None, "targets with units are formulas"
    settings = replace(method.portfolio, constraints=(problem.dimensions,)) if has_units else method.portfolio
    train, test = problem.datasets()
    begin = time.process_time()
    budget = Budget(method.budget.expressions, seconds, time.process_time)
    solution = portfolio.run(problem.library, train.with_noise(level, seed=seed), settings, seed=seed, budget=budget)
    spent = time.process_time() - begin
    with Checker() as checker:
        recovery = checker.check(solution.best.expression, problem.target, test, refit=level > 0.0)
    return noise.Outcome(
        LABELS[has_units],
        *(problem_name, level, seed, seconds),
        formula=str(solution.best.expression),
        verdict=recovery.verdict.name.lower().replace("_", " "),
        test_nmse=recovery.test_nmse if np.isfinite(recovery.test_nmse) else None,
        cpu_seconds=spent,
    )


def run_all(
    problems: Iterable[str],
    levels: Iterable[float],
    seeds: Iterable[int],
    seconds: int,
    path: Path,
    *,
    both: bool = True,
) -> list[noise.Outcome]:
    """Do the runs that a file does not have, with units and, if both are wanted, without; return all of the file."""
    problems, levels = list(problems), list(levels)
    done = {outcome.key for outcome in noise.load(path)}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for key in ((name, level, seed) for seed in seeds for level in levels for name in problems):
            for has_units in (True, False) if both else (True,):
                if benchmarks.get(key[0]).units is not None and (LABELS[has_units], *key, seconds) not in done:
                    outcome = default(*key, seconds, has_units=has_units)
                    file.write(json.dumps(asdict(outcome)) + "\n")
                    file.flush()
                    print(f"{outcome.peer}, {outcome.problem}, noise {outcome.noise:g}: {outcome.verdict}", flush=True)
    return noise.load(path)


def table(outcomes: Iterable[noise.Outcome]) -> str:
    """Show how many runs chose the target, and their CPU seconds, by level of noise."""
    groups: dict[tuple[float, str], list[noise.Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.noise, outcome.peer), []).append(outcome)
    lines = []
    for (level, label), own in sorted(groups.items()):
        seconds = float(np.median([outcome.cpu_seconds or 0.0 for outcome in own]))
        found = sum(outcome.verdict == "exact" for outcome in own)
        lines.append(f"noise {level:g}, {label}: {found} of {len(own)}, median {seconds:.1f} CPU s")
    return "\n".join(lines)


# --- Laws whose units are given here ----------------------------------------------------------------------------------


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


def show_laws(seeds: Iterable[int], budget: int) -> None:
    """Print a line for each law, with and without units."""
    seeds = list(seeds)
    for name, law in LAWS.items():
        for has_units in (True, False):
            began = time.process_time()
            found = [expressions(law, has_units=has_units, seed=seed, budget=budget) for seed in seeds]
            median = float(np.median([budget if count is None else count for count in found]))
            solved = sum(count is not None for count in found)
            label = "with units" if has_units else "without"
            seconds = time.process_time() - began
            took = f"median {'' if median < budget else 'at least '}{median:,.0f}"
            print(f"{name:10} {label:10}: {solved} of {len(seeds)}, {took}, {seconds:.1f} CPU s in all")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("problems", nargs="*", default=list(SUBSET), help="sets or problems with units")
    parser.add_argument("--laws", action="store_true", help="count expressions on three laws instead")
    parser.add_argument("--noise", nargs="+", type=float, default=[0.01], help="levels, of y's RMS")
    parser.add_argument("--seeds", default="0:1", help="a range, first:end")
    parser.add_argument("--seconds", type=int, default=60, help="CPU seconds of each run")
    parser.add_argument("--budget", type=int, default=300_000, help="most expressions of a law")
    parser.add_argument("--out", type=Path, default=Path("build/units.jsonl"))
    asked = parser.parse_args()
    if asked.laws:
        show_laws(noise.seeds(asked.seeds), asked.budget)
        return
    problems = dict.fromkeys(problem.name for name in asked.problems for problem in benchmarks.resolve(name))
    print(table(run_all(problems, asked.noise, noise.seeds(asked.seeds), asked.seconds, asked.out)))


if __name__ == "__main__":
    main()
