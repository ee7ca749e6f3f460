"""The small tables of `perf/small_tables.py`: the page has them all, and the last two batches keep their criteria."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from symseed import Expression, Library, tables

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| `(\w+)` \| (\d+) \|", re.MULTILINE)
DEFAULT = ("add", "sub", "mul", "div", "sqrt", "square", "exp", "log", "sin", "cos")


def load(name: str) -> ModuleType:
    folder = ROOT / "perf"
    sys.path.insert(0, str(folder))  # it imports its neighbours
    try:
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(folder))


TABLES = load("small_tables").TABLES
TELLABLE = load("tellable")
FRESH = [measured for measured in TABLES if measured.is_fresh]
JUDGED = list(TELLABLE.judged().values())


def test_the_page_has_every_table_with_its_rows() -> None:
    page = (ROOT / "docs" / "small-tables.md").read_text(encoding="utf-8")
    on_page = {name: int(rows) for name, rows in ROW.findall(page)}
    assert on_page == {measured.name: len(tables.read_table(measured.name).frame) for measured in TABLES}
    assert len(on_page) == 72
    assert "Seventy-two tables with 4 to 52 rows" in page


def test_twelve_tables_are_fresh_and_few_are_proportionalities() -> None:
    assert len(FRESH) == 12
    assert sum(re.fullmatch(r"[\d.e-]+ \* \w+", measured.law) is not None for measured in FRESH) <= 3
    assert len(TELLABLE.PLAIN) <= TELLABLE.MOST_PLAIN
    assert {measured.name for measured in FRESH} >= TELLABLE.PLAIN


def test_the_tables_that_can_tell_their_law_are_two_batches_of_twelve() -> None:
    assert len(JUDGED) == 24
    assert JUDGED[12:] == FRESH


@pytest.mark.parametrize("measured", JUDGED, ids=lambda measured: measured.name)
def test_a_table_has_few_rows_and_a_short_law_that_describes_it(measured) -> None:  # type: ignore[no-untyped-def]
    frame = tables.read_table(measured.name).frame
    assert 5 <= len(frame) <= 60
    X, y = frame[list(measured.inputs)].to_numpy(float), frame[measured.target].to_numpy(float)
    # `neg` is the sign of an exponent, which a negative constant has as well.
    library = Library.of((*DEFAULT, "neg"), measured.inputs, constants=True)
    law = Expression.parse(measured.law, library)
    assert law.size <= 12
    # With the constants as they are written down, which are rounded: no fit.
    left = law.evaluate(X) - y
    shares = left[y != 0.0] / np.abs(y[y != 0.0])
    assert min(np.var(left) / np.var(y), np.var(shares)) < 0.12


@pytest.mark.parametrize("measured", JUDGED, ids=lambda measured: measured.name)
def test_the_data_of_a_table_tell_its_law(measured) -> None:  # type: ignore[no-untyped-def]
    with np.errstate(all="ignore"):
        assert TELLABLE.judge(measured).can_tell
