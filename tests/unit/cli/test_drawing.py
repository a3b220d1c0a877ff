"""Drawing with letters."""

from __future__ import annotations

import math

import pytest

from eke.cli.drawing import (
    Scale,
    decimals,
    interval_bar,
    label,
    labels_below,
    number,
    share_bar,
    sparkline,
)


def test_an_interval_bar_has_its_ends_and_its_value_where_the_scale_says() -> None:
    scale = Scale(0.0, 10.0, 11)
    assert interval_bar(2, 5, 8, scale, unicode=True) == "  ├──●──┤  "
    assert interval_bar(2, 5, 8, scale, unicode=False) == "  |--o--|  "
    assert interval_bar(5, 5, 5, scale, unicode=True) == "     ●     "
    assert interval_bar(-99, 0, 99, scale, unicode=True) == "●─────────┤"


def test_a_scale_without_length_puts_everything_in_the_middle() -> None:
    scale = Scale(3.0, 3.0, 7)
    assert interval_bar(3, 3, 3, scale, unicode=True) == "   ●   "
    assert scale.points() == [3.0] * 7


def test_points_are_the_letters_of_the_scale() -> None:
    scale = Scale(-1.0, 1.0, 9)
    assert [scale.place(point) for point in scale.points()] == list(range(9))


def test_a_sparkline_has_one_letter_a_height_and_grows_with_it() -> None:
    assert sparkline([0, 1, 2, 4, 8], unicode=True) == "▁▂▃▅█"
    assert sparkline([0, 8, -1], unicode=False) == "_@_"
    assert sparkline([0, 0], unicode=True) == "  "
    assert sparkline([], unicode=True) == ""


def test_labels_stand_below_the_ends_and_never_overlap() -> None:
    scale = Scale(0.0, 40.0, 41)
    wide = labels_below("low", "high", scale, (5.0, 35.0))
    assert wide.index("low") == 4
    assert wide.index("high") == 33
    assert labels_below("12,345", "12,346", scale, (20.0, 20.1)).split() == ["12,345", "12,346"]


def test_a_share_bar_is_empty_or_full_only_if_the_share_is() -> None:
    assert share_bar(0.0, 4, unicode=True) == "░░░░"
    assert share_bar(0.001, 4, unicode=True) == "█░░░"
    assert share_bar(0.999, 4, unicode=False) == "###."
    assert share_bar(1.0, 4, unicode=False) == "####"


@pytest.mark.parametrize(
    ("half_width", "places"),
    [(600, 0), (60, 0), (6, 1), (0.5, 2), (0.02, 3), (0.0, 2), (math.inf, 2), (1e-30, 9)],
)
def test_decimals_follow_the_error(half_width: float, places: int) -> None:
    assert decimals(half_width) == places


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (12345.678, 0, "12,346"),
        (-0.4, 0, "0"),
        (-0.4, 1, "-0.4"),
        (None, 2, "–"),
        (math.nan, 2, "–"),
        (math.inf, 2, "∞"),
        (-math.inf, 2, "-∞"),
    ],
)
def test_numbers_are_readable(value: float | None, places: int, text: str) -> None:
    assert number(value, places) == text


@pytest.mark.parametrize(
    ("key", "text"),
    [(None, "missing"), ((0, 20), "0 to 20"), (True, "true"), (3, "3"), ("a", "a")],
)
def test_keys_are_readable(key: object, text: str) -> None:
    assert label(key) == text
