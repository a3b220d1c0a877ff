"""Catalogue: what database tools ask of a PostgreSQL server besides questions about the data.

It answers statements over pg_catalog and information_schema, and those without any table, from
public names and types, and reads what was released. Of the data it holds nothing else, and what it
does not know is an error, never empty.
"""

from __future__ import annotations

from eke.catalogue.answering import Catalogue
from eke.catalogue.failure import CatalogueError
from eke.catalogue.relation import CatalogueColumn, Result
from eke.catalogue.relation import CatalogueRelation as Relation

__all__ = [
    "Catalogue",
    "CatalogueColumn",
    "CatalogueError",
    "Relation",
    "Result",
]
