"""Measure symseed on a GPU: `python perf/gpu.py [--quick] [--json FILE]`; the file is written after every figure.

Without a GPU it says what is missing, and ends with 1. `--phases` says where the time of a call goes, and `--sweep`
times the kernels with other numbers of points and blocks; they measure nothing else. `--operations` needs no GPU: it
compiles each operator, and counts the float64 operations of a node; `--host` needs none either, and says how fast a
search would be without scores.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import expressions
from symseed import (
    Budget,
    Dataset,
    Library,
    PolicySettings,
    Population,
    RegressionSettings,
    RegressionTask,
    SearchSpace,
    SymbolicRegressor,
    _core,
    methods,
    search,
)
from symseed.cuda import CudaBackend, DeviceMissingError, compiler
from symseed.cuda.device import POINTS, Device, find_facts, first_device
from symseed.cuda.driver import LIBRARY, Driver
from symseed.cuda.programs import Programs, Rows
from symseed.cuda.resident import Samples
from symseed.data.backend import Backend, CachedErrors, CoreBackend
from symseed.language.tokens import OPERATORS

ROWS = (1_000, 10_000, 100_000, 1_000_000)
NODE_POINTS = 4e10
"""Values that one pass computes, as far as `MOST` allows."""
MOST = 50_000
"""Most expressions of a pass."""
FITS, FEW_FITS = 32_000, 4_000
FIT_ROWS = 1_000
SEARCH_ROWS = 10_000
BATCH = 8_000
"""Expressions of a generation in the second search; the paper has 500, which are too few for a GPU."""
DEFAULT_ROWS, DEFAULT_CHARGED = 100_000, 10_000
DIVISION, ROOT = 10, 12
"""Float64 operations that a division and a root are counted as: about what their code on the device has."""
VARIANTS = [(points, resident) for points in (2, 4, 8) for resident in (3, 4, 5, 6, 7, 8)]
"""Points of a thread, and blocks of threads on a multiprocessor, which bound the registers of a thread."""
_USED = (POINTS, 6)  # 6 is `SYMSEED_RESIDENT` of device.cu
_ARITHMETIC = re.compile(r"\t(add|sub|mul|fma|neg|abs|setp|selp|min|max)[.\w]*\.f64")

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
    """With programs that are on the device already, and the results copied back."""
    kernel_node_points_per_s: float
    """By the kernel alone, launched again and again."""
    expressions: int


def main() -> None:
    """Measure, print, and write the figures to a file if asked."""
    parser = argparse.ArgumentParser(description="Measure symseed on a GPU.")
    parser.add_argument("--quick", action="store_true", help="few rounds of each, and smaller searches")
    parser.add_argument(
        "--sweep", action="store_true", help="time the kernels with other numbers of points and blocks only"
    )
    parser.add_argument("--phases", action="store_true", help="say where the time of calls goes, and nothing else")
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
    if options.phases:
        steps = measure_phases(device, options.threads)
    elif options.sweep:
        steps = measure_variants(2 if options.quick else 5, options.threads)
    else:
        steps = measure_all(device, quick=options.quick, threads=options.threads)
    figures: dict[str, Any] = {}
    before = time.perf_counter()
    for step in steps:
        for name, value in step.items():
            print(f"{time.perf_counter() - before:7.1f} s  {name}: {json.dumps(value)}", flush=True)
        figures.update(step)
        if options.json:
            options.json.parent.mkdir(parents=True, exist_ok=True)
            options.json.write_text(json.dumps(figures, indent=2) + "\n")


def measure_all(device: Device, *, quick: bool, threads: int) -> Iterator[dict[str, Any]]:
    """Give all figures by name, one after another."""
    rounds = 2 if quick else 7
    yield {"gpu": str(device.facts)}
    rates: dict[int, Rate] = {}
    for rows in ROWS:
        rates[rows] = measure_rate(device, rows, rounds, threads)
        yield {f.name: {str(rows): getattr(rate, f.name) for rows, rate in rates.items()} for f in fields(Rate)}
    yield measure_fits(device, rounds, threads)
    yield {"search": measure_search(device, 20_000 if quick else 200_000, threads)}
    yield {"large_search": measure_search(device, 100_000 if quick else 1_000_000, threads, batch=BATCH)}
    yield {"bits_equal": is_equal(device, threads)}
    nvrtc = compiler.find(device.driver.version)
    operations = count_operations(nvrtc)
    peak = measure_peak(nvrtc, device)
    most = peak / operations["mean"]
    yield {
        "roofline": {
            "operations_per_s": peak,
            "operations_per_node": operations["mean"],
            "most_node_points_per_s": most,
            "share_reached": {str(rows): rate.kernel_node_points_per_s / most for rows, rate in rates.items()},
        }
    }
    yield {"default": measure_default(1_000 if quick else DEFAULT_CHARGED)}


def measure_rate(device: Device, rows: int, rounds: int, threads: int) -> Rate:
    """Time errors of many expressions on so many rows."""
    data = expressions.make_dataset(rows, expressions.VARIABLES)
    population = drawn(rows)
    count = len(population)
    nodes = int(population.lengths.sum()) * rows
    backend = CudaBackend(data, device=lambda: device, least_work=0)
    whole = timed(lambda: backend.errors(population, threads=threads), rounds)
    with device.lock:
        device.enter()
        programs = Programs(device, Samples(device, data), population, threads=threads)
        every = np.arange(count, dtype=np.uint32)
        launched = timed(lambda: programs.errors(every), rounds)
        kernel = kernel_seconds(device, programs, every, rounds)
    return Rate(nodes / whole, count / whole, nodes / launched, nodes / kernel, count)


def kernel_seconds(device: Device, programs: Programs, rows: Rows, rounds: int) -> float:
    """Return the seconds of all launches of the evaluation, without anything between them."""
    kept = device.launch
    launches: list[tuple[Any, ...]] = []

    def launch(*arguments: Any) -> None:
        if arguments[0] == "symseed_evaluate":
            launches.append(arguments)
        kept(*arguments)

    setattr(device, "launch", launch)  # noqa: B010 - for a moment
    try:
        programs.errors(rows)
    finally:
        del device.launch

    def again(times: int) -> None:
        for _ in range(times):
            for arguments in launches:
                kept(*arguments)
        device.wait()

    times = max(1, min(50, int(0.1 / timed(lambda: again(1), 1))))
    return timed(lambda: again(times), rounds) / times


def drawn(rows: int) -> Population:
    """The expressions that are timed at so many rows: a thousand, again and again."""
    few = _few()
    count = int(min(MOST, max(200, NODE_POINTS / rows / float(few.lengths.mean()))))
    return Population.concatenate([few] * -(-count // len(few))).take(np.arange(count))


@functools.cache
def _few() -> Population:
    library = expressions.make_library(expressions.VARIABLES)
    return expressions.draw_finite(1_000, library, expressions.make_dataset(ROWS[0], expressions.VARIABLES))


def timed(work: Callable[[], object], rounds: int) -> float:
    """Return the median of the seconds that it takes, after a first time that is not counted."""
    work()
    seconds = []
    for _ in range(rounds):
        before = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - before)
    return median(seconds)


def is_equal(device: Device, threads: int) -> bool:
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
        (fitted, fit_errors), (core_fitted, core_errors) = (
            each.fit(given, iterations=8, threads=threads) for each in (twin, core)
        )
        values, errors = twin.predict(given.take(np.arange(50))), twin.errors(given)
        pairs = [
            *zip(_arrays(errors), _arrays(core.errors(given, threads=threads)), strict=True),
            *zip(_arrays(values), _arrays(core.predict(given.take(np.arange(50)))), strict=True),
            *zip(_arrays(fit_errors), _arrays(core_errors), strict=True),
            (fitted.constants, core_fitted.constants),
        ]
        for found, expected in pairs:
            equal = equal and found.tobytes() == expected.tobytes()
    return equal


def _arrays(answer: Any) -> list[Any]:
    return [getattr(answer, name) for name in answer.__slots__]


def measure_fits(device: Device, rounds: int, threads: int) -> dict[str, float]:
    """Time fits of constants, on the device and on one core."""
    data = expressions.make_dataset(FIT_ROWS, expressions.VARIABLES)
    rows = drawn_to_fit(FITS)
    backend = CudaBackend(data, device=lambda: device, least_work=0)

    def rate(count: int) -> float:
        some = rows.take(np.arange(count))
        return count / timed(lambda: backend.fit(some, iterations=30, threads=threads), rounds)

    few = rows.take(np.arange(500))
    cpu = len(few) / timed(lambda: data.backend.fit(few, iterations=30), 1)
    return {
        "fits_per_s": rate(FITS),
        "fits_at_once": FITS,
        f"fits_per_s_of_{FEW_FITS}": rate(FEW_FITS),
        "cpu_fits_per_s": cpu,
    }


def drawn_to_fit(count: int) -> Population:
    """Random expressions with constants."""
    library = Library.of(expressions.OPERATORS, expressions.VARIABLES, constants=True)
    found = SearchSpace(library, max_length=20).sample(4 * count, seed=1)
    return found.take(np.flatnonzero(np.isfinite(found.constants).any(axis=1))[:count])


def measure_search(device: Device | None, budget: int, threads: int = 1, *, batch: int | None = None) -> dict[str, Any]:
    """Time a whole search by `nggp` on the device, if there is one, and on one core, and the share of its scores."""
    method = methods.get("nggp")
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (SEARCH_ROWS, 2))
    core = Dataset.of(X, np.sin(X[:, 0]) + np.sin(X[:, 1] ** 2) + 0.1 * rng.normal(size=SEARCH_ROWS))
    library = Library.of(expressions.OPERATORS, 2)
    space = SearchSpace(library, max_length=method.max_length)
    found: dict[str, tuple[str, float]] = {}
    figures: dict[str, Any] = {"rows": SEARCH_ROWS, "charged": budget, "batch": batch or method.settings.batch}
    backends: dict[str, Callable[[Dataset], Backend]] = {"cpu": lambda data: CoreBackend(data.samples)}
    if device is not None:
        backends["gpu"] = lambda data: CudaBackend(data, device=lambda: device)
    for name, make in backends.items():
        clock = Clock()
        data = core.with_backend(functools.partial(timed_scores, make, clock))
        before = time.perf_counter()
        count = threads if name == "gpu" else 1
        task = RegressionTask(library, data, RegressionSettings(threads=count))
        assert isinstance(method.settings.policy, PolicySettings)
        settings = replace(
            method.settings, batch=figures["batch"], policy=replace(method.settings.policy, threads=count)
        )
        result = search.run(space, task, settings, seed=0, budget=Budget(expressions=budget))
        seconds = time.perf_counter() - before
        found[name] = (str(result.best), result.reward)
        figures[f"{name}_charged_per_s"] = result.history[-1].charged / seconds
        figures[f"{name}_share_of_scores"] = clock.seconds / seconds
    # If scores took no time at all.
    figures["most_charged_per_s"] = figures["cpu_charged_per_s"] / (1.0 - figures["cpu_share_of_scores"])
    return {**figures, "same_answer": len(set(found.values())) == 1}


def measure_default(charged: int) -> dict[str, Any]:
    """Time `default` until it first has the formula that it ends with, with the GPU and without, on one core."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3.0, (DEFAULT_ROWS, 3))
    y = 2.5 * X[:, 0] * np.exp(-1.3 * X[:, 1]) + np.sin(2.1 * X[:, 2]) / X[:, 1] + rng.normal(0.0, 0.05, DEFAULT_ROWS)
    figures: dict[str, Any] = {"rows": DEFAULT_ROWS, "charged": charged}
    found: set[str] = set()
    for name, device in (("gpu", "cuda"), ("cpu", "cpu")):
        model = SymbolicRegressor(device=device, max_evals=charged, max_time=None, random_state=0, n_jobs=1)
        before = time.perf_counter()
        model.fit(X, y)
        figures[f"{name}_seconds_in_all"] = time.perf_counter() - before
        moments = model._histories[0]
        figures[f"{name}_seconds"] = next(each.seconds for each in moments if each.formula == moments[-1].formula)
        found.add(str(model.equations_[["equation", "loss"]].to_json(double_precision=15)))
    return {**figures, "same_answer": len(found) == 1}


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
    driver, rounds, blocks, threads = device.driver, 1 << 16, 132 * 16, 256
    capability = device.facts.capability
    image = nvrtc.build((*compiler.OPTIONS, f"-arch=sm_{capability}"), "CUBIN", PEAK)
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


