"""The reference of SQL: every example is read, every refusal is worded as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eke.errors import SqlError
from eke.sql import guard, parse
from eke.sql.grouping import MOST_GROUPS
from tests.sql_public import dated_domain

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "sql.md").read_text("utf-8")
DOMAIN = dated_domain({"trade": "classes.sector"})
EXAMPLES = [
    statement
    for block in re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    for statement in re.findall(r"^(?:WITH.*\n)?SELECT.*(?:\nFROM.*)?$", block, re.MULTILINE)
]
GLANCE = re.findall(r"^\| \[[^`]+\]\(#(.+?)\) \| `(.+)` \|$", PAGE, re.MULTILINE)
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


def test_what_works_at_a_glance_leads_to_its_topic() -> None:
    headings = re.findall(r"^##+ (.+)$", PAGE, re.MULTILINE)
    topics = {re.sub(r"[^a-z ]", "", one.lower()).replace(" ", "-") for one in headings}
    assert {topic for topic, _ in GLANCE} <= topics
    table = PAGE[PAGE.index("## What works") : PAGE.index("## The shape")]
    assert len(GLANCE) == table.count("\n| [")
    assert headings[0].startswith("What works")
    assert headings[-1] == "Refusals"


@pytest.mark.parametrize("text", [*EXAMPLES, *(text for _, text in GLANCE)])
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
