"""What is told of the outside world, tied to a domain."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from eke.domain import Domain
from eke.errors import FactError, QueryError
from eke.history import Assertion
from eke.query import Block
from eke.query.kinds import block_read
from eke.session.outside.told import Told, in_order

if TYPE_CHECKING:
    from eke.question import Question
    from eke.session.ask.question_store import QuestionStore

_LINEAR = (
    "what is known from outside is one count or sum, such as SELECT COUNT(*) FROM t WHERE age > "
    "40, for all or by columns in the order of the domain"
)


def statement_of(told: Told, questions: QuestionStore, domain: Domain) -> Assertion:
    """What is told, as a statement about a block over the domain."""
    if told.question is None or told.block is not None:
        if told.block is None:
            raise FactError("say what it is about")
        return Assertion(carried_over(told.block, domain), _plain(told), told.law)
    question = questions.of(told.question)
    block, keys = linear_table(question, _LINEAR)
    shown = Shown.of(question)
    values = tuple(shown.back(value) for value in in_order(told.values, keys))
    law = told.law
    if law is not None and shown.unit != 1:
        raise FactError(
            "noisy sums of a column with decimals cannot be learned; give counts, or a fact"
        )
    return Assertion(block.without_constant(), values, law)


def carried_over(block: Any, domain: Domain) -> Block:
    """A block of another dataset over this domain, whose columns are declared alike."""
    other: Domain = block.domain
    inside = () if block.inside is None else block.inside.attributes
    for name in {*block.attributes, *inside}:
        if name not in domain or domain[name] != other[name]:
            raise FactError(
                f"{name!r} is not declared there as it is here, so that what was released about it "
                "cannot be used; learn tables over columns that both declare alike"
            )
    return block_read(domain, block.to_document(), ())


def _plain(told: Told) -> tuple[Fraction, ...]:
    return tuple(in_order(told.values, ()))


@dataclass(frozen=True, slots=True)
class Shown:
    """How the numbers of a block without its constant are shown: times `unit`, plus `shift`.

    Columns of decimal numbers are asked in their smallest unit, and shown in their own.
    """

    shift: Fraction
    unit: Fraction

    @staticmethod
    def of(question: Question) -> Shown:
        """That of a question with one linear column."""
        formula = next(column.finished for column in question.columns if not column.is_key)
        shift, moved = (Fraction(formula.value([Fraction(x)])) for x in (0, 1))
        block: Any = question.blocks[0]
        constant = block.inside.constant if block.is_single and block.inside else Fraction(0)
        return Shown(shift + (moved - shift) * constant, moved - shift)

    def back(self, value: Fraction) -> Fraction:
        """The number of the block that is shown as this one."""
        return (value - self.shift) / self.unit


def linear_table(question: Question, what: str) -> tuple[Any, list[tuple[object, ...]]]:
    """The block of a question with one linear column, and the keys of its cells.

    `what` says to whom asks something else what would be one.
    """
    columns = [column.finished for column in question.columns if not column.is_key]
    if len(columns) != 1 or len(question.blocks) != 1 or not question.keeps_all:
        raise QueryError(what)
    block = question.blocks[0]
    if columns[0].scale() is None or block.grouped is None:
        raise QueryError(what)
    if question.cells() != list(range(question.rows)):
        raise QueryError(what)
    return block, list(question.keys())
