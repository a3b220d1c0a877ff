"""The client against a real server: the same answers and the same errors as a local session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import eke
from eke import dbapi
from eke.client import RemotePlan, RemoteSession
from eke.client.job import publication_of
from eke.errors import (
    AccessDenied,
    AccuracyError,
    BudgetExceeded,
    EstimateError,
    KeyConflict,
    QueryError,
    ServiceError,
    SqlError,
    Unanswered,
)
from eke.inference.progress import silent
from eke.session import Estimate, TableEstimate
from tests.service import BY_SEX, COUNT, Server, listening, serving


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    with serving(tmp_path_factory.mktemp("client")) as server, listening(server.app) as url:
        yield server, url


@pytest.fixture
def remote(place: tuple[Server, str]) -> Iterator[RemoteSession]:
    server, url = place
    with eke.connect(url, server.tokens["ann"]) as session:
        yield session


def test_answers_are_those_of_a_local_session(
    place: tuple[Server, str], remote: RemoteSession
) -> None:
    local = place[0].session
    there = remote.ask(COUNT, within=40)
    here = local.ask(COUNT, within=40)
    assert isinstance(there, eke.Answer)
    assert isinstance(here, eke.Answer)
    assert (there.value, there.interval, there.variance) == (
        here.value,
        here.interval,
        here.variance,
    )
    assert here.free
    assert remote.ask(COUNT, within=40) == here
    rows_there, rows_here = remote.ask(BY_SEX, within=60), local.ask(BY_SEX, within=60)
    assert not rows_there.is_number
    assert not rows_here.is_number
    assert rows_there.to_pandas().equals(rows_here.to_pandas())
    assert "Free" in there.explain() or "Paid" in there.explain()


def test_the_posterior_is_drawn_well_enough(
    place: tuple[Server, str], remote: RemoteSession
) -> None:
    there, here = remote.ask(COUNT, within=40), place[0].session.ask(COUNT, within=40)
    assert isinstance(there, eke.Answer)
    assert isinstance(here, eke.Answer)
    for confidence in (0.5, 0.9, 0.95):
        assert there.posterior.interval(confidence) == pytest.approx(
            here.posterior.interval(confidence), abs=1.5
        )
    assert there.probability(above=here.value) == pytest.approx(0.5, abs=0.01)
    assert there.probability(above=here.value - 20, below=here.value + 20) == pytest.approx(
        here.probability(above=here.value - 20, below=here.value + 20), abs=0.02
    )
    assert "<svg" in there._repr_html_()


def test_previews_budget_history_and_domain(
    place: tuple[Server, str], remote: RemoteSession
) -> None:
    local = place[0].session
    remote.ask(COUNT, within=40)
    assert remote.preview(BY_SEX, within=7) == local.preview(BY_SEX, within=7, analyst="ann")
    assert remote.budget == local.budget
    assert remote.history.to_records() == local.history.to_records()
    assert len(remote.history) == len(local.history)
    assert remote.history.to_pandas().equals(local.history.to_pandas())
    assert remote.domain == local.domain
    assert remote.explain(COUNT)["aggregates"]["a0"]["cells"] == 1
    priced = remote.explain(COUNT, within=7, policy="direct")["price"]
    assert priced["cost"] == local.preview(COUNT, within=7, policy="direct", analyst="ann").cost
    first = local.history[0].sequence
    assert remote.measurement(first) == local.measurement(first)
    with pytest.raises(ServiceError, match="entry 1 released nothing"):
        remote.measurement(1)


def test_what_is_left_under_a_cap(place: tuple[Server, str], remote: RemoteSession) -> None:
    local = place[0].session
    assert remote.remaining == local.budget.remaining
    try:
        local.change_cap("ann", local.shares.spent.get("ann", 0) / 1e9 + 0.01)
        assert remote.remaining == pytest.approx(0.01)
        assert remote.budget.remaining > 0.01
    finally:
        local.change_cap("ann", None)


def test_errors_are_those_of_a_local_session(remote: RemoteSession) -> None:
    with pytest.raises(SqlError, match="did you mean 'age'") as wrong:
        remote.ask("SELECT COUNT(*) FROM people WHERE agee > 40", within=10)
    assert (wrong.value.line, wrong.value.column) == (1, 35)
    with pytest.raises(eke.Refused, match="Nothing was spent") as refused:
        remote.ask(COUNT, within=0.01)
    assert refused.value.refusal.narrowest > 0.01  # type: ignore[attr-defined]
    remote.ask(COUNT, within=40, key="k")
    with pytest.raises(KeyConflict):
        remote.ask(COUNT, within=41, key="k")
    with pytest.raises(QueryError, match="a question is SQL or an expression"):
        remote.ask(5, within=10)  # type: ignore[call-overload]
    with pytest.raises(QueryError, match="another domain"):
        remote.ask(eke.count().on(eke.Domain(x=eke.Boolean())), within=10)
    with pytest.raises(QueryError, match="no attribute 'agee'"):
        remote.ask(eke.count(agee=3), within=10)
    with pytest.raises(AccuracyError):
        remote.ask(eke.count())
    with pytest.raises(QueryError, match="explains SQL"):
        remote.explain(eke.count())  # type: ignore[arg-type]


def test_expressions_are_asked_as_here(place: tuple[Server, str], remote: RemoteSession) -> None:
    local = place[0].session
    asked = 3 * eke.count(sex="Female") - eke.total("age", city="d") / 2 + 7
    assert remote.preview(asked, within=900) == local.preview(asked, within=900, analyst="ann")
    there, here = remote.ask(asked, within=900), local.ask(asked, within=900)
    assert there.free is False
    assert (there.value, there.interval) == (here.value, here.interval)
    assert here.free
    assert remote.ask(asked.on(remote.domain), within=900) == here
    pairs = eke.marginal("sex", "city")
    table, own = remote.ask(pairs, within=90), local.ask(pairs, within=90)
    assert not table.is_number
    assert table.to_pandas().equals(own.to_pandas())
    with pytest.raises(EstimateError, match="one by one"):
        table.simultaneous(0.9)


def test_estimates_are_those_of_a_local_session(
    place: tuple[Server, str], remote: RemoteSession
) -> None:
    local = place[0].session
    remote.ask(COUNT, within=40)
    asked = eke.count(age=(18, 20), city="d")
    there, here = remote.estimate(asked), local.estimate(asked)
    assert isinstance(there, Estimate)
    assert isinstance(here, Estimate)
    assert there.explain() == here.explain()
    words = ("question", "method", "caveats")
    numbers, own_numbers = (
        {name: value for name, value in one.to_dict().items() if name not in words}
        for one in (there, here)
    )
    assert numbers == pytest.approx(own_numbers)
    assert [getattr(there, name) for name in words] == [getattr(here, name) for name in words]
    assert here.interval is not None
    for above in (here.interval[0], here.value, sum(here.interval) / 2.0):
        assert there.probability(above=above) == pytest.approx(
            here.probability(above=above), abs=0.02
        )
    cities = eke.marginal("city")
    chosen: tuple[dict[str, Any], ...] = (
        {"prior": {"sex": {"Female": 3, "Male": 1}}},
        {"prior": "uniform", "alpha": 9.0},
    )
    for given in chosen:
        told, known = (one.estimate(asked, **given) for one in (remote, local))
        assert isinstance(told, Estimate)
        assert isinstance(known, Estimate)
        assert (told.value, told.alpha) == (known.value, known.alpha)
    with pytest.raises(EstimateError, match="alpha is a finite number"):
        remote.estimate(asked, alpha=-1.0)
    block, own = (one.estimate(cities, confidence=0.8) for one in (remote, local))
    assert isinstance(block, TableEstimate)
    assert isinstance(own, TableEstimate)
    assert block.to_pandas().equals(own.to_pandas())
    refused = remote.ask(asked, within=0.01, allow_estimate=True)
    assert refused == there
    with pytest.raises(eke.Refused):
        remote.ask("SELECT AVG(age) FROM people", within=1e-6, allow_estimate=True)


def test_claims_are_those_of_a_local_session(
    place: tuple[Server, str], remote: RemoteSession
) -> None:
    local = place[0].session
    remote.ask(COUNT, within=40)
    remote.ask(eke.marginal("city"), within=40)
    for asked in (COUNT, eke.count(), eke.marginal("city"), eke.count(city="d")):
        there, here = remote.claim(asked, "> 100"), local.claim(asked, "> 100")
        assert there == here
        assert there.caveats == here.caveats
    with pytest.raises(eke.EkeError, match="does not determine"):
        remote.claim(eke.count(age=(18, 20)), "> 100")
    with pytest.raises(eke.EkeError, match="where the true answer lies"):
        remote.claim(COUNT, "100")


def test_plans_and_releases_are_those_of_a_local_session(
    place: tuple[Server, str], remote: RemoteSession
) -> None:
    local = place[0].session
    workload = eke.marginals_up_to(local.domain, 1) + eke.Workload.of(
        local.domain, [eke.count(sex="Male")]
    )
    plan, own = remote.plan(workload, budget=0.05), local.plan(workload, budget=0.05)
    assert plan.explain() == own.explain()
    assert (plan.rmse, plan.strategy) == (own.rmse, own.strategy)
    assert plan.affordable
    assert plan.cost <= 0.05
    assert (plan.answers, plan.workload) == (own.answers, own.workload)
    assert_same_comparison(plan, own)
    tables = [["sex"], ["city"]]
    assert_same_comparison(remote.plan(tables, within=60), local.plan(tables, within=60))
    matrix = [[1.0, 1.0], [0.7, -0.3]]
    assert_same_comparison(
        remote.plan([["sex"]], budget=0.05, strategy=matrix),
        local.plan([["sex"]], budget=0.05, strategy=matrix),
    )
    before = local.budget.spent
    release = remote.release(plan, key="tables")
    assert local.budget.spent == pytest.approx(before + release.cost)
    kept = local.archive.release(release.sequence)
    assert repr(kept) == repr(release)
    assert release.caveats == kept.caveats
    assert release.caveats[-1].startswith("Records whose")
    for there, here in zip(release.tables, kept.tables, strict=True):
        assert there.to_pandas().equals(here.to_pandas())
    assert release.table("age").labels == (tuple(range(17, 27)),)
    read = remote.archive.release(release.sequence).adjusted("whole")
    assert read.adjustment == kept.adjusted("whole").adjustment
    again = remote.release(remote.plan(workload, budget=0.05), key="tables")
    assert (again.table("sex").values == release.table("sex").values).all()
    widths: dict[str | tuple[str, ...], float] = {"sex": 60, ("city",): 90}
    by_table = remote.plan([["sex"], ["city"]], within=widths)
    assert_same_comparison(by_table, local.plan([["sex"], ["city"]], within=widths))
    assert by_table.rmse > remote.plan([["sex"], ["city"]], within=60).rmse
    cube = "SELECT COUNT(*) FROM people GROUP BY CUBE (sex, city)"
    assert len(remote.plan(cube, budget=0.05).tables) == 4
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        remote.release(remote.plan(cube, budget=50))
    with pytest.raises(QueryError, match="its own plans"):
        remote.release(own)
    with pytest.raises(QueryError, match="its own plans"):
        local.release(remote.plan(cube, budget=0.05))


def assert_same_comparison(there: RemotePlan, here: eke.ReleasePlan) -> None:
    assert [
        (section.strategy, section.questions, options) for section, options in there.comparison()
    ] == [(section.strategy, section.questions, options) for section, options in here.comparison()]
    assert there.errors_at([0.01, 1.0]) == here.errors_at([0.01, 1.0])


def test_rows_are_published_by_the_server(
    place: tuple[Server, str], remote: RemoteSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eke.client.job._POLL_SECONDS", 0.02)
    local, told = place[0].session, list[str]()
    wanted: dict[str, Any] = {"epsilon": 0.1, "target": "sex", "key": "rows-1"}
    rows = remote.publish("lda", progress=lambda step, _: told.append(step), **wanted)
    assert rows.to_text() == local.publish("lda", analyst="ann", **wanted).to_text()
    assert rows.caveats[-1].startswith("Records whose")
    assert (remote.publish("lda", **wanted).codes == rows.codes).all()
    assert set(told) <= {"waiting", "checking", "paying", "measuring", "making rows"}
    with pytest.raises(QueryError, match="target"):
        remote.publish("lda", epsilon=0.1)
    with pytest.raises(BudgetExceeded):
        remote.publish("lda", epsilon=50, target="sex")


def test_strangers_and_wrong_addresses(place: tuple[Server, str]) -> None:
    server, url = place
    with pytest.raises(AccessDenied):
        eke.connect(url, "eke_nonsense")
    with pytest.raises(ServiceError, match="name the dataset; the server shows you none"):
        eke.connect(url, server.tokens["ben"])
    with pytest.raises(ServiceError, match="https://"):
        eke.connect("localhost:1", "x")
    with pytest.raises(AccessDenied), eke.connect(url, server.tokens["otto"]) as session:
        session.ask(COUNT, within=10)
    with pytest.raises(ServiceError, match="no dataset 'peeple' for you; the server shows"):
        eke.connect(url, server.tokens["ann"], "peeple")
    with pytest.raises(AccessDenied, match="not a token"):
        eke.connect(url, "eke_é")
    with (
        pytest.raises(ServiceError, match="no blanks"),
        eke.connect(url, server.tokens["ann"]) as session,
    ):
        session.ask(COUNT, within=10, key="a b")


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, html="<p>Welcome</p>"),
        httpx.Response(200, json=["no", "object"]),
        httpx.Response(404, html="<p>Nothing here</p>"),
        httpx.Response(502, text="Bad Gateway"),
        httpx.Response(301, headers={"Location": "https://elsewhere"}),
        httpx.Response(500, json={"error": "InternalError", "message": "logged", "status": 500}),
    ],
    ids=lambda answer: f"{answer.status_code}",
)
def test_a_server_that_does_not_answer_as_eke_does(answer: httpx.Response) -> None:
    transport = httpx.MockTransport(lambda _: answer)
    for dataset in (None, "people"):
        with pytest.raises(Unanswered, match=str(answer.status_code)):
            eke.connect("https://example.org", "eke_x", dataset, transport=transport)


def test_the_token_says_who_asks(remote: RemoteSession) -> None:
    before = remote.budget.spent
    with pytest.raises(ServiceError, match="leave analyst= out"):
        remote.ask(eke.count(), within=50, analyst="ben")
    assert remote.budget.spent == before


def test_an_answer_that_takes_too_long_is_not_asked_for_again() -> None:
    sent = []

    def late(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        raise httpx.ReadTimeout("late")

    with pytest.raises(Unanswered, match="within 7 seconds"):
        eke.connect("https://a", "eke_x", timeout=7, transport=httpx.MockTransport(late))
    assert len(sent) == 1


@pytest.mark.parametrize(
    ("state", "told"), [("interrupted", "was interrupted"), ("given_up", "was given up")]
)
def test_a_publication_that_stopped_says_its_key(
    remote: RemoteSession, state: str, told: str
) -> None:
    job = {"state": state, "key": "rows-9"}
    with pytest.raises(Unanswered, match=f"{told}.*the key rows-9: what is charged already"):
        publication_of(remote._wire, "", job, silent)


class Flaky(httpx.BaseTransport):
    """A network that loses the first responses after the server has acted on the request."""

    def __init__(self, losses: int) -> None:
        self.losses = losses
        self._inner = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        if self.losses:
            self.losses -= 1
            response.close()
            raise httpx.ReadError("lost")
        return response

    def close(self) -> None:
        self._inner.close()


def test_a_lost_answer_is_fetched_again_and_paid_once(
    place: tuple[Server, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eke.client.wire._PAUSE_SECONDS", 0.0)
    server, url = place
    sql = "SELECT COUNT(*) FROM people WHERE city = 'd'"
    price = server.session.preview(sql, within=30).cost
    before = server.session.budget.spent
    flaky = Flaky(0)
    with eke.connect(url, server.tokens["ann"], "people", transport=flaky) as session:
        flaky.losses = 2
        answer = session.ask(sql, within=30, key="flaky-1")
    assert not answer.free, "the stored answer of the first, paid request"
    assert server.session.budget.spent == pytest.approx(before + price)
    with pytest.raises(ServiceError, match="cannot be reached"):
        eke.connect(url, server.tokens["ann"], transport=Flaky(9))


def test_prices_and_sizes_of_groups_are_those_of_a_local_session(
    place: tuple[Server, str], remote: RemoteSession
) -> None:
    local = place[0].session
    offer = remote.preview(eke.count(), spend=0.1)
    assert offer == local.preview(eke.count(), spend=0.1)
    assert offer.within is not None
    answer = remote.ask(eke.count(), spend=0.1, key="dear")
    assert answer.cost <= 0.1
    assert answer.receipt.spend == 0.1
    assert remote.ask(eke.count(), spend=0.1, key="dear").receipt == answer.receipt
    asked = eke.mean("age").by("sex")
    assert remote.preview(asked, spend=0.1).within is None
    groups = remote.ask(asked, within=5, groups_of=10_000)
    assert groups.receipt.groups_of == 10_000
    assert groups.caveats == local.ask(asked, within=5, groups_of=10_000).caveats
    text = "SELECT COUNT(*) FROM people"
    assert remote.explain(text, spend=0.1)["price"]["spend"] == 0.1
    with pytest.raises(eke.Refused, match="9 was offered, and"):
        remote.ask(text, spend=9)
    with pytest.raises(AccuracyError, match="not both"):
        remote.ask(text, within=5, spend=0.1)
    share = remote.ask(text, within="20 %")
    assert (share.receipt.share, share.within <= 0.2 * share.value) == (0.2, True)
    assert remote.preview(text, within="20 %") == local.preview(text, within="20 %")


def test_quantiles_are_those_of_a_local_session(
    place: tuple[Server, str], remote: RemoteSession
) -> None:
    local = place[0].session
    asked = eke.quantile("age", 0.75).by("sex")
    there, here = remote.ask(asked, within=9), local.ask(asked, within=9)
    assert there.rows == here.rows
    assert here.free
    form = {"quantile": {"answer": 0}, "attribute": "city", "share": "1/2", "between": True}
    body = {
        "query": {"formula": form, "of": [{"terms": [{"weight": "1", "factors": {}}]}]},
        "within": 5,
    }
    with pytest.raises(eke.EkeError, match="no numbers to sum"):
        remote._wire.post(f"{remote._place}/ask", body)
    weighted = {
        "formula": {**form, "attribute": "age"},
        "of": [{"terms": [{"weight": "2", "factors": {}}]}],
    }
    with pytest.raises(QueryError, match="give it the number of them"):
        remote._wire.post(f"{remote._place}/ask", {"query": weighted, "within": 5})


def test_formulas_and_cursors_are_those_of_a_local_session(
    place: tuple[Server, str], remote: RemoteSession
) -> None:
    local = place[0].session
    asked = eke.mean("age").by("sex")
    there, here = remote.ask(asked, within=5), local.ask(asked, within=5)
    assert (there.rows, there.flat_columns) == (here.rows, ["sex", "value", "low", "high"])
    assert here.free
    assert [one.cost for one in remote.curve(asked, [5, 6])] == [0.0, 0.0]
    with pytest.raises(ServiceError, match="leave analyst= out"):
        remote.preview(asked, within=5, analyst="eve")
    body = {"query": {"formula": {"answer": 7}, "of": [{"terms": []}]}, "within": 5}
    with pytest.raises(QueryError, match="not a formula"):
        remote._wire.post(f"{remote._place}/ask", body)
    cursor = dbapi.connect(remote, within=5).cursor()
    rows = cursor.execute("SELECT sex, AVG(age) FROM people GROUP BY sex").fetchall()
    assert rows == here.flat_rows()
    assert cursor.answer is not None
    assert cursor.answer.free


def test_rows_are_read_and_asked_as_here(place: tuple[Server, str], remote: RemoteSession) -> None:
    local = place[0].session
    rows = remote.publish("max_entropy", epsilon=0.2)
    assert rows.sequence is not None
    assert remote.archive.publication(rows.sequence).to_text() == rows.to_text()
    for asked in (eke.count(sex="Female"), eke.mean("age", city="d"), "SELECT SUM(age) FROM p"):
        there = remote.archive.estimate(rows.sequence, asked, confidence=0.8)
        here = local.archive.estimate(rows.sequence, asked, confidence=0.8)
        assert there.to_dict() == {**here.to_dict(), "question": there.question}
        assert there.question
        assert there.value == rows.estimate(asked).value
    with pytest.raises(QueryError, match="one number"):
        remote.archive.estimate(rows.sequence, eke.marginal("sex"))
