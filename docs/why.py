"""Measure why the paper's method works, and write docs/why.md.

    python docs/why.py --measure   # searches: some CPU minutes; writes docs/why.jsonl
    python docs/why.py [--check]   # the page and its figures, from docs/why.jsonl and docs/records

The searches are those of `nggp` on the paper's data, watched from outside: each scored population, and the probability
that the policy gives to evolution's best formula and to its own samples before it learns from them.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from symseed import benchmarks, methods
from symseed.arrays import Floats
from symseed.benchmarks import fits, report
from symseed.benchmarks.store import RunRecord, Store
from symseed.language import Expression, Library, Population
from symseed.scoring import RegressionSettings, RegressionTask, Scored, evaluate
from symseed.search import Budget, Lesson, LSTMPolicy, Part, PolicySettings, Search
from symseed.show.style import style
from symseed.space import SearchSpace

FOLDER = Path(__file__).parent
PAGE, DATA = FOLDER / "why.md", FOLDER / "why.jsonl"
PROBLEMS = ("Nguyen-5", "Nguyen-12", "Livermore-9", "Livermore-22", "R-1*")
"""Problems that need many rounds; searches go on after a solution, so that all have as many."""
METHODS = ("nggp", "nggp-lr-0.0005", "nggp-lr-0")
SEEDS = range(1)
ROUNDS = 100
SAMPLED = 100
"""Number of samples of a round whose probability is measured."""


def main() -> int:
    """Measure, write or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="do the searches that docs/why.jsonl lacks")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is out of date")
    given = parser.parse_args()
    if given.measure:
        measure()
    page = PAGE.read_text(encoding="utf-8")
    written = update(page)
    if given.check:
        if written != page:
            print(f"{PAGE.name}: not what the data give. Run `python docs/why.py`.", file=sys.stderr)
        return int(written != page)
    PAGE.write_text(written, encoding="utf-8")
    draw()
    return 0


# --- Searches ---------------------------------------------------------------------------------------------------------


def measure() -> None:
    """Do the searches that are missing, a line each."""
    known = {(run["method"], run["problem"], run["seed"]) for run in runs()}
    with DATA.open("a", encoding="utf-8") as file:
        for seed in SEEDS:
            for problem in PROBLEMS:
                for name in METHODS:
                    if (name, problem, seed) not in known:
                        rounds = search(name, problem, seed)
                        line = {"method": name, "problem": problem, "seed": seed, "rounds": rounds}
                        file.write(json.dumps(line) + "\n")
                        file.flush()


def runs() -> list[dict[str, object]]:
    """Return the searches that were done."""
    return [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()] if DATA.exists() else []


def search(name: str, problem: str, seed: int) -> list[list[float]]:
    """Search for some rounds; return what each showed.

    A round has: mean and largest reward of the samples, largest of the last generation, log-probability per token of
    evolution's best before the policy learns from it, the median and the least of those of its own samples.
    """
    task_data = benchmarks.get(problem)
    train, _ = task_data.datasets()
    method = methods.get(name)
    space = method.space(task_data.library)
    task = RegressionTask(space.library, train, RegressionSettings(solved_nmse=0.0))
    assert isinstance(method.settings.policy, PolicySettings)
    seen: list[list[float]] = []
    scored: list[tuple[Part, Scored]] = []
    policy = _Asked(space, method.settings.policy, seed=seed)

    def watch(found: Scored, part: Part) -> None:
        if part is Part.POLICY and scored:
            scored.clear()
        scored.append((part, found))

    budget = Budget(ROUNDS * 11_000)
    searching = Search(space, task, method.settings, seed=seed, budget=budget, policy=policy, watch=watch)
    policy.before = lambda: seen.append(_round(scored, policy))
    for step in searching:
        if step.index + 1 >= ROUNDS:
            break
    return seen


