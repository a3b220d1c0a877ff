"""The reference of SQL: every example is read, every refusal is worded as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eke.domain import Date, Domain, Time, Timestamp
from eke.errors import SqlError
from eke.sql import guard, parse
from eke.sql.grouping import MOST_GROUPS
from tests.sql_adult import compact_domain
from tests.sql_public import LOOKUPS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "sql.md").read_text("utf-8")
DOMAIN = (
    Domain(
        dict(compact_domain().attributes),
        day=Date("2012-01-01", "2013-12-31"),
        at=Timestamp("2013-01-01", "2013-12-31", "hour"),
        opens=Time(step="15 minutes"),
    )
    .with_lookups(*LOOKUPS)
    .with_derived(quarter="EXTRACT(quarter FROM day)", trade="classes.sector")
)
EXAMPLES = [
    statement
    for block in re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    for statement in re.findall(r"^(?:WITH.*\n)?SELECT.*(?:\nFROM.*)?$", block, re.MULTILINE)
]
REFUSALS = re.findall(r"^\| `(.+?)` \| (.+?) \|$", PAGE, re.MULTILINE)


def test_no_example_is_left_out() -> None:
    lines = [
        line
        for block in re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
        for line in block.splitlines()
    ]
    assert lines == [line for example in EXAMPLES for line in example.splitlines()]
    assert len(EXAMPLES) >= 20
    assert len(REFUSALS) >= 25


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_is_accepted(text: str) -> None:
    assert parse(text, DOMAIN).columns


@pytest.mark.parametrize(("text", "sentence"), REFUSALS, ids=[text for text, _ in REFUSALS])
def test_every_refusal_says_that(text: str, sentence: str) -> None:
    with pytest.raises(SqlError) as refusal:
        parse(text, DOMAIN, "adult")
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    "aggregate",
    re.findall(r"`([A-Z_]+)`", PAGE[PAGE.index("## Aggregates") : PAGE.index("each with `FILTER")]),
)
def test_every_named_aggregate_is_one(aggregate: str) -> None:
    text = f"SELECT {aggregate}(age) FILTER (WHERE sex = 'Male') FROM adult"
    assert parse(text, DOMAIN).blocks


def test_sizes_are_those_of_the_code() -> None:
    text = " ".join(PAGE.split())
    assert f"{guard.MOST_CHARACTERS:,} characters, {guard.MOST_TOKENS:,} words" in text
    assert f"{guard.MOST_DEPTH} levels" in text
    assert f"{MOST_GROUPS:,} groups" in text
