"""Measurements: what is kept of a release."""

from __future__ import annotations

import pytest

from eke.domain import Domain, Integer
from eke.errors import QueryError
from eke.history import Measurement, Row
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace
from eke.query import block_from_document, count, marginal, total

DOMAIN = Domain(a=Integer(0, 2), b=Integer(0, 1))
LAW = DiscreteLaplace(10, -3)


def test_a_query_is_one_row():
    query = total("a").on(DOMAIN)
    measurement = Measurement(query, LAW, (2.5,), 7, "ann", "now")
    assert list(measurement.rows()) == [Row(query, 2.5, LAW)]


def test_a_block_is_a_row_for_each_cell():
    block = marginal("a", "b").on(DOMAIN)
    values = tuple(float(i) for i in range(6))
    rows = list(Measurement(block, LAW, values).rows())
    assert [row.value for row in rows] == list(values)
    assert rows[1].query == count(a=0, b=1).on(DOMAIN)
    assert rows[-1].query == count(a=2, b=1).on(DOMAIN)


@pytest.mark.parametrize(
    ("asked", "values"),
    [
        (count(a=1), (3.25,)),
        (total("a") / 3 - count(b=0), (-7.0,)),
        (marginal("b", of=total("a")), (1.0, -2.125)),
    ],
)
@pytest.mark.parametrize("law", [LAW, DiscreteGaussian(3, -5)])
def test_writing_down_and_reading_back(asked, values, law):
    query = asked.on(DOMAIN)
    measurement = Measurement(query, law, values, 9, "ann", "2026-01-01")
    document = measurement.to_document()
    again = Measurement.from_document(DOMAIN, document, sequence=9, analyst="ann", at="2026-01-01")
    assert again == measurement
    assert block_from_document(DOMAIN, document["query"]) == query


def test_wrong_measurements():
    with pytest.raises(QueryError, match="needs 1 values"):
        Measurement(count().on(DOMAIN), LAW, (1.0, 2.0))
    with pytest.raises(QueryError, match="needs 3 values"):
        Measurement(marginal("a").on(DOMAIN), LAW, (1.0,))
    with pytest.raises(QueryError, match="constant"):
        Measurement((count() + 1).on(DOMAIN), LAW, (1.0,))
