"""Tables as they are: files of many kinds, what their cells mean, and what of them is used."""

from __future__ import annotations

from symseed.tables.options import TableOptions
from symseed.tables.report import ColumnReport, TableReport
from symseed.tables.source import header, shipped
from symseed.tables.table import Selection, Table, read, read_table

__all__ = [
    "ColumnReport",
    "Selection",
    "Table",
    "TableOptions",
    "TableReport",
    "header",
    "read",
    "read_table",
    "shipped",
]
