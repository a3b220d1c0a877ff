"""Tables of integers as sums of products, against multiplying out."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from eke.query.decomposition import decompose


def multiplied_out(names, shape, products):
    table = np.zeros(shape, object)
    for index in itertools.product(*(range(n) for n in shape)):
        for weight, factors in products:
            value = weight
            for name, code in zip(names, index, strict=True):
                value *= int(factors[name][code]) if name in factors else 1
            table[index] += value
    return table


@st.composite
def tables(draw):
    shape = draw(st.lists(st.integers(1, 3), min_size=0, max_size=4))
    size = int(np.prod(shape))
    entries = st.sampled_from([0, 0, 1, 1, 2, -1, 6])
    return np.array(draw(st.lists(entries, min_size=size, max_size=size)), np.int64).reshape(shape)


@given(tables())
@settings(max_examples=80)
def test_products_multiply_out_to_the_table(table):
    names = list("abcd")[: table.ndim]
    products = decompose(names, table)
    assert (multiplied_out(names, table.shape, products) == table).all()
    # Slices need at most one product a non-zero cell; anything else is taken only if it is shorter.
    words = sum(
        1 + sum(1 + int(np.count_nonzero(np.diff(v))) for v in factors.values())
        for _, factors in products
    )
    assert words <= int(np.count_nonzero(table)) * (1 + sum(table.shape))
    for weight, factors in products:
        assert weight != 0
        for vector in factors.values():
            assert np.gcd.reduce(vector) == 1
            assert vector[np.flatnonzero(vector)[0]] > 0
            assert (vector != vector[0]).any()


@given(tables(), st.integers(0, 4), st.integers(1, 3))
@settings(max_examples=50)
def test_an_axis_that_does_not_matter_changes_nothing(table, place, size):
    names = list("abcd")[: table.ndim]
    axis = min(place, table.ndim)
    wider = np.repeat(np.expand_dims(table, axis), size, axis=axis)
    with_extra = decompose([*names[:axis], "extra", *names[axis:]], wider)
    assert _plain(with_extra) == _plain(decompose(names, table))


@given(tables())
@example(np.array([[1, 6], [1, 0], [-1, -1]]))  # 1 and -1 are equally frequent
@settings(max_examples=50)
def test_a_multiple_of_a_table_is_taken_apart_alike(table):
    names = list("abcd")[: table.ndim]
    negative = [(-5 * weight, factors) for weight, factors in decompose(names, table)]
    assert _plain(decompose(names, -5 * table)) == _plain(negative)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=4), min_size=1, max_size=4))
@settings(max_examples=50)
def test_a_single_product_is_found(vectors):
    table = np.array(1, np.int64)
    for vector in vectors:
        table = np.multiply.outer(table, np.array(vector, np.int64))
    assert len(decompose(list("abcd")[: len(vectors)], table)) == (1 if table.any() else 0)


@pytest.mark.parametrize(
    ("table", "products"),
    [
        (np.add.outer(np.arange(9), np.arange(7)), 2),
        (np.add.outer(np.arange(1, 10), np.arange(2, 9)), 3),
        (np.add.outer(np.add.outer(np.arange(9) ** 2, np.arange(7)), np.arange(5)), 4),
        (np.eye(6, dtype=np.int64), 6),
        (1 + np.eye(2, dtype=np.int64)[::-1], 2),
        (1 + np.multiply.outer([1, 0, 0], [1, 0, 0, 0]), 2),
        (np.add.outer(7 * np.array([1, 0]), np.array([0, 1, 2, 3, 4, 0])), 2),
        (np.add.outer(7 * np.array([1, 0]), np.array([1, 2, 3, 4])), 3),
        (np.array([[0, 1], [1, 0]]), 2),
        (np.add.outer(5 * np.multiply.outer([1, 0, 0], [1, 0]), np.array([0, 1, 0])), 2),
    ],
)
def test_short_sums_stay_short(table, products):
    assert len(decompose(list("abc")[: table.ndim], table)) == products


def test_entries_close_to_the_limit_are_not_anchored():
    table = np.array([[2**61, 1, 3], [5, 2**61, 7], [2, 9, 2**61 - 1]], np.int64)
    products = decompose(["a", "b"], table)
    assert (multiplied_out(["a", "b"], table.shape, products) == table).all()


def test_many_cells_are_taken_apart_in_time_linear_in_them():
    table = np.random.default_rng(5).integers(0, 1000, (2,) * 12)
    names = [f"a{i}" for i in range(12)]
    products = decompose(names, table)
    rebuilt = np.zeros(table.shape, np.int64)
    for weight, factors in products:
        part = np.array(weight)
        for name in names:
            part = np.multiply.outer(part, factors.get(name, np.ones(2, np.int64)))
        rebuilt += part
    assert (rebuilt == table).all()


def _plain(products):
    return [(weight, {n: v.tolist() for n, v in factors.items()}) for weight, factors in products]
