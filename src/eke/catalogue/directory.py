"""Directory: every object that the catalogue knows by name and by OID."""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

from eke.catalogue.failure import NO_OBJECT, NO_TABLE, CatalogueError
from eke.catalogue.function_list import FUNCTIONS, OPERATORS
from eke.catalogue.keywords import QUOTED
from eke.catalogue.kind import BY_OID, ROWS, format_type, kind_named
from eke.catalogue.relation import CatalogueColumn, CatalogueRelation
from eke.catalogue.shapes import CALLED, INFORMATION_SCHEMA, PG_CATALOG
from eke.catalogue.type_list import PROCEDURES

OWNER = "eke"
OWNER_OID = 10
SCHEMAS = {"pg_catalog": 11, "public": 2200, "information_schema": 13207}
_USER_OID, _FIRST_DATABASE, _FIRST_RELATION = 16384, 16400, 20000
_PLAIN = re.compile(r"[a-z_][a-z0-9_$]*\Z")
_PART = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^".\s]+))\s*(\.|\Z)')


@dataclass(frozen=True, slots=True)
class Numbered:
    """A relation with its number; the columns are those that a client sees."""

    oid: int
    relation: CatalogueRelation


@dataclass(frozen=True, slots=True)
class Procedure:
    """A function that a type, an operator or a cast names, or that a statement may call."""

    oid: int
    name: str
    result: int
    arguments: tuple[int, ...]
    volatility: str
    flags: str


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator between two values of one type."""

    oid: int
    name: str
    side: int
    result: int
    function: int
    commutator: int
    negator: int


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
READABLE = [entry for entry in SYSTEM if entry.relation.columns]
"""Those that can be asked for; the others are known by name."""
CALLS = shapes(CALLED, "pg_catalog")
"""What functions that take nothing give when they are called in FROM."""
_CALL_NAMES = {entry.relation.name for entry in CALLS}


def is_catalogue_call(name: str) -> bool:
    """True when this is a function that stands for a relation."""
    return name in _CALL_NAMES


def quoted(name: str) -> str:
    """A name as PostgreSQL would write it, in quotation marks where they are needed."""
    if _PLAIN.match(name) and name not in QUOTED:
        return name
    return '"' + name.replace('"', '""') + '"'


def name_parts(text: str) -> list[str]:
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
        self.lent: CatalogueRelation | None = None
        self.databases = dict(
            zip(dict.fromkeys([*databases, database]), range(_FIRST_DATABASE, 16999), strict=False)
        )
        self.roles = {OWNER: OWNER_OID} | ({} if user == OWNER else {user: _USER_OID})
        self.entries = SYSTEM + [
            Numbered(_FIRST_RELATION + n, shown) for n, shown in enumerate(given)
        ]
        self.procedures = PROCEDURE_LIST
        self.operators = OPERATOR_LIST
        self._relations = {
            (entry.relation.schema, entry.relation.name): entry.oid for entry in self.entries
        }
        self.by_oid = {entry.oid: entry.relation for entry in self.entries}
        self._procedures: dict[str, int | None] = {}
        for procedure in self.procedures:  # a name that several have stands for none of them
            known = procedure.name in self._procedures
            self._procedures[procedure.name] = None if known else procedure.oid
        self._procedures_by_oid = {procedure.oid: procedure for procedure in self.procedures}
        self._names: dict[str, dict[int, str]] = {
            "regproc": {procedure.oid: procedure.name for procedure in self.procedures},
            "regprocedure": {
                procedure.oid: f"{procedure.name}({_types(procedure.arguments)})"
                for procedure in self.procedures
            },
            "regoper": {operator.oid: operator.name for operator in self.operators},
            "regoperator": {
                operator.oid: f"{operator.name}({_types((operator.side, operator.side))})"
                for operator in self.operators
            },
            "regconfig": {},
            "regdictionary": {},
        }

    def lending(self, relation: CatalogueRelation) -> Directory:
        """The same with one relation more, which can be read without a schema, but not listed."""
        lent = copy(self)
        lent.lent = relation
        return lent

    def readable(self, name: str, schema: str) -> CatalogueRelation | None:
        """The relation that FROM names, if it is one whose rows are known; "" for any schema."""
        if self.lent is not None and (name, schema) == (self.lent.name, ""):
            return self.lent
        for place in (schema,) if schema else ("pg_catalog", "public"):
            relation = self.by_oid.get(self._relations.get((place, name), 0))
            is_system = place != "public" and relation is not None and bool(relation.columns)
            if relation is not None and (is_system or relation.rows is not None):
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
            code = {"regclass": NO_TABLE, "regnamespace": "3F000"}
            code |= dict.fromkeys(("regproc", "regprocedure", "regoper", "regoperator"), "42883")
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
        if kind in ("regprocedure", "regoperator"):
            written = re.sub(r"\s*([(),])\s*", r"\1", text.strip()).removeprefix("pg_catalog.")
            return next((oid for oid, name in self._names[kind].items() if name == written), None)
        parts = name_parts(text)
        if len(parts) == 3 and kind == "regclass" and parts[0] == self.database:
            del parts[0]
        if kind in ("regnamespace", "regrole"):
            listed = SCHEMAS if kind == "regnamespace" else self.roles
            return listed.get(parts[0]) if len(parts) == 1 else None
        if kind in self._names:
            return self._procedures.get(parts[-1]) if kind == "regproc" else None
        if len(parts) == 1:
            system = ("pg_catalog", parts[0]) in self._relations
            parts = ["pg_catalog" if system else "public", *parts]
        return self._relations.get((parts[0], parts[1])) if len(parts) == 2 else None

    def text(self, kind: str, oid: int) -> str:
        """How an OID is shown that was cast to one of the reference kinds."""
        if oid == 0:
            return "0" if kind.startswith("regoper") else "-"
        name = None
        if kind == "regclass" and oid in self.by_oid:
            shown = self.by_oid[oid]
            visible = shown.schema in ("pg_catalog", "public")
            name = ("" if visible else quoted(shown.schema) + ".") + quoted(shown.name)
        elif kind == "regtype" and oid in BY_OID:
            name = format_type(oid, None)
        elif kind in self._names:
            name = self._names[kind].get(oid)
        elif kind in ("regnamespace", "regrole"):
            listed = SCHEMAS if kind == "regnamespace" else self.roles
            name = next((quoted(key) for key, value in listed.items() if value == oid), None)
        return str(oid) if name is None else name

    def result_of(self, oid: int) -> str | None:
        """The type of what a function gives, as pg_get_function_result tells it."""
        procedure = self._procedures_by_oid.get(oid)
        if procedure is None:
            return None
        return ("SETOF " if "s" in procedure.flags else "") + _types((procedure.result,))

    def arguments_of(self, oid: int) -> str | None:
        """The types of what a function takes."""
        procedure = self._procedures_by_oid.get(oid)
        return None if procedure is None else _types(procedure.arguments, ", ")

    def role(self, oid: int) -> str:
        """The name of a role, as pg_get_userbyid gives it."""
        known = {number: name for name, number in self.roles.items()}
        return known.get(oid, f"unknown (OID={oid})")


def _types(oids: tuple[int, ...], between: str = ",") -> str:
    return between.join(format_type(oid, None) or "" for oid in oids)


def _procedure(text: str) -> Procedure:
    oid, name, result, arguments, volatility, *flags = text.split(":")
    numbers = tuple(int(part) for part in arguments.split(",") if part)
    return Procedure(int(oid), name, int(result), numbers, volatility, "".join(flags))


def _operator(text: str) -> Operator:
    oid, name, *numbers = text.split(":")
    return Operator(int(oid), name, *map(int, numbers))


PROCEDURE_LIST = [_procedure(text) for text in (PROCEDURES + FUNCTIONS).split()]
OPERATOR_LIST = [_operator(text) for text in OPERATORS.split()]
