"""A CUDA device gives the core's bits: by an emulation of the kernels' source everywhere, by a device if found."""

from __future__ import annotations

import contextlib
import functools
import gc
import math
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from emulator import Emulator, build
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strategies import populations
from symseed import (
    Budget,
    Counts,
    Dataset,
    Expression,
    Failure,
    FitSettings,
    Library,
    Population,
    RegressionSettings,
    RegressionTask,
    SearchSettings,
    SearchSpace,
    SettingsError,
    SymbolicRegressor,
    evaluate,
    predict,
    search,
)
from symseed.arrays import Floats
from symseed.cuda import CudaBackend, DeviceFacts, DeviceMissingError, Diagnosis, check, compiler
from symseed.cuda.compiler import Compiler
from symseed.cuda.device import KERNELS, Buffer, Device, first_device
from symseed.cuda.driver import Driver
from symseed.cuda.faults import DeviceMemoryFault
from symseed.cuda.programs import Programs
from symseed.cuda.resident import BLOCK, Samples
from symseed.data.backend import Errors, FitMethod, FitSteps, Validity
from symseed.data.losses import Loss
from symseed.language.tokens import OPERATORS
from symseed.regressor.settings import Settings

EVERY = Library.of([*OPERATORS, 0.5, -3.0, 1e200], 3, constants=True)
STEPS = FitSteps(iterations=6, restarts=1, seed=3)


def dataset(count: int, seed: int = 0, columns: int = 3, size: float = 3.0) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-size, size, (count, columns))
    return Dataset.of(X, rng.normal(size=count), rng.integers(0, 3, count) + (np.arange(count) == 0))


def drawn(count: int, seed: int, library: Library = EVERY, length: int = 25) -> Population:
    """Random rows over every operator, with constants of many sizes."""
    rows = SearchSpace(library, max_length=length).sample(count, seed=seed)
    rng = np.random.default_rng(seed)
    values = rng.normal(size=rows.constants.shape) * rng.choice([0.1, 1.0, 1e3, 1e9], rows.constants.shape)
    return rows.with_constants(np.where(np.isnan(rows.constants), np.nan, values))


def at_edges(operator: str) -> Population:
    """An operator of numbers at the edges of its range."""
    edges = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-320, -1e-300, 1e-30, 709.5, -745.0, 2.0**21, 1e22, 1e308, -1e308]
    library = Library.of([operator], 0, constants=True)
    pairs = np.array([(a, b) for a in edges for b in edges] if library[0].arity == 2 else [(a,) for a in edges])
    tokens = np.array([[0, *[1] * library[0].arity]] * len(pairs))
    lengths = np.full(len(pairs), tokens.shape[1])
    constants = np.column_stack([np.full(len(pairs), np.nan), pairs])
    return Population.of(library, tokens, lengths, np.where(np.isnan(constants), 1.0, constants))


def on(device: Device) -> Callable[[Dataset], CudaBackend]:
    return lambda data: CudaBackend(data, device=lambda: device, least_work=0)


def same(found: Errors, expected: Errors) -> None:
    assert found.error.tobytes() == expected.error.tobytes()
    np.testing.assert_array_equal(found.failure, expected.failure)
    np.testing.assert_array_equal(found.position, expected.position)


def check_bits(device: Device, rows: Population, data: Dataset) -> None:
    """Errors, values, fitted constants, and where and why rows fail: all of them the core's."""
    twin, core = on(device)(data), data.backend
    same(twin.errors(rows), core.errors(rows))
    found, expected = twin.predict(rows), core.predict(rows)
    assert found.value.tobytes() == expected.value.tobytes()
    np.testing.assert_array_equal(found.position, expected.position)
    (twin_rows, twin_errors), (core_rows, core_errors) = (each.fit(rows, **STEPS._asdict()) for each in (twin, core))
    assert twin_rows.constants.tobytes() == core_rows.constants.tobytes()
    same(twin_errors, core_errors)


