"""The kinds of file that people have, with the bytes that such files really have: each is read rightly, and says so."""

from __future__ import annotations

import datetime
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest

from symseed import DataError, SettingsError, read_table
from symseed.tables import Selection, TableOptions, header, read

Read = Callable[..., Selection]


@pytest.fixture
def chosen(tmp_path: Path) -> Read:
    """Read some bytes as a file, and choose `y` as the target."""

    def chosen(content: str | bytes, *, target: str = "y", missing: str = "drop", **options: Any) -> Selection:
        path = tmp_path / "table.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_table(str(path), **options).select([target], missing=missing)

    return chosen


PLAIN = [[1.5, 10.0], [2.5, 20.0], [3.25, 40.0]], [2.0, 4.5, 8.0]
GERMAN = "Höhe;n;y\r\n1,5;10;2\r\n2,5;20;4,5\r\n3,25;40;8\r\n"

SAME: dict[str, tuple[str | bytes, str]] = {
    "commas": ("a,n,y\n1.5,10,2\n2.5,20,4.5\n3.25,40,8\n", "commas between columns; UTF-8"),
    "byte order mark": (b"\xef\xbb\xbfa,n,y\r\n1.5,10,2\r\n2.5,20,4.5\r\n3.25,40,8\r\n", "UTF-8"),
    "semicolons": ("a;n;y\n1.5;10;2\n2.5;20;4.5\n3.25;40;8\n", "semicolons between columns"),
    "decimal commas": (GERMAN, "semicolons between columns; decimal commas; UTF-8"),
    "decimal commas, Latin-1": (GERMAN.encode("latin-1"), "decimal commas; Latin-1"),
    "decimal commas, UTF-16": (GERMAN.encode("utf-16"), "decimal commas; UTF-16"),
    "UTF-16 without a mark": (GERMAN.encode("utf-16-le"), "decimal commas; UTF-16-LE"),
    "tabs": ("a\tn\ty\n1.5\t10\t2\n2.5\t20\t4.5\n3.25\t40\t8\n", "tabs between columns"),
    "bars": ("a|n|y\n1.5|10|2\n2.5|20|4.5\n3.25|40|8\n", "bars between columns"),
    "blanks": ("   a    n   y\n 1.5   10   2\n 2.5   20 4.5\n3.25   40   8\n", "blanks between columns"),
    "blanks and decimal commas": ("a n y\n1,5 10 2\n2,5 20 4,5\n3,25 40 8\n", "blanks between columns; decimal commas"),
    "sep=;": ("sep=;\r\na;n;y\r\n1,5;10;2\r\n2,5;20;4,5\r\n3,25;40;8\r\n", "semicolons between columns"),
    "comments": (
        "# logger 7, run 3\n# it rained\na,n,y\n1.5,10,2\n# a pause\n2.5,20,4.5\n3.25,40,8\n",
        "3 comment lines",
    ),
    "names in a comment": ("# a n y\n1.5 10 2\n2.5 20 4.5\n3.25 40 8\n", "blanks between columns"),
    "index without a name": (",a,n,y\n0,1.5,10,2\n1,2.5,20,4.5\n2,3.25,40,8\n", "x1  left out  row numbers"),
    "row names of R": ('"a" "n" "y"\n"1" 1.5 10 2\n"2" 2.5 20 4.5\n"3" 3.25 40 8\n', "x1  left out  row numbers"),
    "trailing empty column": ("a,n,y,\n1.5,10,2,\n2.5,20,4.5,\n3.25,40,8,\n", "1 empty column without a name."),
    "trailing separators": ("a,n,y\n1.5,10,2,\n2.5,20,4.5,\n3.25,40,8,\n", "1 empty column without a name."),
    "title": ("Height of the tide\n\na;n;y\n1,5;10;2\n2,5;20;4,5\n3,25;40;8\n", "1 line\n  above the header"),
    "ids": ("id,a,n,y\n1007,1.5,10,2\n1003,2.5,20,4.5\n1012,3.25,40,8\n", "id  left out  row numbers"),
    "empty rows": ("a,n,y\n1.5,10,2\n2.5,20,4.5\n3.25,40,8\n,,\n,,\n,,\n", "3 empty rows skipped."),
    "quoted newline": ('a,"n\n(pieces)",y,t\n1.5,10,2,"x\n# y"\n2.5,20,4.5,z\n3.25,40,8,z\n', "t           left out"),
    "old Mac": (b"a,n,y\r1.5,10,2\r2.5,20,4.5\r3.25,40,8\r", "3 rows"),
    "packed": (gzip.compress(b"a,n,y\n1.5,10,2\n2.5,20,4.5\n3.25,40,8\n"), "commas between columns"),
    "Fortran": ("a n y\n0.15D+01 10 2\n0.25D+01 20 4.5\n0.325D+01 40 8\n", "blanks between columns"),
    "JSON lines": (
        '{"a": 1.5, "n": 10, "y": 2}\n{"a": 2.5, "n": 20, "y": 4.5}\n{"y": 8, "n": 40, "a": 3.25}\n',
        "JSON lines",
    ),
    "JSON": ('[{"a": 1.5, "n": 10, "y": 2}, {"a": 2.5, "n": 20, "y": 4.5}, {"a": 3.25, "n": 40, "y": 8}]', "JSON"),
    "JSON of columns": ('{"a": [1.5, 2.5, 3.25], "n": [10, 20, 40], "y": [2, 4.5, 8]}', "JSON"),
}
"""Kinds of file with the same table in it, and what is said of each."""


