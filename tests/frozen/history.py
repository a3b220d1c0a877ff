"""What was done to the frozen datasets: everything that leaves an entry of its own kind.

The same is done again by today's code with the same noise, names and times (`tape.py`): what it
stores must be what was stored then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

import eke
from eke.data.row_sample import RowSample
from eke.errors import Refused
from eke.planning import Facts
from tests.privacy.replay.tape import Tape, forced

DOMAIN = eke.Domain(
    age=eke.Integer(18, 65, null=eke.Replace(18), outside=eke.Replace(18)),
    town=eke.Categorical("Rome", "Oslo", "Bonn", null="bucket", outside="bucket"),
    rich=eke.Boolean(null=eke.Replace(False), outside=eke.Replace(False)),
    pay=eke.Binned([0, 10, 20, 40], null="bucket", outside="bucket"),
)
SETTINGS: dict[str, dict[str, Any]] = {
    "epsilon": {"epsilon": 40.0},
    "rho": {"rho": 40.0, "neighbours": "replace_one"},
    "unit": {"rho": 40.0, "unit": eke.Unit("id", rows=3)},
}
AVERAGES = "SELECT town, COUNT(*) AS people, AVG(age) AS years FROM people GROUP BY town"


def people() -> pd.DataFrame:
    """The table of all frozen datasets."""
    rows = np.arange(400)
    return pd.DataFrame(
        {
            "age": 18 + rows * 7 % 48,
            "town": [("Rome", "Oslo", "Bonn", None)[row * 13 % 11 % 4] for row in rows],
            "rich": rows % 5 == 0,
            "pay": rows * 13 % 90 / 2,
            "id": rows * 31 % 150,
        }
    )


Act = Callable[[eke.Session], object]


def acts(name: str) -> Iterator[Act]:
    """One request after the other, each with a key of its own."""
    measure = "epsilon" if "epsilon" in SETTINGS[name] else "rho"
    budget = 4.5 if name == "unit" else 0.5  # of a unit; a budget was for a row of it once
    yield lambda s: s.ask(eke.count(age=(30, 40)), 30, key="count")
    yield lambda s: s.ask(eke.count(age=(30, 40)), 60, key="free")
    yield lambda s: s.ask("SELECT COUNT(*) FROM people WHERE age BETWEEN 30 AND 40", 12, key="sql")
    yield lambda s: s.ask(eke.marginal("town", "rich"), 40, 0.9, key="marginal")
    yield lambda s: s.ask(AVERAGES, {"people": 30, "years": 6}, key="steps", analyst="bob")
    yield lambda s: s.ask("SELECT SUM(age) FROM people WHERE rich", 3000, key="sum")
    yield lambda s: s.ask(eke.count(pay=(10, 20)), 25, key="ahead", policy="look_ahead")
    yield _by_the_curator
    yield _refused
    yield lambda s: s.release(s.plan(eke.all_marginals(DOMAIN, 2), budget=budget), key="tables")
    for mechanism, options in PUBLISHED[name].items():
        yield partial(_publish, mechanism, {measure: 1.0, **options})
    yield _at_the_end


PUBLISHED: dict[str, dict[str, dict[str, Any]]] = {
    "epsilon": {"max_entropy": {"rows": 20}, "lda": {"target": "town", "rows": 20}},
    "rho": {"max_entropy": {"rows": 20}, "lda": {"target": "rich", "rows": 20}, "pca": {}},
    "unit": {"max_entropy": {"rows": 20}},
}


def _by_the_curator(session: eke.Session) -> None:
    session.change_cap("bob", 30.0, by="cleo")
    session.change_limit(60.0, by="cleo")


def _at_the_end(session: eke.Session) -> None:
    session.change_cap("bob", None, by="cleo")


def asked(name: str) -> Iterator[Act]:
    """The requests of analysts among them, which can be repeated."""
    return (act for act in acts(name) if act not in (_by_the_curator, _at_the_end))


def _publish(mechanism: str, options: dict[str, Any], session: eke.Session) -> object:
    return session.publish(mechanism, key=mechanism, **options)


def _refused(session: eke.Session) -> None:
    with suppress(Refused):
        session.ask(eke.count(), 1e-6, key="refused")


@contextmanager
def played(name: str, place: Path | str, seed: int = 14) -> Iterator[eke.Session]:
    """The history, made by today's code with the noise, names and times that were frozen.

    What is random but not on the tape is left out: the key that rows of an id are kept by, and the
    noise of refining, so that what is measured again is averaged.
    """
    with (
        forced(Tape(seed)),
        patch.object(RowSample, "draw", lambda: None),
        patch.object(Facts, "refinable", lambda *_: None),
    ):
        session = eke.create(place, people(), DOMAIN, analyst="ann", **SETTINGS[name])
        for act in acts(name):
            act(session)
        yield session