def same_search(device: Device) -> None:
    """A seeded search has one answer."""
    library = Library.of(["add", "mul", "sub", "div", "sin", "exp", "log"], 2, constants=True)
    rng = np.random.default_rng(1)
    X = rng.uniform(0.5, 2.0, (600, 2))
    core = Dataset.of(X, 2.5 * X[:, 0] * np.sin(X[:, 1]) + 0.3)

    def found(data: Dataset) -> tuple[str, float, Counts]:
        task = RegressionTask(library, data, RegressionSettings(fit=FitSettings(iterations=5)))
        space = SearchSpace(library, max_length=12)
        result = search.run(space, task, SearchSettings(batch=60), seed=0, budget=Budget(expressions=1500))
        assert result.best is not None
        return str(result.best), result.reward, task.counts

    assert found(core.with_backend(on(device))) == found(core)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Emulator:
    return build(tmp_path_factory.mktemp("emulator"))


@pytest.fixture
def emulator(built: Emulator) -> Iterator[Emulator]:
    """The device with all its memory, for one test."""
    gc.collect()  # memory of earlier tests, which would become free at any time
    built.set()
    yield built
    built.set()


# --- The same bits ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 8, 255, 257, 1500])
def test_every_operator_has_the_cores_bits(emulator: Emulator, count: int) -> None:
    rows = drawn(250, seed=count)
    used = {token for tokens, length in zip(rows.tokens, rows.lengths, strict=True) for token in tokens[:length]}
    assert len(used) > 0.9 * len(EVERY)
    check_bits(emulator.device(), rows, dataset(count, seed=count))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=populations(max_rows=6), seed=st.integers(0, 9), size=st.sampled_from([1e-200, 1.0, 40.0, 1e150]))
def test_any_library_has_the_cores_bits(emulator: Emulator, rows: Population, seed: int, size: float) -> None:
    check_bits(emulator.device(), rows, dataset(20, seed, columns=len(rows.library.variables) or 1, size=size))


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_operator_has_the_cores_bits_at_its_edges(emulator: Emulator, operator: str) -> None:
    check_bits(emulator.device(), at_edges(operator), dataset(1, columns=1))


def test_a_row_that_fails_late_fails_alike(emulator: Emulator) -> None:
    X = np.linspace(1.0, 2.0, 20 * BLOCK)[:, None].copy()
    X[17 * BLOCK + 5] = -1.0
    X[18 * BLOCK + 3] = -2.0
    data = Dataset.of(X, X[:, 0])
    library = Library.of(["log", "sqrt", "add", "inv", "square"], 1)
    texts = ["log(sqrt(x1))", "add(log(x1), x1)", "inv(add(x1, square(x1)))", "square(x1)"]
    rows = Population.from_expressions([Expression.parse(text, library) for text in texts])
    found = on(emulator.device())(data).errors(rows)
    same(found, data.backend.errors(rows))
    assert [Failure(code) for code in found.failure] == [
        *(Failure.INVALID, Failure.INVALID, Failure.DIVIDE_BY_ZERO, Failure.NONE)
    ]


def test_an_error_that_overflows_fails_alike(emulator: Emulator) -> None:
    data = Dataset.of(np.full((300, 1), 1e200), np.zeros(300))
    rows = Population.from_expressions([Expression.parse("x1 * 2.0", Library.of(["mul"], 1, constants=True))])
    found = on(emulator.device())(data).errors(rows)
    same(found, data.backend.errors(rows))
    assert found.failure[0] == Failure.LOSS_OVERFLOW


def test_linearisations_are_the_cores(emulator: Emulator) -> None:
    data = dataset(700)
    for seed in range(20):
        row = drawn(1, seed)
        twin, core = on(emulator.device())(data).linearise(row), data.backend.linearise(row)
        for name in ("error", "gradient", "curvature"):
            assert np.asarray(getattr(twin, name)).tobytes() == np.asarray(getattr(core, name)).tobytes(), seed