class _Asked(LSTMPolicy):
    """A policy that is asked for probabilities right before each lesson."""

    def __init__(self, space: SearchSpace, settings: PolicySettings, *, seed: int) -> None:
        super().__init__(space, settings, seed=seed)
        self.before: Callable[[], None] = lambda: None

    def ascend(self, lesson: Lesson) -> None:
        self.before()
        super().ascend(lesson)

    def per_token(self, population: Population) -> Floats:
        return np.asarray(self.log_probability(population) / population.lengths)


def _round(scored: list[tuple[Part, Scored]], policy: _Asked) -> list[float]:
    samples = next(found for part, found in scored if part is Part.POLICY)
    evolved = [found for part, found in scored if part is Part.EVOLUTION]
    best = max(evolved, key=lambda found: float(found.reward.max())).best(1)
    own = policy.per_token(samples.population.take(np.arange(SAMPLED)))
    champion = float(policy.per_token(best.population)[0])
    rewards = [float(samples.reward.mean()), float(samples.reward.max()), float(evolved[-1].reward.max())]
    return [round(value, 6) for value in (*rewards, champion, float(np.median(own)), float(own.min()))]


# --- The page ---------------------------------------------------------------------------------------------------------


def update(page: str) -> str:
    """Return the page with every block computed."""
    for name, table in BLOCKS.items():
        pattern = rf"(^<!-- begin {name}: [^\n]* -->\n).*?(^<!-- end {name} -->$)"
        content = f"\n{table()}\n"
        page, count = re.subn(pattern, lambda match, new=content: match[1] + new + match[2], page, flags=re.M | re.S)  # type: ignore[misc]
        assert count == 1, f"{PAGE.name} has block `{name}` once"
    return page


def _rounds(name: str, problem: str | None = None) -> np.ndarray[tuple[int, int, int], np.dtype[np.float64]]:
    chosen = [run for run in runs() if run["method"] == name and problem in (None, run["problem"])]
    shortest = min(len(run["rounds"]) for run in chosen)  # type: ignore[arg-type]
    return np.array([run["rounds"][:shortest] for run in chosen])  # type: ignore[index]


def _seeds() -> str:
    lines = []
    for problem in PROBLEMS:
        for name in METHODS:
            found = _rounds(name, problem)
            first, last = found[:, :10].mean(axis=(0, 1)), found[:, -10:].mean(axis=(0, 1))
            cells = [f"{first[k]:.3f} to {last[k]:.3f}" for k in range(3)]
            lines.append([problem, name, str(len(found)), *cells])
    headers = ["Problem", "Method", "Seeds", "Mean reward of samples", "Best sample", "Best of the last generation"]
    return report.piped(headers, lines)


def _champions() -> str:
    lines = []
    for problem in PROBLEMS:
        found = _rounds("nggp", problem)
        champion, median, least = found[:, :, 3], found[:, :, 4], found[:, :, 5]
        below, outside = 100.0 * (champion < median).mean(), 100.0 * (champion < least).mean()
        gap = np.median(champion - median)
        lines.append([problem, f"{below:.0f}", f"{outside:.0f}", f"{gap:+.2f}"])
    headers = ["Problem", "Below the median sample, %", "Below every sample, %", "Median difference, nats per token"]
    return report.piped(headers, lines)


def _rates() -> str:
    built = report.build([r for r in _records() if r.method in RATES])
    lines = []
    for name, (kind, rate) in RATES.items():
        means = [built.mean(name, key) for key in ("all", "nguyen", "r", "livermore")]
        lines.append([kind, rate, name, *(report.number(mean.recovered if mean else None, 1) for mean in means)])
    return report.piped(["Search", "Rate", "Method", "All", "Nguyen", "R", "Livermore"], lines)


RATES: Mapping[str, tuple[str, str]] = {
    "nggp-lr-0": ("with evolution", "0"),
    "nggp-lr-0.0005": ("with evolution", "0.0005"),
    "nggp": ("with evolution", "0.0025"),
    "dsr": ("policy alone", "0.0005"),
}


