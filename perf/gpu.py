"""Measure symseed on a GPU: `python perf/gpu.py [--quick] [--sweep] [--json FILE]`.

Without a GPU it says what is missing, and ends with 1. `--operations` needs no GPU: it compiles each operator, and
counts the float64 operations of a node; `--host` needs none either, and says how fast a search would be without scores.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import expressions
from symseed import (
    Budget,
    Dataset,
    Library,
    Population,
    RegressionSettings,
    RegressionTask,
    SearchSpace,
    _core,
    methods,
    search,
)
from symseed.cuda import CudaBackend, DeviceMissingError, compiler
from symseed.cuda.device import POINTS, Device, first_device
from symseed.cuda.driver import LIBRARY, Driver
from symseed.cuda.programs import Programs
from symseed.cuda.resident import Samples
from symseed.data.backend import Backend, CachedErrors, CoreBackend
from symseed.language.tokens import OPERATORS

ROWS = (1_000, 10_000, 100_000, 1_000_000)
NODE_POINTS = 4e10
"""Values that one pass computes, as far as `MOST` allows."""
MOST = 50_000
"""Most expressions of a pass."""
FITS = 4_000
FIT_ROWS = 1_000
SEARCH_ROWS = 10_000
DIVISION, ROOT = 10, 12
"""Float64 operations that a division and a root are counted as: about what their code on the device has."""
VARIANTS = [(points, registers) for points in (2, 4, 8) for registers in (0, 168, 128, 96, 80, 64)]
_ARITHMETIC = re.compile(r"\t(add|sub|mul|neg|abs|setp|selp|min|max)[.\w]*\.f64")

PEAK = """
extern "C" __global__ void peak(double* out, double x, int rounds) {
  double a[8];
  for (int k = 0; k < 8; ++k) a[k] = threadIdx.x + k;
  for (int i = 0; i < rounds; ++i)
#pragma unroll
    for (int k = 0; k < 8; ++k) a[k] = a[k] * x + x;
  double sum = 0.0;
  for (int k = 0; k < 8; ++k) sum += a[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


@dataclass(frozen=True)
class Rate:
    """How fast expressions are computed at some number of rows."""

    node_points_per_s: float
    """By whole calls: with the programs written and copied, and the results copied back."""
    expressions_per_s: float
    launched_node_points_per_s: float
    """By launches alone, of programs that are on the device."""
    expressions: int


def main() -> None:
    """Measure, print, and write the figures to a file if asked."""
    parser = argparse.ArgumentParser(description="Measure symseed on a GPU.")
    parser.add_argument("--quick", action="store_true", help="one round of each, and smaller searches")
    parser.add_argument("--sweep", action="store_true", help="also time the kernels with other numbers of registers")
    parser.add_argument("--operations", action="store_true", help="count operations of nodes, and nothing else")
    parser.add_argument("--threads", type=int, default=8, help="threads that write programs (default: 8)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--host", action="store_true", help="time a search on one core, and nothing else")
    options = parser.parse_args()
    if options.host:
        print(json.dumps(measure_search(None, 20_000 if options.quick else 200_000), indent=2))
        return
    if options.operations:
        print(json.dumps(count_operations(compiler.find(1_000_000)), indent=2))
        return
    try:
        device = first_device()
    except DeviceMissingError as missing:
        sys.exit(str(missing))
    figures = measure_all(device, quick=options.quick, sweep=options.sweep, threads=options.threads)
    print(json.dumps(figures, indent=2))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


def measure_all(device: Device, *, quick: bool, sweep: bool, threads: int) -> dict[str, Any]:
    """Return all figures by name."""
    rounds = 2 if quick else 7
    rates = {rows: measure_rate(device, rows, rounds, threads) for rows in ROWS}
    nvrtc = compiler.find(device.driver.version)
    operations = count_operations(nvrtc)
    peak = measure_peak(nvrtc, device)
    return {
        "gpu": str(device.facts),
        "bits_equal": is_equal(device),
        "node_points_per_s": {str(rows): rate.node_points_per_s for rows, rate in rates.items()},
        "expressions_per_s": {str(rows): rate.expressions_per_s for rows, rate in rates.items()},
        "launched_node_points_per_s": {str(rows): rate.launched_node_points_per_s for rows, rate in rates.items()},
        "expressions": {str(rows): rate.expressions for rows, rate in rates.items()},
        "roofline": {
            "operations_per_s": peak,
            "operations_per_node": operations["mean"],
            "most_node_points_per_s": peak / operations["mean"],
        },
        **measure_fits(device, rounds),
        "search": measure_search(device, 20_000 if quick else 200_000),
        **({"sweep": measure_variants(rounds)} if sweep else {}),
    }


def measure_rate(device: Device, rows: int, rounds: int, threads: int) -> Rate:
    """Time errors of many expressions on so many rows."""
    library = expressions.make_library(expressions.VARIABLES)
    data = expressions.make_dataset(rows, expressions.VARIABLES)
    few = expressions.draw_finite(1_000, library, expressions.make_dataset(ROWS[0], expressions.VARIABLES))
    mean = float(few.lengths.mean())
    count = int(min(MOST, max(200, NODE_POINTS / rows / mean)))
    population = Population.concatenate([few] * -(-count // len(few))).take(np.arange(count))
    nodes = int(population.lengths.sum()) * rows
    backend = CudaBackend(data, device=lambda: device, least_work=0)
    whole = timed(lambda: backend.errors(population, threads=threads), rounds)
    with device.lock:
        device.enter()
        programs = Programs(device, Samples(device, data), population, threads=threads)
        every = np.arange(count, dtype=np.uint32)
        launched = timed(lambda: programs.errors(every), rounds)
    return Rate(nodes / whole, count / whole, nodes / launched, count)


def timed(work: Callable[[], object], rounds: int) -> float:
    """Return the median of the seconds that it takes, after a first time that is not counted."""
    work()
    seconds = []
    for _ in range(rounds):
        before = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - before)
    return median(seconds)


def is_equal(device: Device) -> bool:
    """Whether errors, values, failures and fitted constants are the core's bits, over every operator."""
    library = Library.of([*OPERATORS, 0.5, -3.0], 3, constants=True)
    equal = True
    for rows in (20, 1_000, 10_007, 300_001):
        rng = np.random.default_rng(rows)
        data = Dataset.of(rng.uniform(-3.0, 3.0, (rows, 3)), rng.normal(size=rows), rng.uniform(0.5, 1.5, rows))
        drawn = SearchSpace(library, max_length=25).sample(2_000 if rows < 100_000 else 100, seed=rows)
        given = drawn.with_constants(
            np.where(np.isnan(drawn.constants), np.nan, rng.normal(size=drawn.constants.shape))
        )
        twin, core = CudaBackend(data, device=lambda: device, least_work=0), data.backend
        (fitted, fit_errors), (core_fitted, core_errors) = (each.fit(given, iterations=8) for each in (twin, core))
        values, errors = twin.predict(given.take(np.arange(50))), twin.errors(given)
        pairs = [
            *zip(_arrays(errors), _arrays(core.errors(given)), strict=True),
            *zip(_arrays(values), _arrays(core.predict(given.take(np.arange(50)))), strict=True),
            *zip(_arrays(fit_errors), _arrays(core_errors), strict=True),
            (fitted.constants, core_fitted.constants),
        ]
        for found, expected in pairs:
            equal = equal and found.tobytes() == expected.tobytes()
    return equal


def _arrays(answer: Any) -> list[Any]:
    return [getattr(answer, name) for name in answer.__slots__]


def measure_fits(device: Device, rounds: int) -> dict[str, float]:
    """Time fits of constants, on the device and on one core."""
    library = Library.of(expressions.OPERATORS, expressions.VARIABLES, constants=True)
    data = expressions.make_dataset(FIT_ROWS, expressions.VARIABLES)
    drawn = SearchSpace(library, max_length=20).sample(4 * FITS, seed=1)
    has_constants = np.isfinite(drawn.constants).any(axis=1)
    rows = drawn.take(np.flatnonzero(has_constants)[:FITS])
    backend = CudaBackend(data, device=lambda: device, least_work=0)
    gpu = len(rows) / timed(lambda: backend.fit(rows, iterations=30), rounds)
    few = rows.take(np.arange(len(rows) // 8))
    cpu = len(few) / timed(lambda: data.backend.fit(few, iterations=30), 1)
    return {"fits_per_s": gpu, "cpu_fits_per_s": cpu}


def measure_search(device: Device | None, budget: int) -> dict[str, Any]:
    """Time a whole search by `nggp` on the device, if there is one, and on one core, and the share of its scores."""
    method = methods.get("nggp")
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (SEARCH_ROWS, 2))
    core = Dataset.of(X, np.sin(X[:, 0]) + np.sin(X[:, 1] ** 2) + 0.1 * rng.normal(size=SEARCH_ROWS))
    library = Library.of(expressions.OPERATORS, 2)
    space = SearchSpace(library, max_length=method.max_length)
    found: dict[str, tuple[str, float]] = {}
    figures: dict[str, Any] = {"rows": SEARCH_ROWS, "charged": budget}
    backends: dict[str, Callable[[Dataset], Backend]] = {"cpu": lambda data: CoreBackend(data.samples)}
    if device is not None:
        backends["gpu"] = lambda data: CudaBackend(data, device=lambda: device)
    for name, make in backends.items():
        clock = Clock()
        data = core.with_backend(functools.partial(timed_scores, make, clock))
        before = time.perf_counter()
        task = RegressionTask(library, data, RegressionSettings())
        result = search.run(space, task, method.settings, seed=0, budget=Budget(expressions=budget))
        seconds = time.perf_counter() - before
        found[name] = (str(result.best), result.reward)
        figures[f"{name}_charged_per_s"] = result.history[-1].charged / seconds
        figures[f"{name}_share_of_scores"] = clock.seconds / seconds
    # If scores took no time at all.
    figures["most_charged_per_s"] = figures["cpu_charged_per_s"] / (1.0 - figures["cpu_share_of_scores"])
    return {**figures, "same_answer": len(set(found.values())) == 1}


@dataclass
class Clock:
    """Seconds so far."""

    seconds: float = 0.0


def timed_scores(make: Callable[[Dataset], Backend], clock: Clock, data: Dataset) -> Any:
    """Make the backend of a dataset, with timed scores."""
    return TimedScores(make(data), clock)


class TimedScores:
    """A backend whose scores are timed."""

    def __init__(self, backend: Backend, clock: Clock) -> None:
        self._backend = backend
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        """Return what else the backend has."""
        return getattr(self._backend, name)

    def scorer(self, **options: Any) -> Any:
        """Return a scorer that adds to the clock."""
        inner, clock = self._backend.scorer(**options), self._clock

        class Timed:
            @property
            def counts(self) -> tuple[int, int, int]:
                return inner.counts

            def score(self, population: Population) -> CachedErrors:
                before = time.perf_counter()
                answer = inner.score(population)
                clock.seconds += time.perf_counter() - before
                return answer

        return Timed()


def count_operations(nvrtc: compiler.Compiler) -> dict[str, Any]:
    """Count the float64 operations of each operator, and those of a node of the expressions that are timed."""
    kernels = [
        f'extern "C" __global__ void op_{index}(const double* a, const double* b, double* out) '
        f"{{ *out = symseed::device::value_of<symseed::single::{name}>(*a, *b); }}\n"
        for index, name in enumerate(_structs())
    ]
    text = nvrtc.build(
        (*compiler.OPTIONS, "-arch=compute_80"), "PTX", '#include "machine.hpp"\n' + "".join(kernels)
    ).decode()
    counts: dict[str, int] = {}
    for index, name in enumerate(OPERATORS):
        body = re.split(r"\n\}", text.split(f".entry op_{index}(")[1])[0]
        counts[name] = (
            len(_ARITHMETIC.findall(body))
            + DIVISION * len(re.findall(r"(?:div|rcp)\.rn\.f64", body))
            + ROOT * body.count("sqrt.rn.f64")
        )
    library = expressions.make_library(expressions.VARIABLES)
    drawn = expressions.draw_finite(1_000, library, expressions.make_dataset(ROWS[0], expressions.VARIABLES))
    used = [library[token].name for row, size in zip(drawn.tokens, drawn.lengths, strict=True) for token in row[:size]]
    total = sum(counts.get(name, 0) for name in used) + 4 * len(drawn)  # the error of a sample: 4 operations
    return {"operators": counts, "mean": total / len(used)}


def _structs() -> list[str]:
    text = _core.kernel_sources()["opcodes.hpp"]
    return re.findall(r"X\((\w+)\)", text.split("#define SYMSEED_OPERATORS(X)")[1].split("clang-format on")[0])


def measure_peak(nvrtc: compiler.Compiler, device: Device) -> float:
    """Return the rate of additions and multiplications that are not fused: the limit of all that is computed."""
    driver, rounds, blocks, threads = device.driver, 4096, 132 * 16, 256
    capability = device.facts.capability
    image = nvrtc.build((*compiler.OPTIONS, f"-arch=compute_{capability}"), "PTX", PEAK)
    with device.lock:
        device.enter()
        module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        driver.cuModuleLoadData(ctypes.byref(module), image)
        driver.cuModuleGetFunction(ctypes.byref(kernel), module, b"peak")
        out = ctypes.c_uint64(device.scratch("peak", blocks * threads * 8))
        factor, count = ctypes.c_double(0.999), ctypes.c_int(rounds)
        arguments = (ctypes.c_void_p * 3)(*(ctypes.addressof(each) for each in (out, factor, count)))

        def work() -> None:
            driver.cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, None, arguments, None)
            device.wait()

        return blocks * threads * rounds * 16 / timed(work, 5)


def measure_variants(rounds: int) -> dict[str, float]:
    """Time launches of kernels that are compiled with other numbers of points per thread, and of registers."""
    found = {}
    for points, registers in VARIANTS:
        limit = [f"--maxrregcount={registers}"] if registers else []
        device = Device(Driver(LIBRARY), points=points, options=limit)
        name = f"{points} points, {registers or 'any'} registers" + (
            " (used)" if (points, registers) == (POINTS, 0) else ""
        )
        for rows in (ROWS[0], ROWS[2]):
            found[f"{name}, {rows} rows"] = measure_rate(device, rows, rounds, 8).launched_node_points_per_s
        device.forget()
    return found


if __name__ == "__main__":
    main()
