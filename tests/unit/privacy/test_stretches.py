"""Losses on stretches of wide columns: never less than those of the values, for any value."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.errors import PrivacyError
from eke.privacy import loss_tables, stretches
from eke.privacy.loss_tables import LossTables
from eke.privacy.stretches import Cells, Stops, coarsened, expanded, stretched, together
from eke.query import Query, Term

SIZE = 6
STOPS = [np.array([*inner, SIZE]) for n in range(4) for inner in combinations(range(1, SIZE), n)]


def on_values(cells: Cells, stops: Stops) -> list[int]:
    """The entry of every single value."""
    return [int(cells[sum(stop <= value for stop in stops)]) for value in range(int(stops[-1]))]


def test_other_stretches_have_the_largest_of_what_they_meet() -> None:
    """Every pair of stretches of six values, in both directions."""
    rng = np.random.default_rng(1)
    for before, after in product(STOPS, STOPS):
        cells = rng.integers(0, 100, len(before))
        values = on_values(cells, before)
        coarse = coarsened(cells, 0, before, after)
        starts = [0, *after[:-1].tolist()]
        expected = [max(values[i:j]) for i, j in zip(starts, after.tolist(), strict=True)]
        assert coarse.tolist() == expected
        finer = together((before, after))
        assert on_values(expanded(cells, 0, before, finer), finer) == values
        other_axis = np.stack([cells, cells[::-1]])
        assert coarsened(other_axis, 1, before, after)[0].tolist() == expected


@pytest.mark.parametrize("most", [3, 4, 16])
def test_a_vector_of_too_many_stretches_counts_by_its_largest(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Up to `most` stretches it is itself, cell by cell; beyond, nothing cancels out."""
    monkeypatch.setattr(stretches, "MOST_VALUES", 5)
    monkeypatch.setattr(stretches, "MOST_STRETCHES", most)
    domain = Domain(a=Integer(0, SIZE - 1), b=Integer(0, 2))
    many, other = np.array([0, 4, 4, 0, 0, -9]), np.array([-9, 0, 1])
    terms = [Term(Fraction(1), (("a", many),)), Term(Fraction(1), (("b", other),))]
    narrow = stretched(Query.unrounded(domain, terms))
    stops = narrow.stops["a"].tolist()
    assert stops == ([1, 3, 5, 6] if most >= 4 else [6])
    for a, b in product(range(SIZE), range(3)):
        exact = int(many[a]) + int(other[b])
        cell = np.array([[sum(stop <= a for stop in stops), b]])
        bounds = [int(query.numerators(("a", "b"), cell)[0]) for query in narrow.queries]
        if most >= 4:
            assert bounds == [exact]
        else:
            assert sum(map(abs, bounds)) >= abs(exact)


def stretched_tables(rng: np.random.Generator) -> LossTables:
    """Random tables over two columns in stretches and one of single values."""
    tables = LossTables({"a": SIZE, "b": SIZE, "c": 2})
    for attributes in (("a",), ("a", "c"), ("a", "b"), ("a", "b", "c"), ("b", "c"), ("c",)):
        stops = {name: STOPS[rng.integers(len(STOPS))] for name in attributes if name != "c"}
        shape = [len(stops[name]) if name in stops else 2 for name in attributes]
        tables.add(attributes, rng.integers(0, 50, shape), stops)
    return tables


