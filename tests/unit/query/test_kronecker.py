"""Kronecker blocks against the queries that they stand for, one by one."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import QueryError
from eke.query.kronecker import Kronecker

DOMAIN = Domain(
    a=Categorical("x", "y", "z"),
    b=Categorical("p", "q"),
    c=Categorical(*(str(i) for i in range(4))),
)


def _block(seed: int) -> Kronecker:
    rng = np.random.default_rng(seed)
    matrices = (rng.integers(-4, 5, size=(5, 3)), rng.integers(-4, 5, size=(2, 4)))
    return Kronecker(DOMAIN, ("a", "c"), matrices)


@pytest.mark.parametrize("seed", range(5))
def test_block_is_its_queries(seed: int) -> None:
    block = _block(seed)
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 100, size=DOMAIN.shape)
    cells = np.array(list(np.ndindex(*DOMAIN.shape)))
    answers = block.exact(counts.sum(axis=1)).reshape(-1)
    one, two = np.zeros(len(cells)), np.zeros(len(cells))
    for index in range(block.cells):
        query = block.cell(index)
        coefficients = np.array(query.numerators(DOMAIN.names, cells)) * 2**query.exponent
        assert answers[index] == int(coefficients @ counts.reshape(-1))
        one += np.abs(coefficients)
        two += coefficients**2
    assert block.largest_reach(1) == one.max()
    assert block.largest_reach(2) == two.max()
    for power, expected in ((1, one), (2, two)):
        product = np.ones(len(cells))
        for name, vector in block.reach(power):
            product *= vector[cells[:, DOMAIN.names.index(name)]].astype(float)
        np.testing.assert_array_equal(product, expected)


def test_answers_beyond_int64_are_exact() -> None:
    huge = 2**30
    block = Kronecker(DOMAIN, ("a", "c"), (np.full((1, 3), huge), np.full((1, 4), huge)))
    counts = np.full((3, 4), 10**6)
    assert int(block.exact(counts)[0, 0]) == huge**2 * 12 * 10**6


@pytest.mark.parametrize("seed", range(5))
def test_groups_of_values_are_counted_cell_by_cell(seed: int) -> None:
    """The slow twin: `exact`. Cells may be listed twice, and a group may be empty."""
    rng = np.random.default_rng(seed)
    groups = [rng.integers(0, 3, 3), rng.integers(0, 4, 4)]
    matrices = tuple((own == np.arange(4)[:, None]).astype(int) for own in groups)
    block = Kronecker(DOMAIN, ("a", "c"), matrices)
    codes = np.stack([rng.integers(0, 3, 40), rng.integers(0, 4, 40)], axis=1)
    counts = rng.integers(1, 2**40, 40)
    table = np.zeros((3, 4), np.int64)
    np.add.at(table, tuple(codes.T), counts)
    slow = [int(answer) for answer in block.exact(table).ravel()]
    assert block.exact_answers(("a", "c"), codes, counts) == slow
    huge = np.full(40, 2**61)
    assert sum(block.exact_answers(("a", "c"), codes, huge)) == 40 * 2**61
    assert block.largest_reach(1) == block.largest_reach(2) == 1
    document = block.to_document()
    assert document["matrices"][0] == {"groups": groups[0].tolist(), "of": 4}
    assert Kronecker.from_document(DOMAIN, document) == block
    other = Kronecker(DOMAIN, ("a", "c"), (matrices[0], 2 * matrices[1]))  # the control
    assert other.exact_answers(("a", "c"), codes, counts) != slow
    assert other.to_document()["matrices"][0] == matrices[0].tolist()


@pytest.mark.parametrize(
    "groups",
    [
        {"groups": [0, 1, 2]},
        {"groups": [0, 1, 3], "of": 3},
        {"groups": [0, -1, 2], "of": 3},
        {"groups": [0, 1.0, 2], "of": 3},
        {"groups": [0, True, 2], "of": 3},
        {"groups": [0, 1, 2], "of": 10**12},
        {"groups": [0, 1, 2], "of": "3"},
        {"groups": "012", "of": 3},
        {"groups": [0, 1, 2], "of": 3, "more": 1},
        {"groups": [0, 1], "of": 2},
    ],
)
def test_groups_that_are_none_are_refused(groups: dict[str, object]) -> None:
    with pytest.raises(QueryError):
        Kronecker.from_document(DOMAIN, {"kronecker": ["a"], "matrices": [groups]})


def test_documents_round_trip() -> None:
    block = _block(7)
    again = Kronecker.from_document(DOMAIN, block.to_document())
    assert again.attributes == block.attributes
    for mine, theirs in zip(block.matrices, again.matrices, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_matrices_cannot_be_changed_afterwards() -> None:
    given = np.eye(3, dtype=np.int64)
    block = Kronecker(DOMAIN, ("a",), (given,))
    given[0, 0] = 7
    assert block.largest_reach(1) == 1
    with pytest.raises(ValueError, match="read-only"):
        block.matrices[0][0, 0] = 7


@pytest.mark.parametrize(
    ("attributes", "matrices"),
    [
        (("c", "a"), (np.eye(4, dtype=int), np.eye(3, dtype=int))),
        (("a",), ()),
        (("a",), (np.eye(2, dtype=int),)),
        (("a",), (np.ones((1, 3)),)),
        (("a",), (np.zeros((0, 3), int),)),
        (("a", "c"), (np.full((1, 3), 2**40), np.full((1, 4), 2**40))),
        (("a",), (np.ones((math.ceil(10_000_001), 3), np.int64),)),
    ],
)
def test_bad_blocks_are_refused(
    attributes: tuple[str, ...], matrices: tuple[np.ndarray, ...]
) -> None:
    with pytest.raises(QueryError):
        Kronecker(DOMAIN, attributes, matrices)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"kronecker": ["a"], "matrices": 1},
        {"kronecker": ["nobody"], "matrices": [[[1]]]},
        {"kronecker": ["a"], "matrices": [[[1, 2, 0.5]]]},
        {"kronecker": ["a"], "matrices": [[[1, 2, 3], [1]]]},
        {"kronecker": ["a"], "matrices": [[[1, 2, 2**70]]]},
    ],
)
def test_bad_documents_are_refused(document: dict[str, object]) -> None:
    with pytest.raises(QueryError):
        Kronecker.from_document(DOMAIN, document)


def test_queries_outside_are_refused() -> None:
    with pytest.raises(QueryError):
        _block(0).cell(10)
    with pytest.raises(QueryError):
        _block(0).reach(3)
    with pytest.raises(QueryError):
        _block(0).exact(np.zeros((3, 2), np.int64))


def test_blocks_that_ask_the_same_are_equal() -> None:
    first, again, other = (
        Kronecker(DOMAIN, ("a",), (np.array(rows, np.int64),))
        for rows in ([[1, 1, 0], [0, 0, 1]], [[1, 1, 0], [0, 0, 1]], [[1, 1, 0], [0, 1, 1]])
    )
    assert first == again
    assert hash(first) == hash(again)
    assert first != other


def test_the_document_of_groups_never_holds_all_coefficients() -> None:
    domain = Domain(a=Integer(0, 1999))
    block = Kronecker(domain, ("a",), (np.eye(2000, dtype=np.int64),))
    tracemalloc.start()
    block.to_document()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * 2000 * 2000 / 4


def test_counts_of_cells_that_repeat_never_overflow() -> None:
    """Neither of groups nor of other coefficients."""
    codes, counts = np.zeros((40, 1), np.int64), np.full(40, 2**61)
    for factor in (1, -3):
        block = Kronecker(DOMAIN, ("a",), (factor * np.eye(3, dtype=np.int64),))
        assert block.exact_answers(("a",), codes, counts) == [factor * 40 * 2**61, 0, 0]