def measure_phases(device: Device, threads: int) -> Iterator[dict[str, Any]]:
    """Give the seconds of each part of a call; a launch is waited for here, so that it is known whose time it is."""
    for rows in ROWS[:1] + ROWS[2:3]:
        data, population = expressions.make_dataset(rows, expressions.VARIABLES), drawn(rows)
        backend = CudaBackend(data, device=lambda: device, least_work=0)
        with Phases(device) as phases:
            for _ in range(3):
                phases.clear()
                before = time.perf_counter()
                backend.errors(population, threads=threads)
                phases.add("whole", time.perf_counter() - before)
        yield {f"errors of {len(population)} at {rows} rows": phases.seconds}
    data, population = expressions.make_dataset(FIT_ROWS, expressions.VARIABLES), drawn_to_fit(FITS)
    backend = CudaBackend(data, device=lambda: device, least_work=0)
    with Phases(device) as phases:
        for _ in range(2):
            phases.clear()
            before = time.perf_counter()
            backend.fit(population, iterations=30, threads=threads)
            phases.add("whole", time.perf_counter() - before)
    yield {f"fits of {len(population)} at {FIT_ROWS} rows": phases.seconds}


class Phases:
    """Seconds by what takes them: calls of the device, of the core, and launches by kernel; a context."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._core = {name: getattr(_core, name) for name in ("programs", "Fittings")}
        self.seconds: dict[str, float] = {}

    def clear(self) -> None:
        """Begin anew."""
        self.seconds.clear()

    def add(self, name: str, seconds: float) -> None:
        """Add to what something has taken."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def __enter__(self) -> Phases:
        """Begin to time."""
        device = self._device
        for name in ("write", "read", "fill", "launch"):
            setattr(device, name, self._timed(name, getattr(device, name), waits=name == "launch"))
        _core.programs = self._timed("programs", _core.programs)
        phases, real = self, self._core["Fittings"]

        class Fittings:
            def __init__(self, *arguments: Any, **options: Any) -> None:
                self._inner = phases._timed("fits: begin", real)(*arguments, **options)

            def __getattr__(self, name: str) -> Any:
                return phases._timed(f"fits: {name}", getattr(self._inner, name))

        setattr(_core, "Fittings", Fittings)  # noqa: B010 - a class, in the eyes of a type checker
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        for name in ("write", "read", "fill", "launch"):
            delattr(self._device, name)
        for name, value in self._core.items():
            setattr(_core, name, value)

    def _timed(self, name: str, call: Callable[..., Any], *, waits: bool = False) -> Callable[..., Any]:
        def timed_call(*arguments: Any, **options: Any) -> Any:
            before = time.perf_counter()
            answer = call(*arguments, **options)
            if waits:
                self._device.wait()
            self.add(str(arguments[0]) if waits else name, time.perf_counter() - before)
            return answer

        return timed_call


