"""Asking through DB-API: accuracy, parameters, refusals, pandas."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

import eke.dbapi
from eke import errors
from eke.dbapi import Connection
from eke.dbapi.failure import translated

COUNT = "SELECT COUNT(*) AS n FROM people"


def read_sql(text: str, connection: Connection, **options: Any) -> pd.DataFrame:
    """pandas.read_sql, whose published types know SQLAlchemy's connections only."""
    with pytest.warns(UserWarning, match="SQLAlchemy"):
        frame: pd.DataFrame = pd.read_sql(text, cast("Any", connection), **options)
    return frame


def test_pandas_reads_answers_with_their_intervals(path: Path) -> None:
    connection = eke.dbapi.connect(path, within=40)
    frame = read_sql("SELECT sex, AVG(age) AS a FROM people GROUP BY sex", connection)
    assert list(frame.columns) == ["sex", "a", "a_low", "a_high"]
    assert list(frame["sex"]) == ["Female", "Male"]
    assert ((frame["a_low"] <= frame["a"]) & (frame["a"] <= frame["a_high"])).all()
    assert frame["a"].dtype == float


def test_pandas_passes_parameters_on(connection: Connection) -> None:
    frame = read_sql(f"{COUNT} WHERE sex = ? AND age < ?", connection, params=["Male", 40])
    plain = connection.cursor().execute(f"{COUNT} WHERE sex = 'Male' AND age < 40")
    assert [tuple(row) for row in frame.to_numpy()] == plain.fetchall()


def test_a_refusal_reaches_the_caller_of_pandas_with_its_advice(connection: Connection) -> None:
    with pytest.raises(eke.dbapi.OperationalError, match="Nothing was spent"):
        read_sql(f"{COUNT} ERROR WITHIN 0.001", connection)


def test_a_refusal_is_an_operational_error_with_advice(connection: Connection) -> None:
    spent = connection.session.budget.spent
    with pytest.raises(eke.dbapi.OperationalError, match="Nothing was spent") as refused:
        connection.cursor().execute(f"{COUNT} ERROR WITHIN 0.001")
    assert isinstance(refused.value.refusal, eke.Preview)
    assert isinstance(refused.value.__cause__, eke.Refused)
    assert connection.session.budget.spent == spent


def test_accuracy_of_the_text_goes_before_that_of_the_connection(path: Path) -> None:
    connection = eke.dbapi.connect(path, within=70, confidence=0.9)
    cursor = connection.cursor()
    cursor.execute(f"{COUNT} ERROR WITHIN 50")
    assert cursor.answer is not None
    assert (cursor.answer.receipt.within, cursor.answer.confidence) == (50, 0.9)
    cursor.execute(f"{COUNT} AT CONFIDENCE 0.8")
    assert cursor.answer.receipt.confidence == 0.8, "the half-width is the connection's"
    cursor.execute(f"{COUNT} ERROR WITHIN 50 AT CONFIDENCE 0.8")
    assert cursor.answer.confidence == 0.8
    cursor.execute(COUNT)
    assert (cursor.answer.receipt.within, cursor.answer.confidence) == (70, 0.9)


def test_a_price_and_a_size_of_groups_are_those_of_the_connection_or_of_the_text(
    path: Path,
) -> None:
    connection = eke.dbapi.connect(path, spend=0.1, groups_of=50)
    cursor = connection.cursor()
    for text, spend, groups in (
        (COUNT, 0.1, None),  # a count needs no large groups
        ("SELECT AVG(age) FROM people", 0.1, 50),
        (f"{COUNT} SPEND 0.2", 0.2, None),
        (f"{COUNT} ERROR WITHIN 60", None, None),
    ):
        cursor.execute(text)
        assert cursor.answer is not None
        receipt = cursor.answer.receipt
        assert (receipt.spend, receipt.groups_of) == (spend, groups)
        assert spend is None or receipt.cost <= spend
    with pytest.raises(eke.dbapi.ProgrammingError, match="not both"):
        eke.dbapi.connect(path, within=5, spend=0.1).cursor().execute(COUNT)
    rows = eke.dbapi.connect(path, within="20 %").cursor().execute(COUNT).fetchall()
    ((value, low, high),) = rows
    assert (high - low) / 2 <= 0.2 * value


