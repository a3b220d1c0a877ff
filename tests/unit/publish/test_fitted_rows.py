"""Rows that are fitted: counts and steps against slow twins, matching, and what stays as it was."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.domain import Categorical, Domain, Integer
from eke.publish import matching
from eke.publish.coarse import CoarseMarginal
from eke.publish.fitted_rows import FittedRows, WantedTable
from eke.publish.matching import matched
from eke.publish.row_tables import Neighbourhood, RowTables, improved

Codes = NDArray[np.int64]
DOMAIN = Domain(a=Integer(0, 4), b=Categorical("x", "y"), c=Integer(0, 3))
EVEN = {name: np.full(size, 1.0 / size) for name, size in zip("abc", DOMAIN.shape, strict=True)}


def marginal(*names: str, **groups: list[int]) -> CoarseMarginal:
    labels = tuple(np.array(groups.get(n, range(DOMAIN[n].size)), np.int64) for n in names)
    return CoarseMarginal(DOMAIN, names, labels)


MARGINALS = [
    marginal("a"),
    marginal("a", "b", a=[0, 0, 1, 1, 2]),
    marginal("b", "c"),
    marginal("a", "b", "c", a=[0, 1, 1, 1, 1], c=[1, 0, 1, 0]),
]


def some_rows(count: int, seed: int = 0) -> Codes:
    return np.random.default_rng(seed).integers(0, DOMAIN.shape, (count, 3))


def slow_counts(rows: Codes, one: CoarseMarginal) -> NDArray[np.float64]:
    found = np.zeros(one.shape)
    for row in rows:
        place = [DOMAIN.names.index(name) for name in one.attributes]
        found[tuple(g[row[k]] for g, k in zip(one.groups, place, strict=True))] += 1
    return found.reshape(-1)


@pytest.mark.parametrize("count", [0, 1, 57])
def test_counts_are_those_of_the_definition(count: int) -> None:
    rows = some_rows(count)
    tables = RowTables.of(DOMAIN, MARGINALS)
    for found, one in zip(tables.apart(tables.counts(rows)), MARGINALS, strict=True):
        np.testing.assert_array_equal(found, slow_counts(rows, one))


def test_no_tables_have_no_counts() -> None:
    assert RowTables.of(DOMAIN, []).apart(RowTables.of(DOMAIN, []).counts(some_rows(3))) == []
    assert FittedRows(DOMAIN, some_rows(3), 3.0, 1).expected([]) == []


@pytest.mark.parametrize("each", [0.5, 1.0, 7.0])
def test_each_change_brings_rows_nearer(each: float) -> None:
    """What is kept of the excess is what a recount gives, and the weighted squares become less."""
    generator = np.random.default_rng(1)
    rows = some_rows(80)
    tables = RowTables.of(DOMAIN, MARGINALS)
    wanted = np.concatenate([each * slow_counts(some_rows(80, 9), one) for one in MARGINALS])
    weights = generator.uniform(0.5, 2.0, len(MARGINALS))
    of_cells = np.repeat(weights, [one.cells for one in MARGINALS])
    excess = each * tables.counts(rows) - wanted
    before = float(of_cells @ excess**2)
    for seed in range(30):
        around = Neighbourhood.of(DOMAIN, rows, tables)
        changed = improved(rows, tables, around, excess, weights, each=each, sweeps=1, seed=seed)
        np.testing.assert_allclose(excess, each * tables.counts(rows) - wanted, atol=1e-9)
        after = float(of_cells @ excess**2)
        assert (after < before) if changed else (after == before)
        before = after
    start = each * tables.counts(some_rows(80)) - wanted
    assert before < 0.1 * float(of_cells @ start**2)
    assert (rows >= 0).all()
    assert (rows < DOMAIN.shape).all()


def test_where_nothing_is_nearer_nothing_changes() -> None:
    rows = some_rows(60)
    tables = RowTables.of(DOMAIN, MARGINALS)
    kept = rows.copy()
    changed = improved(
        rows,
        tables,
        Neighbourhood.of(DOMAIN, rows, tables),
        np.zeros(int(tables.starts[-1])),
        np.ones(len(MARGINALS)),
        each=1.0,
        sweeps=3,
        seed=1,
    )
    assert changed == 0
    assert (rows == kept).all()


@pytest.mark.parametrize("seed", range(6))
def test_rows_are_matched_once_each_and_as_wanted(seed: int) -> None:
    generator = np.random.default_rng(seed)
    first, second = generator.integers(0, 4, 500), generator.integers(0, 3, 500)
    if seed == 1:
        first[:] = 2  # some groups nobody is in
    wanted = generator.gamma(0.5, 1.0, (4, 3))
    partner = matched(first, second, wanted, generator)
    assert sorted(partner.tolist()) == list(range(500))
    found = np.zeros((4, 3))
    np.add.at(found, (first, second[partner]), 1)
    slow = np.maximum(wanted, 1e-9 * wanted.sum())
    for _ in range(3000):
        slow *= (np.bincount(first, minlength=4) / np.maximum(slow.sum(axis=1), 1e-300))[:, None]
        slow *= np.bincount(second, minlength=3) / slow.sum(axis=0)
    assert np.abs(found - slow).max() <= 4.0


def test_a_wanted_table_that_cannot_be_is_come_near() -> None:
    """All of one side in one group, and the table wants them elsewhere."""
    first, second = np.zeros(10, np.int64), np.arange(10) % 2
    partner = matched(first, second, np.array([[0.0, 0.0], [5.0, 5.0]]), np.random.default_rng(0))
    assert sorted(partner.tolist()) == list(range(10))


def test_rows_begin_with_columns_as_they_are_and_independent() -> None:
    """Columns to the last row; pairs as drawn rows would have them (a deviation of 25 rows)."""
    shares = {"a": np.array([0.1, 0.2, 0.3, 0.4, 0.0]), "b": np.array([1.0, 3.0]), "c": np.ones(4)}
    rows = FittedRows.independent(DOMAIN, shares, 5000.0, 10_000, seed=3)
    assert rows.each == 0.5
    for names in (("a",), ("b",), ("a", "b"), ("b", "c")):
        (found,) = rows.expected([marginal(*names)])
        wanted = np.ones(1)
        for name in names:
            wanted = np.multiply.outer(wanted, shares[name] / shares[name].sum()).reshape(-1)
        assert np.abs(found - 5000.0 * wanted).max() < (1.0 if len(names) == 1 else 5 * 12.5)


def test_columns_brought_together_stay_what_they_were() -> None:
    rows = FittedRows.independent(DOMAIN, EVEN, 4000.0, 4000, seed=1)
    singles = [rows.expected([marginal(name)])[0] for name in "abc"]
    wanted = np.array([[0.0, 800], [800, 0], [0, 800], [800, 0], [400, 400]])
    rows.add(WantedTable(marginal("a", "b"), wanted.reshape(-1), 5.0))
    for before, name in zip(singles, "abc", strict=True):
        np.testing.assert_array_equal(before, rows.expected([marginal(name)])[0])
    (found,) = rows.expected([marginal("a", "b")])
    assert np.abs(found - wanted.reshape(-1)).max() <= 8
    other = np.array([[2000.0, 0, 0, 0], [0, 0, 1000, 1000]])
    (held,) = rows.expected([marginal("a", "b")])
    rows.add(WantedTable(marginal("b", "c"), other.reshape(-1), 5.0))
    np.testing.assert_array_equal(held, rows.expected([marginal("a", "b")])[0])
    rows.improve(8)
    assert (rows.distances() < 60.0).all()


def test_other_numbers_of_rows_stand_for_the_same() -> None:
    rows = FittedRows.independent(DOMAIN, EVEN, 1000.0, 4096, seed=2)
    rows.add(WantedTable(marginal("a"), np.array([500.0, 300, 100, 100, 0]), 1.0))
    rows.improve(10)
    for count in (1, 100, 4096, 10_000):
        other = rows.resized(count)
        assert other.codes.shape == (count, 3)
        (found,) = other.expected([marginal("a")])
        assert found.sum() == pytest.approx(1000.0)
        if count >= 100:
            assert np.abs(found - [500.0, 300, 100, 100, 0]).max() < 90.0


@pytest.mark.parametrize(("members", "amiss"), [(200, 400), (50, 150), (1, 10)])
def test_rows_are_matched_to_tables_that_they_cannot_come_near(members: int, amiss: int) -> None:
    """Groups in groups, as towns in two countries, of other sizes than the table says."""
    towns = 50
    second = np.repeat(np.arange(2 * towns), members)
    first = np.repeat([0, 1], [towns * members + amiss, towns * members - amiss])
    wanted = np.zeros((2, 2 * towns))
    wanted[0, :towns] = wanted[1, towns:] = members
    partner = matched(first, second, wanted, np.random.default_rng(0))
    assert sorted(partner.tolist()) == list(range(len(first)))


def test_no_marginals_have_no_counts() -> None:
    """Where nothing is on offer that is worth measuring, nothing is expected of anything."""
    assert FittedRows(DOMAIN, some_rows(5), 5.0, seed=0).expected([]) == []


def test_rows_left_by_rounding_go_where_they_belong(monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 rows in 6,400 cells near the diagonal; the control leaves some to chance."""
    source = np.random.default_rng(5)
    first, second = source.integers(0, 80, 2000), source.integers(0, 80, 2000)
    places = np.arange(80)
    wanted = np.exp(-0.5 * (places[:, None] - places) ** 2 / 25.0)

    def correlation() -> float:
        partner = matched(first, second, wanted, source)
        assert sorted(partner.tolist()) == list(range(2000))
        return float(np.corrcoef(first, second[partner])[0, 1])

    assert correlation() > 0.95
    monkeypatch.setattr(matching, "_ASKED", 0)
    assert correlation() < 0.8


def test_what_is_supposed_inside_groups_is_replaced_and_not_counted_as_measured() -> None:
    rows = FittedRows.independent(DOMAIN, EVEN, 4000.0, 4000, seed=1)
    coarse = WantedTable(marginal("a", "c", c=[0, 0, 1, 1]), np.full(10, 400.0), 5.0)
    fine = np.zeros((5, 4))
    fine[:, 0] = fine[:, 2] = 400.0
    inside = WantedTable(marginal("a", "c"), fine.reshape(-1), 5.0)
    rows.add(coarse, inside)
    rows.improve(20)
    (found,) = rows.expected([marginal("a", "c")])
    assert np.abs(found - fine.reshape(-1)).max() < 20.0
    assert len(rows.distances()) == 1
    rows.add(coarse)
    assert rows.inside == {}
