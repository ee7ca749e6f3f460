"""Peers on noisy data: how often pyoperon and gplearn choose a model of the target's form, in equal time.

    python perf/noise.py Nguyen-paper Jin --noise 0 0.01 0.1 --seeds 0:5 --seconds 30 --out build/noise.jsonl
    python perf/noise.py --table --out build/noise.jsonl

Each run is a process on one core of its own, killed when it is late; it knows the noisy training data only. A model is
text that our own parser reads, and `recovery` says, its constants refitted, whether it is the target. Results are lines
of JSON; what the file has already is not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from symseed import Dataset, Expression, Library, benchmarks
from symseed.arrays import Floats
from symseed.errors import SettingsError, SymseedError
from symseed.language.row import Row
from symseed.language.tokens import OPERATORS, TokenKind
from symseed.recovery.checker import Checker, Recovery, Verdict

GRACE_SECONDS = 60.0
"""For starting, and for the generation that a peer is at when its time is up."""
LEAST_NOISE = 1e-6
"""Of y's RMS: what pyoperon's description length is told where there is no noise, since it divides by it."""

Models = dict[str, str]
"""Prefix or infix text by the name under which a model is recorded."""


@dataclass(frozen=True, order=True)
class Run:
    """What makes a run."""

    peer: str
    problem: str
    noise: float
    seed: int
    seconds: int

    def given(self) -> Given:
        """Return what the peer is given: the seed draws the noise too."""
        problem = benchmarks.get(self.problem)
        data = problem.datasets()[0].with_noise(self.noise, seed=self.seed)
        names = [token.name for token in problem.library.tokens if token.kind is TokenKind.OPERATOR]
        return Given(data, tuple(names), self.noise, self.seconds, self.seed)


@dataclass(frozen=True)
class Given:
    """What a peer is given."""

    data: Dataset
    operators: tuple[str, ...]
    """Ours, by name; a peer takes those that it has."""
    noise: float
    """Of y's RMS."""
    seconds: int
    seed: int


@dataclass(frozen=True)
class Outcome:
    """One model of a run, as a line of the file."""

    peer: str
    problem: str
    noise: float
    seed: int
    seconds: int
    formula: str = ""
    verdict: str = "no"
    test_nmse: float | None = None
    without_intercept: bool = False
    """Whether the verdict is that of the model without the constant that the peer adds to every model."""
    cpu_seconds: float | None = None
    """What the run took; less than its seconds where other work was on its core. None in files of earlier versions."""
    error: str = ""

    @property
    def key(self) -> tuple[str, str, float, int, int]:
        """What was run, and which of its models this is."""
        return self.peer, self.problem, self.noise, self.seed, self.seconds


@dataclass(frozen=True)
class Peer:
    """How a peer is run, and the names of the models that one run gives."""

    run: Callable[[Given], Models]
    labels: tuple[str, ...]
    adds_intercept: bool = False


# --- The peers, in processes of their own -----------------------------------------------------------------------------


def run_pyoperon(given: Given) -> Models:
    """Evolve a front of error and length; choose from it by each of pyoperon's two criteria for noisy data.

    Its description length wants to know the noise, so it is told; its Bayesian criterion needs no such help.
    """
    import pyoperon
    from pyoperon.sklearn import SymbolicRegressor

    symbols = [_PYOPERON[name] for name in given.operators if name in _PYOPERON]
    rms = float(np.sqrt(np.mean(given.data.y**2)))
    peer = SymbolicRegressor(
        allowed_symbols=",".join(dict.fromkeys([*symbols, "constant", "variable"])),
        objectives=["r2", "length"],
        optimizer_iterations=5,
        uncertainty=[max(given.noise, LEAST_NOISE) * rms],
        generations=1_000_000_000,
        max_evaluations=1_000_000_000_000,
        max_time=given.seconds,
        n_threads=1,
        random_state=given.seed,
    )
    # In float32, which is what it computes in; it refuses a y that is not.
    peer.fit(given.data.X.astype(np.float32), given.data.y.astype(np.float32))
    criteria = {"pyoperon bic": "bayesian_information_criterion", "pyoperon mdl": "minimum_description_length"}
    names = {key: f"x{i + 1}" for i, key in enumerate(peer.variables_)}
    return {
        label: pyoperon.InfixFormatter.Format(min(peer.pareto_front_, key=lambda m: m[key])["tree"], names, 12)
        for label, key in criteria.items()
    }


_PYOPERON = {
    **{name: name for name in ("add", "sub", "mul", "div", "pow", "abs", "sin", "cos", "tan", "exp", "log", "logabs")},
    **{name: name for name in ("sqrt", "square", "tanh")},
    **{"min": "fmin", "max": "fmax", "inv": "div", "neg": "sub", "expneg": "exp", "cube": "mul", "quartic": "mul"},
}
"""Our operators in pyoperon's words, or what it can make them of."""


