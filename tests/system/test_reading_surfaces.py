"""Every way to look at a dataset, over every kind of history: an answer, or an error that advises.

A history of single answers, of statements in steps, of tables kept whole, of mixed blocks, of
publications, and all of them together; read in Python, by commands and over HTTP. In the short
part each history is read in every fourth way, and together they are read in all ways.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pytest

import eke
from eke.cli.failure import ERROR, REFUSED
from eke.errors import EkeError
from eke.planning import Workload
from eke.service import Access, Account, Datasets, Settings, create_app
from tests.command_line import call
from tests.service import Clock, Server

ROWS = 600
DOMAIN = eke.Domain(
    sex=eke.Categorical("Female", "Male", null=eke.Replace("Male"), outside=eke.Replace("Male")),
    age=eke.Integer(0, 29, null=eke.Replace(0)),
    city=eke.Categorical(*"abcde", null=eke.Replace("a"), outside=eke.Replace("a")),
)
QUESTIONS = [
    "SELECT COUNT(*) FROM people",
    "SELECT COUNT(*) FROM people WHERE age < 10 AND city = 'a'",
    "SELECT sex, COUNT(*), AVG(age) FROM people GROUP BY sex",
    "SELECT SUM(age * age) FROM people WHERE sex = 'Male'",
]
Make = Callable[[eke.Session], object]
Way = TypeVar("Way")
POSTERIORS = ("exact", "convolution", "product")
METHODS = ("blue", "shrinkage", "max_entropy")
NORMS = ("l2", "l1", "linf")


def write_table(folder: Path) -> Path:
    number = np.arange(ROWS)
    table = pd.DataFrame(
        {
            "sex": np.where(number % 3 == 0, "Female", "Male"),
            "age": number * 7 % 30,
            "city": np.array(list("abcde"))[number // 11 % 5],
        }
    )
    table.to_csv(folder / "people.csv", index=False)
    return folder / "people.csv"


def _single(session: eke.Session) -> None:
    session.ask(eke.count(), within=40)
    session.ask(eke.count(sex="Female", age=(3, 9)), within=60)
    session.ask(eke.total("age"), within=2000)


def _steps(session: eke.Session) -> None:
    session.ask("SELECT AVG(age) FROM people WHERE city = 'b'", within=4)
    session.ask("SELECT sex, AVG(age) FROM people GROUP BY sex", within=4)


def _tables(session: eke.Session) -> None:
    session.release(session.plan(eke.all_marginals(session.domain, 3), budget=0.5))


def _mixed(session: eke.Session) -> None:
    domain = session.domain
    asked: list[Any] = [eke.marginal("sex", "age"), eke.marginal("city"), eke.count(age=(5, 25))]
    session.release(session.plan(Workload.of(domain, asked), budget=0.5))
    session.release(session.plan(eke.ranges(domain, "age"), budget=0.5))
    session.release(session.plan(eke.all_marginals(domain, 2), budget=0.5))


def _caps(session: eke.Session) -> None:
    _single(session)
    session.change_cap("ann", 3.0)
    session.change_limit(50.0)
    session.change_cap("ann", None)
    session.change_cap("ben", 0.0)
    session.change_limit(40.0)


def _publish(mechanism: str, **options: Any) -> Make:
    def make(session: eke.Session) -> None:
        limit: dict[str, Any] = {session.budget.measure: 2.0}
        session.publish(mechanism, **limit, **options)

    return make


def _together(*parts: Make) -> Make:
    def make(session: eke.Session) -> None:
        for part in parts:
            part(session)

    return make


HISTORIES: dict[str, Make] = {
    "empty": str,
    "single answers": _single,
    "statements in steps": _steps,
    "tables": _tables,
    "mixed blocks": _mixed,
    "max_entropy": _publish("max_entropy", rows=100),
    "pca": _publish("pca", components=2),
    "lda": _publish("lda", target="sex"),
    "caps and limits": _caps,
    "singles, then tables": _together(_single, _tables, _steps),
    "everything": _together(
        _tables,
        _single,
        _mixed,
        _steps,
        _publish("max_entropy", rows=100),
        _caps,
        _publish("pca", components=1),
        _tables,
    ),
}
SETTINGS = {
    "pure, private n": {"epsilon": 40.0, "neighbours": "add_remove"},
    "zcdp, public n": {"rho": 40.0, "neighbours": "replace_one"},
}


def advised(read: Callable[[], object]) -> object:
    """What reading gives; an error of eke's own, with a text that a reader can use, is fine."""
    try:
        return read()
    except EkeError as problem:
        found = problem
    assert len(str(found)) > 20
    return found


