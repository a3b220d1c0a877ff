"""The kinds of blocks, and which one a document describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias, TypeGuard

from eke.domain import Domain
from eke.query.kronecker import Kronecker
from eke.query.linear import Block, Query
from eke.query.marginal import Marginal

KINDS: Mapping[str, type[Block]] = MappingProxyType(
    {kind.kind: kind for kind in (Kronecker, Marginal, Query)}
)
"""By the key that only their documents have."""


def is_known(block: object) -> TypeGuard[Block]:
    """Whether something is a block of exactly one of these kinds, and of nothing derived from it.

    Privacy: what a subclass says of its price need not be what it answers. Types are compared by
    identity, for a metaclass could claim to be equal to anything.
    """
    return any(type(block) is kind for kind in KINDS.values())


ReadBlocks: TypeAlias = Sequence[tuple[Mapping[str, Any], Block]]
"""Documents that were read before, with their blocks."""


def block_read(domain: Domain, document: Mapping[str, Any], read: ReadBlocks) -> Block:
    """The block that a document describes; that of an equal document, if one was read before."""
    for other, block in read:
        if other == document:
            return block
    return block_from_document(domain, document)


def block_from_document(domain: Domain, document: Mapping[str, Any]) -> Block:
    """The query or the block that a document describes."""
    for key, kind in KINDS.items():
        if key in document:
            return kind.from_document(domain, document)
    return Query.from_document(domain, document)
