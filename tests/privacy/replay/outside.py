"""Requests from outside the program: commands, exports, HTTP, and publications as jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import eke
from tests.privacy.replay.asking import (
    POLICIES,
    Maker,
    pick,
    random_key,
    random_sql,
    random_width,
)
from tests.privacy.replay.neighbours import Neighbours
from tests.privacy.replay.releasing import random_publication
from tests.privacy.replay.world import World
from tests.random_questions import random_question

_TABLES: tuple[dict[str, Any], ...] = (
    {"all_marginals": 1},
    {"over": [["town", "rich"]]},
    {"ranges": [["age"]]},
    {"sql": "SELECT town, COUNT(*) FROM people GROUP BY ROLLUP (town)"},
    {"over": [["nobody"]]},
)
_READ = (
    "",
    "/schema",
    "/budget",
    "/budget/timeline",
    "/budget/attributes",
    "/history",
    "/history/{number}",
    "/ledger",
    "/ledger/verification",
    "/releases",
    "/releases/{number}",
    "/releases/{number}/tables/0?format={form}",
    "/publications",
    "/publications/{number}",
    "/publications/{number}/rows?format={form}",
    "/jobs",
)
_EXPORTS = (
    ("ledger", "json"),
    ("ledger", "csv"),
    ("history", "json"),
    ("history", "csv"),
    ("report", "html"),
    ("report", "json"),
    ("mark", "json"),
)


def command(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    """`eke …` with random words; with a table in memory it says that it cannot open it."""
    sql, within, key = random_sql(rng), f"{random_width(rng):.4g}", random_key(rng)
    form = pick(rng, ([], ["--json"]))
    keyed = [] if key is None else ["--key", key]
    spend = ["--budget", f"{10 ** rng.uniform(-3, 0.5):.4g}"]
    mechanism, options = random_publication(rng, pair)
    number = int(rng.integers(1, 40))
    words: list[list[object]] = [
        ["ask", sql, "-w", within, "--analyst", "ann", *keyed, *pick(rng, (form, ["--csv"]))],
        ["ask", sql, "--claim", pick(rng, ("> 10", "0 to 5")), "--analyst", "ann", *form],
        ["preview", sql, "-w", within, *form],
        ["estimate", random_sql(rng, linear=True), *form],
        ["plan", "--over", "town,rich", *spend, *form],
        ["release", "--over", "town,rich", *spend, "--analyst", "ann", *keyed, "--yes", *form],
        ["budget", *form],
        ["history", *form],
        ["explain", pick(rng, (number, sql)), *form],
        ["verify", *form],
        ["publish", mechanism, "--analyst", "ann", *_publish_words(options), *keyed, *form],
    ]
    chosen = pick(rng, words)

    def do(world: World) -> object:
        if chosen[0] != "publish":
            return world.command(*chosen)
        target = world.folder / "rows.csv"
        seen = world.command(*chosen, "-o", target)
        return [seen, target.read_text("utf-8") if target.exists() else None]

    return do


def _publish_words(options: dict[str, Any]) -> list[object]:
    words: list[object] = []
    for name, value in options.items():
        if name == "from_history":
            words.append("--from-history")
        elif name == "recovery":
            words += ["--option", f"recovery={value}"]
        else:
            words += [f"--{name}", value]
    return words


def export(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    what, form = pick(rng, _EXPORTS)

    def do(world: World) -> object:
        if pair.in_file:
            return world.command("export", what, "--format", form)
        session = world.session
        report = eke.write_report(session, world.folder / "report.html")
        records = session.history.to_records()
        return [records, session.mark(), session.settings, report.read_text("utf-8")]

    return do


def http(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    """One request to the server, on any route that analysts, curators or auditors have."""
    method, place, body = random_route(rng, pair)
    key, who = random_key(rng), str(rng.choice(["ann", "cleo", "otto"], p=[0.6, 0.3, 0.1]))
    headers = {} if key is None else {"Idempotency_Key": key}
    counters = bool(rng.random() < 0.05)

    def do(world: World) -> object:
        if counters:
            return world.metrics()
        return world.http(method, place, who, body, **headers)

    return do


def random_route(rng: np.random.Generator, pair: Neighbours) -> tuple[str, str, Any]:
    if rng.random() < 0.4:
        path = str(pick(rng, _READ))
        form = pick(rng, ("json", "csv", "parquet"))
        return "GET", path.format(number=int(rng.integers(1, 40)), form=form), None
    asked: dict[str, Any] = {"sql": random_sql(rng)}
    if rng.random() < 0.3:
        question = random_question(rng, pair.domain).on(pair.domain)
        asked = {"query": question.to_document()}
    wanted = asked | {"within": random_width(rng)}
    tables = {"workload": pick(rng, _TABLES), "budget": float(10 ** rng.uniform(-3, 0.5))}
    mechanism, options = random_publication(rng, pair)
    choices: list[tuple[str, str, Any]] = [
        ("POST", "/ask", wanted | {"posterior": bool(rng.random() < 0.2)}),
        ("POST", "/ask", wanted | {"policy": str(rng.choice(POLICIES))}),
        ("POST", "/preview", wanted),
        ("POST", "/estimate", asked | {"method": str(rng.choice(["blue", "shrinkage"]))}),
        ("POST", "/claim", asked | {"claim": str(rng.choice(["> 10", "0 to 5", "soon"]))}),
        ("POST", "/curve", {"sql": random_sql(rng), "within": [5.0, 50.0]}),
        ("POST", "/explain", {"sql": random_sql(rng), "within": random_width(rng)}),
        ("POST", "/plans", tables),
        ("POST", "/releases", tables),
        ("POST", "/publications/preview", publication_body(mechanism, options)),
        ("PUT", "/limit", {"limit": float(rng.uniform(0.1, 25.0))}),
    ]
    found: tuple[str, str, Any] = pick(rng, choices)
    return found


def publication_body(mechanism: str, options: dict[str, Any]) -> dict[str, Any]:
    own = dict(options)
    paid: dict[str, Any] = {name: own.pop(name) for name in ("epsilon", "rho") if name in own}
    return {"mechanism": mechanism, **paid, "options": own}


def ask_many(rng: np.random.Generator, _: Neighbours) -> Callable[[World], object]:
    asked = [
        {"sql": random_sql(rng), "within": random_width(rng)}
        for _ in range(int(rng.integers(1, 5)))
    ]
    key = random_key(rng)
    headers = {} if key is None else {"Idempotency_Key": key}

    def do(world: World) -> object:
        return world.http("POST", "/ask-many", "ann", {"questions": asked}, **headers)

    return do


def job(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    body, key = publication_body(*random_publication(rng, pair)), random_key(rng)
    headers = {} if key is None else {"Idempotency_Key": key}

    def do(world: World) -> object:
        return world.job(body, "ann", **headers)

    return do


OUTSIDE: dict[str, Maker] = {
    "command": command,
    "export": export,
    "http": http,
    "ask many": ask_many,
    "job": job,
}
