"""Text for terminals: whatever a name holds, it moves no cursor and rings no bell."""

from __future__ import annotations

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


def plain(text: str) -> str:
    """Return the text with every control character but tabs and line ends written out."""
    return text.translate(_CONTROLS)
