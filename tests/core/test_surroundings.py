"""A whole fit has the same bits whatever processor NumPy, BLAS, the C library and the core take this one for.

Other processors are stood in for by variables of the environment, each in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symseed import _core

OLD_LIBRARY = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX,-AVX512F,-AVX512VL,-AVX512DQ"
SURROUNDINGS = {
    "BLAS for Haswell": {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_NUM_THREADS": "1"},
    "BLAS for Prescott": {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "2"},
    "NumPy without AVX": {"NPY_DISABLE_CPU_FEATURES": "X86_V4 X86_V3 AVX512F AVX512_SKX AVX2 FMA3"},
    "a C library without FMA": {"GLIBC_TUNABLES": OLD_LIBRARY},
    "everything old": {
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 X86_V3 AVX512F AVX512_SKX AVX2 FMA3",
        "GLIBC_TUNABLES": OLD_LIBRARY,
        "SYMSEED_INSTRUCTION_SET": "portable",
    },
}

# What the children share. Data come from a file: NumPy's exp is one of the things that differ.
_BEGIN = """
import json, math, sys, warnings
from pathlib import Path
import numpy as np
from symseed import Dataset, Expression, Library, Population, SymbolicRegressor, predict

warnings.simplefilter("ignore")
folder = Path(sys.argv[1])
data = np.load(folder / "data.npz")

def shown(model):
    front = model.pareto_front_
    rows = [(item.complexity, item.loss, item.score, item.description, str(item.expression)) for item in front]
    return repr((rows, model.predict(model_X).tolist()))

def settings(evals):
    return dict(max_evals=evals, max_time=None, patience=None, random_state=1)
"""

_FITS = (
    _BEGIN
    + """
from symseed.assembly import Assembler, AssemblySettings
from symseed.language.writer import Writer

out = {}
for name, evals in (("clean", 2_000), ("noisy", 4_000), ("two columns", 4_000)):
    model_X = data[name + " X"]
    out[name] = shown(SymbolicRegressor(**settings(evals)).fit(model_X, data[name + " y"]))

# What a fit comes to when its first turns have not sufficed.
library = Library.of(["add", "sub", "mul", "div", "sin", "cos", "exp", "log", "const"], 2)
few = AssemblySettings(features=150, more_features=300, newer=60, framed=60)
table = Dataset.of(data["two columns X"], data["two columns y"])
assembler = Assembler(Writer(library), table, few, is_enlarged=True)
out["assembly"] = repr([(part.ids, part.constants) for part in (*assembler.first(), *assembler.split())])

# Evidence, by Gaussian processes.
from symseed.structure import StructureSettings, find
ratio = Dataset.of(table.X, table.X[:, 0] / table.X[:, 1] + 0.01 * data["many"][:40])
sought = find(ratio, Writer(library), StructureSettings(rows=40, more_rows=40, scored_rows=30), seed=0)
assert sought.candidates
out["structure"] = repr(sought)

# A loss beside squares, powers, and arguments far outside of what vectors take.
model_X = data["noisy X"]
model = SymbolicRegressor(**settings(500), loss="logcosh", binary_operators=["+", "*", "^"])
out["loss"] = shown(model.fit(model_X, data["noisy y"]))
large = Dataset.of(data["large"], data["large"][:, 0])
one = Library.of(["sin", "cos", "tan", "exp", "log", "pow", "tanh", "sigmoid", "const"], 1)
texts = ["sin(x1)", "cos(x1)", "tan(x1)", "tanh(x1)", "log(x1)", "pow(x1, const(0.37))", "pow(x1, const(-0.11))"]
rows = Population.from_expressions([Expression.parse(text, one) for text in texts])
out["large"] = repr(predict(rows, large).value.tolist())

# The parts of NumPy that are used as they are.
values, weights = data["many"], np.abs(data["many"][::-1])
tall = values[:1000].reshape(250, 4)
out["numpy"] = repr([
    values.sum(), values.mean(), np.average(values, weights=weights), np.cumsum(values)[-1],
    tall.sum(axis=0).tolist(), tall.sum(axis=1).tolist(), tall.T.sum(axis=1).tolist(), np.prod(tall, axis=1).tolist(),
    np.sqrt(weights).sum(), (values / weights).sum(), (values**2).sum(), (1.0 / values).tolist()[:9],
    np.round(values, 8).tolist(), np.median(values), np.quantile(values, 0.9, method="higher"),
    np.interp(values, np.sort(values[:50]), values[50:100]).tolist(), np.outer(values[:9], values[:9]).tolist(),
    np.argsort(np.round(values, 1), kind="stable").tolist(), np.unique(np.round(values, 1)).tolist(),
    np.random.default_rng(3).integers(1000, size=9).tolist(), np.random.default_rng(3).choice(99, 9, False).tolist(),
])
# And some that are not.
out["others"] = repr([np.linalg.inv(data["square"]).tolist(), np.exp(values).tolist(),
                      [math.exp(value) for value in values]])
