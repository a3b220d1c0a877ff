"""GROUP BY CUBE, ROLLUP and GROUPING SETS: the sets of columns that SQL says, and nothing else."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import SqlError
from eke.sql import parse_grouping_sets

DOMAIN = Domain(
    {"a": Integer(0, 3), "b": Categorical("x", "y"), "c": Integer(0, 1), "D e": Integer(0, 2)}
)


def sets(grouping: str, selected: str = "COUNT(*)") -> list[tuple[str, ...]]:
    return parse_grouping_sets(f"SELECT {selected} FROM t GROUP BY {grouping}", DOMAIN)


def subsets(names: str) -> set[tuple[str, ...]]:
    return {chosen for size in range(len(names) + 1) for chosen in combinations(names, size)}


@pytest.mark.parametrize(
    ("grouping", "expected"),
    [
        ("a", [("a",)]),
        ("b, a", [("a", "b")]),
        ("(a, b)", [("a", "b")]),
        ("CUBE (a, b)", [(), ("a",), ("b",), ("a", "b")]),
        ("cube(A, B)", [(), ("a",), ("b",), ("a", "b")]),
        ("ROLLUP (a, b, c)", [("a", "b", "c"), ("a", "b"), ("a",), ()]),
        ("ROLLUP (c, a)", [("a", "c"), ("c",), ()]),
        ("CUBE ((a, b), c)", [(), ("a", "b"), ("c",), ("a", "b", "c")]),
        ("ROLLUP ((a, b), c)", [("a", "b", "c"), ("a", "b"), ()]),
        ("GROUPING SETS ((a, b), (c), ())", [("a", "b"), ("c",), ()]),
        ("GROUPING SETS (a, ROLLUP (b, c))", [("a",), ("b", "c"), ("b",), ()]),
        ("GROUPING SETS ((a), (a), (b, a), (a, b))", [("a",), ("a", "b")]),
        ("c, ROLLUP (a)", [("a", "c"), ("c",)]),
        ("a, b WITH ROLLUP", [("a", "b"), ("a",), ()]),
        ("a, b WITH CUBE", [(), ("a",), ("b",), ("a", "b")]),
        ('"D e"', [("D e",)]),
        ('CUBE ("D e")', [(), ("D e",)]),
    ],
)
def test_the_sets_are_those_of_sql(grouping: str, expected: list[tuple[str, ...]]) -> None:
    assert set(sets(grouping)) == set(expected)
    assert len(sets(grouping)) == len(expected), "each once"


def test_parts_side_by_side_are_combined() -> None:
    """The slow twin: every choice of one set from each part, joined."""
    expected = {
        tuple(sorted({*one, *other}))
        for one, other in product(subsets("ab"), [("b", "c"), ("b",), ()])
    }
    assert set(sets("CUBE (a, b), ROLLUP (b, c)")) == expected


def test_what_is_selected_does_not_matter() -> None:
    for selected in ("COUNT(*)", "a, COUNT(*)", "COUNT(*) AS n, b AS letter", "a, b"):
        assert set(sets("CUBE (a, b)", selected)) == subsets("ab")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM t",
        "SELECT COUNT(*) GROUP BY CUBE (a)",
        "SELECT COUNT(*) FROM t GROUP BY CUBE (nobody)",
        "SELECT COUNT(*) FROM t GROUP BY CUBE (a + 1)",
        "SELECT COUNT(*) FROM t GROUP BY CUBE (1)",
        "SELECT AVG(a) FROM t GROUP BY CUBE (a)",
        "SELECT COUNT(a) FROM t GROUP BY CUBE (a)",
        "SELECT COUNT(DISTINCT a) FROM t GROUP BY CUBE (a)",
        "SELECT * FROM t GROUP BY CUBE (a)",
        "SELECT COUNT(*) FROM t WHERE a = 1 GROUP BY CUBE (a)",
        "SELECT COUNT(*) FROM t GROUP BY CUBE (a) HAVING COUNT(*) > 3",
        "SELECT COUNT(*) FROM t GROUP BY CUBE (a) ORDER BY 1",
        "SELECT COUNT(*) FROM t GROUP BY CUBE (a) LIMIT 3",
        "SELECT COUNT(*) FROM t JOIN u ON t.a = u.a GROUP BY CUBE (a)",
        "SELECT COUNT(*) FROM (SELECT a FROM t) GROUP BY CUBE (a)",
        "SELECT COUNT(*) FROM t GROUP BY CUBE (a); SELECT 1",
        "DROP TABLE t",
        "",
        "SELECT COUNT(*) FROM t GROUP BY " + "(" * 200 + "a" + ")" * 200,
        "SELECT COUNT(*) FROM t GROUP BY " + ", ".join(["CUBE (a, b, c)"] * 7),
        "SELECT COUNT(*) FROM t GROUP BY CUBE (" + ", ".join(["a"] * 17) + ")",
    ],
)
def test_everything_else_is_refused_with_advice(text: str) -> None:
    with pytest.raises(SqlError) as refusal:
        parse_grouping_sets(text, DOMAIN)
    assert len(str(refusal.value).split()) > 3


def test_only_texts_are_read() -> None:
    with pytest.raises(SqlError, match="text is expected"):
        parse_grouping_sets(5, DOMAIN)  # type: ignore[arg-type]


def test_derived_columns_are_no_tables() -> None:
    domain = DOMAIN.with_derived(twice="a || 'x'")
    with pytest.raises(SqlError, match="'twice' is derived; released tables are by attributes"):
        parse_grouping_sets("SELECT COUNT(*) FROM t GROUP BY CUBE (twice)", domain)
