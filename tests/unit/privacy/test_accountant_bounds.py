"""Bounds of the accountant where tables are too large, sums too long or limits near."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import ceil, prod

import numpy as np
import pytest

from eke.domain import Domain, Integer, Replace
from eke.errors import BudgetExceeded, PrivacyError
from eke.privacy import accountant as module
from eke.privacy.accountant import (
    BEYOND_ALL_LIMITS,
    EFFORT_NEAR_LIMIT,
    USUAL_EFFORT,
    Accountant,
    cell_losses,
)
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.extremum import Extremum
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw, Laplace
from eke.privacy.loss_tables import LossTables
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Kronecker, Neighbours, Query, Term, count, marginal, table

DOMAIN = Domain(b=Integer(0, 2), a=Integer(0, 2), c=Integer(0, 1))
CLOSED = Domain(a=Integer(0, 2, null=Replace(0)), b=Integer(0, 1, null=Replace(0)))
LIMIT = 100 * NANO
LAWS: list[DiscreteLaw] = [DiscreteLaplace(7, 0), DiscreteGaussian(7, 0)]


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("reach", [1, 2])
@pytest.mark.parametrize("exponent", [0, -1, 1])
def test_choices_are_priced_by_how_far_a_record_moves_scores(rows, reach, exponent):
    scale = 7 * Fraction(2) ** exponent
    moves: dict[Neighbours, int] = {"add_remove": reach, "replace_one": 2 * reach}
    for neighbours, moved in moves.items():
        pure = Accountant(DOMAIN, PURE, neighbours, rows)
        law = DiscreteLaplace(7, exponent)
        assert pure.price_of_choice(reach, law) == rows * ceil(NANO * 2 * moved / scale)
        square = Accountant(DOMAIN, CONCENTRATED, neighbours, rows)
        once = ceil(NANO * (moved / scale) ** 2 / 2)
        assert square.price_of_choice(reach, law) == rows**2 * once


@pytest.mark.parametrize("sign", [1, -1])
def test_what_all_cells_have_in_common_costs_nothing_where_records_stay(sign):
    """Three counts, each on top of the number of records: a replaced record changes two of them.

    Where a record may come from outside of the domain, it changes all three, and one twice.
    """
    law = DiscreteLaplace(10, 0)
    open_domain = Domain(a=Integer(0, 2), b=Integer(0, 1))
    losses = {}
    for domain in (CLOSED, open_domain):
        questions = [(count() + count(a=value)) * sign for value in range(3)]
        measured = [(one.on(domain), law) for one in questions]
        losses[domain] = Accountant(domain, PURE, "replace_one").after_all(measured, LIMIT)
    assert losses == {CLOSED: 2 * NANO // 10, open_domain: 6 * NANO // 10}
    assert losses[open_domain] >= 4 * NANO // 10, "the truth"


def test_what_everyone_is_charged_is_on_top_of_every_cell():
    accountant, law = Accountant(DOMAIN, PURE, "add_remove"), DiscreteLaplace(4, 0)
    one, other = count(a=0).on(DOMAIN), count(a=1).on(DOMAIN)
    accountant.add(one, law, NANO // 4)
    accountant.charge_everyone(NANO // 8, 3 * NANO // 8)
    assert accountant.spent == accountant.sequential == 3 * NANO // 8
    accountant.charge_everyone(NANO // 8, 0)  # the loss never falls
    assert (accountant.spent, accountant.sequential) == (3 * NANO // 8, NANO // 2)
    assert accountant.after(one, law, LIMIT) == 3 * NANO // 4
    assert accountant.after(other, law, LIMIT) == NANO // 2
    assert accountant.after_all([(one, law), (other, law)], LIMIT, NANO // 2) == 5 * NANO // 4
    assert accountant.after_all([], LIMIT, 7) == NANO // 2 + 7


def test_an_empty_accountant_counts_the_same_way():
    accountant, law = Accountant(CLOSED, CONCENTRATED, "replace_one", 3), DiscreteGaussian(4, 0)
    query = count(a=0).on(CLOSED)
    price = accountant.price(query, law)
    accountant.add(query, law, price)
    accountant.charge_everyone(5, price + 5)
    empty = accountant.empty()
    assert (empty.spent, empty.sequential, empty.price(query, law)) == (0, 0, price)
    assert empty.domain is CLOSED
    assert accountant.spent == price + 5


@pytest.mark.parametrize("rows", [0, -1, 1.0, True, np.int64(2)])
def test_a_unit_has_a_whole_number_of_rows(rows):
    with pytest.raises(PrivacyError, match="whole number of rows"):
        Accountant(DOMAIN, PURE, "add_remove", rows)


def weighted(terms: Sequence[tuple[int, dict[str, list[int]]]]) -> Query:
    made = [
        Term(Fraction(weight), tuple((name, np.array(v)) for name, v in factors.items()))
        for weight, factors in terms
    ]
    return Query.unrounded(DOMAIN, made)


def bounded(term: Term, room: int) -> tuple[Fraction, dict[str, list[int]]]:
    """The slow twin: the attributes that fit, most selective first, times the height of others."""
    kept: dict[str, list[int]] = {}
    weight, size = term.weight, 1
    factors = [(name, [int(v) for v in vector]) for name, vector in term.factors]
    for name, numbers in sorted(
        factors,
        key=lambda one: sum(map(abs, one[1])) / (len(one[1]) * max(map(abs, one[1]))),
    ):
        if size * len(numbers) <= room:
            kept[name] = numbers
            size *= len(numbers)
        else:
            weight *= max(map(abs, numbers))
    return weight, dict(sorted(kept.items()))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("room", [2, 5, 6])
def test_large_tables_are_bounded_term_by_term(monkeypatch, law, twice, room):
    monkeypatch.setattr(module, "LARGEST_TABLE", room)
    query = weighted(
        [
            (2, {"b": [1, 0, 0], "a": [2, -3, 2], "c": [1, 5]}),
            (-1, {"a": [0, 1, 1], "b": [4, 4, 3]}),
        ]
    )
    assert len(query.terms) > 1
    power, divisor = (1, 7) if law.loss_unit == "epsilon" else (2, 2 * 49)
    doubled = 2 if twice and power == 2 else 1  # (a-b)² is at most 2a² + 2b²
    times = doubled * (1 if power == 1 else len(query.terms))
    found = cell_losses(query, law, signed=twice)
    assert len(found) == len(query.terms)
    left_out = 0
    for term, (names, losses, _) in zip(query.terms, found, strict=True):
        weight, kept = bounded(term, room)
        left_out += len(term.factors) - len(kept)
        assert names == tuple(kept)
        assert losses.shape == tuple(len(numbers) for numbers in kept.values())
        for cell in np.ndindex(*losses.shape):
            pairs = zip(kept.values(), cell, strict=True)
            moved = abs(weight * prod(numbers[place] for numbers, place in pairs))
            assert int(losses[cell]) == times * ceil(NANO * moved**power / divisor)
    assert left_out
    for codes in product(range(3), range(3), range(2)):
        places = dict(zip(("b", "a", "c"), codes, strict=True))
        numbers = query.numerators(("b", "a", "c"), np.array([codes]))
        exact = Fraction(numbers[0]) * Fraction(2) ** query.exponent
        charged = sum(
            int(cells[tuple(places[name] for name in names)]) for names, cells, _ in found
        )
        assert charged >= doubled * NANO * abs(exact) ** power / divisor


def test_tables_of_just_the_largest_size_are_exact(monkeypatch):
    law = DiscreteLaplace(1, 0)
    query = table(["b", "c"], [[1, 2], [3, 4], [5, 6]]).on(DOMAIN)
    monkeypatch.setattr(module, "LARGEST_TABLE", 6)
    ((names, losses, _),) = cell_losses(query, law)
    assert names == ("b", "c")
    assert losses.tolist() == [[NANO, 2 * NANO], [3 * NANO, 4 * NANO], [5 * NANO, 6 * NANO]]


def test_coefficients_beyond_64_bits_get_one_bound_for_all_cells(monkeypatch):
    huge = 2**63 + 1
    query = weighted([(huge, {"a": [1, 0, 3]})])
    law = DiscreteLaplace(2**53, 30)
    ((names, losses, _),) = cell_losses(query, law)
    assert names == ()
    assert int(losses) == ceil(Fraction(NANO * 3 * huge, 2**83))
    with pytest.raises(BudgetExceeded):
        cell_losses(query, DiscreteLaplace(1, 0))
    monkeypatch.setattr(module, "LARGEST_TOTAL", int(losses))
    with pytest.raises(BudgetExceeded):
        cell_losses(query, law)


def test_the_attribute_that_excludes_most_is_kept(monkeypatch):
    """Large numbers do not count for it: nearly all of b is far below its largest."""
    monkeypatch.setattr(module, "LARGEST_TABLE", 3)
    query = weighted([(1, {"b": [100, 0, 1], "a": [2, 1, 2]})])
    ((names, losses, _),) = cell_losses(query, DiscreteLaplace(1, 0))
    assert names == ("b",)
    assert losses.tolist() == [200 * NANO, 0, 2 * NANO]


@pytest.mark.parametrize("room", [0, 1])
def test_a_loss_at_the_end_of_exact_sums_is_refused(monkeypatch, room):
    query, law = weighted([(2, {"a": [1, 0, 0]})]), DiscreteGaussian(1, 0)
    monkeypatch.setattr(module, "LARGEST_TOTAL", 4 * NANO + room)
    if room:
        ((_, losses, _),) = cell_losses(query, law, signed=True)
        assert losses.tolist() == [4 * NANO, 0, 0]
    else:
        with pytest.raises(BudgetExceeded):
            cell_losses(query, law, signed=True)


def test_blocks_are_doubled_too():
    block, law = Kronecker(DOMAIN, ("c",), (np.array([[1, -2]]),)), DiscreteGaussian(1, 0)
    ((names, once, _),) = cell_losses(block, law)
    ((_, twice, _),) = cell_losses(block, law, signed=True)
    assert names == ("c",)
    assert once.tolist() == [NANO // 2, 2 * NANO]
    assert twice.tolist() == [NANO, 4 * NANO]
    with pytest.raises(PrivacyError, match="discrete"):
        cell_losses(block, Laplace(1.0))


def enclosed(lower: int, upper: int, *, exact: bool) -> Extremum:
    return Extremum(upper=upper, lower=lower, exact=exact, witness=None)


@pytest.mark.parametrize(
    ("first", "enough", "again"),
    [
        (enclosed(5, 9, exact=False), 9, False),
        (enclosed(5, 9, exact=False), 10, False),
        (enclosed(5, 9, exact=False), 4, False),
        (enclosed(9, 9, exact=True), 7, False),
        (enclosed(5, 9, exact=False), 5, True),
        (enclosed(5, 9, exact=False), 8, True),
    ],
)
@pytest.mark.parametrize("better", [8, 9, 12])
def test_more_work_is_done_only_where_the_limit_decides(monkeypatch, first, enough, again, better):
    calls: list[dict[str, int]] = []

    def maximum(_tables: LossTables, **options: int) -> Extremum:
        calls.append(options)
        return first if len(calls) == 1 else enclosed(5, better, exact=False)

    monkeypatch.setattr(module, "maximum", maximum)
    monkeypatch.setattr(module, "_usual_bounds", module._usual_bounds.__wrapped__)  # keeps nothing
    tables = LossTables({"a": 3})
    assert module._certified(tables, enough) == 0
    assert calls == []
    tables.add(("a",), np.array([1, 2, 3]))
    expected = min(first.upper, better) if again else first.upper
    assert module._certified(tables, enough) == expected
    assert calls[0] == {"effort": USUAL_EFFORT}
    assert calls[1:] == ([{"enough": enough, "effort": EFFORT_NEAR_LIMIT}] if again else [])


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("rows", [1, 2])
def test_the_limit_that_decides_is_that_of_one_cell(monkeypatch, neighbours, rows):
    asked: list[int] = []

    def certified(_tables: LossTables, enough: int) -> int:
        asked.append(enough)
        return 0

    monkeypatch.setattr(module, "_certified", certified)
    accountant = Accountant(CLOSED, PURE, neighbours, rows)
    accountant.charge_everyone(100, 100)
    accountant.after_all([], 1300, 200)
    assert set(asked) == {1000 // rows // (1 if neighbours == "add_remove" else 2)}
    asked.clear()
    accountant.after_all([], 250, 200)
    assert set(asked) == {0}


def test_under_replacement_the_smallest_of_three_bounds_counts():
    law = DiscreteLaplace(4, 0)
    accountant = Accountant(CLOSED, PURE, "replace_one")
    block = marginal("a").on(CLOSED)
    ones = [count(b=0).on(CLOSED), count(b=1).on(CLOSED)]
    # One measurement: its own loss. A block: two cells, a quarter each.
    assert accountant.after(ones[0], law, LIMIT) == NANO // 4
    assert accountant.after(block, law, LIMIT) == NANO // 2
    # Together: 1/2 for the block and 1/4 for the question.
    assert accountant.after_all([(block, law), (ones[0], law)], LIMIT) == 3 * NANO // 4
    # Both questions: two cells lose 1/4 each, and the block as before.
    assert accountant.after_all([(block, law), *((q, law) for q in ones)], LIMIT) == NANO


@pytest.mark.parametrize("more", [0, 1])
def test_a_price_beyond_all_limits_ends_the_search(more):
    accountant = Accountant(DOMAIN, PURE, "add_remove")
    query = weighted([(BEYOND_ALL_LIMITS + more, {"a": [1, 0, 0]})])
    assert accountant.after(query, DiscreteLaplace(NANO, 0), LIMIT) == BEYOND_ALL_LIMITS


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
def test_noise_must_be_of_the_tables_own_kind(measure: Measure):
    other: DiscreteLaw = LAWS[1] if measure is PURE else LAWS[0]
    accountant = Accountant(DOMAIN, measure, "add_remove")
    for query in (count(a=0).on(DOMAIN), marginal("a").on(DOMAIN)):
        with pytest.raises(PrivacyError, match="losses are in"):
            accountant.price(query, other)


def test_signs_count_in_blocks_that_are_priced_by_their_questions(monkeypatch):
    """Squares of differences are up to twice the sum of squares, in each question of a block."""
    block = Kronecker(DOMAIN, ("a",), (np.array([[1, -1, 2], [0, 3, -2]]),))
    law = DiscreteGaussian(7, 0)
    monkeypatch.setattr("eke.privacy.accountant.block_cell_losses", lambda *_: None)
    once, twice = (
        sum(losses.cells for losses in cell_losses(block, law, signed=signed))
        for signed in (False, True)
    )
    assert np.array_equal(twice, 2 * once)
