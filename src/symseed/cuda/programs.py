"""Populations on a device: their rows as programs, and launches that compute sums or values of many rows at once.

Axis letters: N rows of a population, R rows of a call, M samples, K constants of a row.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.arrays import Floats
from symseed.cuda.device import WARP, Bytes, Device
from symseed.cuda.resident import BLOCK, GROUP, Samples
from symseed.data.backend import Errors, Failure, Failures, Positions, Predictions
from symseed.language.population import Population

Rows: TypeAlias = npt.NDArray[np.uint32]
"""Rows of a population by number."""

_WARPS = 4
"""Warps of a block of threads: chosen by hand. The bounds of the kernels (device.cu) are made for it."""
_DEPTHS = (2, 4, 8, 16)
"""Rows with stacks of up to so many values are launched together: a launch reserves the largest of its stacks."""
_GROUP_OF_DEPTH = np.digitize(np.arange(_DEPTHS[-1] + 2), _DEPTHS, right=True)
PAIRS = 1 << 20
"""Most pairs of a row and a block of samples in one launch, which bounds the memory and the time that it takes: chosen
by hand."""
_BLOCKS = 1024
"""Most blocks of samples in one launch, which stay in the device's cache while many rows pass."""
_TAPE_STEP = 2 * BLOCK
"""Rows whose memory for derivatives is within so many doubles of each other are launched together."""
_LENGTH_BITS = 11
_LONGEST = (1 << _LENGTH_BITS) - 1
"""Rows with more instructions count as equally long when they are sorted, by numbers of 16 bits."""
_MOST_GROUPS = 1 << (16 - _LENGTH_BITS)
_NONE = 0xFFFFFFFF
"""No block: `kNone` of program.hpp."""

_WORK = (
    *("columns", "target", "weight", "stride", "points", "first_block", "blocks", "before"),
    *("instructions", "rows", "numbers", "order", "first_sum", "count", "sums", "memory"),
    *("lanes", "totals", "failed", "block_stop", "stop", "all_rows", "values", "value_stride"),
)
"""Members of `Work` in program.hpp, in order."""
_FIRST_INSTRUCTION, _INSTRUCTIONS, _FIRST_NUMBER, _CONSTANTS, _DEPTH = range(5)
_STOP = np.dtype([("a", "<f8"), ("b", "<f8"), ("instruction", "<u8")])
_INSTRUCTION = np.dtype(
    [("opcode", "u1"), ("sources", "<u2"), ("flags", "u1"), ("a", "<u4"), ("b", "<u4"), ("position", "<u4")]
)


@dataclass(frozen=True)
class _Kind:
    """What the launches of one kind need to know of each row, (N,) each."""

    memory: npt.NDArray[np.int64]  # doubles of shared memory of a warp
    key: npt.NDArray[np.uint16]  # number of its group of launches, and how short it is
    sums: npt.NDArray[np.uint32]  # numbers that it gives

    def fits(self, device: Device) -> npt.NDArray[np.bool_]:
        """Whether a warp has so much memory."""
        return self.memory * 8 <= device.shared_bytes


@dataclass(frozen=True)
class _Launches:
    """Rows of a call in the order of their launches."""

    order: Rows  # (R,): of the rows of the call
    groups: tuple[slice, ...]  # of `order`: one launch each
    memory: tuple[int, ...]  # doubles of shared memory of a warp in each
    sums: int  # of all rows
    rows_address: int
    sums_address: int


