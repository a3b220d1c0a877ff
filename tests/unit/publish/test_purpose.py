"""Purpose: columns that matter more together, as weights of tables and in what is chosen."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import eke
from eke.domain import Categorical, Domain, Integer
from eke.errors import DomainError, QueryError, SqlError
from eke.privacy.concentrated import CONCENTRATED
from eke.publish.purpose import FULL_WEIGHT, Purpose
from eke.publish.synthesis import synthesise
from tests.unit.publish.test_synthesis import DOMAIN, SimulatedCurator, make_table

WIDE = Domain({name: Integer(0, 3) for name in "abcdefg"} | {"y": Categorical("no", "yes")})
NAMES = WIDE.names
TABLES = [*combinations(NAMES, 2), *combinations(NAMES, 3)]


def slow_weights(pairs: dict[tuple[str, str], float], tables: list[tuple[str, ...]]) -> list[int]:
    """By the definition: the mean over the pairs of a table, in parts of the largest."""
    means = []
    for names in tables:
        own = list(combinations(sorted(names), 2))
        means.append(sum(pairs.get(pair, 1.0) for pair in own) / len(own))
    return [max(1, int(FULL_WEIGHT * mean / max(means))) for mean in means]


def test_without_a_purpose_all_weigh_the_same() -> None:
    assert set(Purpose.of(WIDE, NAMES).weights(TABLES)) == {FULL_WEIGHT}
    assert Purpose.of(WIDE, NAMES).weights([]) == []


def test_pairs_with_the_target_count_together_as_all_others() -> None:
    purpose = Purpose.of(WIDE, NAMES, target="y")
    others = 28 - 7
    pairs = {tuple(sorted((name, "y"))): others / 7 for name in NAMES if name != "y"}
    assert purpose.weights(TABLES) == slow_weights(pairs, TABLES)  # type: ignore[arg-type]
    assert purpose.weights([("a", "y"), ("a", "b")]) == [FULL_WEIGHT, FULL_WEIGHT // 3]


@pytest.mark.parametrize(
    ("workload", "pairs"),
    [
        ([["a", "b"]], {("a", "b"): 27.0}),
        ([{"columns": ["a", "b"], "weight": 5}], {("a", "b"): 5.0}),
        (
            [{"columns": ["c", "a", "b"], "weight": 4.0}],
            {("a", "b"): 4.0, ("a", "c"): 4.0, ("b", "c"): 4.0},
        ),
        (["SELECT a, COUNT(*) FROM t WHERE b > 1 GROUP BY a"], {("a", "b"): 27.0}),
        (["SELECT a > 1, COUNT(*) FROM t WHERE b > 1 GROUP BY 1"], {("a", "b"): 27.0}),
        (["SELECT MEDIAN(c) FROM t WHERE d = 1"], {("c", "d"): 27.0}),
        (
            [{"sql": "SELECT AVG(c) FROM t WHERE d = 1", "weight": 2, "columns": None}, ["a", "b"]],
            {("c", "d"): 2.0, ("a", "b"): 27.0},
        ),
    ],
)
def test_a_workload_weighs_what_it_names(
    workload: list[Any], pairs: dict[tuple[str, str], float]
) -> None:
    found = Purpose.of(WIDE, NAMES, workload=workload)
    assert found.weights(TABLES) == slow_weights(pairs, TABLES)


def test_of_two_purposes_the_larger_weight_counts() -> None:
    both = Purpose.of(WIDE, NAMES, "y", [{"columns": ["a", "y"], "weight": 50}])
    assert both.pairs[frozenset({"a", "y"})] == 50.0
    assert both.pairs[frozenset({"b", "y"})] == 3.0


@pytest.mark.parametrize(
    ("target", "workload", "error"),
    [
        ("nobody", None, QueryError),
        (3, None, QueryError),
        (None, "a,b", QueryError),
        (None, [], QueryError),
        (None, [["a"]], QueryError),
        (None, [["a", "nobody"]], DomainError),
        (None, [3], QueryError),
        (None, [{"columns": ["a", "b"], "weight": 0.5}], QueryError),
        (None, [{"columns": ["a", "b"], "weight": float("nan")}], QueryError),
        (None, [{"columns": ["a", "b"], "weight": True}], QueryError),
        (None, [{"columns": ["a", "b"], "sql": "SELECT 1"}], QueryError),
        (None, [{"columns": "a"}], QueryError),
        (None, [{"weight": 2}], QueryError),
        (None, ["SELECT COUNT(*) FROM t WHERE a = 1"], QueryError),
        (None, ["SELECT nonsense"], SqlError),
        (None, [["a", "b"]] * 101, QueryError),
    ],
)
def test_what_is_no_purpose_is_refused(
    target: object, workload: object, error: type[Exception]
) -> None:
    with pytest.raises(error):
        Purpose.of(WIDE, NAMES, target, workload)


def test_columns_that_are_not_published_have_no_weight() -> None:
    with pytest.raises(QueryError, match="not published"):
        Purpose.of(WIDE, ("a", "b", "c"), workload=[["a", "y"]])


def test_what_matters_is_measured_more_often() -> None:
    """Of what was measured, the share about sex and job; the control says nothing."""

    def share(workload: object) -> float:
        found = []
        for seed in range(3):
            curator = SimulatedCurator(make_table(), CONCENTRATED, 0.01, seed)
            purpose = Purpose.of(DOMAIN, DOMAIN.names, workload=workload)
            made = synthesise(DOMAIN, curator, curator.singles(), CONCENTRATED, purpose=purpose)
            found += [{"sex", "pay"} <= set(one.attributes) for one in made.measured]
        return sum(found) / len(found)

    wanted = [{"columns": ["sex", "pay"], "weight": 100}]
    assert share(wanted) > share(None)


def test_a_session_publishes_for_a_purpose(tmp_path: Path) -> None:
    table = pd.DataFrame(make_table(400), columns=list(DOMAIN.names))
    table["sex"] = table["sex"].map(dict(enumerate("FM")))
    table["job"] = table["job"].map(dict(enumerate("abcdef")))
    session = eke.create(tmp_path / "t.eke", table, DOMAIN, epsilon=4.0)
    wanted = [("age", "pay"), {"sql": "SELECT AVG(age) FROM t"}]
    with pytest.raises(QueryError, match="two columns"):
        session.publish("max_entropy", epsilon=2.0, target="job", workload=wanted)
    assert session.budget.spent == 0.0
    with pytest.raises(QueryError, match="from_history"):
        session.publish("max_entropy", from_history=True, target="job")
    with pytest.raises(QueryError, match="from_history"):  # without any pair of columns, too
        session.publish("max_entropy", from_history=True, target="job", attributes=["job"])
    rows = session.publish(
        "max_entropy", epsilon=2.0, key="k", target="job", workload=[("age", "pay")], rows=50
    )
    assert len(rows) == 50
    assert session.budget.spent <= 2.0
    again = session.publish(
        "max_entropy", epsilon=2.0, key="k", target="job", workload=[("age", "pay")], rows=50
    )
    assert (again.codes == rows.codes).all()
