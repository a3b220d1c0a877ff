"""Crashes on whole releases, run in an interpreter of its own so that it may fork freely.

`python release_driver.py <scenario> <place> <number>` prints one JSON object; the place is a
folder, or a PostgreSQL address that ends where the name of a dataset goes on. The tests in
`test_release_crashes.py` start it and judge the figures; `race_driver.py` holds the races.

Everything is loaded once, in the parent; the children are forked from it. The protected table is
read once, too: what is tested is the path from a question to its answer.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import eke
from eke.data import open_source
from eke.engine import Vault
from eke.engine.draws import Draws
from eke.errors import LedgerError
from eke.ledger import Entry
from eke.ledger.failpoint import FAILPOINTS, VARIABLE
from eke.planning import Plan
from eke.privacy.accountant import Accountant
from eke.privacy.measures import measure_named
from eke.query import Expression
from eke.session import opening
from tests.system.ledger_driver import dataset, listen

WITHIN = 60.0
KILLS_A_LEDGER = 8
DOMAIN = eke.Domain(age=eke.Integer(0, 79), sex=eke.Categorical("F", "M"))
ROWS = pd.DataFrame({"age": np.arange(3000) % 80, "sex": np.where(np.arange(3000) % 3, "F", "M")})
SOURCE = open_source(ROWS, DOMAIN)
vars(eke.data)["open_source"] = lambda *_arguments, **_options: SOURCE
vars(opening)["reopen_source"] = vars(eke.data)["open_source"]


def question(number: int) -> Expression:
    """Overlapping ranges, all around age 40: nobody's questions are disjoint from the others'."""
    return eke.count(age=(number * 7 % 40, 41 + number * 11 % 39))


def ask(session: eke.Session, number: int, key: str) -> str:
    """The answer as text; about every third question is answered from history."""
    answer = session.ask(question(number // 3), within=40 - number % 3, key=key)
    return json.dumps([answer.value, *answer.interval, answer.receipt.cost_nano])


def create(where: str, **limit: Any) -> eke.Session:
    return eke.create(where, ROWS, DOMAIN, analyst="ann", **limit)


# --- crashes -------------------------------------------------------------------------------------


def victim(session: eke.Session, numbers: list[int], fatal: str | None) -> tuple[int, int]:
    """A forked child that asks question after question, and the pipe on which it says so."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        if fatal is not None:
            os.environ[VARIABLE] = fatal
        status = 1
        with suppress(BaseException):
            for number in numbers:
                os.write(writer, f"started {number}\n".encode())
                text = ask(session, number, f"key-{number}").replace(" ", "")
                os.write(writer, f"released {number} {text}\n".encode())
            status = 0
        os._exit(status)
    os.close(writer)
    return child, reader


def autopsy(where: str, said: list[list[str]]) -> tuple[list[str], str]:
    """What is wrong after a crash, and in which state the last key was found."""
    problems = []
    session = eke.open(where, analyst="ann")  # walks the chain and raises when it does not hold
    ledger = session._vault.ledger
    for number, text in (line[1:] for line in said if line[0] == "released"):
        request = ledger.find("ann", f"key-{number}")
        if request is None or request.answer is None:
            problems.append(f"{number} was released without a record")
        elif json.loads(text) != shown_in(request.answer):
            problems.append(f"{number} was released with another value than the stored one")
    last = int(said[-1][1])
    before = ledger.find("ann", f"key-{last}")
    found = "nothing" if before is None else before.state
    problems += [f"before the retry: {text}" for text in wrong_books(session.ledger_entries())]
    retries = [ask(eke.open(where, analyst="ann"), last, f"key-{last}") for _ in range(2)]
    after = ledger.find("ann", f"key-{last}")
    assert after is not None
    if before is not None and before.answer is not None and after.answer != before.answer:
        problems.append(f"the stored answer of {last} has changed")
    if len({*retries, json.dumps(shown_in(str(after.answer)))}) != 1:
        problems.append(f"{last} got several answers")
    entries = session.ledger_entries()
    charges = [e for e in entries if e.kind == "reserve" and e.about["key"] == f"key-{last}"]
    if len(charges) > 1 or (
        before is not None and charges and charges[0].sequence > before.sequence
    ):
        problems.append(f"{last} was charged twice")
    report = session.verify()
    problems.extend(report.problems)
    problems.extend(wrong_books(entries))
    if report.open_reservations:
        problems.append("a charge without an answer remains after the retry")
    return problems, found


