"""The hardware's limit: `bare.cpp`, compiled here and now for this very machine."""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from expressions import Workload
from symseed import _core
from symseed.arrays import Floats

_HERE = Path(__file__).resolve().parent
_COMMON = ("-std=c++20", "-O3", "-march=native", "-shared", "-fPIC", "-w")
_GROUP = 8
_LANES = {"avx512": 8, "avx2": 4}


class Bare:
    """The bare loop, with one kind of kernels and one number of points per block."""

    def __init__(self, workload: Workload, *, kernels: str, block: int) -> None:
        """Compile, and lay the data out in padded columns."""
        self._function = _compile(kernels)
        self._workload = workload
        self._block = block
        X = workload.dataset.X
        # Padding repeats the last point; it is computed and not summed.
        self._columns = _aligned(np.pad(X.T, ((0, 0), (0, -len(X) % _GROUP)), mode="edge"))
        self._target = _aligned(workload.dataset.y)
        self._error = np.empty(len(workload.population))

    def run(self) -> None:
        """Compute the sum of squared errors of every expression."""
        population = self._workload.population
        self._function(
            population.tokens.ctypes.data,
            population.lengths.ctypes.data,
            *population.tokens.shape,
            self._columns.ctypes.data,
            self._target.ctypes.data,
            len(self._target),
            self._columns.shape[1],
            self._block,
            self._error.ctypes.data,
        )

    def answers(self) -> Floats:
        """Return the errors, (N,)."""
        self.run()
        return self._error


@functools.cache
def _compile(kernels: str) -> Callable[..., Any]:
    """Compile one kind of kernels: "libmvec" or "own".

    Raises:
        RuntimeError: with what the compiler said.
    """
    compiler = os.environ.get("CXX", "c++")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"bare_{kernels}.so"
        command = [compiler, *_COMMON, *_flags(kernels), str(_HERE / "bare.cpp"), "-o", str(target)]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            raise RuntimeError(f"`{compiler}` did not compile bare.cpp: {said.splitlines()[0]}") from error
        function = ctypes.CDLL(str(target)).bare_errors
    pointer, number = ctypes.c_void_p, ctypes.c_long
    function.argtypes = [pointer, pointer, number, number, pointer, pointer, number, number, number, pointer]
    function.restype = None
    return function


def _flags(kernels: str) -> list[str]:
    best = _core.instruction_sets()[0]
    width = ["-mprefer-vector-width=512"] if best == "avx512" else []
    if kernels == "libmvec":
        return ["-ffast-math", *width]
    # The kernels round by adding and taking away a large number, which -ffast-math would leave out.
    return [
        "-DBARE_OWN_MATH",
        "-DSYMSEED_ISA=bare",
        f"-DSYMSEED_LANES={_LANES.get(best, 2)}",
        f"-I{_HERE.parent / 'src' / 'core'}",
        "-ffp-contract=fast",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-ffinite-math-only",
        "-fno-signed-zeros",
        *width,
    ]


def _aligned(array: Floats) -> Floats:
    """Copy an array to where no vector of eight values lies across two cache lines."""
    room = np.empty(array.size + _GROUP)
    start = -room.ctypes.data % (8 * _GROUP) // 8
    copy = room[start : start + array.size].reshape(array.shape)
    copy[...] = array
    return copy
