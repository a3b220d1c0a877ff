"""Data: exact counts of a protected table; the only package that touches private rows."""

from eke.data.cell_source import CellSource
from eke.data.checking import check_table
from eke.data.draft import Draft, draft_domain, draft_file
from eke.data.files import CsvFile, DuckDBFile, ParquetFile
from eke.data.marginal_source import MarginalSource
from eke.data.opening import open_source
from eke.data.server_table import PostgreSQLTable, SparkTable
from eke.data.source import Counts, Rows, Source
from eke.data.table_check import TableCheck

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
]
