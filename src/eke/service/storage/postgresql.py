"""Accounts and jobs in PostgreSQL: for several servers that know the same people.

The address is that of a ledger, `postgresql://user@host/database`. The tables are in the schema
`eke_access`, or in the one that `dataset` names, where they may stand beside those of a ledger:
their names begin with `access_`.

A read is one statement and one round trip, outside of any transaction; nothing is remembered from
one request to the next, so a revocation holds everywhere at once. Names are written out in full,
because a pooler may give the session, and its search path, to others. SQLAlchemy is here for what
it does for the ledger: it reads addresses, keeps a few connections, and tells a connection that is
lost from a statement that is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from eke.errors import LedgerError, ServiceError
from eke.ledger.postgresql import Server, claim_schema, engine_at, require_durable, server_at
from eke.service.storage.protocol import Row, Run, StorageUnavailable
from eke.service.storage.schema import TABLES, VERSION, missing_steps

DEFAULT_SCHEMA = "eke_access"
# Whoever waits for an account is a person at a browser or a program with a time limit of its own.
WAIT_SECONDS = 5
_CONNECT = {"connect_timeout": WAIT_SECONDS, "tcp_user_timeout": WAIT_SECONDS * 1000}
_TABLE = re.compile(
    rf"\b(FROM|JOIN|INTO|UPDATE|TABLE|EXISTS|REFERENCES) ({'|'.join(TABLES)}|version)\b"
)
_VERSION_TABLE = "CREATE TABLE version (number INTEGER NOT NULL)"
_TYPES = {" REAL": " DOUBLE PRECISION", " INTEGER": " BIGINT", ") STRICT": ")"}
_T = TypeVar("_T")


def accounts_at(address: str) -> Server:
    """The database and the schema that an address stands for."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):  # ValueError: a port that is no number
        raise ServiceError("this is not a database address; give a file path instead") from None
    if url.get_backend_name() != "postgresql":
        raise ServiceError("accounts are kept in a file, or at a postgresql:// address")
    if "dataset" not in url.query:
        url = url.update_query_dict({"dataset": DEFAULT_SCHEMA})
    try:
        return server_at(url)
    except LedgerError as error:
        raise ServiceError(str(error)) from None


