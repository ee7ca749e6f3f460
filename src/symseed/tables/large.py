"""A large table: the rows of a stream that a fit uses, a survey of them, and their chunks, here or on other workers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from symseed.arrays import Floats
from symseed.data import chunks
from symseed.data.chunks import Chunk, Tree, added, blocks
from symseed.data.dataset import Dataset
from symseed.data.losses import Loss
from symseed.data.noise import divided
from symseed.errors import DataError, listed, shown
from symseed.tables.opening import Sequential, stream_of
from symseed.tables.report import ERRORS, INPUT, LEFT_OUT, TARGET, WEIGHTS, ColumnReport, TableReport
from symseed.tables.streams import Stream
from symseed.workers import Workers, WorkersLostError

STRIDE = 2**16
"""Rows of the stream of which the survey knows how many are used: chosen by hand."""
_SPAN = 4
"""Levels of the tree of sums that one task of a worker makes: 16 chunks, a million samples. Chosen by hand."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns that a fit uses."""

    inputs: tuple[str, ...]
    target: str
    weights: str | None = None
    errors: str | None = None
    """Column with the standard errors of the target."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns."""
        return (*self.inputs, self.target, *(name for name in (self.weights, self.errors) if name is not None))


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """Some rows that are used, all numbers of which are finite."""

    X: Floats  # (M, V)
    y: Floats  # (M,)
    weights: Floats  # (M,)
    errors: Floats | None  # (M,)


@dataclass(frozen=True, eq=False)
class LargeTable:
    """The rows of a stream that have a number in every used column, and a weight above 0."""

    stream: Stream
    roles: Roles
    used: npt.NDArray[np.int64]
    """Number of used rows before each stride of the stream, and of all at the end, (S + 1,)."""
    gaps: Mapping[str, int] = field(default_factory=dict)
    """Cells without a number, by column."""
    largest_error: float = 1.0
    seconds: float = 0.0
    """What a pass over the rows took."""

    @classmethod
    def of(cls, stream: Stream | Sequential, roles: Roles) -> LargeTable:
        """Take a table, and make a pass over it.

        Raises:
            DataError: if it cannot be read, has no row that can be used, or a weight or an error is negative.
        """
        if isinstance(stream, Sequential):
            stream = stream.written(roles.columns)
        began = time.monotonic()
        counts, gaps, largest = [], np.zeros(len(roles.columns), dtype=np.int64), 0.0
        whole = cls(stream, roles, np.zeros(1, dtype=np.int64))
        for raw in blocks(stream.batches(roles.columns, 0, stream.rows), STRIDE):
            gaps += np.count_nonzero(~np.isfinite(raw), axis=0)
            block = whole._block(raw)
            counts.append(len(block.y))
            if block.errors is not None and len(block.errors):
                largest = max(largest, float(block.errors.max()))
        used = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        found = {name: int(count) for name, count in zip(roles.columns, gaps, strict=True) if count}
        if used[-1] == 0:
            where = (
                f"; gaps: {', '.join(f'`{shown(name)}` {count:,}' for name, count in found.items())}" if found else ""
            )
            raise DataError(f"No row of `{stream.called}` has a number in every column that is used{where}.")
        return cls(stream, roles, used, found, largest, time.monotonic() - began)

    def __len__(self) -> int:
        """Return the number of used rows."""
        return int(self.used[-1])

    @property
    def is_whole(self) -> bool:
        """Whether all rows are used."""
        return len(self) == self.stream.rows

    def report(self, others: Sequence[tuple[str, str]]) -> TableReport:
        """Return what was read, used and left out; `others` are columns that do not hold numbers."""
        roles = self.roles
        marked = {roles.target: TARGET, roles.weights: WEIGHTS, roles.errors: ERRORS}
        used = [
            ColumnReport(name, marked.get(name, INPUT), "numbers", gaps=self.gaps.get(name, 0))
            for name in roles.columns
        ]
        left = [ColumnReport(name, LEFT_OUT, kind) for name, kind in others]
        facts = (*self.stream.facts, "read in blocks")
        return TableReport(Path(self.stream.called).name, facts, self.stream.rows, len(self), (*used, *left))

    def take(self, rows: npt.NDArray[np.intp]) -> Block:
        """Return some of the used rows, given their sorted places among these."""
        out, at = [], 0
        for block in self.blocks(self.roles.columns, 0, len(self)):
            inside = rows[(rows >= at) & (rows < at + len(block))] - at
            out.append(block[inside])
            at += len(block)
        return self._block(np.concatenate(out))

    def blocks(self, columns: Sequence[str], first: int, last: int) -> Iterator[Floats]:
        """Give the used rows from `first` up to, but not including, `last`: some columns, in blocks of a chunk."""
        read = columns if self.is_whole else list(dict.fromkeys([*columns, *self.roles.columns]))
        stride = int(np.searchsorted(self.used, first, side="right")) - 1
        end = int(np.searchsorted(self.used, last, side="left"))
        raw = self.stream.batches(read, stride * STRIDE, min(end * STRIDE, self.stream.rows))
        kept = raw if self.is_whole else (self._kept(one, read)[:, : len(columns)] for one in raw)
        return blocks(_between(kept, first - int(self.used[stride]), last - int(self.used[stride])), chunks.CHUNK)

    def described(self) -> dict[str, Any]:
        """Return what `read` needs, as values that TOML can hold."""
        roles = self.roles
        return {
            "stream": self.stream.described(),
            "inputs": list(roles.inputs),
            "target": roles.target,
            "weights": roles.weights or "",
            "errors": roles.errors or "",
            "used": self.used.tolist(),
            "largest_error": self.largest_error,
            "seconds": self.seconds,
        }

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> LargeTable:
        """Return a table as it was described; its stream is opened when it is needed.

        Raises:
            KeyError: if the description lacks something.
        """
        given = (str(described["weights"]) or None, str(described["errors"]) or None)
        roles = Roles(tuple(map(str, described["inputs"])), str(described["target"]), *given)
        used = np.array(described["used"], dtype=np.int64)
        if used.ndim != 1 or len(used) < 2 or used[0] != 0 or (np.diff(used) < 0).any():
            raise ValueError("`used` must be numbers of rows that grow from 0")
        stream = _Later(dict(described["stream"]), roles.columns)
        numbers = float(described["largest_error"]), float(described["seconds"])
        return cls(stream, roles, used, {}, *numbers)

    def _block(self, raw: Floats) -> Block:
        """The used rows among some with all columns of the roles.

        Raises:
            DataError: if a weight or an error is negative.
        """
        roles = self.roles
        raw = raw[np.isfinite(raw).all(axis=1)]
        count = len(roles.inputs)
        weights = np.ones(len(raw)) if roles.weights is None else raw[:, count + 1]
        errors = None if roles.errors is None else raw[:, -1]
        if len(raw) and weights.min() < 0.0:
            raise DataError(f"Column `{roles.weights}` must not be negative, but it is {weights.min()} in a row.")
        if errors is not None and len(raw) and errors.min() <= 0.0:
            raise DataError(f"Column `{roles.errors}` must be above zero, but it is {errors.min()} in a row.")
        counted = weights > 0.0
        return Block(
            np.ascontiguousarray(raw[counted, :count]),
            raw[counted, count],
            weights[counted],
            None if errors is None else errors[counted],
        )

    def _kept(self, raw: Floats, columns: Sequence[str]) -> Floats:
        places = [columns.index(name) for name in self.roles.columns]
        kept = np.isfinite(raw[:, places]).all(axis=1)
        if self.roles.weights is not None:
            kept &= raw[:, columns.index(self.roles.weights)] > 0.0
        return raw[kept]


