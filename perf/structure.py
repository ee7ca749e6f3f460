"""Structure by evidence, measured: how often reductions are right, and what `default` finds with and without it.

python perf/structure.py reductions                 # every law at 0, 1 and 10 % noise; seconds of CPU each
python perf/structure.py reductions --kinds fuse,peel,drop
python perf/structure.py fits --noise 0.01 --seconds 25   # `default` and `default-no-structure` on laws of 4 columns up

A reduction is right if the true gradient of the reduced target lies in the span of the gradients of the reduced
columns, at points without noise. Results are appended to `build/structure.jsonl`; what is there is not measured again.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from symseed import Dataset, Expression, Library, methods, portfolio
from symseed.language import Writer
from symseed.search import Budget
from symseed.structure import Candidate, Kind, StructureSettings, find

ROWS = 1_000
OPERATORS = ["add", "sub", "mul", "div", "square", "sqrt", "exp", "log", "sin", "cos", "tanh", "const"]
SEARCHED = ["add", "sub", "mul", "div", "sqrt", "square", "exp", "log", "sin", "cos"]
"""Operators of a fit by default."""
FILE = Path("build") / "structure.jsonl"

PAGE: dict[str, tuple[str, dict[str, tuple[float, float]]]] = {
    "barometric": (
        "n0 * exp(0 - m*g*x / (k*T))",
        {"n0": (1, 5), "m": (1, 5), "g": (1, 5), "x": (1, 5), "k": (1, 5), "T": (1, 5)},
    ),
    "magnetisation": (
        "n * mu * tanh(mu*B / (k*T))",
        {"n": (1, 5), "mu": (1, 5), "B": (1, 5), "k": (1, 5), "T": (1, 5)},
    ),
    "gravitation": (
        "G*m1*m2 / (square(x2 - x1) + square(y2 - y1) + square(z2 - z1))",
        {
            "G": (1, 2),
            "m1": (1, 2),
            "m2": (1, 2),
            "x1": (3, 4),
            "x2": (1, 2),
            "y1": (3, 4),
            "y2": (1, 2),
            "z1": (3, 4),
            "z2": (1, 2),
        },
    ),
    "ferromagnet": (
        "mu*H / (k*T) + mu*a*M / (e*square(c)*k*T)",
        {
            "mu": (1, 3),
            "H": (1, 3),
            "k": (1, 3),
            "T": (1, 3),
            "a": (1, 3),
            "M": (1, 3),
            "e": (1, 3),
            "c": (1, 3),
        },
    ),
    "scattering": (
        "0.5*e*c*square(E) * (8*3.14159*square(r)/3) * square(square(w)) / square(square(w) - square(w0))",
        {"e": (1, 2), "c": (1, 2), "E": (1, 2), "r": (1, 2), "w": (1, 2), "w0": (3, 5)},
    ),
    "centre of mass": ("(m1*r1 + m2*r2) / (m1 + m2)", {"m1": (1, 5), "m2": (1, 5), "r1": (1, 5), "r2": (1, 5)}),
    "law of cosines": (
        "sqrt(square(x1) + square(x2) - 2*x1*x2*cos(t1 - t2))",
        {"x1": (1, 5), "x2": (1, 5), "t1": (1, 5), "t2": (1, 5)},
    ),
}
"""Laws on which the settings were tried."""

OTHERS: dict[str, tuple[str, dict[str, tuple[float, float]]]] = {
    "lens with shift": ("1 / (1/(a + b) + n/d)", {"a": (1, 4), "b": (1, 4), "n": (1, 3), "d": (1, 6)}),
    "drag": ("0.5*rho*square(v - u)*A*Cd", {"rho": (1, 2), "v": (4, 9), "u": (1, 3), "A": (1, 3), "Cd": (0.5, 2)}),
    "arrhenius": ("A*c*exp(0 - E/(R*T))", {"A": (1, 5), "c": (1, 5), "E": (1, 5), "R": (1, 2), "T": (1, 4)}),
    "michaelis with inhibitor": (
        "V*s / (K*(1 + i/q) + s)",
        {"V": (1, 5), "s": (1, 6), "K": (1, 4), "i": (0.5, 4), "q": (1, 3)},
    ),
    "pipe flow": (
        "p*square(square(r)) / (8*mu*l)",
        {"p": (1, 4), "r": (1, 2), "mu": (1, 3), "l": (1, 4)},
    ),
    "damped wave": (
        "A*exp(0 - g*t)*cos(w*t)",
        {"A": (1, 4), "g": (0.1, 0.5), "t": (0, 4), "w": (0.5, 2)},
    ),
    "escape": ("sqrt(2*G*M/(r + h))", {"G": (1, 3), "M": (1, 5), "r": (2, 5), "h": (0.1, 2)}),
    "heat exchanger": (
        "U*A*(T1 - T2)/log(T1/T2)",
        {"U": (1, 4), "A": (1, 4), "T1": (5, 9), "T2": (1, 4)},
    ),
    "lift of two": (
        "q*S*(c0 + a*alpha) + W",
        {"q": (1, 3), "S": (1, 3), "c0": (0.1, 1), "a": (1, 4), "alpha": (0, 1), "W": (1, 6)},
    ),
    "planck": ("h*f*f*f/(exp(h*f/(k*T)) - 1)", {"h": (1, 3), "f": (1, 3), "k": (1, 3), "T": (1, 4)}),
    "distance": ("sqrt(square(a - b) + square(c - d))", {"a": (2, 5), "b": (0, 1.5), "c": (2, 5), "d": (0, 1.5)}),
    "bernoulli": (
        "p + 0.5*rho*square(v) + rho*g*h",
        {"p": (1, 5), "rho": (1, 3), "v": (1, 4), "g": (1, 3), "h": (0, 3)},
    ),
    "capacitors": ("V*a*b/(a + b)*exp(0 - t/s)", {"V": (1, 5), "a": (1, 4), "b": (1, 4), "t": (0, 3), "s": (1, 3)}),
    "radiated": (
        "q*q*a*a*g/(6*e*c*c*c)",
        {"q": (1, 3), "a": (1, 3), "g": (1, 2), "e": (1, 3), "c": (1, 2)},
    ),
}
"""Laws that were written down before they were tried, for the figures."""

SMALL: dict[str, tuple[str, dict[str, tuple[float, float]]]] = {
    "two columns": ("a*exp(0 - b*a) + sin(b)", {"a": (0, 3), "b": (0, 3)}),
    "three columns": ("a*b/(1 + c*c) + sqrt(a)", {"a": (0.5, 3), "b": (0.5, 3), "c": (0, 3)}),
    "three in a product": ("3.1*a*sqrt(b/c)", {"a": (1, 3), "b": (1, 5), "c": (1, 4)}),
}
"""Laws of few columns."""

LAWS = PAGE | OTHERS | SMALL
Floats = npt.NDArray[np.float64]


def library(names: list[str]) -> Library:
    """Return the tokens of laws."""
    return Library.of(OPERATORS, names)


def drawn(name: str, seed: int) -> tuple[Expression, Floats, Floats]:
    """Return a law, inputs drawn evenly, and its values."""
    text, ranges = LAWS[name]
    law = Expression.parse(text, library([*ranges]))
    rng = np.random.default_rng(zlib.crc32(name.encode()) + seed)
    X = np.stack([rng.uniform(low, high, ROWS) for low, high in ranges.values()], axis=1)
    return law, X, law.evaluate(X)


def residual(law: Expression, X: Floats, candidate: Candidate, writer: Writer) -> float:
    """Return the share of the reduced target's gradient outside of the span of the columns' gradients."""
    reduction = candidate.reduction
    target = reduction.target(writer, "y")
    points = X[:40]
    steps = 1e-5 * X.std(axis=0)

    def values(at: Floats) -> Floats:
        y = law.evaluate(at)
        wide = np.zeros((len(at), 1 + max(token.column for token in target.library.variables)))
        wide[:, : at.shape[1]] = at
        wide[:, max(token.column for token in target.library.variables)] = y
        columns = [Expression(writer.library, column.row).evaluate(at) for column in reduction.columns]
        return np.stack([target.evaluate(wide), *columns])

    slopes = np.stack(
        [(values(points + step) - values(points - step)) / 2e-5 for step in np.diag(steps)],
        axis=2,
    )
    shares = []
    for own in slopes.transpose(1, 0, 2):
        goal, span = own[0], own[1:]
        rest = goal - span.T @ np.linalg.lstsq(span.T, goal, rcond=1e-9)[0]
        scale = np.abs(law.evaluate(X)).std() * 1e-9
        shares.append(float(np.linalg.norm(rest) / (np.linalg.norm(goal) + scale)))
    return float(np.median(shares))


def words(candidate: Candidate, writer: Writer) -> str:
    """Return a reduced problem as a sentence."""
    reduction = candidate.reduction.plain
    columns = ", ".join(str(Expression(writer.library, column.row)) for column in reduction.columns)
    return f"{reduction.target(writer, 'y')} of {columns}"


def reductions(noises: list[float], seed: int, settings: StructureSettings, label: str) -> None:
    """Find the structure of every law."""
    done = _done("reductions")
    for name in [*PAGE, *OTHERS]:
        for noise in noises:
            key = [label, name, noise, seed]
            if key in done:
                continue
            law, X, y = drawn(name, seed)
            dataset = Dataset.of(X, y, names=[*LAWS[name][1]]).with_noise(noise, seed=seed + 1)
            writer = Writer(law.library)
            started = time.process_time()
            structure = find(dataset, writer, settings, seed=seed)
            seconds = time.process_time() - started
            assert structure is not None
            some = structure.candidates
            rest = [residual(law, X, candidate, writer) for candidate in some]
            before, after = X.shape[1], len(some[0].reduction.columns) if some else X.shape[1]
            verdict = "-" if not some else "right" if rest[0] < 1e-3 else "WRONG"
            other = (
                ""
                if verdict != "WRONG"
                else "  others: "
                + " ".join(
                    ("right" if r < 1e-3 else "wrong") + str(len(c.reduction.columns))
                    for r, c in zip(rest[1:], some[1:], strict=True)
                )
            )
            print(
                f"{name:26} {noise:5} {before} -> {after} {verdict:6} {seconds:5.2f} s {structure.evaluations:5} "
                f"{words(some[0], writer) if some else ''}{other}",
                flush=True,
            )
            _keep("reductions", key, {"before": before, "after": after, "verdict": verdict, "seconds": seconds})


def fits(noise: float, seconds: float, seed: int, names: list[str], laws: list[str]) -> None:
    """Search for laws by methods, on one core, each for the same seconds of CPU."""
    done = _done("fits")
    for law_name in laws:
        for name in names:
            key = [name, law_name, noise, seconds, seed]
            if key in done:
                continue
            law, X, y = drawn(law_name, seed)
            ranges = LAWS[law_name][1]
            data = Dataset.of(X, y, names=[*ranges]).with_noise(noise, seed=seed + 1)
            settings = methods.get(name).portfolio
            assert settings is not None, "a method of the kind of `default`"
            started = time.process_time()
            solution = portfolio.run(
                Library.of(SEARCHED, [*ranges]),
                data,
                settings.with_max_length(30),
                seed=seed,
                budget=Budget(None, seconds, time.process_time),
            )
            spent = time.process_time() - started
            rng = np.random.default_rng(1_000 + seed)
            fresh = np.stack([rng.uniform(low, high, 2_000) for low, high in ranges.values()], axis=1)
            truth, found = law.evaluate(fresh), solution.best.expression
            error = float(np.sqrt(np.mean((found.evaluate(fresh) - truth) ** 2)) / truth.std())
            first = next(turn for turn in solution.history if turn.best == solution.best)
            print(
                f"{law_name:26} {name:22} {error:8.1e} after {first.seconds:5.1f} of {spent:5.1f} s, {found.size} "
                f"tokens: {found}",
                flush=True,
            )
            _keep(
                "fits",
                key,
                {"error": error, "seconds": spent, "after": first.seconds, "size": found.size, "formula": str(found)},
            )


def _done(kind: str) -> list[Any]:
    if not FILE.exists():
        return []
    lines = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    return [line["key"] for line in lines if line["kind"] == kind]


def _keep(kind: str, key: list[Any], values: dict[str, Any]) -> None:
    FILE.parent.mkdir(exist_ok=True)
    with FILE.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"kind": kind, "key": key, **values}) + "\n")


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["reductions", "fits"])
    parser.add_argument("--noise", default="0,0.01,0.1")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=25.0)
    parser.add_argument("--kinds", default=",".join(kind.value for kind in Kind))
    parser.add_argument("--methods", default="default,default-no-structure")
    parser.add_argument("--laws", default="")
    args = parser.parse_args()
    noises = [float(noise) for noise in args.noise.split(",")]
    if args.what == "reductions":
        settings = StructureSettings(kinds=tuple(Kind(kind) for kind in args.kinds.split(",")))
        reductions(noises, args.seed, settings, args.kinds)
    else:
        names = args.laws.split(",") if args.laws else [*PAGE, *OTHERS]
        for noise in noises:
            fits(noise, args.seconds, args.seed, args.methods.split(","), names)


if __name__ == "__main__":
    main()
