"""Outside knowledge of a dataset on this machine: tied to its domain, and written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
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
    from eke.engine import Vault
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

    def _said_in(self, text: str) -> tuple[str, ...]:
        """What the unit leaves out of a stored answer, and which facts it rests on."""
        return unit_caveats(self.settings) + outside_caveats(text, self._registered)

    def _said_of(self, question: Question, method: str) -> tuple[str, ...]:
        """The same of an estimate. Models rest on all that is known, but for what is public."""
        inference = self._vault.glance().facts.inference
        said = unit_caveats(self.settings)
        if not inference.outside:
            return said
        queries = chain.from_iterable(block.queries() for block in question.blocks)
        looked_at = list(islice(queries, MOST_LOOKED_AT))
        if method != "blue" and any(inference.public(query) is None for query in looked_at):
            return said + said_of(inference.outside)
        return said + said_of(resting_on(inference, looked_at))

    def _registered(self, numbers: Collection[int]) -> tuple[Outside, ...]:
        """What entries registered, removed or not."""
        seen = self._vault.glance().registered(numbers)
        return seen if len(seen) == len(numbers) else self._vault.snapshot().registered(numbers)


def outside_caveats(
    text: str, registered: Callable[[Collection[int]], Sequence[Outside]]
) -> tuple[str, ...]:
    """Sentences about the entries that a stored answer names."""
    if '"outside"' not in text:
        return ()
    numbers = json.loads(text).get("outside", ())
    return said_of(registered(numbers)) if numbers else ()


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