def wrong_books(entries: list[Entry]) -> list[str]:
    """Whatever a fresh accountant, who has nothing but the log, finds wrong with it."""
    problems = []
    settings: Any = entries[0].payload
    accountant = Accountant(DOMAIN, measure_named(settings["measure"]), settings["neighbours"])
    limit = int(str(entries[0].about["limit"]))
    reserved: dict[int, bool] = {}
    for entry in entries:
        if entry.kind == "reserve":
            plan = Plan.from_document(DOMAIN, entry.payload["plan"])  # type: ignore[arg-type]
            measured = [(p.query, p.charged) for p in plan.parts]
            after = accountant.after_all(measured, limit, plan.flat_loss)
            if plan.later_loss != sum(choice.price(accountant) for choice in plan.choices):
                problems.append(f"entry {entry.sequence} charged something else than its choices")
            if after != entry.about["spent_after"]:
                problems.append(f"entry {entry.sequence} charged something else than the loss")
            if entry.payload["cost"] != after - accountant.spent:
                problems.append(f"entry {entry.sequence} states a wrong cost")
            if after > limit:
                problems.append(f"entry {entry.sequence} passed the limit")
            for part in plan.parts:
                accountant.add(part.query, part.charged, after)
            accountant.charge_everyone(plan.flat_loss, after)
            reserved[entry.sequence] = False
        elif entry.kind == "commit":
            if reserved.get(int(str(entry.about["reservation"])), True):
                problems.append(f"entry {entry.sequence} commits without a charge")
            reserved[int(str(entry.about["reservation"]))] = True
    drawn = [
        (entry.payload["reservation"], one["place"])
        for entry in entries
        if entry.kind == "draw"
        for one in entry.payload["draws"]  # type: ignore[attr-defined]
    ]
    if len(set(drawn)) != len(drawn):
        problems.append("one charge was drawn twice for")
    return problems


def shown_in(answer: str) -> list[float]:
    """What a stored answer shows: value, interval and cost."""
    document = json.loads(answer)
    value, low, high, _ = document["cells"][0]
    return [value, low, high, document["receipt"]["cost_nano"]]


def random_kills(place: str, runs: int) -> dict[str, object]:
    """Children killed at random instants; a new ledger now and then keeps the checks short."""
    problems: list[str] = []
    found = {"nothing": 0, "reserved": 0, "committed": 0}
    killed = 0
    where = ""
    for run in range(runs):
        if run % KILLS_A_LEDGER == 0:
            where = dataset(place, f"kill_{run}")
            create(where, epsilon=1000.0)
        session = eke.open(where, analyst="ann")
        first = 1000 * run
        begun = time.perf_counter()
        ask(session, first, f"warm-{run}")
        duration = time.perf_counter() - begun  # of a release now, on this machine, with this load
        child, reader = victim(session, list(range(first + 3, first + 1000)), None)
        select.select([reader], [], [])
        time.sleep(random.uniform(0.0, 3.0) * duration)
        os.kill(child, signal.SIGKILL)
        killed += os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        wrong, state = autopsy(where, listen(reader))
        problems.extend(wrong)
        found[state] += 1
    return {"killed": killed, "found": found, "problems": problems}


def failpoints(place: str, passes: int) -> dict[str, object]:
    """Children that die at each failpoint, in the reservation and in the commit."""
    problems: list[str] = []
    died: list[str] = []
    found: dict[str, str] = {}
    for name in (name for name in FAILPOINTS if ".create." not in name):
        for number in range(1, (1 if name.startswith("engine.") else passes) + 1):
            place_of_death = f"{name}@{number}"
            where = dataset(place, f"{name}-{number}".replace(".", "-"))
            session = create(where, epsilon=10.0)
            child, reader = victim(session, [0], place_of_death)
            if os.WIFSIGNALED(os.waitpid(child, 0)[1]):
                died.append(place_of_death)
            wrong, found[place_of_death] = autopsy(where, listen(reader))
            problems.extend(f"{place_of_death}: {text}" for text in wrong)
    for name in (name for name in FAILPOINTS if ".create." in name):
        where = dataset(place, name.replace(".", "-"))
        child = os.fork()
        if child == 0:
            os.environ[VARIABLE] = name
            create(where, epsilon=1.0)
            os._exit(0)
        if os.WIFSIGNALED(os.waitpid(child, 0)[1]):
            died.append(name)
        elif "claimed" in name and "://" in where:
            continue  # a server has no file to claim: the child came through
        try:
            eke.open(where)
            problems.append(f"{name}: half a dataset was opened")
        except LedgerError:
            if "://" not in where:
                Path(where).unlink()
            create(where, epsilon=1.0).verify().require()
    return {"names": list(FAILPOINTS), "died": died, "found": found, "problems": problems}


