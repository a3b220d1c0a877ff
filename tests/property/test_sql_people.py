"""Statements about people and records have the values that DuckDB computes on the same rows."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import pytest

from eke.data import open_source
from eke.domain import Boolean, Categorical, Domain, Integer
from eke.errors import SqlError
from eke.privacy.unit import Unit
from eke.question import AskedBlock, Question
from eke.sql import parse
from tests.parts import parts
from tests.property.test_sql_values import agree

STATEMENTS = 300
PARTS = 5
DOMAIN = Domain(
    month=Integer(1, 6), ward=Categorical("A", "B", "C", null="bucket"), urgent=Boolean()
)
UNIT = Unit("patient", 1000)
_CONDITIONS = (
    *("month BETWEEN 2 AND 4", "ward = 'A'", "ward IS NULL", "urgent", "NOT urgent", "month <> 3"),
    *("ward IN ('B', 'C') AND month > 2", "ward = 'A' OR urgent", "month % 2 = 0"),
)
_COUNTED = (
    "COUNT(DISTINCT patient)",
    "COUNT(DISTINCT v.patient)",
    "COUNT(DISTINCT CASE WHEN {} THEN patient END)",
    "COUNT(DISTINCT patient) FILTER (WHERE {})",
    "COUNT(*)",
    "COUNT(*) FILTER (WHERE {})",
)
_KEYS = ("month", "ward", "urgent", "CASE WHEN month < 3 THEN 'early' ELSE 'late' END")


def rows(number: int = 500) -> pd.DataFrame:
    """Sixty patients; some visits have none, and some no ward."""
    draw = np.random.default_rng(4)
    patient = pd.array(draw.integers(0, 60, number), dtype="Int64")
    patient[draw.random(number) < 0.1] = pd.NA
    ward = draw.choice(["A", "B", "C"], number).astype(object)
    ward[draw.random(number) < 0.2] = None
    return pd.DataFrame(
        {
            "patient": patient,
            "month": draw.integers(1, 7, number),
            "ward": ward,
            "urgent": draw.random(number) < 0.2,
        }
    )


def statement(draw: np.random.Generator) -> str:
    """One that counts people and records under conditions, in groups, and calculates with them."""

    def counted() -> str:
        return str(draw.choice(_COUNTED)).format(draw.choice(_CONDITIONS))

    columns = [counted() for _ in range(int(draw.integers(1, 4)))]
    if draw.random() < 0.4:
        columns.append(f"{counted()} {draw.choice(['-', '+'])} 2 * {counted()}")
    if draw.random() < 0.3:
        columns.append(f"{counted()} * 1.0 / NULLIF({counted()}, 0)")
    keys = list(draw.choice(_KEYS, int(draw.integers(0, 3)), replace=False))
    if not keys and draw.random() < 0.5:
        columns.append("COUNT(*) - (SELECT COUNT(DISTINCT patient) FROM v)")
    columns = [f"{text} AS c{place}" for place, text in enumerate(columns)]
    where = f" WHERE {draw.choice(_CONDITIONS)}" if draw.random() < 0.4 else ""
    named = [f"{key} AS k{place}" for place, key in enumerate(keys)]
    by = f" GROUP BY {', '.join(f'k{place}' for place in range(len(keys)))}" if keys else ""
    return f"SELECT {', '.join([*named, *columns])} FROM v{where}{by}"


class Lab:
    """The table as eke counts it and as DuckDB sees it."""

    def __init__(self) -> None:
        frame = rows()
        self.source = open_source(frame, DOMAIN, UNIT)
        self.engine = duckdb.connect(config={"threads": 1})
        self.engine.register("v", frame)

    def differs(self, text: str) -> str | None:
        """None when both have the same groups with the same values."""
        question = parse(text, DOMAIN, unit=UNIT)
        keys = len(question.group_by)
        found = {row[:keys]: row[keys:] for row in self.engine.sql(text).fetchall()}
        for place, labels in enumerate(question.keys()):
            ours = self.values(question, place)
            theirs = found.pop(tuple(labels), None)
            if theirs is None:  # DuckDB has no group without records
                theirs = (0,) * len(ours) if set(ours) <= {0, None} else None
                if theirs is None:
                    return f"{text}\n{labels}: {ours}, no such group"
                continue
            if not all(agree(a, b, 1.0) for a, b in zip(ours, theirs, strict=True)):
                return f"{text}\n{labels}: {ours}, not {theirs}"
        return f"{text}: no {found}" if found else None

    def values(self, question: Question, row: int) -> list[float | None]:
        answers = [self.answer(block, question.cell(row)) for block in question.blocks]
        formulas = [one.formula for one in question.columns if not one.is_key]
        return [None if (v := one.value(answers)) is None else float(v) for one in formulas]

    def answer(self, block: AskedBlock, cell: int) -> Fraction:
        query = block.cell(cell)
        if query.people:
            (held,) = self.source.holdings([query.needed])
            (steps,) = query.exact_people(held.attributes, held.codes, held.holders)
        else:
            (counts,) = self.source.counts([query.needed])
            (steps,) = query.exact_answers(counts.attributes, counts.codes, counts.counts)
        return steps * Fraction(2) ** query.exponent + query.constant


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab()


@pytest.mark.parametrize("part", parts(PARTS))
def test_values_are_those_of_duckdb(lab, part):
    """60 generated statements, 300 with the long ones, whose conditions can be met."""
    draw = np.random.default_rng([16, part])
    accepted = 0
    while accepted < STATEMENTS // PARTS:
        text = statement(draw)
        try:
            assert lab.differs(text) is None
        except SqlError as refused:
            assert "no combination of declared values" in str(refused), text  # noqa: PT017
        else:
            accepted += 1


def test_records_in_place_of_people_are_noticed(lab, monkeypatch):
    """Positive control: the same comparison with every pair of a patient and a cell counted."""
    text = "SELECT ward AS k0, COUNT(DISTINCT patient) AS c0 FROM v GROUP BY k0"
    assert lab.differs(text) is None
    monkeypatch.setattr(np, "unique", lambda pairs, **_: pairs)
    assert lab.differs(text) is not None
