"""The accountant on examples small enough to compute by hand."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

import eke.privacy.accountant as accountant_module
from eke.domain import Categorical, Domain, Integer, Replace
from eke.errors import BudgetExceeded
from eke.privacy.accountant import BEYOND_ALL_LIMITS, Accountant, cell_losses
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.extremum import maximum
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Kronecker, count, marginal, table, total

DROPS = Domain(sex=Categorical("F", "M"), age=Integer(0, 3))
CLOSED = Domain(
    sex=Categorical("F", "M", null=Replace("F"), outside=Replace("F")),
    age=Integer(0, 3, null=Replace(0)),
)
LIMIT = 100 * NANO


def spend(accountant: Accountant, asked, law) -> int:
    """The cost of a measurement that is then taken into account."""
    measured = asked.on(DROPS)
    before, after = accountant.spent, accountant.after(measured, law, LIMIT)
    accountant.add(measured, law, after)
    return after - before


def test_disjoint_questions_cost_a_record_only_once():
    accountant = Accountant(DROPS, PURE, "add_remove")
    tenth = DiscreteLaplace(10, 0)
    assert spend(accountant, count(sex="F"), tenth) == NANO // 10
    assert spend(accountant, count(sex="M"), tenth) == 0
    assert spend(accountant, count(age=3), tenth) == NANO // 10
    assert spend(accountant, count(sex="M", age=(0, 2)), tenth) == 0
    assert accountant.spent == NANO // 5


def test_a_block_costs_a_record_only_once():
    accountant = Accountant(DROPS, PURE, "add_remove")
    assert spend(accountant, marginal("sex", "age"), DiscreteLaplace(4, 0)) == NANO // 4
    weighted = marginal("sex", of=total("age"))
    assert accountant.price(weighted.on(DROPS), DiscreteLaplace(4, 0)) == 3 * NANO // 4


def test_gaussian_noise_costs_the_square():
    accountant = Accountant(DROPS, CONCENTRATED, "add_remove")
    law = DiscreteGaussian(10, 0)
    assert accountant.price(count().on(DROPS), law) == NANO // 200
    assert accountant.price((count() * 3).on(DROPS), law) == 9 * NANO // 200
    assert spend(accountant, total("age"), law) == 9 * NANO // 200


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_unit_of_several_rows(rows):
    pure = Accountant(DROPS, PURE, "add_remove", rows)
    concentrated = Accountant(DROPS, CONCENTRATED, "add_remove", rows)
    query = count(sex="F").on(DROPS)
    assert pure.price(query, DiscreteLaplace(10, 0)) == rows * NANO // 10
    assert pure.after(query, DiscreteLaplace(10, 0), LIMIT) == rows * NANO // 10
    assert concentrated.price(query, DiscreteGaussian(10, 0)) == rows**2 * NANO // 200
    assert concentrated.after(query, DiscreteGaussian(10, 0), LIMIT) == rows**2 * NANO // 200


def test_replacing_a_record_costs_the_spread_of_the_coefficients():
    law = DiscreteLaplace(10, 0)
    spread = table("age", [-1, 0, 0, 2])
    assert Accountant(CLOSED, PURE, "replace_one").price(spread.on(CLOSED), law) == (3 * NANO // 10)
    # The total is public when no row is dropped; else a row can come from nowhere.
    assert Accountant(CLOSED, PURE, "replace_one").price(count().on(CLOSED), law) == 0
    assert Accountant(DROPS, PURE, "replace_one").price(count().on(DROPS), law) == NANO // 10
    above = table("age", [2, 3, 3, 4])
    assert Accountant(CLOSED, PURE, "replace_one").price(above.on(CLOSED), law) == NANO // 5
    assert Accountant(DROPS, PURE, "replace_one").price(above.on(DROPS), law) == 2 * NANO // 5


def test_a_public_total_never_costs_anything():
    """Also not in sums with others: every cell has the same coefficient in it."""
    accountant = Accountant(CLOSED, PURE, "replace_one")
    everyone, law = count().on(CLOSED), DiscreteLaplace(1, -20)
    for age in range(4):
        query = count(age=age).on(CLOSED)
        after = accountant.after(query, DiscreteLaplace(10, 0), LIMIT)
        accountant.add(query, DiscreteLaplace(10, 0), after)
        assert accountant.after(everyone, law, LIMIT) == accountant.spent
        accountant.add(everyone, law, accountant.spent)
    assert accountant.spent == NANO // 5


def test_replacing_a_record_moves_two_cells_of_a_block():
    block = marginal("sex").on(CLOSED)
    assert Accountant(CLOSED, PURE, "replace_one").price(block, DiscreteLaplace(10, 0)) == (
        NANO // 5
    )
    assert Accountant(CLOSED, CONCENTRATED, "replace_one").price(
        block, DiscreteGaussian(10, 0)
    ) == (NANO // 100)
    # With coefficients of both signs a record can move one cell by twice the largest.
    signed = marginal("sex", of=table("age", [-1, 1, 0, 0])).on(CLOSED)
    assert Accountant(CLOSED, CONCENTRATED, "replace_one").price(
        signed, DiscreteGaussian(10, 0)
    ) == (NANO // 50)


def test_signs_count_where_a_record_moves_and_its_square_is_lost():
    """By moving between cells of different signs a record changes an answer by their distance."""
    law = DiscreteGaussian(10, 0)
    unit = NANO // 200

    def together(*vectors: list[int]) -> int:
        accountant = Accountant(CLOSED, CONCENTRATED, "replace_one")
        asked = [(table("age", vector).on(CLOSED), law) for vector in vectors]
        return accountant.after_all(asked, LIMIT)

    # From one end of a question to the other: 2² and nothing of the other question.
    assert together([-1, 1, 0, 0], [0, 0, -1, 1]) == 4 * unit
    # From one question to the other: 1² of each, where no cell has another sign.
    counts = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert together(*counts) == 2 * unit
    assert together(*([-x for x in vector] for vector in counts)) == 2 * unit
    signed = marginal("sex", of=table("age", [-1, 1, 0, 0])).on(CLOSED)
    other = marginal("sex", of=table("age", [0, 0, -1, 1])).on(CLOSED)
    accountant = Accountant(CLOSED, CONCENTRATED, "replace_one")
    assert accountant.after_all([(signed, law), (other, law)], LIMIT) == 4 * unit


def test_the_least_loss_counts_every_time():
    accountant = Accountant(DROPS, PURE, "add_remove")
    law = DiscreteLaplace(NANO, 0)
    for number in (1, 2, 3):
        assert spend(accountant, count(sex="F"), law) == 1
        assert accountant.spent == number


def test_many_disjoint_questions_are_bounded_by_two_cells_when_records_move():
    accountant = Accountant(CLOSED, PURE, "replace_one")
    law = DiscreteLaplace(10, 0)
    for age in range(4):
        query = count(age=age).on(CLOSED)
        accountant.add(query, law, accountant.after(query, law, LIMIT))
    assert accountant.spent == NANO // 5, "not four tenths: a record touches at most two of them"


def test_the_loss_never_falls_below_what_the_ledger_says():
    accountant = Accountant(DROPS, PURE, "add_remove")
    law = DiscreteLaplace(1000, 0)
    accountant.add(count().on(DROPS), law, 7 * NANO)
    assert accountant.spent == 7 * NANO
    assert accountant.after(count().on(DROPS), law, LIMIT) == 7 * NANO
    accountant.add(count().on(DROPS), law, 0)
    assert accountant.spent == 7 * NANO


def test_looking_changes_nothing():
    accountant = Accountant(DROPS, PURE, "add_remove")
    law = DiscreteLaplace(2, 0)
    results = {accountant.after(count().on(DROPS), law, LIMIT) for _ in range(3)}
    assert results == {NANO // 2}
    assert accountant.spent == 0


@pytest.mark.parametrize("limit", [1, NANO // 2 - 1, NANO // 2, LIMIT])
def test_the_limit_decides_how_hard_to_look_but_not_what_is_true(limit):
    accountant = Accountant(DROPS, PURE, "add_remove")
    assert accountant.after(count().on(DROPS), DiscreteLaplace(2, 0), limit) >= NANO // 2


def test_a_question_that_is_always_zero_costs_nothing():
    accountant = Accountant(DROPS, PURE, "add_remove")
    zero = (count(sex="F") - count(sex="F")).on(DROPS)
    assert zero.is_zero
    assert accountant.after(zero, DiscreteLaplace(1, 0), LIMIT) == 0


def test_a_loss_beyond_all_limits_is_a_number_not_an_error():
    accountant = Accountant(DROPS, PURE, "add_remove")
    law = DiscreteLaplace(1, -200)
    assert accountant.after(count().on(DROPS), law, LIMIT) >= BEYOND_ALL_LIMITS
    many = Accountant(DROPS, PURE, "add_remove")
    dear = DiscreteLaplace(1, -29)
    for _ in range(7):
        many.add(count(age=0).on(DROPS), dear, 0)
    assert many.after(count(age=0).on(DROPS), dear, LIMIT) >= BEYOND_ALL_LIMITS


def test_losses_that_cannot_be_summed_exactly_are_never_added():
    accountant = Accountant(DROPS, PURE, "add_remove")
    dear = DiscreteLaplace(1, -29)
    for _ in range(8):  # 2^29 nano-units times 10^9 each: eight are below 2^62
        accountant.add(count(age=0).on(DROPS), dear, 0)
    with pytest.raises(BudgetExceeded):
        accountant.add(count(age=0).on(DROPS), dear, 0)


def test_cell_losses_are_by_attribute_name():
    query = table(["sex", "age"], [[0, 1, 2, 3], [0, 0, 0, -4]]).on(DROPS)
    ((names, losses, _),) = cell_losses(query, DiscreteLaplace(10, 0))
    assert names == ("age", "sex")
    assert losses.shape == (4, 2)
    assert losses[3].tolist() == [3 * NANO // 10, 4 * NANO // 10]
    everyone = cell_losses(count().on(DROPS), DiscreteLaplace(10, 0))
    assert everyone[0][0] == ()
    assert int(everyone[0][1]) == NANO // 10


def test_losses_are_rounded_up():
    ((_, losses, _),) = cell_losses(table("age", [0, 1, 2, 3]).on(DROPS), DiscreteLaplace(7, 0))
    exact = [Fraction(NANO * n, 7) for n in range(4)]
    assert losses.tolist() == [0, *(int(x) + 1 for x in exact[1:])]
    assert np.issubdtype(losses.dtype, np.int64)


@pytest.mark.parametrize("seed", range(40))
def test_blocks_of_products_are_never_undercharged(seed):
    """The slow twin looks at every cell, and at every pair of cells for a replaced record."""
    rng = np.random.default_rng(seed)
    domain = Domain(a=Integer(0, 2), b=Integer(0, 1))
    names = ("a", "b") if rng.random() < 0.7 else ("a",)
    matrices = tuple(rng.integers(-2, 4, (rng.integers(1, 4), domain[name].size)) for name in names)
    block = Kronecker(domain, names, matrices)
    columns = np.ones((1, 1), np.int64)
    for matrix in matrices:
        columns = np.kron(columns, matrix)  # (answers, cells)
    if not columns.any():
        return
    laws: list[tuple[Measure, DiscreteLaw]]
    laws = [(PURE, DiscreteLaplace(8, 0)), (CONCENTRATED, DiscreteGaussian(8, 0))]
    for measure, law in laws:
        power = 1 if measure == PURE else 2
        unit = NANO / 8 if measure == PURE else NANO / 128
        alone = unit * max((np.abs(c) ** power).sum() for c in columns.T)
        moved = unit * max((np.abs(c - d) ** power).sum() for c in columns.T for d in columns.T)
        plain = Accountant(domain, measure, "add_remove")
        assert plain.price(block, law) == pytest.approx(alone, abs=1)
        assert plain.after(block, law, LIMIT) == pytest.approx(alone, abs=1)
        replaced = Accountant(domain, measure, "replace_one")
        assert replaced.price(block, law) >= moved - 1
        assert replaced.after(block, law, LIMIT) >= moved - 1


@pytest.mark.parametrize(
    ("law", "twice"), [(DiscreteLaplace(4, 0), 2), (DiscreteGaussian(4, 0), 4)]
)
def test_a_replaced_record_costs_a_block_of_products_both_of_its_cells(law, twice):
    domain = Domain(a=Integer(0, 2))
    block = Kronecker(domain, ("a",), (np.array([[1, 1, 0], [0, 1, 1]]),))
    measure = PURE if twice == 2 else CONCENTRATED
    added = Accountant(domain, measure, "add_remove").price(block, law)
    assert Accountant(domain, measure, "replace_one").price(block, law) == twice * added


def test_single_questions_beside_blocks_are_charged_once_for_a_replaced_record():
    """It moves between two cells of two tables of different records, and meets a condition."""
    domain = Domain(a=Integer(0, 1), b=Integer(0, 3), c=Integer(0, 1))
    accountant, eighth = Accountant(domain, PURE, "replace_one"), DiscreteLaplace(8, 0)
    for place in (0, 1):
        block = marginal("b", of=count(a=place)).on(domain)
        accountant.add(block, eighth, accountant.after(block, eighth, LIMIT))
        assert accountant.spent == 2 * NANO // 8
    after = accountant.after(count(c=1).on(domain), DiscreteLaplace(2, 0), LIMIT)
    assert after == 2 * NANO // 8 + NANO // 2


def test_the_loss_of_a_question_is_worked_out_once_for_its_price_and_its_charge(monkeypatch):
    worked_out = []

    def counted(tables, *of, **options):
        worked_out.append(tables.digest)
        return maximum(tables, *of, **options)

    monkeypatch.setattr(accountant_module, "maximum", counted)
    keeping = lru_cache(maxsize=8)(accountant_module._usual_bounds.__wrapped__)
    monkeypatch.setattr(accountant_module, "_usual_bounds", keeping)
    accountant, law = Accountant(DROPS, PURE, "add_remove"), DiscreteLaplace(7, 0)
    asked = [count(age=value).on(DROPS) for value in range(4)] + [count(sex="F").on(DROPS)]
    for measured in asked:
        priced = accountant.after(measured, law, LIMIT)
        charged = accountant.after(measured, law, LIMIT)
        accountant.add(measured, law, charged)
        assert priced == charged
    assert len(worked_out) == len(asked) == len(set(worked_out))
    fresh = Accountant(DROPS, PURE, "add_remove")  # what another ledger comes to is its own
    fresh.add(asked[4], law, 0)
    assert fresh.after(asked[0], law, LIMIT) == 2 * accountant.price(asked[0], law)
