"""Standing: what follows from the ledger alone, without any data.

Estimates and the limit are brought up to date entry by entry; accounts, shares, plans and lists of
measurements when somebody asks for them (`accounts.py`). The same entries give the same standing on
every machine, so that a decision can be replayed from an exported ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from eke.domain import Domain
from eke.engine.accounts import Books, LateAccounts, Reserved, blocks_of, mapping, released, whole
from eke.engine.guarding import GUARDING, claims_at_risk, guards_after
from eke.engine.outside import OUTSIDE, heard
from eke.engine.share import CAP, Shares
from eke.engine.snapshot import Snapshot
from eke.errors import Refused
from eke.history import Measurement, Outside, Row
from eke.history.guarded import GuardedClaim, guarded_sentence
from eke.history.outside import in_force, last_told
from eke.inference import Inference
from eke.ledger import Entry
from eke.planning import Facts, Plan
from eke.privacy.accountant import Accountant
from eke.privacy.measure import Measure
from eke.query import Neighbours
from eke.query.parts import Parts, as_bytes, from_bytes, under, within
from eke.query.view import view_with


@dataclass(frozen=True, slots=True)
class Beginning:
    """What is known before the first entry."""

    domain: Domain
    measure: Measure
    neighbours: Neighbours
    rows_per_unit: int = 1
    public_rows: tuple[Row, ...] = ()

    def books(self, entries: Iterable[Entry] = ()) -> Books:
        """The books after the first entries."""
        accountant = Accountant(self.domain, self.measure, self.neighbours, self.rows_per_unit)
        books = Books(self.domain, accountant)
        for entry in entries:
            books.take_in(entry, ())
        return books

    def inference(self, known: Sequence[Measurement], outside: Sequence[Outside] = ()) -> Inference:
        """What follows from public facts, what is known from outside, and these measurements."""
        inference = Inference(self.domain, (), outside, self.public_rows)
        for _, together in groupby(known, key=lambda one: one.sequence):
            inference.take_in(list(together))
        inference.settle()
        return inference


class Standing:
    """What is known, spent and allowed after the entries `take_in` was given."""

    def __init__(self, beginning: Beginning) -> None:
        self.seen = 0
        self.head = ""  # the hash of the last entry seen
        self.last_change = 0
        self.last_release = 0
        self.limit = 0
        self.outside: tuple[Outside, ...] = ()  # all that was ever registered
        self._must_infer = False  # what is known from outside has changed
        self.guards: tuple[GuardedClaim, ...] = ()  # all claims that were ever guarded
        self.capped: frozenset[str] = frozenset()  # analysts who may not spend the whole limit
        self._beginning = beginning
        self._accounts = LateAccounts(cache(beginning.books), beginning.measure)
        self._inference = beginning.inference([])
        self._learned: Sequence[Measurement] = ()
        self._held: Inference | None = None  # the last view of `_inference`

    @property
    def accountant(self) -> Accountant:
        """The losses of everything charged."""
        return self._accounts.accountant

    @property
    def shares(self) -> Shares:
        """Who has spent how much, and who may spend how much."""
        return self._accounts.books().shares

    @property
    def measurements(self) -> list[Measurement]:
        """Everything released."""
        return [*self._accounts.books().measurements, *self._learned]

    @property
    def refined(self) -> frozenset[int]:
        """The places of measurements that were refined, or are about to be."""
        return frozenset(self._accounts.books().refined)

    def read_accounts(self) -> None:
        """Read what would be read when it is first needed."""
        self._accounts.books()

    def reservation(self, sequence: int) -> Reserved:
        """What was reserved by an entry."""
        return self._accounts.books().reservations[sequence]

    @property
    def rows(self) -> int:
        """How many noisy answers inference works on."""
        return len(self._inference.rows)

    def facts(self) -> Facts:
        """History and accounts as they are now, for good, as planning takes them."""
        return Facts(self._inferred(), self._accounts.view(), self.limit)

    def view(self) -> Standing:
        """The standing as it is now, for good, to be looked at only.

        Cheap: what only grows is shared (`Inference.view`); lists of entries are copied.
        """
        return view_with(self, _accounts=self._accounts.view(), _inference=self._inferred())

    def followed(self, entries: Iterable[Entry]) -> Standing:
        """The standing after more entries; this one sees nothing of it."""
        standing = view_with(
            self, _accounts=self._accounts.view(), _inference=self._inference.view()
        )
        standing.take_in(entries)
        return standing

    def _inferred(self) -> Inference:
        """What is known now, for good. It may be shared, so nobody lets it take in anything."""
        now = self._inference
        held = self._held
        # Whatever is taken in begins a new memo, or is kept beside everything that has a row.
        if held is None or held.memo is not now.memo or len(held.kept) != len(now.kept):
            held = self._held = now.view()
        return held

    def snapshot(self) -> Snapshot:
        """What readers are shown of this standing, which takes nothing in any more."""
        return Snapshot(
            self.seen,
            Facts(self._inference, self._accounts, self.limit),
            self.capped,
            self.last_release,
            self._accounts.books,
            self._beginning.inference,
            self.outside,
            self.guards,
        )

    def is_past(self, as_of: int | None, told_by: int | None) -> bool:
        """True when decisions may differ after one entry, or what is public after another."""
        return (as_of is not None and self.last_change > as_of) or (
            told_by is not None and last_told(self.outside) > told_by
        )

    def check_guarded(self, plan: Plan) -> None:
        """Raise `Refused` if a plan could make a claim more probable that is probable enough.

        Privacy: decided by the entries and the plan; see docs/proofs/release.md, §9.
        """
        at_risk = claims_at_risk(plan, self.guards, self._inference)
        if at_risk:
            raise Refused(f"{guarded_sentence(at_risk)}. Nothing was spent")

    # -- following the ledger ------------------------------------------------------------------

    def take_in(self, entries: Iterable[Entry]) -> None:
        """Follow the ledger by its next entries."""
        try:
            for entry in entries:
                self._take_in(entry)
        finally:
            if self._must_infer:
                self._infer_anew()
            self._inference.settle()

    def _infer_anew(self) -> None:
        """What is known from outside comes first; whatever was measured is read once more."""
        self._must_infer = False
        self._inference = self._beginning.inference(self.measurements, in_force(self.outside))

    def _take_in(self, entry: Entry) -> None:
        if entry.kind == "reserve":
            whole(entry.payload["cost"])
            mapping(entry.payload["plan"])  # what is in it is read when it is needed
            self._accounts.note(entry)
        elif entry.kind == "commit":
            whole(entry.about["reservation"])
            measured = released(self._beginning.domain, entry)
            if not self._must_infer:
                self._inference.take_in(measured)
            self._note_release(entry, measured)
        elif entry.kind in {"genesis", "limit"}:
            self.limit = whole(entry.about["limit"])
        elif entry.kind == CAP:
            caps = Shares(caps=dict.fromkeys(self.capped, 0)).capped(entry.payload).caps
            self.capped = frozenset(caps)
            self._accounts.note(entry)
        elif entry.kind in OUTSIDE:
            self.outside = heard(self.outside, self._beginning.domain, entry)
            self._must_infer = True
            self.last_release = entry.sequence
        elif entry.kind in GUARDING:
            self.guards = guards_after(self.guards, self._beginning.domain, entry)
        if entry.kind in _CHANGES:
            self.last_change = entry.sequence
        self.seen, self.head = entry.sequence, entry.hash

    def _note_release(self, entry: Entry, measured: Sequence[Measurement]) -> None:
        self._accounts.note(entry, blocks_of(entry, measured))
        self.last_release = entry.sequence

    def learn(self, measured: Sequence[Measurement]) -> None:
        """Take in what was measured together, before the ledger holds it."""
        self._learned = tuple(measured)
        self._inference.extend_all(measured)

    @property
    def is_ahead(self) -> bool:
        """True between `learn` and `stepped_over`: it holds what the ledger may never hold."""
        return bool(self._learned)

    def stepped_over(self, entry: Entry) -> bool:
        """True when this commit was learned before it was stored and nothing came between."""
        learned = {one.sequence for one in self._learned}
        if self.seen + 1 != entry.sequence or learned != {entry.sequence}:
            return False
        self._note_release(entry, self._learned)
        self._learned = ()
        self.seen = self.last_change = entry.sequence
        self.head = entry.hash
        return True

    # -- being written down, and taken up again ------------------------------------------------

    def parts(self) -> Parts | None:
        """Everything that free answers need, as arrays; None where that is not to be had.

        So it is with anything from outside: it comes before all measurements, whenever it came.
        """
        inference = None if self.is_ahead or self.outside else self._inference.parts()
        if inference is None:
            return None
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        document = {
            **numbers,
            "spent": self._accounts.spent,
            "capped": sorted(self.capped),
            "guards": [
                [claim.sequence, claim.at, claim.until, claim.to_document()]
                for claim in self.guards
            ],
        }
        return {"document": as_bytes(document), **within("inference", inference)}

    @classmethod
    def from_parts(
        cls, beginning: Beginning, parts: Parts, entries: Callable[[int], Iterable[Entry]]
    ) -> Standing:
        """The standing whose parts these are; `entries` reads those up to one that it had seen."""
        document = from_bytes(parts["document"])
        begin = cache(lambda: beginning.books(entries(document["seen"])))

        def rows() -> list[Row]:
            pairs = zip(begin().measurements, inference.kept, strict=False)
            measured = [row for one, held in pairs if held.rows for row in one.rows()]
            return [*beginning.public_rows, *measured]

        inference = Inference.from_parts(beginning.domain, under("inference", parts), rows)
        return view_with(
            cls(beginning),
            **{name: document[name] for name in _NUMBERS},
            capped=frozenset(document["capped"]),
            guards=tuple(
                GuardedClaim.from_document(beginning.domain, claim, sequence, at, until)
                for sequence, at, until, claim in document["guards"]
            ),
            _accounts=LateAccounts(begin, beginning.measure, document["spent"]),
            _inference=inference,
        )


_NUMBERS = ("seen", "head", "last_change", "last_release", "limit")
_CHANGES = {"reserve", "commit", "genesis", "limit", CAP, *OUTSIDE, *GUARDING}
"""The kinds of entries that a decision depends on."""
