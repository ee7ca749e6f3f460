"""Twelve laws from textbooks with noise: how often a tool chooses the law's form, in 60 s on one core.

    python perf/laws.py --seeds 0:3 --json build/laws.json
    python perf/laws.py --tools symseed --laws Arrhenius Nernst
    python perf/laws.py --tools symseed --seeds 0:1 --seconds 30 --noise relative --level 0.05

Data: 200 rows drawn evenly from the ranges below, and Gaussian noise: 1 % of y's standard deviation, unless `--noise`
and `--level` say otherwise; relative noise is a share of each value. Our estimator
has its default settings. Peers (`noise.py`) have the same rows, operators and wall-clock seconds; pyoperon computes in
float32, where some of these data would overflow, so peers get them in the units of `data/magnitudes.py`.

A law is written in our own language. Every number in it is a constant whose value is free, but for the literal 1 of
`1 - x`; there is an overall factor always, since that is a matter of units. A chosen formula has the law's form if
the law, its constants fitted to the formula's own noise-free predictions, gives them back: to 1e-6 of their spread
where the data lie, and to 1e-6 of their size and spread in a range one and a half times as wide. The same form fits to
rounding, whatever its algebra; a superfluous constant that was fitted to the noise is off by the noise over the root
of the rows, 7e-4, and an approximation by more. It must also be a good fit: within half of the noise's level of the
spread of the law's values.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

import noise
from symseed import Dataset, Expression, Library, SymbolicRegressor
from symseed.arrays import Floats
from symseed.data.magnitudes import Magnitudes
from symseed.errors import SymseedError
from symseed.language.population import Population
from symseed.language.row import Row
from symseed.language.tokens import OPERATORS, TokenKind
from symseed.scoring.evaluation import fit
from symseed.scoring.fitting import FitSettings

ROWS, LEVEL = 200, 0.01
SAME_FORM = 1e-6
"""Of the spread: what a form may miss of its own predictions."""
GOOD_FIT = 0.5
"""Of the noise's root mean square: what a formula may miss of the law, as a share of the law's spread."""
WIDER = 1.5
OURS = "symseed"
SEARCHED = ("add", "sub", "mul", "div", "sqrt", "square", "exp", "log", "sin", "cos")
"""The operators of our default settings, which peers get too."""
_CHECKED_ROWS = 1_000
_ONE = 1.0


@dataclass(frozen=True)
class Disturbance:
    """The noise of the rows."""

    is_relative: bool = False
    """Whether it is a share of each value; otherwise it is a share of y's standard deviation."""
    level: float = LEVEL

    def sizes(self, y: Floats) -> Floats:
        """Return the standard deviation of each value."""
        return self.level * (np.abs(y) if self.is_relative else np.full(len(y), y.std()))

    def share(self, y: Floats) -> float:
        """Return the root mean square of the noise, as a share of y's standard deviation."""
        return float(np.sqrt(np.mean(self.sizes(y) ** 2)) / y.std())


PLAIN = Disturbance()


@dataclass(frozen=True)
class Law:
    """A formula of a textbook, and where it is looked at."""

    name: str
    ranges: dict[str, tuple[float, float]]
    """Of each variable, in SI units unless a comment says otherwise."""
    text: str

    @property
    def expression(self) -> Expression:
        """The law over all operators."""
        return Expression.parse(self.text, Library.of([*OPERATORS, _ONE], list(self.ranges), constants=True))

    def points(self, count: int, generator: np.random.Generator, *, wider: float = 1.0) -> Floats:
        """Draw points from the ranges, or from wider ones about the same middles; no variable changes its sign."""
        low, high = np.array(list(self.ranges.values())).T
        middle, half = (low + high) / 2.0, (high - low) / 2.0 * wider
        return generator.uniform(
            np.maximum(middle - half, np.where(low >= 0.0, 0.0, -np.inf)), middle + half, (count, len(low))
        )

    def data(self, seed: int, disturbance: Disturbance = PLAIN) -> Dataset:
        """Return the rows that tools are given."""
        generator = np.random.default_rng(seed)
        X = self.points(ROWS, generator)
        y = self.expression.evaluate(X)
        return Dataset.of(X, y + disturbance.sizes(y) * generator.standard_normal(ROWS), names=list(self.ranges))


