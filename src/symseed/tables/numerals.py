"""Numbers as people write them: decimal marks, thousands, percent, currency; and which decimal mark a text uses."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from symseed.errors import SettingsError
from symseed.space.dimensions import dimension

POINT, COMMA = ".", ","
_OTHER = {POINT: COMMA, COMMA: POINT}
_GAPS_IN_NUMBERS = "'’ \u00a0\u202f\u2009"
"""Separators of thousands, besides the mark that is not the decimal mark: apostrophes and spaces."""
_EXPONENT = r"[eEdD][-+]?\d{1,4}"
_CURRENCY = "$€£¥₹"
_CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR"
_LONGEST_NUMBER = 400
"""Most characters of a number: a float64 needs at most 330."""
_LONGEST_SUFFIX = 20
"""Most characters of a unit or currency after a number: chosen by hand."""

GAPS = frozenset(
    [
        "",
        "na",
        "n/a",
        "n.a.",
        "nan",
        "-nan",
        "null",
        "none",
        "nil",
        "nat",
        "<na>",
        "-",
        "--",
        "---",
        "–",
        "—",
        ".",
        "..",
        "...",
        "?",
        "*",
        "missing",
        "#n/a",
        "#n/a n/a",
        "#na",
        "#div/0!",
        "#value!",
        "#ref!",
        "#num!",
        "#name?",
        "#null!",
        "1.#ind",
        "-1.#ind",
        "1.#qnan",
        "-1.#qnan",
    ]
)
"""Texts that stand for a missing value, in lower case."""


def is_gap(text: str) -> bool:
    """Return whether a text stands for a missing value."""
    return len(text) < 20 and text.strip().casefold() in GAPS


@dataclass(frozen=True, slots=True)
class Marks:
    """What texts show about their decimal mark: an example of each kind, or None."""

    point: str | None = None
    """A number that can only have a decimal point, such as 1.5 or 1,234.5."""
    comma: str | None = None
    """A number that can only have a decimal comma."""
    unsettled: str | None = None
    """A number that can be read in two ways, such as 1.234."""

    @property
    def settled(self) -> str | None:
        """The decimal mark; None if the texts show none, or both."""
        if (self.point is None) == (self.comma is None):
            return None
        return COMMA if self.point is None else POINT


@lru_cache(maxsize=2)
def _settling(mark: str) -> str:
    """Return a pattern of the numbers, without their sign, that show that `mark` is the decimal mark."""
    m, o = re.escape(mark), re.escape(_OTHER[mark])
    return "|".join(
        (
            rf"\d*{m}(?:\d{{4,}}|\d{{1,2}})(?:{_EXPONENT})?",  # 1.5
            rf"\d+{m}\d+{_EXPONENT}",  # 1.234e5
            rf"(?:0\d*|\d{{4,}})?{m}\d{{3}}",  # 0.123, 1234.567, .123
            rf"\d{{1,3}}(?:[{o}{_GAPS_IN_NUMBERS}]\d{{3}})+{m}\d+",  # 1,234.5
            rf"\d{{1,3}}(?:{o}\d{{3}}){{2,}}",  # 1,234,567
        )
    )


def _unsettled(mark: str) -> str:
    return rf"[1-9]\d{{0,2}}{re.escape(mark)}\d{{3}}"


def marks_in_file(text: str, separator: str) -> Marks:
    """Find what shows the decimal mark of a file; a mark that also separates columns counts only within quotes."""
    found: dict[str, str | None] = {}
    for mark in (POINT, COMMA):
        if separator == mark:
            begin, end, needed = '"', '"', '"'
        else:
            between = r" \t" if separator == " " else re.escape(separator)
            begin, end, needed = rf'(?:\A|[{between}"\n\r])', rf'(?:[{between}"\n\r]|\Z)', mark
        if needed not in text:  # a quick test before the slow search below
            continue
        for kind, pattern in ((mark, _settling(mark)), (f"unsettled {mark}", _unsettled(mark))):
            whole = rf"{begin} *[-+−]?[{_CURRENCY}]? ?[-+−]?(?P<number>{pattern})(?= *[%{_CURRENCY}]? *{end})"
            match = re.search(whole, text)
            found.setdefault(kind, None if match is None else match["number"])
            if match is not None:
                break
    point, unsettled = found.get(POINT), found.get("unsettled .")
    if separator == COMMA:
        # In a table separated by commas (RFC 4180), a point is the decimal mark.
        point, unsettled = point or unsettled, None
    return Marks(point, found.get(COMMA), unsettled or found.get("unsettled ,"))


def marks_in_cells(texts: Iterable[str]) -> Marks:
    """Return what the cells of a column show about their decimal mark."""
    point = comma = unsettled = None
    for text in texts:
        parts = _AFFIXED.fullmatch(text.strip()) if len(text) <= _LONGEST_NUMBER else None
        if parts is None:
            continue
        number = parts["number"].strip().lstrip("+-−")
        if point is None and re.fullmatch(_settling(POINT), number):
            point = text
        elif comma is None and re.fullmatch(_settling(COMMA), number):
            comma = text
        elif unsettled is None and re.fullmatch(f"{_unsettled(POINT)}|{_unsettled(COMMA)}", number):
            unsettled = text
        if point is not None and comma is not None:
            break
    return Marks(point, comma, unsettled)


_AFFIXED = re.compile(
    rf"(?P<sign>[-+−]?)\s*(?P<before>[{_CURRENCY}]|(?:{_CODES})(?=[\s\d]))?\s*"
    rf"(?P<number>[-+−]?[\d.,](?:[\d.,]|[{_GAPS_IN_NUMBERS}](?=\d))*(?:{_EXPONENT})?)\s*"
    rf"(?P<after>\D.{{0,{_LONGEST_SUFFIX}}})?",
    re.DOTALL,
)


def looks_like_number(text: str) -> bool:
    """Return whether a text is a number under one of the decimal marks."""
    return any(number(text, mark) is not None for mark in (POINT, COMMA))


@dataclass(frozen=True, slots=True)
class Number:
    """A cell that was read as a number."""

    value: float
    affix: str = ""
    """What stood before or after it: a currency, %, or a unit."""
    grouping: str = ""
    """What separates its thousands."""


def number(text: str, mark: str) -> Number | None:
    """Read a cell with a given decimal mark; None if it is not a number."""
    text = text.strip()
    parts = _AFFIXED.fullmatch(text) if 0 < len(text) <= _LONGEST_NUMBER else None
    if parts is None:
        return _infinite(text)
    affix = (parts["after"] or "").strip() or parts["before"] or ""
    if (parts["before"] and parts["after"]) or not _is_affix(affix):
        return None
    match = _plain(mark).fullmatch(parts["number"])
    if match is None or (parts["sign"] and match["sign"]):
        return None
    sign = "-" if (parts["sign"] or match["sign"]) in ("-", "−") else ""
    grouping = match["grouping"] or ""
    digits = match["digits"] or match["whole"].replace(grouping, "") + (match["rest"] or "")
    return Number(float(sign + digits.replace(mark, ".").replace("d", "e").replace("D", "e")), affix, grouping)


def _infinite(text: str) -> Number | None:
    return Number(math.inf) if text.lower().lstrip("+-") in ("inf", "infinity") else None


@lru_cache(maxsize=2)
def _plain(mark: str) -> re.Pattern[str]:
    m, o = re.escape(mark), re.escape(_OTHER[mark])
    return re.compile(
        rf"(?P<sign>[-+−]?)(?:(?P<digits>(?:\d+(?:{m}\d*)?|{m}\d+)(?:{_EXPONENT})?)"
        rf"|(?P<whole>\d{{1,3}}(?P<grouping>[{o}{_GAPS_IN_NUMBERS}])\d{{3}}(?:(?P=grouping)\d{{3}})*)(?P<rest>{m}\d*)?)"
    )


@lru_cache(maxsize=1024)
def _is_affix(text: str) -> bool:
    if not text or text in ("%", "‰") or text in _CURRENCY or text in _CODES.split("|"):
        return True
    return is_unit(text)


def is_unit(text: str) -> bool:
    """Return whether a text is a unit that is known."""
    try:
        dimension(text, "a column")
    except SettingsError:
        return False
    return True
