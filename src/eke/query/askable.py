"""Askable: what is linear and can be asked, whether it is tied to a domain or not yet.

Whoever takes what people write asks for nothing else: `on(domain)` makes the block of an
expression, and a block is its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, Generic, TypeVar

from eke.domain import Domain

BlockT_co = TypeVar("BlockT_co", covariant=True)


class Askable(ABC, Generic[BlockT_co]):
    """A linear question, or several that are asked together."""

    __slots__ = ()

    @abstractmethod
    def on(self, domain: Domain) -> BlockT_co:
        """The block over a domain; raises when attributes or values are not declared there.

        What is tied to a domain stays with it: whoever needs one domain compares the two.
        """

    def unit(self, domain: Domain) -> Fraction:
        """The unit in which it is asked over a domain, by which its answer is multiplied."""
        del domain
        return Fraction(1)

    @property
    def linear(self) -> tuple[Any, tuple[str, ...]]:
        """(the question, the attributes that it is asked by)."""
        return self, ()
