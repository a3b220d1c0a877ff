"""The part of a dataset that is about the outside world, here or on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from eke.errors import FactError
from eke.history import Measurement, lasting
from eke.session.outside.told import Fact, Known, NoisyTable, Told

if TYPE_CHECKING:
    from eke.session.history import History

Learnt: TypeAlias = "NoisyTable | Iterable[NoisyTable] | History"


class Knowing(ABC):
    """What is known of the table from elsewhere: facts, and what others released with noise.

    Privacy: the curator asserts that it is public already, or was released under a promise of its
    own. It costs nothing, no row of the table is read for it, and the accountant never sees it.
    """

    def add_fact(self, fact: Fact) -> int:
        """Register a public fact, and return the number of its ledger entry; for the curator.

        Later answers keep to it exactly, and what follows from facts alone is answered exactly and
        for nothing. See docs/how-to/use-public-facts.md.

        Args:
            fact: a `Fact`: a published total, a condition that nobody meets (a count of 0), or a
                public table.

        Raises:
            FactError: when it has no source, or contradicts what holds already; the message names
                the other fact. Nothing is registered then.

        Privacy: you assert that everybody may know this number already, whoever is in the table.
        It is never compared with the table: a number that was taken from the table itself is a leak
        that eke cannot see.

        Example:
            >>> nobody = eke.Fact(eke.count(sex="F", age=(0, 9), smoker=True), 0, source="By law")
            >>> entry = session.add_fact(nobody)
            >>> session.ask(eke.count(sex="F", age=5, smoker=True), within=1).value
            0.0
        """
        if not isinstance(fact, Fact):
            raise FactError("a fact is eke.Fact(question, value, source=…)")
        return self._register([Told(fact.question, fact.value)], fact.source)

    def learn(self, tables: Learnt, *, source: str) -> int:
        """Take in noisy tables that others published, and return the number of the ledger entry.

        They are used like measurements, with the noise that is stated, and cost this dataset
        nothing. See docs/how-to/use-public-facts.md.

        Args:
            tables: one `NoisyTable` or several; or the `history` of another dataset, whose columns
                are declared alike here: everything that was released from it.
            source: where everybody can look it up.

        Privacy: whoever is in both tables has two promises, one from each, and their losses add up.
        This dataset's ledger counts its own.

        Example:
            >>> office = eke.NoisyTable(eke.count(smoker=True), 612, laplace_scale=10)
            >>> entry = session.learn(office, source="Health office, release 7")
            >>> session.outside[-1].kind, session.outside[-1].noise_deviation
            ('learned', 14.142135623730951)
        """
        if isinstance(tables, NoisyTable):
            tables = [tables]
        listed = list(tables)
        if listed and all(isinstance(one, Measurement) for one in listed):
            released = [one for one in listed if isinstance(one, Measurement)]
            told = [Told(None, one.values, one.law, one.query) for one in lasting(released)]
        elif all(isinstance(one, NoisyTable) for one in listed):
            noisy = [one for one in listed if isinstance(one, NoisyTable)]
            told = [Told(one.question, one.values, one.law) for one in noisy]
        else:
            raise FactError("learn takes eke.NoisyTable(question, values, …), or a history")
        return self._register(told, source)

    @property
    def facts(self) -> tuple[Known, ...]:
        """The public facts that hold, each a `Known`."""
        return tuple(one for one in self.outside if one.kind == "fact")

    def remove_fact(self, sequence: int) -> None:
        """The same as `forget`, for a fact."""
        if sequence not in {one.sequence for one in self.facts}:
            raise FactError(f"entry {sequence} holds no fact that is in force; see `facts`")
        self.forget(sequence)

    @property
    @abstractmethod
    def outside(self) -> tuple[Known, ...]:
        """Everything from outside that holds: facts and what was learned, each a `Known`."""

    @abstractmethod
    def forget(self, sequence: int) -> None:
        """Use what a ledger entry registered no longer; for the curator.

        Answers that were given stay as they are, and the ledger keeps both entries.

        Example:
            >>> entry = session.add_fact(eke.Fact(eke.count(), 3_000, source="The register"))
            >>> session.forget(entry)
            >>> session.facts
            ()
        """

    @abstractmethod
    def _register(self, told: Sequence[Told], source: str) -> int:
        """Write down statements of one source; the number of their entry."""