LAWS = (
    Law("ideal gas", {"n": (0.5, 5.0), "T": (250.0, 400.0), "V": (0.01, 0.1)}, "8.314 * n * T / V"),
    Law(
        "gravitation",
        {"m1": (1e24, 1e25), "m2": (1e22, 1e23), "r": (2e8, 6e8)},
        "6.674e-11 * m1 * m2 / square(r)",
    ),
    # A competitive inhibitor; concentrations in mmol/l.
    Law(
        "Michaelis-Menten",
        {"S": (0.1, 10.0), "I": (0.0, 5.0)},
        "12.0 * S / (0.8 * (1 + I / 1.5) + S)",
    ),
    Law("Arrhenius", {"Ea": (50e3, 80e3), "T": (300.0, 500.0)}, "1e13 * exp(-(Ea / (8.314 * T)))"),
    Law("damped wave", {"x0": (0.05, 0.3), "t": (0.0, 8.0)}, "const(1.0) * x0 * exp(-(0.35 * t)) * cos(5.2 * t)"),
    Law("thin lens", {"f": (0.05, 0.2), "u": (0.3, 1.5)}, "const(1.0) / (1 / f - 1 / u)"),
    Law(
        "net radiation",
        {"T": (350.0, 700.0), "T0": (250.0, 400.0)},
        "5.670e-8 * (square(square(T)) - square(square(T0)))",
    ),
    Law("projectile", {"v": (5.0, 40.0), "angle": (0.1, 1.5)}, "square(v) * sin(2.0 * angle) / 9.81"),
    Law("logistic growth", {"t": (0.0, 20.0)}, "1000.0 / (1 + 49.0 * exp(-(0.6 * t)))"),
    Law(
        "heat conduction",
        {"k": (0.03, 2.0), "A": (1.0, 20.0), "d": (0.05, 0.5), "T1": (285.0, 300.0), "T2": (260.0, 280.0)},
        "const(1.0) * k * A * (T1 - T2) / d",
    ),
    Law(
        "relativistic energy",
        {"m": (1.6e-27, 6.7e-27), "v": (1e7, 2.8e8)},
        "8.98755e16 * m / sqrt(1 - square(v) / 8.98755e16)",
    ),
    # Concentrations in mmol/l.
    Law(
        "Nernst", {"T": (280.0, 320.0), "out": (1.0, 150.0), "within": (1.0, 150.0)}, "8.617e-5 * T * log(out / within)"
    ),
)


# --- Is it the law? ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judgement:
    """What a chosen formula is to a law."""

    form_error: float
    """What the law's form misses of the formula, as a share of the formula's spread or size."""
    fit_error: float
    """What the formula misses of the law, as a share of the law's spread."""

    level: float
    """Root mean square of the noise, as a share of the law's spread."""

    @property
    def is_right(self) -> bool:
        """Whether the law was found."""
        return self.form_error <= SAME_FORM and self.fit_error <= GOOD_FIT * self.level


def judge(law: Law, formula: Callable[[Floats], Floats], level: float = LEVEL) -> Judgement:
    """Compare a formula, as a function of rows, with a law."""
    generator = np.random.default_rng(0)
    X = law.points(_CHECKED_ROWS, generator)
    wide = law.points(_CHECKED_ROWS, generator, wider=WIDER)
    truth, given = law.expression.evaluate(X), formula(X)
    if not np.isfinite(given).all() or given.std() == 0.0:
        return Judgement(np.inf, np.inf, level)
    fitted, _ = fit(Population.from_expressions([law.expression]), Dataset.of(X, given), FitSettings(iterations=500))
    form, spread = fitted[0], float(given.std())
    form_error = float(np.sqrt(np.mean((form.evaluate(X) - given) ** 2))) / spread
    beyond, found = form.evaluate(wide), formula(wide)
    both = np.isfinite(beyond) & np.isfinite(found)  # beyond the data a law may have no value either
    off = np.abs(beyond - found)[both] / (np.abs(beyond[both]) + spread)
    fit_error = float(np.sqrt(np.mean((given - truth) ** 2))) / float(truth.std())
    return Judgement(max(form_error, float(off.max(initial=0.0))), fit_error, level)


