"""What is told of the outside world, tied to a domain."""

from __future__ import annotations

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
    block, keys = _linear(question)
    formula = next(column.finished for column in question.columns if not column.is_key)
    # Columns of decimal numbers are asked in their smallest unit, and shown in their own.
    shift, moved = (Fraction(formula.value([Fraction(x)])) for x in (0, 1))
    values = [(value - shift) / (moved - shift) for value in in_order(told.values, keys)]
    constant = block.inside.constant if block.is_single and block.inside else Fraction(0)
    law = told.law
    if law is not None and moved - shift != 1:
        raise FactError(
            "noisy sums of a column with decimals cannot be learned; give counts, or a fact"
        )
    return Assertion(block.without_constant(), tuple(v - constant for v in values), law)


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


def _linear(question: Question) -> tuple[Any, list[tuple[object, ...]]]:
    """The block of a question with one linear column, and the keys of its cells."""
    columns = [column.finished for column in question.columns if not column.is_key]
    if len(columns) != 1 or len(question.blocks) != 1 or not question.keeps_all:
        raise QueryError(_LINEAR)
    block = question.blocks[0]
    if columns[0].scale() is None or block.grouped is None:
        raise QueryError(_LINEAR)
    if question.cells() != list(range(question.rows)):
        raise QueryError(_LINEAR)
    return block, list(question.keys())
