"""Fits of tables that are read in blocks: the formulas of the same table in memory, and what is kept if one goes."""

from __future__ import annotations

import io
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from pyarrow import feather

from symseed import DataError, SettingsError, SymbolicRegressor
from symseed.arrays import Floats
from symseed.cli.main import commands
from symseed.data import chunks
from symseed.regressor import in_blocks, prepare
from symseed.regressor.target import Progress
from symseed.search import StopReason
from symseed.tables import large, opening, source, streams

pytestmark = pytest.mark.filterwarnings("ignore:`X` has")
ROWS = 7_000
QUICK: dict[str, Any] = {
    "method": "nggp",
    "constants": True,
    "max_evals": 300,
    "max_time": None,
    "method_settings": {"batch": 50, "evolution.generations": 4},
    "random_state": 0,
}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in (
        (chunks, "CHUNK", 512),
        (large, "STRIDE", 300),
        (large, "_SPAN", 1),
        (prepare, "MOST_ROWS", 1_000),
        (in_blocks, "MOST_ROWS", 1_000),
    ):
        monkeypatch.setattr(module, name, value)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    random = np.random.default_rng(0)
    a, b = random.uniform(0.5, 2.0, (2, ROWS))
    y = 1.234 * a * a + 0.567 * b + random.normal(0.0, 0.2, ROWS)
    return pd.DataFrame({"a": a, "b": b, "y": y, "w": random.integers(1, 4, ROWS).astype(float)})


