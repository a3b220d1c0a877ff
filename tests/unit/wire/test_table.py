"""The types of keys: those of their columns, also of days and moments, whose labels are texts."""

from __future__ import annotations

from datetime import date, datetime

import pytest

import eke
from eke.sql import parse
from eke.wire.declared import declared
from eke.wire.kind import DATE, INT8, TEXT, TIMESTAMP
from eke.wire.label import shown_label
from eke.wire.portal import one_statement
from eke.wire.table import Outline, ServedTable

DOMAIN = eke.Domain(
    day=eke.Date("2002-01-01", "2002-03-01"),
    other=eke.Date("2002-01-01", "2002-01-02", null="bucket"),
    seen=eke.Timestamp("2020-05-01", "2020-05-02", "12 hours"),
    text=eke.Categorical("2002-01-01", "2002-01-02"),
).with_lookups(
    eke.Lookup("names", ["other"], {"other": ["2002-01-01", "2002-01-02"], "name": ["one", "two"]})
)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("day", DATE),
        ("other", DATE),
        ("seen", TIMESTAMP),
        ("text", TEXT),
        ("EXTRACT(month FROM day)", INT8),
        ("DATE_TRUNC('month', day)", DATE),
        ("CASE WHEN day < DATE '2002-01-05' THEN 'early' ELSE 'late' END", TEXT),
    ],
)
def test_a_key_has_the_type_of_its_column(key: str, kind: int) -> None:
    question = parse(f"SELECT {key} AS k, COUNT(*) AS n FROM people GROUP BY 1", DOMAIN)
    assert Outline(question, intervals=False).columns[0].oid == kind


def test_what_is_joined_or_put_together_has_the_type_of_what_is_shown() -> None:
    joined = "SELECT name, COUNT(*) FROM people JOIN names USING (other) GROUP BY name"
    assert Outline(parse(joined, DOMAIN), intervals=False).columns[0].oid == TEXT
    rolled = "SELECT day, COUNT(*) FROM people GROUP BY ROLLUP (day)"
    assert Outline(parse(rolled, DOMAIN), intervals=False).columns[0].oid == DATE
    branch = "SELECT {0} AS k, COUNT(*) AS n FROM people GROUP BY {0}"
    both = f"{branch.format('day')} UNION ALL {branch.format('text')}"
    assert Outline(parse(both, DOMAIN), intervals=False).columns[0].oid == TEXT


def test_labels_become_values_of_the_type() -> None:
    assert shown_label("2002-01-01", DATE) == date(2002, 1, 1)
    moment = datetime(2020, 5, 1, 12)  # noqa: DTZ001 - without a zone
    assert shown_label("2020-05-01 12:00:00", TIMESTAMP) == moment
    assert shown_label("2002-01-01", TEXT) == "2002-01-01"
    assert shown_label(None, DATE) is None


def test_declared_days_are_days() -> None:
    statement = one_statement("SELECT DISTINCT other, seen FROM people ORDER BY 1 DESC, 2")
    result = declared(statement, DOMAIN, ServedTable("people", DOMAIN).names)
    assert result is not None
    assert [column.oid for column in result.columns or ()] == [DATE, TIMESTAMP]
    assert len(result.rows) == 12
    assert result.rows[-1][0] == date(2002, 1, 1)