def python_surfaces(session: eke.Session, folder: Path) -> Iterator[Callable[[], object]]:
    history, domain = session.history, session.domain
    cell = eke.count(sex="Male", age=3, city="a")  # drawing the noise of many cells takes seconds
    yield lambda: history.estimate(cell, "monte_carlo").interval(0.9)
    for question in (
        eke.count(),
        eke.count(age=(0, 9), city="a"),
        eke.total("age"),
        eke.count(sex="Male"),
    ):
        yield partial(history.sources, question)
        yield partial(history.determines, question)
        for name in POSTERIORS:
            yield partial(_believed, history, question, name)
        for method in METHODS:
            yield partial(_estimated, session, question, method)
        for within, policy in ((30.0, "top_up"), (1e-3, "direct"), (1e-3, "look_ahead")):
            yield partial(_previewed, session, question, within, policy)
    for method in METHODS:
        yield partial(_table_estimated, session, method)
    yield lambda: [*map(repr, history), repr(history), history._repr_html_()]
    yield history.to_pandas
    yield history.to_arrow
    yield history.cell_losses
    yield lambda: [session.budget._repr_html_(), repr(session), session.shares, session.mark()]
    yield lambda: [one.plan().explain() for one in session.advise()]
    yield lambda: eke.write_report(session, folder / "report.html")
    yield lambda: session.verify(session.mark())
    plan = session.plan(eke.all_marginals(domain, 1), budget=0.01)
    yield lambda: [session.price(plan), plan.explain(), plan.errors_at([0.1, 1.0])]
    for one in session.archive.releases():
        yield partial(_released, session, one.sequence)
        for norm in NORMS:
            yield partial(_consistent, session, one.sequence, norm)
    for one in session.archive.publications():
        yield partial(_published, session, one.sequence)


def _believed(history: Any, question: Any, method: str) -> object:
    found = history.estimate(question, method)
    return [found.interval(0.9), found.probability(above=10.0), found.variance]


def _estimated(session: eke.Session, question: Any, method: Any) -> object:
    found: Any = session.estimate(question, method)
    return [found.explain(), found.to_dict(), repr(found), found.within]


def _table_estimated(session: eke.Session, method: Any) -> object:
    found: Any = session.estimate(eke.marginal("city"), method)
    return found.to_pandas()


def _previewed(session: eke.Session, question: Any, within: float, policy: str) -> object:
    found = session.preview(question, within, policy=policy)
    return [found.explain(), found._repr_html_()]


def _released(session: eke.Session, sequence: int) -> object:
    found = session.archive.release(sequence)
    return [repr(found), [(repr(table), table.to_pandas()) for table in found.tables]]


def _consistent(session: eke.Session, sequence: int, norm: Any) -> object:
    found = session.archive.release(sequence)
    return [found.consistent(norm), found.consistent(norm, nonnegative=True), found.whole()]


def _published(session: eke.Session, sequence: int) -> object:
    return session.archive.publication(sequence).to_pandas()


def command_surfaces(path: Path, session: eke.Session) -> Iterator[tuple[str, ...]]:
    place = str(path)
    for form in ((), ("--json",)):
        yield ("history", place, *form)
        yield ("budget", place, *form)
        yield ("verify", place, *form)
        for question in QUESTIONS:
            yield ("explain", place, question, *form)
            yield ("explain", place, question, "--within", "25", *form)
            yield ("preview", place, question, "--within", "25", *form)
        for method in METHODS:
            yield ("estimate", place, QUESTIONS[1], "--method", method, *form)
        for sequence in sorted({entry.sequence for entry in session.ledger_entries()}):
            yield ("explain", place, str(sequence), *form)
        yield ("plan", place, "--marginals", "1", "--budget", "0.1", *form)
    for what, forms in {
        "ledger": ("json", "csv"),
        "history": ("json", "csv"),
        "report": ("html", "json"),
        "mark": ("json",),
    }.items():
        for chosen in forms:
            yield ("export", place, what, "--format", chosen)


