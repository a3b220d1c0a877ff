"""Directory: every object that the catalogue knows by name and by OID."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from eke.catalogue.failure import NO_OBJECT, NO_TABLE, CatalogueError
from eke.catalogue.kind import BY_OID, ROWS, format_type, kind_named
from eke.catalogue.relation import CatalogueColumn, CatalogueRelation
from eke.catalogue.shapes import INFORMATION_SCHEMA, PG_CATALOG
from eke.catalogue.type_list import PROCEDURES

OWNER = "eke"
OWNER_OID = 10
SCHEMAS = {"pg_catalog": 11, "public": 2200, "information_schema": 13207}
_USER_OID, _FIRST_DATABASE, _FIRST_RELATION = 16384, 16400, 20000
_PLAIN = re.compile(r"[a-z_][a-z0-9_$]*\Z")
_PART = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^".\s]+))\s*(\.|\Z)')
# Words that PostgreSQL puts in quotation marks when they are names.
_RESERVED_WORDS = """
all analyse analyze and any array as asc asymmetric authorization between bigint binary bit
boolean both case cast char character check coalesce collate column concurrently constraint
create cross current_date current_role current_time current_timestamp current_user dec
decimal default deferrable desc distinct do else end except exists extract false fetch float
for foreign freeze from full grant greatest group having ilike in initially inner inout int
integer intersect interval into is isnull join lateral leading least left like limit
localtime localtimestamp national natural nchar none not notnull null nullif numeric offset
on only or order out outer overlaps overlay placing position precision primary real
references returning right row select session_user setof similar smallint some substring
symmetric table tablesample then time timestamp to trailing treat trim true union unique
user using values varchar variadic verbose when where window with
"""
_RESERVED = frozenset(_RESERVED_WORDS.split())


@dataclass(frozen=True, slots=True)
class Numbered:
    """A relation with its number; the columns are those that a client sees."""

    oid: int
    relation: CatalogueRelation


@dataclass(frozen=True, slots=True)
class Procedure:
    """A function that a type names."""

    oid: int
    name: str
    result: int
    arguments: tuple[int, ...]
    volatility: str


def shapes(text: str, schema: str) -> list[Numbered]:
    """The relations of one of the lists of shapes."""
    entries = []
    for line in text.replace("\n  ", " ").split("\n"):
        if line:
            name, oid, kind, *columns = line.split()
            pairs = [column.split(":") for column in columns]
            listed = tuple(CatalogueColumn(column, ROWS[given].oid) for column, given in pairs)
            view = CatalogueRelation(name, listed, "r" if kind == "r" else "v", schema)
            entries.append(Numbered(int(oid), view))
    return entries


SYSTEM = shapes(PG_CATALOG, "pg_catalog") + shapes(INFORMATION_SCHEMA, "information_schema")


def quoted(name: str) -> str:
    """A name as PostgreSQL would write it, in quotation marks where they are needed."""
    if _PLAIN.match(name) and name not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def _parts(text: str) -> list[str]:
    """The parts of a dotted name, in lower case unless they are quoted."""
    parts, place = [], 0
    while True:
        part = _PART.match(text, place)
        if part is None:
            raise CatalogueError("this is not a name; write schema.name", "42602")
        parts.append(part[1].replace('""', '"') if part[1] else part[2].lower())
        if part[3] == "":
            return parts
        place = part.end()


class Directory:
    """Objects by name and number."""

    def __init__(
        self, databases: Sequence[str], database: str, user: str, given: Sequence[CatalogueRelation]
    ) -> None:
        self.database = database
        self.user = user
        self.databases = dict(
            zip(dict.fromkeys([*databases, database]), range(_FIRST_DATABASE, 16999), strict=False)
        )
        self.roles = {OWNER: OWNER_OID} | ({} if user == OWNER else {user: _USER_OID})
        self.entries = SYSTEM + [
            Numbered(_FIRST_RELATION + n, shown) for n, shown in enumerate(given)
        ]
        self.procedures = [_procedure(text) for text in PROCEDURES.split()]
        self._relations = {
            (entry.relation.schema, entry.relation.name): entry.oid for entry in self.entries
        }
        self.by_oid = {entry.oid: entry.relation for entry in self.entries}
        self._procedures = {procedure.name: procedure.oid for procedure in self.procedures}

    def readable(self, name: str, schema: str) -> CatalogueRelation | None:
        """The relation that FROM names, if it is one whose rows are known; "" for any schema."""
        for place in (schema,) if schema else ("pg_catalog", "public"):
            relation = self.by_oid.get(self._relations.get((place, name), 0))
            if relation is not None and (place != "public" or relation.rows is not None):
                return relation
        return None

    def number(self, kind: str, text: str) -> int:
        """The OID that a text stands for when it is cast to one of the reference kinds."""
        if text.strip().isdigit():
            return int(text) & 0xFFFFFFFF
        if text.strip() == "-":
            return 0
        oid = self._number(kind, text)
        if oid is None:
            what = {"regclass": "relation", "regtype": "type", "regproc": "function"}
            code = {"regclass": NO_TABLE, "regproc": "42883", "regnamespace": "3F000"}
            raise CatalogueError(
                f"the catalogue has no {what.get(kind, kind[3:])} {text[:100]!r}; check its name",
                code.get(kind, NO_OBJECT),
            )
        return oid

    def number_or_none(self, kind: str, text: str) -> int | None:
        """The same for to_regclass and the like, which ask whether there is one."""
        return None if text.strip().isdigit() else self._number(kind, text)

    def _number(self, kind: str, text: str) -> int | None:
        if kind == "regtype":
            name = text.strip().lower() if not text.strip().startswith('"') else text.strip()
            shown = kind_named(name.removeprefix("pg_catalog."))
            return ROWS[shown].oid if shown else None
        parts = _parts(text)
        if len(parts) == 3 and kind == "regclass" and parts[0] == self.database:
            del parts[0]
        if kind in ("regnamespace", "regrole"):
            listed = SCHEMAS if kind == "regnamespace" else self.roles
            return listed.get(parts[0]) if len(parts) == 1 else None
        if kind == "regproc":
            return self._procedures.get(parts[-1])
        if len(parts) == 1:
            system = ("pg_catalog", parts[0]) in self._relations
            parts = ["pg_catalog" if system else "public", *parts]
        return self._relations.get((parts[0], parts[1])) if len(parts) == 2 else None

    def text(self, kind: str, oid: int) -> str:
        """How an OID is shown that was cast to one of the reference kinds."""
        if oid == 0:
            return "-"
        name = None
        if kind == "regclass" and oid in self.by_oid:
            shown = self.by_oid[oid]
            visible = shown.schema in ("pg_catalog", "public")
            name = ("" if visible else quoted(shown.schema) + ".") + quoted(shown.name)
        elif kind == "regtype" and oid in BY_OID:
            name = format_type(oid, None)
        elif kind == "regproc":
            name = next((p.name for p in self.procedures if p.oid == oid), None)
        elif kind in ("regnamespace", "regrole"):
            listed = SCHEMAS if kind == "regnamespace" else self.roles
            name = next((quoted(key) for key, value in listed.items() if value == oid), None)
        return str(oid) if name is None else name

    def role(self, oid: int) -> str:
        """The name of a role, as pg_get_userbyid gives it."""
        known = {number: name for name, number in self.roles.items()}
        return known.get(oid, f"unknown (OID={oid})")


def _procedure(text: str) -> Procedure:
    oid, name, result, arguments, volatility = text.split(":")
    numbers = tuple(int(part) for part in arguments.split(",") if part)
    return Procedure(int(oid), name, int(result), numbers, volatility)