def run_gplearn(given: Given) -> Models:
    """Evolve one generation after another until the next would be too late; its best program is its model."""
    from gplearn.functions import make_function
    from gplearn.genetic import SymbolicRegressor

    own = {"exp": _bounded_exp, "square": np.square, "cube": _cube, "tanh": np.tanh}
    functions = [
        make_function(function=own[name], name=name, arity=1) if name in own else name
        for name in dict.fromkeys({"expneg": "exp", "logabs": "log"}.get(name, name) for name in given.operators)
        if name in own or name in _GPLEARN
    ]
    started = time.monotonic()
    peer = SymbolicRegressor(
        generations=1,
        function_set=functions,
        metric="mse",
        stopping_criteria=0.0,
        warm_start=True,
        low_memory=True,
        random_state=given.seed,
    )
    longest = 0.0
    while time.monotonic() - started + longest < given.seconds:
        before = time.monotonic()
        peer.fit(given.data.X, given.data.y)
        longest = max(longest, time.monotonic() - before)
        if peer.run_details_["best_fitness"][-1] == 0.0:  # it would not go on
            break
        peer.set_params(generations=peer.generations + 1)
    words = []
    for node in peer._program.program:
        if isinstance(node, int):
            words.append(f"x{node + 1}")
        else:
            words.append(_GPLEARN.get(node.name, node.name) if hasattr(node, "name") else f"const({float(node)!r})")
    return {"gplearn": " ".join(words)}


_GPLEARN = {
    **{name: name for name in ("add", "sub", "mul", "div", "abs", "neg", "inv", "max", "min", "sin", "cos", "tan")},
    **{"sqrt": "sqrt abs", "log": "logabs"},
}
"""gplearn's functions as ours: it takes roots and logarithms of absolute values."""


def _bounded_exp(x: Floats) -> Floats:
    return np.asarray(np.exp(np.minimum(x, 50.0)))  # gplearn wants functions that never overflow


def _cube(x: Floats) -> Floats:
    return np.asarray(np.clip(x, -1e100, 1e100) ** 3)


PEERS = {
    "pyoperon": Peer(run_pyoperon, ("pyoperon bic", "pyoperon mdl"), adds_intercept=True),
    "gplearn": Peer(run_gplearn, ("gplearn",)),
}


def serve(core: int) -> None:
    """Do the run that standard input describes, on one core, and print its models."""
    os.sched_setaffinity(0, {core})
    run = Run(**json.load(sys.stdin))
    given = run.given()
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of peers, about their own numerics
        models = PEERS[run.peer].run(given)
    print(json.dumps([models, time.process_time() - begin]))


# --- Runs and their outcomes ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ended:
    """What a run gave."""

    models: Models
    cpu_seconds: float | None = None
    error: str = ""
    """Why there are no models."""