class _Later:
    """A stream that is opened when it is needed."""

    facts: tuple[str, ...] = ()
    others: tuple[tuple[str, str], ...] = ()

    def __init__(self, described: Mapping[str, Any], columns: tuple[str, ...]) -> None:
        self._described, self.names = described, columns
        self.called = str(described["called"])

    @cached_property
    def _stream(self) -> Stream:
        return stream_of(self._described, self.names)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self._stream.rows

    @property
    def is_shared(self) -> bool:
        """Whether other processes can read it."""
        return self._stream.is_shared

    def batches(self, columns: Sequence[str], first: int, last: int) -> Iterator[Floats]:
        """See `Stream.batches`."""
        return self._stream.batches(columns, first, last)

    def described(self) -> dict[str, Any]:
        """See `Stream.described`."""
        return dict(self._described)


def _between(arrays: Iterator[Floats], first: int, last: int) -> Iterator[Floats]:
    """Give the rows from `first` up to `last` of arrays, one after another."""
    at = 0
    for array in arrays:
        part = array[max(first - at, 0) : max(last - at, 0)]
        at += len(array)
        if len(part):
            yield part
        if at >= last:
            return


# --- Chunks ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Scale:
    """How the weights of samples follow from the standard deviations of their noise."""

    largest: float
    """The largest deviation of all samples."""
    factor: float
    """The factor that keeps the sum of the weights."""


