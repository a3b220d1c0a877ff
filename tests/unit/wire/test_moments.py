"""The columns of a result: days and moments are dates and timestamps, however they are computed."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import pandas as pd
import pytest

import eke
from eke.sql import parse
from eke.wire.kind import DATE, FLOAT8, INT8, TEXT, TIMESTAMP, encoded
from eke.wire.table import Outline

DOMAIN = eke.Domain(
    day=eke.Date("2013-01-01", "2013-03-31"),
    late=eke.Date("2013-01-01", "2013-01-31", null="bucket"),
    at=eke.Timestamp("2013-01-01", "2013-01-02", "6 hours"),
    written=eke.Categorical("2013-01-01", "2013-01-02"),
)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("day", DATE),
        ("late", DATE),  # NULL is among its labels
        ("at", TIMESTAMP),
        ("written", TEXT),
        ("date_trunc('month', day)", DATE),
        ("day + INTERVAL 1 DAY", DATE),
        ("date_trunc('day', at)", TIMESTAMP),
        ("CAST(at AS DATE)", DATE),
        ("CAST(at AS TIME)", TEXT),
        ("EXTRACT(month FROM day)", INT8),
        ("CASE WHEN day < '2013-02-01' THEN 'early' ELSE 'late' END", TEXT),
        ("CASE WHEN day < '2013-02-01' THEN day END", DATE),
    ],
)
def test_keys_have_the_types_of_what_they_are(key: str, kind: int) -> None:
    question = parse(f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY {key}", DOMAIN)
    columns = Outline(question, intervals=False).columns
    assert [(column.name, column.oid) for column in columns] == [("k", kind), ("n", FLOAT8)]


def test_days_and_moments_are_sent_as_what_they_are(tmp_path: Path) -> None:
    rows = {"day": "2013-02-03", "late": None, "at": "2013-01-02 05:30", "written": "2013-01-01"}
    session = eke.create(tmp_path / "t.eke", pd.DataFrame([rows] * 50), DOMAIN, epsilon=100.0)
    text = "SELECT date_trunc('month', day) AS m, at, COUNT(*) FROM t GROUP BY ROLLUP (1, 2)"
    question = parse(text, DOMAIN)
    outline = Outline(question, intervals=False)
    shown = outline.rows(session.ask(question, within=10))
    assert {type(row[0]) for row in shown} == {date, type(None)}
    assert {type(row[1]) for row in shown} == {datetime, type(None)}
    for form in (0, 1):
        assert encoded(shown[0][0], DATE, form) is not None
        assert encoded(shown[0][1], TIMESTAMP, form) is not None
    assert encoded(shown[0][1], TIMESTAMP, 0) == b"2013-01-01 00:00:00"
