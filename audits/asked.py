"""What strangers send: generated HTTP requests, mutated SQL, and requests that make no sense."""

from __future__ import annotations

import secrets
from collections import Counter
from typing import Any

import numpy as np
import pytest

import eke
from audits.place import memory_folder
from audits.row import Row, Scale, number
from eke.errors import EkeError
from eke.service.failure import status_of
from tests.property import test_sql_fuzz
from tests.service import Server, serving
from tests.unit.service import test_openapi
from tests.unit.service.test_bad_requests import PEOPLE, bad_bodies
from tests.unit.session import test_bad_requests as bad_questions
from tests.unit.session.conftest import DOMAIN, make_people

RATES: dict[str, Any] = {"requests_per_minute": 10**9, "failures_per_minute": 10**9}


# -- OpenAPI -------------------------------------------------------------------------------------


def openapi(scale: Scale) -> tuple[Row, ...]:
    """Requests generated from the server's own description: no 5xx, no undeclared status."""
    cases = scale.of(10_000, 60)
    with memory_folder() as folder, serving(folder, epsilon=50.0, **RATES) as server:
        seen = test_openapi.fuzz(server, cases)
        intact = server.session.verify().intact
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("eke.service.route.reading.budget_document", _broken)
            noticed = _raises(lambda: test_openapi.fuzz(server, 2000))
    tried = sum(seen.values())
    statuses = ", ".join(f"{status}: {count}" for status, count in sorted(seen.items()))
    return (
        Row(
            title="OpenAPI cases",
            samples=f"{number(tried)} cases",
            figure=f"{sum(n for s, n in seen.items() if s >= 500)} × 5xx ({statuses})",
            control="a route that fails: " + ("noticed" if noticed else "missed"),
            passed=tried >= cases and max(seen) < 500 and intact,
            caught=noticed,
        ),
    )


def _broken(*_: object, **__: object) -> None:
    raise RuntimeError("row 17: Female, 23")


def _raises(run: Any) -> bool:
    try:
        run()
    except Exception:  # noqa: BLE001 - whatever the fuzzer makes of it, it has noticed
        return True
    return False


# -- SQL -----------------------------------------------------------------------------------------

PART = 10_000


def sql(scale: Scale) -> tuple[Row, ...]:
    """Mutated texts: nothing but `SqlError`, none slower than a second."""
    parts, size = scale.of(1_000_000 // PART, 1), scale.of(PART, 800)
    accepted, seed = 0, secrets.randbits(32)
    for part in range(parts):
        accepted += test_sql_fuzz.fuzz([seed, part], size, test_sql_fuzz.QUICK)
    plain = vars(test_sql_fuzz)["parse"]

    def careless(text: str, domain: Any) -> Any:
        if "CASE" in text.upper():
            raise KeyError(text)
        return plain(text, domain)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(test_sql_fuzz, "parse", careless)
        noticed = _raises(lambda: test_sql_fuzz.fuzz([seed], 300, test_sql_fuzz.QUICK))
    return (
        Row(
            title="SQL mutations",
            samples=f"{number(parts * size)} texts",
            figure=f"0 uncaught, none over a second ({number(accepted)} accepted), seed {seed}",
            control="a parser that fails on CASE: " + ("noticed" if noticed else "missed"),
            passed=accepted > 0,  # anything else than a SqlError has ended this above
            caught=noticed,
        ),
    )


# -- bad requests --------------------------------------------------------------------------------


def bad_requests(scale: Scale) -> tuple[Row, ...]:
    """Requests that make no sense, over HTTP and in Python: a reason, and nothing spent."""
    with memory_folder() as folder:
        bodies = bad_bodies()
        most = len(bodies) if scale.full else 60
        with serving(folder, **RATES) as server:
            spent, wrong = sent(server, bodies[:: max(1, len(bodies) // most)])
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("eke.service.failure.error_document", _silent)
                _, silent = sent(server, bodies[:60])
        tried = len(bodies[:: max(1, len(bodies) // most)])
        asked = max(2000 - tried, 700) if scale.full else 70
        passed, lost = asked_badly(asked)
        _, eager = asked_badly(30, charges_first=True)
    return (
        Row(
            title="bad requests",
            samples=f"{number(tried)} over HTTP, {number(asked)} in Python",
            figure=f"{wrong + passed} without a reason or let through, {spent + lost} budgets lost",
            control=f"errors without a text: {silent} of 60 noticed; a charge before the check: "
            + ("noticed" if eager else "missed"),
            passed=wrong == passed == spent == lost == 0
            and (not scale.full or tried + asked >= 2000),
            caught=silent > 0 and eager == 1,
        ),
    )


def sent(server: Server, bodies: list[tuple[str, bytes]]) -> tuple[int, int]:
    """(1 if anything was spent or written, replies that are no 4xx with a reason)."""
    headers = {
        "Authorization": f"Bearer {server.tokens['ann']}",
        "Content-Type": "application/json",
    }
    wrong = 0
    for path, body in bodies:
        reply = server.send("POST", f"{PEOPLE}/{path}", headers, body)
        document = reply.json()
        explained = document.get("status") == reply.status and len(document.get("message", "")) > 5
        wrong += not (400 <= reply.status < 500 and explained)
    lost = server.session.budget.spent != 0 or len(server.session.ledger_entries()) != 1
    return int(lost), wrong


def _silent(problem: EkeError) -> dict[str, Any]:
    """The positive control over HTTP: an error without a reason."""
    return {"error": type(problem).__name__, "message": "", "status": status_of(problem)}


def asked_badly(count: int, *, charges_first: bool = False) -> tuple[int, int]:
    """(questions that were let through or refused without a reason, 1 if anything changed).

    One that `charges_first` is the positive control: it looks at the question when it has paid.
    """
    wide = eke.Domain({**dict(DOMAIN.attributes), "zip": eke.Integer(0, 999)})
    rows = make_people()
    rows["zip"] = np.arange(len(rows)) % 1000
    rng = np.random.default_rng()
    outcomes: Counter[str] = Counter()
    with memory_folder() as folder:
        session = eke.create(folder / "bad.eke", rows, wide, epsilon=1.0, analyst="ann")
        session.ask(eke.count(age=17), within=100)
        before = session.ledger_entries()

        def ask(*words: Any, **named: Any) -> Any:
            if charges_first:
                session.ask(eke.count(age=18), within=100)
            return session.ask(*words, **named)

        for turn in range(count):
            kind = bad_questions.KINDS[turn % len(bad_questions.KINDS)]
            try:
                kind(rng, ask)
            except EkeError as error:
                outcomes["reason" if len(str(error)) >= 20 else "silent"] += 1
            else:
                outcomes["let through"] += 1
        changed = session.ledger_entries() != before
    return outcomes["silent"] + outcomes["let through"], int(changed)
