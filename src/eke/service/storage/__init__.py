"""Storage: where accounts and jobs are kept, a SQLite file or tables in PostgreSQL.

Whoever keeps things there writes one plain SQL for both (`?` for values, the tables of
`schema.py`); what differs between the two is said in `sqlite.py` and `postgresql.py`.
"""

from eke.service.storage.opening import open_storage
from eke.service.storage.protocol import Run, Storage, StorageUnavailable

__all__ = ["Run", "Storage", "StorageUnavailable", "open_storage"]
