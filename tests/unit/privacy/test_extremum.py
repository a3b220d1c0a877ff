"""The maximum over a product domain against enumeration of every cell.

All random inputs come from generators seeded here, so a failing case can be run again.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from eke.errors import PrivacyError
from eke.privacy import branch_bound, extremum
from eke.privacy.extremum import Extremum, maximum, upper_bound
from eke.privacy.hill_climb import climbed_cell, promising_cell
from eke.privacy.loss_tables import LossTables
from tests.parts import in_long

NINE = dict(zip("abcdefghi", (79, 2, 17, 51, 9, 7, 6, 50, 50), strict=True))


def every_cell(tables: LossTables) -> np.ndarray:
    """B(t) for all t: the obvious slow twin."""
    names = sorted(tables.sizes)
    total = np.zeros([tables.sizes[name] for name in names], np.int64)
    for table in tables:
        inside = table.attributes
        total += table.cells.reshape([tables.sizes[n] if n in inside else 1 for n in names])
    return total


def check(tables: LossTables, result: Extremum, truth: int, enough: int | None = None) -> None:
    """Everything that `maximum` promises about its result."""
    assert result.upper >= truth, "the loss of some cell was under-counted"
    assert result.lower <= truth
    if result.witness is None:
        assert result.lower == 0
    else:
        assert set(result.witness) == set(tables.sizes)
        assert tables.at(result.witness) == result.lower
    assert result.exact == (result.upper == result.lower)
    assert result.upper <= upper_bound(tables)
    if enough is not None and result.lower > enough:
        assert truth > enough
    if enough is not None and result.upper <= enough:
        assert truth <= enough


def random_tables(rng: np.random.Generator) -> LossTables:
    """A small collection: sizes 1 to 5, up to five attributes, zeros, repeats, perhaps empty."""
    names = "abcde"[: rng.integers(1, 6)]
    tables = LossTables({name: int(rng.integers(1, 6)) for name in names})
    largest = int(rng.choice([1, 3, 50, 10**7]))
    for _ in range(rng.integers(0, 9)):
        order = int(rng.integers(0, min(4, len(names)) + 1))
        attributes = tuple(sorted(rng.choice(list(names), size=order, replace=False).tolist()))
        shape = [tables.sizes[name] for name in attributes]
        cells = rng.integers(0, largest + 1, size=shape) * (rng.random(shape) < rng.random())
        tables.add(attributes, np.asarray(cells, np.int64))
    return tables


def random_query(rng: np.random.Generator, sizes: dict[str, int]) -> tuple:
    """A range over one to three attributes with a loss of 1e5 to 1e7 nano-units."""
    order = int(rng.integers(1, 4))
    attributes = tuple(sorted(rng.choice(list(sizes), size=order, replace=False).tolist()))
    cells = np.array(rng.integers(10**5, 10**7 + 1), np.int64)
    for name in attributes:
        low, high = sorted(rng.integers(0, sizes[name], size=2))
        inside = np.arange(sizes[name])
        cells = cells[..., None] * ((inside >= low) & (inside <= high)).astype(np.int64)
    return attributes, cells


@pytest.fixture(params=["ample", "split"])
def ladder(request, monkeypatch):
    """The ladder as it is, and one whose tables are so small that every fallback is needed."""
    if request.param == "split":
        monkeypatch.setattr(extremum, "LARGEST_ELIMINATION", 1)
        monkeypatch.setattr(extremum, "LARGEST_PART", 6)
        monkeypatch.setattr(extremum, "LEAST_GAIN", 1)
        monkeypatch.setattr(branch_bound, "SMALLEST_BLOCK", 1)
    return request.param


@pytest.mark.parametrize("number", [200, in_long(1000)])
def test_random_collections_against_enumeration(ladder, number):
    """With the default effort each of them must be solved exactly."""
    rng = np.random.default_rng(1)
    for _ in range(number):
        tables = random_tables(rng)
        truth = int(every_cell(tables).max())
        result = maximum(tables)
        check(tables, result, truth)
        assert result.exact
        assert result.upper == truth


@pytest.mark.parametrize("number", [200, in_long(1000)])
def test_less_effort_is_never_less_than_the_truth(ladder, number):
    """Collections, each without effort and with three random efforts."""
    rng = np.random.default_rng(2)
    inexact = 0
    for _ in range(number):
        tables = random_tables(rng)
        truth = int(every_cell(tables).max())
        for effort in (0, *(int(10 ** rng.uniform(1, 4.5)) for _ in range(3))):
            enough = None if rng.random() < 0.5 else int(rng.integers(0, 2 * truth + 2))
            result = maximum(tables, enough, effort)
            check(tables, result, truth, enough)
            inexact += not result.exact
    assert inexact > number / 10  # otherwise no fallback was tried


@pytest.mark.parametrize("number", [100, in_long(500)])
def test_enough_is_decided_as_enumeration_decides(ladder, number):
    """Limits around the maximum: all decided, all rightly."""
    rng = np.random.default_rng(3)
    for _ in range(number):
        tables = random_tables(rng)
        truth = int(every_cell(tables).max())
        limits = {0, truth - 1, truth, truth + 1, (truth + upper_bound(tables)) // 2}
        for enough in sorted(limit for limit in limits if limit >= 0):
            result = maximum(tables, enough)
            check(tables, result, truth, enough)
            assert (result.upper <= enough) == (truth <= enough)
            assert (result.lower > enough) == (truth > enough)


@pytest.mark.parametrize("queries", [3, 30, 300])
def test_ranges_over_a_middling_domain(queries):
    sizes = {"a": 12, "b": 2, "c": 9, "d": 10, "e": 6, "f": 1}
    rng = np.random.default_rng(queries)
    for _ in range(10):
        tables = LossTables(sizes)
        for _ in range(queries):
            tables.add(*random_query(rng, sizes))
        truth = int(every_cell(tables).max())
        for enough in (None, truth - 1, truth, truth + truth // 100):
            check(tables, maximum(tables, enough), truth, enough)
        assert maximum(tables).upper == truth


def test_a_wrong_maximum_is_caught():
    """Positive control: the height of a local hill, reported as the maximum, fails the check."""
    rng = np.random.default_rng(4)
    caught = 0
    for _ in range(300):
        tables = random_tables(rng)
        truth = int(every_cell(tables).max())
        hill = tables.at(climbed_cell(tables, dict.fromkeys(tables.sizes, 0)))
        wrong = replace(maximum(tables), upper=hill, lower=hill, witness=None)
        if hill < truth:
            with pytest.raises(AssertionError, match="under-counted"):
                check(tables, wrong, truth)
            caught += 1
    assert caught > 20


def test_a_wrong_witness_is_caught():
    tables = LossTables({"a": 2})
    tables.add(("a",), np.array([3, 7]))
    right = maximum(tables)
    check(tables, right, 7)
    with pytest.raises(AssertionError):
        check(tables, replace(right, witness={"a": 0}), 7)


def test_nothing_spent_and_constant_losses():
    tables = LossTables({"a": 3, "b": 1})
    assert maximum(tables).upper == 0
    tables.add((), np.array(5))
    tables.add((), np.array(6))
    assert maximum(tables) == Extremum(11, 11, exact=True, witness={"a": 0, "b": 0})
    assert maximum(tables, enough=10).lower == 11
    assert maximum(tables, enough=11).upper == 11


def test_losses_too_large_to_shift_still_get_a_safe_bound():
    huge = 2**59
    tables = LossTables({"a": 2, "b": 2, "c": 2})
    for pair in combinations("abc", 2):
        tables.add(pair, np.array([[0, huge], [huge, 0]]))
    result = maximum(tables)
    check(tables, result, int(every_cell(tables).max()))
    assert result.upper == 3 * huge
    assert result.lower == 2 * huge


def test_negative_effort_is_an_error():
    with pytest.raises(PrivacyError, match="effort"):
        maximum(LossTables({"a": 1}), effort=-1)


@pytest.mark.parametrize("number", [25, in_long(100)])
def test_the_outcome_does_not_depend_on_order_or_caches(number):
    """Shuffled histories, also when the effort runs out at any point."""
    rng = np.random.default_rng(5)
    sizes = {"a": 6, "b": 5, "c": 4, "d": 3}
    for _ in range(number):
        queries = [random_query(rng, sizes) for _ in range(25)]
        tables, shuffled = LossTables(sizes), LossTables(sizes)
        for query in queries:
            tables.add(*query)
        effort = int(10 ** rng.uniform(1, 5))
        enough = int(maximum(tables).upper * rng.uniform(0.9, 1.2))
        warm = maximum(tables, enough, effort)
        for position in rng.permutation(len(queries)):
            shuffled.add(*queries[position])
        assert maximum(shuffled, enough, effort) == warm
        assert maximum(shuffled, enough, effort) == warm


def test_a_trial_leaves_the_original_as_it_was():
    rng = np.random.default_rng(6)
    for _ in range(100):
        tables = random_tables(rng)
        before, bounds = every_cell(tables), maximum(tables)
        attributes = tuple(tables.sizes)[:3]
        cells = rng.integers(0, 9, [tables.sizes[name] for name in attributes])
        candidate = tables.trial(attributes, cells)
        truth = int(every_cell(candidate).max())
        check(candidate, maximum(candidate), truth)
        assert np.array_equal(every_cell(tables), before)
        assert maximum(tables) == bounds
        tables.add(attributes, cells)
        assert np.array_equal(every_cell(tables), every_cell(candidate))
        assert maximum(tables) == maximum(candidate)


@pytest.mark.parametrize("number", [250, in_long(1000)])
def test_many_questions_over_nine_attributes(number):
    """Domain of 1.3e11 cells: decisions next to the limit are exact and well within the effort."""
    rng = np.random.default_rng(7)
    tables = LossTables(NINE)
    for _ in range(number):
        tables.add(*random_query(rng, NINE))
    spent = maximum(tables)
    assert spent.exact
    assert upper_bound(tables) > 1.2 * spent.upper
    for _ in range(5):
        candidate = tables.trial(*random_query(rng, NINE))
        truth = maximum(candidate, effort=extremum.DEFAULT_EFFORT // 2)
        assert truth.exact
        assert truth.witness is not None
        assert candidate.at(truth.witness) == truth.upper >= spent.upper
        assert maximum(candidate, truth.upper).upper <= truth.upper
        assert maximum(candidate, truth.upper - 1).lower > truth.upper - 1


def test_promising_cell_is_a_cell_and_climbing_never_descends():
    rng = np.random.default_rng(8)
    for _ in range(200):
        tables = random_tables(rng)
        start = {name: int(rng.integers(size)) for name, size in tables.sizes.items()}
        for cell in (start, promising_cell(tables)):
            assert all(0 <= cell[name] < size for name, size in tables.sizes.items())
            assert tables.at(climbed_cell(tables, cell)) >= tables.at(cell)
