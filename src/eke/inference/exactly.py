"""Exactly: what is public and known without any noise, and what follows from it alone.

The number of records, where it is public, and facts (`eke.history.outside`). Least squares over
them has no noise at all, so that its estimates are the answers; whether a question lies in their
span is decided exactly (`span.py`). With measurements beside them, facts are answers of a noise so
small that least squares keeps to them to a millionth of a record (Van Loan 1985, the method of
weighting: the heavy rows come first), and what follows from them alone is told from here.

A condition that nobody meets says more than its own count: no question gets anything from records
that meet it. So it is taken out of every question and of every single answer (`reduced`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.history import Assertion, Measurement, Outside, Row
from eke.inference.known_table import summed_inside
from eke.inference.mixed import MixedRegression
from eke.inference.regression import Regression
from eke.inference.tables import ReleasedTables, table_weight
from eke.query import Block, Query, count

LEAST_TABLE = 256
"""Public tables of more cells than this are kept as tables."""
MOST_TERMS = 64
"""A question that would be longer without the conditions that nobody meets stays as it is."""
_FINEST_WHOLE = -10  # exponents of coefficients from here on: answers are multiples of that power
_CLOSE = 1e-6
_ROUNDING = 1e-10  # of a number


class Exactly:
    """Facts, as one system of equations; it never changes."""

    def __init__(
        self, domain: Domain, public: Sequence[Row] = (), facts: Sequence[Assertion] = ()
    ) -> None:
        self.domain = domain
        self.facts = tuple(facts)
        self.total: int | None = None
        places = [at for at, one in enumerate(facts) if is_impossible(one)]
        self.zeros = {at: facts[at].query.cell(0) for at in places}  # by the fact's place
        self._public = tuple(public)
        # What inference takes them as: single answers, and tables too large for that, each with
        # the place of the fact that it is of.
        self.rows: list[tuple[int | None, Row]] = [(None, row) for row in public]
        self.tables: list[tuple[int, Measurement]] = []
        for at, statement in enumerate(facts):
            measured = statement.measurement()
            if is_large_table(measured.query):
                self.tables.append((at, measured))
            else:
                self.rows += [(at, self._row(at, row)) for row in measured.rows()]
        self._regression = self._solved() if self.rows or self.tables else None
        if self._regression is not None:
            total = self.value(count().on(domain))
            self.total = None if total is None else round(total)

    def with_public(self, row: Row) -> Exactly:
        """The same with one more public number."""
        return Exactly(self.domain, (*self._public, row), self.facts)

    def value(self, query: Query) -> float | None:
        """The answer to a question that follows from what is public; None for any other."""
        if self.total is not None and not query.attributes and not query.people:
            return float(self.total * sum(term.weight for term in query.terms) + query.constant)
        number = self.unrounded(query)
        return None if number is None else _whole(number, query)

    def unrounded(self, query: Query) -> float | None:
        """The same as least squares has it: where facts contradict each other, between them."""
        solved = self._found(query)
        return None if solved is None else solved[0]

    def misfits(self, statement: Assertion) -> Iterator[int]:
        """The places of numbers of a fact that all facts together do not give."""
        block, table = statement.query, None
        if is_large_table(block) and isinstance(self._regression, MixedRegression):
            table = self._table(block)
        for place, value in enumerate(statement.values):
            number = self.unrounded(block.cell(place)) if table is None else float(table[place])
            if number is None or not agrees(number, value):
                yield place

    def resting_on(self, query: Query) -> list[int]:
        """The facts that the answer to such a question follows from, by their places."""
        solved = self._found(query)
        return [] if solved is None else solved[1]

    def removed_from(self, query: Query) -> list[int]:
        """The facts about conditions that nobody meets by which a question is shortened."""
        if query.people:
            return []
        inside = query.without_constant()
        return [at for at, zero in self.zeros.items() if not inside.pointwise(zero).is_zero]

    def reduced(self, query: Query) -> Query:
        """A question with the same answer, which asks of no record that cannot exist."""
        if query.people or not self.zeros:
            return query
        shorter = query
        for zero in self.zeros.values():
            inside = shorter.without_constant().pointwise(zero)
            if inside.is_zero:
                continue
            shorter = shorter - inside
            if len(shorter.terms) > max(MOST_TERMS, len(query.terms)):
                return query
        return shorter

    # -- inside --------------------------------------------------------------------------------

    def _row(self, at: int, row: Row) -> Row:
        return row if at in self.zeros else replace(row, query=self.reduced(row.query))

    def _solved(self) -> Regression | MixedRegression:
        rows = [row for _, row in self.rows]
        if self.tables:
            tables = ReleasedTables(self.domain)
            for _, measured in self.tables:
                tables.append(measured)
            return MixedRegression(self.domain, tables, rows)
        regression = Regression(self.domain)
        for row in rows:
            regression.append(row)
        return regression

    def _table(self, block: Block) -> FloatArray | None:
        """All cells of a plain table at once; None where they are asked one by one."""
        inside = block.inside
        if inside is None or not block.grouped or not isinstance(self._regression, MixedRegression):
            return None
        names = self.domain.in_order({*block.grouped, *inside.attributes})
        values = self._regression.table(names)
        return None if values is None else summed_inside(values, block.grouped, inside)

    def _found(self, query: Query) -> tuple[float, list[int]] | None:
        """The answer, and the facts that have a weight in it."""
        if self._regression is None:
            return None
        if not self.facts and (query.attributes or query.people):
            return None  # the number of records alone says nothing about them
        shorter = self.reduced(query)
        taken = [] if shorter is query else self.removed_from(query)
        for asked in dict.fromkeys((shorter, query)):
            estimate = self._regression.estimate(asked)
            if estimate is None:
                continue
            owners = {self.rows[row][0] for row in estimate.rows.tolist()}
            tables = {self.tables[one.table][0] for one in estimate.cells if one.weights.any()}
            used = {one for one in owners if one is not None} | tables
            return estimate.value, sorted(used | set(taken))
        return None


def is_impossible(statement: Assertion) -> bool:
    """True of a fact that nobody meets a condition."""
    return (
        statement.is_exact
        and statement.query.is_single
        and not statement.query.people
        and statement.values == (Fraction(0),)
        and is_condition(statement.query.cell(0))
    )


def is_condition(query: Query) -> bool:
    """True of a count of the records that meet a condition."""
    return not query.is_zero and query.extremes() in (
        (Fraction(0), Fraction(1)),
        (Fraction(1), Fraction(1)),
    )


def agrees(implied: float, said: Fraction) -> bool:
    """Whether a number is what follows from others, but for rounding."""
    return abs(implied - float(said)) <= _CLOSE + _ROUNDING * abs(float(said))


def known_exactly(domain: Domain, public: Sequence[Row], outside: Sequence[Outside]) -> Exactly:
    """What is exact of everything that is known from outside."""
    facts = [each for one in outside for each in one.statements if each.is_exact]
    return Exactly(domain, public, facts)


def is_large_table(block: Block) -> bool:
    """True of a block that is kept whole, because its answers would be too many one by one."""
    return block.cells > LEAST_TABLE and table_weight(block) is not None


def _whole(value: float, query: Query) -> float:
    """The answer without what rounding left: it is a sum of whole multiples of coefficients."""
    if query.exponent < _FINEST_WHOLE:
        return value
    unit = 2.0**query.exponent
    constant = float(query.constant)
    return round((value - constant) / unit) * unit + constant
