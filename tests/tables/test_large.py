"""Tables of any size: every format gives the same rows, chunks do not depend on files, and faults get a sentence."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from symseed import DataError, Dataset
from symseed.arrays import Floats
from symseed.data import chunks
from symseed.data.chunks import ArrayChunks, Chunk
from symseed.data.noise import weighed
from symseed.tables import large, opening, source
from symseed.tables.large import LargeTable, Roles, TableChunks
from symseed.tables.opening import Sequential, is_large, opened, stream_of
from symseed.tables.options import TableOptions
from symseed.tables.streams import ArrayStream, ArrowStream, Stream

ROWS = 5_300
NAMES = ("a", "b", "y", "w")
ROLES = Roles(("a", "b"), "y", weights="w")


def values(gaps: bool = True) -> Floats:
    """Numbers with an exact text in six digits; some are missing, and some weights are 0."""
    random = np.random.default_rng(0)
    out = np.round(random.uniform(0.5, 2.0, (ROWS, 4)), 6)
    if gaps:
        out[random.choice(ROWS, 300), random.choice(4, 300)] = np.nan
        out[random.choice(ROWS, 100), 3] = 0.0
    return out


def written(values: Floats, folder: Path, kind: str) -> str:
    """Write a table; the path that a user gives."""
    table = pa.table({name: pa.array(column, from_pandas=True) for name, column in zip(NAMES, values.T, strict=True)})
    path = folder / f"table.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=700)
    elif kind == "folder":
        path.mkdir()
        for place, begin in enumerate(range(0, len(values), 1_100)):
            parquet.write_table(table.slice(begin, 1_100), path / f"part-{place}.parquet", row_group_size=400)
    elif kind == "arrow":
        feather.write_feather(table, str(path), chunksize=900)
    elif kind == "csv":
        path.write_text(text(values, ","))
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(text(values, ";").encode()))
    else:
        np.save(path, np.asfortranarray(values) if kind == "f.npy" else values)
    return str(path)


def text(values: Floats, separator: str) -> str:
    cells = [["" if np.isnan(value) else repr(float(value)) for value in row] for row in values]
    return "\n".join(separator.join(line) for line in [list(NAMES), *cells]) + "\n"


def stream(path: str) -> Stream:
    found = opened(path, TableOptions())
    return found.written(NAMES) if isinstance(found, Sequential) else found


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "CHUNK", 512)
    monkeypatch.setattr(large, "STRIDE", 300)
    monkeypatch.setattr(large, "_SPAN", 1)
    monkeypatch.setattr(opening, "_TEXT_BLOCK", 10_000)


KINDS = ("parquet", "folder", "arrow", "npy", "f.npy", "csv", "csv.gz")


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_gives_the_rows_and_columns_that_are_asked_for(kind: str, tmp_path: Path) -> None:
    table = values()
    found = stream(written(table, tmp_path, kind))
    names = NAMES if found.names == NAMES else found.names  # an array has x1, x2, ...
    assert found.rows == ROWS
    for first, last in ((0, ROWS), (0, 1), (1_000, 1_300), (1_099, 4_402), (ROWS - 1, ROWS)):
        batches = list(found.batches([names[2], names[0]], first, last))
        np.testing.assert_array_equal(np.concatenate(batches), table[first:last][:, [2, 0]])


@pytest.mark.parametrize("kind", ["parquet", "folder", "arrow", "npy", "csv"])
def test_a_table_is_opened_again_as_it_was_described(kind: str, tmp_path: Path) -> None:
    found = stream(written(values(), tmp_path, kind))
    again = stream_of(found.described(), found.names)
    both = [np.concatenate(list(one.batches(one.names, 100, 900))) for one in (found, again)]
    np.testing.assert_array_equal(both[0], both[1])


def sums(chunk: Chunk) -> Floats:
    data = chunk.data
    return np.array([data.X.sum(), (data.y * data.weights).sum(), chunk.given_weights.sum(), len(data) ** 0.5])


def in_memory(table: Floats) -> Dataset:
    kept = table[np.isfinite(table).all(axis=1)]
    return Dataset.of(kept[:, :2], kept[:, 2], kept[:, 3], NAMES[:2])


@pytest.mark.parametrize("gaps", [True, False])
@pytest.mark.parametrize("kind", ["parquet", "folder", "csv"])
def test_chunks_are_those_of_the_same_rows_in_memory_to_the_bit(kind: str, gaps: bool, tmp_path: Path) -> None:
    data = in_memory(values(gaps))
    expected = ArrayChunks(data, data, (1,)).total(sums)
    table = LargeTable.of(opened(written(values(gaps), tmp_path, kind), TableOptions()), ROLES)
    assert len(table) == len(data.counted())
    assert table.is_whole is not gaps
    assert TableChunks(table, ("b",)).total(sums).tolist() == expected.tolist()
    with ThreadPoolExecutor(3) as executor:  # as workers, which do not share the memory of values
        assert TableChunks(table, ("b",), executor=executor).total(sums).tolist() == expected.tolist()
    assert TableChunks(table, ("b",), threads=3).total(sums).tolist() == expected.tolist()
    again = LargeTable.read(table.described())
    assert TableChunks(again, ("b",)).total(sums).tolist() == expected.tolist()


def test_rows_are_taken_by_their_places_among_the_used_ones(tmp_path: Path) -> None:
    data = in_memory(values()).counted()
    table = LargeTable.of(opened(written(values(), tmp_path, "parquet"), TableOptions()), ROLES)
    rows = np.array([0, 3, 511, 512, 2_000, len(data) - 1])
    found = table.take(rows)
    np.testing.assert_array_equal(found.X, data.X[rows])
    np.testing.assert_array_equal(found.y, data.y[rows])
    np.testing.assert_array_equal(found.weights, data.weights[rows])


@pytest.mark.parametrize("is_column", [True, False])
def test_weights_are_those_of_the_noise(is_column: bool, tmp_path: Path) -> None:
    table = values(gaps=False)
    path = written(table, tmp_path, "parquet")
    errors = table[:, 3] if is_column else table[:, 0] ** 2
    roles = Roles(("a", "b"), "y", errors="w") if is_column else Roles(("a", "b"), "y")
    plain = Dataset.of(table[:, :2], table[:, 2], None, NAMES[:2])
    data = weighed(plain, errors).dataset
    expected = ArrayChunks(data, plain, (0, 1)).total(sums)
    found = TableChunks(LargeTable.of(opened(path, TableOptions()), roles), ("a", "b"))
    np.testing.assert_allclose(
        found.weighed_by(None if is_column else lambda X: X[:, 0] ** 2).total(sums), expected, rtol=1e-12
    )


def test_large_are_folders_patterns_arrays_and_what_exceeds_the_limits_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {kind: written(values(), tmp_path, kind) for kind in KINDS}
    assert {kind for kind, path in paths.items() if is_large(path)} == {"folder", "npy", "f.npy"}
    assert is_large(str(tmp_path / "table.folder" / "part-*.parquet"))
    assert not is_large("planets")
    monkeypatch.setattr(source, "MOST_CELLS", 4 * ROWS - 1)
    monkeypatch.setattr(source, "MOST_BYTES", 100_000)
    assert {kind for kind, path in paths.items() if is_large(path)} == set(KINDS) - {"csv.gz"}


# --- Faults ----------------------------------------------------------------------------------------------------------


def shorter(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1_000])


@pytest.mark.parametrize(
    ("kind", "break_it", "sentence"),
    [
        ("parquet", shorter, r"`table.parquet` must be a whole Parquet file, but it ends early or is damaged"),
        ("arrow", shorter, r"`table.arrow` must be a whole Arrow file, but it ends early or is damaged"),
        (
            "npy",
            shorter,
            r"table.npy` ends early: 5,300 rows of 4 numbers need 169,728 bytes, but it has 168,728\. Copy",
        ),
        ("folder", lambda path: shorter(path / "part-2.parquet"), r"`part-2.parquet` must be a whole Parquet file"),
        ("folder", lambda path: [one.unlink() for one in path.iterdir()], r"must hold Parquet files .*, but has none"),
    ],
)
def test_a_file_that_ends_early_is_refused(
    kind: str, break_it: Callable[[Path], Any], sentence: str, tmp_path: Path
) -> None:
    path = Path(written(values(), tmp_path, kind))
    break_it(path)
    with pytest.raises(DataError, match=sentence):
        opened(str(path), TableOptions())


def test_a_column_whose_type_or_name_changes_between_files_is_refused(tmp_path: Path) -> None:
    path = Path(written(values(), tmp_path, "folder"))
    parquet.write_table(pa.table({"a": ["1.5"], "b": [1.0], "y": [1.0], "w": [1.0]}), path / "part-9.parquet")
    with pytest.raises(
        DataError, match=r"Column `a` holds numbers in `part-0.parquet`, but text in `part-9.parquet`\."
    ):
        opened(str(path), TableOptions())
    parquet.write_table(pa.table({"a": [1.5], "c": [1.0], "y": [1.0], "w": [1.0]}), path / "part-9.parquet")
    with pytest.raises(DataError, match=r"`part-9.parquet` lacks `b`, which `part-0.parquet` has"):
        opened(str(path), TableOptions())


def test_whole_numbers_and_floats_are_one_type(tmp_path: Path) -> None:
    path = Path(written(values(), tmp_path, "folder"))
    parquet.write_table(pa.table({"a": [1], "b": [True], "y": [1.0], "w": [1]}), path / "part-9.parquet")
    found = opened(str(path), TableOptions())
    assert isinstance(found, ArrowStream)
    assert np.concatenate(list(found.batches(NAMES, ROWS, ROWS + 1))).tolist() == [[1.0, 1.0, 1.0, 1.0]]


def test_a_text_whose_column_turns_into_words_is_refused(tmp_path: Path) -> None:
    lines = text(values(gaps=False), ",").splitlines()
    lines[3_000:] = [line.replace(line.split(",")[0], "word", 1) for line in lines[3_000:]]
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    found = opened(str(tmp_path / "table.csv"), TableOptions())
    with pytest.raises(DataError, match=r"Column `a` of .* holds numbers at first, but text after line [\d,]+\. Write"):
        LargeTable.of(found, ROLES)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (Path.unlink, r"A part of the table, `part-3.parquet`, is not there any more\. Restore it"),
        (shorter, r"`part-3.parquet` must be a whole Parquet file"),
        (
            lambda path: path.write_bytes((path.parent / "part-4.parquet").read_bytes()),
            r"must be as it was when the fit",
        ),
    ],
)
def test_a_file_that_goes_or_changes_between_two_passes_is_named(
    change: Callable[[Path], Any], sentence: str, tmp_path: Path
) -> None:
    path = Path(written(values(), tmp_path, "folder"))
    table = LargeTable.of(opened(str(path), TableOptions()), ROLES)
    change(path / "part-3.parquet")
    with pytest.raises(DataError, match=sentence):
        TableChunks(table, ("a",)).total(sums)


def test_weights_errors_and_columns_that_cannot_be_are_refused(tmp_path: Path) -> None:
    path = written(values() - 1.0, tmp_path, "parquet")
    with pytest.raises(DataError, match="Column `w` must not be negative, but it is -"):
        LargeTable.of(opened(path, TableOptions()), ROLES)
    with pytest.raises(DataError, match="Column `w` must be above zero, but it is -"):
        LargeTable.of(opened(path, TableOptions()), Roles(("a",), "y", errors="w"))
    empty = np.full((3, 4), np.nan)
    with pytest.raises(DataError, match=r"No row of .* has a number in every column that is used; gaps: `a` 3, `b` 3"):
        LargeTable.of(ArrayStream((empty,), NAMES), ROLES)


def test_no_temporary_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()

    def files() -> Iterator[Path]:
        return (tmp_path / "temporary").iterdir()

    path = written(values(), tmp_path, "csv")
    table = LargeTable.of(opened(path, TableOptions()), ROLES)
    assert len(list(files())) == 1
    del table
    assert not list(files())
