"""Columns with a hundred thousand declared values, such as codes of diagnoses or municipalities."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import SqlError
from eke.inference import Inference
from eke.query import Query
from eke.sql import parse
from eke.sql.diagram import Diagrams, Leaf
from tests.parts import in_long

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CODES = [f"{letter}{n:04d}" for letter in LETTERS for n in range(4000)]
DOMAIN = eke.Domain(code=eke.Categorical(*CODES), sex=eke.Categorical("f", "m"))
TOP = "SELECT code, COUNT(*) AS n FROM t GROUP BY code ORDER BY n DESC LIMIT 5"
CHAPTERS = "SELECT SUBSTRING(code, 1, 1) AS letter, COUNT(*) AS n FROM t GROUP BY letter"
CHAPTER_OF = {
    "code": CODES,
    "chapter": [f"chapter {code[0]}" for code in CODES],
    "block": [code[:2] for code in CODES],
}
DERIVED = {"chapter": "codes.chapter", "tens": "SUBSTRING(code, 1, 2)"}
HIERARCHY = DOMAIN.with_lookups(eke.Lookup("codes", ["code"], CHAPTER_OF)).with_derived(**DERIVED)


BY_CHAPTER = (
    "SELECT c.chapter, COUNT(*) FROM t JOIN codes c USING (code) WHERE sex = 'f' GROUP BY 1"
)


def people(codes: list[str] = CODES) -> pd.DataFrame:
    """40,000 people; the five codes A0000, B0001, ... have 4,000, 3,000, 2,000, 1,000 and 500."""
    rng = np.random.default_rng(3)
    first = [f"{letter}{n:04d}" for n, letter in enumerate("ABCDE")]
    frequent = np.repeat(first, [4000, 3000, 2000, 1000, 500])
    drawn = np.concatenate([frequent, rng.choice(codes, 40_000 - len(frequent))])
    return pd.DataFrame({"code": drawn, "sex": rng.choice(["f", "m"], len(drawn))})


@pytest.mark.parametrize(
    "condition",
    [
        "code NOT IN ('K0700', 'K0701')",
        "UPPER(code) LIKE 'K%' AND sex = 'f'",
        "CASE WHEN code LIKE 'A%' THEN 'a' ELSE sex END = 'f'",
        *map(
            in_long,
            (
                "code = 'K0700'",
                "code <> 'K0700'",
                "code IN ('K0700', 'K0701', 'Z3999', 'A0000')",
                "code LIKE 'K07%'",
                "code BETWEEN 'C' AND 'D9999'",
                "SUBSTRING(code, 1, 1) = 'Q'",
            ),
        ),
    ],
)
def test_conditions_on_a_long_list_are_read(condition: str) -> None:
    """Each by a look at every value; the oracle is DuckDB."""
    text = f"SELECT COUNT(*) FROM t WHERE {condition}"
    assert [exact_value(parse(text, DOMAIN).query(0, 0))] == [n for (n,) in of_duckdb(text)]


@cache
def cells() -> tuple[Any, list[int]]:
    """The codes of the cells that have people, and how many each has."""
    counts = people().groupby(["code", "sex"]).size().reset_index(name="n")
    places = {code: place for place, code in enumerate(CODES)}
    codes = np.stack([counts["code"].map(places), (counts["sex"] == "m").astype(int)], axis=1)
    return codes.astype(np.int64), counts["n"].tolist()


def exact_value(query: Query) -> float:
    """The exact value of a query, from the counts by all columns."""
    codes, counts = cells()
    numerators = query.numerators(("code", "sex"), codes)
    found = sum(int(a) * n for a, n in zip(numerators, counts, strict=True))
    return found * 2.0**query.exponent


@cache
def oracle() -> duckdb.DuckDBPyConnection:
    """The people with the derived columns as a table `t`, and the lookup, in DuckDB."""
    connection = duckdb.connect()
    connection.register("all_people", people())
    connection.register("all_codes", pd.DataFrame(CHAPTER_OF))
    connection.execute("CREATE TABLE codes AS SELECT * FROM all_codes")
    connection.execute(
        "CREATE TABLE t AS SELECT p.*, codes.chapter, SUBSTRING(p.code, 1, 2) AS tens "
        "FROM all_people p LEFT JOIN codes ON p.code = codes.code"
    )
    return connection


def of_duckdb(text: str) -> list[tuple[Any, ...]]:
    """The rows of a statement over these tables."""
    return oracle().execute(text).fetchall()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM t WHERE chapter > 'chapter W' OR tens = 'B1'",
        "SELECT COUNT(*) FROM t JOIN codes c ON c.code = t.code WHERE c.chapter = t.chapter",
        "SELECT tens, COUNT(*) FROM t WHERE t.chapter = 'chapter B' GROUP BY tens",
        *map(
            in_long,
            (
                "SELECT COUNT(*) FROM t WHERE chapter = 'chapter K'",
                "SELECT COUNT(*) FROM t WHERE chapter IN ('chapter A', 'chapter Z') AND sex = 'f'",
                "SELECT COUNT(*) FROM t JOIN codes USING (code) WHERE block = 'C0' AND sex = 'm'",
                "SELECT chapter, COUNT(*) FROM t GROUP BY chapter",
                BY_CHAPTER,
                "SELECT block, COUNT(*) FROM t JOIN codes USING (code) GROUP BY block",
            ),
        ),
    ],
)
def test_a_hierarchy_over_a_long_list_has_the_values_of_duckdb(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a joined lookup and as a derived column; each code is looked at a few times, no more."""
    made, leaf = 0, Diagrams.leaf

    def counted(self: Diagrams, label: object) -> Leaf:
        nonlocal made
        made += 1
        return leaf(self, label)

    monkeypatch.setattr(Diagrams, "leaf", counted)
    statement = parse(text, HIERARCHY)
    assert made < 6 * len(CODES)
    expected = of_duckdb(text)
    if not statement.group_by:
        assert [(exact_value(statement.query(0, 0)),)] == expected
        return
    keys, counts = statement.keys(), dict(expected)
    assert len(statement.places) == len(counts)
    for place in statement.places[:30]:
        query = statement.query(0, place)
        assert query is not None
        assert exact_value(query) == counts[keys[place][0]]


