"""Adjusted releases: nearest answers that hang together, for nothing."""

from __future__ import annotations

import numpy as np
import pytest

import eke
from eke.errors import QueryError
from tests.unit.session.conftest import CLOSED, DOMAIN

MIXED = (
    eke.all_marginals(DOMAIN, 1)
    + eke.ranges(DOMAIN, "age")
    + eke.Workload.of(DOMAIN, [eke.count(sex="Female", age=(17, 20)), eke.count()])
)
NORMS = ("l2", "l1", "linf")


@pytest.fixture(params=["epsilon", "rho"])
def release(request, new):
    session = new(**{request.param: 1.0})
    return session, session.release(session.plan(MIXED, budget=0.05))


@pytest.mark.parametrize("norm", NORMS)
def test_ranges_tables_and_questions_agree(release, norm):
    session, released = release
    spent = session.budget.spent
    for kind in ("consistent", "nonnegative", "whole"):
        adjusted = released.adjusted(kind, norm)
        sex, age, city, ranges, female, everyone = (t.values for t in adjusted.tables)
        assert sex.sum() == pytest.approx(float(everyone), abs=1e-5)
        assert city.sum() == pytest.approx(float(everyone), abs=1e-5)
        assert ranges[9] == pytest.approx(float(everyone), abs=1e-5)  # from first to last age
        assert age[0] == pytest.approx(float(ranges[0]), abs=1e-5)
        if kind != "consistent":
            assert min(v.min() for v in (sex, age, city, ranges)) >= 0.0
            assert -1e-9 <= female <= sex[0] + 1e-9
        if kind == "whole":
            assert all(np.array_equal(t.values, np.rint(t.values)) for t in adjusted.tables)
        moved = np.concatenate(
            [
                np.ravel(a.values - b.values)
                for a, b in zip(adjusted.tables, released.tables, strict=True)
            ]
        )
        order = {"l1": 1, "l2": 2, "linf": np.inf}[norm]
        assert adjusted.adjustment.moved == pytest.approx(np.linalg.norm(moved, order))
        assert adjusted.adjustment.largest == pytest.approx(np.abs(moved).max())
        assert adjusted.adjustment.guarantee in adjusted.adjustment.note
        assert kind in repr(adjusted)
        assert "adjusted already" in str(_refusal(adjusted))
    assert session.budget.spent == spent


def _refusal(release) -> QueryError:
    with pytest.raises(QueryError) as raised:
        release.adjusted("whole")
    return raised.value


def test_marginals_are_adjusted_as_their_own_methods_do(new):
    session = new(epsilon=1.0)
    released = session.release(session.plan(eke.all_marginals(DOMAIN, 2), budget=0.01))
    for norm in NORMS:
        nearest = released.consistent(norm, nonnegative=True)
        for table in released.adjusted("nonnegative", norm).tables:
            np.testing.assert_array_equal(table.values, nearest[table.attributes])
    whole = released.whole()
    adjusted = released.adjusted("whole")
    for table in adjusted.tables:
        np.testing.assert_array_equal(table.values, whole[table.attributes])
    assert adjusted.adjustment.joint
    assert released.adjustment is None
    assert not released.adjusted("nonnegative").adjustment.joint
    assert released.adjusted().adjustment.moved == pytest.approx(0.0, abs=1e-6)


def test_a_public_number_of_records_is_met(new):
    session = new(epsilon=1.0, domain=CLOSED, neighbours="replace_one")
    workload = eke.Workload.of(CLOSED, [["sex"], eke.count(age=(18, 20))]) + eke.ranges(
        CLOSED, "age"
    )
    released = session.release(session.plan(workload, budget=0.05))
    assert released.total == 400
    for kind in ("consistent", "nonnegative", "whole"):
        assert released.adjusted(kind).table("sex").values.sum() == pytest.approx(400, abs=1e-6)
