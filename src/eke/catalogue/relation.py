"""What the catalogue is told of and what it answers with: names and types, never data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CatalogueColumn:
    """A column: its name and the OID of its type."""

    name: str
    oid: int


@dataclass(frozen=True, slots=True)
class CatalogueRelation:
    """A table or view that a client sees."""

    name: str
    columns: tuple[CatalogueColumn, ...]
    kind: Literal["r", "v"] = "r"
    schema: str = "public"
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a statement."""

    columns: tuple[CatalogueColumn, ...]
    rows: tuple[tuple[object, ...], ...]
