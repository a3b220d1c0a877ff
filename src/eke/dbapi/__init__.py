"""DB-API 2.0 (PEP 249): datasets for pandas, notebooks and other code that speaks it.

connection = eke.dbapi.connect("adult.eke", within=1)
pandas.read_sql("SELECT sex, AVG(hours) FROM adult GROUP BY sex", connection)

Each value column is followed by two more, name_low and name_high: its interval.
"""

from eke.dbapi.connection import Connection, connect
from eke.dbapi.cursor import Cursor
from eke.dbapi.failure import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,  # noqa: A004 - named by PEP 249
)
from eke.dbapi.kind import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

apilevel = "2.0"
threadsafety = 1  # threads may share the module, but not connections
paramstyle = "qmark"

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]
