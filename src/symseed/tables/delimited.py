"""Tables in text: finds the encoding, the separator of columns, the decimal mark, comments and the header.

The first lines decide the layout of a file; pandas then reads all of it.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from symseed.errors import DataError, SettingsError, shown
from symseed.tables import heading, numerals
from symseed.tables.heading import Heading
from symseed.tables.options import TableOptions
from symseed.tables.raw import Raw, called

_SEPARATORS = ("\t", ";", "|", ",", " ")
"""Separators; of those that split the first lines equally well, the first is used."""
_HEAD_LINES, _HEAD_CHARACTERS = 100, 2**18
"""Number of first lines, and most of their characters, that decide the layout: chosen by hand."""
_LONGEST_LINE = 2**22
"""Most characters of one of the first lines: chosen by hand."""
_COMMENT = re.compile(r"[ \t]*(?:#(?![,;|])|%(?![,;|\t])|//)")
_COMMENTS = re.compile(r'("(?:[^"]|"")*")|^[ \t]*(?:#(?![,;|])|%(?![,;|\t])|//)[^\r\n]*', re.MULTILINE)
_SAYS_SEPARATOR = re.compile(r'"?sep=(.)"?[ \t,;]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)
_CONTROLS = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ENCODINGS = {"utf-8-sig": "UTF-8", "cp1252": "Latin-1", "latin-1": "Latin-1"}


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a text is laid out."""

    separator: str
    heading: Heading
    begins: int
    """Position of the first row of values, in characters."""
    comments: int = 0


def read(content: bytes, source: str, options: TableOptions, *, as_texts: bool) -> Raw:
    """Read a table in text.

    Args:
        as_texts: whether cells stay as they are written.

    Raises:
        DataError: if it is not a table in text.
        SettingsError: if an option does not suit it.
    """
    text, encoding = decoded(content, source, options.encoding)
    layout, text = _layout(text, source, options)
    body = text[layout.begins :]
    separator, found = layout.separator, layout.heading
    decimal = options.decimal or _decimal(body, separator)
    line = text.count("\n", 0, layout.begins)
    frame = _frame(body, layout, source, None if as_texts else decimal, line)
    facts = [f"{called(separator)} between columns"] if len(found.names) > 1 else []
    facts += ["decimal commas"] if decimal == numerals.COMMA else []
    facts += [_ENCODINGS.get(encoding, encoding.upper())]
    facts += [f"{layout.comments:,} comment line{'s' * (layout.comments > 1)}"] if layout.comments else []
    facts += [f"{found.above} line{'s' * (found.above > 1)} above the header"] if found.above else []
    return Raw(found.names, frame, found.has_header, found.units, decimal, tuple(facts))


def names(content: bytes, source: str) -> tuple[str, ...]:
    """Return the names of the columns of a table in text, from its beginning.

    Raises:
        DataError: if it is not a table in text.
    """
    return _layout(decoded(content, source)[0], source, TableOptions())[0].heading.names


def separator(content: bytes, source: str, options: TableOptions) -> str:
    """Return the separator of the columns of a table in text, from its beginning."""
    return _layout(decoded(content, source, options.encoding)[0], source, options)[0].separator


def _decimal(body: str, separator: str) -> str | None:
    """Return the decimal mark of a file; None if columns differ, or nothing shows it."""
    marks = numerals.marks_in_file(body, separator)
    if marks.settled is not None:
        return marks.settled
    return numerals.POINT if marks == numerals.Marks() else None


# --- Encodings --------------------------------------------------------------------------------------------------------


def decoded(content: bytes, source: str, asked: str | None = None) -> tuple[str, str]:
    """Return a text and its encoding.

    Raises:
        DataError: if it is not text, or mixes encodings.
        SettingsError: if the user's encoding does not exist, or is not that of the file.
    """
    encoding = asked or next((name for mark, name in _BOMS if content.startswith(mark)), None) or _utf16(content)
    if encoding is None:
        return _guessed(content, source)
    try:
        text = content.decode(encoding).removeprefix("\ufeff")
    except LookupError as error:
        raise SettingsError(f"`encoding` must be one that Python knows, such as utf-8 or latin-1: {error}.") from error
    except (UnicodeError, ValueError) as error:
        raise DataError(f"`{source}` is not text in {encoding}: {error}. Give its encoding by `--encoding`.") from error
    if "\0" in text:
        raise DataError(_no_text(source, "NUL characters"))
    return text, encoding