class Programs:
    """The rows of a population as programs on a device. Whoever uses it holds the device's lock."""

    def __init__(
        self, device: Device, samples: Samples, population: Population, *, pairs: int = PAIRS, threads: int = 1
    ) -> None:
        """Write the programs and copy them to the device; a launch has at most `pairs` of a row and a block."""
        self._pairs = pairs
        self._device = device
        self._samples = samples
        instructions, numbers, self.rows, ordinary = _core.programs(
            population.library.vocabulary,
            population.tokens,
            population.lengths,
            population.constants,
            allocate=device.host,
            threads=threads,
        )
        self._threads = threads
        written = device.host("instructions", instructions * _INSTRUCTION.itemsize)
        self._instructions = written.view(_INSTRUCTION)
        self._numbers = device.host("numbers", numbers * 8).view(np.float64)
        depth = self.rows[:, _DEPTH]
        groups = _GROUP_OF_DEPTH[np.minimum(depth, len(_GROUP_OF_DEPTH) - 1)]
        self._evaluated = self._kind(
            _stack_memory(depth, device.points), groups, np.ones(len(self.rows), dtype=np.uint32)
        )
        self.is_possible: npt.NDArray[np.bool_] = ordinary.view(np.bool_) & self._evaluated.fits(device)
        """(N,): whether the device can compute the row."""
        self._addresses = []
        parts: dict[str, Bytes] = {"instructions": written, "rows": self.rows, "numbers": self._numbers}
        for name, values in parts.items():
            self._addresses.append(device.scratch(name, values.nbytes))
            device.write(self._addresses[-1], values)

    @functools.cached_property
    def _linearised(self) -> _Kind:
        memory, constants = _tape_memory(self.rows), self.rows[:, _CONSTANTS]
        groups = np.minimum(memory // _TAPE_STEP, _MOST_GROUPS - 1)
        return self._kind(memory, groups, 1 + constants * (constants + 3) // 2)

    @property
    def is_linearisable(self) -> npt.NDArray[np.bool_]:
        """(N,): whether a row's derivatives have room, too."""
        return self._linearised.fits(self._device)

    def of(self, population: Population) -> Programs:
        """Return the programs of other rows on the same samples, which take the place of these on the device."""
        return Programs(self._device, self._samples, population, pairs=self._pairs, threads=self._threads)

    def set_constants(self, write: Callable[[npt.NDArray[np.uint32], Floats], None]) -> None:
        """Change constants: `write` gets the rows of `_core.programs`, and their numbers to change."""
        write(self.rows, self._numbers)
        self._device.write(self._addresses[2], self._numbers)

    def errors(self, rows: Rows) -> Errors:
        """Return the weighted sum of squared errors of each row, NaN where it failed, and why."""
        launches = self._evaluations(rows)
        totals = self._totals(len(rows))
        for work in self._works(len(rows), len(rows)):
            self._evaluate(work, launches)
            self._launch_threads("symseed_add_blocks", work, len(rows) * GROUP)
        error = self._sums(totals, len(rows)).copy()
        failure, position = self._failures(rows)
        failure[~np.isfinite(error) & (failure == 0)] = np.uint8(Failure.LOSS_OVERFLOW)
        error[failure != 0] = np.nan
        return Errors(error, failure, position)

    def predictions(self, rows: Rows) -> Predictions:
        """Return the values of each row at each sample, NaN throughout where it failed, and why."""
        out = np.empty((len(rows), len(self._samples)))
        launches = self._evaluations(rows)
        for work in self._works(len(rows), 0):
            width = work["value_stride"] = work["blocks"] * BLOCK
            values = self._device.scratch("values", len(rows) * width * 8)
            self._evaluate(work, launches, values)
            read = np.empty((len(rows), width))
            self._device.read(values, read)
            first = work["before"] * BLOCK
            part = out[:, first : first + width]
            part[launches.order] = read[:, : part.shape[1]]
        failure, position = self._failures(rows)
        out[failure != 0] = np.nan
        return Predictions(out, failure, position)

    def linearisations(self, rows: Rows) -> Floats:
        """Return the sums of each row's linearisation, those of one row after those of another (machine.hpp).

        The next call of any kind may change them.
        """
        launches = self._sorted(rows, self._linearised)
        count = launches.sums
        totals = self._totals(count)
        for work in self._works(count, count):
            self._launch_warps("symseed_linearise", work, launches)
            self._launch_threads("symseed_add_blocks", work, count * GROUP)
        return self._sums(totals, count)

    # --- Launches.

    def _evaluations(self, rows: Rows) -> _Launches:
        """The launches of evaluations, and room for their stops."""
        self._device.fill(self._device.scratch("failed", len(self.rows) * 4), 0xFF, len(self.rows) * 4)
        return self._sorted(rows, self._evaluated)

    def _kind(self, memory: npt.NDArray[np.int64], group: npt.NDArray[Any], sums: npt.NDArray[np.uint32]) -> _Kind:
        shortness = _LONGEST - np.minimum(self.rows[:, _INSTRUCTIONS], _LONGEST)
        return _Kind(memory, (group.astype(np.uint16) << np.uint16(_LENGTH_BITS)) | shortness.astype(np.uint16), sums)

    def _sorted(self, rows: Rows, kind: _Kind) -> _Launches:
        """Rows of one group are launched together, the longest first, so that a launch does not end with one."""
        order, placed, ends, most, sums = _core.launch_order(
            kind.key, kind.memory, kind.sums, rows, group_shift=_LENGTH_BITS
        )
        groups = tuple(slice(*edge) for edge in itertools.pairwise([0, *ends]))
        address = self._device.scratch("order", placed.nbytes)
        self._device.write(address, placed)
        return _Launches(order, groups, tuple(most), sums, address, address + 4 * len(rows))

    def _works(self, sums: int, lanes: int) -> Iterator[dict[str, int]]:
        """The launches' arguments, for one slice of the samples after another."""
        device = self._device
        most = max(1, min(_BLOCKS, self._pairs // max(sums, len(self.rows))))
        instructions, rows, numbers = self._addresses
        for part in self._samples.parts():
            for first in range(0, part.blocks, most):
                blocks = min(most, part.blocks - first)
                yield {
                    **dict.fromkeys(_WORK, 0),
                    "columns": part.columns,
                    "target": part.target,
                    "weight": part.weight,
                    "stride": part.stride,
                    "points": part.points,
                    "first_block": first,
                    "blocks": blocks,
                    "before": part.before + first,
                    "instructions": instructions,
                    "rows": rows,
                    "numbers": numbers,
                    "sums": sums,
                    "lanes": device.scratch("lanes", blocks * lanes * GROUP * 8),
                    "totals": device.scratch("totals", sums * GROUP * 8),
                    "failed": device.scratch("failed", len(self.rows) * 4),
                    "block_stop": device.scratch("block_stop", blocks * len(self.rows) * _STOP.itemsize),
                    "stop": device.scratch("stop", len(self.rows) * _STOP.itemsize),
                    "all_rows": len(self.rows),
                }
                device.wait_for_room()

    def _evaluate(self, work: dict[str, int], launches: _Launches, values: int = 0) -> None:
        self._launch_warps("symseed_evaluate", work, launches, values)
        work["order"], work["count"] = launches.rows_address, len(launches.order)
        self._launch_threads("symseed_keep_stops", work, len(launches.order))

    def _launch_warps(self, kernel: str, work: dict[str, int], launches: _Launches, values: int = 0) -> None:
        for group, memory in zip(launches.groups, launches.memory, strict=True):
            work["order"] = launches.rows_address + group.start * 4
            work["first_sum"] = launches.sums_address + group.start * 4
            work["count"], work["memory"] = group.stop - group.start, memory
            work["values"] = values and values + group.start * work["value_stride"] * 8
            warps = max(1, min(_WARPS, self._device.shared_bytes // (memory * 8)))
            blocks = -(-work["count"] * work["blocks"] // warps)
            self._device.launch(kernel, blocks, warps * WARP, warps * memory * 8, _as_array(work))

    def _launch_threads(self, kernel: str, work: dict[str, int], count: int) -> None:
        threads = _WARPS * WARP
        self._device.launch(kernel, -(-count // threads), threads, 0, _as_array(work))

    def _totals(self, sums: int) -> int:
        address = self._device.scratch("totals", sums * GROUP * 8)
        self._device.fill(address, 0, sums * GROUP * 8)
        return address

    # --- Results.

    def _sums(self, totals: int, count: int) -> Floats:
        """Add the eight lanes of sums as the core does, and read them; the next sums take their place."""
        device = self._device
        values = device.scratch("sums", count * 8)
        work = {**dict.fromkeys(_WORK, 0), "sums": count, "totals": totals, "values": values}
        self._launch_threads("symseed_add_lanes", work, count)
        read = device.host("sums", count * 8).view(np.float64)
        device.read(values, read)
        return read

    def _failures(self, rows: Rows) -> tuple[Failures, Positions]:
        """Where and why rows failed; the kernels give the operator's arguments, and the core says why they fail."""
        device = self._device
        failed = device.host("failed", len(self.rows) * 4).view(np.uint32)
        device.read(device.scratch("failed", failed.nbytes), failed)
        bad = np.flatnonzero(failed[rows] != _NONE)
        failure = np.zeros(len(rows), dtype=np.uint8)
        position = np.full(len(rows), -1, dtype=np.int32)
        if len(bad):
            size = len(self.rows) * _STOP.itemsize
            stops = device.host("stop", size).view(_STOP)
            device.read(device.scratch("stop", size), stops)
            chosen = stops[rows[bad]]
            at = self.rows[rows[bad], _FIRST_INSTRUCTION] + chosen["instruction"].astype(np.int64)
            found = self._instructions[at]
            failure[bad] = _core.failures(
                np.ascontiguousarray(found["opcode"]), *(np.ascontiguousarray(chosen[name]) for name in ("a", "b"))
            )
            position[bad] = found["position"]
        return failure, position


def _stack_memory(depth: npt.NDArray[np.uint32], points: int) -> npt.NDArray[np.int64]:
    """Doubles of shared memory of a warp: `evaluation_memory` of machine.hpp."""
    return BLOCK + 1 + depth.astype(np.int64) * points * WARP


def _tape_memory(rows: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """The same of a linearisation: `linearisation_memory`."""
    constants = rows[:, _CONSTANTS].astype(np.int64)
    tapes = 1 + constants + 2 * rows[:, _INSTRUCTIONS].astype(np.int64)
    return tapes * WARP + (1 + constants * (constants + 3) // 2) * GROUP


def _as_array(work: dict[str, int]) -> npt.NDArray[np.uint64]:
    return np.array([work[name] for name in _WORK], dtype=np.uint64)
