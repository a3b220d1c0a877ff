"""Prices and exact answers at the edge of 64 bits, against Python integers over every cell.

Plans are drawn to do harm: coefficients and counts near 2^62 and 2^63, many rows, zeros that hide
them. Whatever is not refused when it is built must be priced and answered exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from eke.data import Counts
from eke.domain import Domain, Integer
from eke.engine.exact import exact_answers
from eke.errors import QueryError
from eke.mechanism import secret
from eke.privacy.accountant import BEYOND_ALL_LIMITS, Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw
from eke.privacy.measure import Measure
from eke.privacy.noise_grid import MOST_STEPS
from eke.privacy.pure import PURE
from eke.query import Block, Kronecker, Marginal, Query, Term, kronecker
from eke.query.vector import SAFE
from tests.parts import in_long, law
from tests.unit.privacy.loss_twin import LossTwin, contributions, every_cell

_EDGES = [0, 1, 2, 3, 2**31, 2**32, 2**52, 2**60, 2**61, 2**62 - 1, 2**62, 2**63 - 1]
COEFFICIENTS = st.sampled_from([*_EDGES, *(-n for n in _EDGES), -(2**63)])
COUNTS = st.sampled_from([0, 1, 1, 2, 1000, 2**31, 2**61, 2**62, 2**63 - 1])
SIZES = st.lists(st.integers(1, 8), min_size=1, max_size=2)


@st.composite
def questions(draw: st.DrawFn) -> Block:
    """A question over at most 64 cells; builders refuse what they cannot hold."""
    sizes = draw(SIZES)
    domain = Domain({f"a{k}": Integer(0, size - 1) for k, size in enumerate(sizes)})
    if draw(st.integers(0, 2)):
        names = domain.names[: draw(st.integers(1, len(domain)))]
        matrices = tuple(_matrix(draw, draw(st.integers(1, 4)), domain[n].size) for n in names)
        return Kronecker(domain, names, matrices)
    terms = []
    for _ in range(draw(st.integers(1, 3))):
        used = draw(st.sets(st.sampled_from(domain.names)))
        factors = [(n, _matrix(draw, 1, domain[n].size)[0]) for n in domain.names if n in used]
        weight = Fraction(draw(st.integers(1, 7))) * Fraction(2) ** draw(st.integers(-3, 3))
        terms.append(Term(weight, tuple(factors)))
    query = Query.unrounded(domain, terms)
    return Marginal(domain.names[:1], query) if draw(st.booleans()) else query


def _matrix(draw: st.DrawFn, rows: int, columns: int) -> NDArray[np.int64]:
    line = st.lists(COEFFICIENTS, min_size=columns, max_size=columns)
    return np.array(draw(st.lists(line, min_size=rows, max_size=rows)), np.int64)


def check_answers(measured: Block, filled: list[int]) -> None:
    """Every exact answer is the sum of what the records contribute."""
    domain, cells = measured.domain, every_cell(measured.domain)
    table = [filled[i % len(filled)] for i in range(len(cells))]
    expected = [
        sum((x * n for x, n in zip(each, table, strict=True)), Fraction(0))
        for each in zip(*(contributions(measured, cell) for cell in cells), strict=True)
    ]
    # Counts of the needed attributes, as Python integers; what int64 cannot hold is no table.
    names = measured.needed
    places = [domain.names.index(name) for name in names]
    sums: dict[tuple[int, ...], int] = {}
    for cell, n in zip(cells, table, strict=True):
        key = tuple(cell[place] for place in places)
        sums[key] = sums.get(key, 0) + n
    if max(sums.values(), default=0) >= 2**63:
        return
    kept = {key: n for key, n in sorted(sums.items()) if n or not names}
    codes = np.array(list(kept), np.int64).reshape(len(kept), len(names))
    counts = Counts(names, codes, np.array(list(kept.values()), np.int64))
    found = exact_answers(measured, counts)
    unit = Fraction(2) ** found.exponent
    assert [number * unit for number in secret._EXACT.__get__(found)] == expected


def check_prices(measured: Block, steps: int, measure: Measure) -> None:
    """No unit loses more than is charged; and alone, under add_remove, exactly that."""
    inside = measured.inside if isinstance(measured, Marginal) else measured
    law = _law(measure, steps, inside.exponent)
    for neighbours in ("add_remove", "replace_one"):
        truth = math.ceil(LossTwin(measured.domain, neighbours).largest_after(measured, law))
        accountant = Accountant(measured.domain, measure, neighbours)
        price = accountant.price(measured, law)
        assert price >= truth
        if neighbours == "add_remove":
            assert price == truth
        after = accountant.after_all([(measured, law)] * 2, BEYOND_ALL_LIMITS)
        assert after >= min(truth, BEYOND_ALL_LIMITS)


def _law(measure: Measure, steps: int, exponent: int) -> DiscreteLaw:
    if measure == PURE:
        return DiscreteLaplace(steps, exponent)
    return DiscreteGaussian(steps, exponent)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Block | None, list[int], int, Measure]:
    try:
        measured: Block | None = draw(questions())
    except QueryError:
        measured = None
    if isinstance(measured, Query) and measured.is_zero:
        measured = None
    filled = draw(st.lists(COUNTS, min_size=1, max_size=6))
    steps = draw(st.sampled_from([1, 3, 2**31, MOST_STEPS]))
    return measured, filled, steps, draw(st.sampled_from([PURE, CONCENTRATED]))


def _check(case: tuple[Block | None, list[int], int, Measure]) -> None:
    measured, filled, steps, measure = case
    event("refused" if measured is None else type(measured).__name__)
    if measured is not None:
        check_answers(measured, filled)
        check_prices(measured, steps, measure)


@law(cases(), few=150, many=600)
def test_what_is_not_refused_is_priced_and_answered_exactly(case):
    _check(case)


def _hunt() -> None:
    """The same search, the same each time, without the work of making a failure small."""

    @settings(max_examples=2000, database=None, phases=[Phase.generate], derandomize=True)
    @given(cases())
    def search(case: Any) -> None:
        _check(case)

    search()


def _old_exact(self: Kronecker, table: NDArray[np.int64]) -> NDArray[Any]:
    """The choice of 64 bits by sums that are 64 bits themselves."""
    reach = math.prod(int(np.abs(m).sum(axis=1).max()) for m in self.matrices)
    most = int(np.abs(table).sum()) if table.size else 0
    dtype: Any = np.int64 if reach * max(1, most) < SAFE else object
    answers: NDArray[Any] = table.astype(dtype)
    for axis, matrix in enumerate(self.matrices):
        product = np.tensordot(matrix.astype(dtype), np.moveaxis(answers, axis, 0), axes=1)
        answers = np.moveaxis(product, 0, axis)
    return answers


def _old_height(matrix: NDArray[np.int64]) -> int:
    return int(np.abs(matrix).max())


@pytest.mark.parametrize(
    "break_it",
    [
        lambda patch: patch.setattr(Kronecker, "_products", _old_exact),
        in_long(lambda patch: patch.setattr(kronecker, "height", _old_height)),
    ],
    ids=["sums that overflow", "no absolute value of -2^63"],
)
def test_the_search_finds_what_was_wrong_before(
    monkeypatch, break_it: Callable[[pytest.MonkeyPatch], None]
):
    break_it(monkeypatch)
    with pytest.raises((AssertionError, OverflowError)):
        _hunt()