def test_a_seeded_search_is_the_same_on_a_device(emulator: Emulator) -> None:
    same_search(emulator.device())


# --- What a device cannot compute, and how its memory is used --------------------------------------------------------


def test_rows_that_a_device_cannot_compute_are_the_cores(emulator: Emulator) -> None:
    def walk(a: Floats) -> Floats:
        return np.array([math.cos(value) for value in a])

    library = Library.of(["add", "mul", "sin", walk], 2, constants=True)
    texts = ["x1 + x2", "walk(x1) * 2.0", "sin(x1)", "sin(1.0)"]
    rows = Population.from_expressions([Expression.parse(text, library) for text in texts])
    values = rows.constants.copy()
    values[3, np.isfinite(values[3])] = np.inf
    rows = rows.with_constants(values)
    device = emulator.device()
    data = dataset(40, columns=2)
    assert Programs(device, Samples(device, data), rows).is_possible.tolist() == [True, False, True, False]
    check_bits(device, rows, data)
    check_bits(device, rows.take(np.array([1, 3])), data)


@pytest.mark.parametrize(
    ("validity", "loss"), [(Validity.FLAGS, None), (Validity.ANSWER, None), (Validity.VALUES, "absolute")]
)
def test_other_rules_of_validity_and_other_losses_are_the_cores(
    emulator: Emulator, validity: Validity, loss: str | None
) -> None:
    data = dataset(300).with_loss(None if loss is None else Loss.of(loss))
    rows = drawn(50, 1)
    twin = on(emulator.device())(data)
    same(twin.errors(rows, validity=validity), evaluate(rows, data, validity=validity))
    assert (
        twin.predict(rows, validity=validity).value.tobytes() == predict(rows, data, validity=validity).value.tobytes()
    )


def test_long_rows_with_deep_stacks_have_the_cores_bits(emulator: Emulator) -> None:
    library = Library.of(["add", "sin"], 1, constants=True)
    deep = "x1"
    for _ in range(300):
        deep = f"sin({deep[:1]}1) + (sin(2.0) + 1.0)" if deep == "x" else f"add(sin(x1), {deep})"
    rows = Population.from_expressions(
        [Expression.parse(text, library) for text in (deep, "sin(x1) + 2.0", "+".join(["sin(x1)"] * 280))]
    )
    check_bits(emulator.device(), rows, dataset(300, columns=1))


def test_samples_beyond_the_memory_pass_part_by_part(emulator: Emulator) -> None:
    device, data, rows = emulator.device(), dataset(90 * BLOCK + 3), drawn(30, 2)
    samples = Samples(device, data, most_bytes=64 * 5 * BLOCK * 8)
    assert not samples.is_resident
    programs = Programs(device, samples, rows, pairs=30 * 7)
    chosen = np.flatnonzero(programs.is_possible).astype(np.uint32)
    same(programs.errors(chosen), data.backend.errors(rows.take(chosen)))
    assert programs.predictions(chosen).value.tobytes() == data.backend.predict(rows.take(chosen)).value.tobytes()


def test_another_method_of_fitting_is_the_cores(emulator: Emulator) -> None:
    data, rows = dataset(60), drawn(20, 1)
    twin, core = (
        each.fit(rows, iterations=5, method=FitMethod.BFGS_FROM_ONES)
        for each in (on(emulator.device())(data), data.backend)
    )
    assert twin[0].constants.tobytes() == core[0].constants.tobytes()