@pytest.mark.parametrize("kind", SAME)
def test_the_same_table_is_read_from_a_file_of_any_kind(kind: str, chosen: Read) -> None:
    content, said = SAME[kind]
    found = chosen(content)
    assert found.X.tolist() == PLAIN[0]
    assert found.y[:, 0].tolist() == PLAIN[1]
    assert said in found.report.text()
    assert max(map(len, found.report.text().splitlines())) <= 80


@pytest.mark.parametrize(
    ("cells", "values", "said"),
    [
        (['"1,200.5"', '"900"', '"12,000"'], [1200.5, 900.0, 12000.0], "`1,200.5` as 1200.5"),
        (["$3.50", "-$1", "$1200"], [3.5, -1.0, 1200.0], "`$3.50` as 3.5"),
        (["3.50 €", "2 €", "1 €"], [3.5, 2.0, 1.0], "`3.50 €` as 3.5"),
        (["12%", "7.5 %", "100%"], [12.0, 7.5, 100.0], "`12%` as 12"),
        (["12.5 mm", "7 mm", "3 mm"], [12.5, 7.0, 3.0], "`12.5 mm` as 12.5"),
        (["1'200.5", "3'000.25", "17"], [1200.5, 3000.25, 17.0], "`1'200.5` as 1200.5"),
        (["1 200.5", "3\u00a0000.25", "17"], [1200.5, 3000.25, 17.0], "`1 200.5` as 1200.5"),
        (["true", "False", "TRUE"], [1.0, 0.0, 1.0], "true or false; true as 1, false as 0"),
        (["−1.5", "+2", "1e-3"], [-1.5, 2.0, 1e-3], "numbers"),
        (["0.1", "0.30000000000000004", "9007199254740993.0"], [0.1, 0.30000000000000004, 9007199254740992.0], ""),
    ],
)
def test_numbers_are_read_as_people_write_them(cells: list[str], values: list[float], said: str, chosen: Read) -> None:
    found = chosen("y,v\n" + "".join(f"{row},{cell}\n" for row, cell in enumerate(cells)))
    assert found.X[:, 0].tolist() == values
    assert said in found.report.text()


def test_thousands_are_told_from_decimals_by_what_else_is_in_the_file(chosen: Read) -> None:
    german = chosen("v;y\n1.234;0,5\n12.345;1,5\n")
    assert german.X[:, 0].tolist() == [1234.0, 12345.0]
    assert "`1.234` as 1234" in german.report.text()
    assert chosen("v;y\n1.234;0.5\n12.345;1.5\n").X[:, 0].tolist() == [1.234, 12.345]
    assert chosen("v;y\n1.234.567;0\n12.345;1\n").X[:, 0].tolist() == [1234567.0, 12345.0]
    assert chosen("v,y\n1.234,0\n12.345,1\n").X[:, 0].tolist() == [1.234, 12.345], "RFC 4180"
    late = "v;y\n" + "950;1\n" * 5_000
    assert chosen(late + "1.050;0,5\n").X[-1, 0] == 1050.0, "what settles it stands at the end"
    # One column has points and another commas: each speaks for itself.
    both = chosen("v;w;y\n1,5;1.5;1\n2,5;2.5;2\n")
    assert both.X.tolist() == [[1.5, 1.5], [2.5, 2.5]]


