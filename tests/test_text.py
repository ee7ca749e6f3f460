"""Text is harmless for the reader that a function names, and else as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symseed.text import (
    clipped,
    for_comment,
    for_html,
    for_markdown,
    for_message,
    for_spreadsheet,
    for_terminal,
    is_number,
    one_line,
)

HARMLESS = "λ of 日本 (m/s)"


@pytest.mark.parametrize("made", [for_terminal, for_message, for_spreadsheet, for_markdown, for_html, for_comment])
def test_a_harmless_text_stays_as_it_is(made: object) -> None:
    assert callable(made)
    assert made(HARMLESS) == HARMLESS


@given(st.text())
def test_a_terminal_is_sent_no_control_characters_but_tabs_and_line_ends(text: str) -> None:
    left = for_terminal(text).replace("\t", "").replace("\n", "")
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in left)


@given(st.text())
def test_a_message_stays_on_one_line_that_can_be_printed(text: str) -> None:
    assert for_message(text).isprintable()


def test_a_message_spells_what_cannot_be_seen() -> None:
    assert for_message("a\n\x1b\u202eλ") == "a\\n\\x1b\\u202eλ"


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)"])
def test_a_spreadsheet_takes_no_cell_for_a_formula(cell: str) -> None:
    assert for_spreadsheet(cell) == f"'{cell}"


def test_markdown_reads_every_sign_of_its_own_as_text() -> None:
    assert for_markdown(r"a|b*c_d`e<f>[g]\h") == r"a\|b\*c\_d\`e\<f\>\[g\]\\h"


def test_a_page_gets_no_markup_and_no_character_that_no_file_may_hold() -> None:
    assert for_html("<b a='1'>&\ud800\0\u202e\n\t") == "&lt;b a=&#x27;1&#x27;&gt;&amp;\ufffd\ufffd\ufffd\n\t"


@given(st.text())
def test_a_comment_cannot_be_ended_or_begin_a_formula(name: str) -> None:
    written = for_comment(name, ascii_only=True)
    assert not set(written) & set("*\"'\\#\n\r=@")
    assert not written.startswith("-")
    assert written.isascii()


@given(st.text(), st.integers(1, 30))
def test_a_line_is_one_line_and_no_longer_than_it_may_be(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line) <= most
    assert len(line.splitlines()) <= 1


def test_only_what_is_too_long_is_clipped_and_shows_it() -> None:
    assert clipped("four\n", 5) == "four\n"
    assert clipped("seventh", 5) == "seve…"
    assert one_line(" a\n b\t", 5) == "a b"


@pytest.mark.parametrize(
    ("text", "expected"), [("1", True), (" -2.5e3 ", True), ("nan", True), ("1,5", False), ("", False)]
)
def test_a_number_is_told_from_other_text(text: str, expected: bool) -> None:
    assert is_number(text) == expected
