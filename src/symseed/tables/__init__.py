"""Users' tables: files of many formats, the meaning of their columns, and the selection of inputs and targets."""

from __future__ import annotations

from symseed.tables.large import LargeTable
from symseed.tables.options import TableOptions
from symseed.tables.report import ColumnReport, TableReport
from symseed.tables.source import header, shipped
from symseed.tables.table import Selection, Table, read, read_table

__all__ = [
    "ColumnReport",
    "LargeTable",
    "Selection",
    "Table",
    "TableOptions",
    "TableReport",
    "header",
    "read",
    "read_table",
    "shipped",
]
