"""Bad data, bad settings and bad surroundings get a sentence or do no harm, from files as from Python.

The numbers are those of a list of faults to survive; `test_estimator.py` and `test_runs.py` have the others.
"""

from __future__ import annotations

import gc
import gzip
import io
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from symseed import DataError, Dataset, Expression, Library, SettingsError, SymbolicRegressor, tables
from symseed.cli import main
from symseed.errors import listed
from symseed.language.row import Row
from symseed.portfolio.portfolio import Portfolio
from symseed.text import for_terminal

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 3.0, (40, 2))
NOISY = X[:, 0] * X[:, 1] + RNG.normal(0.0, 0.2, 40)
QUICK = (
    "--in-memory",
    "--set",
    "method=nggp",
    "--set",
    "constants=true",
    "--set",
    "max_evals=300",
    "--set",
    "max_time=none",
)
Run = Callable[..., tuple[int, str, str]]


def quick(**parameters: Any) -> SymbolicRegressor:
    """A search of some milliseconds."""
    given = {"method": "nggp", "constants": True, "max_evals": 600, "max_time": None, "random_state": 0}
    return SymbolicRegressor(**{**given, **parameters})


@pytest.fixture
def symseed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line in this process: a new one takes a second to begin."""

    def run(*arguments: str) -> tuple[int, str, str]:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["symseed", *arguments])
            patch.setattr("warnings.showwarning", None)  # put back afterwards
            with pytest.raises(SystemExit) as ended:
                main.main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


# --- Files that are no table -----------------------------------------------------------------------------------------

BAD_FILES: dict[str, tuple[str | bytes, str]] = {
    "1 inf": ("a,y\n1,-inf\n2,inf\n", "Column `y` of `t.csv` must hold numbers, but has none."),
    "1 too large": ("a,y\n1e400,2\n1e400,3\n", "`t.csv` has no column of numbers beside `y`. The others are `a`: emp"),
    "2 no row": ("a,b,y\n1,,2\n,3,3\n", "No row of `t.csv` has a number in every column that is used; gaps of 2 rows"),
    "8 text": ("a,y\n1,red\n2,blue\n", "Column `y` of `t.csv` must hold numbers, but holds text such as `red`."),
    "8 dates": ("t,y\n2020-01-01,2\n", "no column of numbers beside `y`. The others are `t`: dates; such as 2020"),
    "8 mixed marks": ('a;y\n1,5;2\n2.5;3\n', "both with a point (`2.5`) and with a comma (`1,5`). Say which is"),
    "8 unsettled": ("a;y\n1.234;2\n", "`1.234`, and nothing in the file shows whether that is 1.234 or 1234. Say"),
    "10 nothing": ("", "`t.csv` must have a header and at least one row of values, but it is empty."),
    "10 blank lines": ("\n\n", "must have a header and at least one row of values, but it is empty."),
    "10 header only": ("a,y\n", "must have a header and at least one row of values, but has 1 line(s)."),
    "10 target only": ("y\n1\n", "`t.csv` has no column of numbers beside `y`."),
    "11 ragged": ("a,y\n1,2\n3,4,5\n", "Line 3 of `t.csv` has 3 values, but the header has 2; columns are"),
    "11 first row": ("a,y\n3,4,5,6\n1,2\n", "Line 2 of `t.csv` has more values, but the header has 2"),
    "11 other name": ("a,z\n1,2\n", "`t.csv` has no column `y`. Its columns are `a`, `z`."),
    "18 long": (f"{'n' * 10_000},y\nu,2\nv,3\n", f"The others are `{'n' * 60}...`: text; 2 values."),
    "18 screen": ("\x1b[2J,y\nu,2\n", r"`\x1b[2J`: text; 1 value."),
    "quote": ('a,y\n1,"2\n3,4\n', "`t.csv` ends within a quote that opens in row 1 of its values. Close it, or remove"),
    "NUL": (b"a,y\n1,2\n\0,3\n", "but has bytes that no text has, in line 3. If it is a table, save it as CSV"),
    "mixed": ("größe,y\n1,2\n".encode() + "ü,3\n".encode("latin-1"), "mixes encodings: line 3 is not UTF-8, and other"),
    "huge cell": (f"a,y\n{'1' * 200_000},2\n", "cannot be read as one at line 2: field larger than field limit"),
    "PDF": (b"%PDF-1.7\n1 0 obj\n", "`t.csv` is a PDF document, which is not read. Save the table as CSV or Parquet."),
    "packed": (gzip.compress(b"a,y\n1,2\n", mtime=0)[:-6], "is packed, but cannot be unpacked: "),
    "zip": (b"PK\x03\x04 no workbook", "`t.csv` cannot be read as a workbook: File is not a zip file. Save it again."),
    "Parquet": (b"PAR1 no table PAR1", "`t.csv` cannot be read as Parquet: "),
    "JSON": (b'{"a": 1}\n{"a": \n', "`t.csv` cannot be read as JSON: line 2: Expecting value. Write an object on each"),
    "deep JSON": (b'{"a":' * 100_000, "`t.csv` cannot be read as JSON: "),
    "wide": (b"," * 1_000_000 + b"\n1\n", "must be at most 256 MB, 50,000,000 cells and 100,000 columns."),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_file_that_cannot_be_used_gets_one_sentence_and_exit_code_2(
    case: str, symseed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, sentence = BAD_FILES[case]
    (tmp_path / "t.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    monkeypatch.chdir(tmp_path)
    code, out, err = symseed("fit", "t.csv", "--target", "y", *QUICK)
    assert (code, out) == (2, "")
    assert err.startswith("symseed: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert len(err) < 500


def test_a_path_that_is_no_file_gets_a_sentence(symseed: Run, tmp_path: Path) -> None:
    for path in (str(tmp_path / "nowhere"), "x" * 5_000, "\0"):
        code, out, err = symseed("fit", path, "--target", "y", *QUICK)
        assert (code, out) == (2, "")
        shipped = listed(tables.shipped())
        assert f"`-` for standard input, or one of the tables that ship ({shipped}), but it cannot be read: " in err


def test_lines_of_one_column_count_as_cells_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y\n" + "1\n" * 40_000)
    monkeypatch.setattr("symseed.tables.source.MOST_CELLS", 100_000)
    with pytest.raises(DataError, match="must be at most"):
        tables.read_table(str(path))
    path.write_text("y\n" + "1\n" * 30_000)
    assert len(tables.read_table(str(path)).frame) == 30_000


@pytest.mark.parametrize(("limit", "value"), [("MOST_BYTES", 2**20), ("MOST_CELLS", 100_000)])
def test_a_file_without_end_is_read_as_far_as_a_limit(
    limit: str, value: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers 17 and 48: neither rows nor columns without end take memory without end."""
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,2\n" * 2**18)
    monkeypatch.setattr(f"symseed.tables.source.{limit}", value)
    with pytest.raises(DataError, match=r"must be at most \d+ MB, [\d,]+ cells and [\d,]+ columns\. Give a part of it"):
        tables.read_table(str(path))
    path.write_bytes(gzip.compress(b"a,y\n" + b"1,2\n" * 2**20))
    with pytest.raises(DataError, match="must be at most"):
        tables.read_table(str(path))


