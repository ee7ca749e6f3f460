"""Tables of any size as chunks of samples, and sums over all samples that depend on the samples and their order alone.

A chunk has `CHUNK` samples, the last one fewer. Each chunk's sum is a leaf of one fixed binary tree, whose form follows
from the number of chunks. So the sums have the same bits whether the samples lie in memory or come from files in blocks
of any size, and however many threads or processes add them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats
from symseed.data.dataset import Dataset
from symseed.data.losses import Loss

CHUNK = 2**16
"""Samples of a chunk: few enough that many chunks fit in memory, and enough that a sum takes far longer than its call.
Chosen by hand; sums depend on it in their last digits."""
_MOST_KEPT = 2**20
"""Most fingerprints of samples that are kept to count different samples: 8 MB."""
_ODD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: a product with it spreads the bits of a number."""

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False, slots=True)
class Chunk:
    """Some samples: with the weights and the loss by which formulas are fitted, and with those of the user."""

    data: Dataset
    given_weights: Floats
    given_loss: Loss | None


class Chunks(Protocol):
    """All samples of a table, in chunks."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of X in a chunk."""

    def total(self, function: Callable[..., Value], *arguments: Any) -> Value:
        """Return the sum of `function(chunk, *arguments)` over all chunks; the values have a `+`."""


class Tree(Generic[Value]):
    """Adds values in pairs, pairs of pairs and so on, as they come; a level is the number of such steps."""

    def __init__(self) -> None:
        self.parts: list[tuple[int, Value]] = []
        """Whole subtrees that wait for their neighbours, by level, the highest first."""

    def push(self, value: Value, level: int = 0) -> None:
        """Add the next value, or the next whole subtree of a level."""
        while self.parts and self.parts[-1][0] == level:
            before: Any = self.parts.pop()[1]
            value, level = before + value, level + 1
        self.parts.append((level, value))

    @property
    def total(self) -> Value:
        """The sum of all values so far, at least one."""
        whole: Any = self.parts[-1][1]
        for _, part in reversed(self.parts[:-1]):
            whole = part + whole
        return whole  # type: ignore[no-any-return]


def added(
    chunks: Iterable[Chunk], function: Callable[..., Value], arguments: tuple[Any, ...], threads: int
) -> Tree[Value]:
    """Return the tree of `function(chunk, *arguments)`; few chunks are in memory at a time."""
    tree: Tree[Value] = Tree()
    if threads == 1:
        for chunk in chunks:
            tree.push(function(chunk, *arguments))
        return tree
    with ThreadPoolExecutor(threads) as pool:
        running: deque[Any] = deque()
        for chunk in chunks:
            running.append(pool.submit(function, chunk, *arguments))
            if len(running) > threads:
                tree.push(running.popleft().result())
        for future in running:
            tree.push(future.result())
    return tree


def blocks(arrays: Iterable[Floats], size: int) -> Iterator[Floats]:
    """Divide the rows of arrays, one after another, into blocks of `size` rows; the last has fewer."""
    kept: list[Floats] = []
    count = 0
    for array in arrays:
        begin = 0
        while begin < len(array):
            part = array[begin : begin + size - count]
            kept.append(part)
            begin, count = begin + len(part), count + len(part)
            if count == size:
                yield kept[0] if len(kept) == 1 else np.concatenate(kept)
                kept, count = [], 0
    if count:
        yield kept[0] if len(kept) == 1 else np.concatenate(kept)


@dataclass(frozen=True, eq=False, slots=True)
class ArrayChunks:
    """Samples in memory; those of weight 0 are left out."""

    data: Dataset
    """As formulas are fitted."""
    given: Dataset
    """The same samples as the user weighs them."""
    columns: tuple[int, ...]
    threads: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.data.names[column] for column in self.columns)

    def total(self, function: Callable[..., Value], *arguments: Any) -> Value:
        """See `Chunks.total`."""
        return added(self._chunks(), function, arguments, self.threads).total

    def _chunks(self) -> Iterator[Chunk]:
        counted = self.data.weights > 0.0
        rows = None if counted.all() else np.flatnonzero(counted)
        count, columns = len(self.data) if rows is None else len(rows), list(self.columns)
        for begin in range(0, count, CHUNK):
            part: Any = slice(begin, min(begin + CHUNK, count))
            part = part if rows is None else rows[part]
            data = replace(
                self.data,
                X=np.ascontiguousarray(self.data.X[part][:, columns]),
                y=self.data.y[part],
                weights=self.data.weights[part],
                names=self.names,
            )
            yield Chunk(data, self.given.weights[part], self.given.loss)


# --- What the samples are --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Distinct:
    """Counts different samples: exactly up to `_MOST_KEPT`, beyond that to about 0.1 %, whatever their order.

    Of the samples' fingerprints those are kept that begin with some zero bits, as few as memory allows (adaptive
    sampling, Flajolet 1990): each bit halves their number.
    """

    kept: npt.NDArray[np.uint64]
    """Different fingerprints, sorted."""
    bits: int = 0
    """Number of zero bits that they begin with."""

    @classmethod
    def of(cls, dataset: Dataset) -> Distinct:
        """Take some samples."""
        return cls(np.unique(fingerprints(dataset.X, dataset.y))).limited()

    @property
    def count(self) -> int:
        """The number of different samples."""
        return len(self.kept) << self.bits

    def limited(self) -> Distinct:
        """Return the same with as many zero bits as memory asks for."""
        kept, bits = self.kept, self.bits
        while len(kept) > _MOST_KEPT:
            bits += 1
            kept = kept[: int(np.searchsorted(kept, np.uint64(1) << np.uint64(64 - bits)))]
        return Distinct(kept, bits)

    def __add__(self, other: Distinct) -> Distinct:
        """Take both together."""
        bits = max(self.bits, other.bits)
        kept = [each.kept[each.kept >> np.uint64(64 - bits) == 0] if bits else each.kept for each in (self, other)]
        return Distinct(np.union1d(*kept), bits).limited()


def fingerprints(X: Floats, y: Floats) -> npt.NDArray[np.uint64]:
    """Return 64 bits for each sample, equal for equal samples, (M,)."""
    out = np.zeros(len(y), dtype=np.uint64)
    for column in (*X.T, y):
        out = (out ^ (column + 0.0).view(np.uint64)) * _ODD  # -0 becomes 0
        out = (out ^ (out >> np.uint64(32))) * _ODD
        out ^= out >> np.uint64(29)
    return out


@dataclass(frozen=True, eq=False, slots=True)
class Facts:
    """Sums and sizes of all samples."""

    distinct: Distinct
    weights: Floats
    """The sum of the weights by which formulas are fitted, and of the user's, (2,)."""
    square: float
    """The weighted sum of y^2."""
    largest: Floats
    """The largest size of each column, and of y, (V + 1,)."""

    @classmethod
    def of(cls, chunk: Chunk) -> Facts:
        """Take a chunk."""
        data = chunk.data
        weights = np.array([data.weights.sum(), chunk.given_weights.sum()])
        largest = np.array([float(np.abs(column).max()) for column in (*data.X.T, data.y)])
        return cls(Distinct.of(data), weights, float(np.sum(data.weights * data.y * data.y)), largest)

    def __add__(self, other: Facts) -> Facts:
        """Take both together."""
        return Facts(
            self.distinct + other.distinct,
            self.weights + other.weights,
            self.square + other.square,
            np.maximum(self.largest, other.largest),
        )
