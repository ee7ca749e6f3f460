"""Files of settings: read and checked, or refused with a sentence; and those of benchmark problems."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import hostile
from symseed import files
from symseed.benchmarks import catalogue
from symseed.regressor import settings_text
from symseed.regressor.settings import Settings

_FILE = Path(tempfile.mkdtemp(prefix="symseed-fuzz-")) / "settings.toml"
_SETS = {"Koza": ("add", "mul", "sin", 1.0)}


def one(data: bytes) -> None:
    """Read the bytes as settings, and as problems."""
    _FILE.write_bytes(data)
    with hostile.may_refuse():
        Settings.of(settings_text.read_file(str(_FILE))).plan()
    text = data.decode(errors="replace")
    with hostile.may_refuse():
        catalogue.parse({"own.toml": text}, _SETS)
    with contextlib.suppress(ValueError):
        values = files.toml_values(text)
        assert files.toml_values(files.toml_text(values)).keys() == values.keys()