# --- Runs, in processes of their own ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """One model of a run."""

    tool: str
    law: str
    seed: int
    formula: str = ""
    is_right: bool = False
    is_bare: bool = False
    """Whether that is said of the model without the constant that its peer adds to every model."""
    form_error: float | None = None
    fit_error: float | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    error: str = ""
    noise: str = ""
    """The noise that our estimator recognised."""


def run(tool: str, law: Law, seed: int, seconds: int, disturbance: Disturbance) -> list[Outcome]:
    """Do a run in this process, and judge its models."""
    data = law.data(seed, disturbance)
    share = disturbance.share(law.expression.evaluate(data.X))
    recognised = ""
    begin, cpu = time.monotonic(), time.process_time()
    if tool == OURS:
        estimator = SymbolicRegressor(max_time=seconds, n_jobs=1, random_state=seed)
        estimator.fit(data.X, data.y)
        models = {OURS: estimator.best_.expression.prefix}
        recognised = estimator.noise_.kind.value
        units = Magnitudes(tuple(1.0 for _ in law.ranges), 1.0)
    else:
        units = Magnitudes.of(data)
        scaled = units.scaled(data)
        level = share * scaled.deviation / float(np.sqrt(np.mean(scaled.y**2)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of peers, about their own numerics
            models = noise.PEERS[tool].run(noise.Given(scaled, SEARCHED, level, seconds, seed))
    spent = Outcome(tool, law.name, seed, seconds=time.monotonic() - begin, cpu_seconds=time.process_time() - cpu)
    spent = replace(spent, noise=recognised)
    return [_judged(replace(spent, tool=label), law, text, units, share) for label, text in models.items()]


def _judged(outcome: Outcome, law: Law, text: str, units: Magnitudes, level: float = LEVEL) -> Outcome:
    try:
        model = noise.read(text, len(law.ranges))
    except SymseedError as error:
        return replace(outcome, formula=text, error=str(error))
    best = judge(law, _in_units(model, units), level)
    is_bare = False
    added = model.tokens[0].name == "add" and model.tokens[1].kind is TokenKind.CONSTANT
    if not best.is_right and outcome.tool != OURS and added:
        # pyoperon adds a number to whatever it finds: to judge the form without it is in its favour.
        bare = judge(law, _in_units(Expression(model.library, Row(model.ids[2:], model.constants[2:])), units), level)
        bare = replace(bare, fit_error=best.fit_error)
        is_bare = bare.is_right
        best = bare if is_bare else best
    errors = [value if np.isfinite(value) else None for value in (best.form_error, best.fit_error)]
    return replace(
        outcome, formula=str(model), is_right=best.is_right, is_bare=is_bare, form_error=errors[0], fit_error=errors[1]
    )


def _in_units(model: Expression, units: Magnitudes) -> Callable[[Floats], Floats]:
    return lambda X: model.evaluate(X / np.array(units.columns)) * units.target


def labels_of(tool: str) -> tuple[str, ...]:
    """Return the names of a tool's models."""
    return (OURS,) if tool == OURS else noise.PEERS[tool].labels


def call(tool: str, law: Law, seed: int, seconds: int, disturbance: Disturbance) -> list[Outcome]:
    """Do a run in a process on one core, killed when it is late."""
    command = [sys.executable, __file__, "--serve", "--tools", tool, "--laws", law.name]
    command += ["--seeds", str(seed), "--seconds", str(seconds), "--level", str(disturbance.level)]
    command += ["--noise", "relative" if disturbance.is_relative else "additive"]
    failed = [Outcome(label, law.name, seed) for label in labels_of(tool)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + noise.GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        return [replace(outcome, error=f"killed {noise.GRACE_SECONDS:g} s late") for outcome in failed]
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or [f"It ended with code {done.returncode}."])[-1]
        return [replace(outcome, error=why) for outcome in failed]
    return [Outcome(**each) for each in json.loads(done.stdout.splitlines()[-1])]


def table(outcomes: list[Outcome]) -> str:
    """Show, law by law, how many runs of each tool chose its form, and the seconds that they took."""
    tools = list(dict.fromkeys(outcome.tool for outcome in outcomes))
    lines = [f"{'':20}" + "".join(f"{tool:>24}" for tool in tools)]
    for law in dict.fromkeys(outcome.law for outcome in outcomes):
        cells = []
        for tool in tools:
            mine = [o for o in outcomes if (o.tool, o.law) == (tool, law)]
            if not mine:
                cells.append("")
                continue
            wall, cpu = (float(np.mean([getattr(o, name) for o in mine])) for name in ("seconds", "cpu_seconds"))
            cells.append(f"{sum(o.is_right for o in mine)}/{len(mine)} ({wall:.0f} s, {cpu:.0f} CPU)")
        lines.append(f"{law:20}" + "".join(f"{cell:>24}" for cell in cells))
    counts = []
    for tool in tools:
        mine = [o for o in outcomes if o.tool == tool]
        per_seed = [
            f"{sum(o.is_right for o in mine if o.seed == seed)}/{sum(o.seed == seed for o in mine)}"
            for seed in sorted({o.seed for o in mine})
        ]
        counts.append(" ".join(per_seed))
    lines.append(f"{'laws, by seed':20}" + "".join(f"{count:>24}" for count in counts))
    return "\n".join(lines)


def main() -> None:
    """Read the command line."""
    tools = (OURS, *noise.PEERS)
    names = [law.name for law in LAWS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tools", nargs="+", choices=tools, default=list(tools))
    parser.add_argument("--laws", nargs="+", choices=names, default=names)
    parser.add_argument("--seeds", default="0:3", help="a range, first:end; a seed draws the data and the search")
    parser.add_argument("--seconds", type=int, default=60, help="of each run")
    parser.add_argument("--noise", choices=("additive", "relative"), default="additive")
    parser.add_argument("--level", type=float, default=LEVEL, help="of y's standard deviation, or of each value")
    parser.add_argument("--resume", action="store_true", help="go on with the outcomes in the file of --json")
    parser.add_argument("--json", type=Path, help="where outcomes go")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    disturbance = Disturbance(asked.noise == "relative", asked.level)
    runs = [
        (tool, law, seed)
        for seed in noise.seeds(asked.seeds)
        for law in LAWS
        if law.name in asked.laws
        for tool in asked.tools
    ]
    if asked.serve:
        if asked.tools != [OURS]:  # ours has one thread, peers may have more
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(
            json.dumps(
                [asdict(o) for tool, law, seed in runs for o in run(tool, law, seed, asked.seconds, disturbance)]
            )
        )
        return
    outcomes: list[Outcome] = []
    if asked.resume and asked.json is not None and asked.json.exists():
        outcomes = [Outcome(**each) for each in json.loads(asked.json.read_text(encoding="utf-8"))]
    done = {(outcome.tool, outcome.law, outcome.seed) for outcome in outcomes}
    for tool, law, seed in runs:
        if asked.resume and any((label, law.name, seed) in done for label in labels_of(tool)):
            continue
        for outcome in call(tool, law, seed, asked.seconds, disturbance):
            outcomes.append(outcome)
            verdict = outcome.error or ("yes" if outcome.is_right else "no")
            print(f"{outcome.law}, seed {seed}, {outcome.tool}: {verdict}; {outcome.formula}", flush=True)
            if asked.json is not None:
                asked.json.parent.mkdir(parents=True, exist_ok=True)
                asked.json.write_text(json.dumps([asdict(each) for each in outcomes], indent=1), encoding="utf-8")
    print(table(outcomes))


if __name__ == "__main__":
    main()