GOOD_FILES: dict[str, tuple[str | bytes, str]] = {
    "3 constant": ("a,y\n1,2\n2,2\n3,2\n", "y = 2\n"),
    "4 constant column": ("b,a,y\n7,1,2\n7,2,4\n7,3,6\n7,5,10\n", "y = "),
    "5 one row": ("a,y\n1,2\n", "y = 2\n"),
    "5 two rows": ("a,y\n1,2\n2,5\n", "y = "),
    "6 doubled rows": ("a,y\n" + "1,2\n2,5\n" * 3, "y = "),
    "7 magnitudes": ("a,y\n1e300,1e-300\n2e300,2e-300\n3e300,3e-300\n", "y = "),
    "1 gaps": ("a,y\n1,2\n\nnan,3\n-inf,4\n2,4\n3,6\n4,8\n", "4 of 6 rows"),
    "11 short row": ("a,y\n1,2\n2,4\n3\n", "2 of 3 rows"),
    "12 complex": ("a,y\n1,2\n2,4\n1+2j,3\n", "1 gap, 1 of them `1+2j`"),
    "18 names": ('"a b",%,N,lambda,λ,__import__,y\n1,2,3,4,5,6,7\n2,1,1,3,4,4,1\n', "y = "),
    "byte order mark": (b"\xef\xbb\xbfa,y\r\n1,2\r\n2,4\r\n", "y = "),
    "broken name": ('"speed\n(m/s)",y\n1,2\n2,4\n', "y = "),
}


@pytest.mark.parametrize("case", GOOD_FILES)
def test_a_file_that_is_merely_odd_is_read(case: str, symseed: Run, tmp_path: Path) -> None:
    content, answer = GOOD_FILES[case]
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    code, out, err = symseed("fit", str(path), "--target", "y", *QUICK)
    assert (code, err) == (0, "")
    assert answer in out


