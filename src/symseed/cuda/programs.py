"""Populations on a device: their rows as programs, and launches that compute sums or values of many rows at once.

Axis letters: N rows of a population, R rows of a call, M samples, K constants of a row.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from symseed import _core
from symseed.arrays import Floats
from symseed.cuda.device import WARP, Bytes, Device, packed
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

    def fits(self, device: Device) -> npt.NDArray[np.bool_]:
        """Whether a warp has so much memory."""
        return self.memory * 8 <= device.shared_bytes


@dataclass(frozen=True)
class _Launches:
    """Rows of a call in the order of their launches."""

    order: npt.NDArray[np.intp]  # (R,): of the rows of the call
    groups: tuple[slice, ...]  # of `order`: one launch each
    memory: tuple[int, ...]  # doubles of shared memory of a warp in each
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
        instructions, self._numbers, self.rows, ordinary = _core.programs(
            population.library.vocabulary, population.tokens, population.lengths, population.constants, threads=threads
        )
        self._threads = threads
        self._instructions = instructions.reshape(-1).view(_INSTRUCTION)
        depth = self.rows[:, _DEPTH]
        groups = _GROUP_OF_DEPTH[np.minimum(depth, len(_GROUP_OF_DEPTH) - 1)]
        self._evaluated = self._kind(_stack_memory(depth, device.points), groups)
        self.is_possible: npt.NDArray[np.bool_] = ordinary.view(np.bool_) & self._evaluated.fits(device)
        """(N,): whether the device can compute the row."""
        memory = _tape_memory(self.rows)
        self._linearised = self._kind(memory, np.minimum(memory // _TAPE_STEP, _MOST_GROUPS - 1))
        self.is_linearisable: npt.NDArray[np.bool_] = self._linearised.fits(device)
        """(N,): whether its derivatives have room, too."""
        self._addresses = []
        parts: dict[str, Bytes] = {"instructions": instructions, "rows": self.rows, "numbers": self._numbers}
        for name, values in parts.items():
            self._addresses.append(device.scratch(name, values.nbytes))
            device.write(self._addresses[-1], values)

    def of(self, population: Population) -> Programs:
        """Return the programs of other rows on the same samples, which take the place of these on the device."""
        return Programs(self._device, self._samples, population, pairs=self._pairs, threads=self._threads)

    def set_constants(self, rows: Rows, values: Floats) -> None:
        """Change the constants of some rows: those of one row after those of another, each in order."""
        counts = self.rows[rows, _CONSTANTS].astype(np.int64)
        ends = np.cumsum(counts)
        places = np.arange(counts.sum()) + np.repeat(self.rows[rows, _FIRST_NUMBER] - (ends - counts), counts)
        self._numbers[places] = values
        self._device.write(self._addresses[2], self._numbers)

    def errors(self, rows: Rows) -> Errors:
        """Return the weighted sum of squared errors of each row, NaN where it failed, and why."""
        launches = self._evaluations(rows)
        totals = self._totals(len(rows))
        for work in self._works(len(rows), len(rows)):
            self._evaluate(work, launches)
            self._launch_threads("symseed_add_blocks", work, len(rows) * GROUP)
        error = self._sums(totals, len(rows))
        failure, position = self._failures(rows)
        failure = np.where(np.isfinite(error) | (failure != 0), failure, np.uint8(Failure.LOSS_OVERFLOW))
        return Errors(np.where(failure == 0, error, np.nan), failure.astype(np.uint8), position)

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
        """Return the sums of each row's linearisation, those of one row after those of another (machine.hpp)."""
        constants = self.rows[rows, _CONSTANTS].astype(np.int64)
        counts = 1 + constants * (constants + 3) // 2
        count = int(counts.sum())
        launches = self._sorted(rows, np.cumsum(counts) - counts, self._linearised)
        totals = self._totals(count)
        for work in self._works(count, count):
            self._launch_warps("symseed_linearise", work, launches)
            self._launch_threads("symseed_add_blocks", work, count * GROUP)
        return self._sums(totals, count)

    # --- Launches.

    def _evaluations(self, rows: Rows) -> _Launches:
        """The launches of evaluations, and room for their stops."""
        self._device.fill(self._device.scratch("failed", len(self.rows) * 4), 0xFF, len(self.rows) * 4)
        return self._sorted(rows, np.arange(len(rows)), self._evaluated)

    def _kind(self, memory: npt.NDArray[np.int64], group: npt.NDArray[Any]) -> _Kind:
        shortness = _LONGEST - np.minimum(self.rows[:, _INSTRUCTIONS], _LONGEST)
        return _Kind(memory, (group.astype(np.uint16) << np.uint16(_LENGTH_BITS)) | shortness.astype(np.uint16))

    def _sorted(self, rows: Rows, first_sum: npt.NDArray[Any], kind: _Kind) -> _Launches:
        """Rows of one group are launched together, the longest first, so that a launch does not end with one."""
        key = kind.key[rows]
        order = np.argsort(key, kind="stable")
        group = key[order] >> np.uint16(_LENGTH_BITS)
        memory = kind.memory[rows]
        edges = [0, *(np.flatnonzero(group[1:] != group[:-1]) + 1).tolist(), len(rows)]
        groups = tuple(slice(*edge) for edge in itertools.pairwise(edges))
        block, places = packed([rows[order], first_sum[order].astype(np.uint32)])
        address = self._device.scratch("order", block.nbytes)
        self._device.write(address, block)
        most = tuple(int(memory[order[each]].max()) for each in groups)
        return _Launches(order, groups, most, address + places[0], address + places[1])

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
        """Read sums, and add their eight lanes as the core does."""
        lanes = np.empty((count, GROUP))
        self._device.read(totals, lanes)
        with np.errstate(over="ignore", invalid="ignore"):
            pairs = lanes[:, ::2] + lanes[:, 1::2]
            fours = pairs[:, ::2] + pairs[:, 1::2]
            return np.asarray(fours[:, 0] + fours[:, 1])

    def _failures(self, rows: Rows) -> tuple[Failures, Positions]:
        """Where and why rows failed; the kernels give the operator's arguments, and the core says why they fail."""
        device = self._device
        failed = np.empty(len(self.rows), dtype=np.uint32)
        device.read(device.scratch("failed", failed.nbytes), failed)
        bad = np.flatnonzero(failed[rows] != _NONE)
        failure = np.zeros(len(rows), dtype=np.uint8)
        position = np.full(len(rows), -1, dtype=np.int32)
        if len(bad):
            stops = np.empty(len(self.rows), dtype=_STOP)
            device.read(device.scratch("stop", stops.nbytes), stops)
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
