"""eke: differential privacy that makes a privacy budget last.

import eke
session = eke.create("adult.eke", data="adult.parquet", domain=domain, epsilon=1.0)
answer = session.ask("SELECT COUNT(*) FROM adult WHERE age BETWEEN 30 AND 40", within=60)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import version

    from eke import client as client
    from eke import data as data
    from eke import domain as domain
    from eke import errors as errors
    from eke import ledger as ledger
    from eke import query as query
    from eke import question as question
    from eke import service as service
    from eke import session as session
    from eke import sql as sql
    from eke import wire as wire
    from eke.client import connect
    from eke.data import CsvFile, DuckDBFile, ParquetFile, PostgreSQLTable, SparkTable
    from eke.domain import (
        Binned,
        Boolean,
        Categorical,
        Date,
        Decimal,
        Domain,
        Integer,
        Lookup,
        Numeric,
        Real,
        Replace,
        Time,
        Timestamp,
        read_domain,
        read_lookup,
        write_domain,
    )
    from eke.errors import EkeError, Refused
    from eke.planning import (
        ReleasePlan,
        Workload,
        all_marginals,
        grouping_sets,
        marginals_and_half_of_next,
        marginals_and_those_with,
        marginals_up_to,
        prefixes,
        ranges,
    )
    from eke.privacy.unit import Unit
    from eke.query import constant, count, marginal, moment, table, total
    from eke.question import deviation, mean, median, people, quantile, ratio, root, variance
    from eke.session import (
        Answer,
        Budget,
        Fact,
        History,
        NoisyTable,
        Preview,
        Release,
        Session,
        View,
        check,
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
    "Date",
    "Decimal",
    "Domain",
    "DuckDBFile",
    "EkeError",
    "Fact",
    "History",
    "Integer",
    "Lookup",
    "NoisyTable",
    "Numeric",
    "ParquetFile",
    "PostgreSQLTable",
    "Preview",
    "Real",
    "Refused",
    "Release",
    "ReleasePlan",
    "Replace",
    "Session",
    "SparkTable",
    "Time",
    "Timestamp",
    "Unit",
    "View",
    "Workload",
    "__version__",
    "all_marginals",
    "check",
    "connect",
    "constant",
    "count",
    "create",
    "deviation",
    "grouping_sets",
    "marginal",
    "marginals_and_half_of_next",
    "marginals_and_those_with",
    "marginals_up_to",
    "mean",
    "median",
    "moment",
    "open",
    "people",
    "prefixes",
    "quantile",
    "ranges",
    "ratio",
    "read_domain",
    "read_lookup",
    "root",
    "simultaneous",
    "table",
    "total",
    "variance",
    "write_domain",
    "write_report",
]

# The engine takes a second to load. Help pages, completion and mistyped commands should not wait
# for it, so each name is fetched when it is first used. Type checkers see the imports above, and
# `tests/unit/test_package.py` checks that both tell the same.
_HOMES = {
    "eke.client": ("connect",),
    "eke.data": ("CsvFile", "DuckDBFile", "ParquetFile", "PostgreSQLTable", "SparkTable"),
    "eke.domain": (
        *("Binned", "Boolean", "Categorical", "Date", "Decimal", "Domain"),
        *("Integer", "Lookup", "Numeric", "Real", "Replace", "Time", "Timestamp"),
        *("read_domain", "read_lookup", "write_domain"),
    ),
    "eke.errors": ("EkeError", "Refused"),
    "eke.planning": (
        *("ReleasePlan", "Workload", "all_marginals", "grouping_sets"),
        *("marginals_and_half_of_next", "marginals_and_those_with", "marginals_up_to"),
        *("prefixes", "ranges"),
    ),
    "eke.privacy.unit": ("Unit",),
    "eke.query": ("constant", "count", "marginal", "moment", "table", "total"),
    "eke.question": (
        *("deviation", "mean", "median", "people", "quantile", "ratio", "root", "variance"),
    ),
    "eke.session": (
        *("Answer", "Budget", "Fact", "History", "NoisyTable", "Preview", "Release"),
        *("Session", "View"),
        *("check", "create", "simultaneous", "write_report"),
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_PACKAGES = (
    *("client", "data", "dbapi", "domain", "errors", "ledger", "query"),
    *("question", "service", "session", "sql", "wire"),
)
_EXTRAS = {  # whose packages are not in the base
    "eke.client": "client",
    "eke.service": "server",
    "eke.wire": "server",
}

if not TYPE_CHECKING:  # else every misspelt name would pass as Any

    def _load(module):
        """A module of eke; if it needs an extra that is not installed, the error names it."""
        try:
            return import_module(module)
        except ModuleNotFoundError as problem:
            if module not in _EXTRAS:
                raise
            raise ModuleNotFoundError(
                f"{problem.name} is missing; install it with pip install 'eke[{_EXTRAS[module]}]'",
                name=problem.name,
            ) from None

    def __getattr__(name):
        """The public name or package, loaded on first use."""
        if name in _PACKAGES:
            return _load(f"eke.{name}")
        if name == "open":
            value = import_module("eke.session").open_dataset
        elif name == "__version__":
            value = import_module("importlib.metadata").version("eke")
        elif name in _HOME_OF:
            value = getattr(_load(_HOME_OF[name]), name)
        else:
            raise AttributeError(f"module 'eke' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted({*__all__, *_PACKAGES})
