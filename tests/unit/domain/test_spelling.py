"""Decimal and Real: names for columns of numbers, in Python, in files and in drafts."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import eke
from eke.data.draft_form import form_text
from eke.domain import Numeric, domain_from_document, domain_to_document, read_domain
from eke.domain.spelling import decimal_fields
from eke.errors import DomainError


@pytest.mark.parametrize(
    ("scale", "step"), [(0, 1), (1, 0.1), (2, 0.01), (3, 0.001), (5, 1e-05), (9, 1e-09)]
)
def test_a_decimal_is_a_grid_of_its_digits(scale: int, step: float) -> None:
    high = float(f"7e-{scale}")  # 7 * 0.1 is no seven tenths
    made = eke.Decimal(0, high, scale, outside="never")
    assert made == Numeric(0, high, step, outside="never")
    assert made.progression == (Fraction(0), Fraction(1, 10**scale))


def test_digits_are_two_if_not_given_and_bounds_must_have_them() -> None:
    assert eke.Decimal(0, 99.99).size == 10_000
    with pytest.raises(DomainError, match=r"take 0\.5"):
        eke.Decimal(0, 0.55, scale=1)
    with pytest.raises(DomainError, match="at most 1,099,511,627,776 values"):
        eke.Decimal(0, 10**11)


@pytest.mark.parametrize("scale", [-1, 16, 1.5, True, "2", None])
def test_scales_that_are_none_are_refused(scale: Any) -> None:
    with pytest.raises(DomainError, match="whole number of digits"):
        eke.Decimal(0, 1, scale)


def test_a_real_is_rounded_to_its_step() -> None:
    made = eke.Real(-40, 60, step=0.5, null="bucket")
    assert made == Numeric(-40, 60, 0.5, null="bucket")
    assert made.code(36.7) == made.code(36.5)


def test_files_name_them_and_are_written_as_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(
        "attributes:\n"
        "  price: {type: decimal, low: 0, high: 99.99, scale: 2, outside: never}\n"
        "  heat: {type: real, low: -40, high: 60, step: 0.5, 'null': {replace: 0}}\n"
    )
    domain = read_domain(path)
    assert domain["price"] == eke.Decimal(0, 99.99, 2, outside="never")
    assert domain["heat"] == eke.Real(-40, 60, 0.5, null=eke.Replace(0))
    document = domain_to_document(domain)
    assert [one["type"] for one in document["attributes"].values()] == ["numeric", "numeric"]
    assert domain_from_document(document) == domain


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"type": "decimal", "low": 0}, "malformed"),
        ({"type": "decimal", "low": 0, "high": 1, "step": 1}, "malformed"),
        ({"type": "decimal", "low": 0, "high": 1, "scale": "two"}, "whole number of digits"),
        ({"type": "real", "low": 0, "high": 1}, "malformed"),
        ({"type": "float", "low": 0, "high": 1}, "decimal or real"),
    ],
)
def test_files_that_say_too_little_are_refused(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(DomainError, match=problem):
        domain_from_document({"attributes": {"x": fields}})


def test_drafts_write_decimals() -> None:
    domain = eke.Domain(a=Numeric(0, 1, 0.01), b=Numeric(0, 1, 0.25), c=Numeric(0, 9, 1e-05))
    text = form_text(domain, ["1", "2", "3"])
    assert text.count("type: decimal") == 2
    assert "scale: 2" in text
    assert "scale: 5" in text
    assert "step: 0.25" in text
    plain = {"type": "integer", "low": 0, "high": 1}
    assert decimal_fields(plain) == plain


def test_sums_and_conditions_are_exact_at_every_digit(tmp_path: Path) -> None:
    """Next to no noise: 0.1 + 0.2 is three tenths, and 0.3 is one of the values."""
    rows = pd.DataFrame({"price": [0.1, 0.2, 0.3, 0.29, 7.77] * 20})
    domain = eke.Domain(price=eke.Decimal(0, 9.99, 2, outside="never"))
    session = eke.create(tmp_path / "p.eke", rows, domain, epsilon=1e9)
    total = session.ask("SELECT SUM(price) FROM t WHERE price <= 0.3", within=0.004)
    assert abs(total.value - 17.8) <= 0.004
    counted = session.ask("SELECT COUNT(*) FROM t WHERE price = 0.3 OR price > 7.76", within=0.2)
    assert round(counted.value) == 40