@pytest.fixture
def folder(frame: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "table"
    path.mkdir()
    for place, begin in enumerate(range(0, ROWS, 2_500)):
        frame.iloc[begin : begin + 2_500].to_parquet(path / f"part-{place}.parquet", row_group_size=700)
    return path


def result(model: SymbolicRegressor) -> list[tuple[Any, ...]]:
    rows = model.pareto_front_
    return [(str(one.expression), one.text, one.loss, one.description, one.weight) for one in rows]


def in_memory(frame: pd.DataFrame, weights: Floats | None = None, **more: Any) -> SymbolicRegressor:
    return SymbolicRegressor(**QUICK, **more).fit(frame[["a", "b"]], frame["y"], weights)


def test_a_fit_of_files_is_that_of_the_table_in_memory(frame: pd.DataFrame, folder: Path) -> None:
    holed = frame.copy()
    holed.loc[::100, "b"] = np.nan
    kept = holed.dropna()
    expected = in_memory(kept, kept["w"].to_numpy())
    path = folder.parent / "gaps.parquet"
    holed.to_parquet(path)
    with pytest.warns(UserWarning, match=r"70 of 7,000 rows of .*gaps.parquet` have gaps or weigh nothing; they are"):
        found = SymbolicRegressor(**QUICK).fit(path, "y", "w")
    assert result(found) == result(expected)
    assert found.stop_reason_ == expected.stop_reason_
    assert found.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(found.predict(kept[["a", "b"]]), expected.predict(kept[["a", "b"]]))


@pytest.mark.parametrize("noise", [{"noise": "relative"}, {"loss": "huber"}], ids=str)
def test_so_it_is_with_other_noise_and_losses(frame: pd.DataFrame, folder: Path, noise: dict[str, Any]) -> None:
    found = SymbolicRegressor(**QUICK, **noise).fit(folder, "y", "w")
    expected = in_memory(frame, frame["w"].to_numpy(), **noise)
    for one, other in zip(result(found), result(expected), strict=True):
        assert one[0] == other[0] if "loss" in noise else one[1] == other[1]
        np.testing.assert_allclose(one[2:], other[2:], rtol=1e-9)


def test_memory_mapped_arrays_and_workers_give_the_same(frame: pd.DataFrame, folder: Path) -> None:
    np.save(folder / "X.npy", frame[["a", "b"]].to_numpy())
    mapped = SymbolicRegressor(**QUICK).fit(np.load(folder / "X.npy", mmap_mode="r"), frame["y"])
    expected = SymbolicRegressor(**QUICK).fit(frame[["a", "b"]].to_numpy(), frame["y"])
    assert result(mapped) == result(expected)
    with ThreadPoolExecutor(2) as executor:
        found = SymbolicRegressor(**QUICK, executor=executor).fit(folder / "part-*.parquet", "y", "w")
    assert result(found) == result(in_memory(frame, frame["w"].to_numpy()))


def test_a_part_that_goes_away_costs_nothing_that_was_found(frame: pd.DataFrame, folder: Path) -> None:
    lost, kept = folder / "part-1.parquet", folder.parent / "kept"

    def lose(_: Progress) -> None:
        if lost.exists():
            lost.rename(kept)

    model = SymbolicRegressor(**QUICK, output_directory=folder.parent / "runs", callback=lose)
    with pytest.warns(RuntimeWarning, match=r"`part-1.parquet`, is not there any more\..* 1,000 rows that the search"):
        model.fit(folder, "y", "w")
    assert model.stop_reason_ == StopReason.UNREAD.value
    assert model.interrupted_
    run = str(model.run_directory_)
    assert np.isfinite(model.predict(frame[["a", "b"]])).all()
    with pytest.warns(RuntimeWarning, match=r"part-1.parquet` must be the file of .* but it is not there"):
        SymbolicRegressor.resume(run)
    kept.rename(lost)
    again = SymbolicRegressor.resume(run)
    assert result(again) == result(in_memory(frame, frame["w"].to_numpy()))
    assert result(SymbolicRegressor.from_file(run)) == result(again)


def test_workers_that_go_away_leave_the_work_to_this_process(frame: pd.DataFrame, folder: Path) -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.warns(RuntimeWarning, match=r"The workers are gone .*; this process reads all rows by itself"):
        found = SymbolicRegressor(**QUICK, executor=executor).fit(folder, "y", "w")
    assert result(found) == result(in_memory(frame, frame["w"].to_numpy()))


def test_the_command_line_takes_a_folder(frame: pd.DataFrame, folder: Path) -> None:
    options = ["fit", str(folder), "-y", "y", "--weights", "w", "--method", "nggp", "--set", "constants=true"]
    options += ["--set", "max_evals=300", "--set", "max_time=none"]
    options += ["--set", "method_settings={batch = 50, 'evolution.generations' = 4}"]
    done = CliRunner().invoke(commands, [*options, "--output-directory", str(folder.parent / "runs")])
    assert done.exit_code == 0, done.output
    assert "table: 7,000 rows; Parquet, 3 files; read in blocks" in done.output
    (run,) = (folder.parent / "runs").iterdir()
    assert result(SymbolicRegressor.from_file(run)) == result(in_memory(frame, frame["w"].to_numpy()))


@pytest.mark.parametrize("kind", ["parquet", "csv", "npy"])
@pytest.mark.parametrize("output", [None, "out.csv", "out.parquet", "out.arrow"])
def test_predict_streams_from_any_kind_of_table_to_any_kind_of_file(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, output: str | None
) -> None:
    given = frame.iloc[:600].round(6).rename(columns={"a": "x1", "b": "x2"})
    given.loc[7, "x1"] = np.nan
    model = SymbolicRegressor(**QUICK, output_directory=tmp_path / "runs")
    model.fit(frame[["a", "b"]].to_numpy()[:500], frame["y"][:500])
    monkeypatch.setattr(source, "MOST_BYTES", 5_000)
    monkeypatch.setattr(source, "MOST_CELLS", 500)
    monkeypatch.setattr(opening, "_TEXT_BLOCK", 4_000)
    monkeypatch.setattr(streams, "BATCH", 100)
    path = tmp_path / f"table.{kind}"
    if kind == "npy":
        given = given[["x1", "x2"]]
        np.save(path, given.to_numpy())
    else:
        given = given.assign(note=[f"row {place}, as it is" for place in range(len(given))])
        given.to_csv(path, index=False) if kind == "csv" else given.to_parquet(path, row_group_size=70)
    options = [] if output is None else ["--output", str(tmp_path / output)]
    done = CliRunner().invoke(commands, ["predict", str(model.run_directory_), str(path), *options])
    assert done.exit_code == 0, done.output
    assert "1 of 600 rows have no prediction." in done.stderr
    assert not list(tmp_path.glob("*.part"))
    if output is None or output.endswith("csv"):
        found = pd.read_csv(io.StringIO(done.stdout) if output is None else tmp_path / output)
    else:
        found = (
            pd.read_parquet(tmp_path / output) if output == "out.parquet" else feather.read_feather(tmp_path / output)
        )
    pd.testing.assert_frame_equal(found[given.columns], given.reset_index(drop=True), check_dtype=False)
    known = given.dropna()
    expected = model.predict(known[["x1", "x2"]].to_numpy())
    np.testing.assert_array_equal(found["y predicted"].drop(7), expected)
    assert np.isnan(found["y predicted"][7])


def test_a_prediction_that_cannot_be_finished_leaves_no_file(frame: pd.DataFrame, folder: Path) -> None:
    model = SymbolicRegressor(**QUICK, output_directory=folder.parent / "runs").fit(
        frame[["a", "b"]][:500], frame["y"][:500]
    )
    short = folder / "part-2.parquet"
    short.write_bytes(short.read_bytes()[:-500])
    out = folder.parent / "out.parquet"
    for name, sentence in (
        (out, "`part-2.parquet` must be a whole Parquet file"),
        ("out.xlsx", "`--output` must end with"),
    ):
        done = CliRunner().invoke(commands, ["predict", str(model.run_directory_), str(folder), "--output", str(name)])
        assert isinstance(done.exception, (DataError, SettingsError))
        assert re.search(sentence, str(done.exception))
    assert not list(folder.parent.glob("out.*"))


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["-y", "y", "-y", "a"], "has one target, named by -y"),
        (["-y", "y", "--missing", "mean"], "`--missing mean` needs a table in memory"),
        (["-y", "z"], r"has no column `z`\. Its columns are `a`, `b`, `y`, `w`"),
        (["-y", "y", "--test", "0.2"], "`test_size` needs a table in memory"),
    ],
)
def test_what_blocks_cannot_have_gets_a_sentence(folder: Path, more: list[str], sentence: str) -> None:
    done = CliRunner().invoke(commands, ["fit", str(folder), "--in-memory", *more])
    assert done.exit_code != 0
    with pytest.raises((DataError, SettingsError), match=sentence):
        raise done.exception or AssertionError(done.output)


