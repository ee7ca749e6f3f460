"""A device without one: the kernels' own source compiled for the processor, behind the interface of the CUDA driver."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from symseed import _core
from symseed.cuda.compiler import STANDARD
from symseed.cuda.device import Device
from symseed.cuda.driver import Driver

ENDLESS = 1 << 40


class Emulator:
    """The library, and what a test makes of the device."""

    def __init__(self, library: str) -> None:
        self.library = library
        self._functions = ctypes.CDLL(library)
        self._functions.emulator_held.restype = ctypes.c_size_t
        self._functions.emulator_set.argtypes = [
            *(ctypes.c_size_t, ctypes.c_long, ctypes.c_int, ctypes.c_int, ctypes.c_bool)
        ]
        self.set()

    def set(
        self, *, memory: int = ENDLESS, launches: int = -1, devices: int = 1, version: int = 12040, busy: bool = False
    ) -> None:
        """Make memory scarce, let the device disappear at a launch or never end one, or change what the driver says."""
        self._functions.emulator_set(memory, launches, devices, version, busy)

    @property
    def held(self) -> int:
        """Bytes that are allocated."""
        return int(self._functions.emulator_held())

    def device(self) -> Device:
        return Device(Driver(self.library), make_image=lambda version, capability, options: b"emulated")


def build(folder: Path) -> Emulator:
    """Compile it from the source that the core carries."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler was found, which the emulation of a device needs")
    for name, text in _core.kernel_sources().items():
        if name != STANDARD:
            (folder / name).write_text(text)
    library = folder / "libemulator.so"
    options = ["-std=c++20", "-O1", "-ffp-contract=off", "-shared", "-fPIC", f"-I{folder}"]
    driver = Path(__file__).parent / "driver.cpp"
    subprocess.run([compiler, *options, str(driver), "-o", str(library)], check=True, capture_output=True, text=True)
    return Emulator(str(library))
