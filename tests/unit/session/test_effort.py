"""Work is bounded before it starts, in counted steps: too much of it is refused with advice.

Every free surface is asked for too much, while any planning and any inference is counted: none may
be done but a look at the first group. The control raises the bound, and the same requests are
worked on.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import QueryError
from eke.inference import Inference
from eke.planning.online import effort
from eke.planning.online.effort import MOST_STEPS, steps_for
from eke.planning.online.rent import Rent
from eke.session import Session
from eke.session.ask.aim import Aim
from eke.session.ask.estimator import Estimator
from tests.parts import in_long

DOMAIN = eke.Domain(a=eke.Integer(0, 63), b=eke.Integer(0, 63), hours=eke.Integer(0, 9))
WIDE = "SELECT a, b, COUNT(*) AS n, SUM(hours) AS s FROM t GROUP BY a, b"
CURVED = "SELECT a, b, AVG(hours) AS x FROM t GROUP BY a, b"
ONE = "SELECT a, COUNT(*) AS n FROM t WHERE hours > 3 GROUP BY a"
MANY = ", ".join(f"COUNT(*) FILTER (WHERE b < {b})" for b in range(1, 31))


class Worked(Exception):
    """Some work was begun."""


@pytest.fixture
def session(folder: Path) -> Session:
    draw = np.random.default_rng(3)
    rows = {name: draw.integers(0, size, 300) for name, size in (("a", 64), ("b", 64))}
    data = pd.DataFrame({**rows, "hours": draw.integers(0, 10, 300)})
    made = eke.create(folder / "t.eke", data, DOMAIN, epsilon=1.0)
    made.ask(eke.count(a=3), within=60)
    return made


TOO_MUCH: dict[str, tuple[Callable[[Session], object], str]] = {
    "preview": (lambda s: s.preview(WIDE, within=50), "there are 4,096 groups"),
    "columns": (
        lambda s: s.preview(f"SELECT a, {MANY} FROM t GROUP BY a", within=50),
        "select fewer columns",
    ),
    "formulas": (lambda s: s.preview(CURVED, within=1), "leave out formulas"),
    "ask": (lambda s: s.ask(WIDE, within=50), "group by fewer or coarser keys"),
    "ask for formulas": (lambda s: s.ask(CURVED, within=1), "ask for SUM and COUNT"),
    "curve": (lambda s: s.curve(ONE, list(np.arange(1.0, 600.0))), "fewer than 599 half-widths"),
    "explain": (lambda s: s.explain(WIDE, 50.0, None), "group by fewer"),
}


@pytest.mark.parametrize("surface", TOO_MUCH)
def test_too_much_is_refused_before_it_starts(
    session: Session, surface: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, advice = TOO_MUCH[surface]
    before = session.ledger_entries()
    with monkeypatch.context() as patch:
        stop_work(patch)
        with pytest.raises(QueryError, match="nothing was spent") as refusal:
            ask(session)
    text = str(refusal.value)
    assert advice.lower() in text.lower()
    assert f"{MOST_STEPS:,}" in text
    assert session.ledger_entries() == before
    with monkeypatch.context() as patch:  # the control
        stop_work(patch)
        patch.setattr(effort, "MOST_STEPS", 10**18)
        with pytest.raises(Worked):
            ask(session)


def test_an_estimate_of_too_many_cells_is_refused(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_work(monkeypatch)
    monkeypatch.setattr(effort, "MOST_STEPS", 2**29)
    asked = eke.marginal("a", "b")
    with pytest.raises(QueryError, match="marginal over fewer attributes"):
        session.estimate(asked)
    with pytest.raises(Worked):
        session.estimate(eke.marginal("a"))


def stop_work(patch: pytest.MonkeyPatch) -> None:
    """Whatever plans or infers raises from now on; each block may be looked at once."""
    estimate, looks = Inference.estimate, iter(range(2))

    def worked(*_: Any, **__: Any) -> Any:
        raise Worked

    def looked(self: Inference, query: Any) -> Any:
        if next(looks, None) is None:
            raise Worked
        return estimate(self, query)

    for kind, name in ((Inference, "linear"), (Rent, "plan"), (Estimator, "estimate")):
        patch.setattr(kind, name, worked)
    patch.setattr(Inference, "estimate", looked)


def test_steps_grow_with_what_is_asked_and_known() -> None:
    assert steps_for(1, 0, together=False) < steps_for(1, 100, together=False)
    assert steps_for(10, 100, together=False) == 10 * steps_for(1, 100, together=False)
    assert steps_for(10, 100, together=True) > steps_for(10, 100, together=False)


FIVE = "SELECT a, b, COUNT(*), SUM(hours), " + ", ".join(
    f"COUNT(*) FILTER (WHERE hours > {h})" for h in (2, 4, 6)
)


def groups_of_two(folder: Path, side: int) -> Session:
    domain = eke.Domain(
        a=eke.Integer(0, side - 1), b=eke.Integer(0, side - 1), hours=eke.Integer(0, 9)
    )
    data = pd.DataFrame({"a": [1, 2], "b": [3, 4], "hours": [5, 6]})
    return eke.create(folder / "groups.eke", data, domain, epsilon=1.0)


def test_five_aggregates_over_144_groups_are_allowed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are worked on; over many more groups they are refused before that."""
    asked = f"{FIVE} FROM t GROUP BY a, b"
    for side, outcome in ((12, Worked), (64, QueryError)):
        place = folder / str(side)
        place.mkdir()
        session = groups_of_two(place, side)
        with monkeypatch.context() as patch:
            stop_work(patch)
            with pytest.raises(outcome):
                session.preview(asked, within=1)


