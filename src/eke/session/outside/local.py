"""Outside knowledge of a dataset on this machine: tied to its domain, and written down."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from eke.engine.outside import register, remove
from eke.history import Outside
from eke.inference import resting_on
from eke.inference.resting import MOST_LOOKED_AT
from eke.session.beginning import beginning_of, unit_caveats
from eke.session.outside.knowing import Knowing
from eke.session.outside.statement import statement_of
from eke.session.outside.told import Known, Told

if TYPE_CHECKING:
    from eke.engine import Snapshot, Vault
    from eke.question import Question
    from eke.session.ask.question_store import QuestionStore


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
        """The same as `add_fact` and `learn`, by somebody: for servers.

        Args:
            told: what is said.
            source: where everybody can look it up.
            by: who registers it.
        """
        statements = tuple(statement_of(one, self._questions, self._vault.domain) for one in told)
        beginning = beginning_of(self.settings)
        known = Outside(source, statements, by=by)
        return register(self._vault.ledger, beginning.domain, beginning.public_rows, known)

    def _register(self, told: Sequence[Told], source: str) -> int:
        return self.register_as(told, source, self.analyst)

    def _said_of(
        self, question: Question, through: int | None = None, by: str = "blue"
    ) -> tuple[str, ...]:
        """What the unit leaves out of an answer, and which facts it rests on."""
        said = unit_caveats(self.settings)
        if through is not None and not self._vault.may_rest_on_outside(through):
            return said
        now = self._vault.glance()
        now = now if through is None or now.sequence >= through else self._vault.snapshot()
        return said + outside_caveats(question, now, through, by)


def outside_caveats(
    question: Question, now: Snapshot, through: int | None = None, by: str = "blue"
) -> tuple[str, ...]:
    """What of an answer rests on what a curator says is public; `through` is when it was given.

    Models of the whole history rest on all of it, but for what is public as it is.
    """
    if not now.all_outside:
        return ()
    inference = now.facts.inference if through is None else now.inference_through(through)
    if any(column.formula.ladder is not None for column in question.columns):
        used = inference.outside  # a quantile looks at many counts, some of which may follow
    else:
        queries = chain.from_iterable(block.queries() for block in question.blocks)
        looked_at = list(islice(queries, MOST_LOOKED_AT))
        modelled = by != "blue" and any(inference.public(one) is None for one in looked_at)
        used = inference.outside if modelled else resting_on(inference, looked_at)
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
