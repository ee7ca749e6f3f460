"""Text made safe for its next reader: a terminal, a message, a spreadsheet, a table, a page, a comment."""

from __future__ import annotations

import html
import re

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


def for_terminal(text: str) -> str:
    """Return a text that cannot control a terminal: control characters except tabs and line ends are escaped."""
    return text.translate(_CONTROLS)


def for_message(text: str) -> str:
    """Return a text that stays on one line: invisible characters and line ends are escaped."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def for_spreadsheet(cell: str) -> str:
    """Return a cell of a table that no spreadsheet reads as a formula: with an apostrophe before it, if needed."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell


def for_markdown(cell: str) -> str:
    """Return a cell of a table in Markdown, escaped."""
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", cell)


def for_html(text: str) -> str:
    """Return a text for a page in HTML: escaped, and without control characters and lone surrogates."""
    # Files cannot hold control characters or lone surrogates, and marks of direction would reorder the text after them.
    return html.escape("".join(letter if letter.isprintable() or letter in "\n\t" else "\ufffd" for letter in text))


def for_comment(name: str, *, ascii_only: bool = False) -> str:
    """Return a name for a comment in source text; characters that could end it, or begin a formula, are code points.

    Letters and digits, also those of other alphabets, and a few signs stay. No two names become the same.
    """
    unsafe = r"[^\w .:()\[\]/%^-]|(?<![A-Za-z0-9])-"  # a minus sign is safe only after a letter or digit
    flags = re.ASCII if ascii_only else 0
    return re.sub(unsafe, lambda match: code_point(match[0]), name, flags=flags)


def code_point(character: str) -> str:
    """Return a character as text that is safe anywhere, such as <U+0022>."""
    return f"<U+{ord(character):04X}>"


def clipped(text: str, most: int) -> str:
    """Return a text of at most `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def one_line(text: str, most: int) -> str:
    """Return a text on one line, of at most `most` characters."""
    return clipped(" ".join(text[: 20 * most].split()), most)


def is_number(text: str) -> bool:
    """Return whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def percent(share: float) -> str:
    """Return a share as percent, without claiming certainty: 0.999 is ">99 %", and 0.001 is "<1 %"."""
    rounded = round(100.0 * share)
    return "<1 %" if rounded < 1 else ">99 %" if rounded > 99 else f"{rounded} %"
