"""Derived columns: names that the curator gave to public functions of the attributes.

They are expressions of SQL, read like those of a question, and have the same values over cells: a
question about them is one about the attributes behind them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from eke.domain import Domain
from eke.errors import DomainError, EkeError, SqlError
from eke.query.pieces import Pieces, TooLarge
from eke.question.calendar import value_at
from eke.sql.diagram import Diagrams
from eke.sql.effort import Effort
from eke.sql.guard import cleaned, scanned, single_statement
from eke.sql.joining import looked_up
from eke.sql.lookup import rows_of
from eke.sql.place import SqlText
from eke.sql.polynomial import Vector
from eke.sql.scalar import value_of
from eke.sql.scope import LazyColumns, Relation, matching
from eke.sql.tree import parsed
from eke.sql.value import Missing, Moment, Number, Reading, Value, column_value

_BEGIN = "SELECT "


def protected_table(reading: Reading) -> Relation:
    """The protected table: every attribute and every derived column is a column."""
    domain = reading.domain
    makers = {name: partial(column_value, reading, name) for name in domain.names}
    columns = LazyColumns(makers)
    for name, text in domain.derived:
        makers[name] = partial(_derived, reading, columns, text)
    people = frozenset() if reading.unit is None else frozenset({reading.unit})
    return Relation(columns, reading.diagrams.true, people=people)


def check_functions(domain: Domain) -> None:
    """Raise unless every derived column can be read and every lookup can find something.

    Args:
        domain: what a dataset is to be made of.

    Raises:
        DomainError: names the column or the lookup, and says what to change.
    """
    for name, _ in domain.derived:
        _worked_out(domain, name)
    columns = protected_table(_reading(domain)).columns
    for lookup in domain.lookups:
        names = [matching(columns, key, quoted=False) for key in lookup.keys]
        if not all(names):
            continue  # its keys have names of their own, so ON says what they are compared with
        reading = _reading(domain)
        keys = [protected_table(reading).columns[name] for name in names if name]
        rows = _named(f"lookup {lookup.name!r}", partial(rows_of, reading, _NOWHERE, lookup, keys))
        if rows.found(reading) is reading.diagrams.false:
            raise DomainError(
                f"lookup {lookup.name!r}: none of its keys is a declared value of "
                f"{' and '.join(name for name in names if name)}; compare both, and their types"
            )


def derived_values(domain: Domain, codes: Mapping[str, NDArray[np.int64]]) -> dict[str, list[Any]]:
    """The derived columns of some rows, which are given by the codes of some attributes.

    A column that reads other attributes than these is left out.
    """
    columns = {}
    for name, _ in domain.derived:
        reading, value = _worked_out(domain, name)
        if reading.columns <= set(codes):
            names = domain.in_order(reading.columns)
            each = np.stack([codes[name] for name in names], axis=1)
            kinds, place = np.unique(each, axis=0, return_inverse=True)
            few = _values(reading, value, dict(zip(names, kinds.T, strict=True)), len(kinds))
            columns[name] = [few[at] for at in place.reshape(-1)]
    return columns


_NOWHERE = exp.Null()


def _worked_out(domain: Domain, name: str) -> tuple[Reading, Value]:
    reading, what = _reading(domain), f"derived column {name!r}"
    value = _named(what, lambda: protected_table(reading).columns[name])
    if not reading.columns:
        raise DomainError(f"{what} is the same in every record; name a column in it")
    return reading, value


def _reading(domain: Domain) -> Reading:
    effort = Effort(SqlText(""), domain)
    return Reading(SqlText(""), domain, Diagrams(domain, effort), effort)


def _named(what: str, work: Any) -> Any:
    """What the work gives; its errors say what they are about, and are the domain's."""
    try:
        return work()
    except SqlError as problem:
        raise DomainError(f"{what}: {problem.args[0]}") from problem
    except (EkeError, TooLarge, RecursionError) as problem:
        raise DomainError(f"{what}: {problem}") from problem


def _derived(reading: Reading, columns: LazyColumns, text: str) -> Value:
    """The value of a derived column in every cell."""
    written = SqlText(_BEGIN + text)
    within = replace(reading, text=written)
    tokens = single_statement(written, scanned(written))
    select = parsed(written, cleaned(written, tokens), tokens)
    others = [key for key, value in select.args.items() if value and key != "expressions"]
    (item, *more) = select.expressions
    if others or more or isinstance(item, exp.Alias):
        raise DomainError("write one expression, without AS or FROM")
    lookups = {
        one.name.casefold(): looked_up(within, columns, one)
        for one in reading.domain.lookups
        if all(matching(columns, key, quoted=False) for key in one.keys)
    }
    value = value_of(within, Relation(columns, reading.diagrams.true, lookups), item)
    if isinstance(value, Missing):
        raise DomainError("it is always NULL; leave it out")
    return value


def _values(
    reading: Reading, value: Value, codes: Mapping[str, NDArray[np.int64]], rows: int
) -> list[Any]:
    """The value of each row, as a table holds it."""
    diagrams = reading.diagrams
    number = value.number if isinstance(value, Moment) else value
    if not isinstance(number, Number):
        return list(diagrams.chosen(number.labels, codes, rows))  # type: ignore[union-attr]
    if number.steps is not None:
        labels = diagrams.chosen(number.steps, codes, rows)
        every = [label for label in diagrams.labels(number.steps) if label is not None]
    else:
        products = number.polynomial(diagrams).products
        every = [product.weight for product in products]
        labels = np.full(rows, Fraction(0), object)
        for product in products:
            part = np.full(rows, product.weight, object)
            for name, factor in product.factors.items():
                part = part * _at(factor, codes[name])
            labels = labels + part
        labels[~diagrams.chosen(number.known, codes, rows).astype(bool)] = None
    if isinstance(value, Moment):
        return [None if one is None else value_at(one, value.kind) for one in labels]
    shown = int if all(one.denominator == 1 for one in every) else float
    return [None if one is None else shown(one) for one in labels]


def _at(factor: Vector, codes: NDArray[np.int64]) -> NDArray[Any]:
    """The numbers of some codes, as Python's integers."""
    return factor.at_codes(codes) if isinstance(factor, Pieces) else factor[codes].astype(object)