def _utf16(content: bytes) -> str | None:
    """Decode UTF-16 without a byte order mark: every other byte of its beginning is 0."""
    head = content[:200]
    if len(head) < 4 or len(content) % 2:
        return None
    for name, zeros, others in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
        if not any(zeros) and all(others):
            return name
    return None


def _guessed(content: bytes, source: str) -> tuple[str, str]:
    if b"\0" in content or _CONTROLS.search(content[:4096]):
        at = max(content.find(b"\0"), 0)
        raise DataError(_no_text(source, f"bytes that no text has, in line {content.count(10, 0, at) + 1}"))
    try:
        return content.decode(), "utf-8-sig"
    except UnicodeDecodeError as error:
        bad = error
    line = content.count(b"\n", 0, bad.start) + 1
    # If some lines are in UTF-8 and others in Latin-1, either encoding would spoil the letters of the other.
    if any(byte > 127 for byte in content[: bad.start]) or _has_utf8(content[bad.start + 1 :]):
        raise DataError(
            f"`{source}` mixes encodings: line {line} is not UTF-8, and other letters are. Save it in one, or give "
            "`--encoding latin-1` to read every byte as a letter."
        )
    for name in ("cp1252", "latin-1"):
        try:
            return content.decode(name), name
        except UnicodeDecodeError:
            continue
    raise AssertionError("Latin-1 has a letter for every byte")


def _has_utf8(content: bytes) -> bool:
    """Whether the content has letters of two or more bytes in UTF-8, besides bytes that are not UTF-8."""
    return re.search(rb"[\xc3-\xdf][\x80-\xbf](?![\x80-\xbf])|[\xe0-\xef][\x80-\xbf]{2}", content) is not None


def _no_text(source: str, found: str) -> str:
    return (
        f"`{source}` must be a table in text, Excel, Parquet, Feather or JSON, but has {found}. If it is a table, save "
        "it as CSV in UTF-8."
    )


# --- Layout -----------------------------------------------------------------------------------------------------------


def _layout(text: str, source: str, options: TableOptions) -> tuple[_Layout, str]:
    """Return the layout of a text, and the text with its comments blanked."""
    begins = 0
    says = _SAYS_SEPARATOR.match(text)
    asked = options.separator
    if says is not None:
        begins, asked = says.end(), asked or says[1]
    first = text[begins : begins + _HEAD_CHARACTERS]
    comments = 0
    last_comment = ""
    if any(map(_COMMENT.match, first.splitlines())):
        last_comment = _last_comment_above(first)
        text, comments = _without_comments(text)
    lines = list(_lines(text, begins, source))
    separator = asked or _separator(lines)
    records = list(_records(lines, separator, source))
    if not records:
        raise DataError(f"`{source}` must have a header and at least one row of values, but it is empty.")
    found = heading.find([cells for _, cells in records])
    if not found.has_header and last_comment:
        names: list[str] = next(_split([last_comment], separator), [])
        if len(names) == len(found.names):
            found = Heading(found.above, tuple(name.strip() for name in names), has_header=True)
            return _Layout(separator, found, _end(records, found.above - 1, begins), comments - 1), text
    at = _end(records, found.records - 1, begins)
    if not text[at:].strip():
        raise DataError(
            f"`{source}` must have a header and at least one row of values, but has {len(records)} line(s)."
        )
    return _Layout(separator, found, at, comments), text


def _end(records: list[tuple[int, list[str]]], place: int, begins: int) -> int:
    return records[place][0] if place >= 0 else begins


def _without_comments(text: str) -> tuple[str, int]:
    """Blank the lines that are comments, and count them; a line inside quotes is not a comment."""
    count = 0

    def blank(match: re.Match[str]) -> str:
        nonlocal count
        if match[1] is not None:
            return match[0]
        count += 1
        return ""

    return _COMMENTS.sub(blank, text), count


def _last_comment_above(text: str) -> str:
    """Return the last comment above the values without its comment sign: it may hold the names of the columns."""
    last = ""
    for line in text.splitlines():
        sign = _COMMENT.match(line)
        if sign is not None:
            last = line[sign.end() :].strip()
        elif line.strip():
            break
    return last