def _records() -> list[RunRecord]:
    return [r for r in report.latest(Store(FOLDER / "records").read()) if not r.noise and not r.draw and not r.seconds]


def _lengths() -> str:
    rules = methods.get("nggp")
    known = {name: fits.fit(benchmarks.get(name), rules).writing for name in report.problems_of("all")}
    sizes = {name: None if found is None else len(found) for name, found in known.items()}
    groups = {"up to 9 tokens": (0, 9), "10 to 15": (10, 15), "16 to 21": (16, 21), "22 and more": (22, 99)}
    records = _records()
    lines = []
    for count, name in methods.GENERATIONS.items():
        cells = []
        for low, high in groups.values():
            members = [problem for problem, size in sizes.items() if size is not None and low <= size <= high]
            found = [_rate(records, name, problem) for problem in members]
            rates = [rate for rate in found if rate is not None]
            cells.append(f"{statistics.fmean(rates):.0f}" if rates and len(rates) == len(found) else "-")
        lines.append([str(count), name, *cells])
    numbers = [
        sum(size is not None and low <= size <= high for size in sizes.values()) for low, high in groups.values()
    ]
    titles = [f"{title} ({number})" for title, number in zip(groups, numbers, strict=True)]
    return report.piped(["S", "Method", *titles], lines)


def _rate(records: list[RunRecord], name: str, problem: str) -> float | None:
    own = [r.is_recovered for r in records if r.method == name and r.problem == problem]
    return 100.0 * sum(own) / len(own) if own else None


STEPS: Mapping[str, tuple[str, ...]] = {
    "Neat-9/code": (
        "1 / (1 + 1 / x1^4) + 1 / (1 + 1 / x2^2)",
        "1 / (1 + 1 / x1^4) + 1 / (1 + 1 / x2^3)",
        "1 / (1 + 1 / x1^4) + 1 / (1 + 1 / x2^4)",
    ),
    "Nguyen-12": (
        "x2^2 / 2 - x2",
        "x1^3 - x1^2 + x2^2 / 2 - x2",
        "x1^4 - x1^2 + x2^2 / 2 - x2",
        "x1^4 - x1^3 + x2^2 / 2 - x2",
    ),
}
"""Targets, and formulas on the way to them."""


def _steps() -> str:
    lines = []
    for problem, formulas in STEPS.items():
        train, _ = benchmarks.get(problem).datasets()
        for text in formulas:
            values = Expression.parse(text, Library.of(_OPERATORS, len(train.names)))
            error = float(evaluate(Population.from_expressions([values]), train).error[0]) / train.total_weight
            reward = 1.0 / (1.0 + error**0.5 / train.deviation)
            lines.append([problem, text, f"{reward:.4f}" if reward > 0.0 else "no value at some sample"])
    return report.piped(["Problem", "Formula", "Reward"], lines)


_OPERATORS = ("add", "sub", "mul", "div", "pow", 1.0, 2.0, 3.0, 4.0)

BLOCKS: Mapping[str, Callable[[], str]] = {
    "seeds": _seeds,
    "champions": _champions,
    "rates": _rates,
    "lengths": _lengths,
    "steps": _steps,
}


def draw() -> None:
    """Draw the figures."""
    with style():
        _figure().savefig(FOLDER / "figures" / "why.svg", metadata={"Date": None})


def _figure() -> Figure:
    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name in METHODS:
        found = _rounds(name)
        left.plot(found[:, :, 0].mean(axis=0), label=name)
    left.set(xlabel="round", ylabel="mean reward of the samples")
    left.legend(frameon=False)
    found = _rounds("nggp")
    for column, label in ((3, "best of evolution"), (4, "median sample"), (5, f"least of {SAMPLED} samples")):
        right.plot(found[:, :, column].mean(axis=0), label=label)
    right.set(xlabel="round", ylabel="log-probability per token")
    right.legend(frameon=False)
    return figure


if __name__ == "__main__":
    sys.exit(main())
