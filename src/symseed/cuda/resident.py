"""The samples of a dataset on a device: all of them if there is room, otherwise part by part.

Axis letters: M samples, V variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from symseed.arrays import Floats
from symseed.cuda.device import Buffer, Device
from symseed.cuda.faults import DeviceMemoryFault
from symseed.data.dataset import Dataset

BLOCK = 256
"""Samples of a block: the core's own."""
GROUP = 8
"""The core fills the last group of samples up; a sum ends with it."""
_SHARE = 0.5
"""Share of the free memory that samples may take: the rest is for programs and results. Chosen by hand."""
_LEAST_BLOCKS = 64
"""Fewest blocks of a part: with less free memory, the device is not worth its use."""


@dataclass(frozen=True)
class Part:
    """Some samples on the device, by column, in whole blocks."""

    columns: int  # addresses
    target: int
    weight: int
    stride: int  # samples of a column, filled up to whole blocks
    points: int  # of them, those of the dataset, filled up to a whole group
    before: int  # blocks of the dataset before this part

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return self.stride // BLOCK


class Samples:
    """The samples of a dataset for one device."""

    def __init__(self, device: Device, dataset: Dataset, *, most_bytes: int | None = None) -> None:
        """Choose the size of a part, and copy the samples if one part is enough.

        Raises:
            DeviceMemoryFault: if the device has no room for a small part.
        """
        self._device = device
        self._dataset = dataset
        self._columns = dataset.X.shape[1]
        blocks = -(-len(dataset) // BLOCK)
        block_bytes = (self._columns + 2) * BLOCK * 8
        room = int(_SHARE * device.free_bytes()) if most_bytes is None else most_bytes
        fits = room // block_bytes
        if fits < min(blocks, _LEAST_BLOCKS):
            raise DeviceMemoryFault("The GPU has too little free memory.")
        self._part_blocks = min(blocks, fits)
        self._buffer = Buffer(device, self._part_blocks * block_bytes)
        self._resident = self._copied(0) if self._part_blocks == blocks else None

    def __len__(self) -> int:
        """Return M."""
        return len(self._dataset)

    @property
    def is_resident(self) -> bool:
        """Whether all samples are on the device."""
        return self._resident is not None

    def parts(self) -> Iterator[Part]:
        """Give the parts in order; each is on the device until the next is asked for."""
        if self._resident is not None:
            yield self._resident
            return
        for first in range(0, len(self._dataset), self._part_blocks * BLOCK):
            self._device.wait()
            yield self._copied(first)

    def _copied(self, first: int) -> Part:
        data = self._dataset
        end = min(first + self._part_blocks * BLOCK, len(data))
        stride = -(-(end - first) // BLOCK) * BLOCK
        table = np.empty((self._columns + 2, stride))
        _fill(table[: self._columns], data.X[first:end].T)
        _fill(table[-2], data.y[first:end])
        table[-1, : end - first] = data.weights[first:end]
        table[-1, end - first :] = 0.0
        self._device.write(self._buffer.address, table)
        target = self._buffer.address + self._columns * stride * 8
        return Part(
            self._buffer.address,
            target,
            target + stride * 8,
            stride,
            -(-(end - first) // GROUP) * GROUP,
            first // BLOCK,
        )


def _fill(to: Floats, values: Floats) -> None:
    """Write values, and repeat the last of them to the end."""
    to[..., : values.shape[-1]] = values
    to[..., values.shape[-1] :] = values[..., -1:]