def web_surfaces(session: eke.Session) -> Iterator[tuple[str, str, Any]]:
    for page in ("", "/schema", "/budget", "/budget/timeline", "/budget/attributes", "/history"):
        yield "GET", page, None
    for page in ("/ledger", "/ledger/verification", "/releases", "/publications", "/jobs"):
        yield "GET", page, None
    for entry in session.ledger_entries():
        yield "GET", f"/history/{entry.sequence}", None
        yield "GET", f"/releases/{entry.sequence}", None
        yield "GET", f"/releases/{entry.sequence}/tables/0?format=csv", None
        yield "GET", f"/publications/{entry.sequence}", None
        yield "GET", f"/publications/{entry.sequence}/rows?format=csv", None
    for question in QUESTIONS:
        yield "POST", "/explain", {"sql": question, "within": 25.0}
        yield "POST", "/explain", {"sql": question}
        yield "POST", "/preview", {"sql": question, "within": 25.0}
        yield "POST", "/curve", {"sql": question, "within": [1.0, 25.0, 1e4]}
    for question in QUESTIONS:
        yield "POST", "/claim", {"sql": question, "claim": "> 5"}
    for method in METHODS:
        for question in QUESTIONS[:2]:
            yield "POST", "/estimate", {"sql": question, "method": method}
    yield "POST", "/plans", {"workload": {"all_marginals": 1}, "budget": 0.1}


@contextmanager
def served(session: eke.Session, folder: Path) -> Iterator[Server]:
    clock = Clock()
    accounts = Access(folder / "access.db", clock)
    accounts.add(Account("cleo", "curator", None))
    token = accounts.new_token("cleo").text
    settings = Settings(
        folder=folder, secure_cookies=False, requests_per_minute=10**6, answer_step=0.0
    )
    app = create_app(Datasets([("people", session)]), accounts, settings)
    with asyncio.Runner() as loop:
        yield Server(app, loop, accounts, session, clock, folder, {"cleo": token})
    app.state.eke.jobs.stop()
    accounts.close()


BOTH = ("tables", "everything")
LONG = (
    *("everything", "mixed blocks", "singles, then tables"),
    *("empty", "pca", "lda", "caps and limits"),
)
SLOW = {("tables", "pure, private n")}
PUBLIC = ("pca", "max_entropy", "caps and limits")
CASES = [
    (kind, setting)
    for kind in HISTORIES
    for setting in SETTINGS
    if kind in BOTH or (kind in PUBLIC) == (setting == "zcdp, public n")
]
SHORT = [case for case in CASES if case[0] not in LONG and case not in SLOW]


def some(ways: Iterable[Way], part: int | None) -> Iterator[Way]:
    """Every so many ways to look, from a place of its own in each part; all without a part."""
    return iter(ways) if part is None else islice(ways, part, None, len(SHORT))


@pytest.mark.parametrize(
    ("kind", "setting", "part"),
    [
        *((*case, part) for part, case in enumerate(SHORT)),
        *(pytest.param(*case, None, marks=pytest.mark.long) for case in CASES),
    ],
)
def test_every_history_can_be_read_everywhere(
    folder: Path, kind: str, setting: str, part: int | None
) -> None:
    path = folder / "people.eke"
    options: dict[str, Any] = SETTINGS[setting]
    session = eke.create(path, write_table(folder), DOMAIN, analyst="ann", **options)
    made = advised(lambda: HISTORIES[kind](session))
    if isinstance(made, EkeError):  # rows in the table's own order need a public number of rows
        assert (kind, setting) == ("everything", "pure, private n"), made
    for read in some(python_surfaces(session, folder), part):
        advised(read)
    for words in some(command_surfaces(path, session), part):
        shown = call(*words)
        assert shown.code in {0, ERROR, REFUSED}, (words, shown)
        assert shown.code == 0 or len(shown.err + shown.out) > 20, (words, shown)
        assert "Traceback" not in shown.err + shown.out
    with served(session, folder) as server:
        for method, page, body in some(web_surfaces(session), part):
            reply = server.call(method, f"/api/v1/datasets/people{page}", "cleo", body)
            assert reply.status < 500, (page, body, reply.body)
            if reply.status >= 400:
                assert len(reply.json()["message"]) > 20, (page, reply.body)
