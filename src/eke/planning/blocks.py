"""Blocks of a statement: one question, or the same question in every group."""

from __future__ import annotations

from eke.planning.requirement import Demand, Requirement
from eke.query import Marginal, Query
from eke.sql import Block, Partition


def inside_of(block: Block) -> Query:
    """What is asked in every group of a block."""
    return block if isinstance(block, Query) else block.inside


def with_inside(block: Block, inside: Query) -> Block:
    """Another question in the same groups."""
    if isinstance(block, Marginal):
        return Marginal(block.attributes, inside)
    return Partition(block.keys_by, inside) if isinstance(block, Partition) else inside


def demands_of(block: Block, requirement: Requirement) -> list[Demand]:
    """The demand that every answer of a block is this accurate.

    Groups made by CASE are no block of the engine's: they are demanded one by one, and since no
    record is in two of them, they cost as little.
    """
    if isinstance(block, Partition):
        return [Demand(one, requirement) for one in block.queries() if not one.is_zero]
    return [Demand(block, requirement)]