@pytest.mark.parametrize("content", ["v;y\n1.234;5\n", "v\ty\n1,234\t5\n", 'v,y\n"1,234",5\n', "v y\n1.234 5\n"])
def test_what_can_be_read_in_two_ways_is_asked_about(content: str, chosen: Read) -> None:
    with pytest.raises(DataError, match=r"Column `v` .* shows whether that is 1\.?234 or 1\.?234\. Say which mark is"):
        chosen(content)
    values = {chosen(content, decimal=mark).X[0, 0] for mark in (".", ",")}
    assert values == {1.234, 1234.0}


def test_a_late_number_that_can_be_read_in_two_ways_is_asked_about(chosen: Read) -> None:
    with pytest.raises(DataError, match=r"`1\.050`"):
        chosen("v;y\n" + "950;1\n" * 5_000 + "1.050;2\n")


# --- Names and units --------------------------------------------------------------------------------------------------


def test_a_row_of_units_is_used_as_units(chosen: Read) -> None:
    found = chosen("v,n,site,y\n[m/s],-,,kg\n1.5,2,A,3\n2.5,4,B,6\n")
    assert found.X.tolist() == [[1.5, 2.0], [2.5, 4.0]]
    assert found.units == {"v": "m/s", "n": "", "y": "kg"}
    assert "v     input     numbers in m/s" in found.report.text()


def test_a_row_of_units_that_is_not_understood_is_recognised_and_not_used(chosen: Read) -> None:
    found = chosen("v,n,y\nm/s,furlong,kg\n1.5,2,3\n2.5,4,6\n")
    assert found.X.tolist() == [[1.5, 2.0], [2.5, 4.0]]
    assert found.units == {}
    assert "The row of units is not used: `furlong` of `n` is not a unit that is known." in found.report.notes[0]


def test_a_first_row_without_numbers_is_no_row_of_units(chosen: Read) -> None:
    found = chosen("sex,v,y\nm,n.d.,3\nf,2,6\nm,3,7\n")
    assert found.units == {}
    assert (found.report.rows, found.report.used) == (3, 2)


def test_without_a_header_columns_have_numbers_and_nothing_is_lost(chosen: Read) -> None:
    found = chosen("1,2,3\n4,5,6\n", target="x3")
    assert found.X.tolist() == [[1.0, 2.0], [4.0, 5.0]]
    assert found.report.notes == ("The file has no header: its columns are called x1 to x3.",)
    with pytest.raises(DataError, match=r"has no column `y`\. Its columns are `x1`, `x2`, `x3`"):
        chosen("1,2,3\n4,5,6\n")


def test_names_that_are_there_twice_are_told_apart(chosen: Read) -> None:
    found = chosen("a,a_2,a,y\n1,2,3,4\n5,6,7,9\n")
    assert found.names == ("a", "a_2", "a_3")
    assert found.report.notes == ("Some names occur twice; the later columns are called `a_3`.",)


# --- Gaps -------------------------------------------------------------------------------------------------------------

GAPPY = "a,b,y\n1,1,1\nNA,2,2\n3,,3\n4,-,4\n<0.1,5,5\n6,6,\n7,7,7\n8,8,8\n9,9,n/a\n"


def test_rows_with_gaps_are_left_out_and_counted(chosen: Read) -> None:
    found = chosen(GAPPY)
    assert found.X.tolist() == [[1.0, 1.0], [7.0, 7.0], [8.0, 8.0]]
    text = found.report.text()
    assert "3 of 9 rows" in text
    assert "a  input   numbers; 2 gaps, 1 of them `<0.1`" in text
    assert "b  input   numbers; 2 gaps" in text
    assert "6 rows with gaps were left out; `--missing mean` fills gaps of inputs." in text


