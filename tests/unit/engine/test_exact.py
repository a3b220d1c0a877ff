"""Exact answers against adding up records one by one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eke.data import Counts, open_source
from eke.domain import Domain, Integer
from eke.engine.exact import exact_answers
from eke.mechanism import secret
from eke.query import Marginal, Query, count, marginal, moment, total
from tests.random_questions import random_domain, random_question
from tests.unit.privacy.loss_twin import contributions

DOMAIN = Domain(a=Integer(0, 3), b=Integer(0, 2), c=Integer(0, 1))


def opened(answers: secret.Secret) -> list[Fraction]:
    """The numbers inside a secret; only a test may look."""
    unit = Fraction(2) ** answers.exponent
    return [number * unit for number in secret._EXACT.__get__(answers)]


def by_hand(measured: Query | Marginal, rows: list[tuple[int, ...]]) -> list[Fraction]:
    size = measured.cells if isinstance(measured, Marginal) else 1
    found = [Fraction(0)] * size
    for row in rows:
        found = [x + y for x, y in zip(found, contributions(measured, row), strict=True)]
    return found


@pytest.mark.parametrize("seed", range(40))
def test_answers_are_sums_of_contributions(seed):
    """Random domains, tables (also empty) and questions: counts, sums, tables, blocks."""
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, closed=True)
    rows = [
        tuple(int(rng.integers(0, size)) for size in domain.shape)
        for _ in range(int(rng.choice([0, 1, 30])))
    ]
    columns: dict[str, Any] = {}
    for place, (name, attribute) in enumerate(domain.attributes):
        labels = [attribute.declared[row[place]] for row in rows]
        columns[name] = pa.array(
            labels, pa.int64() if isinstance(attribute, Integer) else pa.string()
        )
    source = open_source(pa.table(columns), domain)
    for _ in range(4):
        measured = random_question(rng, domain, blocks=0.5).on(domain)
        counts = source.counts([measured.needed])[0]
        found = exact_answers(measured, counts)
        assert found.count == (measured.cells if isinstance(measured, Marginal) else 1)
        assert opened(found) == by_hand(measured, rows)


def test_only_the_needed_attributes_are_counted():
    assert count(c=1, a=2).on(DOMAIN).needed == ("a", "c")
    assert count().on(DOMAIN).needed == ()
    assert marginal("b", of=total("a")).on(DOMAIN).needed == ("a", "b")


def test_huge_sums_are_exact():
    """Past 64 bits: 2^62 records of coefficient 81, and one more."""
    query = moment(a=4).on(DOMAIN)
    codes = np.array([[1], [3]], np.int64)
    counts = Counts(("a",), codes, np.array([1, 2**62], np.int64))
    assert opened(exact_answers(query, counts)) == [81 * 2**62 + 1]


def test_answers_cannot_be_looked_at():
    counts = Counts((), np.zeros((1, 0), np.int64), np.array([5], np.int64))
    answers = exact_answers(count().on(DOMAIN), counts)
    looks: list[Callable[[Any], object]] = [repr, str, list, float, bool]
    for look in looks:
        with pytest.raises(Exception, match="reveal_with_noise"):
            look(answers)
