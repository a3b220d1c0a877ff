"""Requests that ask: with query objects, in SQL, many at once, through DB-API; and that look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import eke
from eke import dbapi
from tests.privacy.replay.neighbours import TOWNS, Neighbours
from tests.privacy.replay.world import World
from tests.random_questions import random_question


@dataclass(frozen=True, slots=True)
class Act:
    """Something that an outsider does, on one of the surfaces."""

    family: str
    do: Callable[[World], object]


Maker = Callable[[np.random.Generator, Neighbours], Callable[[World], object]]
POLICIES = ("top_up", "look_ahead", "direct")
BAD: tuple[dict[str, Any], ...] = (
    {"within": -1},
    {"within": "narrow"},
    {"confidence": 1.0},
    {"query": eke.count(nobody=3)},
    {"query": "SELECT"},
    {"key": ""},
    {"policy": "best"},
)
BAD_SQL = (
    "SELECT",
    "SELECT * FROM people",
    "SELECT town FROM people",
    "SELECT COUNT(*) FROM people WHERE nobody = 3",
    "SELECT MAX(age) FROM people",
    "SELECT COUNT(*) FROM people WHERE age > 'x'",
)


def pick(rng: np.random.Generator, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def random_width(rng: np.random.Generator) -> float:
    return float(10 ** rng.uniform(-0.3, 3.5))


def random_key(rng: np.random.Generator) -> str | None:
    """A key that may have been used before, or none."""
    return None if rng.random() < 0.5 else f"key-{int(rng.integers(0, 12))}"


def random_condition(rng: np.random.Generator) -> str:
    low, high = sorted(int(x) for x in rng.integers(0, 6, size=2))
    town = pick(rng, TOWNS)
    atoms = (
        f"age BETWEEN {low} AND {high}",
        f"town = '{town}'",
        f"town IN ('{town}', 'Oslo')",
        "town LIKE '%o%'",
        "town IS NULL",
        "rich",
        "pay >= 10",
        "NOT old",
        f"(age > {low} OR town <> '{town}')",
    )
    chosen = [str(pick(rng, atoms)) for _ in range(int(rng.integers(1, 3)))]
    return " AND ".join(dict.fromkeys(chosen))


def random_sql(rng: np.random.Generator, *, linear: bool = False) -> str:
    """A question in SQL; a `linear` one is a single count or sum."""
    if rng.random() < 0.06:
        return str(pick(rng, BAD_SQL))
    where = f" WHERE {random_condition(rng)}" if rng.random() < 0.6 else ""
    join = pick(rng, ("", "", "", " JOIN towns USING (town)", " LEFT JOIN towns USING (town)"))
    where = join + where
    if linear or rng.random() < 0.4:
        aggregate = pick(rng, ("COUNT(*)", "COUNT(DISTINCT id)", "SUM(age)", "SUM(pay)"))
        return f"SELECT {aggregate} FROM people{where}"
    keys = pick(rng, ("town", "rich", "town, rich", "age", "pay", "old"))
    keys = "country" if join and rng.random() < 0.5 else keys
    aggregate = pick(
        rng,
        (
            *("COUNT(*) AS n", "SUM(age) AS n", "AVG(age) AS n", "MEDIAN(age) AS n"),
            *("COUNT(DISTINCT id) AS n", "SUM(age) / COUNT(DISTINCT id) AS n"),
        ),
    )
    if rng.random() < 0.2:
        formula = pick(rng, ("AVG(age)", "MEDIAN(age)", "QUANTILE_DISC(pay, 0.9)"))
        return f"SELECT {formula} AS n FROM people{where}"
    text = f"SELECT {keys}, {aggregate} FROM people{where} GROUP BY {keys}"
    if rng.random() < 0.4:
        text += f" HAVING COUNT(*) > {int(rng.integers(0, 30))}"
    if rng.random() < 0.4:
        text += f" ORDER BY n DESC LIMIT {int(rng.integers(1, 4))}"
    return text


def shown(answer: Any) -> list[object]:
    """All that can be seen of an answer."""
    seen = [repr(answer), answer.explain(), answer.to_pandas().to_csv()]
    if hasattr(answer, "to_json"):
        seen.append(answer.to_json())
    return seen


# --- the surfaces --------------------------------------------------------------------------------


def query(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    wanted: dict[str, Any] = {
        "query": random_question(rng, pair.domain, blocks=0.25),
        "within": random_width(rng),
        "confidence": float(rng.choice([0.5, 0.9, 0.95, 0.999])),
        "policy": str(rng.choice(POLICIES)),
        "analyst": str(rng.choice(["ann", "bob"])),
        "key": random_key(rng),
        "allow_estimate": bool(rng.random() < 0.05),
    }
    if rng.random() < 0.1:
        wanted |= pick(rng, BAD)

    def do(world: World) -> object:
        found = world.session.ask(**wanted)
        return shown(found) if hasattr(found, "receipt") else repr(found)

    return do


def sql(rng: np.random.Generator, _: Neighbours) -> Callable[[World], object]:
    text, within, key = random_sql(rng), random_width(rng), random_key(rng)
    policy, drawn = str(rng.choice(POLICIES)), bool(rng.random() < 0.1)

    def do(world: World) -> object:
        answer = world.session.ask(text, within, key=key, policy=policy)
        return [*shown(answer), answer._repr_html_() if drawn else None]

    return do


def database(rng: np.random.Generator, _: Neighbours) -> Callable[[World], object]:
    text, within = random_sql(rng), random_width(rng)

    def do(world: World) -> object:
        with dbapi.connect(world.session, within) as connection:
            cursor = connection.cursor().execute(text)
            return [repr(cursor.description), cursor.rowcount, cursor.fetchall()]

    return do


def choice(rng: np.random.Generator, _: Neighbours) -> Callable[[World], object]:
    """A chosen quantile, for a price or within a share of the records, and looks at it."""
    where = f" WHERE {random_condition(rng)}" if rng.random() < 0.4 else ""
    share = pick(rng, ("MEDIAN({})", "QUANTILE({}, 0.9)", "QUANTILE({}, 0.25)"))
    text = f"SELECT CHOSEN_{share.format(pick(rng, ('age', 'pay')))} FROM people{where}"
    aim: dict[str, Any] = {"spend": float(10 ** rng.uniform(-3, -0.5)), "key": random_key(rng)}
    if rng.random() < 0.4:
        aim = {"within": f"{rng.uniform(2, 60):.3g} %", "key": random_key(rng)}
    if rng.random() < 0.1:
        aim = {"within": 5}

    def do(world: World) -> object:
        seen = [*shown(world.session.ask(text, **aim))]
        return [*seen, world.session.preview(text, spend=0.5).explain(), world.session.history]

    return do


def explanation(rng: np.random.Generator, _: Neighbours) -> Callable[[World], object]:
    text, within, number = random_sql(rng), random_width(rng), int(rng.integers(1, 40))
    kind = int(rng.integers(5))

    def do(world: World) -> object:
        session = world.session
        if kind == 0:
            return session.measurement(number)
        if kind == 1:
            found = session.preview(text, within)
            return [repr(found), found.explain(), found._repr_html_()]
        if kind == 2:
            entry = session.history[number % max(len(session.history), 1)]
            return [repr(entry), repr(session.history), session.history._repr_html_()]
        if kind == 3:
            return [
                repr(session),
                repr(session.budget),
                repr(session.shares),
                str(session.verify()),
            ]
        return session.explain(text, within, None)

    return do


def estimate(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    asked: Any = random_sql(rng, linear=True)
    if rng.random() < 0.5:
        asked = random_question(rng, pair.domain, blocks=0.3)
    method = str(rng.choice(["blue", "shrinkage", "max_entropy"], p=[0.45, 0.45, 0.1]))

    def do(world: World) -> object:
        found: Any = world.session.estimate(asked, method)  # type: ignore[arg-type]
        if hasattr(found, "cells"):
            return found.to_pandas().to_csv()
        return [found.to_dict(), found.explain(), repr(found)]

    return do


def claim(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    asked: Any = random_sql(rng)
    if rng.random() < 0.5:
        asked = random_question(rng, pair.domain, blocks=0.3)
    said = pick(rng, ("> 10", "<= 0", "-5 to 1e3", ">= 2020-01-01", "about 7"))

    def do(world: World) -> object:
        found = world.session.claim(asked, str(said))
        return [found.to_dict(), repr(found)]

    return do


ASKING: dict[str, Maker] = {
    "query": query,
    "sql": sql,
    "database": database,
    "choice": choice,
    "explanation": explanation,
    "estimate": estimate,
    "claim": claim,
}
