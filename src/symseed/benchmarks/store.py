"""A store: the records of many runs, as lines of JSON in one file of a folder, or packed."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import io
import math
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from symseed import files
from symseed.errors import MALFORMED, DataError, listed
from symseed.fields import Fields

SCHEMA = 1
"""Version of the format of records."""
FILE = "records.jsonl"
_MOST_BYTES = 2**31
"""Most bytes of a file of records that are read: a record has about a kilobyte. Chosen by hand."""


@dataclass(frozen=True, slots=True, order=True)
class RunKey:
    """The definition of a run: nothing runs twice with the same key."""

    problem: str
    method: str
    seed: int
    draw: int = 0
    """Index of the draw of data: 0 is that of the authors' released code."""
    expressions: int = 2_000_000
    """Budget in expressions."""
    seconds: float | None = None
    """Budget in CPU seconds, which other work on the machine does not reduce; None: no limit."""
    noise: float = 0.0
    """Standard deviation of the noise in the training target, over the target's root mean square."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """How a run ended."""

    problem: str
    method: str
    seed: int
    draw: int
    expressions: int
    formula: str
    prefix: str
    reward: float
    train_nmse: float
    test_nmse: float
    passes_reference: bool
    """The released code's test: NMSE below 1e-12 on the test data."""
    verdict: str
    """exact, numeric only, or no."""
    evidence: str
    charged: int
    evaluated: int
    unique: int
    steps: int
    cpu_seconds: float
    """CPU seconds of the search."""
    check_seconds: float
    """Seconds of the check whether the answer is the target."""
    reason: str
    error: str
    """Empty, or why the run has no result."""
    lookups: int = 0
    """Number of look-ups of completion, which do not count as evaluations."""
    hits: int = 0
    splices: int = 0
    seconds: float | None = None
    """The budget in time."""
    noise: float = 0.0
    schema: int = SCHEMA

    @property
    def key(self) -> RunKey:
        """What was run."""
        return RunKey(self.problem, self.method, self.seed, self.draw, self.expressions, self.seconds, self.noise)

    @property
    def is_recovered(self) -> bool:
        """Whether the target was found, symbolically."""
        return self.verdict == "exact"


class Store:
    """A folder of records: a file that runs append to, and a packed one to keep. One process at a time may write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE
        self.packed = folder / f"{FILE}.gz"

    @property
    def exists(self) -> bool:
        """Whether the folder holds a file of records, packed or not."""
        return os.path.lexists(self.path) or os.path.lexists(self.packed)

    def read(self) -> list[RunRecord]:
        """Return all records, the packed ones first; a line that was incomplete when the process died is left out.

        Of records with the same key, the last is returned: a process may have died between packing and removal.

        Raises:
            DataError: if a file is of another version, or the packed one is damaged.
        """
        records = self._parse(self.packed, self._unpacked()) if os.path.lexists(self.packed) else []
        if os.path.lexists(self.path):
            records += self._parse(self.path, self._content(self.path))
        return list({record.key: record for record in records}.values())

    def pack(self) -> int:
        """Move all records into the packed file, and return how many it has.

        Methods are in the order of their first records, and the runs
        of each in the order of their keys, so that the same records give the same bytes. Times are rounded to 6 digits,
        which makes the file a seventh smaller; all other values are unchanged.

        Raises:
            DataError: if another process is writing to the folder.
        """
        with self.writer():
            records = {record.key: record for record in self.read()}
            order = {method: place for place, method in enumerate(dict.fromkeys(key.method for key in records))}
            keys = sorted(records, key=lambda key: (order[key.method], key))
            buffer = io.BytesIO()
            # The header has no name and no date, which would differ each time.
            with gzip.GzipFile("", "wb", fileobj=buffer, mtime=0) as packed:
                for key in keys:
                    packed.write(files.json_text(self._rounded(records[key])).encode() + b"\n")
            files.replace(self.packed, buffer.getvalue())
            self.path.unlink()
        return len(keys)

    @contextlib.contextmanager
    def writer(self) -> Iterator[Callable[[RunRecord], None]]:
        """Give a function that appends a record and returns when it is on the disk.

        Raises:
            DataError: if another process is writing to the folder.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            opened = files.Lines(self.path)
        except OSError as error:
            raise DataError(
                f"The store must be a folder that can be written to, but `{self.folder}` is not: {error}."
            ) from error
        with contextlib.closing(opened) as lines:
            if not lines.is_at(self.path):
                raise DataError(f"`{self.path}` has just been packed by another process. Start again.")
            yield lambda record: lines.append(asdict(record))

    def _unpacked(self) -> bytes:
        content = self._content(self.packed)
        try:
            if not content:  # `gzip` would read it as an archive without members
                raise EOFError("It is empty")
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
                unpacked = packed.read(_MOST_BYTES + 1)
            if len(unpacked) > _MOST_BYTES:
                raise EOFError(f"It holds more than {_MOST_BYTES:,} bytes")
            return unpacked
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(
                f"`{self.packed}` must be a whole gzip file, but it cannot be unpacked ({error}). Fetch it again."
            ) from error

    @staticmethod
    def _content(path: Path) -> bytes:
        try:
            return files.read(path, _MOST_BYTES)
        except OSError as error:
            raise DataError(f"`{path}` must hold records, but cannot be read: {error}.") from error

    @staticmethod
    def _parse(path: Path, content: bytes) -> list[RunRecord]:
        try:
            return [_record(Fields(values, "a line")) for values in files.read_lines(content)]
        except MALFORMED as error:
            raise DataError(
                f"`{path}` must hold records of version {SCHEMA}, but it was changed or damaged: {error}. Restore it, "
                "or use another folder."
            ) from error

    @staticmethod
    def _rounded(record: RunRecord) -> dict[str, object]:
        times = {name: float(f"{getattr(record, name):.6g}") for name in ("cpu_seconds", "check_seconds")}
        return {**asdict(record), **times}


def _is_unknown(value: object) -> bool:
    """Whether a number is not known: null in a file, and NaN in files of earlier versions."""
    return value is None or value != value


def _record(values: Fields) -> RunRecord:
    """The record of a line; a field that a later version added has its default.

    Raises:
        ValueError: naming a value that is missing, unknown or of another type.
    """
    if values.integer("schema") != SCHEMA:
        raise ValueError(f"a line has version {values.values['schema']}")
    known = {field.name: field for field in dataclasses.fields(RunRecord)}
    unknown = [name for name in values.values if name not in known]
    if unknown:
        raise ValueError(f"a line has {listed(unknown)}, which is unknown")
    read: Mapping[str, Callable[[str], Any]] = {
        "str": values.text,
        "int": values.integer,
        "float": lambda name: math.nan if _is_unknown(values.values.get(name)) else values.number(name),
        "bool": values.flag,
    }
    given: dict[str, Any] = {}
    for name, field in known.items():
        if name in values.values or field.default is dataclasses.MISSING:
            kind, _, or_none = str(field.type).partition(" | ")
            given[name] = None if or_none and not values.has(name) else read[kind](name)
    return RunRecord(**given)
