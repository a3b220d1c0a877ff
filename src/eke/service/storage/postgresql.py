"""Accounts and jobs in PostgreSQL: for several servers that know the same people.

The address is that of a ledger, `postgresql://user@host/database`. The tables are in the schema
`eke_access`, or in the one that `dataset` names, where they may stand beside those of a ledger:
their names begin with `access_`.

A read is one statement and one round trip, outside of any transaction; nothing is remembered from
one request to the next, so a revocation holds everywhere at once. Names are written out in full,
because a pooler may give the session, and its search path, to others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Table,
    extract,
    func,
    inspect,
    make_url,
    select,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from eke.errors import LedgerError, ServiceError
from eke.ledger.postgresql import (
    Server,
    advice_on,
    claim_schema,
    engine_at,
    require_durable,
    server_at,
    sqlstate_of,
)
from eke.service.storage.protocol import Change, Query, Row, Run, StorageUnavailable
from eke.service.storage.schema import VERSION, StorageTables, is_current

DEFAULT_SCHEMA = "eke_access"
# Whoever waits for an account is a person at a browser or a program with a time limit of its own.
WAIT_SECONDS = 5
_CONNECT = {"connect_timeout": WAIT_SECONDS, "tcp_user_timeout": WAIT_SECONDS * 1000}
# On disk when COMMIT returns, whatever the server's default; and no endless waiting.
_SETTINGS = select(
    func.set_config("synchronous_commit", "on", True),
    func.set_config("lock_timeout", f"{WAIT_SECONDS}s", True),
)
_NOW = select(extract("epoch", func.clock_timestamp()))
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
    insert = staticmethod(insert)

    def __init__(self, server: Server) -> None:
        self._server = server
        self.place = str(server)
        self.tables = StorageTables(server.dataset, "access_")
        self._versions = Table(
            "access_version", self.tables.metadata, Column("number", BigInteger, nullable=False)
        )
        try:
            self._engine = engine_at(
                server,
                isolation_level="AUTOCOMMIT",  # a read is one round trip
                skip_autocommit_rollback=True,
                pool_size=4,
                max_overflow=8,
                pool_timeout=WAIT_SECONDS,
                connect_args=_CONNECT,
            )
        except LedgerError as error:
            raise ServiceError(str(error)) from error
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        try:
            with self._transaction() as connection:
                require_durable(connection, self._server)
                if not is_current(self._version(connection), self.place):
                    claim_schema(connection, self._server)  # two servers may start at once
                    version = self._version(connection)
                    self.tables.bring_up_to_date(connection, version, self.place)
                    connection.execute(self._versions.delete())
                    connection.execute(self._versions.insert().values(number=VERSION))
        except LedgerError as error:
            raise ServiceError(str(error)) from None

    def _version(self, connection: Connection) -> int:
        """The version of the tables; 0 when there are none."""
        if not inspect(connection).has_table(self._versions.name, self._server.dataset):
            return 0
        return int(connection.execute(self._versions.select()).scalar_one())

    def read(self, statement: Query, **values: object) -> Sequence[Row]:
        def find() -> Sequence[Row]:
            with self._engine.connect() as connection, _nul_is_nowhere():
                return connection.execute(statement, values).fetchall()
            return []

        return self._twice(find)

    @contextmanager
    def writing(self) -> Iterator[Run]:
        with self._transaction() as connection:

            def run(statement: Change) -> int:
                with _nul_is_nowhere():
                    return connection.execute(statement).rowcount
                return 0

            yield run

    def time(self) -> float:
        return float(self.read(_NOW)[0][0])

    def beside(self) -> PostgresqlStorage:
        return self  # writers wait for each other in the database, readers for nobody

    def close(self) -> None:
        self._engine.dispose()

    # -- inside --------------------------------------------------------------------------------

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
            connection.execution_options(isolation_level="READ COMMITTED", preserve_rowcount=True)
            connection.execute(_SETTINGS)
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


@contextmanager
def _nul_is_nowhere() -> Iterator[None]:
    """Go on after a text with a NUL: PostgreSQL stores none, and its driver refuses to ask."""
    try:
        yield
    except DataError as error:
        if sqlstate_of(error):  # of the server
            raise


def _explain(error: SQLAlchemyError, place: str) -> ServiceError:
    if isinstance(error, PoolTimeout):
        return StorageUnavailable(f"{place}: all connections of this process are in use; wait")
    state = sqlstate_of(error)
    advice = advice_on(state, _ADVICE) or f"it answered SQLSTATE {state}"
    return StorageUnavailable(f"{place} cannot be used: {advice}")


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
