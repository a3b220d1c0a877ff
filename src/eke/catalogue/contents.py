"""Contents: the rows of pg_catalog, made of the names and types of a directory.

A relation without rows here is one of which there is nothing: keys, indexes, triggers and the
like. Every relation gets all its columns; those that a row does not name are as `_NEUTRAL` says,
or NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from eke.catalogue import activity, built_in
from eke.catalogue.directory import OWNER, OWNER_OID, SCHEMAS, Directory
from eke.catalogue.kind import BY_OID, ROWS
from eke.catalogue.relation import Row

_NEUTRAL: dict[str, Any] = {"bool": False, "int2": 0, "int4": 0, "oid": 0, "float4": 0, "char": ""}
_NEUTRAL |= dict.fromkeys(("xid", "regproc"), 0)
_COMMENT_CLASS = 1259


def catalogue_rows(directory: Directory, relation: str) -> Iterator[Row]:
    """The rows of one relation of pg_catalog."""
    if relation in _FILLED:
        yield from _FILLED[relation](directory)


def neutral(kind: str) -> object:
    """The value of a column that a row does not mention."""
    return _NEUTRAL.get(kind)


def _namespaces(_: Directory) -> Iterator[Row]:
    for name, oid in SCHEMAS.items():
        yield {"oid": oid, "nspname": name, "nspowner": OWNER_OID}


def _classes(directory: Directory) -> Iterator[Row]:
    for entry in directory.entries:
        shown = entry.relation
        table = shown.kind == "r"
        yield {
            "oid": entry.oid,
            "relname": shown.name,
            "relnamespace": SCHEMAS[shown.schema],
            "relowner": OWNER_OID,
            "relam": 2 if table else 0,
            "relfilenode": entry.oid if table else 0,
            "reltuples": -1,
            "relpersistence": "p",
            "relkind": shown.kind,
            "relnatts": len(shown.columns),
            "relhasrules": not table,
            "relispopulated": True,
            "relreplident": ("n" if shown.schema == "pg_catalog" else "d") if table else "n",
        }


def _attributes(directory: Directory) -> Iterator[Row]:
    for entry in directory.entries:
        for number, column in enumerate(entry.relation.columns, 1):
            row = BY_OID[column.oid]
            yield {
                "attrelid": entry.oid,
                "attname": column.name,
                "atttypid": column.oid,
                "attstattarget": -1,
                "attlen": row.length,
                "attnum": number,
                "attndims": int(row.category == "A"),
                "attcacheoff": -1,
                "atttypmod": -1,
                "attbyval": row.by_value,
                "attalign": row.alignment,
                "attstorage": row.storage,
                "attislocal": True,
                "attcollation": row.collation,
            }


def _types(directory: Directory) -> Iterator[Row]:
    numbers = {procedure.name: procedure.oid for procedure in directory.procedures}
    names = ("typinput", "typoutput", "typreceive", "typsend", "typmodin", "typmodout")
    for row in ROWS.values():
        functions = [numbers.get(name, 0) for name in row.functions]
        listed = row.category == "A" or row.name.startswith("_")
        subscript = "array_subscript_handler" if listed else ""
        yield {
            "oid": row.oid,
            "typname": row.name,
            "typnamespace": SCHEMAS["pg_catalog"],
            "typowner": OWNER_OID,
            "typlen": row.length,
            "typbyval": row.by_value,
            "typtype": row.kind,
            "typcategory": row.category,
            "typispreferred": row.preferred,
            "typisdefined": True,
            "typdelim": ",",
            "typsubscript": numbers.get(
                {"name": "raw_array_subscript_handler", "jsonb": "jsonb_subscript_handler"}.get(
                    row.name, subscript
                ),
                0,
            ),
            "typelem": row.element,
            "typarray": row.array,
            **dict(zip(names, functions, strict=True)),
            "typanalyze": numbers["array_typanalyze"] if row.name.startswith("_") else 0,
            "typalign": row.alignment,
            "typstorage": row.storage,
            "typtypmod": -1,
            "typcollation": row.collation,
        }


def _databases(directory: Directory) -> Iterator[Row]:
    for name, oid in directory.databases.items():
        yield {
            "oid": oid,
            "datname": name,
            "datdba": OWNER_OID,
            "encoding": 6,
            "datlocprovider": "c",
            "datallowconn": True,
            "datconnlimit": -1,
            "dattablespace": 1663,
            "datcollate": "C.UTF-8",
            "datctype": "C.UTF-8",
        }


def _roles(directory: Directory) -> Iterator[Row]:
    for name, oid in directory.roles.items():
        yield {
            "oid": oid,
            "rolname": name,
            "rolinherit": True,
            "rolcanlogin": name == directory.user,
            "rolconnlimit": -1,
            "rolpassword": "********",
        }


def _users(directory: Directory) -> Iterator[Row]:
    yield {
        "usename": directory.user,
        "usesysid": directory.roles[directory.user],
        "passwd": "********",
    }


def _descriptions(directory: Directory) -> Iterator[Row]:
    for entry in directory.entries:
        if entry.relation.comment is not None:
            yield {
                "objoid": entry.oid,
                "classoid": _COMMENT_CLASS,
                "description": entry.relation.comment,
            }


def _access_methods(_: Directory) -> Iterator[Row]:
    yield {"oid": 2, "amname": "heap", "amtype": "t", "amhandler": 3}
    yield {"oid": 403, "amname": "btree", "amtype": "i", "amhandler": 330}


def _collations(_: Directory) -> Iterator[Row]:
    for oid, name, provider in ((100, "default", "d"), (950, "C", "c"), (951, "POSIX", "c")):
        yield {
            "oid": oid,
            "collname": name,
            "collnamespace": SCHEMAS["pg_catalog"],
            "collowner": OWNER_OID,
            "collprovider": provider,
            "collisdeterministic": True,
            "collencoding": -1,
            "collcollate": None if provider == "d" else name,
            "collctype": None if provider == "d" else name,
        }


def _tablespaces(_: Directory) -> Iterator[Row]:
    for oid, name in ((1663, "pg_default"), (1664, "pg_global")):
        yield {"oid": oid, "spcname": name, "spcowner": OWNER_OID}


def _languages(_: Directory) -> Iterator[Row]:
    for oid, name in ((12, "internal"), (14, "sql")):
        yield {"oid": oid, "lanname": name, "lanowner": OWNER_OID, "lanpltrusted": name == "sql"}


def _rules(directory: Directory) -> Iterator[Row]:
    for entry in directory.entries:
        if entry.relation.kind == "v":
            yield {
                "oid": entry.oid + 50_000,
                "rulename": "_RETURN",
                "ev_class": entry.oid,
                "ev_type": "1",
                "ev_enabled": "O",
                "is_instead": True,
            }


def _tables(directory: Directory) -> Iterator[Row]:
    for entry in directory.entries:
        if entry.relation.kind == "r":
            name, schema = entry.relation.name, entry.relation.schema
            yield {"schemaname": schema, "tablename": name, "tableowner": OWNER}


def _views(directory: Directory) -> Iterator[Row]:
    for entry in directory.entries:
        if entry.relation.kind == "v":
            name, schema = entry.relation.name, entry.relation.schema
            yield {"schemaname": schema, "viewname": name, "viewowner": OWNER}


_FILLED: dict[str, Callable[[Directory], Iterator[Row]]] = {
    "pg_am": _access_methods,
    "pg_attribute": _attributes,
    "pg_class": _classes,
    "pg_collation": _collations,
    "pg_database": _databases,
    "pg_description": _descriptions,
    "pg_language": _languages,
    "pg_namespace": _namespaces,
    "pg_rewrite": _rules,
    "pg_roles": _roles,
    "pg_tables": _tables,
    "pg_tablespace": _tablespaces,
    "pg_type": _types,
    "pg_user": _users,
    "pg_views": _views,
    **activity.FILLED,
    **built_in.FILLED,
}
