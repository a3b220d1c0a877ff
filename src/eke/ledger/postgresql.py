"""A ledger in a PostgreSQL database, for several servers that share one limit.

The address is that of libpq, `postgresql://user@host/database?dataset=adult`, and one word more:
`dataset` names the schema that holds the tables, so that a database has room for many ledgers.

Writers are serial because each first locks the account row (`SELECT … FOR UPDATE`). In READ
COMMITTED the lock yields the newest row, and every later statement of the transaction sees all that
was committed before it. SERIALIZABLE would let writers run side by side and abort all but one when
they commit, after the data was counted; an advisory lock would bind only those who ask for it. The
row lock ends with the connection, so a writer who dies gives it back.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from eke.errors import LedgerError, LedgerTampered

DEFAULT_DATASET = "eke"
CONNECT_SECONDS = 10
WAIT_SECONDS = 30.0
# A server that vanished from the network in the middle of a transaction must not lock out all
# others for the two hours that TCP waits.
_SETTINGS = {
    "synchronous_commit": "on",  # COMMIT returns when the charge is on disk, whatever the default
    "idle_in_transaction_session_timeout": "1800s",
    "tcp_keepalives_idle": "20",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "4",
}
_DATASET = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}", re.ASCII)
_SECRETS = ("password", "sslpassword", "passfile")


@dataclass(frozen=True, slots=True)
class Server:
    """A ledger in a PostgreSQL database: where the database is, and the schema in it."""

    url: URL
    dataset: str = DEFAULT_DATASET

    def __str__(self) -> str:
        shown = {k: v for k, v in self.url.query.items() if k not in _SECRETS}
        address = self.url.set(drivername="postgresql", query={**shown, "dataset": self.dataset})
        return address.render_as_string(hide_password=True)


def server_at(url: URL) -> Server:
    """The place an address stands for."""
    dataset = url.query.get("dataset", DEFAULT_DATASET)
    if (
        not isinstance(dataset, str)
        or not _DATASET.fullmatch(dataset)
        or dataset.lower().startswith("pg_")
        or dataset.lower() in {"information_schema", "public"}
    ):
        raise LedgerError(
            "the dataset in the address becomes the name of a schema: give letters, digits, _ and "
            "-, up to 63, as in postgresql://host/database?dataset=adult (not public, not pg_…)"
        )
    plain = url.difference_update_query(["dataset"])
    if url.drivername == "postgresql":
        plain = plain.set(drivername="postgresql+psycopg")
    return Server(plain, dataset)


def connect_server(place: Server) -> Engine:
    """An engine whose transactions are durable, in the dataset's schema, and wait in turn."""
    engine = engine_at(
        place,
        pool_pre_ping=True,  # a server that was restarted is found again
        pool_timeout=WAIT_SECONDS,
        connect_args={"connect_timeout": CONNECT_SECONDS},
    )

    def begin(connection: Connection) -> None:
        settings = {
            **_SETTINGS,
            "lock_timeout": f"{WAIT_SECONDS * 1000:.0f}",
            "search_path": f'"{place.dataset}"',
        }
        # One statement, and for this transaction only: a pooler may give the session to others.
        pairs = ", ".join(f"set_config('{name}', :{name}, true)" for name in settings)
        connection.execute(text(f"SELECT {pairs}"), settings)

    event.listen(engine, "begin", begin)
    return engine


def engine_at(place: Server, *, connect_args: Mapping[str, object], **options: object) -> Engine:
    """A plain engine for a server; its error texts hold no values."""
    named = {"application_name": "eke", **connect_args}
    try:
        return create_engine(place.url, hide_parameters=True, connect_args=named, **options)
    except (ImportError, NoSuchModuleError) as error:
        raise LedgerError(
            "the PostgreSQL driver is missing; install it with: pip install 'eke[postgresql]'"
        ) from error


def claim_schema(connection: Connection, place: Server) -> None:
    """Hold the right to build tables in the schema, which is there afterwards.

    Privacy: a server that may forget what it has acknowledged is refused: charges would be lost.
    """
    number = int.from_bytes(hashlib.sha256(place.dataset.encode()).digest()[:8], signed=True)
    connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})
    connection.execute(text(f'CREATE SCHEMA IF NOT EXISTS "{place.dataset}"'))


def require_durable(connection: Connection, place: Server) -> None:
    """Nothing, or an error when the server's settings allow it to lose a charge."""
    for name in ("fsync", "full_page_writes"):
        if connection.execute(text(f"SHOW {name}")).scalar_one() != "on":
            raise LedgerError(
                f"{place} runs with {name} = off and would forget in a power cut what it has "
                "acknowledged; set it to on in postgresql.conf, then try again"
            )


def explain_server(error: SQLAlchemyError, place: Server) -> LedgerError:
    """The ledger error that says what to do about a failure of the server."""
    state = sqlstate_of(error)
    if state in _DAMAGED:
        return LedgerTampered(
            f"{place} is damaged or is no eke ledger; restore the newest intact copy"
        )
    if not state and isinstance(error, DBAPIError) and error.connection_invalidated:
        state = "08"
    advice = advice_on(state, _ADVICE) or f"it answered SQLSTATE {state}; retry with the same key"
    if isinstance(error, PoolTimeout):
        advice = "all connections of this process are in use; retry with the same key"
    return LedgerError(f"{place} cannot be used: {advice}; nothing was released")


def sqlstate_of(error: SQLAlchemyError) -> str:
    """The code of a failure; empty when the server gave none."""
    cause = error.orig if isinstance(error, DBAPIError) else None
    return str(getattr(cause, "sqlstate", None) or "")


def advice_on(state: str, advice: Mapping[str, str]) -> str | None:
    """What to do about a code, or about the class of codes that its first two letters name."""
    return advice.get(state, advice.get(state[:2]))


# No such table, no such column, text that is not valid, a damaged page, a damaged index.
_DAMAGED = frozenset({"42P01", "42703", "22021", "XX001", "XX002"})
_ADVICE: Mapping[str, str] = {
    "55P03": "another process held the ledger for too long; retry with the same key",
    "25P03": "this process held the ledger for too long and lost it; retry with the same key",
    "25006": "this server is a read-only standby; give the address of the primary",
    "42501": "this user may not do that; grant CREATE on the database to the ledger's owner",
    "42P07": "the schema holds tables of something else; choose another dataset in the address",
    "53": "the server is out of disk, memory or connections; see to it and retry with the same key",
    "57": "the server is shutting down or starting; retry with the same key",
    "08": "the connection broke; retry with the same key",
    # The driver has no code for a connection that never was.
    "": "the server cannot be reached, or refuses this user or database; check the address and the "
    "password (PGPASSWORD or ~/.pgpass), start the server, and retry with the same key",
}