def _lines(text: str, begins: int, source: str) -> Iterator[tuple[int, str]]:
    """Give the first lines, and the position in the text at which each ends."""
    at, count = begins, 0
    for line in io.StringIO(text[begins : begins + _HEAD_CHARACTERS + _LONGEST_LINE], newline=""):
        at += len(line)
        if line[-1] not in "\r\n" and at < len(text):
            raise DataError(
                f"The first lines of `{source}` must have at most {_LONGEST_LINE:,} characters. Is it a table?"
            )
        count += bool(line.strip())
        yield at, line
        if count > _HEAD_LINES or at - begins > _HEAD_CHARACTERS:
            return


def _split(lines: list[str], separator: str) -> Any:
    """Return Python's CSV reader of some lines."""
    if separator == " ":
        lines = [line.replace("\t", " ").rstrip() + "\n" for line in lines]
    return csv.reader(lines, delimiter=separator, skipinitialspace=True)


def _records(lines: list[tuple[int, str]], separator: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Give the cells of the first records that are not blank, and the position at which each ends."""
    reader = _split([line for _, line in lines], separator)
    try:
        for record in reader:
            if record:
                yield lines[reader.line_num - 1][0], record
    except csv.Error as error:
        raise DataError(
            f"`{source}` must be a table in text, but cannot be read as one at line {reader.line_num}: {error}. "
            "Is a quote left open?"
        ) from error


def _separator(lines: list[tuple[int, str]]) -> str:
    """Return the separator by which most of the first lines have the same number of cells, most of them numbers."""
    best, best_score = ",", 0.0
    for separator in _SEPARATORS:
        try:
            records = [record for record in _split([line for _, line in lines], separator) if record]
        except csv.Error:
            continue
        if len(records) > _HEAD_LINES:
            records = records[:-1]
        widths = Counter(map(len, records))
        width = max(widths, key=lambda one: (widths[one], one), default=1)
        if width < 2:
            continue
        cells = [cell for record in records[1:] or records for cell in record]
        numbers = sum(map(numerals.looks_like_number, cells[:2_000]))
        score = widths[width] / len(records) + numbers / max(1, len(cells[:2_000]))
        if score > best_score + 1e-9:
            best, best_score = separator, score
    return best


# --- Values -----------------------------------------------------------------------------------------------------------


def _frame(body: str, layout: _Layout, source: str, decimal: str | None, line: int) -> Any:
    """Read the values with pandas: columns of decimal numbers as numbers, all others as text."""
    import pandas as pd

    width = len(layout.heading.names)
    settings: dict[str, Any] = {
        "sep": r"\s+" if layout.separator == " " else layout.separator,
        "header": None,
        "names": range(width),
        "index_col": False,
        "skipinitialspace": True,
        "low_memory": False,
        "encoding_errors": "replace",
    }
    if decimal is None:
        settings |= {"dtype": object, "keep_default_na": False, "na_values": []}
    else:
        gaps = sorted({form for gap in numerals.GAPS for form in (gap, gap.upper(), gap.title())})
        settings |= {"decimal": decimal, "na_values": gaps}
    if pd.__version__.startswith(("2.", "3.0")):  # later versions always read a number as Python does
        settings["float_precision"] = "round_trip"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(io.StringIO(body), **settings)
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise DataError(_unreadable(str(error), source, layout, line)) from error
    except pd.errors.EmptyDataError as error:
        raise DataError(f"`{source}` must have at least one row of values, but has none.") from error


def _unreadable(message: str, source: str, layout: _Layout, line: int) -> str:
    """Return a message about what pandas could not read."""
    width = len(layout.heading.names)
    many = re.search(r"Expected \d+ fields in line (\d+), saw (\d+)", message)
    if "EOF inside string" in message:
        row = re.search(r"starting at row (\d+)", message)
        begin = f" that opens in row {int(row[1]) + 1} of its values" if row else ""
        return f"`{source}` ends within a quote{begin}. Close it, or remove it."
    if many is not None or "does not match length" in message:
        where, found = (f"Line {int(many[1]) + line}", many[2]) if many else (f"Line {line + 1}", "more")
        hint = " Are its decimals written with commas? Then put quotes around them." if layout.separator == "," else ""
        return (
            f"{where} of `{source}` has {found} values, but the header has {width}; columns are separated by "
            f"{called(layout.separator)}.{hint} Correct that line, or give `--separator`."
        )
    return f"`{source}` cannot be read as a table: {shown(message, 120)}. Save it as CSV in UTF-8."