def test_much_work_on_a_long_list_is_refused() -> None:
    wild = " AND ".join(f"UPPER(LOWER(code)) LIKE '%{n}%{n}%'" for n in range(1, 10))
    with pytest.raises(SqlError, match="too long to work out"):
        parse(f"SELECT COUNT(*) FROM t WHERE {wild}", DOMAIN)


@pytest.mark.parametrize("each", [300, in_long(4000)])
def test_the_most_frequent_of_a_long_list(
    folder: Path, monkeypatch: pytest.MonkeyPatch, each: int
) -> None:
    """After its chapters were asked for; each kind of cell is worked out once, not each cell.

    Afterwards the chapters are free, by whichever name, and stand beside the codes: 7,800 or, in
    the long part, 104,000 of them.
    """
    codes = [f"{letter}{n:04d}" for letter in LETTERS for n in range(each)]
    chapter_of = {"code": codes, "chapter": [f"chapter {code[0]}" for code in codes]}
    domain = eke.Domain(code=eke.Categorical(*codes), sex=eke.Categorical("f", "m"))
    lookup = eke.Lookup("codes", ["code"], chapter_of)
    hierarchy = domain.with_lookups(lookup).with_derived(**DERIVED)
    data = people(codes)
    session = eke.create(folder / "codes.eke", data, hierarchy, epsilon=10.0)
    chapters = session.ask(CHAPTERS, 50)
    assert len(chapters.rows) == 26
    worked_out = 0
    linear = Inference.linear

    def counted(self: Inference, query: object) -> object:
        nonlocal worked_out
        worked_out += 1
        return linear(self, query)  # type: ignore[arg-type]

    monkeypatch.setattr(Inference, "linear", counted)
    top = session.ask(TOP, 60)
    assert top.to_pandas()["code"].tolist()[:4] == ["A0000", "B0001", "C0002", "D0003"]
    assert worked_out < 1000
    assert top.first is not None
    assert top.first.surely == (True, True, True, True, False), "of all codes at once"
    assert ("E0004",) in [*top.keys, *top.first.others]
    assert "4 of the 5 rows shown are surely among the first 5" in top.caveats[0]
    spent = session.budget.spent
    assert session.ask(TOP, 60).source == "from history"
    for free in (
        "SELECT COUNT(*) FROM t WHERE code = 'A0000'",
        "SELECT COUNT(*) FROM t WHERE chapter = 'chapter A'",
        "SELECT chapter, COUNT(*) AS n FROM t GROUP BY chapter",
        "SELECT c.chapter, COUNT(*) AS n FROM t JOIN codes c USING (code) GROUP BY 1",
    ):
        assert session.ask(free, 60).source == "from history"
    named = session.ask(
        "SELECT code, c.chapter, COUNT(*) AS n FROM t JOIN codes c USING (code) GROUP BY 1, 2 "
        "ORDER BY n DESC LIMIT 20",
        60,
    )
    assert [key for key, _ in named.keys][:4] == ["A0000", "B0001", "C0002", "D0003"]
    assert [chapter for _, chapter in named.keys] == [
        f"chapter {code[0]}" for code, _ in named.keys
    ]
    assert named.first is not None
    surely = {key[0] for key, sure in zip(named.keys, named.first.surely, strict=True) if sure}
    exact = data["code"].value_counts().index[:20]
    assert {"A0000", "B0001", "C0002", "D0003"} <= surely <= set(exact)
    assert session.budget.spent == spent
