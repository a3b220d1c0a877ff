"""Vault: the one place where data, noise and ledger meet.

`Vault.release` is the junction: it makes sure that the table can be read, recomputes the cost,
reserves it durably, only then evaluates the question on the data (`measuring.py`), adds noise,
stores what was drawn (`draws.py`), and then the measurements and the answer made of it, before
anybody sees them. Everything outside the engine either cannot reach the data or cannot spend. See
docs/proofs/release.md, whose steps are numbered in the comments.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from eke.data import Source
from eke.engine.accounts import released_document
from eke.engine.adaptive import Desk
from eke.engine.checked import checked_plan
from eke.engine.checkpoint import NO_CHECKPOINT, Checkpoint
from eke.engine.draws import Answered, Draws
from eke.engine.failed import FAILED, told
from eke.engine.measuring import (
    PARTS_ALONE,
    Measuring,
    carried_out,
    check_choices,
    check_losses,
    counted_for_parts,
    load_for_parts,
    measured_parts,
    measuring_of,
)
from eke.engine.refined import check_refined, refined_by
from eke.engine.share import CAP, Shares, cap_document
from eke.engine.snapshot import Snapshot
from eke.engine.standing import Beginning, Standing
from eke.engine.tempo import UNPACED, Tempo
from eke.errors import BudgetExceeded, LedgerError, PrivacyError
from eke.history import Measurement
from eke.inference import Inference
from eke.inference.progress import Progress, silent
from eke.ledger import Book, Entry, Ledger, Reservation
from eke.ledger.failpoint import failpoint
from eke.planning import Facts, Plan

AnswerText = Callable[[Facts, Sequence[Measurement], int], str]
"""The stored answer, from the facts after a release, what was measured, and its cost."""


class Stale(Exception):
    """The ledger has moved on since a decision was made; decide again."""


class Vault:
    """A protected table: its data, its ledger, and what follows from the ledger.

    Privacy: `facts` never touches the data; `release` is the only method that does.
    """

    def __init__(
        self,
        ledger: Ledger,
        source: Source,
        beginning: Beginning,
        checkpoint: Checkpoint = NO_CHECKPOINT,
    ) -> None:
        self.ledger = ledger
        self.domain = beginning.domain
        self.lock = threading.RLock()
        self.tempo: Tempo = UNPACED
        self._source = source
        self._beginning = beginning
        self._checkpoint = checkpoint
        # Of writers, who hold `lock`.
        self._standing = checkpoint.standing(beginning, ledger.hash_of, self._until)
        self._catching_up = threading.Lock()
        self._published = self._standing.view()  # of readers; replaced as a whole, never changed

    # -- public facts --------------------------------------------------------------------------

    @property
    def sequence(self) -> int:
        """The last ledger entry that writers have taken into account."""
        return self._standing.seen

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """What writers know to be released."""
        return tuple(self._standing.measurements)

    def snapshot(self) -> Snapshot:
        """History, accounts and caps, up to date with the ledger, for good.

        It waits for no writer: where one holds the lock, entries are read on top of the last one.
        """
        with self._catching_up:
            return self._up_to_date()

    def glance(self) -> Snapshot:
        """The same, but while another thread is about to bring it up to date, the one before."""
        if not self._catching_up.acquire(blocking=False):
            return self._published.snapshot()
        try:
            return self._up_to_date()
        finally:
            self._catching_up.release()

    def _up_to_date(self) -> Snapshot:
        entries = self.ledger.entries(after=self._published.seen)
        if entries:
            self._published = self._after(entries)
            self._checkpoint.keep(self._published)
        return self._published.snapshot()

    def _after(self, entries: Sequence[Entry]) -> Standing:
        """What readers see after these entries, which follow what they saw before."""
        if self.lock.acquire(blocking=False):
            try:
                if not self._standing.is_ahead:
                    seen = self._standing.seen
                    if seen >= self._published.seen:  # what writers have not seen is read already
                        self._standing.take_in([each for each in entries if each.sequence > seen])
                    else:
                        self._follow(self.ledger)
                    return self._standing.view()
            finally:
                self.lock.release()
        return self._published.followed(entries)

    def facts(self) -> Facts:
        """History and accounts, up to date with the ledger, as writers have them."""
        with self.lock:
            self._follow(self.ledger)
            return self._standing.facts()

    def shares(self) -> Shares:
        """Who has spent how much, and who may spend how much."""
        return self.snapshot().shares

    def inference_through(self, sequence: int) -> Inference:
        """What was known right after a ledger entry: for answers given in the past."""
        now = self.glance()
        return (now if now.sequence >= sequence else self.snapshot()).inference_through(sequence)

    def twin(self) -> Vault:
        """Another vault over the same table and ledger, with a lock of its own.

        A long release in one of them does not keep questions to the other waiting.
        """
        vault = Vault(self.ledger, self._source, self._beginning, self._checkpoint)
        vault.tempo = self.tempo
        return vault

    def remember(
        self,
        analyst: str,
        key: str,
        digest: str,
        answer: str,
        about: Mapping[str, object] | None = None,
    ) -> str:
        """Store a free answer under a key; the text stored first, by whoever was first.

        `about` is written into the entry, for whoever lists the ledger.
        """
        with self.ledger.exclusive() as book:
            stored = book.find(analyst, key, digest)
            if stored is None:
                book.remember(analyst=analyst, key=key, digest=digest, answer=answer, payload=about)
                return answer
        if stored.answer is None:
            raise LedgerError("this key has an unfinished paid request; ask again to complete it")
        return told(stored.answer)

    def change_limit(self, limit: int, analyst: str) -> None:
        """Replace the limit, in nano-units; one below the loss so far is refused."""
        with self.ledger.exclusive() as book:
            book.change_limit(limit, {"by": analyst})

    def change_cap(self, analyst: str, cap: int | None, by: str) -> None:
        """Let an analyst spend at most `cap` nano-units of the limit; None takes the cap away."""
        with self.ledger.exclusive() as book:
            book.note(CAP, cap_document(analyst, cap, by))

    @property
    def publishes_rows(self) -> bool:
        """True when one output row a record gives nothing away: their number is public anyway."""
        rule, rows = self._beginning.neighbours, self.rows_per_unit
        return rule == "replace_one" and self.domain.total and rows == 1

    @property
    def rows_per_unit(self) -> int:
        """The most rows that one unit has; public."""
        return self._beginning.rows_per_unit

    # -- the junction --------------------------------------------------------------------------

    @np.errstate(all="ignore")
    def release(
        self,
        plan: Plan,
        *,
        analyst: str,
        key: str,
        digest: str,
        answer: AnswerText,
        as_of: int | None = None,
        told_by: int | None = None,
        at_most: int | None = None,
        measuring: Measuring = PARTS_ALONE,
        progress: Progress = silent,
    ) -> str:
        """Measure a plan and return the stored answer.

        With `as_of`, `Stale` is raised, and nothing spent, when the ledger holds entries that the
        decision has not seen, with `told_by` such as change what is public; with `at_most`,
        `BudgetExceeded`, when it costs more. `measuring` says what is released beside the parts.

        Privacy: (0) The table is opened before anything is paid; whether that works depends on the
        table as a whole, or on the domain alone, where a question needs too many counts. (1) The
        cost is recomputed here, inside the transaction that checks the limit and records the
        reservation; the plan's own idea of it is not used. (2) The data is touched only after that
        transaction is durable; nothing is refunded afterwards, for a refund would be a free bit.
        (3) What is drawn is stored before anything is made of it, and drawn once. (4) What fails
        after that is stored as well, with a fixed text, and told again under the same key. (5) The
        noisy value leaves this method only after it is stored; if another process completed the
        same request first, its stored answer is returned and ours is forgotten. What NumPy would
        warn of or raise may depend on exact numbers: whatever others have set, it does neither.
        """
        # Nobody else holds this one.
        plan = checked_plan(plan, self.domain, self._beginning.measure)
        asked, measuring = measuring, measuring_of(plan, measuring)
        check_losses(plan, measuring)
        if plan.row_loss and not self.publishes_rows:
            raise PrivacyError("rows are released in order under replace_one only")
        with self.lock:
            sets = tuple(self._source.covering(measuring.attribute_sets))
            # 0: a missing or changed table must show before anything is paid.
            load_for_parts(self._source, plan, sets)
            rows = self._source.rows() if plan.row_loss else None
            self._standing.read_accounts()  # now, and not while others wait for the ledger
            check_choices(plan, self._standing.accountant)
            with self.ledger.exclusive() as book:  # 1 to 4: charged, or found to be
                request = book.find(analyst, key, digest)
                if request is not None and request.answer is not None:
                    return told(request.answer)
                self._follow(book)
                if request is None:
                    if self._standing.is_past(as_of, told_by):
                        raise Stale
                    reservation, cost = self._reserve(
                        book, plan, analyst=analyst, key=key, digest=digest, at_most=at_most
                    )
                else:
                    held = self._standing.reservation(request.sequence)
                    plan, cost = held.plan, held.cost
                    token = book.entry(request.sequence).hash
                    reservation = Reservation(sequence=request.sequence, token=token)
                    measuring = measuring_of(plan, asked)
                    check_losses(plan, measuring)
                    sets = tuple(self._source.covering(measuring.attribute_sets))
            failpoint("engine.reserved")
            try:  # 5 to 7: counted, drawn and stored, first the parts, then what follows from them
                is_new = request is None
                draws = Draws(self.ledger, reservation, is_new=is_new, tempo=self.tempo)
                draws.look()
                counted, later = counted_for_parts(self._source, plan, sets)
                known = self._standing.measurements if refined_by(plan) else ()
                measured = measured_parts(plan, counted, draws, known)
                desk = Desk(
                    plan,
                    self._standing.accountant,
                    draws,
                    counts=dict(zip(sets, later, strict=True)),
                    rows=rows,
                    progress=progress,
                )
                if not carried_out(measuring, desk, measured, draws):
                    answer = _nothing
                measured.extend(desk.measured)
                # 8 to 11: stored, and only then told.
                steps = [chosen.step for chosen in desk.chosen]
                released = measured, steps
                return told(self._commit(reservation.sequence, released, cost, answer, draws))
            except Answered:  # by another process, which was faster
                stored = self.ledger.find(analyst, key, digest)
                if stored is None or stored.answer is None:
                    raise LedgerError("the ledger lost the answer to this request") from None
                self._follow(self.ledger)
                return told(stored.answer)

    def complete(
        self,
        *,
        analyst: str,
        key: str,
        digest: str,
        answer: AnswerText,
        measuring: Measuring = PARTS_ALONE,
        progress: Progress = silent,
    ) -> str | None:
        """The answer of a request seen before; None when the key is new.

        A request that a crash left half done is finished: it was paid for.
        """
        request = self.ledger.find(analyst, key, digest)
        if request is None:
            return None
        if request.answer is not None:
            return told(request.answer)
        with self.lock:
            self.facts()
            plan = self._standing.reservation(request.sequence).plan
            return self.release(
                plan,
                analyst=analyst,
                key=key,
                digest=digest,
                answer=answer,
                measuring=measuring,
                progress=progress,
            )

    def _reserve(
        self, book: Book, plan: Plan, *, analyst: str, key: str, digest: str, at_most: int | None
    ) -> tuple[Reservation, int]:
        if refined_by(plan):
            if not self._standing.refined.isdisjoint(refined_by(plan)):
                raise Stale  # somebody was quicker; see docs/proofs/refinement.md, "Once"
            check_refined(plan, self._standing.measurements)
        # The cap is checked here, under the ledger's lock and with every entry taken in, so that it
        # holds however many servers and requests of one analyst race.
        limit = self._standing.shares.limit_for(analyst, book.limit, book.spent)
        after = self._standing.accountant.after_all(
            [(part.query, part.charged) for part in plan.parts], limit, plan.flat_loss
        )
        if after > limit:
            reason = "your cap" if limit < book.limit else "the remaining budget"
            raise BudgetExceeded(f"{reason} does not allow this; nothing was spent")
        cost = after - book.spent
        if at_most is not None and cost > at_most:
            raise BudgetExceeded("this costs more than was offered for it; nothing was spent")
        self._standing.check_guarded(plan)
        reservation = book.reserve(
            analyst=analyst,
            key=key,
            digest=digest,
            payload={"plan": plan.to_document(), "cost": cost},
            spent_after=after,
        )
        return reservation, cost

    def _commit(
        self,
        reservation: int,
        released: tuple[list[Measurement], list[int]],
        cost: int,
        answer: AnswerText,
        draws: Draws,
    ) -> str:
        try:
            with self.ledger.exclusive() as book:
                self._follow(book)
                request = book.request(reservation)
                if request is not None and request.answer is not None:
                    return request.answer  # another process was faster
                measured, steps = released
                placed = [replace(one, sequence=book.state.sequence + 1) for one in measured]
                self._standing.learn(placed)
                try:
                    text = answer(self._standing.facts(), placed, cost)
                except Exception:  # noqa: BLE001 -- it may depend on the noise: stored, not raised
                    text = FAILED
                payload = released_document(placed, steps)
                closing = book.commit(reservation, payload, text)
                failpoint("engine.stored")
        except BaseException:
            # It may hold what the ledger does not. No checkpoint: whatever failed, this must not.
            self._standing = Standing(self._beginning)
            raise
        failpoint("engine.committed")
        draws.forget()
        if not self._standing.stepped_over(closing.entry):
            self._standing = Standing(self._beginning)
        return closing.answer

    def _until(self, sequence: int) -> list[Entry]:
        return [entry for entry in self.ledger.entries() if entry.sequence <= sequence]

    def _follow(self, ledger: Ledger | Book) -> None:
        self._standing.take_in(ledger.entries(after=self._standing.seen))


def _nothing(_: Facts, __: Sequence[Measurement], ___: int) -> str:
    return FAILED
