"""The files of a store of benchmark runs: its table is printed, or refused with a sentence."""

from __future__ import annotations

import gzip
import json
import tempfile
from dataclasses import asdict
from pathlib import Path

import hostile
from damage import damaged
from symseed.benchmarks import execution
from symseed.benchmarks.store import FILE, RunKey

_FOLDER = Path(tempfile.mkdtemp(prefix="symseed-fuzz-"))
_LINES = b"".join(
    json.dumps(asdict(execution.failed(RunKey("Nguyen-1", "nggp", seed), "no"))).encode() + b"\n" for seed in range(3)
)
_PACKED = gzip.compress(_LINES, mtime=0)


def one(data: bytes) -> None:
    """Damage one of the two files, by the first byte, and print the table."""
    is_packed = bool(data[:1] > b"\x7f")
    (_FOLDER / FILE).write_bytes(_LINES if is_packed else damaged(_LINES, [b"", _PACKED], data[1:]))
    (_FOLDER / f"{FILE}.gz").write_bytes(damaged(_PACKED, [b"", _LINES], data[1:]) if is_packed else _PACKED)
    code, out, err = hostile.command("bench", "table", str(_FOLDER), "--json")
    hostile.check_sentence(code, err)
    assert code == 2 or json.loads(out)["summary"] is not None
