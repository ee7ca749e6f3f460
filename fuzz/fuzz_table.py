"""Tables in every format that is read, and every option of reading: understood, or refused with a sentence."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import hostile
from symseed.tables import table
from symseed.tables.options import DATES, MISSING, TableOptions

_FILE = Path(tempfile.mkdtemp(prefix="symseed-fuzz-")) / "table"
_SEPARATORS = (None, ",", ";", "tab", "blanks", "|", "\0")
_DECIMALS = (None, ".", ",")
_ENCODINGS = (None, "utf-8", "utf-16", "latin-1", "cp037", "idna", "rot13")


def one(data: bytes) -> None:
    """Read the bytes behind the first four, which choose the options."""
    choice = [*data[:4], 0, 0, 0, 0]
    options = TableOptions(
        separator=_SEPARATORS[choice[0] % len(_SEPARATORS)],
        decimal=_DECIMALS[choice[1] % len(_DECIMALS)],
        encoding=_ENCODINGS[choice[2] % len(_ENCODINGS)],
        dates=DATES[choice[3] % len(DATES)],
    )
    _FILE.write_bytes(data[4:])
    with warnings.catch_warnings(), hostile.may_refuse():
        warnings.simplefilter("ignore")
        found = table.read(str(_FILE), options.checked())
        chosen = found.select([found.names[-1]], missing=MISSING[choice[0] % len(MISSING)])
        assert chosen.X.shape[0] == chosen.y.shape[0]
        chosen.report.text()