@pytest.mark.parametrize("room", [2, 6, 12, 2**18])
def test_on_common_stretches_no_cell_loses_less(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """N = 20; a table that would be too large has its largest losses over the wide columns."""
    rng = np.random.default_rng(room)
    cells = list(product(range(SIZE), range(SIZE), range(2)))
    bounded = 0
    for _ in range(20):
        tables = stretched_tables(rng)
        monkeypatch.setattr(loss_tables, "LARGEST_TABLE", room)
        aligned = tables.aligned()
        assert tables.aligned() is aligned
        common = {
            name: together(table.stops[name] for table in tables if name in table.stops)
            for name in ("a", "b")
        }
        assert aligned.sizes == {"a": len(common["a"]), "b": len(common["b"]), "c": 2}
        exact: dict[tuple[str, ...], LossTables] = {}
        for table in tables:
            size = np.prod([aligned.sizes[name] for name in table.attributes])
            names = table.attributes
            if table.stops and size > room:
                names = tuple(name for name in names if name == "c")
                bounded += 1
            wide = tuple(i for i, name in enumerate(table.attributes) if name not in names)
            sums = exact.setdefault(names, LossTables(tables.sizes))
            sums.add(
                names,
                np.asarray(table.cells.max(axis=wide)),
                {name: stops for name, stops in table.stops.items() if name in names},
            )
        assert [table.attributes for table in aligned] == sorted(exact)
        for a, b, c in cells:
            cell = {"a": a, "b": b, "c": c}
            place = {
                name: sum(stop <= cell[name] for stop in common[name].tolist()) for name in common
            }
            loss = aligned.at({**cell, **place})
            assert loss == sum(sums.at(cell) for sums in exact.values())
            assert loss >= tables.at(cell)
        monkeypatch.undo()
    assert (bounded > 0) == (room < 2**18)


@pytest.mark.parametrize("room", [1, 2**18])
def test_tables_of_other_stretches_add_up(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """N = 8 pairs; with no room for more stretches those of the first table must do."""
    monkeypatch.setattr(loss_tables, "LARGEST_TABLE", room)
    rng = np.random.default_rng(room)
    cells = list(product(range(SIZE), range(2), range(SIZE)))
    for _ in range(8):
        both = LossTables({"a": SIZE, "b": 2, "c": SIZE})
        each, stops = [], []
        for _ in range(2):
            stops.append({name: STOPS[rng.integers(len(STOPS))] for name in ("a", "c")})
            losses = rng.integers(0, 50, (len(stops[-1]["a"]), 2, len(stops[-1]["c"])))
            each.append(LossTables(both.sizes))
            for tables in (both, each[-1]):
                tables.add(("a", "b", "c"), losses, stops[-1])
        (table,) = both
        loss = {(a, b, c): [t.at({"a": a, "b": b, "c": c}) for t in each] for a, b, c in cells}
        for a, b, c in cells:
            alike = [(a, c)]
            if room == 1:
                alike = list(product(_alike(stops[0]["a"], a), _alike(stops[0]["c"], c)))
            expected = loss[a, b, c][0] + max(loss[x, b, z][1] for x, z in alike)
            assert both.at({"a": a, "b": b, "c": c}) == expected >= sum(loss[a, b, c])
        for name in ("a", "c"):
            expected_stops = stops[0][name] if room == 1 else together(ends[name] for ends in stops)
            assert table.stops[name].tolist() == expected_stops.tolist()


def _alike(stops: Stops, value: int) -> list[int]:
    """The values on the stretch of this one."""
    place = [int(np.searchsorted(stops, other, side="right")) for other in range(SIZE)]
    return [other for other in range(SIZE) if place[other] == place[value]]


def test_stretches_that_do_not_fit_are_refused() -> None:
    tables = LossTables({"a": 4})
    for stops in ([2, 3], [2, 2, 4], [3, 2, 4], [0, 4], [2, 5]):
        with pytest.raises(PrivacyError, match="ascend"):
            tables.add(("a",), np.zeros(len(stops), np.int64), {"a": np.array(stops)})
    for stop in (1, 4):  # of a column that the table is not about
        with pytest.raises(PrivacyError, match="ascend"):
            tables.add(("a",), np.zeros(4, np.int64), {"b": np.array([stop])})


def test_a_column_is_wide_beyond_what_is_written_out() -> None:
    assert not stretches.is_wide(stretches.MOST_VALUES)
    assert stretches.is_wide(stretches.MOST_VALUES + 1)


def test_stretches_are_put_together_as_long_as_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts is how many stretches there are then, not how many values the column has."""
    first, second = np.array([2, 9, 20]), np.array([5, 9, 12, 20])
    for room, expected in ((5, [2, 5, 9, 12, 20]), (4, [2, 9, 20])):
        monkeypatch.setattr("eke.privacy.loss_tables.LARGEST_TABLE", room)
        tables = LossTables({"a": 20})
        tables.add(("a",), np.array([1, 2, 3]), {"a": first})
        tables.add(("a",), np.array([10, 20, 30, 40]), {"a": second})
        (table,) = tables
        assert table.stops["a"].tolist() == expected