def test_a_name_may_be_broken_over_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('"speed \n (m/s)",y\n1,2\n\n2,3\n')
    assert tables.read_table(str(path)).names == ("speed (m/s)", "y")


def test_whole_numbers_beyond_what_float64_tells_apart_are_warned_of(tmp_path: Path) -> None:
    """Number 13, from a file and from Python's own whole numbers."""
    path = tmp_path / "t.csv"
    path.write_text(f"a,y\n{2**53 + 1},{2.0**60}\n2,{2**53}\n")
    with pytest.warns(UserWarning, match=r"Column `a` of .* holds whole numbers beyond 2\^53, which") as caught:
        tables.read_table(str(path)).select(["y"])
    assert len(caught) == 1, "neither 2^53 nor a number with a point was rounded"
    frame = pd.DataFrame({"a": [2**70, 1] * 20}, dtype=object)
    with pytest.warns(UserWarning, match=r"^Column `a` of `X` holds whole numbers beyond 2\^53"):
        quick().fit(frame, NOISY)


# --- Large tables ----------------------------------------------------------------------------------------------------


def test_many_columns_are_read_and_their_names_found(tmp_path: Path) -> None:
    """Number 9: the time grows with the columns, not with their square."""
    path = tmp_path / "t.csv"
    path.write_text(",".join([*(f"c{i}" for i in range(20_000)), "y"]) + "\n" + ("1" + ",2" * 20_000 + "\n") * 3)
    table = tables.read_table(str(path))
    assert table.select(["y"]).X.shape == (3, 20_000)
    with pytest.raises(DataError, match=r"`c9` and 19991 more\.$"):
        table.select(["z"])
    wide = np.zeros((20, 30_000))
    wide[:, 7_777] = X[:20, 0]
    with pytest.warns(UserWarning, match="`X` has 30000 columns, but a search uses at most 64: those that explain"):
        model = quick(max_evals=200).fit(wide, wide[:, 7_777])
    assert str(model.best_) == "x7778"


def test_many_rows_take_memory_in_proportion_to_their_number() -> None:
    """Number 17: the search sees a sample, so that no table of rows by formulas is ever made of all."""
    table = np.random.default_rng(0).uniform(0.5, 2.0, (1_000_000, 2))
    tracemalloc.start()
    with pytest.warns(UserWarning, match="`X` has 1,000,000 rows; the search uses 10,000 of them"):
        model = quick(max_evals=200).fit(table, table[:, 0] + table[:, 1])
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 12 * table.nbytes
    assert model.fronts[0].rows == len(table), "formulas are judged on all rows"
    assert np.isfinite(model.predict(table)).all()


# --- What is taken is a copy -----------------------------------------------------------------------------------------


def test_data_that_change_during_a_fit_do_not_change_it() -> None:
    """Number 24."""
    table, target, weights = X.copy(), NOISY.copy(), np.ones(40)

    def change(loss: float, complexity: int) -> bool:
        table[:], target[:], weights[:] = np.nan, np.nan, np.nan
        return False

    model = quick(early_stop_condition=change).fit(table, target, weights)
    assert np.isnan(table).all()
    expected = quick(early_stop_condition=lambda loss, complexity: False).fit(X, NOISY, np.ones(40))
    assert [str(item.expression) for item in model.pareto_front_] == [
        str(item.expression) for item in expected.pareto_front_
    ]


def test_smallest_sizes_and_needless_operators_get_an_answer() -> None:
    """Number 22: the smallest tree is one token, so that no `maxsize` is too small."""
    assert str(quick(maxsize=1).fit(X, X[:, 1]).best_) == "x2"
    with pytest.raises(SettingsError, match="must name each operator once, but has `sin` twice"):
        quick(unary_operators=["sin", "sin"]).fit(X, NOISY)


# --- Numbers ---------------------------------------------------------------------------------------------------------


def test_where_no_formula_has_a_value_there_is_still_a_number() -> None:
    """Numbers 25 and 29: of logarithms of negative numbers alone, and of one column alone, little can be written."""
    model = quick(binary_operators=(), unary_operators=["log"], max_evals=2_000).fit(-X, NOISY)
    np.testing.assert_allclose(model.predict(-X), NOISY.mean())


