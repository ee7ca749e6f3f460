"""The CUDA driver by its C interface: the calls that are used, and faults in place of its error codes.

The driver is a library that comes with the graphics driver; nothing is linked, and nothing is loaded before a device is
asked for.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import c_char_p, c_int, c_size_t, c_uint, c_void_p
from typing import Any

from symseed.cuda.faults import DeviceFault, DeviceMemoryFault, DeviceMissingError

LIBRARY = "libcuda.so.1"
OLDEST = 12_000
"""Oldest driver: that of CUDA 12.0, in the driver's own counting. Later compilers' code runs on it (minor-version
compatibility), but not on older ones."""

_OUT_OF_MEMORY, _NO_DEVICE, _NOT_READY = 2, 100, 600
_ULONG, _POINTER = ctypes.c_uint64, ctypes.POINTER

_CALLS: dict[str, list[Any]] = {
    "cuInit": [c_uint],
    "cuDriverGetVersion": [_POINTER(c_int)],
    "cuDeviceGetCount": [_POINTER(c_int)],
    "cuDeviceGet": [_POINTER(c_int), c_int],
    "cuDeviceGetName": [c_char_p, c_int, c_int],
    "cuDeviceTotalMem_v2": [_POINTER(c_size_t), c_int],
    "cuDeviceGetAttribute": [_POINTER(c_int), c_int, c_int],
    "cuDevicePrimaryCtxRetain": [_POINTER(c_void_p), c_int],
    "cuCtxSetCurrent": [c_void_p],
    "cuMemGetInfo_v2": [_POINTER(c_size_t), _POINTER(c_size_t)],
    "cuMemAlloc_v2": [_POINTER(_ULONG), c_size_t],
    "cuMemFree_v2": [_ULONG],
    "cuMemAllocHost_v2": [_POINTER(c_void_p), c_size_t],
    "cuMemFreeHost": [c_void_p],
    "cuMemcpyHtoD_v2": [_ULONG, c_void_p, c_size_t],
    "cuMemcpyDtoH_v2": [c_void_p, _ULONG, c_size_t],
    "cuMemsetD8_v2": [_ULONG, ctypes.c_ubyte, c_size_t],
    "cuModuleLoadData": [_POINTER(c_void_p), c_char_p],
    "cuModuleGetFunction": [_POINTER(c_void_p), c_void_p, c_char_p],
    "cuFuncSetAttribute": [c_void_p, c_int, c_int],
    "cuLaunchKernel": [c_void_p, *[c_uint] * 7, c_void_p, _POINTER(c_void_p), c_void_p],
    "cuStreamQuery": [c_void_p],
}


class Driver:
    """The driver's functions: `driver.cuInit(0)` returns nothing, and raises a fault if the call fails."""

    def __init__(self, library: str = LIBRARY) -> None:
        """Load the driver.

        Raises:
            DeviceMissingError: if there is none, or it is too old.
        """
        if not sys.platform.startswith("linux"):
            raise DeviceMissingError(f"A GPU is used on Linux only, and this system is {sys.platform}. Set device=cpu.")
        try:
            self._library = ctypes.CDLL(library)
        except OSError:
            raise DeviceMissingError(
                f"No NVIDIA driver was found (no library {library}). Install the driver of the GPU, or set device=cpu."
            ) from None
        for name, arguments in _CALLS.items():
            try:
                function = getattr(self._library, name)
            except AttributeError:
                raise DeviceMissingError(
                    f"The NVIDIA driver is too old: it has no function {name}. Install one for CUDA 12.0 or newer, or "
                    "set device=cpu."
                ) from None
            function.argtypes, function.restype = arguments, c_int
        version = c_int()
        self.cuDriverGetVersion(ctypes.byref(version))
        self.version = version.value
        if self.version < OLDEST:
            raise DeviceMissingError(
                f"The NVIDIA driver is for CUDA {text_of(self.version)}, but must be for {text_of(OLDEST)} or newer. "
                "Install a newer driver, or set device=cpu."
            )

    def __getattr__(self, name: str) -> Any:
        """Return a call that raises a fault instead of returning an error code."""
        if name not in _CALLS:
            raise AttributeError(name)
        function = getattr(self._library, name)

        def call(*arguments: Any) -> None:
            code = function(*arguments)
            if code:
                raise _fault(name, code)

        setattr(self, name, call)
        return call

    def is_idle(self) -> bool:
        """Whether all that was launched is done."""
        code = self._library.cuStreamQuery(None)
        if code == _NOT_READY:
            return False
        if code:
            raise _fault("cuStreamQuery", code)
        return True

    def count(self) -> int:
        """Start the driver, and return the number of devices.

        Raises:
            DeviceMissingError: if the driver cannot start, as in a process that was forked from one that used it.
        """
        code = self._library.cuInit(0)
        if code == _NO_DEVICE:
            return 0
        if code:
            raise DeviceMissingError(
                f"The NVIDIA driver cannot be used in this process (cuInit gave error {code}). Set device=cpu, or "
                "start processes by `spawn`, not by `fork`."
            )
        count = c_int()
        self.cuDeviceGetCount(ctypes.byref(count))
        return count.value


def text_of(version: int) -> str:
    """Return a version of CUDA as text: 12040 is 12.4."""
    return f"{version // 1000}.{version % 1000 // 10}"


def _fault(name: str, code: int) -> DeviceFault:
    if code == _OUT_OF_MEMORY:
        return DeviceMemoryFault("The GPU has too little free memory.")
    return DeviceFault(f"The GPU failed or is gone ({name} gave error {code}).")
