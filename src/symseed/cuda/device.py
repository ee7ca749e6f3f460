"""One device of this process: its memory, its kernels, and launches that a signal can end.

A device is used by one thread at a time (`Device.lock`). Nothing of it survives a `fork`.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
import time
from collections.abc import Callable, Sequence
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from symseed.cuda import compiler
from symseed.cuda.driver import LIBRARY, Driver, text_of
from symseed.cuda.faults import DeviceFault, DeviceMemoryFault, DeviceMissingError

WARP = 32
POINTS = 4
"""Samples of a thread that go through an instruction together: chosen by hand, from the registers that they take."""
KERNELS = ("symseed_evaluate", "symseed_linearise", "symseed_add_blocks", "symseed_add_lanes", "symseed_keep_stops")

_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76
_SHARED_MEMORY_OF_BLOCK = 97
_MOST_DYNAMIC_SHARED_MEMORY = 8
_SHORTEST_NAP_SECONDS, _NAP_SECONDS = 0.00005, 0.0005
"""Shortest and longest sleep of a waiting thread. A sleep is at most a sixteenth of the time waited so far, which is
what it can waste; as a thread hardly wakes sooner than after the shortest one, it asks without sleep until then."""

_QUEUED = 4
"""Slices of the samples whose launches may wait in the queue: chosen by hand."""

Bytes: TypeAlias = npt.NDArray[Any]
MakeImage: TypeAlias = Callable[[int, int, Sequence[str]], bytes]
"""Gives the kernels' code for the driver's version, the device's compute capability, and options of the compiler."""


@dataclass(frozen=True)
class DeviceFacts:
    """What is known of a device."""

    name: str
    memory_bytes: int
    capability: int  # 90 is 9.0
    driver: str

    def __str__(self) -> str:
        """Return them as a line for users."""
        gigabytes, capability = self.memory_bytes / 2**30, self.capability / 10
        return f"{self.name}, {gigabytes:.0f} GiB, compute capability {capability:.1f}, driver for CUDA {self.driver}"


class Device:
    """A device with the kernels loaded.

    Buffers of a device are kept by name and grow: allocation waits for all work, so it is rare.
    """

    def __init__(
        self,
        driver: Driver,
        ordinal: int = 0,
        make_image: MakeImage = compiler.image,
        *,
        points: int = POINTS,
        options: Sequence[str] = (),
    ) -> None:
        """Start the device and load its kernels.

        Args:
            points: samples of a thread that go through an instruction together.
            options: further options of the compiler.

        Raises:
            DeviceMissingError: if it cannot be used.
        """
        count = driver.count()
        if ordinal >= count:
            raise DeviceMissingError(
                "The NVIDIA driver finds no GPU. Check `nvidia-smi` and CUDA_VISIBLE_DEVICES, or set device=cpu."
                if count == 0
                else f"There are {count} GPUs, so there is no GPU {ordinal}."
            )
        self.driver = driver
        self.points = points
        self.lock = threading.RLock()
        device = c_int()
        driver.cuDeviceGet(byref(device), ordinal)
        self.facts = _facts(driver, device)
        shared = c_int()
        driver.cuDeviceGetAttribute(byref(shared), _SHARED_MEMORY_OF_BLOCK, device)
        self.shared_bytes = shared.value
        """Most shared memory of a block of threads."""
        self._context = c_void_p()
        driver.cuDevicePrimaryCtxRetain(byref(self._context), device)
        self.enter()
        module = c_void_p()
        driver.cuModuleLoadData(
            byref(module), make_image(driver.version, self.facts.capability, (f"-DSYMSEED_POINTS={points}", *options))
        )
        self._kernels: dict[str, c_void_p] = {}
        for name in KERNELS:
            self._kernels[name] = c_void_p()
            driver.cuModuleGetFunction(byref(self._kernels[name]), module, name.encode())
            if "add" not in name and "keep" not in name:
                driver.cuFuncSetAttribute(self._kernels[name], _MOST_DYNAMIC_SHARED_MEMORY, self.shared_bytes)
        self._scratch: dict[str, Buffer] = {}
        self._host: dict[str, Bytes] = {}
        self._slices = 0

    def enter(self) -> None:
        """Make the device that of the calling thread; every use of it begins so."""
        self.driver.cuCtxSetCurrent(self._context)

    def free_bytes(self) -> int:
        """Return the free memory, whoever uses the rest."""
        free, total = c_size_t(), c_size_t()
        self.driver.cuMemGetInfo_v2(byref(free), byref(total))
        return free.value

    def scratch(self, name: str, size: int) -> int:
        """Return the address of at least `size` bytes, whose content the next use of their name may change."""
        held = self._scratch.get(name)
        if held is None or held.size < size:
            if held is not None:
                self.wait()
                del self._scratch[name]
                held.free()
            held = self._scratch[name] = Buffer(self, max(size, 256))
        return held.address

    def host(self, name: str, size: int) -> npt.NDArray[np.uint8]:
        """Return `size` bytes of the processor's memory, whose content the next use of their name may change.

        They are always at hand, and the device reads and writes them much faster than memory that may be moved.
        """
        held = self._host.get(name)
        if held is None or held.nbytes < size:
            held = self._host[name] = _pinned(self, max(2 * size, 1 << 16))
        return held[:size]

    def forget(self) -> None:
        """Free the buffers of `scratch`."""
        for held in self._scratch.values():
            held.free()
        self._scratch.clear()

    def write(self, address: int, values: Bytes) -> None:
        """Copy an array to the device."""
        flat = np.ascontiguousarray(values)
        self.driver.cuMemcpyHtoD_v2(address, flat.ctypes.data, flat.nbytes)

    def read(self, address: int, into: Bytes) -> None:
        """Copy from the device into an array, after all that was launched."""
        self.wait()
        self.driver.cuMemcpyDtoH_v2(into.ctypes.data, address, into.nbytes)

    def fill(self, address: int, value: int, size: int) -> None:
        """Set bytes."""
        self.driver.cuMemsetD8_v2(address, value, size)

    def launch(self, kernel: str, blocks: int, threads: int, shared: int, work: npt.NDArray[np.uint64]) -> None:
        """Start a kernel; `work` is its argument, a structure of eight-byte members."""
        arguments = (c_void_p * 1)(work.ctypes.data)
        self.driver.cuLaunchKernel(self._kernels[kernel], blocks, 1, 1, threads, 1, 1, shared, None, arguments, None)

    def wait_for_room(self) -> None:
        """Wait until few launches are left, so that a signal does not wait for many of them."""
        self._slices += 1
        if self._slices % _QUEUED == 0:
            self.wait()

    def wait(self) -> None:
        """Wait for all that was launched; Python handles signals meanwhile."""
        began = time.perf_counter()
        while not self.driver.is_idle():
            nap = min(_NAP_SECONDS, (time.perf_counter() - began) / 16)
            if nap >= _SHORTEST_NAP_SECONDS:
                time.sleep(nap)