def test_a_question_without_accuracy_is_a_programming_error(path: Path) -> None:
    with pytest.raises(eke.dbapi.ProgrammingError, match=r"(?i)within"):
        eke.dbapi.connect(path).cursor().execute(COUNT)


def test_within_may_differ_by_column(path: Path) -> None:
    connection = eke.dbapi.connect(path, within={"n": 60, "a": 400})
    row = connection.cursor().execute("SELECT COUNT(*) AS n, AVG(age) AS a FROM people").fetchone()
    assert row is not None
    assert len(row) == 6


def test_who_asks_is_written_down(path: Path) -> None:
    connection = eke.dbapi.connect(path, within=90, analyst="zoe")
    connection.cursor().execute("SELECT COUNT(*) FROM people WHERE age = 77")
    assert connection.session.history.to_records()[-1]["analyst"] == "zoe"


def test_an_open_session_can_be_connected_to(path: Path) -> None:
    session = eke.open(path)
    connection = eke.dbapi.connect(session, within=60)
    assert connection.session is session
    assert connection.cursor().execute(COUNT).fetchone() is not None


def test_bins_and_missing_keys_are_plain_values(connection: Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("SELECT hours, COUNT(*) FROM people GROUP BY hours")
    assert [row[0] for row in cursor] == ["0 to 20", "20 to 40", "40 to 60", None]
    assert cursor.description is not None
    assert cursor.description[0][6] is True


@pytest.mark.parametrize("text", ["SELECT * FROM people", "DROP TABLE people", "", "SELECT 'a"])
def test_what_cannot_be_answered_is_a_programming_error(connection: Connection, text: str) -> None:
    with pytest.raises(eke.dbapi.ProgrammingError):
        connection.cursor().execute(text)


def test_a_missing_dataset_is_an_operational_error(tmp_path: Path) -> None:
    with pytest.raises(eke.dbapi.OperationalError, match="no ledger"):
        eke.dbapi.connect(tmp_path / "nothing.eke")


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (errors.SqlError("x"), eke.dbapi.ProgrammingError),
        (errors.QueryError("x"), eke.dbapi.ProgrammingError),
        (errors.AccuracyError("x"), eke.dbapi.ProgrammingError),
        (errors.PrivacyError("x"), eke.dbapi.ProgrammingError),
        (errors.DomainError("x"), eke.dbapi.ProgrammingError),
        (errors.FactError("x"), eke.dbapi.ProgrammingError),
        (errors.DataError("x"), eke.dbapi.OperationalError),
        (errors.BudgetExceeded("x"), eke.dbapi.OperationalError),
        (errors.Refused("x"), eke.dbapi.OperationalError),
        (errors.LedgerError("x"), eke.dbapi.OperationalError),
        (errors.LedgerTampered("x"), eke.dbapi.IntegrityError),
        (errors.KeyConflict("x"), eke.dbapi.IntegrityError),
        (errors.ReleaseFailed("x"), eke.dbapi.OperationalError),
        (errors.EstimateError("x"), eke.dbapi.OperationalError),
        (errors.SecretLeak("x"), eke.dbapi.InternalError),
        (errors.ServiceError("x"), eke.dbapi.OperationalError),
        (errors.AccessDenied("x"), eke.dbapi.OperationalError),
        (errors.Unanswered("x"), eke.dbapi.OperationalError),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_every_error_has_its_kind(
    problem: errors.EkeError, kind: type[eke.dbapi.DatabaseError]
) -> None:
    with pytest.raises(kind) as raised, translated():
        raise problem
    assert type(raised.value) is kind
    assert raised.value.__cause__ is problem


def test_the_table_above_is_complete() -> None:
    kinds = {
        found
        for found in vars(errors).values()
        if isinstance(found, type) and issubclass(found, errors.EkeError)
    }
    assert len(kinds - {errors.EkeError}) == 18


def test_columns_are_described(connection: eke.dbapi.Connection) -> None:
    cursor = connection.cursor().execute("DESCRIBE people")
    assert [column[0] for column in cursor.description or ()] == [
        *("column", "type", "values", "missing"),
    ]
    assert cursor.fetchone() == ("age", "integer", "17 to 80", False)
    assert cursor.rowcount == 3
    assert connection.cursor().execute("SHOW COLUMNS FROM people").fetchall()[2][3] is True