print(json.dumps(out))
"""
)

_BREAK_OFF = _BEGIN + (
    "model_X = data['noisy X']\n"
    "model = SymbolicRegressor(**settings(6_000), output_directory=folder / 'run').fit(model_X, data['noisy y'])\n"
    "print(json.dumps(model.run_directory_))\n"
)
_GO_ON = _BEGIN + (
    "model_X = data['noisy X']\nprint(json.dumps(shown(SymbolicRegressor.resume(sys.argv[2], max_evals=14_000))))\n"
)
_WHOLE = _BEGIN + (
    "model_X = data['noisy X']\n"
    "print(json.dumps(shown(SymbolicRegressor(**settings(14_000)).fit(model_X, data['noisy y']))))\n"
)


def answer(script: str, surroundings: dict[str, str], *arguments: str | Path) -> Any:
    changed = {name for some in SURROUNDINGS.values() for name in some}
    environment = {name: value for name, value in os.environ.items() if name not in changed} | surroundings
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    x, noisy = np.linspace(0.1, 2.0, 30), rng.uniform(-2.0, 2.0, 40)
    X = rng.uniform(0.5, 3.0, (40, 2))
    out = tmp_path_factory.mktemp("surroundings")
    tables: dict[str, Any] = {
        "clean X": x[:, None],
        "clean y": np.log(x + 1.0) + np.log(x * x + 1.0),
        "noisy X": noisy[:, None],
        "noisy y": 1.37 * np.exp(-0.8 * noisy) + np.sin(2.3 * noisy) + 0.05 * rng.normal(size=40),
        "two columns X": X,
        "two columns y": X[:, 0] / (1.0 + X[:, 1] ** 2) + 0.3 * np.cos(4.0 * X[:, 0]) + 0.02 * rng.normal(size=40),
        "large": 10.0 ** rng.uniform(-300.0, 300.0, (500, 1)),
        "many": rng.normal(size=5_000),
        "square": rng.normal(size=(40, 40)),
    }
    np.savez(out / "data.npz", **tables)
    return out


@pytest.fixture(scope="module")
def answers(folder: Path) -> Iterator[dict[str, Future[Any]]]:
    """The answers in this surroundings ("here") and in all others, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        yield {
            name: pool.submit(answer, _FITS, surroundings, folder)
            for name, surroundings in {"here": {}, **SURROUNDINGS}.items()
        }


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_a_fit_has_the_same_bits_on_every_processor(answers: dict[str, Future[Any]], name: str) -> None:
    here, there = answers["here"].result(), answers[name].result()
    for part in here:
        assert part == "others" or there[part] == here[part], f"{part} differs"


@pytest.mark.skipif("avx2" not in _core.instruction_sets(), reason="this processor is an old one")
def test_other_arithmetic_does_change_with_these_surroundings(answers: dict[str, Future[Any]]) -> None:
    here = answers["here"].result()["others"]
    changed = {name for name in SURROUNDINGS if answers[name].result()["others"] != here}
    assert changed >= {"BLAS for Prescott", "NumPy without AVX", "a C library without FMA"}


def test_a_run_goes_on_elsewhere_to_the_same_end(folder: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        whole = pool.submit(answer, _WHOLE, {}, folder)
        run = answer(_BREAK_OFF, {}, folder)
        assert answer(_GO_ON, SURROUNDINGS["everything old"], folder, run) == whole.result()


@pytest.mark.parametrize("name", _core.instruction_sets())
def test_the_environment_chooses_the_instruction_set(name: str) -> None:
    script = "import json; from symseed import _core; print(json.dumps(_core.instruction_sets()))"
    assert answer(script, {"SYMSEED_INSTRUCTION_SET": name})[0] == name
    assert sorted(answer(script, {"SYMSEED_INSTRUCTION_SET": name})) == sorted(_core.instruction_sets())


def test_an_instruction_set_that_there_is_not_is_refused_with_a_sentence() -> None:
    environment = {**os.environ, "SYMSEED_INSTRUCTION_SET": "abacus"}
    command = [sys.executable, "-c", "from symseed.cli.main import main; main()", "doctor"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 2
    assert "SYMSEED_INSTRUCTION_SET must be one of" in done.stderr
    assert "but it is `abacus`" in done.stderr
    assert "Traceback" not in done.stderr
