"""What tools of PostgreSQL are told of a column of 10⁹ values, without a list of them."""

from __future__ import annotations

from eke.domain import Decimal, Domain, Integer
from eke.wire.table import _declared


def test_three_values_stand_for_those_of_a_wide_column() -> None:
    assert list(_declared(Decimal(0, 10_000_000, 2, null="bucket"))) == [0.0, 5_000_000.0, 1e7]
    assert list(_declared(Integer(-1, 10**12 - 2))) == [-1, 499_999_999_998, 10**12 - 2]
    assert list(_declared(Integer(0, 3))) == [0, 1, 2, 3]
    assert Domain(paid=Decimal(0, 10_000_000, 2)).size == 10**9 + 1