def test_a_scorer_computes_each_row_once_and_keeps_its_constants(emulator: Emulator) -> None:
    data, rows = dataset(50), drawn(80, 5)
    rows = rows.take(np.concatenate([np.arange(80), np.arange(40)]))
    for fits in (None, STEPS):
        twin, core = (
            backend.scorer(cache_bytes=1 << 20, cached_constants=8, fit=fits)
            for backend in (on(emulator.device())(data), data.backend)
        )
        for asked in (rows, rows.take(np.arange(30))):
            found, expected = twin.score(asked), core.score(asked)
            same(found.errors, expected.errors)
            assert found.population.constants.tobytes() == expected.population.constants.tobytes()
            np.testing.assert_array_equal(found.is_computed, expected.is_computed)
        assert twin.counts == core.counts == (150, 80, 80)


def test_memory_goes_back_with_its_backend(emulator: Emulator) -> None:
    before = emulator.held
    device = emulator.device()
    backend = on(device)(dataset(300))
    backend.errors(drawn(20, 1))
    assert emulator.held > before
    del backend
    device.forget()
    assert emulator.held == before


def test_little_work_does_not_open_the_device() -> None:
    def refuse() -> Device:
        raise AssertionError("a call of a few tokens and samples opened the device")

    data = dataset(10)
    same(CudaBackend(data, device=refuse).errors(drawn(5, 1)), evaluate(drawn(5, 1), data))


# --- Faults ----------------------------------------------------------------------------------------------------------


def test_short_memory_makes_smaller_launches(emulator: Emulator) -> None:
    data, rows = dataset(100 * BLOCK), drawn(60, 1)
    backend = on(emulator.device())(data)
    emulator.set(memory=emulator.held + 3_000_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(backend.errors(rows), data.backend.errors(rows))


def test_too_little_memory_is_said_once_and_the_processor_computes(emulator: Emulator) -> None:
    data, rows = dataset(3000), drawn(60, 1)
    backend = on(emulator.device())(data)
    emulator.set(memory=emulator.held + 1000)
    with pytest.warns(UserWarning, match=r"too little free memory.* The processor computes on"):
        found = backend.errors(rows)
    same(found, data.backend.errors(rows))
    same(backend.errors(rows), data.backend.errors(rows))  # a second warning would be an error


@pytest.mark.parametrize("launches", [1, 4, 20])
def test_a_device_that_disappears_is_said_once_and_the_fit_goes_on(emulator: Emulator, launches: int) -> None:
    data, rows = dataset(400), drawn(60, 1)
    backend = on(emulator.device())(data)
    emulator.set(launches=launches)
    with pytest.warns(UserWarning, match=r"failed or is gone .* The processor computes on"):
        fitted, errors = backend.fit(rows, **STEPS._asdict())
    same(backend.errors(fitted), errors)  # a second warning would be an error
    assert fitted.constants.tobytes() == data.backend.fit(rows, **STEPS._asdict())[0].constants.tobytes()


def test_a_signal_ends_a_launch_within_a_second(emulator: Emulator) -> None:
    data, rows = dataset(400), drawn(20, 1)
    backend = on(emulator.device())(data)

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    emulator.set(busy=True)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            backend.errors(rows)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 1.0
    emulator.set()
    same(backend.errors(rows), data.backend.errors(rows))


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({"devices": 0}, "finds no GPU"),
        ({"devices": -1}, r"cannot be used in this process \(cuInit gave error 3\).* not by `fork`"),
        ({"version": 11040}, r"for CUDA 11\.4, but must be for 12\.0 or newer"),
    ],
)
def test_what_is_missing_is_said(emulator: Emulator, state: dict[str, Any], sentence: str) -> None:
    emulator.set(**state)
    with pytest.raises(DeviceMissingError, match=sentence):
        emulator.device()


def test_a_driver_that_is_missing_or_too_old_is_said(tmp_path: Path) -> None:
    with pytest.raises(DeviceMissingError, match="No NVIDIA driver was found"):
        Driver("libno-such-driver.so.1")
    with pytest.raises(DeviceMissingError, match="too old: it has no function cuInit"):
        Driver("libm.so.6")


def test_a_compiler_that_is_missing_or_too_new_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_paths", lambda: iter(["libno-such-compiler.so"]))
    with pytest.raises(DeviceMissingError, match=r"was not found.* pip install 'symseed\[cuda\]'"):
        compiler.find(12040)


