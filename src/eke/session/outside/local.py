"""Outside knowledge of a dataset on this machine: tied to its domain, and written down."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any

from eke.domain import Domain
from eke.engine.outside import register, remove
from eke.errors import FactError, QueryError
from eke.history import Outside, Statement
from eke.inference import resting_on
from eke.query import Block
from eke.query.block import BlockOf
from eke.query.kinds import block_read
from eke.session.beginning import beginning_of, unit_caveats
from eke.session.outside.knowing import Knowing
from eke.session.outside.told import Known, Told, in_order

if TYPE_CHECKING:
    from eke.engine import Snapshot, Vault
    from eke.question import Question
    from eke.session.ask.question_store import QuestionStore

_LINEAR = (
    "what is known from outside is one count or sum, such as SELECT COUNT(*) FROM t WHERE age > "
    "40, for all or by columns in the order of the domain"
)


class KnowingHere(Knowing):
    """The outside knowledge of a session."""

    _vault: Vault
    _questions: QuestionStore
    analyst: str
    settings: dict[str, Any]

    @property
    def outside(self) -> tuple[Known, ...]:
        known = self._vault.snapshot().outside
        return tuple(Known(**record) for one in known for record in one.to_records())

    def forget(self, sequence: int, *, by: str | None = None) -> None:
        remove(self._vault.ledger, self._vault.domain, sequence, by or self.analyst)

    def register_as(self, told: Sequence[Told], source: str, by: str) -> int:
        """The same as `add_fact` and `learn`, by somebody: for servers."""
        statements = tuple(statement_of(one, self._questions, self._vault.domain) for one in told)
        beginning = beginning_of(self.settings)
        known = Outside(source, statements, by=by)
        return register(self._vault.ledger, beginning.domain, beginning.public_rows, known)

    def _register(self, told: Sequence[Told], source: str) -> int:
        return self.register_as(told, source, self.analyst)

    def _said_of(self, question: Question, through: int | None = None) -> tuple[str, ...]:
        """What the unit leaves out of an answer, and which facts it rests on."""
        now = self._vault.glance()
        now = now if through is None or now.sequence >= through else self._vault.snapshot()
        return unit_caveats(self.settings) + outside_caveats(question, now, through)


def statement_of(told: Told, questions: QuestionStore, domain: Domain) -> Statement:
    """What is told, as a statement about a block over the domain."""
    if isinstance(told.question, BlockOf):  # tied to a domain already, perhaps to another one
        return Statement(carried_over(told.question, domain), _plain(told), told.law)
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
    return Statement(block.without_constant(), tuple(v - constant for v in values), law)


def outside_caveats(
    question: Question, now: Snapshot, through: int | None = None
) -> tuple[str, ...]:
    """What of an answer rests on what a curator says is public; `through` is when it was given."""
    if not now.all_outside:
        return ()
    inference = now.facts.inference if through is None else now.inference_through(through)
    if any(column.formula.ladder is not None for column in question.columns):
        used = inference.outside  # a quantile looks at many counts, some of which may follow
    else:
        used = resting_on(inference, chain.from_iterable(b.queries() for b in question.blocks))
    return said_of(used)


def said_of(used: Sequence[Outside]) -> tuple[str, ...]:
    """Sentences about the facts and outside tables that a result rests on."""
    facts = [one.source for one in used if one.is_fact]
    learned = [one.source for one in used if not one.is_fact]
    said = []
    if facts:
        named = "; ".join(dict.fromkeys(facts))
        said.append(f"Rests on public facts as the curator registered them: {named}.")
    if learned:
        named = "; ".join(dict.fromkeys(learned))
        said.append(f"Rests on noisy tables that others released, with the noise stated: {named}.")
    return tuple(said)


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
