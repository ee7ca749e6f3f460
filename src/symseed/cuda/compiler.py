"""The kernels compiled for a device: by NVRTC, NVIDIA's compiler as a library, on first use, and kept in a cache.

The source is the core's own (`_core.kernel_sources`), compiled without fused multiply-adds. The cache is a folder of
the user; a file's name is the checksum of all that the compiler was given, so a change compiles anew.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
from collections.abc import Iterator, Sequence
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p
from dataclasses import dataclass
from pathlib import Path

from symseed import _core, files
from symseed.cuda.driver import text_of
from symseed.cuda.faults import DeviceMissingError

MAIN = "device.cu"
STANDARD = "device_std.hpp"
STANDARD_HEADERS = ("array", "bit", "cmath", "cstddef", "cstdint", "cstring", "limits", "tuple")
"""Headers of the standard library that the kernels include; NVRTC has none, and gets `STANDARD` for each."""
OPTIONS = ("-std=c++20", "-default-device", "--fmad=false", "--diag-suppress=1097")
"""Options of every compilation: no fused multiply-add; 1097 is a warning about attributes of other compilers."""
_LARGEST_IMAGE = 1 << 28

_WHEELS = (("nvidia.cuda_nvrtc", "lib", "libnvrtc.so.12"), ("nvidia.cu13", "lib", "libnvrtc.so.13"))
_SYSTEM = ("libnvrtc.so.13", "libnvrtc.so.12")
_FOLDERS = ("CUDA_HOME", "CUDA_PATH")


@dataclass(frozen=True)
class Compiler:
    """A loaded NVRTC."""

    library: ctypes.CDLL
    version: int  # as the driver counts: 12040 is 12.4
    architectures: tuple[int, ...]  # compute capabilities it knows: 90 is 9.0

    @classmethod
    def load(cls, path: str) -> Compiler:
        """Load it.

        Raises:
            OSError: if there is no such library, or it is too old to be asked what it knows.
        """
        # NVRTC opens its second library by name alone, and that of CUDA 13 does not look beside itself: a library that
        # is loaded already is found by its name.
        for beside in sorted(Path(path).parent.glob("libnvrtc-builtins.so.*")) if Path(path).is_absolute() else ():
            ctypes.CDLL(str(beside))
        library = ctypes.CDLL(path)
        major, minor, count = c_int(), c_int(), c_int()
        if not hasattr(library, "nvrtcGetCUBIN"):
            raise OSError(f"{path} is older than CUDA 11.2")
        library.nvrtcVersion(byref(major), byref(minor))
        library.nvrtcGetNumSupportedArchs(byref(count))
        known = (c_int * count.value)()
        library.nvrtcGetSupportedArchs(known)
        return cls(library, major.value * 1000 + minor.value * 10, tuple(known))

    def compile(self, capability: int, options: Sequence[str] = ()) -> bytes:
        """Return the kernels' code for a compute capability, such as 90.

        It is machine code if the compiler knows the device; for a newer device it is PTX of the newest that it knows,
        which the driver translates.

        Raises:
            DeviceMissingError: if the compiler knows nothing that runs on the device, or finds an error.
        """
        known = [each for each in self.architectures if each <= capability]
        if not known:
            raise DeviceMissingError(
                f"The GPU has compute capability {capability / 10:.1f}, but NVRTC {text_of(self.version)} needs at "
                f"least {min(self.architectures) / 10:.1f}. Use a newer GPU, or set device=cpu."
            )
        is_native = known[-1] == capability
        architecture = f"-arch={'sm' if is_native else 'compute'}_{known[-1]}"
        form = "CUBIN" if is_native else "PTX"
        return self.build((*OPTIONS, architecture, *options), form)

    def ptx(self, capability: int, options: Sequence[str] = ()) -> str:
        """Return the kernels as PTX, the text that machine code is made from."""
        return self.build((*OPTIONS, f"-arch=compute_{capability}", *options), "PTX").decode().rstrip("\0")

    def build(self, options: Sequence[str], form: str, source: str | None = None) -> bytes:
        """Return a program in a form, such as PTX, that may include the core's headers; by default the kernels."""
        headers = _core.kernel_sources()
        main = headers.pop(MAIN) if source is None else source
        headers = {**headers, **dict.fromkeys(STANDARD_HEADERS, f'#include "{STANDARD}"\n')}
        program = c_void_p()
        self.library.nvrtcCreateProgram(
            byref(program), main.encode(), MAIN.encode(), len(headers), _texts(headers.values()), _texts(headers)
        )
        try:
            if self.library.nvrtcCompileProgram(program, len(options), _texts(options)):
                log = self._output(program, "ProgramLog").decode(errors="replace")
                raise DeviceMissingError(
                    f"NVRTC {text_of(self.version)} cannot compile the kernels; set device=cpu. It says: {log}"
                )
            return self._output(program, form)
        finally:
            self.library.nvrtcDestroyProgram(byref(program))

    def _output(self, program: c_void_p, name: str) -> bytes:
        size = c_size_t()
        getattr(self.library, f"nvrtcGet{name}Size")(program, byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{name}")(program, buffer)
        return buffer.raw


def find(newest: int) -> Compiler:
    """Return the newest NVRTC that can be found and whose code a driver of version `newest` loads.

    Raises:
        DeviceMissingError: if there is none.
    """
    too_new: list[int] = []
    for path in _paths():
        try:
            compiler = Compiler.load(path)
        except OSError:
            continue
        # A driver loads code of every compiler of its own major version, and of older ones.
        if compiler.version // 1000 <= newest // 1000:
            return compiler
        too_new.append(compiler.version)
    if too_new:
        raise DeviceMissingError(
            f"NVRTC {text_of(max(too_new))} is newer than the driver, which is for CUDA {text_of(newest)}. "
            "Install one for it (pip install nvidia-cuda-nvrtc-cu12), use a newer driver, or set device=cpu."
        )
    raise DeviceMissingError(
        "NVRTC, the compiler of the GPU's code, was not found. Install it: pip install 'symseed[cuda]', or set "
        "device=cpu."
    )


def image(driver_version: int, capability: int, options: Sequence[str] = ()) -> bytes:
    """Return the kernels' code for a device, from the cache if it was compiled before.

    Raises:
        DeviceMissingError: if it is not in the cache and cannot be compiled.
    """
    compiler = find(driver_version)
    given = [str(compiler.version), str(capability), *OPTIONS, *options]
    given += [f"{name}\n{text}" for name, text in sorted(_core.kernel_sources().items())]
    place = cache_folder() / f"{hashlib.sha256(chr(0).join(given).encode()).hexdigest()}.image"
    kept = _kept(place)
    if kept is not None:
        return kept
    code = compiler.compile(capability, options)
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.replace(place, hashlib.sha256(code).digest() + code)
    except OSError:
        pass  # A folder that cannot be written costs the next process a compilation.
    return code


def cache_folder() -> Path:
    """Return the folder of compiled kernels."""
    root = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(root) if Path(root).is_absolute() else Path.home() / ".cache") / "symseed" / "kernels"


def _kept(place: Path) -> bytes | None:
    """The code in a file of the cache; None if there is none, or it is damaged."""
    try:
        content = files.read(place, _LARGEST_IMAGE)
    except (OSError, ValueError):
        return None
    return content[32:] if hashlib.sha256(content[32:]).digest() == content[:32] else None


def _paths() -> Iterator[str]:
    for package, folder, name in _WHEELS[::-1]:
        try:
            spec = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        for place in (spec.submodule_search_locations or ()) if spec else ():
            yield str(Path(place) / folder / name)
    for name in _SYSTEM:
        yield name
        for variable in _FOLDERS:
            if os.environ.get(variable):
                yield str(Path(os.environ[variable]) / "lib64" / name)
        yield f"/usr/local/cuda/lib64/{name}"


def _texts(items: object) -> ctypes.Array[c_char_p]:
    encoded = [str(item).encode() for item in items]  # type: ignore[attr-defined]
    return (c_char_p * len(encoded))(*encoded)