def test_a_fit_without_the_compiler_is_refused(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symseed.cuda.device.LIBRARY", emulator.library)
    monkeypatch.setattr(compiler, "_paths", lambda: iter([]))
    with pytest.raises(SettingsError, match="NVRTC, the compiler of the GPU's code, was not found"):
        Settings(device="cuda").plan().backend()


@pytest.mark.parametrize("device", ["cuda", "gpu"])
def test_a_setting_that_cannot_be_met_is_said_before_the_fit(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symseed.cuda.device.LIBRARY", "libno-such-driver.so.1")
    sentence = "No NVIDIA driver was found" if device == "cuda" else "must be one of auto, cpu, cuda"
    with pytest.raises(SettingsError, match=sentence):
        SymbolicRegressor(device=device).fit([[1.0], [2.0]], [1.0, 2.0])


def test_auto_without_a_gpu_is_the_processor_and_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symseed.cuda.device.LIBRARY", "libno-such-driver.so.1")
    assert Settings(device="auto").plan().backend() is None


def test_a_fit_by_the_estimator_is_the_same_on_a_device(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).uniform(0.5, 2.0, (40, 2))
    y = 2.5 * X[:, 0] * np.sin(X[:, 1]) + 0.3

    def front(device: str) -> str:
        one = SymbolicRegressor(
            device=device, method="nggp", constants=True, max_evals=1200, max_time=None, random_state=0, n_jobs=1
        ).fit(X, y)
        return str(one.equations_[["equation", "loss"]].to_json(double_precision=15))

    asked = 0
    opened = emulator.device()

    def open_device() -> Device:
        nonlocal asked
        asked += 1
        return opened

    monkeypatch.setattr("symseed.cuda.device.LIBRARY", emulator.library)
    monkeypatch.setattr(compiler, "find", lambda newest: None)  # nothing is compiled for the emulation
    made = functools.partial(CudaBackend, device=open_device, least_work=0)
    monkeypatch.setattr("symseed.cuda.CudaBackend", made)
    assert front("cuda") == front("cpu")
    assert asked > 10


def test_a_run_begun_on_a_device_ends_alike_without_one(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    X = np.random.default_rng(0).uniform(0.5, 2.0, (40, 2))
    y = 2.5 * X[:, 0] * np.sin(X[:, 1]) + np.random.default_rng(1).normal(0.0, 0.1, 40)
    settings: dict[str, Any] = {"max_time": None, "random_state": 0, "n_jobs": 1}
    opened = emulator.device()
    monkeypatch.setattr("symseed.cuda.device.LIBRARY", emulator.library)
    monkeypatch.setattr(compiler, "find", lambda newest: None)  # nothing is compiled for the emulation
    made = functools.partial(CudaBackend, device=lambda: opened, least_work=2000)
    monkeypatch.setattr("symseed.cuda.CudaBackend", made)
    SymbolicRegressor(device="cuda", max_evals=1000, output_directory=tmp_path / "run", **settings).fit(X, y)
    monkeypatch.setattr("symseed.cuda.device.LIBRARY", "libno-such-driver.so.1")
    (folder,) = {path.parent for path in (tmp_path / "run").rglob("config.toml")}
    with pytest.raises(DeviceMissingError, match="set device=cpu"):
        SymbolicRegressor.resume(folder, max_evals=2500)
    resumed = SymbolicRegressor.resume(folder, max_evals=2500, device="cpu")
    alone = SymbolicRegressor(max_evals=2500, **settings).fit(X, y)
    pd.testing.assert_frame_equal(resumed.equations_[["equation", "loss"]], alone.equations_[["equation", "loss"]])


def test_nothing_of_a_gpu_is_loaded_for_the_processor() -> None:
    program = (
        "import sys; from symseed.regressor.settings import Settings;"
        "assert Settings().plan().backend() is None;"
        "print([name for name in sys.modules if 'symseed.cuda' in name])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_check_says_what_a_device_does_wrong(emulator: Emulator) -> None:
    rows, data = Population.from_expressions([Expression.parse("sin(x1) * x2", EVERY)]), dataset(40)
    opened = emulator.device()
    facts = DeviceFacts("emulated", 1 << 30, 90, "12.4")
    assert check(rows, data, facts=lambda: facts, device=lambda: opened) == Diagnosis(facts, None)
    emulator.set(launches=1)
    found = check(rows, data, facts=lambda: facts, device=lambda: opened)
    assert found.facts == facts
    assert "failed or is gone" in str(found.problem)


# --- The compiler, where it is installed -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nvrtc() -> Compiler:
    try:
        return compiler.find(1_000_000)
    except DeviceMissingError as missing:
        pytest.skip(str(missing))


def test_the_compiled_kernels_fuse_nothing_but_in_divisions(nvrtc: Compiler) -> None:
    text = nvrtc.ptx(90)
    for kernel in KERNELS:
        assert f".entry {kernel}(" in text
    assert "mul.rn.f64" in text
    assert not re.search(r"\b(add|sub|mul)\.f64", text)  # without `.rn`, the driver may fuse them
    divisions = len(re.findall(r"\brcp\.approx\.ftz\.f64", text))
    assert len(re.findall(r"\bfma\.rn\.f64", text)) == 7 * divisions > 0  # those of `near_quotient`
    assert not re.search(r"\bmad\.\S*f64|(?<!rcp)\.approx|\bftz\.f32", text)


def test_compiled_code_is_kept_and_a_damaged_file_is_compiled_anew(
    nvrtc: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    def compiled(*arguments: object) -> bytes:
        nonlocal asked
        asked += 1
        return b"code"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(Compiler, "compile", compiled)
    for _ in range(2):
        assert compiler.image(nvrtc.version, 90) == b"code"
    assert asked == 1
    (kept,) = compiler.cache_folder().iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    assert compiler.image(nvrtc.version, 90) == b"code"
    assert asked == 2


# --- A device, where there is one ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gpu() -> Device:
    try:
        return first_device()
    except DeviceMissingError as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("count", [20, 1000, 100_003])
def test_a_gpu_has_the_cores_bits(gpu: Device, count: int) -> None:
    check_bits(gpu, drawn(400, seed=count), dataset(count))


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_operator_of_a_gpu_has_the_cores_bits_at_its_edges(gpu: Device, operator: str) -> None:
    check_bits(gpu, at_edges(operator), dataset(1, columns=1))


def test_ten_million_samples_on_a_gpu_have_the_cores_bits(gpu: Device) -> None:
    data, rows = dataset(10_000_003), drawn(20, 4)
    same(on(gpu)(data).errors(rows), evaluate(rows, data, threads=8))


def test_a_seeded_search_is_the_same_on_a_gpu(gpu: Device) -> None:
    same_search(gpu)


@pytest.fixture
def fill(gpu: Device) -> Iterator[Callable[[int], None]]:
    """Take the GPU's memory, but for so many bytes, until the test is over."""
    held: list[Buffer] = []

    def take(left: int) -> None:
        gpu.enter()
        gpu.forget()
        for size in (1 << power for power in range(37, 19, -1)):
            with contextlib.suppress(DeviceMemoryFault):
                while gpu.free_bytes() >= left + size:
                    held.append(Buffer(gpu, size))

    yield take
    for each in held:
        each.free()


def test_samples_beyond_the_memory_of_a_gpu_pass_part_by_part(gpu: Device, fill: Callable[[int], None]) -> None:
    data, rows = dataset(2_000_003), drawn(20, 2)
    backend = on(gpu)(data)
    fill(96 << 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(backend.errors(rows), evaluate(rows, data, threads=8))
    assert backend._samples is not None
    assert not backend._samples.is_resident


def test_a_full_gpu_is_said_once_and_the_processor_computes(gpu: Device, fill: Callable[[int], None]) -> None:
    data, rows = dataset(300_003), drawn(20, 2)
    fill(0)
    with pytest.warns(UserWarning, match=r"too little free memory.* The processor computes on"):
        found = on(gpu)(data).errors(rows)
    same(found, evaluate(rows, data))


_TWIN = """
import sys
import numpy as np
from symseed import Dataset, Library, SearchSpace
from symseed.cuda import CudaBackend
rng = np.random.default_rng(0)
data = Dataset.of(rng.uniform(1, 2, ({samples}, 2)), rng.normal(size={samples}))
rows = SearchSpace(Library.of(["add", "mul", "sin", "exp"], 2), max_length=20).sample({rows}, seed=1)
twin = CudaBackend(data, least_work=0)
twin.errors(rows.take(np.arange(10)))
print("begun", flush=True)
for _ in range({times}):
    found = twin.errors(rows)
assert found.error.tobytes() == data.backend.errors(rows, threads=4).error.tobytes()
print("equal", flush=True)
"""


def test_processes_share_a_gpu(gpu: Device) -> None:
    program = _TWIN.format(samples=100_003, rows=300, times=20)
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    twins = [subprocess.Popen([sys.executable, "-W", "error", "-c", program], **options) for _ in range(3)]
    for twin in twins:
        out, err = twin.communicate(timeout=100)
        assert out == "begun\nequal\n", err


def test_ctrl_c_ends_the_work_of_a_gpu_within_a_second(gpu: Device) -> None:
    program = _TWIN.format(samples=1_000_003, rows=20_000, times=1_000)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as twin:
        assert twin.stdout is not None
        assert twin.stdout.readline() == "begun\n"
        time.sleep(1.0)
        began = time.monotonic()
        twin.send_signal(signal.SIGINT)
        _, err = twin.communicate(timeout=60)
    # Of this, the end of the process and of its context are part.
    assert time.monotonic() - began < 3.0
    assert "KeyboardInterrupt" in err


def test_a_forked_process_computes_without_the_gpu(gpu: Device) -> None:
    data, rows = dataset(5_000), drawn(30, 3)
    backend = on(gpu)(data)
    expected = backend.errors(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python: the process has threads
        child = os.fork()
    if child == 0:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = backend.errors(rows)
        os._exit(0 if found.error.tobytes() == expected.error.tobytes() and backend._is_lost else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    same(backend.errors(rows), expected)


_FIT = """
import numpy as np
from symseed import SymbolicRegressor
rng = np.random.default_rng(0)
X = rng.uniform(0.5, 2.0, (9_000, 2))
y = 2.5 * X[:, 0] * np.sin(X[:, 1]) + rng.normal(0.0, 0.1, 9_000)
model = SymbolicRegressor(
    device={device!r}, max_evals=3_000, max_time=None, random_state=0, n_jobs=1, output_directory={folder!r}
).fit(X, y)
print(model.equations_[["equation", "loss"]].to_json(double_precision=15))
"""


def test_a_run_killed_on_a_gpu_ends_alike_on_the_processor(gpu: Device, tmp_path: Path) -> None:
    begun, alone = tmp_path / "begun", tmp_path / "alone"
    with subprocess.Popen([sys.executable, "-c", _FIT.format(device="cuda", folder=str(begun))]) as twin:
        end = time.monotonic() + 60
        while not list(begun.rglob("checkpoint/*")) and twin.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        twin.kill()
    (folder,) = {path.parent for path in begun.rglob("config.toml")}
    resumed = SymbolicRegressor.resume(folder, device="cpu")
    program = _FIT.format(device="cpu", folder=str(alone))
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert resumed.equations_[["equation", "loss"]].to_json(double_precision=15) == done.stdout.strip()
