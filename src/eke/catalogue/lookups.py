"""Lookups: the functions that the engine calls back for, each a plain look into the directory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import duckdb
from duckdb.func import FunctionNullHandling

from eke.catalogue.directory import Directory, name_parts, quoted
from eke.catalogue.failure import NO_OBJECT, TOO_LONG, CatalogueError
from eke.catalogue.kind import REFERENCES, format_type

MOST_TEXT = 16_384
MOST_SERIES = 10_000
MOST_PARTS = 1_000
READING = frozenset({"SELECT", "CONNECT", "USAGE", "EXECUTE"})
_WRITING = "INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER,CREATE,TEMP,TEMPORARY,SET,ALTER SYSTEM"
SETTINGS = {
    "application_name": "",
    "client_encoding": "UTF8",
    "datestyle": "ISO, MDY",
    "bytea_output": "hex",
    "default_table_access_method": "heap",
    "default_tablespace": "",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "on",
    "extra_float_digits": "1",
    "in_hot_standby": "off",
    "integer_datetimes": "on",
    "intervalstyle": "postgres",
    "is_superuser": "off",
    "lc_messages": "C",
    "lc_monetary": "C",
    "lc_numeric": "C",
    "lc_time": "C",
    "lc_collate": "C.UTF-8",
    "lc_ctype": "C.UTF-8",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "port": "5432",
    "search_path": '"$user", public',
    "server_encoding": "UTF8",
    "server_version": "15.0",
    "server_version_num": "150000",
    "standard_conforming_strings": "on",
    "statement_timeout": "0",
    "timezone": "UTC",
    "transaction_isolation": "read committed",
    "transaction_read_only": "on",
}


class Lookups:
    """Answers to the engine; an error of ours waits in `failure`, as the engine hides it."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self.failure: CatalogueError | None = None
        self.settings: Mapping[str, str] = SETTINGS

    def begin(self, settings: Mapping[str, str]) -> None:
        """Set out for a statement with the settings of its connection."""
        self.failure = None
        self.settings = SETTINGS | {name.lower(): value for name, value in settings.items()}

    def register(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make them functions of the engine."""
        directory = self._directory
        number, text = "UINTEGER", "VARCHAR"
        for kind in sorted(REFERENCES):
            self._add(connection, kind, _first(directory.number, kind), [text], number)
            self._add(connection, f"name_{kind}", _first(directory.text, kind), [number], text)
            self._add(
                connection, f"to_{kind}", _first(directory.number_or_none, kind), [text], number
            )
        self._add(connection, "role", directory.role, [number], text)
        self._add(connection, "comment", self._comment, [number], text)
        self._add(connection, "visible", self._visible, [number], "BOOLEAN")
        self._add(connection, "size", self._size, [number], "BIGINT")
        self._add(connection, "database", self._database, [text], number)
        self._add(connection, "letter", _letter, ["BIGINT"], text)
        self._add(connection, "unanswered", _unanswered, [text], text)
        self._add(connection, "function_result", directory.result_of, [number], text)
        self._add(connection, "function_arguments", directory.arguments_of, [number], text)
        self._add(connection, "granted", _granted, [number, text], "BOOLEAN")
        self._add(connection, "viewdef", self._view_definition, [text], text)
        self._add(connection, "quote_ident", quoted, [text], text)
        self._add(connection, "join", _joined, [text, text], text)
        self._add(
            connection,
            "array_to_string",
            _written,
            ["VARCHAR[]", text, text],
            text,
            with_nulls=True,
        )
        self._add(connection, "string_to_array", _split, [text, text], "VARCHAR[]")
        self._add(connection, "replace", _replaced, [text] * 3, text)
        self._add(connection, "translate", _translated, [text] * 3, text)
        self._add(connection, "parse_ident", name_parts, [text], "VARCHAR[]")
        self._add(connection, "type_names", _type_names, ["UINTEGER[]"], text)
        self._add(connection, "positive", lambda number: number or None, ["BIGINT"], "INTEGER")
        self._add(connection, "size_pretty", _pretty, ["BIGINT"], text)
        self._add(connection, "series", _series, ["BIGINT"] * 3, "INTEGER[]")
        self._add(connection, "context", self._context, [text], text)
        self._add(connection, "setting", self._setting, [text, "BOOLEAN"], text)
        self._add(
            connection, "now", lambda: datetime.now(UTC).replace(tzinfo=None), [], "TIMESTAMP"
        )
        self._add(
            connection, "format_type", format_type, [number, "INTEGER"], text, with_nulls=True
        )

    def _add(
        self,
        connection: duckdb.DuckDBPyConnection,
        name: str,
        function: Callable[..., Any],
        takes: list[Any],
        gives: str,
        *,
        with_nulls: bool = False,
    ) -> None:
        def call(*values: Any) -> Any:
            if not with_nulls and None in values:
                return None
            try:
                return function(*values)
            except CatalogueError as problem:
                self.failure = problem
                raise

        # The engine counts the arguments that a function takes.
        counted: tuple[Callable[..., Any], ...] = (
            lambda: call(),  # noqa: PLW0108
            lambda a: call(a),  # noqa: PLW0108
            lambda a, b: call(a, b),  # noqa: PLW0108
            lambda a, b, c: call(a, b, c),  # noqa: PLW0108
        )
        connection.create_function(
            f"py_{name}",
            counted[len(takes)],
            takes,
            gives,
            null_handling=FunctionNullHandling.SPECIAL,
            side_effects=False,
        )

    def _context(self, what: str) -> str:
        return self._directory.database if what == "database" else self._directory.user

    def _setting(self, name: str, missing_ok: bool) -> str | None:
        value = self.settings.get(name.lower())
        if value is None and not missing_ok:
            raise CatalogueError(f"there is no setting {name[:60]!r}; check its name", NO_OBJECT)
        return value

    def _comment(self, oid: int) -> str | None:
        shown = self._directory.by_oid.get(oid)
        return None if shown is None else shown.comment

    def _visible(self, oid: int) -> bool | None:
        shown = self._directory.by_oid.get(oid)
        return None if shown is None else shown.schema in ("pg_catalog", "public")

    def _size(self, oid: int) -> int | None:
        return 0 if oid in self._directory.by_oid else None

    def _database(self, text: str) -> int:
        if text.isdigit():
            return int(text) & 0xFFFFFFFF
        oid = self._directory.databases.get(text)
        if oid is None:
            raise CatalogueError(f"there is no database {text[:60]!r}; see pg_database", "3D000")
        return oid

    def _view_definition(self, text: str) -> None:
        """NULL, as for a view whose text the user may not see; but there must be such a view."""
        self._directory.number("regclass", text)


def _first(function: Callable[[str, Any], Any], kind: str) -> Callable[[Any], Any]:
    return lambda value: function(kind, value)


def _bounded(text: str) -> str:
    if len(text) > MOST_TEXT:
        raise CatalogueError(f"a text grew longer than {MOST_TEXT:,} characters", TOO_LONG)
    return text


def _joined(left: str, right: str) -> str:
    return _bounded(left + right)


def _written(elements: list[str | None] | None, between: str | None, null: str | None) -> Any:
    if elements is None or between is None:
        return None
    texts = [null if element is None else element for element in elements]
    shown = [element for element in texts if element is not None]
    if sum(map(len, shown)) + len(between) * len(shown) > MOST_TEXT:
        raise CatalogueError(f"a text grew longer than {MOST_TEXT:,} characters", TOO_LONG)
    return between.join(shown)


def _split(text: str, between: str) -> list[str]:
    parts = text.split(between) if between else [text]
    if len(parts) > MOST_PARTS:
        raise CatalogueError(f"an array grew longer than {MOST_PARTS:,} texts", TOO_LONG)
    return parts if text else []


def _replaced(text: str, old: str, new: str) -> str:
    if old == "":
        return text
    if len(text) + text.count(old) * max(len(new) - len(old), 0) > MOST_TEXT:
        raise CatalogueError(f"a text grew longer than {MOST_TEXT:,} characters", TOO_LONG)
    return text.replace(old, new)


def _translated(text: str, old: str, new: str) -> str:
    letters = {letter: new[place : place + 1] for place, letter in reversed([*enumerate(old)])}
    return "".join(letters.get(letter, letter) for letter in text)


def _type_names(oids: list[int]) -> str:
    return _bounded(", ".join(format_type(oid, None) or "" for oid in oids[:MOST_PARTS]))


def _letter(number: int) -> str:
    if not 0 < number < 0xD800 and not 0xDFFF < number < 0x110000:
        raise CatalogueError("there is no letter of this number", TOO_LONG)
    return chr(number)


def _unanswered(_: str) -> None:
    raise CatalogueError("the catalogue does not answer this of a value, only of NULL", "0A000")


def _granted(_: int, privileges: str) -> bool:
    """True when one of these privileges is to read; nobody may write, create or grant."""
    names = [" ".join(name.upper().split()) for name in privileges.split(",")]
    known = READING.union(_WRITING.split(","))
    unknown = [name for name in names if name.removesuffix(" WITH GRANT OPTION") not in known]
    if unknown:
        raise CatalogueError(f"there is no privilege {unknown[0][:60]!r}", "22023")
    return not READING.isdisjoint(names)


def _series(first: int, last: int, step: int) -> list[int]:
    if step == 0:
        raise CatalogueError("the step of a series cannot be 0", "22023")
    numbers = range(first, last + (1 if step > 0 else -1), step)
    if len(numbers) > MOST_SERIES or max(abs(first), abs(last)) >= 1 << 31:
        raise CatalogueError(f"a series has at most {MOST_SERIES:,} numbers here", TOO_LONG)
    return list(numbers)


def _pretty(size: int) -> str:
    if abs(size) >= 10_240:
        raise CatalogueError("only small sizes are written out here", "0A000")
    return f"{size} bytes"
