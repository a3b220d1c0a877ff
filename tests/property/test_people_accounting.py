"""Numbers of people and counts of records, accounted for together, against every possible unit.

All randomness comes from generators seeded here, so a failing history can be run again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import PrivacyError
from eke.privacy import accountant as accounting
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Marginal, Query, count
from tests.parts import in_long
from tests.random_questions import random_conditions, random_domain
from tests.unit.privacy.loss_twin import LossTwin

HISTORIES = 80


def random_people(rng: np.random.Generator, domain: Domain) -> Query | Marginal:
    """The number of people under some conditions, or one for each value of some columns."""
    weight = Fraction(int(rng.choice([1, 1, 1, 3, -2])))
    inside = replace(weight * count(random_conditions(rng, domain)).on(domain), people=True)
    by = domain.in_order(name for name in domain.names if rng.random() < 0.35)
    return Marginal(by, inside) if by else inside


def play(seed: int, make: Callable[..., Accountant]) -> Counter[str]:
    """One history of up to seven measurements, of people and of records."""
    rng = np.random.default_rng(seed)
    measure: Measure = PURE if rng.random() < 0.5 else CONCENTRATED
    rows = int(rng.choice([1, 2, 2, 3]))
    domain = random_domain(rng, attributes=2, largest=3 if rows < 3 else 2)
    accountant, twin = (
        make(domain, measure, "add_remove", rows),
        LossTwin(domain, "add_remove", rows),
    )
    factor = measure.group_factor(rows)
    as_records = Accountant(domain, measure, "add_remove", rows)
    limit = int(NANO * 10.0 ** rng.uniform(-2, 2))
    found: Counter[str] = Counter()
    charged = 0
    for _ in range(int(rng.integers(1, 8))):
        measured = random_people(rng, domain)
        if measured.is_zero:
            continue
        if rng.random() < 0.45:
            inside = replace(measured.inside, people=False)
            by = measured.grouped or ()
            measured = Marginal(by, inside) if by else inside
        law = random_law(rng, measure)
        after, truth = accountant.after(measured, law, limit), twin.largest_after(measured, law)
        found["decisions"] += 1
        found["of people"] += measured.people
        found["under-counts"] += after < truth
        records = as_records.after(of_records(measured), law, limit)
        found["more than records"] += after > records
        found["less than records"] += after < records
        exact = after < truth + factor * (charged + 1)
        found["exact"] += exact
        found["inexact where a unit is a row"] += rows == 1 and not exact
        found["decreases"] += after < accountant.spent
        if after <= limit:
            accountant.add(measured, law, after)
            as_records.add(of_records(measured), law, records)
            twin.add(measured, law)
            charged += 1
        else:
            found["refusals"] += 1
    return found


def of_records(measured: Query | Marginal) -> Query | Marginal:
    """The same numbers of records."""
    inside = replace(measured.inside, people=False)
    return Marginal(measured.attributes, inside) if isinstance(measured, Marginal) else inside


def random_law(rng: np.random.Generator, measure: Measure) -> DiscreteLaw:
    family = DiscreteLaplace if measure == PURE else DiscreteGaussian
    return family(int(rng.integers(1, 60)), 0)


def play_all(make: Callable[..., Accountant], histories: int) -> Counter[str]:
    return sum((play(seed, make) for seed in range(histories)), Counter())


@pytest.mark.parametrize("histories", [HISTORIES, *map(in_long, (300, 3000))])
def test_no_unit_loses_more_by_people_and_records_than_is_accounted_for(histories):
    """N = 80 random adaptive histories (300, 3,000 in the long run), about 3.5 decisions each."""
    found = play_all(Accountant, histories)
    assert found["under-counts"] == 0
    assert found["more than records"] == 0
    assert found["decreases"] == 0
    assert found["inexact where a unit is a row"] == 0
    assert found["decisions"] > 3 * histories
    assert found["of people"] > 1.5 * histories
    assert found["less than records"] > 0.2 * found["decisions"]
    assert found["exact"] > 0.5 * found["decisions"]
    assert found["refusals"] > 0.2 * histories


class Divided(Accountant):
    """Positive control: rows cost k times, and people a k-th of it, in the cell that loses most."""

    def _loss_of_unit(self, losses, limit):
        if losses.people is None:
            return super()._loss_of_unit(losses, limit)
        together = losses.cells.copy()
        for table in losses.people:
            share = np.array(table.cells // self._factor)
            together.add(table.attributes, share, table.stops)
        return self._factor * accounting._certified(together, limit)


class OneGroup(Accountant):
    """Positive control: a unit is taken to be in one of several groups only."""

    def times_a_record(self, block):
        return 1 if block.people else super().times_a_record(block)


class Unscaled(Accountant):
    """Positive control: under zCDP, rows of a unit count k times and not k² times with people."""

    def _loss_of_unit(self, losses, limit):
        if losses.people is None:
            return super()._loss_of_unit(losses, limit)
        together = losses.people.copy()
        for table in losses.cells:
            together.add(table.attributes, table.cells, table.stops)
        return self._rows * accounting._certified(together, limit)


@pytest.mark.parametrize("broken", [Divided, OneGroup, Unscaled])
@pytest.mark.parametrize("histories", [HISTORIES, in_long(150)])
def test_wrong_bounds_are_caught(broken, histories):
    """Positive control, N = 80 or 150 histories for each."""
    assert play_all(broken, histories)["under-counts"] > histories / 15


DOMAIN = Domain(month=Integer(1, 12), sex=Categorical("F", "M"))


@pytest.mark.parametrize(
    ("measured", "rows", "times"),
    [
        (count(sex="F"), 20, 1),
        (count(sex="F").by("month"), 20, 12),
        (count(sex="F").by("month"), 5, 5),
        (count().by("month", "sex"), 1, 1),
    ],
)
@pytest.mark.parametrize("law", [DiscreteLaplace(10, 0), DiscreteGaussian(10, 0)])
def test_people_cost_a_unit_once_for_each_group_that_it_can_be_in(measured, rows, times, law):
    block = measured.on(DOMAIN)
    inside = replace(block.inside, people=True)
    block = block.with_inside(inside)
    measure = PURE if isinstance(law, DiscreteLaplace) else CONCENTRATED
    accountant = Accountant(DOMAIN, measure, "add_remove", rows)
    assert accountant.price(block, law) == times * law.loss_nano(Fraction(1))
    assert accountant.after(block, law, NANO) == accountant.price(block, law)


def test_many_conditions_on_the_same_people_cost_what_they_cost_apart():
    """By cells, 30 overlapping numbers of people would cost a unit of 20 rows 600 times one."""
    accountant, law = Accountant(DOMAIN, PURE, "add_remove", 20), DiscreteLaplace(1000, 0)
    for last in range(1, 13):
        people = replace(count(month=(1, last)).on(DOMAIN), people=True)
        accountant.add(people, law, accountant.after(people, law, NANO))
    assert accountant.spent == 12 * law.loss_nano(Fraction(1))


def test_people_in_disjoint_cells_cost_what_their_rows_cost_at_most():
    """By cells: twelve questions about a month each cost a unit of two rows twice one."""
    accountant, law = Accountant(DOMAIN, PURE, "add_remove", 2), DiscreteLaplace(1000, 0)
    for month in range(1, 13):
        people = replace(count(month=month).on(DOMAIN), people=True)
        accountant.add(people, law, accountant.after(people, law, NANO))
    assert accountant.spent == 2 * law.loss_nano(Fraction(1))


def test_people_need_ids_that_come_and_go():
    people = replace(count().on(DOMAIN), people=True)
    with pytest.raises(PrivacyError, match="come and go"):
        Accountant(DOMAIN, PURE, "replace_one").price(people, DiscreteLaplace(10, 0))
