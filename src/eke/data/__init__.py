"""Data: exact counts of a protected table; the only package that touches private rows."""

from importlib import import_module
from typing import TYPE_CHECKING

from eke.data.files import CsvFile, DuckDBFile, ParquetFile
from eke.data.source import Counts, Rows, Source
from eke.data.table_check import TableCheck

if TYPE_CHECKING:
    from eke.data.cell_source import CellSource
    from eke.data.checking import check_table
    from eke.data.draft import Draft, draft_domain, draft_file
    from eke.data.marginal_source import MarginalSource
    from eke.data.opening import open_source
    from eke.data.reopening import reopen_source
    from eke.data.server_table import PostgreSQLTable, SparkTable

__all__ = [
    "CellSource",
    "Counts",
    "CsvFile",
    "Draft",
    "DuckDBFile",
    "MarginalSource",
    "ParquetFile",
    "PostgreSQLTable",
    "Rows",
    "Source",
    "SparkTable",
    "TableCheck",
    "check_table",
    "draft_domain",
    "draft_file",
    "open_source",
    "reopen_source",
]

# Engines take a second to load, and answers from history need none.
_HOME_OF = {
    "CellSource": "cell_source",
    "Draft": "draft",
    "MarginalSource": "marginal_source",
    "PostgreSQLTable": "server_table",
    "SparkTable": "server_table",
    "draft_domain": "draft",
    "draft_file": "draft",
    "check_table": "checking",
    "open_source": "opening",
    "reopen_source": "reopening",
}

if not TYPE_CHECKING:

    def __getattr__(name):
        """The public name, loaded on first use."""
        if name not in _HOME_OF:
            raise AttributeError(f"module 'eke.data' has no attribute {name!r}")
        return getattr(import_module(f"eke.data.{_HOME_OF[name]}"), name)