def test_the_mean_fills_inputs_and_never_the_target(chosen: Read) -> None:
    found = chosen(GAPPY, missing="mean")
    assert found.y[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 8.0]
    assert found.X[1, 0] == np.mean([1, 3, 4, 7, 8]), "the mean of the rows that are used"
    assert "2 filled by the mean" in found.report.text()
    assert found.report.notes == (
        "2 rows with gaps were left out: no target or weight.",
        "4 gaps of inputs were filled.",
    )


def test_gaps_can_be_refused_with_their_counts(chosen: Read) -> None:
    with pytest.raises(DataError, match=r"6 of 9 rows of `.*` have gaps: `a` 2, `b` 2, `y` 2\. Fill them, or give"):
        chosen(GAPPY, missing="error")
    with pytest.raises(SettingsError, match="`missing` must be one of drop, mean, error"):
        chosen(GAPPY, missing="median")


def test_a_column_that_is_mostly_gaps_costs_no_rows_unless_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,rare,y\n1,,1\n2,,2\n3,5,3\n4,,4\n")
    table = read_table(str(path))
    found = table.select(["y"])
    assert (found.names, len(found.X)) == (("a",), 4)
    assert found.report.notes == ("More than half of `rare` are gaps; name it as an input to use it.",)
    assert len(table.select(["y"], inputs=["a", "rare"]).X) == 1
    path.write_text("rare,y\n,1\n,2\n5,3\n")
    assert len(read_table(str(path)).select(["y"]).X) == 1, "there is no other input"


# --- Text and dates ---------------------------------------------------------------------------------------------------

LOG = "when,site,clock,v,y\n2024-01-01 00:00,A,00:10,1,2\n2024-01-01 12:30,B,00:20,2,3\n,A,1:00,3,4\n"


def test_dates_and_text_are_left_out_and_named(chosen: Read) -> None:
    found = chosen(LOG)
    assert found.names == ("v",)
    text = found.report.text()
    assert "when   left out  dates; such as 2024-01-01 00:00; 1 gap" in text
    assert "site   left out  text; 2 values" in text
    assert "clock  left out  times; such as 00:10" in text
    with pytest.raises(DataError, match=r"`when` .* holds dates such as `2024-01-01 00:00`\. Give `--dates seconds`"):
        chosen(LOG, target="when")


def test_dates_and_times_become_seconds_where_that_is_asked_for(chosen: Read) -> None:
    found = chosen(LOG, dates="seconds")
    assert found.names == ("when", "clock", "v")
    assert found.X[:, 0].tolist() == [0.0, 45_000.0]
    assert found.X[:, 1].tolist() == [600.0, 1200.0]
    assert "as seconds since 2024-01-01 00:00:00" in found.report.text()