class PostgresqlStorage:
    """Tables with accounts and jobs, in a schema of a PostgreSQL database."""

    shared = True

    def __init__(self, server: Server) -> None:
        self._server = server
        self.place = str(server)
        self._spoken: dict[str, str] = {}
        try:
            self._engine = engine_at(
                server,
                isolation_level="AUTOCOMMIT",  # a read is one round trip
                pool_size=4,
                max_overflow=8,
                pool_timeout=WAIT_SECONDS,
                connect_args=_CONNECT,
            )
        except LedgerError as error:
            raise ServiceError(str(error)) from error
        self._driver_error: type[Exception] = self._engine.dialect.loaded_dbapi.Error
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        try:
            with self._transaction() as connection:
                require_durable(connection, self._server)
                if missing_steps(self._version(connection), self.place):
                    claim_schema(connection, self._server)  # two servers may start at once
                    self._build(connection)
        except LedgerError as error:
            raise ServiceError(str(error)) from None

    def _build(self, connection: Connection) -> None:
        version = self._version(connection)
        steps = missing_steps(version, self.place)
        if version == 0:
            steps += (_VERSION_TABLE, "INSERT INTO version VALUES (0)")
        for statement in steps:
            connection.exec_driver_sql(self._speak(statement))
        connection.exec_driver_sql(self._speak("UPDATE version SET number = ?"), (VERSION,))

    def _version(self, connection: Connection) -> int:
        """The version of the tables; 0 when there are none."""
        table = f'"{self._server.dataset}".access_version'
        present = connection.execute(text("SELECT to_regclass(:table)"), {"table": table})
        if present.scalar_one() is None:
            return 0
        stored = connection.exec_driver_sql(self._speak("SELECT number FROM version"))
        return int(stored.scalar_one())

    def read(self, statement: str, *values: object) -> list[Row]:
        if _holds_nul(values):
            return []
        spoken = self._speak(statement)
        try:
            return self._read_fast(spoken, values)
        except self._driver_error:
            return self._twice(lambda: self._read_slowly(spoken, values))

    def _read_fast(self, spoken: str, values: tuple[object, ...]) -> list[Row]:
        """The rows straight from the driver: every request pays for this."""
        with self._explained():
            held = self._engine.raw_connection()
        try:
            driver: Any = held.driver_connection
            found: list[Row] = driver.execute(spoken, values or None).fetchall()
        except self._driver_error:
            held.invalidate()
            raise
        finally:
            held.close()
        return found

    def _read_slowly(self, spoken: str, values: tuple[object, ...]) -> list[Row]:
        """The same by way of SQLAlchemy, which knows what an error means."""
        with self._engine.connect() as connection:
            found = connection.exec_driver_sql(spoken, values or None).fetchall()
        return [tuple(row) for row in found]

    @contextmanager
    def writing(self) -> Iterator[Run]:
        with self._transaction() as connection:

            def run(statement: str, *values: object) -> int:
                if _holds_nul(values):
                    return 0
                return connection.exec_driver_sql(self._speak(statement), values or None).rowcount

            yield run

    def time(self) -> float:
        now = "SELECT extract(epoch FROM clock_timestamp())::double precision"
        return float(self.read(now)[0][0])

    def beside(self) -> PostgresqlStorage:
        return self  # writers wait for each other in the database, readers for nobody

    def close(self) -> None:
        self._engine.dispose()

    # -- inside --------------------------------------------------------------------------------

    def _speak(self, statement: str) -> str:
        """The statement as PostgreSQL and its driver want it."""
        spoken = self._spoken.get(statement)
        if spoken is None:
            spoken = _TABLE.sub(rf'\1 "{self._server.dataset}".access_\2', statement)
            for plain, theirs in _TYPES.items():
                spoken = spoken.replace(plain, theirs)
            spoken = self._spoken[statement] = spoken.replace("?", "%s")
        return spoken

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        connection = self._twice(self._begin)
        with self._explained():
            try:
                yield connection
                connection.commit()
            finally:
                connection.close()  # rolls back whatever was not committed

    def _begin(self) -> Connection:
        connection = self._engine.connect()
        try:
            connection = connection.execution_options(isolation_level="READ COMMITTED")
            # On disk when COMMIT returns, whatever the server's default; and no endless waiting.
            connection.execute(
                text(
                    "SELECT set_config('synchronous_commit', 'on', true), "
                    f"set_config('lock_timeout', '{WAIT_SECONDS}s', true)"
                )
            )
        except BaseException:
            connection.close()
            raise
        return connection

    def _twice(self, action: Callable[[], _T]) -> _T:
        """What the action gives, tried again if it only found out that a connection was dead."""
        with self._explained():
            try:
                return action()
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
            return action()  # the pool has dropped all connections of that time

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            # Texts of PostgreSQL quote the row at hand: hashes, names.
            raise _explain(error, self.place) from None


def _holds_nul(values: tuple[object, ...]) -> bool:
    """Whether a value cannot be in any table: PostgreSQL stores no text with a NUL."""
    return any(isinstance(value, str) and "\0" in value for value in values)


def _explain(error: SQLAlchemyError, place: str) -> ServiceError:
    cause = error.orig if isinstance(error, DBAPIError) else None
    state = str(getattr(cause, "sqlstate", None) or "")
    if isinstance(error, PoolTimeout):
        return StorageUnavailable(f"{place}: all connections of this process are in use; wait")
    for length in (5, 2):
        if state[:length] in _ADVICE:
            return StorageUnavailable(f"{place} cannot be used: {_ADVICE[state[:length]]}")
    return StorageUnavailable(f"{place} cannot be used: it answered SQLSTATE {state}")


_ADVICE = {
    "55P03": "another process held the accounts for too long; try again",
    "25006": "this server is a read-only standby; give the address of the primary",
    "42501": "this user may not do that; it needs CREATE on the database once, to make the schema, "
    "and must own the tables in it",
    "42P01": "its tables are gone; restore the newest copy",
    "53": "the server is out of disk, memory or connections; see to it and try again",
    "57": "the server is shutting down or starting; try again",
    "08": "the connection broke; try again",
    # The driver has no code for a connection that never was.
    "": "the server cannot be reached, or refuses this user or database; check the address and the "
    "password (PGPASSWORD or ~/.pgpass), start the server, and try again",
}
