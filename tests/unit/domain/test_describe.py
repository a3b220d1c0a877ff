"""Sentences are made with integers; the slow twins here use fractions throughout.

What the sentences say is tested in `tests/unit/query/test_describe.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eke.domain import Attribute, Binned, Boolean, Integer
from eke.domain.describe import _ratio

FACTORS = st.fractions(-50, 50, max_denominator=12)


def slow_ratio(vector: Sequence[int], numbers: Sequence[Fraction]) -> Fraction | None:
    """The factor between the two, by the definition."""
    sizes = [abs(v) for v in vector]
    largest = sizes.index(max(sizes))
    if not numbers[largest]:
        return None
    ratio = vector[largest] / numbers[largest]
    allowed = Fraction(abs(vector[largest]), 10**8)
    close = all(abs(v - ratio * n) <= allowed for v, n in zip(vector, numbers, strict=True))
    return ratio if close else None


@given(
    st.lists(FACTORS, min_size=1, max_size=6),
    st.integers(1, 10**12),
    st.lists(st.integers(-3, 3), min_size=6, max_size=6),
)
def test_ratios_are_those_of_fractions(
    numbers: list[Fraction], scale: int, moved: list[int]
) -> None:
    """Vectors that are proportional up to a few units, some of them beyond what is allowed."""
    unit = 12 * 11 * 10 * 9 * 7 * 5
    whole = [int(number * unit) for number in numbers]
    exact = [Fraction(n, unit) for n in whole]
    vector = [round(n * scale) + m for n, m in zip(exact, moved, strict=False)]
    if any(vector):
        assert _ratio(vector, whole, unit) == slow_ratio(vector, exact)


@pytest.mark.parametrize(
    "attribute",
    [
        Integer(-3, 4),
        Integer(5, 5),
        Integer(0, 3, null="bucket"),
        Binned([0, 0.5, 2, 7]),
        Binned([0, 1, 4], null="bucket"),
        Boolean(),
    ],
)
def test_whole_numbers_are_the_numbers(attribute: Attribute) -> None:
    integers, unit = attribute.whole_numbers()
    assert tuple(Fraction(n, unit) for n in integers) == attribute.numbers()


@pytest.mark.parametrize("attribute", [Integer(-3, 4), Integer(0, 3, null="bucket")])
def test_labels_of_integers_read_as_those_of_all_attributes(attribute: Attribute) -> None:
    for code in range(attribute.size):
        assert attribute.label_text(code) == Attribute.label_text(attribute, code)
