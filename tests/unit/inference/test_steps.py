"""Products by steps are products: exactly, modulo the prime, for any integer vector."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from eke.inference.functionals import Functionals
from eke.inference.residues import PRIME, Residues
from eke.inference.steps import StepRows, steps_of
from eke.query.runs import WIDE, Runs, held
from tests.parts import in_long

LARGE = st.integers(-(2**62) + 1, 2**62 - 1)
RUNS = st.lists(st.tuples(LARGE | st.integers(-2, 2), st.integers(1, 40)), min_size=1, max_size=6)


def expanded(runs: list[tuple[int, int]]) -> NDArray[np.int64]:
    return np.repeat(np.array([v for v, _ in runs], np.int64), [n for _, n in runs])


def slow_product(vector: NDArray[np.int64], other: Residues) -> int:
    """The definition, in Python's integers."""
    pairs: list[tuple[int, int]] = list(zip(vector.tolist(), other.tolist(), strict=True))
    return sum(v * r for v, r in pairs) % PRIME


def drawn(rows: int, size: int, seed: int) -> Residues:
    generator = np.random.Generator(np.random.PCG64(seed))
    return generator.integers(0, PRIME, (rows, size)).astype(np.int32)


def sums(vector: Residues) -> Residues:
    return (np.cumsum(vector, dtype=np.int64) % PRIME).astype(np.int32)


@given(RUNS, st.integers(0, 20))
@settings(max_examples=60, deadline=None)
def test_products_with_many_functionals(runs: list[tuple[int, int]], first: int) -> None:
    """By hashes alone, and by sums that are kept: both are the product with the vector itself."""
    vector = expanded(runs)
    functionals = Functionals({"other": 3, "a": len(vector)})
    numbers = np.arange(first, first + 5)
    expected = []
    for number in numbers.tolist():
        running = functionals.sums("a", number)
        assert running[-1] == 1
        expected.append(slow_product(vector, np.diff(running, prepend=0)))
    assert functionals.products("a", vector, numbers).tolist() == expected
    assert functionals.products("a", np.zeros_like(vector), numbers).tolist() == [0] * 5


def test_functionals_are_random_and_differ() -> None:
    """Sums are spread over all residues, and those of one attribute say nothing of another's."""
    sizes = {"a": 4001, "b": 4001}
    drawn = [Functionals(sizes).sums(name, number)[:-1] for name in sizes for number in (0, 1)]
    for place, one in enumerate(drawn):
        counts = np.bincount(one // (PRIME // 16 + 1), minlength=16)
        assert ((counts - 250.0) ** 2 / 250.0).sum() < 50.0  # χ² with 15 degrees: p = 1e-5
        for other in drawn[:place]:
            assert abs(np.corrcoef(one, other)[0, 1]) < 0.08  # five deviations
    assert np.array_equal(drawn[0], Functionals(sizes).sums("a", 0)[:-1])


@given(st.lists(st.lists(LARGE, min_size=7, max_size=7), max_size=5), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_products_of_many_vectors(vectors: list[list[int]], seed: int) -> None:
    (functional,) = drawn(1, 7, seed)
    held = StepRows()
    for vector in vectors:
        held.append(np.array(vector, np.int64))
    expected = [slow_product(np.array(v, np.int64), functional) for v in vectors]
    assert held.products(sums(functional)).tolist() == expected


@pytest.mark.parametrize(
    ("vector", "places", "steps"),
    [
        ([0, 0, 0], [], []),
        ([5], [0], [5]),
        ([1, 1, 1], [2], [1]),
        ([0, 1, 1, 0], [0, 2], [PRIME - 1, 1]),
        ([PRIME, 0], [], []),
    ],
)
def test_steps_are_where_a_vector_changes(
    vector: list[int], places: list[int], steps: list[int]
) -> None:
    found = steps_of(np.array(vector, np.int64))
    assert (found[0].tolist(), found[1].tolist()) == (places, steps)


def test_wide_vectors_are_looked_up_where_they_change() -> None:
    """Both ways: a range changes twice, a sum at every value."""
    size = 5000
    functionals, numbers = Functionals({"a": size}), np.arange(3)
    kept = []
    for vector in ((np.arange(size) > 3000).astype(np.int64), np.arange(size)):
        expected = [
            slow_product(vector, np.diff(functionals.sums("a", number), prepend=0))
            for number in range(3)
        ]
        assert functionals.products("a", vector, numbers).tolist() == expected
        kept.append(functionals.nbytes > 0)
    assert kept == [False, True]


def test_a_view_and_its_original_grow_apart() -> None:
    (functional,) = drawn(1, 50, 2)
    generator = np.random.Generator(np.random.PCG64(3))
    vectors = generator.integers(-9, 9, (12, 50))
    first = StepRows()
    for vector in vectors[:4]:
        first.append(vector)
    second = first.view()
    for vector in vectors[4:8]:
        first.append(vector)
    for vector in vectors[8:]:
        second.append(vector)
    expected = [slow_product(vector, functional) for vector in vectors]
    assert first.products(sums(functional)).tolist() == expected[:8]
    assert second.products(sums(functional)).tolist() == [*expected[:4], *expected[8:]]
    assert first.nbytes > 0


def test_a_product_with_another_functional_is_another() -> None:
    """Positive control: the comparisons above can fail."""
    one, other = drawn(2, 7, 4)
    held = StepRows()
    held.append(np.arange(7))
    assert held.products(sums(one)).tolist() != [slow_product(np.arange(7), other)]


PIECES = st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 40)), min_size=1, max_size=5)


@pytest.mark.parametrize("examples", [8, in_long(30)])
def test_wide_attributes_have_functionals_of_vectors(examples: int) -> None:
    settings(max_examples=examples, deadline=None)(given(PIECES)(check_functionals))()


def check_functionals(runs: list[tuple[int, int]]) -> None:
    """Along a wide one: linear, 1 on ones, and the same whether a vector is kept as runs or not."""
    size = WIDE + 500
    vector = np.zeros(size, np.int64)
    head = expanded(runs)
    vector[: len(head)] = head
    vector[len(head) :] = np.arange(size - len(head)) * runs[0][0]
    functionals, numbers = Functionals({"a": size}), np.arange(4)
    ones = functionals.products("a", np.ones(size, np.int64), numbers)
    assert ones.tolist() == [1, 1, 1, 1]
    kept = held(vector)
    assert isinstance(kept, Runs)
    by_runs = functionals.products("a", kept, numbers)
    assert by_runs.tolist() == functionals.products("a", vector, numbers).tolist()
    rough = np.arange(size) ** 3 % 1_009  # of no few runs
    assert not isinstance(held(rough), Runs)
    both = functionals.products("a", vector + rough, numbers).astype(np.int64)
    alone = functionals.products("a", rough, numbers).astype(np.int64)
    assert ((both - by_runs - alone) % PRIME == 0).all()
    rows = StepRows()
    for one in (kept, rough):
        rows.append(one)
    expected = [int(by_runs[2]), int(alone[2])]
    assert rows.products_at(functionals.sums_at("a", 2, rows.places)).tolist() == expected
    assert rows.products(functionals.sums("a", 2)).tolist() == expected
    # The definition: third sums of a vector r of residues, with Σ v_i r_i.
    sums_of_sums = functionals.sums("a", 2).astype(np.int64)
    for _ in range(3):
        sums_of_sums = np.diff(sums_of_sums, prepend=0) % PRIME
    assert slow_product(vector, sums_of_sums.astype(np.int32)) == expected[0]
