"""Query: one linear functional over the cells of a domain, in product form (HIST eq. 9).

q(t) = constant + Σ_l weight_l · Π_k factor_lk(t[k]), each factor an integer vector over one
attribute, each weight a dyadic rational. Small dense tables (HIST eq. 13) are sums of such
products too, so one form serves all. A query is always in canonical form (see `canonical`), so
two spellings of one question are equal, hash alike and are stored alike.

Next: `expression` is how users write queries; `marginal` holds whole marginals.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.domain.describe import sentence
from eke.errors import QueryError
from eke.query import blur as blurs
from eke.query.block import BlockOf, Names
from eke.query.blur import NO_BLUR, Blur
from eke.query.canonical import (
    DENSE_CELLS,
    Term,
    canonical_terms,
    check_factors,
    checked,
    dense_table,
    finest_unit,
    gridded,
    merged_terms,
    term_bounds,
    term_product,
    term_reach,
    wide_table,
)
from eke.query.own import own_fraction, own_name
from eke.query.people import APART, check_counts
from eke.query.runs import at_codes, copied, extremes
from eke.query.vector import (
    SAFE,
    absolute_sum,
    dyadic_exponent,
    height,
    on_grid,
    to_fraction,
)
from eke.query.written import described, read_number, read_terms, terms_document


@dataclass(frozen=True, slots=True, eq=False)
class Query(BlockOf["Query"]):
    """A linear query in canonical form; build one with `Query.of` or from an expression."""

    kind: ClassVar[str] = "terms"
    domain: Domain = field()
    terms: tuple[Term, ...]
    constant: Fraction = field()
    blur: Blur = field(default_factory=lambda: NO_BLUR)
    """What bins leave open of the question as it was written; not part of the query itself."""
    people: bool = field(default=False, kw_only=True)
    """Whether it counts units with a record in the cells, and not the records; see `people`."""

    def __post_init__(self) -> None:
        """Raise unless all computations with the terms are exact.

        Privacy: prices and answers are computed from the same terms in different ways; they agree
        for integers below 2^62, one vector an attribute, and for nothing else.
        """
        object.__setattr__(self, "terms", tuple(self.terms))
        if type(self.constant) is not Fraction:
            raise QueryError("the constant of a query is a Fraction; build it with Query.of")
        for term in self.terms:
            if type(term) is not Term or type(term.weight) is not Fraction or not term.weight:
                raise QueryError("a query is made of terms with a weight; build it with Query.of")
            if term.weight.denominator & (term.weight.denominator - 1):
                raise QueryError("weights must be integers times powers of two")
            check_factors(self.domain, term)
            if any(v.dtype != np.int64 or extremes(v) == (0, 0) for _, v in term.vectors):
                raise QueryError("the factors of a query are 64-bit integers, not all of them 0")
        if self.people:
            check_counts(self.domain, self.terms)

    def __deepcopy__(self, memo: object) -> Query:
        return self  # immutable

    @staticmethod
    def of(
        domain: Domain, terms: Iterable[Term], constant: object = 0, blur: Blur = NO_BLUR
    ) -> Query:
        """The canonical query with these terms; weights are put on the coefficient grid.

        Equal products are added up first and rounding comes last, so a third of a question, three
        times, is the question. The coefficient of a cell moves by at most 2^-(GRID_BITS + 1) of
        the largest coefficient of any term, for each term.
        """
        merged = merged_terms(domain, checked(domain, terms))
        return Query(domain, canonical_terms(domain, gridded(merged)), to_fraction(constant), blur)

    @staticmethod
    def unrounded(domain: Domain, terms: Iterable[Term], constant: object = 0) -> Query:
        """The canonical query with exactly these terms, whose weights must be dyadic."""
        given = checked(domain, terms)
        if any(term.weight.denominator & (term.weight.denominator - 1) for term in given):
            raise QueryError("weights must be integers times powers of two; use Query.of to round")
        return Query(domain, canonical_terms(domain, given), to_fraction(constant))

    # -- shape ---------------------------------------------------------------------------------

    @property
    def attributes(self) -> Names:
        """The attributes the query depends on, in the domain's order."""
        return self.domain.in_order(name for term in self.terms for name in term.names)

    @property
    def is_zero(self) -> bool:
        """True when no record changes the answer."""
        return not self.terms

    @property
    def exponent(self) -> int:
        """The largest e such that every cell's coefficient is an integer times 2^e.

        For supports beyond `canonical.DENSE_CELLS` it may be smaller than that, never larger.
        """
        return min((dyadic_exponent(term.weight) for term in self.terms), default=0)

    @property
    def support_size(self) -> int:
        return math.prod(self.domain.sizes(self.attributes))

    def extremes(self) -> tuple[Fraction, Fraction]:
        """(lowest, highest) coefficient over all cells.

        Exact when the support is small or the query is one product, otherwise an outer bound.
        """
        if len(self.terms) > 1 and self.support_size <= DENSE_CELLS:
            table, unit = wide_table(self.domain, self.attributes, self.terms), self._unit
            return int(table.min()) * unit, int(table.max()) * unit
        bounds = [term_bounds(term) for term in self.terms]
        return sum((b[0] for b in bounds), Fraction(0)), sum((b[1] for b in bounds), Fraction(0))

    # -- a block of one answer -----------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def cell(self, index: int) -> Query:
        if index:
            raise QueryError(f"a query has one answer, number 0, not {index}")
        return self

    def queries(self) -> Iterator[Query]:
        yield self

    @property
    def inside(self) -> Query:
        """Itself: its coefficient is what a record adds."""
        return self

    @property
    def grouped(self) -> Names:
        return ()

    def with_inside(self, inside: Query) -> Query:
        """Another question in the same cell."""
        return inside

    @property
    def matrices(self) -> None:
        """None: its terms are its products."""

    def reach(self, _: int) -> None:
        """None: the absolute coefficients, and their squares, are those of the query itself."""

    def without_constant(self) -> Query:
        return replace(self, constant=Fraction(0)) if self.constant else self

    def exact_answers(
        self, attributes: Sequence[str], codes: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> list[int]:
        """The one exact answer. Privacy: a sum of Python integers."""
        return [self.exact(attributes, codes, counts)]

    def exact_people(
        self, attributes: Sequence[str], codes: NDArray[np.int64], holders: NDArray[np.int64]
    ) -> list[int]:
        """The one exact number of people."""
        met = self._coefficients(attributes, codes) != 0
        return [self.people_weight * len(np.unique(holders[np.asarray(met, np.bool_)]))]

    @property
    def people_weight(self) -> int:
        """What each unit counts for, in units of 2^exponent: the coefficient that is not 0.

        Privacy: the extreme by which the query is priced.
        """
        return int(max(self.extremes(), key=abs) / self._unit)

    def rebuilt(self, domain: Domain) -> Query:
        terms = []
        for term in self.terms:
            vectors = tuple((own_name(name), copied(vector)) for name, vector in term.vectors)
            terms.append(Term(own_fraction(term.weight), vectors))
        return Query(domain, tuple(terms), own_fraction(self.constant), people=self.people is True)

    @property
    def description(self) -> str:
        products = [
            (term.weight, [(name, described(vector)) for name, vector in term.vectors])
            for term in self.terms
        ]
        counted = "people" if self.people else "count"
        return sentence(self.domain, products, self.constant, counted)

    # -- evaluation ----------------------------------------------------------------------------

    def numerators(self, attributes: Sequence[str], codes: NDArray[np.integer[Any]]) -> list[int]:
        """The coefficient of each given cell as an exact integer in units of 2^exponent.

        codes: (cells, len(attributes)); `attributes` must cover the query's own.
        """
        return [int(number) for number in self._coefficients(attributes, codes)]

    def _coefficients(
        self, attributes: Sequence[str], codes: NDArray[np.integer[Any]]
    ) -> NDArray[Any]:
        """`numerators` as int64, or as Python's integers where sums of terms may not fit."""
        column = {name: i for i, name in enumerate(attributes)}
        lacking = [name for name in self.attributes if name not in column]
        if lacking:
            raise QueryError(f"cells must have codes of {', '.join(lacking)}, too")
        # Partial sums must fit as well, so absolute values are added up.
        reach = sum((term_reach(term) for term in self.terms), Fraction(0))
        unit = self._unit
        dtype: Any = np.int64 if reach / unit < SAFE else object
        total: NDArray[Any] = np.zeros(len(codes), dtype)
        for term in self.terms:
            product: NDArray[Any] = np.full(len(codes), int(term.weight / unit), dtype)
            for name, vector in term.vectors:
                product = product * at_codes(vector, codes[:, column[name]]).astype(dtype)
            total = total + product
        return total

    def exact(
        self,
        attributes: Sequence[str],
        codes: NDArray[np.integer[Any]],
        counts: NDArray[np.int64],
    ) -> int:
        """The exact answer (without the constant) on sparse counts, in units of 2^exponent.

        Privacy: added up in int64 only where Σ |coefficient| · count is sure to fit, in any order
        of the cells; else in Python's integers.
        """
        values = self._coefficients(attributes, codes)
        if values.dtype != object and height(values) * absolute_sum(counts) < SAFE:
            return int(values @ counts)
        return sum(int(v) * int(c) for v, c in zip(values, counts, strict=True))

    def table(self) -> NDArray[np.int64]:
        """All coefficients over the query's attributes in units of 2^exponent (small supports)."""
        table = dense_table(self.domain, self.attributes, self.terms)
        if table is None:
            raise QueryError("the query's support is too large for a table; evaluate cells instead")
        return table

    @property
    def _unit(self) -> Fraction:
        return Fraction(2) ** self.exponent

    # -- algebra -------------------------------------------------------------------------------

    def __add__(self, other: Query) -> Query:
        self._same_domain(other)
        constant = self.constant + other.constant
        together = blurs.added([self.blur, other.blur])
        people = self._counts_people_with(other)
        return _combined(self.domain, [*self.terms, *other.terms], constant, together, people)

    def _counts_people_with(self, other: Query) -> bool:
        """Whether the sum counts people; raises where it would be a number of neither."""
        if self.is_zero or other.is_zero:
            return other.people if self.is_zero else self.people
        if (self.people or other.people) and self.direction[0] != other.direction[0]:
            raise QueryError(APART)
        return self.people

    def __sub__(self, other: Query) -> Query:
        return self + (-1) * other

    def __mul__(self, factor: object) -> Query:
        weight = to_fraction(factor)
        (rounded,) = on_grid([weight])
        terms = [Term(term.weight * rounded, term.vectors) for term in self.terms]
        blur = blurs.scaled(self.blur, weight)
        return _combined(self.domain, terms, self.constant * weight, blur, self.people)

    __rmul__ = __mul__

    def __neg__(self) -> Query:
        return self * -1

    def pointwise(self, other: Query) -> Query:
        """The query whose coefficient at each cell is the product of both (constants excluded).

        Where one counts people, these have a record that counts in both.
        Exact, unless a product of two vectors over one attribute outgrows 62 bits: then it is put
        on the coefficient grid.
        """
        self._same_domain(other)
        terms = [term_product(a, b) for a in self.terms for b in other.terms]
        blur = blurs.multiplied(self.blur, self.extremes, other.blur, other.extremes)
        return _combined(self.domain, terms, Fraction(0), blur, self.people or other.people)

    def _same_domain(self, other: Query) -> None:
        if self.domain is not other.domain and self.domain != other.domain:
            raise QueryError("the two queries are over different domains")

    # -- identity ------------------------------------------------------------------------------

    def to_document(self) -> dict[str, Any]:
        """A JSON document of the canonical form; vectors are run-length coded."""
        return {
            **({"people": True} if self.people else {}),
            "constant": str(self.constant),
            "terms": terms_document(self.terms),
        }

    @staticmethod
    def from_document(domain: Domain, document: Mapping[str, Any]) -> Query:
        """The query that `to_document` wrote down, exactly: nothing is rounded again."""
        try:
            terms = read_terms(domain, document["terms"])
            constant, people = read_number(document["constant"]), document.get("people", False)
            if type(people) is not bool:
                raise QueryError("'people' is true or false")
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as problem:
            raise QueryError(f"not a query document: {problem}") from problem
        query = Query.unrounded(domain, terms, constant)
        return replace(query, people=True) if people else query

    @property
    def direction(self) -> tuple[object, Fraction]:
        """(key, factor) such that two queries with one key are factor multiples of each other."""
        lead = self.terms[0].weight
        key = tuple((term.weight / lead, term.key) for term in self.terms)
        return (self.people, *key), lead

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical form: equal questions have equal digests."""
        text = json.dumps(self.to_document(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Query):  # other kinds are others
            return self is other
        # Canonical forms are equal term by term; digests say the same, but take a text each. What
        # differs most often comes first: a question is compared with all that were measured.
        return (
            len(self.terms) == len(other.terms)
            and all(map(_same_term, self.terms, other.terms))
            and self.constant == other.constant
            and self.people == other.people
            and self.domain == other.domain
        )

    def __hash__(self) -> int:
        terms = tuple((term.weight, term.key) for term in self.terms)
        return hash((self.constant, self.people, terms))


Block: TypeAlias = BlockOf[Query]
"""What can be measured: a query, or several in one object."""


def _same_term(one: Term, other: Term) -> bool:
    return one.names == other.names and one.weight == other.weight and one.key == other.key


def _combined(
    domain: Domain, terms: Sequence[Term], constant: Fraction, blur: Blur, people: bool
) -> Query:
    """The query with these dyadic terms, rounded only if int64 cannot hold all coefficients."""
    used = merged_terms(domain, terms)
    if used:
        reach = sum((term_reach(term) for term in used), Fraction(0))
        if reach / finest_unit(used) >= SAFE:
            used = gridded(used)
    return Query(domain, canonical_terms(domain, used), constant, blur, people=people)