@pytest.mark.parametrize("side", [5, in_long(12)])
def test_five_aggregates_over_groups_are_planned_to_the_end(folder: Path, side: int) -> None:
    """What once took a minute under the lock: two plans now, in the turn of whoever asks."""
    session = groups_of_two(folder, side)
    found = session.preview(f"{FIVE} FROM t GROUP BY a, b", within=1)
    assert found.action == "refuse"
    assert found.narrowest is not None


@pytest.mark.parametrize(
    ("groups", "times"), [(16, 1.2), pytest.param(64, 2.0, marks=pytest.mark.long)]
)
def test_what_was_answered_is_answered_again_although_history_has_grown(
    folder: Path, monkeypatch: pytest.MonkeyPatch, groups: int, times: float
) -> None:
    """Its own answers made it too much to plan for; looking it up is not. Finer is refused."""
    data = pd.DataFrame(
        {"a": np.arange(640) % groups, "b": 0, "hours": np.arange(640) // groups % 10}
    )
    domain = eke.Domain(a=eke.Integer(0, groups - 1), b=DOMAIN["b"], hours=DOMAIN["hours"])
    session = eke.create(folder / "t.eke", data, domain, epsilon=100.0)
    asked = "SELECT a, AVG(hours) AS x, COUNT(*) AS n FROM t GROUP BY a"
    within = {"x": 2.0, "n": 3.0}
    first = session.ask(asked, within=within)
    assert first.cost > 0
    known, before = session._vault.snapshot().facts.inference, session.ledger_entries()
    request = session._request(asked, Aim(within), policy=None, analyst=None)
    looking, planning = request.looking_work(known), request.work(known)
    assert looking is not None
    assert times * looking.steps < planning.steps
    monkeypatch.setattr(effort, "MOST_STEPS", looking.steps)
    again = session.ask(asked, within=within)
    assert again.cost == 0
    assert again.rows == first.rows
    assert session.preview(asked, within=within).action == "history"
    for finer in ({"x": 1.0, "n": 3.0}, {"x": 2.0, "n": 1.0}):
        with pytest.raises(QueryError, match="nothing was spent"):
            session.ask(asked, within=finer)
    with pytest.raises(QueryError, match="nothing was spent"):  # a price is always planned for
        session.ask(asked, spend=0.5)
    assert session.ledger_entries() == before
