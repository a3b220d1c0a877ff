"""Block: linear questions over one domain that are measured together, under one noise law.

A query is a block of one answer. Kinds of blocks differ in how they hold their coefficients, so
that a block stays one object however many answers it has: one class in a file of its own
(`linear.py`, `marginal.py`, `kronecker.py`), entered in `kinds.py`. A block says itself what a
record adds to its answers, how they follow from exact counts, how it is stored and how people read
it; nobody else asks which kind it is.

Three properties say what can be done with a block without taking it apart. Each may be None, and
then whoever asks works on the single questions instead:

    inside      a record changes at most one answer, by the coefficient of this query
    grouped     the answers are `inside` for each combination of values of these attributes
    matrices    the coefficients are products of one matrix an attribute
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.errors import QueryError
from eke.query.askable import Askable
from eke.query.vector import IntMatrix, IntVector

Names = tuple[str, ...]
Reach = tuple[tuple[str, IntVector], ...]
NOTHING = Fraction(0)


class Single(Protocol):
    """What a block knows of a single question."""

    @property
    def attributes(self) -> Names: ...

    @property
    def is_zero(self) -> bool: ...

    def extremes(self) -> tuple[Fraction, Fraction]: ...


QueryT_co = TypeVar("QueryT_co", bound=Single, covariant=True)


class BlockOf(Askable["BlockOf[QueryT_co]"], Generic[QueryT_co]):
    """What can be measured: questions with their coefficients, in a fixed order.

    The questions are queries, which are blocks themselves: `Block`, in `linear.py`, says so.

    A dataclass that holds one of the abstract properties as a field gives it `= field()`, for else
    the property would be taken for its default, and has slots.
    """

    __slots__ = ()
    kind: ClassVar[str]
    """The key by which its documents are told from those of other kinds."""

    # -- answers -------------------------------------------------------------------------------

    def on(self, _: Domain) -> Self:
        """Itself: it is tied to a domain already."""
        return self

    @property
    @abstractmethod
    def domain(self) -> Domain: ...

    @property
    @abstractmethod
    def attributes(self) -> Names:
        """The attributes that it is about, in the domain's order."""

    @property
    def read(self) -> frozenset[str]:
        """The attributes that its questions depend on, those of their conditions included."""
        inside = self.inside
        return frozenset(self.attributes) | frozenset(() if inside is None else inside.attributes)

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The answers along each axis; () for a single question."""

    @property
    def cells(self) -> int:
        """How many answers it has."""
        return math.prod(self.shape)

    @abstractmethod
    def cell(self, index: int) -> QueryT_co:
        """The question of one answer, by its flat index in C order."""

    def queries(self) -> Iterator[QueryT_co]:
        """The questions of all answers, in order."""
        return (self.cell(i) for i in range(self.cells))

    def keys(self) -> list[tuple[object, ...]]:
        """What tells each answer from the others, in order: its place, or labels of its cell."""
        return list(np.ndindex(*self.shape))

    # -- coefficients --------------------------------------------------------------------------

    @property
    @abstractmethod
    def exponent(self) -> int:
        """Every coefficient of every answer is an integer times 2^exponent.

        Privacy: noise is drawn on a grid at least as fine, and exact answers are integers on it.
        """

    @property
    @abstractmethod
    def inside(self) -> QueryT_co | None:
        """What a record adds to the one answer that it changes; None if it may change several.

        Privacy: where it is given, a record in cell t moves at most one answer, and by no more
        than the coefficient of this query at t. Prices rest on it.
        """

    @property
    @abstractmethod
    def grouped(self) -> Names | None:
        """The attributes whose every combination of values has an answer, which counts `inside`.

        () for a single question; None when answers are made in any other way.
        """

    @property
    def common(self) -> QueryT_co | None:
        """The question that every cell asks of its records; None where they ask different ones."""
        return self.inside

    def has_value(self, index: int) -> bool:
        """True: an answer has a value whatever the data."""
        return True

    @property
    def by_columns(self) -> Self | None:
        """Itself, if its answers are those of `grouped` attributes; else None."""
        return self if self.grouped else None

    @property
    def parts(self) -> tuple[Self, ...]:
        """The blocks that it is made of, one for each grouping: itself."""
        return (self,)

    def measurable(self) -> Sequence[Self]:
        """The blocks that its answers are measured by: itself."""
        return (self,)

    @property
    @abstractmethod
    def matrices(self) -> tuple[IntMatrix, ...] | None:
        """A matrix for each attribute, (rows, values): the coefficients are their products.

        There is an answer for each combination of rows. None for any other block, and where
        matrices would be too large to write out.
        """

    @property
    def is_single(self) -> bool:
        """True for one question of its own: a record has no other answer to move to."""
        return self.grouped == ()

    @property
    def people(self) -> bool:
        """Whether answers are numbers of units with a record in their cells (`people.py`)."""
        return False

    @property
    def constant(self) -> Fraction:
        """What is added to the answer whatever the records are; public, and never measured."""
        return NOTHING

    @property
    def is_zero(self) -> bool:
        """True when it is plain that no record changes any answer."""
        inside = self.inside
        return inside is not None and inside.is_zero

    def without_constant(self) -> Self:
        """The part that is measured."""
        return self

    # -- what one record adds ------------------------------------------------------------------

    @abstractmethod
    def reach(self, power: int) -> Reach | None:
        """Σ_answers |coefficient|^power as a product of vectors, one an attribute.

        In units of 2^(power · exponent). None when it is no product, or `inside` tells all of it.

        Privacy: what one record in cell t adds to the L1 norm (power 1) or the squared L2 norm
        (power 2) of the answers is at most the product of these vectors at t. Prices rest on it.
        """

    def largest_reach(self, power: int) -> int:
        """The largest L1 norm (power 1) or squared L2 norm (power 2) that one record adds.

        In units of 2^(power · exponent).

        Privacy: exact, or a bound above: products of largest values, the extremes of `inside`, or
        the largest coefficient of every question added up, as if one record met all of them.
        """
        factors, inside = self.reach(power), self.inside
        if factors is not None:
            return math.prod(int(max(vector)) for _, vector in factors)
        unit = Fraction(2) ** self.exponent
        if inside is not None:
            heights = [max(map(abs, inside.extremes()))]
        else:
            heights = [max(map(abs, query.extremes())) for query in self.queries()]
        return math.ceil(sum((height / unit) ** power for height in heights))

    # -- exact answers -------------------------------------------------------------------------

    @property
    def needed(self) -> Names:
        """The attributes whose counts the exact answers need, in the domain's order."""
        inside = self.inside
        if inside is None:
            return self.attributes
        return self.domain.in_order((*self.attributes, *inside.attributes))

    @abstractmethod
    def exact_answers(
        self,
        attributes: Sequence[str],
        codes: NDArray[np.int64],  # (non-empty cells, attributes)
        counts: NDArray[np.int64],  # (non-empty cells,)
    ) -> list[int]:
        """The exact answers, without constants, on the counts of `needed`, in units of 2^exponent.

        Privacy: exact, so for the junction only. Sums of Python integers, or of 64-bit ones where
        Python integers bound every partial sum; so neither overflow nor the order of rows can make
        one record move an answer by more than its coefficient.
        """

    def exact_people(
        self,
        attributes: Sequence[str],
        codes: NDArray[np.int64],  # (pairs of a unit and a cell, attributes)
        holders: NDArray[np.int64],  # (pairs,): the unit's number
    ) -> list[int]:
        """The exact numbers of people, where these are asked for, in units of 2^exponent.

        Privacy: exact, so for the junction only. A unit counts at most once in each answer, in no
        more of them than it has records, and for no more than the coefficients of these.
        """
        raise QueryError("this block counts records, not people")

    @abstractmethod
    def rebuilt(self, domain: Domain) -> Self:
        """The same questions over an equal domain, made by the constructors from their numbers.

        Privacy: the copy shares no memory that anybody can write to, and passed every check anew.
        """

    # -- people and files ----------------------------------------------------------------------

    @property
    @abstractmethod
    def description(self) -> str:
        """One line of text that says what is asked."""

    @abstractmethod
    def to_document(self) -> dict[str, Any]:
        """A JSON document that has `kind` as a key."""

    @staticmethod
    @abstractmethod
    def from_document(domain: Domain, document: Mapping[str, Any]) -> BlockOf[QueryT_co]:
        """The block that `to_document` wrote down, exactly."""