def careless(place: str, runs: int) -> dict[str, object]:
    """The positive control: the value goes out before it is stored, then the process dies."""
    problems: list[str] = []

    def careless_commit(self: Vault, reservation: int, released: Any, *_: Any) -> str:
        value = released[0][0].values[0]
        receipt = dict.fromkeys(("question", "noise", "source"), "measured") | dict.fromkeys(
            ("within", "confidence", "price_nano", "known", "spent_nano"), 1.0
        )
        receipt |= {"cost_nano": 1, "measure": "epsilon", "limit_nano": 1, "through": 1}
        return json.dumps({"cells": [[value, value - 1, value + 1, 1.0]], "receipt": receipt})

    original = Vault._commit
    for run in range(runs):
        where = dataset(place, f"careless_{run}")
        session = create(where, epsilon=10.0)
        Vault._commit = careless_commit  # type: ignore[assignment, method-assign]
        child, reader = victim(session, [0], None)
        os.waitpid(child, 0)
        Vault._commit = original  # type: ignore[method-assign]
        problems.extend(autopsy(where, listen(reader))[0])
    return {"problems": problems}


def forgetful(place: str, runs: int) -> dict[str, object]:
    """The positive control of the draws: a retry that forgets what its charge was used for."""
    problems: list[str] = []
    original = Draws._take_in
    for run in range(runs):
        where = dataset(place, f"forgetful_{run}")
        session = create(where, epsilon=10.0)
        child, reader = victim(session, [0], "engine.stored")
        os.waitpid(child, 0)
        Draws._take_in = lambda *_: None  # type: ignore[method-assign]
        problems.extend(autopsy(where, listen(reader))[0])
        Draws._take_in = original  # type: ignore[method-assign]
    return {"problems": problems}


def uncharged(place: str, runs: int) -> dict[str, object]:
    """The positive control of the books: a charge of half the loss is noticed."""
    problems: list[str] = []
    original = Accountant.after_all
    for run in range(runs):
        session = create(dataset(place, f"half_{run}"), epsilon=10.0)
        Accountant.after_all = lambda self, *rest: original(self, *rest) // 2  # type: ignore[method-assign]
        ask(session, 0, "key-0")
        Accountant.after_all = original  # type: ignore[method-assign]
        problems.extend(wrong_books(session.ledger_entries()))
    return {"problems": problems}


def controls(place: str, runs: int) -> dict[str, object]:
    """All positive controls, for what is loaded once."""
    each = (careless, forgetful, uncharged)
    return {"problems": {one.__name__: one(place, runs)["problems"] for one in each}}


def choose(session: eke.Session) -> str:
    """A chosen quantile as text; it takes one charge."""
    chosen = session.ask(eke.quantile("age", 0.7, sex="F").chosen(), spend=0.2, key="key")
    return json.dumps([chosen.value, chosen.rank_error, chosen.receipt.cost_nano])


def choices(place: str, passes: int) -> dict[str, object]:
    """Children that die at each failpoint of a choice; the same key then gives one answer."""
    problems: list[str] = []
    died = 0
    for name in (name for name in FAILPOINTS if ".create." not in name):
        for number in range(1, passes + 1):
            where = dataset(place, f"chosen-{name}-{number}".replace(".", "-"))
            session = create(where, epsilon=0.3)  # enough for one charge, and not for two
            child = os.fork()
            if child == 0:
                os.environ[VARIABLE] = f"{name}@{number}"
                choose(session)
                os._exit(0)
            died += os.WIFSIGNALED(os.waitpid(child, 0)[1])
            wrong = wrong_books(session.ledger_entries())
            again = {choose(eke.open(where, analyst="ann")) for _ in range(2)}
            entries, report = session.ledger_entries(), session.verify()
            kinds = [entry.kind for entry in entries]
            wrong += [*report.problems, *wrong_books(entries)]
            if len(again) != 1 or report.open_reservations or len(session.history.choices) != 1:
                wrong.append(f"not one answer: {sorted(again)}")
            if (kinds.count("reserve"), kinds.count("draw")) != (1, 1):
                wrong.append("charged or drawn twice")
            problems.extend(f"{name}@{number}: {text}" for text in wrong)
    return {"died": died, "problems": problems}


SCENARIOS: dict[str, Callable[[str, int], dict[str, object]]] = {
    "random_kills": random_kills,
    "failpoints": failpoints,
    "choices": choices,
    "careless": careless,
    "forgetful": forgetful,
    "uncharged": uncharged,
    "controls": controls,
}

if __name__ == "__main__":
    scenario, where, count = sys.argv[1:]
    sys.stdout.write(json.dumps(SCENARIOS[scenario](where, int(count))))
