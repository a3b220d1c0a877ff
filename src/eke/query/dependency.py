"""Dependency: how many records break a rule that one attribute determines another."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from eke.domain import Domain
from eke.errors import QueryError
from eke.query.canonical import Term
from eke.query.condition import check_names, selection
from eke.query.expression import Expression
from eke.query.linear import Query
from eke.query.runs import dense


def breaking(cause: str, effect: str, mapping: Mapping[Any, Any]) -> Expression:
    """The number of records whose value of one attribute is not what another one determines.

    Values of `cause` that the mapping does not name are free. Each is written as in a condition of
    `count`: a value, a pair (low, high), or None for the bucket.

    Args:
        cause: the attribute that determines the other.
        effect: what is determined.
        mapping: the value of `effect` for values of `cause`.

    Example:
        >>> from eke.query import breaking
        >>> print(breaking("age", "smoker", {(0, 9): False}))
        count breaking age -> smoker
    """
    if not isinstance(mapping, Mapping) or not mapping or cause == effect:
        raise QueryError(
            "a dependency is two attributes and what one says of the other, such as "
            "month, quarter and {1: 1, 2: 1, 3: 1, 4: 2}"
        )
    pairs = list(mapping.items())

    def build(domain: Domain) -> Query:
        check_names(domain, [cause, effect])
        causes: dict[bytes, Any] = {}
        taken = np.zeros(domain[cause].size, np.int64)
        for value, implied in pairs:
            chosen = dense(selection(domain[cause], value))
            taken += chosen
            other = 1 - dense(selection(domain[effect], implied))
            before = causes.get(other.tobytes(), (0, other))[0]
            causes[other.tobytes()] = (before + chosen, other)
        if taken.max() > 1:
            raise QueryError(f"the mapping names a value of {cause!r} twice; name each once")
        terms = [
            Term(Fraction(1), ((cause, chosen), (effect, other)))
            for chosen, other in causes.values()
            if other.any()
        ]
        return Query.unrounded(domain, terms)

    return Expression(((Fraction(1), build),), f"count breaking {cause} -> {effect}")
