"""Columns with a hundred thousand declared values, such as codes of diagnoses or municipalities."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import SqlError
from eke.inference import Inference
from eke.sql import parse

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CODES = [f"{letter}{n:04d}" for letter in LETTERS for n in range(4000)]
DOMAIN = eke.Domain(code=eke.Categorical(*CODES), sex=eke.Categorical("f", "m"))
TOP = "SELECT code, COUNT(*) AS n FROM t GROUP BY code ORDER BY n DESC LIMIT 5"
CHAPTERS = "SELECT SUBSTRING(code, 1, 1) AS chapter, COUNT(*) AS n FROM t GROUP BY chapter"


def people() -> pd.DataFrame:
    """40,000 people; the five codes A0000, B0001, ... have 4,000, 3,000, 2,000, 1,000 and 500."""
    rng = np.random.default_rng(3)
    first = [f"{letter}{n:04d}" for n, letter in enumerate("ABCDE")]
    frequent = np.repeat(first, [4000, 3000, 2000, 1000, 500])
    codes = np.concatenate([frequent, rng.choice(CODES, 40_000 - len(frequent))])
    return pd.DataFrame({"code": codes, "sex": rng.choice(["f", "m"], len(codes))})


@pytest.mark.parametrize(
    "condition",
    [
        "code = 'K0700'",
        "code <> 'K0700'",
        "code IN ('K0700', 'K0701', 'Z3999', 'A0000')",
        "code NOT IN ('K0700', 'K0701')",
        "code LIKE 'K07%'",
        "code BETWEEN 'C' AND 'D9999'",
        "UPPER(code) LIKE 'K%' AND sex = 'f'",
        "SUBSTRING(code, 1, 1) = 'Q'",
        "CASE WHEN code LIKE 'A%' THEN 'a' ELSE sex END = 'f'",
    ],
)
def test_conditions_on_a_long_list_are_read(condition: str) -> None:
    """Each by a look at every value; the twin is the same condition by Python."""
    asked = parse(f"SELECT COUNT(*) FROM t WHERE {condition}", DOMAIN).blocks[0]
    table = people()
    counts = table.groupby(["code", "sex"]).size().reset_index(name="n")
    places = {code: place for place, code in enumerate(CODES)}
    codes = np.stack([counts["code"].map(places), (counts["sex"] == "m").astype(int)], axis=1)
    values = counts["n"].to_numpy()
    numerators = asked.inside.numerators(("code", "sex"), codes.astype(np.int64))
    found = sum(int(a) * int(n) for a, n in zip(numerators, values, strict=True))
    connection = duckdb.connect()
    connection.register("t", table)
    exact = connection.execute(f"SELECT COUNT(*) FROM t WHERE {condition}").fetchone()
    assert exact is not None
    assert found * 2.0**asked.inside.exponent == exact[0]


def test_much_work_on_a_long_list_is_refused() -> None:
    wild = " AND ".join(f"UPPER(LOWER(code)) LIKE '%{n}%{n}%'" for n in range(1, 10))
    with pytest.raises(SqlError, match="too long to work out"):
        parse(f"SELECT COUNT(*) FROM t WHERE {wild}", DOMAIN)


def test_the_most_frequent_of_a_long_list(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its chapters were asked for; each kind of cell is worked out once, not each cell."""
    session = eke.create(folder / "codes.eke", people(), DOMAIN, epsilon=10.0)
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
    assert top.first.surely == (True, True, True, True, False), "of 104,000 codes, all at once"
    assert ("E0004",) in [*top.keys, *top.first.others]
    assert "4 of the 5 rows shown are surely among the first 5" in top.caveats[0]
    spent = session.budget.spent
    assert session.ask(TOP, 60).source == "from history"
    assert session.ask("SELECT COUNT(*) FROM t WHERE code = 'A0000'", 60).source == "from history"
    assert session.budget.spent == spent
