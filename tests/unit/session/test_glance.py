"""Glances at a ledger say what the session says, whatever was measured."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import eke
from eke.errors import LedgerError
from eke.ledger import Ledger
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, Laplace
from eke.query import Expression, MarginalExpression
from eke.session.glance import glance
from eke.session.records import described, records, variance_of

DOMAIN = eke.Domain(
    zone=eke.Categorical("b", "a", "c d", null="bucket"),
    age=eke.Integer(-2, 40),
    hours=eke.Binned([0, 10, 20.5, 60], null="bucket"),
    member=eke.Boolean(),
)
TABLE = pd.DataFrame(
    {
        "zone": ["a", "b", None, "c d"] * 25,
        "age": list(range(-2, 38)) * 2 + [5] * 20,
        "hours": [1.0, 12.0, 30.0, None] * 25,
        "member": [True, False] * 50,
    }
)
ASKED: tuple[Expression | MarginalExpression, ...] = (
    eke.count(),
    eke.count(age=(3, 9), zone="a"),
    eke.count(zone=["a", "b"], member=True),
    eke.count(zone=None, hours=(0, 20.5)),
    eke.total("age"),
    eke.total("age", zone="c d"),
    eke.moment(age=2, hours=1),
    eke.total("hours") / 3 - 2 * eke.count(member=False),
    eke.count(age=[1, 3, 5, 7, 9, 11]),
    eke.count(age=(3, 9)) + eke.count(zone="b") / 7 + 0.1 * eke.total("age", member=True),
    eke.marginal("zone", "member"),
)


@pytest.fixture(scope="module", params=["epsilon", "rho"])
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> object:
    """A dataset in which every kind of block was measured, by two analysts."""
    path = tmp_path_factory.mktemp("glance") / "people.eke"
    limit: dict[str, float] = {request.param: 1e8}
    made = eke.create(path, TABLE, DOMAIN, analyst="ann", **limit)  # type: ignore[arg-type]
    for number, asked in enumerate(ASKED):
        made.ask(asked, within=30.0, policy="direct", analyst="ben" if number % 2 else None)
    made.release(made.plan(eke.marginals_up_to(DOMAIN, 2), budget=2.0, strategy="residuals"))
    made.release(made.plan(eke.prefixes(DOMAIN, "age"), budget=1.0))
    made.ask("SELECT zone, AVG(age) FROM people GROUP BY zone", within=5)
    return made, path


def test_records_are_those_of_the_history(session: tuple[eke.Session, Path]) -> None:
    opened, path = session
    expected = opened.history.to_records()
    kinds = {type(m.query).__name__ for m in opened.history}
    assert kinds == {"Query", "Marginal", "Kronecker"}, "every kind is among them"
    seen = glance(path)
    assert records(seen) == (expected, 0)
    for last in (1, 2, 3, len(expected) - 1, len(expected), len(expected) + 5):
        shown = expected[-last:]
        assert records(seen, last) == (shown, len(expected) - len(shown))


def test_budget_and_settings_are_those_of_the_session(session: tuple[eke.Session, Path]) -> None:
    opened, path = session
    seen = glance(path)
    assert seen.budget == opened.budget
    assert seen.settings == opened.settings
    assert seen.caps == {}
    opened.change_cap("ann", 2.0)
    opened.change_cap("ben", 3.0)
    opened.change_cap("ann", None)
    assert glance(path).caps == {"ben": opened.shares.caps["ben"]}
    assert opened.shares.caps.keys() == {"ben"}


def test_a_block_is_described_as_it_describes_itself() -> None:
    for asked in ASKED:
        block = asked.on(DOMAIN)
        assert described(DOMAIN, block.to_document()) == block.description


@pytest.mark.parametrize(
    "law", [DiscreteLaplace(7, -3), DiscreteGaussian(2, 1), DiscreteGaussian(9, -4), Laplace(2.5)]
)
def test_the_variance_of_a_law_is_its_own(law: Laplace) -> None:
    assert variance_of(law.to_json()) == law.variance


def test_other_ledgers_are_no_datasets(tmp_path: Path) -> None:
    Ledger.create(tmp_path / "other.eke", {"format": "something/1"}, 100)
    with pytest.raises(LedgerError, match="not a dataset"):
        glance(tmp_path / "other.eke")
