"""How users write questions: counts, sums, moments, tables and their weighted combinations.

An `Expression` is a question without a domain; `on(domain)` makes it a `Query`:

    2000 * eke.count(income=">50K") - 10000
    eke.total("hours", where={"sex": "Female"})

Conditions on one attribute are explained in `condition`; conditions on several attributes are
joined by AND.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from eke.domain import Domain
from eke.errors import QueryError
from eke.query.askable import Askable
from eke.query.blur import NO_BLUR, added, scaled
from eke.query.canonical import DENSE_CELLS, Term, table_terms
from eke.query.condition import check_names
from eke.query.linear import Query
from eke.query.marginal import Marginal
from eke.query.moment import Build, SumOfPowers, Where, selected, unit_of
from eke.query.runs import Runs
from eke.query.vector import integer_vector, to_fraction

OperationT = TypeVar("OperationT", bound=Callable[..., Any])
GroupedT_co = TypeVar("GroupedT_co", covariant=True)


class Groupable(Protocol[GroupedT_co]):
    """What can be asked in every group: a linear expression, or a formula of some."""

    def by(self, *attributes: str) -> GroupedT_co: ...


class WiderExpression:
    """What linear expressions can be a part of: it carries out the arithmetic with them."""

    __slots__ = ()


def _of_linear(operation: OperationT) -> OperationT:
    """The operation with what is linear; what is wider carries it out itself."""

    @wraps(operation)
    def carried_out(left: Any, right: Any) -> Any:
        return NotImplemented if isinstance(right, WiderExpression) else operation(left, right)

    return cast("OperationT", carried_out)


@dataclass(frozen=True, slots=True)
class Expression(Askable[Query]):
    """A linear question not yet tied to a domain; supports +, -, and * and / by numbers."""

    parts: tuple[tuple[Fraction, Build], ...]
    text: str

    def unit(self, domain: Domain) -> Fraction:
        """The unit in which it is asked: a step of 1/100 must not be rounded to powers of two.

        It is 1 unless wide columns are added up, of which no list of rounded numbers is made.
        """
        weights = [weight * unit_of(build, domain) for weight, build in self.parts]
        if all(unit_of(build, domain) == 1 for _, build in self.parts):
            return Fraction(1)
        denominator = math.lcm(*(weight.denominator for weight in weights))
        whole = [int(weight * denominator) for weight in weights]
        return Fraction(math.gcd(*whole), denominator)

    def on(self, domain: Domain) -> Query:
        """The query over a domain; raises when attributes or values are not declared there.

        Weights stay exact until here and are put on the coefficient grid once.
        """
        return self.in_units(domain, Fraction(1))

    def in_units(self, domain: Domain, unit: Fraction) -> Query:
        """The query whose answer is that of the question divided by a unit."""
        built = [
            (weight * unit_of(build, domain) / unit, build(domain)) for weight, build in self.parts
        ]
        if len(built) == 1 and built[0][0] == 1:
            return built[0][1]
        terms = [Term(w * term.weight, term.vectors) for w, query in built for term in query.terms]
        constant = sum((w * query.constant for w, query in built), Fraction(0))
        blur = added(scaled(query.blur, weight) for weight, query in built)
        return Query.of(domain, terms, constant, blur)

    @_of_linear
    def __add__(self, other: Expression | float | Fraction) -> Expression:
        right = _as_expression(other)
        return Expression(self.parts + right.parts, f"{self.text} + {right.text}")

    __radd__ = __add__

    @_of_linear
    def __sub__(self, other: Expression | float | Fraction) -> Expression:
        right = _as_expression(other)
        parts = self.parts + _scaled(right.parts, Fraction(-1))
        return Expression(parts, f"{self.text} - ({right.text})")

    def __rsub__(self, other: float | Fraction) -> Expression:
        return _as_expression(other) - self

    @_of_linear
    def __mul__(self, factor: float | Fraction) -> Expression:
        parts = _scaled(self.parts, to_fraction(factor))
        return Expression(parts, f"{factor} * ({self.text})")

    __rmul__ = __mul__

    @_of_linear
    def __truediv__(self, divisor: float | Fraction) -> Expression:
        if isinstance(divisor, Expression):
            raise QueryError("the ratio of two questions is eke.ratio(one, other)")
        number = to_fraction(divisor)
        if number == 0:
            raise QueryError("a question cannot be divided by zero")
        return Expression(_scaled(self.parts, 1 / number), f"({self.text}) / {divisor}")

    def __neg__(self) -> Expression:
        return self * -1

    def by(self, *attributes: str) -> MarginalExpression:
        """The same question in every combination of values of some attributes."""
        return MarginalExpression(attributes, self)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class MarginalExpression(Askable[Marginal]):
    """A marginal not yet tied to a domain."""

    attributes: tuple[str, ...]
    inside: Expression

    @property
    def linear(self) -> tuple[Expression, tuple[str, ...]]:
        return self.inside, self.attributes

    def unit(self, domain: Domain) -> Fraction:
        return self.inside.unit(domain)

    def on(self, domain: Domain) -> Marginal:
        """The block over a domain; raises when attributes or values are not declared there."""
        check_names(domain, self.attributes)
        return Marginal(domain.in_order(self.attributes), self.inside.on(domain))

    def __str__(self) -> str:
        return f"{self.inside.text} by {', '.join(self.attributes)}"


def count(where: Where | None = None, **conditions: Any) -> Expression:
    """The number of records that meet all conditions; without conditions, of all records.

    Args:
        where: conditions by attribute: a value, a pair (low, high), a list, or None for the bucket.
        conditions: the same by keyword.

    Example:
        >>> print(eke.count(age=(30, 40), sex="F"))
        count where age = (30, 40) and sex = 'F'
        >>> session.preview(eke.count(smoker=None), within=60).cost  # the bucket
        0.049928919
    """
    wanted = joined_conditions(where, conditions)
    return _atom(lambda d: selected(d, wanted), _text("count", wanted))


def present(attribute: str, where: Where) -> Expression:
    """The number of records that meet all conditions and have a number of an attribute."""

    def build(domain: Domain) -> Query:
        check_names(domain, [attribute])
        declared = domain[attribute].size - domain[attribute].has_bucket
        known = Runs.of_stretches([(1, declared), (0, domain[attribute].size)])
        having = Query.unrounded(domain, [Term(Fraction(1), ((attribute, known),))])
        return having.pointwise(selected(domain, where))

    return _atom(build, _text(f"count with {attribute}", where))


def of_people(where: Where) -> Expression:
    """The number of people with a record that meets all conditions."""
    return _atom(
        lambda d: replace(selected(d, where), people=True, blur=NO_BLUR), _text("people", where)
    )


def total(attribute: str, where: Where | None = None, **conditions: Any) -> Expression:
    """The sum of a numeric attribute over the records that meet all conditions.

    Args:
        attribute: what is added up.
        where: conditions as in `count`.
        conditions: the same by keyword.

    Example:
        >>> print(eke.total("age", sex="F"))
        sum of age where sex = 'F'
        >>> session.preview(eke.total("age", sex="F"), within=6000).cost
        0.049429645
    """
    return moment({attribute: 1}, where=joined_conditions(where, conditions))


def moment(
    powers: Mapping[str, int] | None = None, /, *, where: Where | None = None, **named: int
) -> Expression:
    """The sum over records of a product of powers of numeric attributes.

    `moment(age=2)` is the sum of squares, `moment(age=1, hours=1)` the sum of age · hours; both
    over the records that meet the conditions. The powers of each attribute are put on the
    coefficient grid of the largest of them.

    Args:
        powers: a power from 1 to 4 by attribute, for names that are no keywords of Python.
        where: conditions as in `count`.
        named: powers by keyword.

    Example:
        >>> print(eke.moment(age=2, where={"sex": "F"}))
        sum of age^2 where sex = 'F'
        >>> print(eke.moment({"age": 1, "hours": 1}))
        sum of age * hours
    """
    exponents = joined_conditions(powers, named)
    if not exponents:
        raise QueryError("a moment needs at least one attribute and its power, e.g. moment(age=2)")
    for name, power in exponents.items():
        if type(power) is not int or not 1 <= power <= 4:
            raise QueryError(f"the power of {name!r} must be a whole number from 1 to 4")
    wanted = dict(where or {})

    inner_text = " * ".join(n if p == 1 else f"{n}^{p}" for n, p in exponents.items())
    return _atom(SumOfPowers(exponents, wanted), _text(f"sum of {inner_text}", wanted))


def table(attributes: str | Sequence[str], coefficients: ArrayLike) -> Expression:
    """An arbitrary question over a few attributes: its coefficient for each cell, at most 65,536.

    Args:
        attributes: one name, or several.
        coefficients: an array with an axis for each attribute; the bucket comes last.

    Example:
        >>> women = eke.table("sex", [1, -2]).on(domain)
        >>> women.description
        'sum(weights of sex {F: 1, M: -2})'
        >>> session.preview(eke.table(["sex", "smoker"], [[1, 2, 0], [0, 1, 0]]), within=120).cost
        0.049928919
    """
    names = (attributes,) if isinstance(attributes, str) else tuple(attributes)
    try:
        values = np.asarray(coefficients)
    except ValueError as problem:
        raise QueryError("a table must be rectangular: rows of equal length") from problem
    if not names or values.ndim != len(names) or len(set(names)) != len(names):
        raise QueryError("a table needs one axis for each of its attributes, each named once")
    if values.size > DENSE_CELLS:
        raise QueryError(
            f"a table may have at most {DENSE_CELLS:,} cells; write larger ones as products"
        )
    flat = [to_fraction(v) for v in values.reshape(-1).tolist()]

    def build(domain: Domain) -> Query:
        check_names(domain, names)
        if values.shape != domain.sizes(names):
            raise QueryError(f"the table must have shape {domain.sizes(names)}, not {values.shape}")
        unit, integers = integer_vector(flat)
        ordered = domain.in_order(names)
        whole = integers.reshape(values.shape).transpose([names.index(n) for n in ordered])
        return Query(domain, table_terms(ordered, whole, unit) or (), Fraction(0))

    return _atom(build, f"table over {', '.join(names)}")


def constant(value: float | Fraction) -> Expression:
    """A question whose answer is public: the number itself.

    Numbers in sums become constants by themselves.

    Args:
        value: the number.

    Example:
        >>> print(2 * eke.count(sex="F") - eke.constant(100))
        2 * (count where sex = 'F') - (100)
    """
    number = to_fraction(value)
    return _atom(lambda d: Query.of(d, [], number), str(value))


def marginal(
    *attributes: str, of: Groupable[GroupedT_co] | None = None, where: Where | None = None
) -> GroupedT_co | MarginalExpression:
    """One answer for each combination of values of the attributes: counts, or of `of`.

    The cells are disjoint, so the whole marginal costs a record once.

    Args:
        attributes: the names of the keys.
        of: what is asked in each group: a question, or a formula such as `mean`.
        where: instead of it, conditions of the count.

    Example:
        >>> print(eke.marginal("sex", of=eke.mean("age")))
        mean of age by sex
        >>> session.ask(eke.marginal("sex"), within=60).keys
        (('F',), ('M',))
    """
    given: tuple[Any, ...] = attributes
    if len(given) == 1 and not isinstance(given[0], str):
        given = tuple(given[0])
    if of is not None and where is not None:
        raise QueryError("give either `of` or `where`: put the conditions into `of`")
    return count(where or {}).by(*given) if of is None else of.by(*given)


def _atom(build: Build, text: str) -> Expression:
    return Expression(((Fraction(1), build),), text)


def _scaled(
    parts: tuple[tuple[Fraction, Build], ...], factor: Fraction
) -> tuple[tuple[Fraction, Build], ...]:
    return tuple((weight * factor, build) for weight, build in parts)


def _as_expression(value: Expression | float | Fraction) -> Expression:
    return value if isinstance(value, Expression) else constant(value)


def joined_conditions(given: Mapping[str, Any] | None, named: Mapping[str, Any]) -> dict[str, Any]:
    """Conditions (or powers) that are given in both ways, each once."""
    mapping = {} if given is None else given
    if not isinstance(mapping, Mapping):
        raise QueryError("conditions and powers are a mapping of attribute names or keywords")
    twice = sorted(set(mapping) & set(named))
    if twice:
        raise QueryError(f"given twice, keep one each: {', '.join(twice)}")
    return {**mapping, **named}


def _text(what: str, where: Where) -> str:
    conditions = " and ".join(f"{name} = {value!r}" for name, value in where.items())
    return f"{what} where {conditions}" if conditions else what
