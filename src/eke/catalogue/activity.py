"""Activity: what pg_catalog says of sessions and of use, which is next to nothing.

A client sees its own session, and which tables and databases there are; whatever is counted on a
real server is NULL, for counts are data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from eke.catalogue.directory import Directory
from eke.catalogue.relation import Row

SESSION = 1
"""The number that each session has for its client."""


def _sessions(directory: Directory) -> Iterator[Row]:
    yield {
        "datid": directory.databases[directory.database],
        "datname": directory.database,
        "pid": SESSION,
        "usesysid": directory.roles[directory.user],
        "usename": directory.user,
        "state": "active",
        "backend_type": "client backend",
        **dict.fromkeys(("leader_pid", "client_port", "backend_xid", "backend_xmin")),
    }


def _encryption(_: Directory) -> Iterator[Row]:
    yield {"pid": SESSION}


def _databases(directory: Directory) -> Iterator[Row]:
    for name, oid in directory.databases.items():
        yield {"datid": oid, "datname": name, "numbackends": None}


def _tables(directory: Directory) -> Iterator[Row]:
    for entry in directory.entries:
        shown = entry.relation
        if shown.kind == "r" and shown.schema == "public":
            yield {"relid": entry.oid, "schemaname": shown.schema, "relname": shown.name}


def _zones(_: Directory) -> Iterator[Row]:
    yield {"name": "UTC", "abbrev": "UTC", "is_dst": False}


FILLED: dict[str, Callable[[Directory], Iterator[Row]]] = {
    "pg_stat_activity": _sessions,
    "pg_stat_all_tables": _tables,
    "pg_stat_database": _databases,
    "pg_stat_gssapi": _encryption,
    "pg_stat_user_tables": _tables,
    "pg_statio_all_tables": _tables,
    "pg_statio_user_tables": _tables,
    "pg_timezone_abbrevs": _zones,
    "pg_timezone_names": _zones,
}
