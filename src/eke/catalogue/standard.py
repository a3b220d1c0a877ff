"""Standard: the rows of information_schema, made of the names and types of a directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from eke.catalogue.directory import OWNER, SCHEMAS, Directory
from eke.catalogue.kind import BY_OID
from eke.catalogue.relation import Row

_BITS = {"int2": (16, 0), "int4": (32, 0), "int8": (64, 0), "float4": (24, None)}
_BITS |= {"float8": (53, None)}


def standard_rows(directory: Directory, relation: str) -> Iterator[Row]:
    """The rows of one view of information_schema."""
    if relation in _FILLED:
        yield from _FILLED[relation](directory)


def _database(directory: Directory) -> Iterator[Row]:
    yield {"catalog_name": directory.database}


def _character_sets(directory: Directory) -> Iterator[Row]:
    yield {
        "character_set_name": "UTF8",
        "character_repertoire": "UCS",
        "form_of_use": "UTF8",
        "default_collate_catalog": directory.database,
    }


def _schemata(directory: Directory) -> Iterator[Row]:
    for name in SCHEMAS:
        yield {
            "catalog_name": directory.database,
            "schema_name": name,
            "schema_owner": OWNER,
        }


def _names(directory: Directory) -> Iterator[tuple[Row, str]]:
    for entry in directory.entries:
        shown = entry.relation
        naming = {
            "table_catalog": directory.database,
            "table_schema": shown.schema,
            "table_name": shown.name,
        }
        yield naming, shown.kind


def _tables(directory: Directory) -> Iterator[Row]:
    for naming, kind in _names(directory):
        yield {
            **naming,
            "table_type": "BASE TABLE" if kind == "r" else "VIEW",
            "is_insertable_into": "NO",
            "is_typed": "NO",
        }


def _views(directory: Directory) -> Iterator[Row]:
    no = dict.fromkeys(("updatable", "insertable_into"), "NO")
    for naming, kind in _names(directory):
        if kind == "v":
            yield {
                **naming,
                "check_option": "NONE",
                **{f"is_{what}": answer for what, answer in no.items()},
                "is_trigger_updatable": "NO",
                "is_trigger_deletable": "NO",
                "is_trigger_insertable_into": "NO",
            }


def _columns(directory: Directory) -> Iterator[Row]:
    for entry in directory.entries:
        shown = entry.relation
        for number, column in enumerate(shown.columns, 1):
            yield {
                "table_catalog": directory.database,
                "table_schema": shown.schema,
                "table_name": shown.name,
                "column_name": column.name,
                "ordinal_position": number,
                "is_nullable": "YES",
                **_described(column.oid),
                "udt_catalog": directory.database,
                "udt_schema": "pg_catalog",
                "udt_name": BY_OID[column.oid].name,
                "dtd_identifier": str(number),
                "is_self_referencing": "NO",
                "is_identity": "NO",
                "identity_cycle": "NO",
                "is_generated": "NEVER",
                "is_updatable": "NO",
            }


def _described(oid: int) -> dict[str, Any]:
    """What the standard says of a type."""
    row = BY_OID[oid]
    described: dict[str, Any] = {"data_type": "ARRAY" if row.name[0] == "_" else row.sql_name}
    if row.name in _BITS:
        bits, scale = _BITS[row.name]
        described |= {"numeric_precision": bits, "numeric_precision_radix": 2}
        described["numeric_scale"] = scale
    elif row.name == "numeric":
        described["numeric_precision_radix"] = 10
    elif row.category in "DT":
        described["datetime_precision"] = 0 if row.name == "date" else 6
    elif row.name in ("text", "varchar"):
        described["character_octet_length"] = 1 << 30
    return described


def _grants(directory: Directory) -> Iterator[Row]:
    for naming, _ in _names(directory):
        yield {
            "grantor": OWNER,
            "grantee": directory.user,
            **naming,
            "privilege_type": "SELECT",
            "is_grantable": "NO",
            "with_hierarchy": "YES",
        }


def _column_grants(directory: Directory) -> Iterator[Row]:
    for row in _columns(directory):
        kept_names = ("table_catalog", "table_schema", "table_name", "column_name")
        yield {
            "grantor": OWNER,
            "grantee": directory.user,
            **{name: row[name] for name in kept_names},
            "privilege_type": "SELECT",
            "is_grantable": "NO",
        }


def _enabled_roles(directory: Directory) -> Iterator[Row]:
    yield {"role_name": directory.user}


_FILLED: dict[str, Callable[[Directory], Iterator[Row]]] = {
    "column_privileges": _column_grants,
    "character_sets": _character_sets,
    "columns": _columns,
    "enabled_roles": _enabled_roles,
    "information_schema_catalog_name": _database,
    "role_column_grants": _column_grants,
    "role_table_grants": _grants,
    "schemata": _schemata,
    "table_privileges": _grants,
    "tables": _tables,
    "views": _views,
}
