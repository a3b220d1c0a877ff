"""Columns of 10⁹ and 10¹² values from the table to the answer, and back from the ledger.

An array of all values of the wider one would need 8 TB: whatever lists them fails here.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.data import open_source
from eke.domain import Domain
from eke.errors import DomainError, EkeError, QueryError, SqlError
from eke.inference.residues import PRIME
from eke.session import Estimate
from tests.parts import in_long

ROWS = 4_000
TOPS = [10_000_000, 10_000_000_000]  # 10⁹ and 10¹² cents


def table_of(top: int) -> pd.DataFrame:
    rng = np.random.default_rng(top)
    cents = rng.integers(0, 100 * top, ROWS)
    cents[:2] = 0, 100 * top
    return pd.DataFrame({"amount": cents / 100, "group": rng.integers(0, 3, ROWS)})


def domain_of(top: int) -> Domain:
    return eke.Domain(amount=eke.Decimal(0, top, 2, outside="never"), group=eke.Integer(0, 2))


@pytest.fixture(params=[in_long(TOPS[0]), *TOPS[1:]])
def asked(request: Any, tmp_path: Path) -> tuple[eke.Session, pd.DataFrame, int]:
    top = request.param
    table = table_of(top)
    session = eke.create(tmp_path / "wide.eke", table, domain_of(top), epsilon=10_000.0)
    return session, table, top


@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("kind", ["csv", "parquet", "memory", "decimal"])
def test_every_cent_has_its_own_code(top: int, kind: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    cents = np.unique(np.append(rng.integers(0, 100 * top, 2_000), [0, 1, 99, 100 * top]))
    texts = [f"{n // 100}.{n % 100:02d}" for n in cents.tolist()]
    table: Any = pd.DataFrame({"amount": cents / 100})
    path = tmp_path / f"t.{kind}"
    if kind == "csv":
        path.write_text("\n".join(["amount", *texts]) + "\n")
    elif kind == "decimal":
        import decimal  # noqa: PLC0415

        import pyarrow as pa  # noqa: PLC0415

        whole = pa.array([decimal.Decimal(text) for text in texts], pa.decimal128(18, 2))
        table = pa.table({"amount": whole})
    elif kind == "parquet":
        table.to_parquet(path)
    domain = eke.Domain(amount=eke.Decimal(0, top, 2, outside="never"))
    source = open_source(str(path) if kind in ("csv", "parquet") else table, domain)
    (counts,) = source.counts([("amount",)])
    assert counts.codes[:, 0].tolist() == cents.tolist()
    assert counts.counts.tolist() == [1] * len(cents)


def test_answers_are_near_the_truth_and_free_the_second_time(
    asked: tuple[eke.Session, pd.DataFrame, int],
) -> None:
    session, table, top = asked
    amount, middle = table.amount, float(table.amount.iloc[7])
    truths: list[tuple[Any, Any, float]] = [
        (f"SELECT COUNT(*) FROM t WHERE amount >= {middle:.2f}", (amount >= middle).sum(), 20),
        (f"SELECT COUNT(*) FROM t WHERE amount IN (0, {top})", amount.isin([0, top]).sum(), 20),
        ("SELECT SUM(amount) FROM t", amount.sum(), 10 * top),
        (eke.total("amount"), amount.sum(), 10 * top),
        ("SELECT AVG(amount) FROM t", amount.mean(), top / 100),
        (eke.mean("amount"), amount.mean(), top / 100),
        (eke.total("amount", group=1), amount[table.group == 1].sum(), 10 * top),
        (
            f"SELECT SUM(amount * amount) FROM t WHERE amount < {top // 10**6 * 1000}"
            if top < 10**8
            else "SELECT SUM(amount) + 7 * COUNT(*) FROM t",
            (amount**2)[amount < top // 10**6 * 1000].sum() if top < 10**8 else amount.sum(),
            10 * top,
        ),
        ("SELECT AVG(LEAST(amount, 500)) FROM t", np.minimum(amount, 500).mean(), 5),
        ("SELECT MEDIAN(amount) FROM t", amount.median(), top / 50),
        (eke.quantile("amount", 0.25), amount.quantile(0.25), top / 50),
        (f"SELECT COUNT(*) FROM t WHERE amount <> {middle:.2f}", (amount != middle).sum(), 20),
    ]
    for question, truth, within in truths:
        answer = session.ask(question, within=within, confidence=0.9999)
        assert abs(answer.value - truth) <= 1.2 * within, question
        assert session.ask(question, within=within, confidence=0.9999).free
    assert session.ask(eke.total("amount"), within=10 * top).free
    assert session.verify().problems == ()


def test_groups_and_the_ledger_are_as_those_of_narrow_columns(
    asked: tuple[eke.Session, pd.DataFrame, int], tmp_path: Path
) -> None:
    session, table, top = asked
    width = top // 4
    by = f"SELECT FLOOR(amount / {width}) AS k, COUNT(*) AS n FROM t GROUP BY k ORDER BY k"
    found = session.ask(by, within=30, confidence=0.9999)
    truth = (table.amount // width).value_counts().sort_index()
    assert np.abs(found.to_pandas()["n"].to_numpy()[: len(truth)] - truth.to_numpy()).max() < 40
    session.ask("SELECT group, AVG(amount) FROM t GROUP BY group", within=top / 50)
    session.ask("SELECT COUNT(*) FROM t WHERE amount > 5 AND group = 1", within=50)
    read = eke.open(tmp_path / "wide.eke", data=table)
    assert read.ask("SELECT COUNT(*) FROM t WHERE amount > 5 AND group = 1", within=50).free
    questions = [record["question"] for record in read.history.to_records()]
    assert f"count where amount 5.01–{top} and group = 1" in questions
    assert any(one.startswith("100 × sum(amount) - ") for one in questions), questions
    assert read.preview("SELECT SUM(amount) FROM t", within=top).cost >= 0
    with sqlite3.connect(tmp_path / "wide.eke") as ledger:
        columns = [row[1] for row in ledger.execute("PRAGMA table_info(entry)")]
        lengths = ", ".join(f"max(length({column}))" for column in columns)
        longest = ledger.execute(f"SELECT {lengths} FROM entry").fetchone()
    assert max(length or 0 for length in longest) < 20_000


def test_a_count_of_all_but_one_value_serves_later_questions(
    asked: tuple[eke.Session, pd.DataFrame, int],
) -> None:
    """x > 0 leaves out one of 10¹² values, and must not be taken for everything."""
    session, table, top = asked
    session.ask("SELECT COUNT(*) FROM t WHERE amount > 0", within=5)
    median = session.ask("SELECT MEDIAN(amount) FROM t", within=top / 50, confidence=0.9999)
    assert abs(median.value - table.amount.median()) < top / 50
    only_zero = session.ask("SELECT COUNT(*) FROM t WHERE amount = 0", within=5, confidence=0.9999)
    assert abs(only_zero.value - 1) < 10
    assert session.preview("SELECT COUNT(*) FROM t", within=20).cost == 0


@pytest.mark.parametrize(
    ("question", "advice"),
    [
        ("SELECT amount, COUNT(*) FROM t GROUP BY amount", "at most 131,072 groups"),
        ("SELECT ROUND(amount), COUNT(*) FROM t GROUP BY 1", "more than 1,024 stretches"),
        ("SELECT COUNT(*) FROM t WHERE MOD(amount, 10) < 5", "take wider steps"),
        ("SELECT STDDEV(amount) FROM t", "the widest noise hides a record below 2\\^44"),
        ("SELECT MEDIAN(ABS(amount - 5)) FROM t", "is of the column itself"),
        ("SELECT SUM(1 / amount) FROM t", "too long to divide by"),
        ("SELECT COUNT(*) FROM t WHERE amount > group", "combinations and at most"),
        (eke.variance("amount"), "the widest noise hides a record below 2\\^44"),
        (eke.count().by("amount"), "cells"),
        (eke.median("amount").by("amount"), "not listed one by one"),
    ],
)
def test_what_lists_values_is_refused_for_nothing(
    asked: tuple[eke.Session, pd.DataFrame, int], question: Any, advice: str
) -> None:
    session, _, top = asked
    with pytest.raises((SqlError, QueryError, DomainError), match=advice):
        session.ask(question, within=top)
    assert session.budget.spent == 0


def test_models_of_all_values_are_refused(asked: tuple[eke.Session, pd.DataFrame, int]) -> None:
    session, _, _ = asked
    session.ask("SELECT COUNT(*) FROM t WHERE amount > 5", within=50)
    for method in ("shrinkage", "max_entropy"):
        with pytest.raises(EkeError, match="use method='blue'"):
            session.estimate("SELECT COUNT(*) FROM t WHERE amount > 5", method=method)
    known = session.estimate("SELECT COUNT(*) FROM t WHERE amount > 5", method="blue")
    assert isinstance(known, Estimate)
    assert known.value > 0
    with pytest.raises(EkeError, match="not listed one by one"):
        session.plan([("amount",)], budget=1.0)
    assert session.plan([("group",)], budget=1.0).answers
    with pytest.raises(EkeError, match="leave 'amount' out"):
        session.publish("max_entropy", from_history=True, rows=10)
    with pytest.raises(EkeError, match="leave it out"):
        session.publish("lda", epsilon=1.0, target="group")
    assert session.budget.spent < 1


def test_a_grid_that_doubles_do_not_tell_apart_is_refused() -> None:
    with pytest.raises(DomainError, match="do not tell values so far from 0 apart"):
        eke.Decimal(4 * 10**12, 4 * 10**12 + 10**7, 3)
    with pytest.raises(DomainError, match="at most 1,099,511,627,776 values"):
        eke.Integer(0, 2**40)
    assert eke.Integer(1, 2**40).size == 2**40


def test_a_column_whose_size_the_prime_of_exact_spans_divides(tmp_path: Path) -> None:
    """Its means have no residue; what history determines is found all the same."""
    domain = eke.Domain(x=eke.Integer(1, 2 * PRIME), group=eke.Integer(0, 2))
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.integers(1, PRIME, 500), "group": rng.integers(0, 3, 500)})
    session = eke.create(tmp_path / "prime.eke", table, domain, epsilon=1_000.0)
    session.ask(eke.marginal("group"), within=5)
    below = session.ask(f"SELECT COUNT(*) FROM t WHERE x <= {PRIME // 2} AND group = 1", within=5)
    above = f"SELECT COUNT(*) FROM t WHERE x > {PRIME // 2} AND group = 1"
    free = session.ask(above, within=20)
    assert free.free
    (count,) = [(table.group == 1).sum() - below.value]
    assert abs(free.value - count) < 20
