"""Nobody waits for somebody's preview: what is free is worked out on snapshots, outside the lock.

A watched lock tells whether any planning or inference is done by a thread that holds it, and
whether anybody had to wait for it. The control is the preview as it was, under the lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import eke
from eke.engine import Vault, measuring
from eke.errors import Refused
from eke.inference import Inference
from eke.planning.online.known_formulas import KnownFormulas
from eke.planning.online.rent import Rent
from eke.privacy.accountant import Accountant
from eke.session import PublishRequest, Session
from eke.session.ask import request as requests
from eke.session.ask.estimator import Estimator
from eke.session.history import History

PATIENCE = 60.0  # seconds after which a thread counts as stuck; none of them takes one
COUNT = eke.count(sex="Female")
BY_AGE = "SELECT age, COUNT(*) AS n, AVG(age) AS x FROM people GROUP BY age"
WORK: tuple[tuple[type, str], ...] = (
    (Inference, "estimate"),
    (Inference, "linear"),
    (Inference, "append"),
    (Accountant, "after_all"),
    (Rent, "plan"),
    (KnownFormulas, "worst"),
    (Estimator, "estimate"),
    (History, "sources"),
    (History, "cell_losses"),
)


class WatchedLock:
    """A lock that knows who holds it, and tells when somebody has to wait."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._mine = threading.local()
        self.waited = threading.Event()

    @property
    def held(self) -> bool:
        """True when this thread holds it."""
        return getattr(self._mine, "depth", 0) > 0

    def acquire(self, blocking: bool = True) -> bool:
        if not self._lock.acquire(blocking=False):
            if not blocking:
                return False
            self.waited.set()
            self._lock.acquire()
        self._mine.depth = getattr(self._mine, "depth", 0) + 1
        return True

    def release(self) -> None:
        self._mine.depth -= 1
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


def watch(session: Session) -> WatchedLock:
    lock = WatchedLock()
    session._vault.lock = lock  # type: ignore[assignment]
    return lock


