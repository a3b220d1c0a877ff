"""A unit is checked when it is made."""

from __future__ import annotations

import dataclasses

import pytest

from eke.errors import PrivacyError
from eke.privacy.unit import Unit


def test_a_unit_is_one_row_of_each_id_unless_told_otherwise() -> None:
    assert Unit("patient") == Unit(column="patient", rows=1)
    assert Unit("patient", rows=10**6).rows == 10**6
    with pytest.raises(dataclasses.FrozenInstanceError):
        Unit("patient").rows = 2  # type: ignore[misc]


@pytest.mark.parametrize("column", ["", None, 3, b"id"])
def test_a_unit_needs_a_column(column) -> None:
    with pytest.raises(PrivacyError, match="id column"):
        Unit(column)


@pytest.mark.parametrize("rows", [0, -1, 1.0, True, "3", None, 10**6 + 1])
def test_rows_of_a_unit_are_a_whole_number_of_one_or_more(rows) -> None:
    with pytest.raises(PrivacyError, match="whole number"):
        Unit("patient", rows=rows)
