"""Pieces against their slow twins: the same functions of the codes, written out as lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eke.domain import wide
from eke.errors import QueryError
from eke.query import runs as runs_module
from eke.query.pieces import Pieces, TooLarge, meet
from eke.query.runs import MOST_WIDE_RUNS, Runs

SIZE = 40
DIFFERENCES = st.lists(st.integers(-9, 9), min_size=1, max_size=4).map(tuple)
STARTS = st.sets(st.integers(1, SIZE - 1), max_size=4)


@st.composite
def functions(draw: Any) -> Pieces:
    """A function of 40 codes in up to five stretches."""
    starts = [0, *sorted(draw(STARTS))]
    return Pieces(SIZE, [(start, draw(DIFFERENCES)) for start in starts])


def listed(pieces: Pieces) -> list[int]:
    return [pieces.at(code) for code in range(pieces.size)]


@given(functions(), functions(), st.integers(-5, 5))
def test_calculating_with_pieces_is_calculating_with_each_number(
    one: Pieces, other: Pieces, factor: int
) -> None:
    first, second = listed(one), listed(other)
    pairs = list(zip(first, second, strict=True))
    assert listed(one + other) == [a + b for a, b in pairs]
    assert listed(one - other) == [a - b for a, b in pairs]
    assert listed(one * other) == [a * b for a, b in pairs]
    assert listed(one * factor) == [a * factor for a in first]
    assert listed(abs(one)) == [abs(a) for a in first]
    assert listed(one.sign()) == [(a > 0) - (a < 0) for a in first]
    assert listed(one.minimum(other)) == [min(a, b) for a, b in pairs]
    assert listed(one.maximum(other)) == [max(a, b) for a, b in pairs]


@given(functions())
def test_what_is_said_of_pieces_is_so_of_each_number(pieces: Pieces) -> None:
    numbers = listed(pieces)
    assert pieces.bounds == (min(numbers), max(numbers))
    assert pieces.height == max(map(abs, numbers))
    assert pieces.is_zero == (not any(numbers))
    assert pieces.at_codes(np.arange(SIZE)).tolist() == numbers
    signs: list[int] = []
    for sign, stop in pieces.signs():
        signs += [sign] * (stop - len(signs))
    assert signs == [(number > 0) - (number < 0) for number in numbers]
    assert Pieces.of_vector(np.array(numbers)).bounds == pieces.bounds


@given(functions(), st.integers(1, 7))
def test_steps_are_those_of_each_number(pieces: Pieces, width: int) -> None:
    labels: list[int] = []
    for label, stop in pieces.steps(lambda number: number // width, 10**6):
        labels += [label] * (stop - len(labels))
    assert labels == [number // width for number in listed(pieces)]


@given(functions(), functions())
def test_two_vectors_meet_where_both_are_not_zero(one: Pieces, other: Pieces) -> None:
    first, second = (np.array(listed(each)) for each in (one, other))
    assert meet(first, second) == bool((first * second).any())


def on_narrow(test: Callable[..., None]) -> Callable[..., None]:
    return settings(max_examples=60, deadline=None)(test)


@given(functions(), functions())
@on_narrow
def test_wide_vectors_are_canonical_and_hold_the_same_numbers(one: Pieces, other: Pieces) -> None:
    """With every column wide, equal functions are one vector, however they came about."""
    patch = pytest.MonkeyPatch()
    patch.setattr(wide, "MOST_LISTED", 1)
    patch.setattr(runs_module, "WIDE", 1)
    try:
        low = [part for part in (one, other) if max(len(d) for _, d in part.parts) <= 3]
        for part in low:
            vector = part.runs()
            assert isinstance(vector, Runs)
            assert [vector.at(code) for code in range(SIZE)] == listed(part)
            assert vector.at_codes(np.arange(SIZE)).tolist() == listed(part)
            assert vector.total == sum(listed(part))
            again = (part + other - other).runs()
            assert isinstance(again, Runs)
            assert again.pieces == vector.pieces
            assert listed(Pieces.of_vector(vector)) == listed(part)
            with pytest.raises(QueryError, match="are not listed one by one"):
                vector.dense()
    finally:
        patch.undo()


def test_numbers_of_a_trillion_codes_are_exact() -> None:
    """Entries of runs are looked up in 64 bits that wrap around, and come back."""
    size = 10**12 + 1
    line = Pieces(size, [(0, (-(10**11), 1)), (size - 1, (0,))])
    codes = np.array([0, 1, 10**11, 10**12 - 1, 10**12])
    vector = line.runs()
    assert isinstance(vector, Runs)
    assert vector.at_codes(codes).tolist() == line.at_codes(codes).tolist()
    assert line.at_codes(codes).tolist() == [-(10**11), 1 - 10**11, 0, 9 * 10**11 - 1, 0]
    squares = line * line
    assert squares.at(10**12 - 1) == (9 * 10**11 - 1) ** 2
    assert [*squares.signs()] == [(1, 10**11), (0, 10**11 + 1), (1, size - 1), (0, size)]
    # A parabola over so many codes, whose entries stay below 2^59.
    half = Pieces(size, [(0, (0,)), (10**12 - 5 * 10**8, (5, 3, 1)), (size - 1, (0,))])
    flat = half.runs()
    assert isinstance(flat, Runs)
    far = np.array([10**12 - 1, 10**12 - 2, 10**12 - 5 * 10**8])
    assert flat.at_codes(far).tolist() == half.at_codes(far).tolist()


def test_what_falls_into_too_many_stretches_is_refused() -> None:
    size = 10**9
    line = Pieces(size, [(0, (0, 1))])
    with pytest.raises(TooLarge, match="more than 10 stretches"):
        list(line.steps(lambda number: number // 1000, 10))
    spikes = [(code % 2, code + 1) for code in range(2 * MOST_WIDE_RUNS)]
    with pytest.raises(TooLarge, match="more than 4,096 stretches"):
        Pieces.of_stretches([*spikes, (0, size)])
    with pytest.raises(TooLarge, match="use lower powers"):
        Pieces(size, [(0, (0, 0, 0, 1))]).runs()
    with pytest.raises(QueryError, match=r"below 2\^59"):
        (line * line).runs()
    with pytest.raises(ValueError, match="different columns"):
        line + Pieces.constant(3, 1)
