"""Standing: the same entries give the same accounts, history and limits, and views never change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eke.domain import Domain, Integer
from eke.engine.accounts import LateAccounts
from eke.engine.share import CAP, cap_document
from eke.engine.standing import Beginning, Standing
from eke.errors import LedgerError
from eke.history import PUBLIC, Measurement, Row
from eke.ledger import Entry, Ledger
from eke.planning import Demand, Plan, Requirement, part_for
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Neighbours, count

DOMAIN = Domain(a=Integer(0, 3))
QUERY = count(a=0).on(DOMAIN)
OTHER = count(a=3).on(DOMAIN)


def plan_of(epsilon: float = 0.25, later: int = 0) -> Plan:
    return Plan((part_for(QUERY, 1 / epsilon, PURE),), later_loss=later)


@pytest.fixture
def ledger(folder: Path) -> Ledger:
    return Ledger.create(folder / "a.eke", {}, limit=NANO)


def fresh(
    measure: Measure = PURE,
    neighbours: Neighbours = "add_remove",
    rows: int = 1,
    public: tuple[Row, ...] = (),
) -> Standing:
    return Standing(Beginning(DOMAIN, measure, neighbours, rows, public))


def reserve(ledger: Ledger, plan: Plan, cost: int, key: str = "one", analyst: str = "ann") -> int:
    with ledger.exclusive() as book:
        payload = {"plan": plan.to_document(), "cost": cost}
        return book.reserve(
            analyst=analyst, key=key, digest="d", payload=payload, spent_after=book.spent + cost
        ).sequence


def measured(value: float, plan: Plan | None = None, sequence: int = 0) -> Measurement:
    part = (plan or plan_of()).parts[0]
    return Measurement(part.query, part.law, (value,), sequence)


def commit(ledger: Ledger, reservation: int, *values: float) -> Entry:
    with ledger.exclusive() as book:
        released = {"measurements": [measured(value).to_document() for value in values]}
        return book.commit(reservation, released, "text").entry


def value_of(standing: Standing) -> float | None:
    found = standing.facts().inference.linear(QUERY)
    return None if found is None else found[0]


def test_entries_are_taken_in_one_by_one(ledger):
    standing = fresh()
    assert (standing.seen, standing.last_change, standing.limit) == (0, 0, 0)
    standing.take_in(ledger.entries())
    assert (standing.seen, standing.last_change, standing.limit) == (1, 1, NANO)
    number = reserve(ledger, plan_of(0.25, later=NANO // 8), 3 * NANO // 8)
    standing.take_in(ledger.entries(after=standing.seen))
    assert (standing.seen, standing.last_change) == (2, 2)
    assert standing.accountant.spent == 3 * NANO // 8
    assert standing.accountant.sequential == 3 * NANO // 8
    # Another cell has only what everyone is charged.
    law = plan_of(0.25).parts[0].law
    assert standing.accountant.after(OTHER, law, NANO) == 3 * NANO // 8
    assert standing.accountant.after(QUERY, law, NANO) == 5 * NANO // 8
    assert standing.shares.spent == {"ann": 3 * NANO // 8}
    held = standing.reservation(number)
    assert (held.analyst, held.cost) == ("ann", 3 * NANO // 8)
    assert held.plan == plan_of(0.25, later=NANO // 8)
    assert held.at == ledger.entries()[1].at
    assert value_of(standing) is None
    commit(ledger, number, 5.5)
    standing.take_in(ledger.entries(after=standing.seen))
    assert (standing.seen, standing.last_change) == (3, 3)
    (one,) = standing.measurements
    assert (one.values, one.sequence, one.analyst, one.at) == ((5.5,), 3, "ann", held.at)
    assert value_of(standing) == 5.5


def test_only_what_decisions_depend_on_is_a_change(ledger):
    standing = fresh()
    with ledger.exclusive() as book:
        book.note("remark", {})
        book.remember(analyst="ann", key="free", digest="d", answer="text")
    standing.take_in(ledger.entries())
    assert (standing.seen, standing.last_change) == (3, 1)
    with ledger.exclusive() as book:
        book.note(CAP, cap_document("ann", 7, "cora"))
    standing.take_in(ledger.entries(after=3))
    assert (standing.seen, standing.last_change) == (4, 4)
    assert standing.shares.caps == {"ann": 7}
    with ledger.exclusive() as book:
        book.change_limit(2 * NANO, {})
    standing.take_in(ledger.entries(after=4))
    assert (standing.seen, standing.last_change, standing.limit) == (5, 5, 2 * NANO)


@pytest.mark.parametrize("what", ["view", "facts", "snapshot"])
def test_a_view_sees_nothing_that_comes_later(ledger, what):
    standing = fresh()
    standing.take_in(ledger.entries())
    view = standing.view()
    facts, snapshot = standing.facts(), view.snapshot()
    commit(ledger, reserve(ledger, plan_of(), NANO // 4), 5.5)
    standing.take_in(ledger.entries(after=1))
    assert standing.facts().accountant.spent == NANO // 4
    if what == "view":
        assert (view.seen, view.measurements) == (1, [])
        with pytest.raises(KeyError):
            view.reservation(2)
        assert view.accountant.spent == 0
        assert view.shares.spent == {}
        assert value_of(view) is None
        view.take_in(ledger.entries(after=1))  # and the other way round
        assert value_of(view) == 5.5
        assert len(standing.measurements) == 1
        assert standing.reservation(2) == view.reservation(2)
        assert standing.accountant.sequential == NANO // 4
    elif what == "facts":
        assert facts.accountant.spent == 0
        assert facts.limit == NANO
        assert facts.inference.linear(QUERY) is None
        assert facts.past is not standing.facts().past
    else:
        assert (snapshot.sequence, snapshot.measurements) == (1, ())
        assert snapshot.facts.accountant.spent == 0


def test_a_snapshot_tells_what_was_known_and_allowed(ledger):
    commit(ledger, reserve(ledger, plan_of(), NANO // 4), 5.5)
    commit(ledger, reserve(ledger, plan_of(), NANO // 4, "two", "bob"), 7.5)
    with ledger.exclusive() as book:
        book.note(CAP, cap_document("ann", NANO // 2, "cora"))
    standing = fresh()
    standing.take_in(ledger.entries())
    snapshot = standing.snapshot()
    assert snapshot.sequence == 6
    assert snapshot.facts.limit == snapshot.facts_for("bob").limit == NANO
    assert snapshot.facts_for("ann").limit == 3 * NANO // 4
    assert snapshot.facts_for("ann").accountant is snapshot.facts.accountant
    assert snapshot.facts.spent == snapshot.facts.accountant.spent == NANO // 2
    assert [one.sequence for one in snapshot.measurements] == [3, 5]
    known = [snapshot.inference_through(number).linear(QUERY) for number in range(1, 7)]
    assert known[0] is None
    assert known[1] is None
    values = [None if one is None else one[0] for one in known[2:]]
    assert values == pytest.approx([5.5, 5.5, 6.5, 6.5])
    assert snapshot.inference_through(5) is snapshot.facts.inference
    empty = fresh().snapshot()
    assert empty.inference_through(0) is empty.facts.inference


def test_decisions_know_what_was_paid_for(ledger):
    demand = Demand(QUERY, Requirement(within=10, confidence=0.95))
    reserve(ledger, replace(plan_of(), demands=(demand,)), NANO // 4)
    standing = fresh()
    standing.take_in(ledger.entries())
    for facts in (standing.facts(), standing.snapshot().facts, standing.view().facts()):
        assert [paid.demand for paid in facts.past.paid] == [demand]


def test_what_is_public_is_known_from_the_first(ledger):
    public = (Row(QUERY, 9.0, PUBLIC),)
    standing = fresh(public=public)
    assert value_of(standing) == 9.0
    commit(ledger, reserve(ledger, plan_of(), NANO // 4), 5.5)
    standing.take_in(ledger.entries())
    before = standing.snapshot().inference_through(1).linear(QUERY)
    assert before is not None
    assert before[0] == 9.0


def test_the_accounts_are_those_of_the_table(ledger):
    standing = fresh(CONCENTRATED, "replace_one", 3)
    assert standing.accountant.measure == CONCENTRATED
    assert standing.accountant.neighbours == "replace_one"
    law = part_for(QUERY, 4.0, CONCENTRATED).law
    assert standing.accountant.price(QUERY, law) == 9 * NANO // 32  # 3² / (2 · 4²)


def test_a_commit_that_was_learned_before_it_was_stored(ledger):
    standing = fresh()
    number = reserve(ledger, plan_of(), NANO // 4)
    standing.take_in(ledger.entries())
    assert not standing.is_ahead
    standing.learn([measured(5.5, sequence=3), measured(6.5, sequence=3)])
    assert standing.is_ahead
    assert standing.parts() is None, "what the ledger may never hold is not written down"
    assert value_of(standing) == pytest.approx(6.0)
    entry = commit(ledger, number, 5.5, 6.5)
    assert standing.stepped_over(entry)
    assert not standing.is_ahead
    assert standing.parts() is not None
    assert (standing.seen, standing.last_change) == (3, 3)
    assert [one.values for one in standing.measurements] == [(5.5,), (6.5,)]
    assert {(one.analyst, one.at) for one in standing.measurements} == {
        ("ann", ledger.entries()[1].at)
    }
    assert value_of(standing) == pytest.approx(6.0)


def test_nothing_is_stepped_over_when_something_came_between(ledger):
    standing = fresh()
    number = reserve(ledger, plan_of(), NANO // 4)
    standing.take_in(ledger.entries())
    standing.learn([measured(5.5, sequence=4)])
    with ledger.exclusive() as book:
        book.note("remark", {})
    assert not standing.stepped_over(commit(ledger, number, 5.5))
    assert standing.seen == 2
    standing = fresh()
    standing.take_in(ledger.entries()[:3])
    standing.learn([measured(5.5, sequence=9)])
    assert not standing.stepped_over(ledger.entries()[3])
    assert standing.seen == 3


def test_estimates_are_settled_even_if_an_entry_cannot_be_read(ledger):
    commit(ledger, reserve(ledger, plan_of(), NANO // 4), 5.5)
    good = ledger.entries()
    standing = fresh()
    with pytest.raises(LedgerError):
        standing.take_in([*good, Entry(4, CAP, "", {}, {}, "")])
    assert value_of(standing) == 5.5


def entry(kind: str, about: Mapping[str, object], payload: Mapping[str, object]) -> Entry:
    return Entry(9, kind, "now", about, payload, "")


@pytest.mark.parametrize(
    "bad",
    [
        entry("limit", {"limit": 1.0}, {}),
        entry("limit", {"limit": True}, {}),
        entry("genesis", {"limit": "1"}, {}),
        entry("reserve", {"analyst": "a", "spent_after": 1}, {"cost": 0.5, "plan": {}}),
        entry("reserve", {"analyst": "a", "spent_after": 1}, {"cost": 1, "plan": []}),
        entry(
            "reserve",
            {"analyst": "a", "spent_after": 1.5},
            {"cost": 1, "plan": plan_of().to_document()},
        ),
        entry("commit", {"reservation": 2}, {"measurements": {}}),
        entry("commit", {"reservation": 2}, {"measurements": ["text"]}),
        entry("commit", {"reservation": 2.0}, {"measurements": []}),
    ],
)
def test_entries_of_an_unknown_form_are_refused(ledger, bad):
    reserve(ledger, plan_of(), NANO // 4)
    standing = fresh()
    standing.take_in(ledger.entries())
    with pytest.raises(LedgerError):
        standing.take_in([bad])
    assert standing.seen == 2


def test_a_question_is_read_once_however_often_an_entry_holds_it(ledger):
    demand = Demand(QUERY, Requirement(5.0, 0.95))
    other = Demand(OTHER, Requirement(5.0, 0.95))
    plan = replace(plan_of(), demands=(demand, other))
    standing = fresh()
    number = reserve(ledger, plan, 10)
    commit(ledger, number, 7.0, 8.0)
    standing.take_in(ledger.entries())
    stored = standing.reservation(number).plan
    assert stored == plan
    assert stored.demands[0].query is stored.parts[0].query
    assert all(one.query is stored.parts[0].query for one in standing.measurements)
    assert [one.values for one in standing.measurements] == [(7.0,), (8.0,)]


def test_what_was_measured_instead_is_read_by_itself(ledger):
    standing = fresh()
    number = reserve(ledger, plan_of(), 10)
    before = standing.view()
    standing.take_in(ledger.entries())
    instead = Measurement(OTHER, plan_of().parts[0].law, (3.0,))
    with ledger.exclusive() as book:
        book.commit(number, {"measurements": [instead.to_document()]}, "text")
    view = standing.view()
    for one in (standing, view, before):
        one.take_in(ledger.entries(after=one.seen))
        assert [m.query for m in one.measurements] == [OTHER]


class Notebook:
    """Books that only remember which entries they were given."""

    def __init__(self, entries: Sequence[Any] = ()) -> None:
        self.entries = list(entries)

    def take_in(self, entry: Any, _: Any) -> None:
        self.entries.append(entry)

    def view(self) -> Notebook:
        return Notebook(self.entries)


@pytest.mark.parametrize("looked_at", [False, True])
def test_a_view_of_accounts_stays_as_it_was(looked_at: bool) -> None:
    first, second = (SimpleNamespace(kind="cap", about={}, sequence=place) for place in (1, 2))
    accounts: Any = LateAccounts(Notebook, PURE)  # type: ignore[arg-type]
    assert accounts.spent == 0
    accounts.note(first)
    if looked_at:
        accounts.books()
    view = accounts.view()
    accounts.note(second)
    assert accounts.books().entries == [first, second]
    assert view.books().entries == [first]