@dataclass(frozen=True, eq=False)
class TableChunks:
    """The samples of a large table in chunks, as `symseed.data.chunks.Chunks`."""

    table: LargeTable
    names: tuple[str, ...]
    loss: Loss | None = None
    """By which formulas are fitted."""
    given_loss: Loss | None = None
    threads: int = 1
    executor: Executor | None = None
    """Has the workers that make passes; None: threads of this process."""
    deviations: Any = None
    """The standard deviation of each sample's noise, as a stream of one column, `deviation`; None: as weights say."""
    scale: Scale | None = None

    def total(self, function: Callable[..., Value], *arguments: Any) -> Value:
        """See `Chunks.total`."""
        if self._workers is not None:
            try:
                return self._on_workers(self._workers, function, arguments)
            except WorkersLostError as error:
                warnings.warn(
                    f"The workers are gone ({error}); this process reads all rows by itself from here on.",
                    RuntimeWarning,
                    stacklevel=2,
                )
                self.__dict__["_workers"] = None
        count = -(-len(self.table) // chunks.CHUNK)
        return added(self._chunks(0, count), function, arguments, self.threads).total

    def weighed_by(self, errors: Callable[[Floats], Floats] | None) -> TableChunks:
        """Return the same samples with the weights of their noise.

        Args:
            errors: gives the standard deviations of samples from their inputs; None: a column has them.
        """
        if errors is None:
            assert self.table.roles.errors is not None
            some = replace(self, scale=Scale(self.table.largest_error, 1.0))
        else:
            written = _Deviations(self.table, errors)
            some = replace(self, deviations=written.stream, scale=Scale(written.largest, 1.0), executor=None)
        weights = some.total(_weights)
        return replace(some, scale=Scale(some.scale.largest, float(weights[1] / weights[0])))  # type: ignore[union-attr]

    @cached_property
    def _workers(self) -> Workers | None:
        if self.executor is None or not self.table.stream.is_shared:
            return None
        return Workers(replace(self, executor=None, threads=1), self.executor)

    def _on_workers(self, workers: Workers, function: Callable[..., Value], arguments: tuple[Any, ...]) -> Value:
        count, size = -(-len(self.table) // chunks.CHUNK), 1 << _SPAN
        tickets = {}
        for span, begin in enumerate(range(0, count, size)):
            tickets[workers.submit(_span, begin, min(begin + size, count), function, arguments)] = span
        tree: Tree[Value] = Tree()
        found: dict[int, Any] = {}
        done = 0
        while done < len(tickets):
            result = workers.result()
            if result is None:
                raise WorkersLostError("a part of the work has no result")
            found[tickets[result[0]]] = result[1]
            while done in found:
                for level, part in found.pop(done):
                    tree.push(part, level)
                done += 1
        return tree.total

    def _chunks(self, first: int, last: int) -> Iterator[Chunk]:
        """Give the chunks from `first` up to, but not including, `last`."""
        roles = self.table.roles
        more = [roles.target, *(name for name in (roles.weights, roles.errors) if name is not None)]
        begin, end = first * chunks.CHUNK, min(last * chunks.CHUNK, len(self.table))
        read = self.table.blocks([*self.names, *more], begin, end)
        own = (
            None
            if self.deviations is None
            else blocks(self.deviations.batches(["deviation"], begin, end), chunks.CHUNK)
        )
        for block in read:
            count = len(self.names)
            given = np.ones(len(block)) if roles.weights is None else np.ascontiguousarray(block[:, count + 1])
            weights = given
            if self.scale is not None:
                errors = block[:, -1] if own is None else next(own)[:, 0]
                weights = divided(given, errors, self.scale.largest) * self.scale.factor
            X, y = np.ascontiguousarray(block[:, :count]), np.ascontiguousarray(block[:, count])
            yield Chunk(Dataset(X, y, weights, self.names, self.loss), given, self.given_loss)


class _Deviations:
    """The standard deviations of all samples, in a temporary file."""

    def __init__(self, table: LargeTable, errors: Callable[[Floats], Floats]) -> None:
        self.largest = 0.0

        def read(columns: Sequence[str]) -> Iterator[Floats]:
            del columns
            for block in table.blocks(table.roles.inputs, 0, len(table)):
                sizes = errors(block)
                self.largest = max(self.largest, float(sizes.max()))
                yield sizes[:, None]

        self.stream = Sequential("deviations", (), ("deviation",), (), read).written(("deviation",))


def _span(
    whole: TableChunks, first: int, last: int, function: Callable[..., Value], arguments: tuple[Any, ...]
) -> list[tuple[int, Value]]:
    """In a worker: the tree of some chunks."""
    return added(whole._chunks(first, last), function, arguments, 1).parts


def _weights(chunk: Chunk) -> Floats:
    """The sums of the weights by which formulas are fitted, and of the user's."""
    return np.array([chunk.data.weights.sum(), chunk.given_weights.sum()])


def check_roles(stream: Stream | Sequential, roles: Roles) -> None:
    """Refuse columns that the table lacks, or that do not hold numbers.

    Raises:
        DataError: naming the first of them.
    """
    others = dict(stream.others)
    for name in roles.columns:
        if name in others:
            raise DataError(
                f"Column `{shown(name)}` of `{stream.called}` must hold numbers, but holds {others[name]}. A table "
                "that is read in blocks has no categories and no dates: turn it into numbers, or choose another column."
            )
        if name not in stream.names:
            raise DataError(
                f"`{stream.called}` has no column `{shown(name)}`. Its columns are {listed([*stream.names, *others])}."
            )