def measure_variants(rounds: int, threads: int) -> Iterator[dict[str, float]]:
    """Time kernels that are compiled for other numbers of points per thread, and of blocks per multiprocessor."""
    driver = compile_variants(threads)
    for points, resident in VARIANTS:
        device = Device(driver, points=points, options=_bound(resident))
        name = f"{points} points, {resident} blocks" + (" (used)" if (points, resident) == _USED else "")
        for rows in (ROWS[0], ROWS[2]):
            data, population = expressions.make_dataset(rows, expressions.VARIABLES), drawn(rows)
            with device.lock:
                device.enter()
                programs = Programs(device, Samples(device, data), population, threads=threads)
                seconds = kernel_seconds(device, programs, np.arange(len(population), dtype=np.uint32), rounds)
            yield {f"{name}, {rows} rows": int(population.lengths.sum()) * rows / seconds}
        device.forget()


def compile_variants(threads: int) -> Driver:
    """Compile all variants into the cache, and return the driver."""
    driver = Driver(LIBRARY)
    driver.count()
    capability = find_facts().capability
    with ThreadPoolExecutor(threads) as pool:  # the compiler works outside Python's lock
        for points, resident in VARIANTS:
            pool.submit(compiler.image, driver.version, capability, (f"-DSYMSEED_POINTS={points}", *_bound(resident)))
    return driver


def _bound(resident: int) -> list[str]:
    return [f"-DSYMSEED_RESIDENT={resident}"] if resident != _USED[1] else []


if __name__ == "__main__":
    main()
