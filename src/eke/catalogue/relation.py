"""What the catalogue is told of and what it answers with.

Privacy: names and types, and rows of what was released before; never anything of the data itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

Row: TypeAlias = Mapping[str, Any]
"""A row of a relation of the catalogue by column; what it lacks is NULL or neutral."""


@dataclass(frozen=True, slots=True)
class CatalogueColumn:
    """A column: its name and the OID of its type."""

    name: str
    oid: int


@dataclass(frozen=True, slots=True)
class CatalogueRelation:
    """A table or view that a client sees.

    With `rows` it can be read as well: they are fetched when a statement first asks for them, with
    the columns in this order. Of all others the catalogue knows the name and the types alone.
    """

    name: str
    columns: tuple[CatalogueColumn, ...]
    kind: Literal["r", "v"] = "r"
    schema: str = "public"
    comment: str | None = None
    rows: Callable[[], pa.Table] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Result:
    """The rows of a statement."""

    columns: tuple[CatalogueColumn, ...]
    rows: tuple[tuple[object, ...], ...]
