"""Requests that plan, release and publish, and that read what was released before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import eke
from eke.codec.plan import plan_document
from eke.session import PublishRequest
from tests.privacy.replay.asking import Maker, pick, random_key, random_width
from tests.privacy.replay.neighbours import Neighbours
from tests.privacy.replay.world import World

WORKLOADS: tuple[Any, ...] = (
    [("town",)],
    [("town", "rich")],
    [("age",), ("town", "pay")],
    "SELECT town, rich, COUNT(*) FROM people GROUP BY CUBE (town, rich)",
    [eke.count(age=(1, 3)), eke.count(town="Rome")],
    [("nobody",)],
)


def random_plan(rng: np.random.Generator, pair: Neighbours) -> dict[str, Any]:
    """What `plan` is given: a workload, and a budget or an accuracy."""
    if rng.random() < 0.3:
        workload: Any = pick(
            rng, (eke.all_marginals(pair.domain, 1), eke.ranges(pair.domain, "age"))
        )
    else:
        workload = pick(rng, WORKLOADS)
    wanted: dict[str, Any] = {"workload": workload}
    if rng.random() < 0.6:
        return wanted | {"budget": float(10 ** rng.uniform(-3, 0.5))}
    return wanted | {"within": random_width(rng)}


def random_publication(rng: np.random.Generator, pair: Neighbours) -> tuple[str, dict[str, Any]]:
    """(mechanism, budget and options) of a publication."""
    budget: dict[str, Any] = {pair.measure: float(10 ** rng.uniform(-2, 0.8))}
    if rng.random() < 0.05:
        budget = {"epsilon": 1.0, "rho": 1.0}
    mechanism = str(rng.choice(["max_entropy", "history", "lda", "pca"], p=[0.15, 0.25, 0.3, 0.3]))
    if mechanism == "history":
        return "max_entropy", {"from_history": True, "rows": int(rng.integers(1, 50))}
    if mechanism == "lda":
        target = str(rng.choice(["town", "rich", "nobody"], p=[0.5, 0.45, 0.05]))
        return "lda", budget | {"target": target}
    if mechanism == "pca":
        recovery = str(rng.choice(["plain", "shrunk"]))
        components: Any = pick(rng, (1, 2, "auto"))
        return "pca", budget | {"components": components, "recovery": recovery}
    rows: dict[str, Any] = {} if rng.random() < 0.5 else {"rows": int(rng.integers(1, 50))}
    return "max_entropy", budget | rows


def published(world: World, mechanism: str, options: dict[str, Any], key: str | None) -> object:
    """All that can be seen of a publication, with the steps that it told of."""
    steps: list[Any] = []

    def tell(step: str, share: float) -> None:
        steps.append([step, share])

    made = world.session.publish(mechanism, key=key, progress=tell, most_rows=10_000, **options)
    return [steps, made.to_text(), repr(made)]


# --- the surfaces --------------------------------------------------------------------------------


def plan(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    wanted, kind = random_plan(rng, pair), rng.random()
    mechanism, options = random_publication(rng, pair)

    def do(world: World) -> object:
        session = world.session
        if kind < 0.15:
            advice = session.advise()
            return [str(advice), advice.to_pandas().to_csv()]
        if kind < 0.35:
            own = dict(options)
            epsilon, rho = own.pop("epsilon", None), own.pop("rho", None)
            return repr(session.price(PublishRequest(mechanism, epsilon, rho, own, "ann", None)))
        found = session.plan(**wanted)
        return [found.explain(), plan_document(found, session.price(found))]

    return do


def release(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    wanted, key, number = random_plan(rng, pair), random_key(rng), int(rng.integers(1, 40))
    again = bool(rng.random() < 0.2)

    def do(world: World) -> object:
        session = world.session
        if again:
            return [repr(session.archive.releases()), repr(session.archive.release(number))]
        made = session.release(session.plan(**wanted), key=key)
        tables = [table.to_pandas().to_csv() for table in made.tables]
        whole = made.workload.is_marginal
        return [repr(made), tables, repr(made.whole()) if whole else None]

    return do


def publication(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    mechanism, options = random_publication(rng, pair)
    key, number = random_key(rng), int(rng.integers(1, 40))
    again = bool(rng.random() < 0.2)

    def do(world: World) -> object:
        if again:
            archive = world.session.archive
            return [repr(archive.publications()), archive.publication(number).to_text()]
        return published(world, mechanism, options, key)

    return do


RELEASING: dict[str, Maker] = {"plan": plan, "release": release, "publication": publication}