@contextmanager
def work_under(lock: WatchedLock) -> Iterator[list[str]]:
    """The pieces of work that are done by a thread that holds the lock."""
    found: list[str] = []

    def watched(kind: type, name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def done(*words: Any, **named: Any) -> Any:
            if lock.held:
                found.append(f"{kind.__name__}.{name}")
            return plain(*words, **named)

        return done

    with pytest.MonkeyPatch.context() as patch:
        for kind, name in WORK:
            patch.setattr(kind, name, watched(kind, name, getattr(kind, name)))
        yield found


def refused(session: Session) -> None:
    with pytest.raises(Refused):
        session.ask(eke.count(age=17), within=0.001, analyst="ben")


FREE: dict[str, Callable[[Session], object]] = {
    "preview": lambda s: s.preview(COUNT, within=1),
    "preview of a statement": lambda s: s.preview(BY_AGE, within={"n": 30, "x": 3}),
    "curve": lambda s: s.curve("SELECT COUNT(*) FROM people", [1.0, 10.0, 100.0]),
    "explain": lambda s: s.explain(BY_AGE, {"n": 30, "x": 3}, None),
    "estimate": lambda s: s.estimate(COUNT),
    "unbiased estimate": lambda s: s.estimate(COUNT, "blue"),
    "plan and price": lambda s: s.price(s.plan(eke.all_marginals(s.domain, 1), budget=0.1)),
    "price of a publication": lambda s: s.price(
        PublishRequest("lda", 0.1, None, {"target": "sex"}, "ben", None)
    ),
    "advice": lambda s: s.advise(),
    "history": lambda s: s.history.sources(COUNT),
    "losses": lambda s: s.history.cell_losses(),
    "free answer": lambda s: s.ask(COUNT, within=80, analyst="ben"),
    "its posterior": lambda s: s.ask(COUNT, within=80).posterior,
    "refusal": refused,
    "shares": lambda s: s.shares,
    "archive": lambda s: (s.archive.releases(), s.archive.publications()),
}


@pytest.fixture
def known(new: Callable[..., Session]) -> Session:
    """A dataset with a history."""
    session = new()
    session.ask(COUNT, within=60, analyst="ann")
    session.ask(eke.marginal("age"), within=60, analyst="ann")
    return session


@pytest.mark.parametrize("surface", FREE)
def test_no_work_is_done_under_the_lock(known: Session, surface: str) -> None:
    known.history  # noqa: B018 - whoever comes first reads the ledger for all
    lock = watch(known)
    with work_under(lock) as found:
        FREE[surface](known)
    assert found == []


def test_the_check_catches_a_preview_under_the_lock(known: Session) -> None:
    lock = watch(known)
    with work_under(lock) as found, lock:
        known.preview(COUNT, within=1)
    assert "Rent.plan" in found


@contextmanager
def slow_previews_of(analyst: str, patch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """While it lasts, planning for one analyst does not end; the event says that it has begun."""
    begun, go_on = threading.Event(), threading.Event()
    plain = requests.Request.decide

    def slow(self: requests.Request, *words: Any, **named: Any) -> Any:
        if self.analyst == analyst:
            begun.set()
            assert go_on.wait(PATIENCE)
        return plain(self, *words, **named)

    with patch.context() as inner:
        inner.setattr(requests.Request, "decide", slow)
        try:
            yield begun
        finally:
            go_on.set()


def in_thread(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_others_are_answered_during_a_slow_preview(
    known: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, answers = watch(known), list[Any]()
    with slow_previews_of("ann", monkeypatch) as begun:
        slow = in_thread(lambda: known.preview(COUNT, within=1, analyst="ann"))
        assert begun.wait(PATIENCE)

        def others() -> None:
            for within in (80.0, 30.0):  # free, then paid for
                answers.append(known.ask(COUNT, within=within, analyst="ben"))

        in_thread(others).join(PATIENCE)
        assert slow.is_alive()
    slow.join(PATIENCE)
    assert [answer.free for answer in answers] == [True, False]
    assert not lock.waited.is_set()


def test_the_check_catches_a_slow_preview_under_the_lock(
    known: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = watch(known)

    def locked() -> None:
        with lock:
            known.preview(COUNT, within=1, analyst="ann")

    with slow_previews_of("ann", monkeypatch) as begun:
        slow = in_thread(locked)
        assert begun.wait(PATIENCE)
        other = in_thread(lambda: known.ask(COUNT, within=30, analyst="ben"))
        assert lock.waited.wait(PATIENCE), "somebody who pays waits for it"
        assert other.is_alive()
    slow.join(PATIENCE)
    other.join(PATIENCE)


def test_free_answers_do_not_wait_for_a_long_release(
    known: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer is stopped in the middle: charged, the data touched, nothing stored."""
    lock = watch(known)
    drawing, go_on = threading.Event(), threading.Event()
    reveal = vars(measuring)["reveal_with_noise"]

    def slow(*words: Any) -> Any:
        drawing.set()
        assert go_on.wait(PATIENCE)
        return reveal(*words)

    monkeypatch.setattr(measuring, "reveal_with_noise", slow)
    writer = in_thread(lambda: known.ask(eke.count(age=19), within=40, analyst="ann"))
    assert drawing.wait(PATIENCE)
    found: list[Any] = []

    def read() -> None:
        found.append(known.ask(COUNT, within=80, analyst="ben").free)
        found.append(known.preview(COUNT, within=30, analyst="ben").affordable)
        found.append(known.estimate(COUNT))
        found.append(len(known.history))

    reader = in_thread(read)
    reader.join(PATIENCE)
    assert writer.is_alive()
    assert found[:2] == [True, True]
    assert found[3] == 2, "what is not stored is not known"
    assert not lock.waited.is_set()
    go_on.set()
    writer.join(PATIENCE)
    assert len(known.history) == 3


def test_a_decision_made_outside_the_lock_is_made_again_when_the_ledger_moved(
    known: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both want the same; whoever comes second finds it known, and pays nothing."""
    plain = requests.Request.decide
    overtaken: list[object] = []

    def decided(self: requests.Request, *words: Any, **named: Any) -> Any:
        decision = plain(self, *words, **named)
        if decision.action == "measure" and not overtaken:
            overtaken.append(None)
            twin = known.twin()
            overtaken.append(twin.ask(COUNT, within=30, analyst="ben"))
        return decision

    monkeypatch.setattr(requests.Request, "decide", decided)
    spent = known.budget.spent
    answer = known.ask(COUNT, within=30, analyst="ann")
    assert answer.free
    assert known.budget.spent == pytest.approx(spent + overtaken[1].cost)  # type: ignore[attr-defined]


def test_nothing_is_refused_on_an_old_snapshot(
    known: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one thread reads the ledger, another sees the state before: here, no budget left."""
    protected: Vault = known._vault
    spent = known.budget.spent
    known.change_limit(spent + 1e-6)
    old = protected.snapshot()
    known.change_limit(spent + 1.0)
    monkeypatch.setattr(Vault, "glance", lambda _: old)
    assert not known.ask(COUNT, within=30).free
    known.change_limit(known.budget.spent + 1e-6)
    with pytest.raises(Refused):  # control: what the newest says is refused
        known.ask(COUNT, within=5)


def test_two_first_questions_at_once_are_both_answered(tmp_path: Path) -> None:
    """A session that has read nothing of the ledger yet knows of no limit."""
    people = pd.DataFrame({"sex": ["F", "M"] * 50})
    domain = eke.Domain(sex=eke.Categorical("F", "M"))
    session = eke.create(tmp_path / "d.eke", people, domain, epsilon=1.0)
    protected: Vault = session._vault
    answers: list[float] = []
    looked = threading.Event()
    plain = protected.glance

    def glance() -> Any:
        seen = plain()
        looked.set()
        return seen

    protected.glance = glance  # type: ignore[method-assign]
    with protected._catching_up:  # as if another thread were reading it right now
        asking = in_thread(lambda: answers.append(session.ask(eke.count(), within=30).value))
        assert looked.wait(PATIENCE)
    asking.join(PATIENCE)
    assert len(answers) == 1


def test_a_cap_of_the_snapshot_counts(known: Session) -> None:
    known.change_cap("ben", 0.0)
    assert not known.preview(COUNT, within=30, analyst="ben").affordable
    assert known.preview(COUNT, within=30, analyst="ann").affordable
    with pytest.raises(Refused):
        known.ask(COUNT, within=30, analyst="ben")


def test_a_snapshot_never_changes(known: Session) -> None:
    protected: Vault = known._vault
    query = COUNT.on(known.domain)
    before = protected.snapshot()
    belief, spent = before.facts.inference.linear(query), before.facts.accountant.spent
    released = len(before.measurements)
    known.ask(COUNT, within=20)
    known.ask(eke.marginal("age", "city"), within=40, policy="direct")
    assert belief is not None
    again = before.facts.inference.view().linear(query)
    assert again is not None
    assert again[0] == belief[0]
    assert (before.facts.accountant.spent, len(before.measurements)) == (spent, released)
    after = protected.snapshot()
    assert after.sequence > before.sequence
    assert len(after.measurements) == released + 2
    assert before.inference_through(before.sequence).linear(query)[0] == belief[0]  # type: ignore[index]