def test_towers_of_exponentials_overflow_into_nothing_worse_than_no_value() -> None:
    """Number 26."""
    model = quick(binary_operators=("^", "*"), unary_operators=["exp", "square"], max_evals=3_000).fit(X * 50, NOISY)
    for index in range(len(model.equations_)):
        assert np.isfinite(model.predict(X * 50, index)).all()
    tower = Expression.parse("exp(exp(exp(exp(x1))))", Library.of(["exp"], 1))
    assert np.isnan(tower.evaluate(np.array([[3.0]]))).all()


def test_a_search_out_of_memory_says_so_and_keeps_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Number 39."""

    def broken(portfolio: Portfolio, found: Sequence[Row]) -> None:
        raise MemoryError

    monkeypatch.setattr(Portfolio, "_assemble", broken)
    model = quick()
    with pytest.raises(MemoryError):
        model.fit(X, NOISY)
    assert model.interrupted_
    assert np.isfinite(model.predict(X)).all()


def test_the_command_line_out_of_memory_says_so(symseed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(source: str, options: tables.TableOptions) -> None:
        raise MemoryError

    monkeypatch.setattr(tables, "read", broken)
    code, out, err = symseed("fit", "planets", "--target", "period_days", *QUICK)
    assert (code, out) == (1, "")
    assert err == "symseed: There is not enough memory. Use fewer samples or columns.\n"


# --- Processes -------------------------------------------------------------------------------------------------------


forks = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")


def started(work: Callable[[Any], None]) -> tuple[Any, Any]:
    """A process of its own, without the seconds that a new interpreter takes to begin, and what it puts out."""
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=work, args=(answers,))
    child.start()
    return child, answers


def _fit_elsewhere(answers: Any) -> None:
    answers.put(str(quick(n_jobs=2).fit(X, NOISY).best_))


@forks
def test_a_process_forked_after_threads_comes_to_the_same_answer() -> None:
    """Number 40; `test_estimator.py` has joblib's own processes."""
    expected = str(quick(n_jobs=2).fit(X, NOISY).best_)
    child, answers = started(_fit_elsewhere)
    child.join(120.0)
    assert child.exitcode == 0
    assert answers.get() == expected


def test_a_clock_that_jumps_does_not_end_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Number 41: time limits are of a clock that only goes on."""
    jumps = iter(range(10**9, 0, -(10**6)))
    monkeypatch.setattr(time, "time", lambda: float(next(jumps)))
    assert quick(max_time=1e3).fit(X, NOISY).stop_reason_ == "The budget of expressions is used up."


def test_what_a_function_of_the_users_raises_is_raised_and_the_best_so_far_kept() -> None:
    """Number 43."""

    def broken(loss: float, complexity: int) -> bool:
        raise ZeroDivisionError("mine")

    model = quick(early_stop_condition=broken)
    with pytest.raises(ZeroDivisionError, match="mine"):
        model.fit(X, NOISY)
    assert np.isfinite(model.predict(X)).all()


def _fit_until_interrupted(answers: Any) -> None:
    gc.callbacks.clear()  # hypothesis counts collections; Python ignores what they raise, a KeyboardInterrupt too
    rng = np.random.default_rng(0)
    table = rng.uniform(0.5, 3.0, (5_000, 5))
    target = (
        np.exp(-table[:, 0]) * np.sin(3.0 * table[:, 1]) + table[:, 2] / table[:, 3] + 0.05 * rng.normal(size=5_000)
    )
    begun = iter(["ready"])  # at the first formula: it is asked again after every turn
    model = SymbolicRegressor(
        max_time=None, patience=None, random_state=0, callback=lambda progress: any(map(answers.put, begun))
    ).fit(table, target)
    answers.put((model.interrupted_, bool(np.isfinite(model.predict(table)).all())))


@forks
@pytest.mark.parametrize("seconds", [0.3, 2.0])
def test_ctrl_c_gives_the_best_so_far_while_the_first_formulas_are_put_together(seconds: float) -> None:
    """Number 32: for some seconds that takes large steps of NumPy's and of our own."""
    child, answers = started(_fit_until_interrupted)
    assert answers.get() == "ready"
    time.sleep(seconds)
    assert child.pid is not None
    try:
        os.kill(child.pid, signal.SIGINT)
        child.join(60.0)
        assert child.exitcode == 0
        assert answers.get() == (True, True)
    finally:
        child.kill()


def test_two_interrupts_give_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Portfolio, "_assemble", interrupt)
    monkeypatch.setattr("symseed.regressor.front.pareto", interrupt)
    with pytest.raises(KeyboardInterrupt):
        quick().fit(X, NOISY)


