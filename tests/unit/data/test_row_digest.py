"""The digest that an engine sums up: a polynomial whose coefficients are the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eke.data.grouping import scan_sets
from eke.data.reduction import code_column
from eke.data.row_digest import LANES, PRIME, SecretPoint, wheel_size
from eke.data.sealed import SealedEngine
from eke.domain import Domain, Integer

SMALL = Domain(a=Integer(0, 2), b=Integer(0, 1), c=Integer(0, 4))
WIDE = Domain(one=Integer(0, 0), big=Integer(1, 10**6), a=Integer(0, 299), b=Integer(0, 1))


def slow_sums(point: SecretPoint, rows: Sequence[tuple[int, ...]]) -> list[int]:
    """One row at a time, in Python."""
    sums = []
    for lane in range(LANES):
        total = 0
        for row in rows:
            factors = []
            for number, wheel in enumerate(point.wheels()):
                index = 0
                for digit in wheel:
                    index = index * digit.size + row[digit.place] // digit.below % digit.size
                factors.append(point.numbers(lane, number, wheel_size(wheel))[index])
            total += prod(factors) % PRIME
        sums.append(total)
    return sums


def digest(point: SecretPoint, domain: Domain, rows: Sequence[tuple[int, ...]]) -> str | None:
    columns = {
        code_column(place): pa.array([row[place] for row in rows], pa.int32())
        for place in range(len(domain))
    }
    with SealedEngine() as engine:
        table = engine.register("raw", pa.table(columns))
        return scan_sets(table, [domain.names[-1:]], domain, engine, point).digest


@pytest.mark.parametrize("domain", [SMALL, WIDE])
def test_the_engine_sums_what_the_slow_twin_does(domain: Domain) -> None:
    point = SecretPoint.draw(domain)
    rows = [
        tuple((7 * n + 3) ** (p + 1) % s for p, s in enumerate(domain.shape)) for n in range(50)
    ]
    expected = point.seal(slow_sums(point, rows))
    assert digest(point, domain, rows) == expected
    assert digest(point, domain, rows[::-1]) == expected, "in any order"
    assert digest(SecretPoint.from_salt(point.salt, domain), domain, rows) == expected
    assert digest(SecretPoint.draw(domain), domain, rows) != expected, "the point is secret"


Cells = st.tuples(*(st.integers(0, size - 1) for size in SMALL.shape))


@settings(max_examples=60)
@given(st.lists(Cells, max_size=12), st.lists(Cells, max_size=12))
def test_two_tables_agree_only_if_they_are_the_same(
    one: list[tuple[int, ...]], other: list[tuple[int, ...]]
) -> None:
    point = SecretPoint.draw(SMALL)
    same = point.seal(slow_sums(point, one)) == point.seal(slow_sums(point, other))
    assert same == (Counter(one) == Counter(other))


def test_swapped_values_that_no_marginal_shows_are_noticed() -> None:
    """The parity of three attributes: all marginals of two are the same."""
    even = [(a, b, (a + b) % 2) for a in (0, 1) for b in (0, 1)]
    odd = [(a, b, 1 - (a + b) % 2) for a in (0, 1) for b in (0, 1)]
    point = SecretPoint.draw(SMALL)
    assert digest(point, SMALL, even) != digest(point, SMALL, odd)


@pytest.mark.parametrize("domain", [SMALL, WIDE, Domain(one=Integer(0, 0))])
def test_digits_tell_all_codes_apart_and_fit_their_tables(domain: Domain) -> None:
    wheels = SecretPoint.draw(domain).wheels()
    assert all(wheel_size(wheel) <= 128 for wheel in wheels)
    for place, size in enumerate(domain.shape):
        digits = [d for wheel in wheels for d in wheel if d.place == place]
        codes = {tuple(c // d.below % d.size for d in digits) for c in range(size)}
        assert len(codes) == size


def test_the_salt_is_not_shown() -> None:
    point = SecretPoint.draw(SMALL)
    assert point.salt not in repr(point)
