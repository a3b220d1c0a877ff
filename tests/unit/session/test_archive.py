"""The archive: what was released and published, read again by anyone, exactly."""

from __future__ import annotations

import numpy as np
import pytest

import eke
from eke.engine import draws, vault
from eke.errors import KeyConflict, QueryError
from eke.session import PublishRequest
from tests.unit.session.conftest import DOMAIN


def test_a_release_is_read_as_it_was_released(session, folder, people):
    workload = eke.ranges(DOMAIN, "age") + eke.marginals_up_to(DOMAIN, 1)
    workload += eke.Workload.of(DOMAIN, [eke.count(sex="Female")])
    made = session.release(session.plan(workload, budget=0.3), key="one", analyst="ben")
    session.ask(eke.count(), within=60)
    (record,) = session.archive.releases()
    assert (record.sequence, record.analyst, record.key) == (made.sequence, "ben", "one")
    assert record.cost == made.cost
    found = session.archive.release(made.sequence)
    assert found.plan is None
    for field in ("workload", "cost", "measure", "sequence", "strategy", "rmse"):
        assert getattr(found, field) == getattr(made, field)
    for one, other in zip(found.tables, made.tables, strict=True):
        assert (one.attributes, one.along, one.labels) == (
            other.attributes,
            other.along,
            other.labels,
        )
        assert np.array_equal(one.values, other.values)
        assert np.array_equal(one.standard_error, other.standard_error)
        assert one.question == other.question
    with pytest.raises(QueryError, match="no publication"):
        session.archive.publication(made.sequence)
    with pytest.raises(QueryError, match="no release"):
        session.archive.release(1)


def test_publications_are_listed_and_read(session):
    with_key = session.publish("lda", epsilon=0.2, target="sex", key="rows", analyst="ben")
    without = session.publish("lda", epsilon=0.2, target="sex")
    first, second = session.archive.publications()
    assert first.about["options"] == {"target": "sex"}
    assert first.analyst == "ben"
    assert session.archive.publication(first.sequence).to_text() == with_key.to_text()
    with pytest.raises(QueryError, match="not kept"):
        session.archive.publication(second.sequence)
    assert with_key.sequence == first.sequence
    assert without.sequence is None, "for nothing can be read there"


class Crash(BaseException):
    """Stands for a process that dies."""


def test_what_became_of_a_request(session, monkeypatch):
    assert session.archive.find("ann", "rows") is None

    def crash(name: str) -> None:
        if name == "engine.drawn":
            raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(draws, "failpoint", crash)
        with pytest.raises(Crash):
            session.publish("lda", epsilon=0.2, target="sex", key="rows", analyst="ann")
    assert session.archive.find("ann", "rows") == "charged"
    assert session.archive.publications() == [], "it is not published yet"
    session.publish("lda", epsilon=0.2, target="sex", key="rows", analyst="ann")
    (record,) = session.archive.publications()
    assert session.archive.find("ann", "rows") == record.sequence


def test_rows_that_are_still_to_be_made_are_told_apart(session, monkeypatch):
    """LDA makes its rows after the release is stored; until then there is nothing to show."""

    def crash(*_: object) -> str:
        raise Crash

    with monkeypatch.context() as patched:
        patched.setattr(vault.Vault, "remember", crash)
        with pytest.raises(Crash):
            session.publish("lda", epsilon=0.2, target="sex", key="rows", analyst="ann")
    (record,) = session.archive.publications()
    assert not record.complete
    with pytest.raises(QueryError, match="not made yet"):
        session.archive.publication(record.sequence)
    session.publish("lda", epsilon=0.2, target="sex", key="rows", analyst="ann")
    (record,) = session.archive.publications()
    assert record.complete
    assert len(session.archive.publication(record.sequence)) > 0


def test_a_price_is_what_is_charged(session):
    session.ask(eke.count(sex="Female"), within=60)
    plan = session.plan(eke.all_marginals(DOMAIN, 1), budget=0.2)
    price = session.price(plan)
    assert price.affordable
    assert price.remaining == pytest.approx(session.budget.remaining)
    assert session.release(plan).cost == pytest.approx(price.cost, abs=1e-12)
    request = PublishRequest("lda", 0.2, None, {"target": "sex"}, "ann", None)
    rows = session.price(request)
    assert session.publish("lda", epsilon=0.2, target="sex").cost == pytest.approx(rows.cost)
    free = PublishRequest("max_entropy", None, None, {"from_history": True}, "ann", None)
    assert session.price(free).cost == 0.0


def test_a_price_knows_caps_and_keys(session):
    session.change_cap("ben", 0.1)
    plan = session.plan(eke.all_marginals(DOMAIN, 1), budget=0.2)
    price = session.price(plan, analyst="ben")
    assert not price.affordable
    assert price.remaining == pytest.approx(0.1)
    assert session.price(plan, analyst="ann").affordable
    session.ask(eke.count(), within=60, key="k", analyst="ann")
    with pytest.raises(KeyConflict):
        session.price(PublishRequest("lda", 0.2, None, {"target": "sex"}, "ann", "k"))


def test_twins_share_history_and_limit(session):
    twin = session.twin()
    paid = twin.ask(eke.count(), within=60)
    assert not paid.free
    again = session.ask(eke.count(), within=60)
    assert again.free
    assert again.value == paid.value
    assert twin.budget == session.budget
    with session._vault.lock:
        assert twin.preview(eke.count(), within=60).free, "it does not wait for the other"


def test_progress_is_told_step_by_step(session):
    told: list[tuple[str, float]] = []
    session.publish(
        "lda", epsilon=0.2, target="sex", progress=lambda step, share: told.append((step, share))
    )
    assert [step for step, _ in told] == ["checking", "paying", "making rows"]
    assert [share for _, share in told] == sorted(share for _, share in told)


def test_what_progress_raises_before_paying_spends_nothing(session):
    def stop(step: str, _share: float) -> None:
        if step == "paying":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.publish("lda", epsilon=0.2, target="sex", progress=stop)
    assert session.budget.spent == 0