# --- Consoles --------------------------------------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose formula has letters, and more, that not every console shows."""
    frame = pd.DataFrame({"λ \x1b[2J": X[:, 0]})
    model = quick(output_directory=tmp_path / "runs").fit(frame, X[:, 0])
    assert model.run_directory_ is not None
    return Path(model.run_directory_)


def test_a_console_that_lacks_letters_shows_them_in_another_way(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Number 42."""
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="cp1252"))
    monkeypatch.setattr(sys, "argv", ["symseed", "show", str(run)])
    monkeypatch.setattr("warnings.showwarning", None)
    with pytest.raises(SystemExit, match="0"):
        main.main()
    sys.stdout.flush()
    assert rb"y = `\u03bb \x1b[2J`" in written.getvalue()


def test_nobody_to_write_to_and_nobody_to_read_from_do_no_harm(
    tmp_path: Path, symseed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    assert symseed("fit", "planets", "--target", "period_days", *QUICK)[0] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX systems")
def test_a_reader_that_leaves_ends_the_command_quietly() -> None:
    command = [str(Path(sys.executable).parent / "symseed"), "fit", "planets", "--target", "period_days", *QUICK]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 1


def test_names_move_no_cursor() -> None:
    assert for_terminal("a\x1b[2J\x07\x9b\r\n\tλ") == "a\\x1b[2J\\x07\\x9b\\x0d\n\tλ"


# --- Hostile text ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os').system('true')",
        "axis_au.__class__",
        "lambda: 1",
        "(" * 30_000,
        "-" * 15_000 + "axis_au",
        "9" * 1_000,
        "axis_au + \x1b[2J",
        "eval(axis_au)",
    ],
    ids=lambda formula: formula[:12],
)
def test_hostile_text_at_the_command_line_gets_one_short_sentence(formula: str, symseed: Run) -> None:
    """Number 45."""
    code, out, err = symseed("evaluate", "planets", "--target", "period_days", "--", formula)
    assert (code, out) == (2, "")
    assert err.startswith("symseed: ")
    assert len(err) < 600
    assert "\x1b" not in err


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("c.toml", "maxsiz = 3\n", "`c.toml` has `maxsiz`, which is not a setting. Did you mean `maxsize`?"),
        ("c.yaml", "maxsize: 3\n", "`--config` must be a TOML file of settings, but `c.yaml` cannot be read"),
        ("c.yaml", "!!python/object/apply:os.system ['true']\n", "must be a TOML file of settings"),
        ("c.toml", "settings = 3\n", "`c.toml` must hold settings, but `settings` in it is 3."),
        ("c.toml", 'early_stop_condition = "os.system"\n', "`early_stop_condition` must be a number"),
        ("c.toml", "\xff", "must be a TOML file of settings"),
    ],
)
def test_a_config_that_is_none_gets_a_sentence(
    name: str, content: str, sentence: str, symseed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Number 46."""
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    monkeypatch.chdir(tmp_path)
    code, out, err = symseed("fit", "planets", "--target", "period_days", "--config", name, *QUICK)
    assert (code, out) == (2, "")
    assert sentence in err


def test_a_column_that_we_add_is_no_formula_of_a_spreadsheet(symseed: Run, tmp_path: Path) -> None:
    """Number 48: what the user's own file holds stays as it is, or its columns would not be found again."""
    path = tmp_path / "t.csv"
    path.write_text("=cmd|' /C calc'!A0,label,=y\n1,=1+1,2\n2,@b,4\n3,-c,6\n")
    common = ("--target", "=y", "--output-directory", str(tmp_path / "runs"), *QUICK[1:])
    code, _, err = symseed("fit", str(path), *common)
    assert code == 0, err
    folder = next((tmp_path / "runs").iterdir())
    for row in (folder / "front.csv").read_text().splitlines()[1:]:
        assert row.split(",")[3].strip('"')[0] not in "=@"
    _, out, _ = symseed("predict", str(folder), str(path))
    header, first, *_ = out.splitlines()
    assert header == "=cmd|' /C calc'!A0,label,=y,'=y predicted"
    assert first.startswith("1,=1+1,2,")


def test_a_front_of_very_long_names_reads_back() -> None:
    """Number 18: a run with such names can be shown and resumed."""
    name = "n " * 5_000
    library = Library.of(["add", "mul"], [name])
    cubic = Expression.parse("x1 * x1 * x1 + x1", library)
    assert len(str(cubic)) > 40_000
    assert Expression.parse(str(cubic), library) == cubic
    assert Dataset.of(X[:, :1], NOISY, names=[name]).names == (name,)
