"""Kinds: types by PostgreSQL's names for them, and how the engine stores each.

A kind is the name in pg_type: int4, name, _text (an array of texts).
"""

from __future__ import annotations

from dataclasses import dataclass

from eke.catalogue.type_list import TYPES

_STORAGE = {
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "numeric": "DECIMAL(38,9)",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP",
    "interval": "INTERVAL",
    "int2vector": "SMALLINT[]",
    "oidvector": "UINTEGER[]",
}
_REFERENCE_NAMES = """
regclass regtype regproc regprocedure regoper regoperator regconfig regdictionary regnamespace
regrole
"""
REFERENCES = frozenset(_REFERENCE_NAMES.split())
"""Kinds that are OIDs inside and names when shown."""
_NUMBERS = REFERENCES | {"oid", "xid"}
_TEXT_NAMES = """
text name char varchar bpchar json jsonb uuid inet cidr aclitem pg_node_tree pg_lsn bytea
anyarray cstring unknown void
"""
_TEXTS = frozenset(_TEXT_NAMES.split())
_OF_ENGINE = {
    "BOOLEAN": "bool",
    "TINYINT": "int2",
    "SMALLINT": "int2",
    "INTEGER": "int4",
    "BIGINT": "int8",
    "HUGEINT": "numeric",
    "UINTEGER": "oid",
    "FLOAT": "float4",
    "DOUBLE": "float8",
    "VARCHAR": "text",
    "JSON": "json",
    '"NULL"': "text",
    "DATE": "date",
    "TIME": "time",
    "TIMESTAMP": "timestamp",
    "INTERVAL": "interval",
}
_OTHER_NAMES = {
    "string": "text",
    "int": "int4",
    "integer": "int4",
    "smallint": "int2",
    "bigint": "int8",
    "real": "float4",
    "float": "float8",
    "double": "float8",
    "double precision": "float8",
    "boolean": "bool",
    "decimal": "numeric",
    "character varying": "varchar",
    "character": "bpchar",
    "nchar": "bpchar",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamptz",
    "time without time zone": "time",
    "time with time zone": "timetz",
    "sql_identifier": "name",
    "character_data": "varchar",
    "yes_or_no": "varchar",
    "cardinal_number": "int4",
}


@dataclass(frozen=True, slots=True)
class TypeRow:
    """A row of the list of types."""

    oid: int
    name: str
    sql_name: str
    length: int
    by_value: bool
    category: str
    preferred: bool
    kind: str
    array: int
    element: int
    functions: tuple[str, ...]
    alignment: str
    storage: str
    collation: int


def _listed() -> dict[str, TypeRow]:
    rows = {}
    for line in TYPES.replace("\n  ", " ").split("\n"):
        if line:
            number, name, sql_name, length, value, category, preferred, *rest = line.split()
            kind, array, element, *functions, alignment, storage, collation = rest
            rows[name] = TypeRow(
                oid=int(number),
                name=name,
                sql_name=name if sql_name == name else sql_name.replace("_", " "),
                length=int(length),
                by_value=value == "t",
                category=category,
                preferred=preferred == "t",
                kind=kind,
                array=int(array),
                element=int(element),
                functions=tuple(functions),
                alignment=alignment,
                storage=storage,
                collation=int(collation),
            )
    return rows | {f"_{row.name}": _array(row) for row in rows.values() if row.array}


def _array(row: TypeRow) -> TypeRow:
    """The type of arrays of a type."""
    return TypeRow(
        oid=row.array,
        name=f"_{row.name}",
        sql_name=f"{row.sql_name}[]",
        length=-1,
        by_value=False,
        category="P" if row.name == "record" else "A",
        preferred=False,
        kind="p" if row.name == "record" else "b",
        array=0,
        element=row.oid,
        functions=("array_in", "array_out", "array_recv", "array_send", *row.functions[4:]),
        alignment="d" if row.alignment == "d" else "i",
        storage="x",
        collation=row.collation,
    )


ROWS = _listed()
BY_OID = {row.oid: row for row in ROWS.values()}


def kind_named(name: str) -> str | None:
    """The kind that a name in SQL stands for: integer, int4, text[], "char"."""
    plain = name.strip()
    if plain.endswith("[]"):
        inner = kind_named(plain[:-2])
        return f"_{inner}" if inner and f"_{inner}" in ROWS else None
    if plain == '"char"':
        return "char"
    if plain == "char":
        return "bpchar"
    kind = _OTHER_NAMES.get(plain, plain)
    return kind if kind in ROWS else None


def storage(kind: str) -> str | None:
    """The engine's type for a kind, if values of it can be in a statement."""
    if kind in _STORAGE:
        return _STORAGE[kind]
    if kind in _NUMBERS:
        return "UINTEGER"
    if kind in _TEXTS:
        return "VARCHAR"
    inner = storage(kind[1:]) if kind.startswith("_") else None
    return f"{inner}[]" if inner else None


def of_engine_type(name: str) -> str | None:
    """The kind that fits a type of the engine."""
    if name.endswith("[]"):
        inner = of_engine_type(name[:-2])
        return f"_{inner}" if inner and f"_{inner}" in ROWS else None
    return "numeric" if name.startswith("DECIMAL") else _OF_ENGINE.get(name)


def format_type(oid: int | None, modifier: int | None) -> str | None:
    """The name of a type in SQL, as PostgreSQL's function of this name gives it."""
    if oid is None:
        return None
    row = BY_OID.get(oid)
    if row is None:
        return "-" if oid == 0 else "???"
    if modifier is not None and modifier >= 4 and row.name in ("varchar", "bpchar"):
        return f"{row.sql_name}({modifier - 4})"
    return row.sql_name
