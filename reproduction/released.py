"""Run the authors' released code on problems of the catalogue, and write records like those of `symseed bench run`.

    python reproduction/released.py CHECKOUT PYTHON Nguyen-12 Neat-8 --method nggp --seeds 0:3 --store build/released
    symseed bench table build/released

CHECKOUT is a checkout of the released code, PYTHON a Python 3.7 with TensorFlow 1.14 (README.md has the steps). The
settings are those of our method of the same name, written as the released code reads them. Its samples must be ours,
row by row, and its answer is judged as ours are: by the error on our data, and by the proof that it is the target.
A method is recorded as `nggp/released`. Runs that the store has are not repeated.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from symseed import benchmarks, methods
from symseed.benchmarks.execution import failed
from symseed.benchmarks.judging import Work, judged
from symseed.benchmarks.problem import Problem
from symseed.benchmarks.store import RunKey, RunRecord, Store
from symseed.errors import DataError, SettingsError
from symseed.language.expression import Expression
from symseed.language.tokens import ALIASES
from symseed.methods import Method
from symseed.recovery.checker import Checker
from symseed.search.policy import PolicySettings
from symseed.search.search import Seeds
from symseed.search.training import EntropySettings, QueueTrainer, RiskSeekingTrainer, Trainer, VanillaTrainer
from symseed.search.variation import VariationSettings
from symseed.space.constraints import PAPER

ENDING = "/released"
"""Ending of the method's name in the records."""
INSIDE = Path(__file__).parent / "inside.py"
_SHARE = 0.02
"""The released code's share of samples that it keeps; only the best of them enters the queue."""


