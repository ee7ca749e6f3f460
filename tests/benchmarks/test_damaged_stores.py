"""A store with any bytes in its files: it is read, or refused with a sentence."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import hostile
from symseed.benchmarks import execution
from symseed.benchmarks.store import FILE, RunKey

RECORDS = [execution.failed(RunKey("Nguyen-1", "nggp", seed), "no") for seed in range(3)]
CONTENT = b"".join(json.dumps(asdict(record)).encode() + b"\n" for record in RECORDS)
PACKED = gzip.compress(CONTENT, mtime=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@settings(max_examples=60, deadline=None, phases=[Phase.reuse, Phase.generate])
@given(
    content=hostile.damaged(CONTENT) | hostile.forged_lines(CONTENT),
    packed=st.just(PACKED) | hostile.damaged(PACKED),
)
def test_a_damaged_store_is_reported_or_gets_a_sentence(folder: Path, content: bytes, packed: bytes) -> None:
    (folder / FILE).write_bytes(content)
    (folder / f"{FILE}.gz").write_bytes(packed)
    code, out, err = hostile.command("bench", "table", str(folder), "--json")
    hostile.check_sentence(code, err)
    assert code == 2 or json.loads(out)["summary"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"extra": 1}, "a line has `extra`, which is unknown"),
        ({"reward": "high"}, "`reward` of a line must be a number, but it is 'high'"),
        ({"problem": None}, "`problem` of a line must be a text, but it is None"),
        ({"schema": 2}, "a line has version 2"),
    ],
)
def test_a_record_that_is_none_is_refused_with_its_reason(
    folder: Path, change: dict[str, object], sentence: str
) -> None:
    (folder / f"{FILE}.gz").unlink(missing_ok=True)
    (folder / FILE).write_text(json.dumps(asdict(RECORDS[0]) | change) + "\n")
    code, _, err = hostile.command("bench", "table", str(folder))
    assert code == 2
    assert sentence in err