def test_seconds_of_other_rows_count_from_the_same_moment(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("when\n2024-01-02\n")
    options = TableOptions(dates="seconds", origins={"when": "2024-01-01T00:00:00+00:00"})
    assert read(str(path), options).numbers(["when"]).tolist() == [[86_400.0]]


@pytest.mark.parametrize(
    ("first", "second", "dates", "seconds"),
    [
        ("31.12.2023", "01.01.2024", "seconds", 86_400.0),
        ("12/31/2023", "01/01/2024", "seconds", 86_400.0),
        ("03/04/2024", "03/05/2024", "month-first", 86_400.0),
        ("03/04/2024", "04/04/2024", "day-first", 86_400.0),
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5+00:00", "seconds", 0.5),
        ("2024-01-01T01:00:00+01:00", "2024-01-01T00:00:01Z", "seconds", 1.0),
        ("1/13/24 11:59 PM", "1/14/24 12:01 AM", "seconds", 120.0),
    ],
)
def test_dates_are_read_in_the_order_that_they_show(
    first: str, second: str, dates: str, seconds: float, chosen: Read
) -> None:
    assert chosen(f"t,y\n{first},1\n{second},2\n", dates=dates).X[:, 0].tolist() == [0.0, seconds]


def test_dates_whose_day_and_month_cannot_be_told_apart_are_asked_about(chosen: Read) -> None:
    with pytest.raises(DataError, match=r"day and month cannot be told apart\. Say which is first by `--dates day-"):
        chosen("t,y\n03/04/2024,1\n03/05/2024,2\n", dates="seconds")


# --- Files that are not text ------------------------------------------------------------------------------------------


def workbook(*sheets: tuple[str, list[list[Any]]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_a_workbook_is_read_with_its_title_units_dates_and_gaps(chosen: Read) -> None:
    day = datetime.datetime(2024, 1, 1)
    rows: list[list[Any]] = [
        ["Tide at the pier"],
        [None],
        ["when", "v", "n", "ok", "y"],
        [None, "m/s", "-", None, "kg"],
        [day, 1.5, 10, True, 2],
        [day + datetime.timedelta(hours=1), 2.5, 20, False, 4.5],
        [day + datetime.timedelta(hours=2), "NA", 30, True, 5],
        [day + datetime.timedelta(hours=3), 3.25, 40, False, 8],
    ]
    content = workbook(("Tide", rows), ("Notes", [["nothing"]]))
    found = chosen(content)
    assert found.names == ("v", "n", "ok")
    assert found.X.tolist() == [[1.5, 10.0, 1.0], [2.5, 20.0, 0.0], [3.25, 40.0, 0.0]]
    assert found.units["v"] == "m/s"
    assert "sheet `Tide` of 2" in found.report.text()
    assert "1 row above the header" in found.report.text()
    assert chosen(content, dates="seconds").X[:, 0].tolist() == [0.0, 3600.0, 10_800.0]
    with pytest.raises(SettingsError, match=r"no sheet `tide`\. Its sheets are `Tide`, `Notes`\. Did you mean `Tide`"):
        chosen(content, sheet="tide")


def test_parquet_and_feather_are_read(chosen: Read) -> None:
    frame = pd.DataFrame(
        {
            "when": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"]),
            "site": pd.Categorical(["A", "B", "A"]),
            "a": pd.array([1.5, 2.5, None], dtype="Float64"),
            "n": pd.array([1, 2, 3], dtype="int32"),
            "ok": [True, False, True],
            "y": [2.0, 4.0, 6.0],
        }
    )
    for write, said in ((frame.to_parquet, "Parquet"), (frame.to_feather, "Feather")):
        file = io.BytesIO()
        write(file)
        found = chosen(file.getvalue())
        assert found.names == ("a", "n", "ok")
        assert found.X.tolist() == [[1.5, 1.0, 1.0], [2.5, 2.0, 0.0]]
        assert f"table.csv: 2 of 3 rows; {said}" in found.report.text()
        assert chosen(file.getvalue(), dates="seconds").X[:, 0].tolist() == [0.0, 86_400.0]


@pytest.mark.parametrize(
    ("module", "content", "extra"), [("python_calamine", b"PK\x03\x04", "excel"), ("pyarrow", b"PAR1", "parquet")]
)
def test_a_reader_that_is_not_installed_is_named_with_the_command(
    module: str, content: bytes, extra: str, chosen: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(SettingsError, match=rf"pip install 'symseed\[{extra}\]', or save it as CSV"):
        chosen(content)


def test_nested_and_missing_values_of_json_are_read(chosen: Read) -> None:
    found = chosen('{"at": {"x": 1}, "y": 2, "tags": ["p"]}\n{"at": {"x": 2}, "y": 3}\n{"y": 4}\n')
    assert found.names == ("at.x",)
    assert found.X[:, 0].tolist() == [1.0, 2.0]


# --- What is said -----------------------------------------------------------------------------------------------------


def test_a_report_survives_a_file(chosen: Read) -> None:
    report = chosen(LOG, dates="seconds").report
    assert type(report).of_values(json.loads(json.dumps(report.values()))) == report
    with pytest.raises(DataError, match="The report of a table lacks something"):
        type(report).of_values({"source": "x"})


def test_a_wide_table_is_told_in_few_lines(chosen: Read) -> None:
    names = [*(f"c{i}" for i in range(300)), "y"]
    found = chosen(",".join([*names, "t"]) + "\n" + ("1" + ",2" * 300 + ",x\n") * 3)
    lines = found.report.text().splitlines()
    assert len(lines) < 30
    assert lines[-1] == "  and 279 more inputs"
    assert any(line.split() == ["t", "left", "out", "text;", "1", "value"] for line in lines)


def test_columns_can_be_chosen_and_weighed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,w,y\n1,2,1,3\n4,5,2,6\n7,8,,9\n")
    table = read_table(str(path))
    found = table.select(["y"], weights="w")
    assert (found.names, found.weights.tolist()) == (("a", "b"), [1.0, 2.0])
    assert table.select(["y"], drop=["w"]).names == ("a", "b")
    assert table.select(["y"], inputs=["b", "a"]).names == ("b", "a")
    with pytest.raises(SettingsError, match="`y` cannot be both target and input"):
        table.select(["y"], inputs=["y"])
    with pytest.raises(DataError, match="has no column `c`"):
        table.select(["y"], drop=["c"])
    assert list(table.frame) == ["a", "b", "w", "y"]
    assert table.report.text().splitlines()[1] == "  a  usable  numbers"


def test_texts_are_kept_as_they_are_written_where_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;y;\n1,50;NA;\n;;\n")
    table = read(str(path), TableOptions(), as_texts=True)
    assert [list(column.cells) for column in table.columns] == [["1,50", ""], ["NA", ""], ["", ""]]
    assert np.array_equal(table.numbers(["a"])[:, 0], [1.5, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ({"separator": "ab"}, "`separator` must be one character, tab or blanks"),
        ({"decimal": ";"}, "`decimal` must be `.` or `,`"),
        ({"dates": "years"}, "`dates` must be one of leave, seconds"),
        ({"encoding": "zlib"}, "`encoding` must be one that Python knows"),
    ],
)
def test_an_option_that_is_none_gets_a_sentence(option: dict[str, str], sentence: str, chosen: Read) -> None:
    with pytest.raises(SettingsError, match=sentence):
        chosen("a,y\n1,2\n", **option)


def test_options_come_before_what_the_file_shows(chosen: Read) -> None:
    assert chosen("a y,z\n1 2,3\n", separator="blanks", target="y,z").y[0, 0] == 2.3
    assert chosen("ä,y\n1,2\n".encode("cp437"), encoding="cp437").names == ("ä",)
    with pytest.raises(DataError, match="is not text in ascii"):
        chosen("ä,y\n1,2\n", encoding="ascii")


def test_a_header_is_found_without_the_rest_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"# a log\n;t (\xb0C);y\n" + b"1;2,5;3\n" * 50_000)
    assert header(str(path)) == ["t (°C)", "y"]
    assert header("planets") == ["planet", "axis_au", "period_days"]
    with pytest.raises(DataError):
        header(str(tmp_path))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_every_bit_of_a_number_survives(separator: str, decimal: str, encoding: str, chosen: Read) -> None:
    """What pandas writes in any dialect is read back, also as texts."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(20, 3)) * 10.0 ** rng.integers(-12, 12, (20, 3))
    frame = pd.DataFrame(values, columns=["größe", "n", "y"])
    content = frame.to_csv(index=False, sep=separator, decimal=decimal).encode(encoding)
    found = chosen(content)
    assert np.array_equal(found.X, values[:, :2])
    assert np.array_equal(found.y[:, 0], values[:, 2])
    assert found.names == ("größe", "n")


def test_a_file_is_understood_in_the_same_way_as_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for content in (GAPPY, LOG, GERMAN, 'a,y\n"1,5",2\n"2,5",3\n', "a;y\n1e3;NaN\n inf ; 5\n1.5;6\n"):
        path.write_text(content)
        quick, slow = (read(str(path), TableOptions(), as_texts=is_kept) for is_kept in (False, True))
        assert [column.meaning for column in quick.columns] == [column.meaning for column in slow.columns]
        assert [column.gaps for column in quick.columns] == [column.gaps for column in slow.columns]
        names = [column.name for column in quick.columns if column.values is not None]
        assert np.array_equal(quick.numbers(names), slow.numbers(names), equal_nan=True)
