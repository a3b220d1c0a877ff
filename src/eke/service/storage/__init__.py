"""Storage: where accounts and jobs are kept, a SQLite file or tables in PostgreSQL.

Whoever keeps things there makes statements of the tables of `schema.py`, the same for both; what
differs between the two is said in `sqlite.py` and `postgresql.py`.
"""

from eke.service.storage.opening import open_storage
from eke.service.storage.protocol import Change, Condition, Query, Row, Storage, StorageUnavailable
from eke.service.storage.schema import coalesce, given

__all__ = [
    "Change",
    "Condition",
    "Query",
    "Row",
    "Storage",
    "StorageUnavailable",
    "coalesce",
    "given",
    "open_storage",
]