def call(run: Run, core: int) -> Ended:
    """Do a run in a process."""
    command = [sys.executable, __file__, "--serve", str(core)]
    try:
        done = subprocess.run(
            command, input=json.dumps(asdict(run)), capture_output=True, text=True, timeout=run.seconds + GRACE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return Ended({}, error=f"It was killed {GRACE_SECONDS:g} s after its time was up.")
    if done.returncode != 0:
        return Ended({}, error=(done.stderr.strip().splitlines() or [f"It ended with code {done.returncode}."])[-1])
    return Ended(*json.loads(done.stdout.splitlines()[-1]))


def judge(run: Run, label: str, text: str, checker: Checker) -> Outcome:
    """Say whether a model has the target's form."""
    problem = benchmarks.get(run.problem)
    outcome = Outcome(label, run.problem, run.noise, run.seed, run.seconds)
    try:
        model = read(text, len(problem.library.variables))
    except SymseedError as error:
        return replace(outcome, formula=text, error=str(error))
    _, test = problem.datasets()
    assert problem.target is not None, "only such problems are planned"
    recovery, bare = checker.check(model, problem.target, test, refit=True), None
    if recovery.verdict is not Verdict.EXACT and PEERS[run.peer].adds_intercept:
        bare = _judge_bare(model, problem.target, test, checker)
    is_bare = bare is not None and bare.verdict is Verdict.EXACT
    verdict = Verdict.EXACT if is_bare else recovery.verdict
    return replace(
        outcome,
        formula=str(model),
        verdict=verdict.name.lower().replace("_", " "),
        test_nmse=recovery.test_nmse if np.isfinite(recovery.test_nmse) else None,
        without_intercept=is_bare,
    )


def _judge_bare(model: Expression, target: Expression, test: Dataset, checker: Checker) -> Recovery | None:
    """Judge a model without the constant that its peer adds to whatever it finds; None where there is none.

    It is in the peer's favour: by the rule for forms, a constant that the target has not makes another form.
    """
    if model.tokens[0].name != "add" or model.tokens[1].kind is not TokenKind.CONSTANT:
        return None
    bare = Expression(model.library, Row(model.ids[2:], model.constants[2:]))
    return checker.check(bare, target, test, refit=True)


def read(text: str, variables: int) -> Expression:
    """Read a model: prefix words or an infix formula. The 2 of a square is no fitted constant."""
    library = Library.of([*OPERATORS, 2.0], variables, constants=True)
    is_infix = text.startswith("(")
    return Expression.parse(text, library) if is_infix else Expression.parse_prefix(text, library)


def load(path: Path) -> list[Outcome]:
    """Return the outcomes of a file, the last of each; a line that was torn is left out."""
    outcomes = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            outcome = Outcome(**json.loads(line))
        except (json.JSONDecodeError, TypeError):
            continue
        outcomes[outcome.key] = outcome
    return list(outcomes.values())


def missing(runs: Iterable[Run], known: Iterable[Outcome]) -> list[Run]:
    """Return the runs of which a model has no outcome."""
    done = {outcome.key for outcome in known}

    def is_done(run: Run) -> bool:
        rest = (run.problem, run.noise, run.seed, run.seconds)
        return all((label, *rest) in done for label in PEERS[run.peer].labels)

    return [run for run in runs if not is_done(run)]


def run_all(runs: list[Run], path: Path) -> None:
    """Do runs, one on each core at a time, and write each model's outcome when it is known."""
    cores: queue.SimpleQueue[int] = queue.SimpleQueue()
    for core in sorted(os.sched_getaffinity(0)):
        cores.put(core)

    def on_a_core(run: Run) -> tuple[Run, Ended]:
        core = cores.get()
        try:
            return run, call(run, core)
        finally:
            cores.put(core)

    path.parent.mkdir(parents=True, exist_ok=True)
    torn = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
    with ThreadPoolExecutor(cores.qsize()) as pool, Checker() as checker, path.open("a", encoding="utf-8") as file:
        file.write("\n" if torn else "")
        for future in as_completed([pool.submit(on_a_core, run) for run in runs]):
            run, ended = future.result()
            for label in PEERS[run.peer].labels:
                if ended.error:
                    outcome = Outcome(label, run.problem, run.noise, run.seed, run.seconds, error=ended.error)
                else:
                    outcome = judge(run, label, ended.models[label], checker)
                outcome = replace(outcome, cpu_seconds=ended.cpu_seconds)
                file.write(json.dumps(asdict(outcome)) + "\n")
                file.flush()
                print(f"{label}, {run.problem}, noise {run.noise:g}: {outcome.error or outcome.verdict}", flush=True)


def table(outcomes: list[Outcome]) -> str:
    """Show how many models are the target, by peer and level of noise."""
    levels = sorted({o.noise for o in outcomes})
    lines = [f"{'':16}" + "".join(f"{f'noise {level:g}':>16}" for level in levels)]
    for peer in dict.fromkeys(label for each in PEERS.values() for label in each.labels):
        cells = []
        for level in levels:
            mine = [o for o in outcomes if o.peer == peer and o.noise == level]
            found, failed = sum(o.verdict == "exact" for o in mine), sum(bool(o.error) for o in mine)
            cells.append(f"{found}/{len(mine)}" + (f" ({failed} failed)" if failed else ""))
        lines.append(f"{peer:16}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines)


def seeds(text: str) -> range:
    """Read a range of seeds."""
    first, colon, end = text.partition(":")
    try:
        return range(int(first), int(end) if colon else int(first) + 1)
    except ValueError as error:
        raise SettingsError(f"`--seeds` must be a range such as 0:5, or one number, but it is `{text}`.") from error


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("problems", nargs="*", help="sets or problems, as in `symseed bench list`")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--noise", nargs="+", type=float, default=[0.0, 0.001, 0.01, 0.1], help="levels, of y's RMS")
    parser.add_argument("--seeds", default="0:5", help="a range, first:end")
    parser.add_argument("--seconds", type=int, default=30, help="of each run")
    parser.add_argument("--out", type=Path, default=Path("build/noise.jsonl"))
    parser.add_argument("--table", action="store_true", help="show what the file has, and run nothing")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve is not None:
        serve(asked.serve)
        return
    if not asked.table:
        problems = dict.fromkeys(p.name for name in asked.problems for p in benchmarks.resolve(name) if p.target)
        runs = [
            Run(peer, problem, noise, seed, asked.seconds)
            for seed in seeds(asked.seeds)
            for noise in asked.noise
            for problem in problems
            for peer in asked.peers
        ]
        left = missing(runs, load(asked.out))
        print(f"{len(runs)} runs, {len(runs) - len(left)} of them done before; outcomes in {asked.out}")
        run_all(left, asked.out)
    print(table(load(asked.out)))


if __name__ == "__main__":
    main()
