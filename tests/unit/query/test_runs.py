"""Vectors in runs are the vectors: whatever is asked of them is what their entries say."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eke.domain import Domain, Integer
from eke.errors import QueryError
from eke.privacy.accountant import Accountant
from eke.privacy.discrete_laplace import DiscreteLaplace
from eke.privacy.measures import measure_of
from eke.query import Query, Term, canonical, runs, sensitivity
from eke.query.runs import WIDE, Runs, dense, held
from eke.query.step_stack import StepStack
from eke.query.vector import IntVector, frozen_array, primitive
from tests.parts import in_long

SIZE = WIDE + 40
DOMAIN = Domain(x=Integer(0, SIZE - 1), g=Integer(0, 2))
PIECES = st.lists(
    st.tuples(
        st.integers(1, 30),
        st.integers(-9, 9) | st.integers(-(2**40), 2**40),
        st.integers(-3, 3),
        st.integers(-2, 2),
    ),
    min_size=1,
    max_size=7,
)


def written_out(pieces: list[tuple[int, int, int, int]], size: int) -> IntVector:
    """The entries by the definition; the last piece goes on to the end."""
    entries: list[int] = []
    for place, (length, d0, d1, d2) in enumerate(pieces):
        last = place == len(pieces) - 1
        count = size - len(entries) if last else length
        entries += [d0 + d1 * k + d2 * k * (k - 1) // 2 for k in range(count)]
    return np.array(entries, np.int64)


@given(PIECES)
@settings(max_examples=30, deadline=None)
def test_runs_are_the_vector(pieces: list[tuple[int, int, int, int]]) -> None:
    vector = written_out(pieces, SIZE)
    kept = held(vector)
    assert isinstance(kept, Runs)
    assert np.array_equal(kept.dense(), vector)
    assert kept.bounds == (int(vector.min()), int(vector.max()))
    assert kept.total == sum(vector.tolist())
    codes = np.array([0, 1, 7, 29, 30, 31, SIZE // 2, SIZE - 1, 3])
    assert kept.at_codes(codes).tolist() == vector[codes].tolist()
    factor, rest = kept.primitive()
    slow_factor, slow_rest = primitive(vector)
    assert factor == slow_factor
    assert np.array_equal(rest.dense(), slow_rest)
    thirds = np.concatenate([vector, np.zeros(3, np.int64)])
    slow = thirds[:-3] - 3 * thirds[1:-2] + 3 * thirds[2:-1] - thirds[3:]
    assert kept.third_differences() == [(int(p), int(slow[p])) for p in np.flatnonzero(slow)]


@given(PIECES, st.sets(st.integers(1, 200), max_size=5))
@settings(max_examples=30, deadline=None)
def test_the_form_depends_on_the_entries_alone(
    pieces: list[tuple[int, int, int, int]], cuts: set[int]
) -> None:
    """Cut anywhere and put together again, or read from a document, it is the same."""
    kept = held(written_out(pieces, SIZE))
    assert isinstance(kept, Runs)
    starts = sorted({0, *cuts, *(start for start, *_ in kept.pieces)})
    cut = []
    for start in starts:
        owner = max(piece for piece in kept.pieces if piece[0] <= start)
        k = start - owner[0]
        cut.append((start, kept.at(start), owner[2] + owner[3] * k, owner[3]))
    again = Runs.of_pieces(SIZE, cut)
    assert isinstance(again, Runs)
    assert again.pieces == kept.pieces
    assert again.content == kept.content
    query = Query.unrounded(DOMAIN, [Term(Fraction(3), (("x", kept),))])
    document = json.loads(json.dumps(query.to_document()))
    assert Query.from_document(DOMAIN, document) == query
    assert len(json.dumps(document)) < 2_000


def test_conditions_are_written_as_they_always_were() -> None:
    vector = np.zeros(SIZE, np.int64)
    vector[5:900], vector[1_000], vector[1_002] = 1, 1, 1
    kept = held(vector)
    assert isinstance(kept, Runs)
    assert kept.written() == [
        *([0, 5], [1, 895], [0, 100], [1, 1], [0, 1], [1, 1]),
        [0, SIZE - 1_003],
    ]


def test_what_is_short_or_has_no_runs_stays_as_it_is() -> None:
    assert isinstance(held(np.arange(WIDE)), np.ndarray)
    rough = np.random.Generator(np.random.PCG64(1)).integers(0, 9, SIZE)
    assert isinstance(held(rough), np.ndarray)
    huge = np.zeros(SIZE, np.int64)
    huge[3] = 2**60
    assert isinstance(held(huge), np.ndarray)
    assert isinstance(held(huge // 4), Runs)


def test_documents_that_leave_the_range_of_integers_are_refused() -> None:
    for factor in ([[0, SIZE, 2**50]], [[0, SIZE, 0, 2**40]], [[0, SIZE, 2**70]]):
        document = {"constant": "0", "terms": [{"weight": "1", "factors": {"x": factor}}]}
        with pytest.raises(QueryError):
            Query.from_document(DOMAIN, document)


def test_old_documents_are_read_as_before() -> None:
    """A ledger of before holds every entry of a sum."""
    factor = [[value, 1] for value in range(SIZE)]
    document = {"constant": "0", "terms": [{"weight": "1", "factors": {"x": factor}}]}
    read = Query.from_document(DOMAIN, document)
    assert read == Query.unrounded(DOMAIN, [Term(Fraction(1), (("x", np.arange(SIZE)),))])
    assert read.to_document()["terms"][0]["factors"]["x"] == [[0, SIZE, 1]]
    narrow = Domain(x=Integer(0, 19))
    written = {"constant": "0", "terms": [{"weight": "1", "factors": {"x": [[0, 20, 1]]}}]}
    short = Query.from_document(narrow, written)
    assert np.array_equal(short.terms[0].factors[0][1], np.arange(20))
    assert short.to_document()["terms"][0]["factors"]["x"] == [[k, 1] for k in range(20)]


LISTS = st.lists(st.tuples(PIECES, st.integers(1, 5), st.booleans()), min_size=1, max_size=3)


def query_of(parts: list[Any]) -> Query:
    return Query.unrounded(
        DOMAIN,
        [
            Term(
                Fraction(weight),
                (("x", written_out(pieces, SIZE)), *([("g", np.array([0, 1, 3]))] * by_group)),
            )
            for pieces, weight, by_group in parts
        ],
    )


@pytest.mark.parametrize("examples", [2, in_long(10)])
def test_prices_and_answers_are_those_of_entries(examples: int) -> None:
    """The slow twin: the same questions with every vector written out."""
    settings(max_examples=examples, deadline=None)(given(LISTS, LISTS)(check_prices))()


def check_prices(first: list[Any], second: list[Any]) -> None:
    law = DiscreteLaplace(2**30, 0)
    rng = np.random.Generator(np.random.PCG64(2))
    codes = np.stack([rng.integers(0, 60, 50), rng.integers(0, 3, 50)], axis=1)
    counts = rng.integers(1, 9, 50)
    seen = []
    for keep in (runs.held, frozen_array):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(canonical, "held", keep)
            one, other = query_of(first), query_of(second)
            accountant = Accountant(DOMAIN, measure_of(law), "add_remove")
            prices = [accountant.price(one, law), accountant.after(other, law, 10**12)]
            accountant.add(one, law, prices[0])
            prices += [accountant.spent, accountant.after(other, law, 10**12)]
            exact = [query.exact(("x", "g"), codes, counts) for query in (one, other)]
            stack = StepStack(DOMAIN)
            stack.append(one)
            products = (
                stack.against(other),
                StepStack.from_parts(DOMAIN, stack.parts()).against(one),
            )
            facts = one.extremes(), sensitivity(one, "replace_one"), one.exponent, len(one.terms)
            kinds = {
                type(v) for q in (one, other) for t in q.terms for n, v in t.vectors if n == "x"
            }
            seen.append((prices, exact, facts, products, kinds))
    fast, slow = seen
    assert fast[:3] == slow[:3]
    assert Runs not in slow[4]
    for mine, expected in zip(fast[3], slow[3], strict=True):
        assert mine == pytest.approx(expected, rel=1e-9, abs=1e-6 * float(np.abs(expected).max()))


def test_a_row_in_runs_against_one_without() -> None:
    rough = np.random.Generator(np.random.PCG64(3)).integers(-9, 9, SIZE)
    one = Query.unrounded(DOMAIN, [Term(Fraction(1), (("x", np.arange(SIZE)),))])
    other = Query.unrounded(DOMAIN, [Term(Fraction(1), (("x", rough),))])
    expected = float((np.arange(SIZE) * rough).mean())
    for held_query, asked in ((one, other), (other, one)):
        stack = StepStack(DOMAIN)
        stack.append(held_query)
        assert stack.against(asked)[0] == pytest.approx(expected)


def test_nobody_can_write_into_what_is_rebuilt() -> None:
    query = Query.unrounded(DOMAIN, [Term(Fraction(1), (("x", np.arange(SIZE)),))])
    entries = dense(query.terms[0].vectors[0][1])
    entries.setflags(write=True)
    entries[0] = 7
    again = query.rebuilt(DOMAIN)
    assert dense(again.terms[0].vectors[0][1])[0] == 0
    assert again == query