def test_what_python_cannot_give_gets_a_sentence(frame: pd.DataFrame, folder: Path) -> None:
    for arguments, sentence in (
        ((folder, frame["y"]), r"`y` must be the name of a column of `.*`, but it is"),
        ((folder, "y", None, 1.0), "takes"),
    ):
        with pytest.raises((DataError, TypeError), match=sentence):
            SymbolicRegressor(**QUICK).fit(*arguments)
    with pytest.raises(SettingsError, match="`X_err` needs a table in memory"):
        SymbolicRegressor(**QUICK).fit(folder, "y", X_err={"a": 0.1})
    mapped = np.lib.format.open_memmap(folder / "X.npy", "w+", shape=(2_000, 1))
    mapped[7] = np.nan
    with pytest.raises(DataError, match="`X` and `y` must be finite, but 1 of 2,000 rows are not"):
        SymbolicRegressor(**QUICK).fit(mapped, np.arange(2_000.0))


def test_a_small_file_is_fitted_whole(frame: pd.DataFrame, tmp_path: Path) -> None:
    few = frame.iloc[:300]
    few.to_parquet(tmp_path / "few.parquet")
    found = SymbolicRegressor(**QUICK).fit(tmp_path / "few.parquet", "y", "w")
    assert result(found) == result(in_memory(few, few["w"].to_numpy()))
