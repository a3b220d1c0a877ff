"""Moments: sums over records of products of powers of columns, and counts, tied to a domain.

Sums over wide columns are asked in a unit of their own, as steps of 1/100 are: such a unit must not
be rounded to a power of two, as noise on so fine a grid could not hide a record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from eke.domain import Domain
from eke.errors import DomainError, QueryError
from eke.query.blur import of_powers, scaled
from eke.query.canonical import Term
from eke.query.condition import check_names, selection
from eke.query.linear import Query
from eke.query.numbers import power_vector, step_power

Where = Mapping[str, Any]
Build = Callable[[Domain], Query]


@dataclass(frozen=True, slots=True)
class SumOfPowers:
    """The build of a moment; over wide columns in a unit of its own."""

    exponents: Mapping[str, int]
    wanted: Where

    def __call__(self, domain: Domain) -> Query:
        check_names(domain, self.exponents)
        weight, factors = Fraction(1), []
        wanted = self.wanted
        chosen = {n: selection(domain[n], wanted[n]) for n in self.exponents if n in wanted}
        for name, power in self.exponents.items():
            try:
                unit, vector = power_vector(domain[name], power, chosen.get(name))
            except DomainError as problem:
                raise QueryError(f"{name!r}: {problem}") from problem
            weight *= unit
            factors.append((name, vector))
        whole_unit = self.unit(domain)
        moments = Query.unrounded(domain, [Term(weight / whole_unit, tuple(factors))])
        query = moments.pointwise(selected(domain, wanted))
        blur = {**query.blur, **of_powers(domain, self.exponents, chosen)}
        return replace(query, blur=scaled(blur, 1 / whole_unit))

    def unit(self, domain: Domain) -> Fraction:
        wide = [name for name in self.exponents if name in domain and domain[name].is_wide]
        steps = [step_power(domain[name], self.exponents[name]) for name in wide]
        return math.prod(steps, start=Fraction(1))


def unit_of(build: Build, domain: Domain) -> Fraction:
    """The unit that a build leaves to whoever asks."""
    return build.unit(domain) if isinstance(build, SumOfPowers) else Fraction(1)


def selected(domain: Domain, where: Where) -> Query:
    """The count of the records that meet all conditions."""
    check_names(domain, where)
    factors = []
    for name, condition in where.items():
        try:
            factors.append((name, selection(domain[name], condition)))
        except QueryError as problem:
            raise QueryError(f"{name!r}: {problem}") from problem
    query = Query.unrounded(domain, [Term(Fraction(1), tuple(factors))])
    return replace(query, blur=dict.fromkeys(where, Fraction(0)))
