"""The catalogue that stands for a PostgreSQL server: statements in, names and types out."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any

from eke.catalogue.arrays import array_text
from eke.catalogue.directory import SCHEMAS, Directory
from eke.catalogue.engine import CatalogueEngine
from eke.catalogue.failure import TOO_LONG, UNSUPPORTED, CatalogueError
from eke.catalogue.kind import BY_OID, REFERENCES, ROWS, of_engine_type, storage
from eke.catalogue.lookups import Lookups
from eke.catalogue.reading import statement
from eke.catalogue.relation import CatalogueColumn, CatalogueRelation, Result
from eke.catalogue.rewrite import Rewritten, rewritten

_NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


class Catalogue:
    """Answers what database tools ask about a server, and reads what was released to everybody.

    It may be used from several threads, which take turns.
    """

    def __init__(
        self,
        *,
        databases: Sequence[str],
        database: str,
        user: str,
        relations: Sequence[CatalogueRelation],
    ) -> None:
        for relation in relations:
            unknown = [column for column in relation.columns if column.oid not in BY_OID]
            if unknown or relation.schema not in SCHEMAS:
                raise CatalogueError(
                    f"relation {relation.name!r} has a type or schema that the catalogue lacks",
                    UNSUPPORTED,
                )
        self._directory = Directory(databases, database, user, relations)
        self._lookups = Lookups(self._directory)
        self._engine = CatalogueEngine(self._directory, self._lookups)
        self._turn = threading.Lock()

    def close(self) -> None:
        """Give its memory back."""
        self._engine.close()

    def run(
        self,
        sql: str,
        settings: Mapping[str, str] = _NO_SETTINGS,
        lent: CatalogueRelation | None = None,
    ) -> Result:
        """The columns and rows of one SELECT, WITH, VALUES or TABLE statement.

        `lent` is a relation that this statement may read, and no other.
        """
        plan = self._plan(sql, lent, describing=False)
        with self._turn, self._engine.lent(lent, filled=True):
            self._begin(plan, settings)
            self._engine.fill(plan.tables)
            description, rows = self._engine.run(plan.sql)
        kinds = _kinds(plan, description)
        return Result(
            _columns(plan, description, kinds),
            tuple(
                tuple(self._shown(value, kind) for value, kind in zip(row, kinds, strict=True))
                for row in rows
            ),
        )

    def describe(
        self,
        sql: str,
        settings: Mapping[str, str] = _NO_SETTINGS,
        lent: CatalogueRelation | None = None,
    ) -> tuple[CatalogueColumn, ...]:
        """The columns of a statement, which may have parameters such as $1; it is not run."""
        plan = self._plan(sql, lent, describing=True)
        with self._turn, self._engine.lent(lent, filled=False):
            self._begin(plan, settings)
            description, _ = self._engine.run(f"SELECT * FROM ({plan.sql}) LIMIT 0", 0)  # noqa: S608
        return _columns(plan, description, _kinds(plan, description))

    def _plan(self, sql: str, lent: CatalogueRelation | None, *, describing: bool) -> Rewritten:
        directory = self._directory if lent is None else self._directory.lending(lent)
        try:
            return rewritten(statement(sql), directory, describing=describing)
        except CatalogueError:
            raise
        except RecursionError:
            pass
        except Exception:  # noqa: BLE001 -- a text that nobody thought of is a client's mistake
            raise CatalogueError("the catalogue cannot read this statement", UNSUPPORTED) from None
        raise CatalogueError("the statement is nested too deeply; flatten it", TOO_LONG)

    def _begin(self, plan: Rewritten, settings: Mapping[str, str]) -> None:
        self._lookups.begin(settings)
        self._engine.provide(plan.tables)
        if any(table.name == "pg_settings" for table in plan.tables):
            self._engine.replace_settings(dict(self._lookups.settings))

    def _shown(self, value: Any, kind: str) -> object:
        """A value as the client gets it."""
        shown: object = value
        if isinstance(value, list):
            vector = kind in ("int2vector", "oidvector")
            elements = [self._shown(element, kind[1:]) for element in value]
            shown = " ".join(map(str, value)) if vector else array_text(elements)
        elif value is not None and kind == "interval":
            raise CatalogueError("the catalogue does not show lengths of time", UNSUPPORTED)
        elif value is not None and kind in REFERENCES:
            shown = self._directory.text(kind, value)
        elif isinstance(value, datetime):
            shown = value.replace(tzinfo=UTC) if kind == "timestamptz" else value
        elif kind == "numeric" or not isinstance(value, bool | int | float | date | None):
            shown = None if value is None else str(value)
        return shown


def _kinds(plan: Rewritten, description: Sequence[Any]) -> list[str]:
    """The kinds of columns: what PostgreSQL would say where that fits the engine's types."""
    told = [kind for _, kind in plan.columns]
    if len(told) != len(description):
        told = [None] * len(description)
    kinds = []
    for kind, (_, engine_type, *_) in zip(told, description, strict=True):
        known = of_engine_type(str(engine_type))
        if kind is not None and storage(kind) in (str(engine_type), _unlisted(engine_type)):
            known = kind
        if known is None or known == "_interval":
            raise CatalogueError("the catalogue does not show values of this type", UNSUPPORTED)
        kinds.append(known)
    return kinds


def _unlisted(engine_type: object) -> str | None:
    """NULL has no type of its own: it takes any."""
    return None if str(engine_type) != '"NULL"' else "VARCHAR"


def _columns(
    plan: Rewritten, description: Sequence[Any], kinds: Sequence[str]
) -> tuple[CatalogueColumn, ...]:
    names = [name for name, _ in plan.columns]
    if len(names) != len(description):
        names = [str(name) for name, *_ in description]
    return tuple(
        CatalogueColumn(name, ROWS[kind].oid) for name, kind in zip(names, kinds, strict=True)
    )