class Buffer:
    """Memory of a device, freed with its owner."""

    def __init__(self, device: Device, size: int) -> None:
        """Allocate `size` bytes.

        Raises:
            DeviceMemoryFault: if they are not to be had.
        """
        self._device = device
        address = c_uint64()
        device.driver.cuMemAlloc_v2(byref(address), size)
        self.address, self.size = address.value, size

    def free(self) -> None:
        """Free the memory; a device that is gone has none."""
        if self.address:
            self._device.enter()
            self._device.driver.cuMemFree_v2(self.address)
            self.address = 0

    def __del__(self) -> None:
        """Free the memory with its owner."""
        with contextlib.suppress(DeviceFault, AttributeError):
            self.free()


class _Pinned:
    """Memory of the processor that stays where it is, freed with its owner."""

    def __init__(self, device: Device, size: int) -> None:
        self._device = device
        address = c_void_p()
        device.driver.cuMemAllocHost_v2(byref(address), size)
        self.address = address.value

    def __del__(self) -> None:
        if getattr(self, "address", None):
            with contextlib.suppress(DeviceFault, AttributeError):
                self._device.enter()
                self._device.driver.cuMemFreeHost(self.address)


def _pinned(device: Device, size: int) -> npt.NDArray[np.uint8]:
    """Memory for copies; any memory if the system gives out no more of that which stays where it is."""
    try:
        owner = _Pinned(device, size)
    except DeviceMemoryFault:
        return np.empty(size, dtype=np.uint8)
    assert owner.address is not None
    raw = (ctypes.c_uint8 * size).from_address(owner.address)
    raw.owner = owner  # type: ignore[attr-defined] # it lives as long as any array on this memory
    return np.frombuffer(memoryview(raw), dtype=np.uint8)


@functools.cache
def first_device() -> Device:
    """Return the first device, opened once per process.

    Raises:
        DeviceMissingError: if none can be used.
    """
    return Device(Driver(LIBRARY))


def find_facts() -> DeviceFacts:
    """Return what is known of the first device, without its kernels.

    Raises:
        DeviceMissingError: if there is none.
    """
    driver = Driver(LIBRARY)
    if driver.count() == 0:
        raise DeviceMissingError("The NVIDIA driver finds no GPU. Check `nvidia-smi` and CUDA_VISIBLE_DEVICES.")
    device = c_int()
    driver.cuDeviceGet(byref(device), 0)
    return _facts(driver, device)


def require() -> None:
    """Refuse to go on without a device and a compiler for it; nothing is compiled yet.

    Raises:
        DeviceMissingError: naming what is missing.
    """
    find_facts()
    compiler.find(Driver(LIBRARY).version)


def _facts(driver: Driver, device: c_int) -> DeviceFacts:
    name = ctypes.create_string_buffer(256)
    driver.cuDeviceGetName(name, len(name), device)
    memory, major, minor = c_size_t(), c_int(), c_int()
    driver.cuDeviceTotalMem_v2(byref(memory), device)
    driver.cuDeviceGetAttribute(byref(major), _CAPABILITY_MAJOR, device)
    driver.cuDeviceGetAttribute(byref(minor), _CAPABILITY_MINOR, device)
    return DeviceFacts(
        name.value.decode(errors="replace"), memory.value, major.value * 10 + minor.value, text_of(driver.version)
    )
