"""The same table in two places, in a real PostgreSQL and behind the door of eke, and who asks.

Counts are estimates in eke, of type double precision; names, keys and all other types agree.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import psycopg

import eke
from eke.service import Access, Account
from tests.postgresql_server import Server
from tests.service import serve_command

WHO = "ann"
NAME = "people"
WITHIN = 3.0
# Noise beyond ten times what 19 of 20 answers keep to: less than once in 10^12.
OFF = 10 * WITHIN
Result = TypeVar("Result")

DOMAIN = eke.Domain(
    age=eke.Integer(18, 27),
    sex=eke.Categorical("Female", "Male"),
    hours=eke.Numeric(0.0, 2.0, step=0.5),
    born=eke.Date("2001-12-30", "2002-01-02"),
    seen=eke.Timestamp("2020-05-01", "2020-05-01", "6 hours"),
    member=eke.Boolean(),
    **{"Odd Name": eke.Categorical("a 'b'", "ü ☃")},
).with_lookups(
    eke.Lookup("schools", ["sex"], {"sex": ["Female", "Male"], "size": [3, 4]}),
)
COLUMNS = {
    "age": "bigint",
    "sex": "text",
    "hours": "double precision",
    "born": "date",
    "seen": "timestamp without time zone",
    "member": "boolean",
    "Odd Name": "text",
}
_TABLES = (
    "CREATE TABLE people (" + ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS.items()) + ")",
    "COMMENT ON TABLE people IS 'protected: ask for aggregates'",
    "CREATE TABLE schools (sex text, size bigint)",
    "COMMENT ON TABLE schools IS 'a public lookup: join it with USING'",
    "INSERT INTO schools VALUES ('Female', 3), ('Male', 4)",
    "GRANT SELECT ON people, schools TO ann",
)


@dataclass(frozen=True)
class Place:
    """Where a server listens, and the account that comes in."""

    port: int
    password: str
    is_eke: bool
    host: str = "127.0.0.1"
    user: str = WHO
    database: str = NAME

    @property
    def options(self) -> str:
        """Settings from the beginning of a connection; a real server keeps unknown ones."""
        return f"-c eke.within={WITHIN:g}"

    @property
    def words(self) -> dict[str, Any]:
        """What libraries that use libpq are told."""
        given = {"host": self.host, "port": self.port, "user": self.user}
        return {
            **given,
            "dbname": self.database,
            "password": self.password,
            "options": self.options,
        }

    @property
    def url(self) -> str:
        """The same as an address."""
        options = self.options.replace(" ", "%20").replace("=", "%3D")
        return (
            f"postgresql://{self.user}:{self.password}@{self.host}:{self.port}/{self.database}"
            f"?options={options}"
        )


@dataclass(frozen=True)
class Both:
    """A real PostgreSQL and eke, with the same table."""

    real: Place
    eke: Place

    def seen(self, look: Callable[[Place], Result]) -> Result:
        """What a client sees of eke, when it sees the same of PostgreSQL."""
        real, ours = look(self.real), look(self.eke)
        assert ours == real
        return ours


def people(rows: int = 600) -> pd.DataFrame:
    """A table whose rows are fixed by arithmetic; every value that is declared occurs."""
    midnight = datetime(2020, 5, 1)  # noqa: DTZ001 - a column without time zone
    return pd.DataFrame(
        {
            "age": [18 + n % 10 for n in range(rows)],
            "sex": ["Female" if n % 3 == 0 else "Male" for n in range(rows)],
            "hours": [n % 5 / 2 for n in range(rows)],
            "born": [date(2001, 12, 30) + timedelta(n // 5 % 4) for n in range(rows)],
            "seen": [midnight + timedelta(hours=6 * (n // 7 % 4)) for n in range(rows)],
            "member": [n % 4 == 0 for n in range(rows)],
            "Odd Name": ["a 'b'" if n % 7 else "ü ☃" for n in range(rows)],
        }
    )


def agree(ours: Sequence[Sequence[Any]], real: Sequence[Sequence[Any]], *, keys: int = 1) -> None:
    """Fail unless two results have the same rows: equal keys, and values as far off as is asked.

    The first columns are the keys; the others are values, which eke gives as floats.
    """
    assert [tuple(row[:keys]) for row in ours] == [tuple(row[:keys]) for row in real]
    assert [len(row) for row in ours] == [len(row) for row in real]
    for mine, theirs in zip(ours, real, strict=True):
        for value, exact in zip(mine[keys:], theirs[keys:], strict=True):
            assert isinstance(value, float)
            assert abs(value - float(exact)) < OFF


@contextmanager
def real_people(server: Server) -> Iterator[Place]:
    """A database of a real server with the table, and the account that may read it."""
    frame = people()
    with psycopg.connect(server.address(), autocommit=True) as owner:
        owner.execute("CREATE ROLE ann LOGIN")
        owner.execute("CREATE DATABASE people")
    address = server.address().replace("/postgres?", "/people?")
    with psycopg.connect(address, autocommit=True) as owner:
        for text in _TABLES:
            owner.execute(text.encode())
        with owner.cursor().copy("COPY people FROM STDIN") as copy:
            for row in frame.itertuples(index=False):
                copy.write_row(row)
    assert server.port is not None
    yield Place(server.port, "anything", is_eke=False)


@contextmanager
def served_people(folder: Path) -> Iterator[Place]:
    """`eke serve --pg` with the table, and the account of an analyst."""
    people().to_parquet(folder / "people.parquet")
    eke.create(folder / "people.eke", folder / "people.parquet", DOMAIN, epsilon=10_000.0)
    access = Access(folder / "eke-access.db")
    access.add(Account(WHO, "analyst"))
    token = access.new_token(WHO).text
    access.close()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ("--pg", f"127.0.0.1:{port}", "--rate", "1000000", "--answer-step", "0")
    with serve_command("people.eke", *words, folder=folder, log=folder / "log"):
        yield Place(port, token, is_eke=True)
