"""Tables that another system keeps: how to name one in PostgreSQL or Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TypeAlias
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from eke.data.source import Collect, check_collect
from eke.errors import DataError

_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
_SECRETS = ("password", "sslpassword")


@dataclass(frozen=True, slots=True)
class PostgreSQLTable:
    """One table, view or materialised view of a PostgreSQL database.

    The server counts it, in a read-only transaction. This needs `pip install 'eke[postgresql]'`;
    see docs/how-to/move-to-postgresql.md.

    Args:
        address: that of libpq, `postgresql://user@host/database`. A password in it is used but
            never stored: PGPASSWORD, `~/.pgpass` or `data=` give it when the dataset is opened
            again.
        table: its name, with a schema or not; it may be left out when there is only one.
        collect: what comes from the server: "cells", all non-empty ones, once, which must fit in
            memory, or "marginals", only the counts that each question needs, when it needs them.

    Example:
        >>> eke.PostgreSQLTable("postgresql://reader@localhost/shop", table="public.people")
        PostgreSQLTable('postgresql://reader@localhost/shop', 'public.people', 'cells')
    """

    address: str
    table: str | None = None
    collect: Collect = "cells"

    def __post_init__(self) -> None:
        if not is_postgresql_address(self.address):
            raise DataError(
                "PostgreSQLTable needs an address such as postgresql://user@host/database"
            )
        _, rest = self.address.split("://", 1)
        object.__setattr__(self, "address", f"postgresql://{rest}")
        _check_name(self.table)
        check_collect(self.collect)

    def __repr__(self) -> str:
        address = self.without_password().address
        return f"PostgreSQLTable({address!r}, {self.table!r}, {self.collect!r})"

    def without_password(self) -> PostgreSQLTable:
        """The same table, its address as it may be stored and shown."""
        parts = urlsplit(self.address)
        user, colon, _ = parts.netloc.rpartition("@")[0].partition(":")
        host = parts.netloc.rpartition("@")[2]
        options = [(k, v) for k, v in parse_qsl(parts.query) if k not in _SECRETS]
        netloc = f"{user}@{host}" if user or colon else host
        query = urlencode(options, quote_via=quote, safe="/")
        # urlunsplit drops the slashes of an empty host, which means a local socket.
        path = urlunsplit(("", "", parts.path, query, ""))
        return replace(self, address=f"postgresql://{netloc}{path}")


@dataclass(frozen=True, slots=True)
class SparkTable:
    """One table that Spark reads: a name in its catalogue, or a folder of Parquet files.

    Spark is the session that is active, or the one that its own settings describe: master,
    catalogue and passwords are set there (`SparkSession.builder` or `spark-defaults.conf`). This
    needs `pip install 'eke[spark]'` and Java 17.

    Args:
        table: its name in the catalogue.
        parquet: instead of it, a folder.
        collect: as in `PostgreSQLTable`, but "marginals" unless you say otherwise: what Spark is
            for does not fit one machine.

    Example:
        >>> eke.SparkTable(parquet="/lake/people")  # opened by eke.create
        SparkTable(table=None, parquet='/lake/people', collect='marginals')
    """

    table: str | None = None
    parquet: str | None = None
    collect: Collect = "marginals"

    def __post_init__(self) -> None:
        if (self.table is None) == (self.parquet is None):
            raise DataError(
                "SparkTable needs a name of the catalogue or a folder: "
                "eke.SparkTable('shop.people') or eke.SparkTable(parquet='/lake/people')"
            )
        _check_name(self.table)
        _check_name(self.parquet)
        check_collect(self.collect)


ServerTable: TypeAlias = PostgreSQLTable | SparkTable


def is_postgresql_address(text: object) -> bool:
    """True for text that starts like the address of a PostgreSQL database."""
    return isinstance(text, str) and text.partition("://")[0] in _SCHEMES and "://" in text


def table_to_document(table: ServerTable) -> dict[str, object]:
    """Plain JSON values that say which table it is; no password is among them."""
    if isinstance(table, PostgreSQLTable):
        return {"kind": "postgresql", **asdict(table.without_password())}
    return {"kind": "spark", **asdict(table)}


def table_from_document(document: Mapping[str, object]) -> ServerTable:
    """The table that `table_to_document` has written down."""
    # Older references say nothing of it: there was one way only.
    fields = {"collect": "cells", **document}
    del fields["kind"]
    kind = PostgreSQLTable if document.get("kind") == "postgresql" else SparkTable
    try:
        return kind(**fields)  # type: ignore[arg-type]
    except TypeError:
        raise DataError("the stored reference to the table has unknown fields") from None


def _check_name(name: object) -> None:
    if name is not None and (not isinstance(name, str) or not name or "\0" in name):
        raise DataError("the name of a table must be a non-empty text")
