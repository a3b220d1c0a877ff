"""How users write formulas in Python: averages, ratios, variances, and arithmetic on them.

A `FormulaExpression` is a formula over linear questions without a domain; `on(domain)` makes it a
`Question`, the same that SQL's AVG, VARIANCE or `SUM(a) / SUM(b)` make:

    eke.mean("hours", sex="Female")
    eke.ratio(eke.count(income=">50K"), eke.count())
    eke.mean("age").by("sex")
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from eke.domain import Domain
from eke.errors import QueryError
from eke.query import Askable, Expression, count, total
from eke.query.expression import (
    WiderExpression,
    joined_conditions,
    moment,
    of_people,
    present,
)
from eke.query.moment import Where
from eke.query.vector import to_fraction
from eke.question.formula import Aggregate, Constant, Formula, Operation, Sign
from eke.question.ladder import MOST_DIGITS, checked_share
from eke.question.lowered import formula_question
from eke.question.quantile import Quantile
from eke.question.question import Question
from eke.question.square_root import Root

Operand: TypeAlias = "FormulaExpression | Expression | float | Fraction"


@dataclass(frozen=True, slots=True)
class FormulaExpression(WiderExpression):
    """A formula of linear questions not yet tied to a domain; supports + - * / and `by`.

    Example:
        >>> import eke
        >>> domain = eke.Domain(age=eke.Integer(0, 99), sex=eke.Categorical("F", "M"))
        >>> question = eke.mean("age").by("sex").on(domain)
        >>> [column.name for column in question.columns]
        ['sex', 'value']
    """

    formula: Formula
    of: tuple[Expression, ...]  # what its aggregates are
    text: str
    attributes: tuple[str, ...] = ()

    def by(self, *attributes: str) -> FormulaExpression:
        """The same formula in every combination of values of some attributes."""
        return FormulaExpression(self.formula, self.of, self.text, attributes)

    def chosen(self) -> FormulaExpression:
        """The same quantile, chosen among the column's numbers by one private choice.

        It is SQL's CHOSEN_MEDIAN and CHOSEN_QUANTILE. For one quantile of a column with very many
        numbers it is nearer, at the same price, than one that is found by counting; it says how
        many records it may be off by, not how far, and tells nothing of other questions. `within`
        is a share of the records, such as "1 %"; or say what it may cost with `spend`.

        Raises:
            QueryError: when it is no quantile, or one of several groups.

        Example:
            >>> print(eke.quantile("age", 0.9, sex="F").chosen())
            chosen 0.9 quantile of age where sex = 'F'
            >>> oldest = session.ask(eke.quantile("age", 0.9).chosen(), spend=0.05)
            >>> oldest.value in range(100), oldest.free
            (True, False)
        """
        return replace(self, formula=self.formula.chosen(), text=f"chosen {self.text}")

    def on(self, domain: Domain) -> Question:
        """The question over a domain; raises when attributes or values are not declared there."""
        units = [expression.unit(domain) for expression in self.of]
        queries = [
            expression.in_units(domain, unit)
            for expression, unit in zip(self.of, units, strict=True)
        ]
        formula = self.formula
        if any(unit != 1 for unit in units):
            answers = [
                Aggregate(place) if unit == 1 else Operation("*", Constant(unit), Aggregate(place))
                for place, unit in enumerate(units)
            ]
            formula = formula.on_answers(answers)
        return formula_question(domain, formula, queries, self.attributes)

    def __add__(self, other: Operand) -> FormulaExpression:
        return _joined("+", self, other)

    def __radd__(self, other: Operand) -> FormulaExpression:
        return _joined("+", other, self)

    def __sub__(self, other: Operand) -> FormulaExpression:
        return _joined("-", self, other)

    def __rsub__(self, other: Operand) -> FormulaExpression:
        return _joined("-", other, self)

    def __mul__(self, other: Operand) -> FormulaExpression:
        return _joined("*", self, other)

    def __rmul__(self, other: Operand) -> FormulaExpression:
        return _joined("*", other, self)

    def __truediv__(self, other: Operand) -> FormulaExpression:
        return _joined("/", self, other)

    def __rtruediv__(self, other: Operand) -> FormulaExpression:
        return _joined("/", other, self)

    def __neg__(self) -> FormulaExpression:
        return _joined("*", -1, self)

    def __str__(self) -> str:
        return f"{self.text} by {', '.join(self.attributes)}" if self.attributes else self.text


def people(where: Where | None = None, **conditions: Any) -> FormulaExpression:
    """The number of people with a record that meets all conditions, each counted once.

    They are the ids of the dataset's `Unit`: COUNT(DISTINCT id) in SQL. An id moves the number by
    one, however many records it has, so that it costs less than a count of records. The people of
    several groups do not add up to those of all of them; nothing follows from their numbers but
    ratios, differences and the like.

    Args:
        where: conditions as in `count`; one record must meet all of them.
        conditions: the same by keyword.

    Example:
        >>> visits = pd.DataFrame({"patient": [1, 1, 1, 2], "sex": ["F", "F", "F", "M"]})
        >>> sexes = eke.Domain(sex=eke.Categorical("F", "M"))
        >>> unit = eke.Unit("patient", rows=2)
        >>> clinic = eke.create("people.eke", visits, sexes, epsilon=1.0, unit=unit)
        >>> print(eke.people(sex="F"))
        people where sex = 'F'
        >>> records = clinic.preview(eke.count(), within=60).cost
        >>> round(records / clinic.preview(eke.people(), within=60).cost, 6)
        2.0
    """
    counted = of_people(joined_conditions(where, conditions))
    return FormulaExpression(Aggregate(0), (counted,), str(counted))


def ratio(numerator: Operand, denominator: Operand) -> FormulaExpression:
    """One question divided by another.

    Args:
        numerator: a question, a formula or a number.
        denominator: the same.

    Example:
        >>> print(eke.ratio(eke.count(sex="F"), eke.count()))
        (count where sex = 'F') / (count)
    """
    return _joined("/", numerator, denominator)


def mean(attribute: str, where: Where | None = None, **conditions: Any) -> FormulaExpression:
    """The average of a numeric attribute over the records that meet all conditions.

    Records without a number (the bucket for others, if the attribute has one) are left out, as
    SQL's AVG leaves out NULL. Averages, ratios, variances and roots are formulas: they can be
    added, subtracted, multiplied and divided, also by questions and numbers, and asked `by`
    attributes. What they cost depends on how many records there are, so that they are approached
    in steps; see docs/proofs/formulas.md.

    Args:
        attribute: what is averaged.
        where: conditions as in `count`.
        conditions: the same by keyword.

    Example:
        >>> print(eke.mean("age", sex="F"))
        mean of age where sex = 'F'
        >>> _ = session.ask(eke.mean("age"), within=10)
        >>> session.ask("SELECT AVG(age) FROM people", within=10).free
        True
        >>> session.preview(eke.mean("age").by("sex"), within=10).first_step
        True
    """
    wanted = joined_conditions(where, conditions)
    parts = total(attribute, wanted), present(attribute, wanted)
    average = Operation("/", Aggregate(0), Aggregate(1))
    return FormulaExpression(average, parts, _named("mean", attribute, wanted))


def variance(attribute: str, where: Where | None = None, **conditions: Any) -> FormulaExpression:
    """The sample variance of a numeric attribute over the records that meet all conditions.

    It is SQL's VARIANCE; `deviation` is its root.

    Args:
        attribute: whose variance it is.
        where: conditions as in `count`.
        conditions: the same by keyword.

    Example:
        >>> print(eke.variance("age"))
        variance of age
    """
    wanted = joined_conditions(where, conditions)
    squares, values, rows = Aggregate(0), Aggregate(1), Aggregate(2)
    about = Operation("-", squares, Operation("/", Operation("*", values, values), rows))
    parts = (
        moment({attribute: 2}, where=wanted),
        total(attribute, wanted),
        present(attribute, wanted),
    )
    spread = Operation("/", about, Operation("+", rows, Constant(Fraction(-1))))
    return FormulaExpression(spread, parts, _named("variance", attribute, wanted))


def deviation(attribute: str, where: Where | None = None, **conditions: Any) -> FormulaExpression:
    """The sample standard deviation of a numeric attribute, as SQL's STDDEV.

    Args:
        attribute: whose deviation it is.
        where: conditions as in `count`.
        conditions: the same by keyword.

    Example:
        >>> print(eke.deviation("age").by("sex"))
        standard deviation of age by sex
    """
    wanted = joined_conditions(where, conditions)
    squared = variance(attribute, wanted)
    text = _named("standard deviation", attribute, wanted)
    return FormulaExpression(Root(squared.formula), squared.of, text)


def quantile(
    attribute: str, share: float, where: Where | None = None, **conditions: Any
) -> FormulaExpression:
    """The number that a share of the records that meet all conditions is at most.

    It is SQL's QUANTILE_DISC: the least number of the attribute that so many records do not
    exceed. Records without a number are left out. `within` is in the unit of the attribute, or a
    share of the records such as "1 %". Quantiles are found in steps, and not calculated with. Of a
    column with very many numbers `eke.quantile("pay", 0.9).chosen()` is nearer at the same price,
    for one quantile: it is one private choice, and says how many records it may be off by; see
    docs/proofs/quantiles.md.

    Args:
        attribute: whose quantile it is.
        share: between 0 and 1; near 0 or 1 for the least or the largest numbers.
        where: conditions as in `count`.
        conditions: the same by keyword.

    Example:
        >>> print(eke.quantile("age", 0.9, sex="F"))
        0.9 quantile of age where sex = 'F'
        >>> session.preview(eke.quantile("age", 0.9), within=10).first_step
        True
    """
    return _quantile(attribute, share, joined_conditions(where, conditions), is_between=False)


def median(attribute: str, where: Where | None = None, **conditions: Any) -> FormulaExpression:
    """The median of a numeric attribute over the records that meet all conditions.

    It is SQL's MEDIAN: the middle of two records where their number is even. With `.chosen()` after
    it, as of `quantile`, it is a number that a record may have, by one private choice.

    Args:
        attribute: whose median it is.
        where: conditions as in `count`.
        conditions: the same by keyword.

    Example:
        >>> print(eke.median("age").by("sex"))
        median of age by sex
        >>> middle = session.ask(eke.median("age").chosen(), spend=0.05)
        >>> middle.rank_error < 500, middle.free
        (True, False)
    """
    return _quantile(attribute, 0.5, joined_conditions(where, conditions), is_between=True)


def _quantile(attribute: str, share: float, where: Where, *, is_between: bool) -> FormulaExpression:
    wanted = checked_share(to_fraction(share).limit_denominator(10**MOST_DIGITS))
    formula = Quantile(Aggregate(0), attribute, wanted, is_between)
    text = _named(formula.named, attribute, where)
    return FormulaExpression(formula, (present(attribute, where),), text)


def root(of: Operand) -> FormulaExpression:
    """The square root of a question or a formula.

    Args:
        of: what the root is taken of.

    Example:
        >>> print(eke.root(eke.count()))
        sqrt(count)
    """
    inner = _as_formula(of)
    return FormulaExpression(Root(inner.formula), inner.of, f"sqrt({inner})", inner.attributes)


def _joined(sign: Sign, left: Operand, right: Operand) -> FormulaExpression:
    first, second = _as_formula(left), _as_formula(right)
    by = {formula.attributes for formula in (first, second) if formula.of}
    if len(by) > 1:
        raise QueryError("both sides of a formula must be by the same attributes")
    moved = [Aggregate(place + len(first.of)) for place in range(len(second.of))]
    formula = Operation(sign, first.formula, second.formula.on_answers(moved))
    text = f"({first.text}) {sign} ({second.text})"
    return FormulaExpression(formula, first.of + second.of, text, next(iter(by), ()))


def _as_formula(value: Operand) -> FormulaExpression:
    if isinstance(value, FormulaExpression):
        return value
    if isinstance(value, Expression):
        return FormulaExpression(Aggregate(0), (value,), str(value))
    return FormulaExpression(Constant(to_fraction(value)), (), str(value))


def _named(what: str, attribute: str, where: Where) -> str:
    return str(count(where)).replace("count", f"{what} of {attribute}", 1)


def in_own_unit(asked: Askable[Any]) -> FormulaExpression:
    """A linear question as a formula, which multiplies its answer by the unit it is asked in."""
    inside, attributes = asked.linear
    return FormulaExpression(Aggregate(0), (inside,), str(inside), attributes)
