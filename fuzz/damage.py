"""Damage done to a good file by the bytes of a fuzzer: a few bytes can cut, change, or replace a file of any size."""

from __future__ import annotations

_MOST = 2**20
"""Size of a file that is made huge."""


def damaged(good: bytes, others: list[bytes], how: bytes) -> bytes:
    """Return a file that was cut, changed, inserted into, replaced, swapped with another or made huge.

    Args:
        others: the files that it may be swapped with.
        how: the kind of damage, the place in two bytes, and the content.
    """
    kind, place, content = how[:1], int.from_bytes(how[1:4], "little") % (len(good) + 1), how[4:]
    match int.from_bytes(kind, "little") % 6:
        case 0:
            return how[1:]
        case 1:
            return good[:place]
        case 2:
            return good[:place] + content + good[place + len(content) :]
        case 3:
            return good[:place] + content + good[place:]
        case 4:
            return others[place % len(others)]
        case _:
            return good[:place] + (content or b"\0") * (_MOST // max(len(content), 1)) + good[place:]
