"""Averages that are accurate where a group is large: plans, promises and what is said of others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import AccuracyError, KeyConflict, Refused
from eke.planning.online import known_formulas

SIZES = {"A": 9000, "B": 5000, "C": 1200, "D": 700, "E": 60, "F": 0}
DOMAIN = eke.Domain(age=eke.Integer(18, 67), carrier=eke.Categorical(*SIZES))
BY_CARRIER = "SELECT carrier, AVG(age) AS a FROM people GROUP BY carrier"


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    carriers = [name for name, size in SIZES.items() for _ in range(size)]
    return pd.DataFrame({"age": rng.integers(18, 68, len(carriers)), "carrier": carriers})


@pytest.fixture
def session(people: pd.DataFrame, folder: Path) -> eke.Session:
    return eke.create(folder / "people.eke", people, DOMAIN, analyst="ann", epsilon=1.0)


def halves(answer: eke.Answer) -> dict[str, float]:
    return {
        key: (high - low) / 2
        for (key,), (low, high) in zip(answer.keys, answer.intervals, strict=True)
    }


def test_large_groups_are_accurate_and_small_ones_say_what_they_are(session, people):
    with pytest.raises(Refused, match=r"groups_of=1000, or FOR GROUPS OF 1000 in SQL"):
        session.ask(BY_CARRIER, within=1)
    answer = session.ask(BY_CARRIER, within=1, groups_of=1000)
    widths = halves(answer)
    assert max(widths[name] for name in "ABC") <= 1
    assert widths["D"] / widths["C"] == pytest.approx(1200 / 700, rel=0.25), "the same noise"
    # The noise of a small group may look like people: of 30 runs E had 8.8 or more, F 16.5 or more.
    assert min(widths["E"], widths["F"]) > 4, "little is known of a small or an empty group"
    wider = sum(width > 1 for width in widths.values())
    assert answer.caveats[0] == (
        f"{wider} of 6 groups have fewer than 1,000 records, by the estimates: what the same noise "
        "gives there is wider than asked for."
    )
    for (key,), value in zip(answer.keys, answer.values, strict=True):
        if SIZES[key] > 1000:
            assert abs(value - people["age"][people["carrier"] == key].mean()) < 4
    assert answer.receipt.groups_of == 1000
    assert session.ask(f"{BY_CARRIER} ERROR WITHIN 1 FOR GROUPS OF 1000").free
    assert session.ask(f"{BY_CARRIER} FOR GROUPS OF 1000", within=1).free
    assert session.ask(f"{BY_CARRIER} AT CONFIDENCE 0.95", within=1, groups_of=1000).free
    for twice in (
        {"within": 1, "groups_of": 1000},
        {"within": 1, "confidence": 0.95},
        {"spend": 1},
    ):
        said = f"{BY_CARRIER} ERROR WITHIN 1" if "spend" in twice else BY_CARRIER
        with pytest.raises(AccuracyError, match="given twice"):
            session.ask(f"{said} AT CONFIDENCE 0.95 FOR GROUPS OF 1000", **twice)
    again = session.ask(BY_CARRIER, within=1, groups_of=1000)
    assert "in groups of 1,000 records or more" in again.explain()


def test_larger_groups_cost_less_and_none_smaller_costs_the_same(session):
    """The price falls with the size of the groups, and groups that are larger keep theirs."""
    session.ask("SELECT carrier, COUNT(*), SUM(age) FROM people GROUP BY carrier",
                within={"COUNT(*)": 40, "SUM(age)": 3000})  # fmt: skip
    prices = [
        session.preview(BY_CARRIER, within=0.2, groups_of=size).cost for size in (400, 1000, 5000)
    ]
    assert prices[0] > prices[1] > prices[2] > 0
    assert 2 < prices[0] / prices[1] < 4, "about as 1,000 to 400"
    large = "SELECT carrier, AVG(age) AS a FROM people WHERE carrier IN ('A') GROUP BY carrier"
    same = [session.preview(large, within=0.1, groups_of=size).cost for size in (1, 100, 8000)]
    assert same[0] == same[1] == same[2] == session.preview(large, within=0.1).cost


def test_every_group_may_be_smaller(session):
    """Then all get what groups of that size would make do with; it is no free ride."""
    session.ask("SELECT carrier, COUNT(*), SUM(age) FROM people GROUP BY carrier",
                within={"COUNT(*)": 60, "SUM(age)": 4000})  # fmt: skip
    preview = session.preview(BY_CARRIER, within=0.05, groups_of=20_000)
    assert preview.action == "measure"
    widths = halves(session.ask(BY_CARRIER, within=0.05, groups_of=20_000))
    assert 0.05 < widths["A"] < 0.05 * 3
    assert widths["A"] < widths["B"] < widths["C"] < widths["D"]


def test_one_group_variances_and_shares(session, people, folder):
    one = session.ask(eke.mean("age", carrier="E"), within=5, groups_of=500)
    assert one.within > 5
    assert one.caveats[0].startswith("The group has fewer than 500 records")
    spread = "SELECT carrier, STDDEV(age) AS d FROM people GROUP BY carrier"
    # What it costs depends on noise: of 40 runs with a limit of 1, one was refused.
    rich = eke.create(folder / "rich.eke", people, DOMAIN, epsilon=5.0)
    answer = rich.ask(spread, within=4, groups_of=4000)
    cells = [row[1] for row in answer.rows]
    assert all((c.high - c.low) / 2 <= 4 for c in cells[:2])
    # Of nobody there is no deviation; of 20 runs, noise makes a few people of nobody in one.
    assert cells[5].low is None or cells[5].high - cells[5].low > 20
    share = "SELECT carrier, AVG(CASE WHEN age < 30 THEN 1 ELSE 0 END) AS s FROM people"
    shares = session.ask(f"{share} GROUP BY carrier", within=0.05, groups_of=1000)
    assert max(halves(shares)[name] for name in "ABC") <= 0.05


def test_groups_that_are_not_filled_up_are_caught(session, monkeypatch):
    """Positive control: a plan for the groups as they are is refused."""
    monkeypatch.setattr(known_formulas, "planned_for", lambda _d, _p, estimates: list(estimates))
    with pytest.raises(Refused):
        session.ask(BY_CARRIER, within=1, groups_of=1000)


def test_a_key_is_bound_to_it(session):
    first = session.ask(BY_CARRIER, within=2, groups_of=2000, key="k")
    assert session.ask(BY_CARRIER, within=2, groups_of=2000, key="k") == first
    for other in (1999, None):
        with pytest.raises(KeyConflict):
            session.ask(BY_CARRIER, within=2, groups_of=other, key="k")


def test_with_a_price(session):
    """Groups as large as asked about decide how the price is used, and small ones do not."""
    answer = session.ask(BY_CARRIER, spend=0.2, groups_of=1000)
    assert answer.cost <= 0.2
    assert max(halves(answer)[name] for name in "ABC") < 1
    assert session.preview(BY_CARRIER, spend=0.1, groups_of=1000).groups_of == 1000


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "many", 10**16])
def test_sizes_are_whole_numbers(session, size):
    with pytest.raises(AccuracyError, match="groups_of must be a whole number"):
        session.ask(BY_CARRIER, within=1, groups_of=size)


def test_what_has_no_number_of_records_says_so(session):
    ratio = eke.ratio(eke.total("age", carrier="A"), eke.total("age"))
    with pytest.raises(AccuracyError, match="a number of records in each denominator"):
        session.ask(ratio, within=1, groups_of=10)
    with pytest.raises(AccuracyError, match="counts and sums are as accurate"):
        session.ask(eke.marginal("carrier"), within=10, groups_of=10)
    assert session.budget.spent == 0