def main() -> int:
    """Do the missing runs of a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="checkout of the released code")
    parser.add_argument("python", type=Path, help="Python 3.7 with what that code needs")
    parser.add_argument("problems", nargs="+", help="problems or sets of the catalogue")
    parser.add_argument("--method", default="nggp", help="method of ours whose settings it gets")
    parser.add_argument("--seeds", default="0:1", help="range FIRST:END")
    parser.add_argument("--max-evals", type=int, default=2_000_000, help="expressions per run")
    parser.add_argument("--store", type=Path, required=True, help="folder of the records")
    given = parser.parse_args()
    first, _, end = given.seeds.partition(":")
    method = methods.get(given.method)
    keys = [
        RunKey(problem.name, method.name + ENDING, seed, expressions=given.max_evals)
        for seed in range(int(first), int(end))
        for name in given.problems
        for problem in benchmarks.resolve(name)
    ]
    store = Store(given.store)
    known = {record.key for record in store.read()}
    with store.writer() as append, Checker() as checker:
        for key in keys:
            if key in known:
                continue
            record = run(key, method, given.checkout, given.python, checker)
            append(record)
            print(f"{key.method} {key.problem} seed {key.seed}: {outcome(record)}", flush=True)
    return 0


def outcome(record: RunRecord) -> str:
    """Return a record in a few words."""
    work = f"{record.charged:,} expressions, {record.cpu_seconds:.1f} s"
    return record.error or f"{record.verdict}, test NMSE {record.test_nmse:.3g}, {work}"


def run(key: RunKey, method: Method, checkout: Path, python: Path, checker: Checker) -> RunRecord:
    """Do one run; an error of the released code goes into the record, other samples than ours do not."""
    problem = benchmarks.get(key.problem)
    task = {
        "package": str((checkout / "dso").resolve()),
        "configuration": configuration(method, problem, seed=key.seed, expressions=key.expressions),
    }
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("task.json", "answer.json")]
        paths[0].write_text(json.dumps(task), encoding="utf-8")
        done = subprocess.run([python, INSIDE, *paths], check=False, capture_output=True, text=True, cwd=folder)
        if done.returncode != 0 or not paths[1].exists():
            last = done.stderr.strip().rpartition("\n")[2]
            return failed(key, f"The released code ended with status {done.returncode}: {last}")
        answer = json.loads(paths[1].read_text(encoding="utf-8"))
    check_same_samples(problem, answer["samples"])
    work = Work(
        charged=answer["charged"],
        evaluated=answer["charged"],
        unique=answer["unique"],
        steps=answer["steps"],
        cpu_seconds=answer["cpu_seconds"],
        reason="The released code's own test is passed." if answer["success"] else "The budget is used up.",
    )
    return judged(key, expression(problem, answer["formula"]), work, checker)


# --- Settings, as the released code reads them ------------------------------------------------------------------------


def configuration(method: Method, problem: Problem, *, seed: int, expressions: int) -> dict[str, Any]:
    """Write a method of ours as a configuration of the released code.

    Raises:
        SettingsError: if that code has no setting for what the method does.
    """
    settings = method.settings
    policy = settings.policy
    if method.portfolio is not None or not isinstance(policy, PolicySettings) or settings.seeds is not Seeds.POLICY:
        raise SettingsError(f"The released code has no settings for `{method.name}`: it needs a network that samples.")
    if replace(policy, learning_rate=PolicySettings().learning_rate) != PolicySettings() or settings.completion:
        raise SettingsError(f"The released code has no settings for the network or the completion of `{method.name}`.")
    if method.constraints != PAPER:
        raise SettingsError(f"`{method.name}` must have the paper's constraints to be run by the released code.")
    entropy, training, queue = _training(settings.trainer)
    prior: dict[str, Any] = {name: {"on": True} for name in ("inverse", "trig", "const", "no_inputs")}
    prior["length"] = {"min_": method.min_length, "max_": method.max_length, "on": True}
    prior["repeat"] = {"on": False}
    prior["uniform_arity"] = {"on": False}
    soft = method.soft_length
    prior["soft_length"] = {"on": False} if soft is None else {"on": True, "loc": soft.location, "scale": soft.variance}
    return {
        "experiment": {"logdir": None, "seed": seed},
        "task": {"task_type": "regression", "dataset": problem.seed_name, "function_set": None, "protected": False},
        "training": {
            **training,
            "n_samples": expressions,
            "batch_size": settings.batch,
            "n_cores_batch": 1,
            "hof": 1,
            "save_pareto_front": False,
            "verbose": False,
        },
        "controller": {
            **queue,
            "learning_rate": policy.learning_rate,
            "entropy_weight": entropy.weight,
            "entropy_gamma": entropy.decay,
            "max_length": method.max_length,
        },
        "gp_meld": _evolution(method),
        "prior": prior,
    }


def _training(trainer: Trainer) -> tuple[EntropySettings, dict[str, Any], dict[str, Any]]:
    """Return the entropy bonus, and the settings of the share of samples and of the queue."""
    match trainer:
        case QueueTrainer(pushes=1, draws=1):
            queue = {"pqt": True, "pqt_k": trainer.size, "pqt_batch_size": 1, "pqt_weight": trainer.weight}
            return trainer.entropy, {"epsilon": _SHARE, "baseline": "R_e"}, {**queue, "pqt_use_pg": False}
        case RiskSeekingTrainer():
            return trainer.entropy, {"epsilon": trainer.risk, "baseline": "R_e"}, {"pqt": False}
        case VanillaTrainer():
            return trainer.entropy, {"epsilon": 1.0, "baseline": "ewma_R", "alpha": trainer.smoothing}, {"pqt": False}
    raise SettingsError("The released code has the trainers VPG, RSPG and PQT with one push and one draw, no other.")


def _evolution(method: Method) -> dict[str, Any]:
    evolution = method.settings.evolution
    if evolution is None:
        return {"run_gp_meld": False}
    variation = evolution.variation
    shared = replace(
        VariationSettings(),
        crossover=variation.crossover,
        mutation=variation.mutation,
        tournament=variation.tournament,
        new_depth=variation.new_depth,
    )
    if variation != shared or evolution.elitism or evolution.avoid_seen:
        raise SettingsError(f"The released code cannot vary formulas as `{method.name}` does.")
    return {
        "run_gp_meld": True,
        "generations": evolution.generations,
        "p_crossover": variation.crossover,
        "p_mutate": variation.mutation,
        "tournament_size": variation.tournament,
        "train_n": method.settings.elite,
        "mutate_tree_max": variation.new_depth,
    }


# --- Its data and its answer ------------------------------------------------------------------------------------------


def check_same_samples(problem: Problem, samples: Mapping[str, Sequence[Any]]) -> None:
    """Refuse samples that are not ours.

    Raises:
        DataError: saying which table differs.
    """
    for name, data in zip(("train", "test"), problem.datasets(), strict=True):
        X, y = (np.array(samples[f"{axis}_{name}"], dtype=np.float64) for axis in "Xy")
        same = X.shape == data.X.shape and np.allclose(X, data.X, rtol=1e-12, atol=0.0)
        if not same or not np.allclose(y, data.y, rtol=1e-9, atol=1e-9 * data.deviation):
            raise DataError(
                f"The released code must have our samples of `{problem.name}`, but its {name} data differ "
                f"({len(y)} rows, ours {len(data)}). Use a problem whose name ends in /code, if there is one."
            )


def expression(problem: Problem, words: Sequence[tuple[str, float | None]]) -> Expression:
    """Read a formula of the released code over our tokens."""
    literals = {token.value for token in problem.library.tokens if token.arity == 0}

    def ours(name: str, value: float | None) -> str:
        if value is not None:
            return f"const({value!r})"
        try:
            number = float(np.float32(name))
        except ValueError:
            return ALIASES.get(name, name)
        return repr(min(literals, key=lambda literal: abs(literal - number), default=math.nan))

    return Expression.parse_prefix(" ".join(ours(name, value) for name, value in words), problem.library)


if __name__ == "__main__":
    sys.exit(main())
