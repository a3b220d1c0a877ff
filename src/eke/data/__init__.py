"""Data: exact counts of a protected table; the only package that touches private rows."""

from typing import TYPE_CHECKING

from eke.data.files import CsvFile, DuckDBFile, ParquetFile
from eke.data.source import Counts, Holdings, Rows, Source
from eke.data.table_check import TableCheck
from eke.late import late_names

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
    "Holdings",
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
if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "cell_source": "CellSource",
            "checking": "check_table",
            "draft": "Draft draft_domain draft_file",
            "marginal_source": "MarginalSource",
            "opening": "open_source",
            "reopening": "reopen_source",
            "server_table": "PostgreSQLTable SparkTable",
        },
    )
