"""Data: exact counts of a protected table; the only package that touches private rows."""

from eke.data.draft import Draft, draft_domain, draft_file
from eke.data.duckdb_source import DuckDBSource, open_source
from eke.data.files import CsvFile, DuckDBFile, ParquetFile
from eke.data.source import Counts, Rows, Source

__all__ = [
    "Counts",
    "CsvFile",
    "Draft",
    "DuckDBFile",
    "DuckDBSource",
    "ParquetFile",
    "Rows",
    "Source",
    "draft_domain",
    "draft_file",
    "open_source",
]
