"""eke: differential privacy that makes a privacy budget last.

import eke
session = eke.create("adult.eke", data="adult.parquet", domain=domain, epsilon=1.0)
answer = session.ask("SELECT COUNT(*) FROM adult WHERE age BETWEEN 30 AND 40", within=60)
"""

from importlib.metadata import version

from eke.data import CsvFile, DuckDBFile, ParquetFile
from eke.domain import (
    Binned,
    Boolean,
    Categorical,
    Domain,
    Integer,
    Replace,
    read_domain,
    write_domain,
)
from eke.errors import EkeError, Refused
from eke.privacy.unit import Unit
from eke.query import constant, count, marginal, moment, table, total
from eke.session import (
    Answer,
    Budget,
    History,
    Preview,
    Session,
    SqlAnswer,
    TableAnswer,
    create,
    simultaneous,
    write_report,
)
from eke.session import open_dataset as open  # noqa: A004 - eke.open reads as it should

__version__ = version("eke")

__all__ = [
    "Answer",
    "Binned",
    "Boolean",
    "Budget",
    "Categorical",
    "CsvFile",
    "Domain",
    "DuckDBFile",
    "EkeError",
    "History",
    "Integer",
    "ParquetFile",
    "Preview",
    "Refused",
    "Replace",
    "Session",
    "SqlAnswer",
    "TableAnswer",
    "Unit",
    "__version__",
    "constant",
    "count",
    "create",
    "marginal",
    "moment",
    "open",
    "read_domain",
    "simultaneous",
    "table",
    "total",
    "write_domain",
    "write_report",
]
