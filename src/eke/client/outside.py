"""What is known from outside, as it is sent to a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eke.client.wire import Wire
from eke.domain import Domain
from eke.errors import FactError
from eke.privacy.unit import Unit
from eke.session.ask.question_store import QuestionStore
from eke.session.outside.knowing import Knowing
from eke.session.outside.statement import statement_of
from eke.session.outside.told import Known, Told

_FORMS = ({"terms", "constant"}, {"terms", "constant", "people"}, {"marginal", "inside"})


class KnowingThere(Knowing):
    """The outside knowledge of a dataset on a server."""

    _wire: Wire
    _place: str
    domain: Any  # a property of the session
    unit: Any

    @property
    def outside(self) -> tuple[Known, ...]:
        """Facts, and what others released, that the server answers with."""
        return tuple(Known(**one) for one in self._wire.get(f"{self._place}/outside")["outside"])

    def forget(self, sequence: int) -> None:
        """Use what a ledger entry registered no longer; for curators."""
        self._wire.delete(f"{self._place}/outside/{int(sequence)}")

    def _register(self, told: Sequence[Told], source: str) -> int:
        body = outside_body(told, source, self.domain, self.unit)
        return int(self._wire.post(f"{self._place}/outside", body)["sequence"])


def outside_body(
    told: Sequence[Told], source: str, domain: Domain, unit: Unit | None
) -> dict[str, Any]:
    """Statements of one source, tied to the domain here, so that labels become places."""
    questions = QuestionStore(domain, unit)
    documents = [statement_of(one, questions, domain).to_document() for one in told]
    if any(set(document["query"]) not in _FORMS for document in documents):
        raise FactError(
            "a server learns counts, sums and tables of them; learn other blocks where it runs"
        )
    return {"source": source, "statements": documents}
