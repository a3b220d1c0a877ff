"""Whole tables at once: the slow twin is to estimate the cells one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.history import Measurement, Row
from eke.inference import Inference, alike, state
from eke.inference.alike import kinds_of, value_classes
from eke.planning.online import facts
from eke.planning.online.facts import known_errors, noise_kind
from eke.privacy.law import Laplace
from eke.query import Marginal, count, marginal
from tests.parts import in_long
from tests.unit.inference.test_mixed import random_case, random_query

AB = Domain(a=Integer(0, 4), b=Integer(0, 2))


@pytest.fixture(autouse=True)
def _keep_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few cells they have."""
    monkeypatch.setattr(state, "LEAST_CELLS", 0)


def differences(seeds: range) -> tuple[list[str], int, int]:
    """(cells that differ from their twins, cells compared, kinds among them)."""
    wrong, compared, kinds = [], 0, 0
    for seed in seeds:
        domain, tables, singles = random_case(np.random.default_rng(seed))
        inference = Inference(domain)
        for row in singles:
            inference.append(row)
        inference.extend_all(tables)
        rng = np.random.default_rng(seed)
        asked = [table.query for table in tables if isinstance(table.query, Marginal)]
        asked += [block.with_inside(random_query(domain, rng)) for block in asked]
        for block in asked:
            known = inference.table(block)
            if known is None:
                continue
            kinds += len(known.noises)
            for place in range(block.cells):
                compared += 1
                own, twin = known.posterior(place), inference.posterior(block.cell(place))
                assert twin is not None
                if own.value != pytest.approx(twin.value, rel=1e-7, abs=1e-7):
                    wrong.append(f"value {seed}:{place}")
                if own.halfwidth(0.9) != pytest.approx(twin.halfwidth(0.9), rel=1e-7, abs=1e-9):
                    wrong.append(f"width {seed}:{place}")
    return wrong, compared, kinds


@pytest.mark.parametrize("number", [8, in_long(40)])
def test_tables_are_their_cells_one_by_one(number: int) -> None:
    wrong, compared, kinds = differences(range(number))
    assert wrong == []
    assert compared > 7 * number
    assert kinds < compared


@pytest.mark.parametrize("number", [10, in_long(60)])
def test_cells_that_are_not_examples_are_known_as_well_as_these(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The slow twin looks at all cells, with and without released tables in the history."""
    looked_at = all_cells = 0
    for seed in range(number):
        domain, tables, singles = random_case(np.random.default_rng(seed))
        inference = Inference(domain)
        for row in singles:
            inference.append(row)
        if seed % 2:
            inference.extend_all(tables)
        rng = np.random.default_rng(seed)
        asked = [table.query for table in tables if isinstance(table.query, Marginal)]
        asked += [block.with_inside(random_query(domain, rng)) for block in asked]
        for block in asked:
            looked_at += len(list(inference.examples(block)))
            all_cells += block.cells
            with monkeypatch.context() as patched:
                patched.setattr(Inference, "table", lambda *_: None)
                patched.setattr(facts, "_FEW_CELLS", 0)
                found = known_errors(block, inference)
                patched.setattr(Inference, "examples", lambda _, block: block.queries())
                assert list(map(noise_kind, found)) == list(
                    map(noise_kind, known_errors(block, inference))
                )
    assert looked_at < 0.8 * all_cells


def test_taking_all_cells_for_alike_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positive control."""
    monkeypatch.setattr(state, "value_classes", lambda _, __, size: np.zeros(size, np.intp))
    wrong, _, _ = differences(range(8))
    assert any("width" in one for one in wrong)


def rows_by_value(*scales: float) -> list[Row]:
    """A count of each value of a, with noise of these scales."""
    return [Row(count(a=value).on(AB), 5.0, Laplace(scale)) for value, scale in enumerate(scales)]


@pytest.mark.parametrize(
    ("rows", "classes"),
    [
        ([], [0, 0, 0, 0, 0]),
        ([Row(count().on(AB), 9.0, Laplace(1.0))], [0, 0, 0, 0, 0]),
        (rows_by_value(2, 2, 2, 2, 2), [0, 0, 0, 0, 0]),
        (rows_by_value(2, 2, 3, 2, 2), [0, 0, 1, 0, 0]),
        (rows_by_value(2, 2), [0, 0, 1, 1, 1]),
        ([Row(count(a=(1, 2)).on(AB), 9.0, Laplace(1.0))], [0, 1, 1, 0, 0]),
        (
            [Row(count(a=v, b=w).on(AB), 9.0, Laplace(1.0)) for v, w in ((0, 0), (1, 0), (2, 1))],
            [0, 0, 1, 2, 2],
        ),
    ],
)
def test_values_are_alike_if_they_can_be_swapped(rows: list[Row], classes: list[int]) -> None:
    assert value_classes(rows, "a", 5).tolist() == classes


def test_values_are_alone_where_too_many_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """But those that no answer tells apart stay together as long as vectors are looked at."""
    assert value_classes(rows_by_value(1, 2, 1), "a", 5).tolist() == [0, 1, 0, 2, 2]
    monkeypatch.setattr(alike, "_MOST_SINGLES", 1)
    assert value_classes(rows_by_value(1, 2, 1), "a", 5).tolist() == [0, 1, 2, 3, 3]
    monkeypatch.undo()
    monkeypatch.setattr(alike, "_MOST_SWAPPED", 4)
    assert value_classes(rows_by_value(1, 1), "a", 5).tolist() == [0, 1, 2, 2, 2]
    monkeypatch.setattr(alike, "_MOST_LOOKED_AT", 4)
    assert value_classes(rows_by_value(1), "a", 5).tolist() == [0, 1, 2, 3, 4]


def by_definition(rows: list[Row], size: int) -> list[int]:
    """The slow twin: all pairs of values are swapped, in whole answers written out over cells."""

    def written(order: list[int]) -> Counter[Hashable]:
        answers = []
        for row in rows:
            table = np.zeros((size, 3), object)
            for term in row.query.terms:
                factors = dict(term.factors)
                along = [factors.get(name, np.ones(n, int)) for name, n in (("a", size), ("b", 3))]
                table = table + term.weight * np.multiply.outer(*along).astype(object)
            answers.append((row.law, tuple(table[order].reshape(-1))))
        return Counter(answers)

    def swapped(one: int, other: int) -> list[int]:
        order = list(range(size))
        order[one], order[other] = other, one
        return order

    plain = written(list(range(size)))
    classes: list[int] = []
    for value in range(size):
        same = (one for one in range(value) if written(swapped(one, value)) == plain)
        classes.append(
            classes[one] if (one := next(same, None)) is not None else 1 + max(classes, default=-1)
        )
    return classes


def random_rows(rng: np.random.Generator, domain: Domain, size: int) -> list[Row]:
    """Answers about single values, ranges and cells, with one of two noises; many are alike."""
    rows = []
    for _ in range(rng.integers(1, 8)):
        low = int(rng.integers(size))
        high = low if rng.random() < 0.6 else int(rng.integers(low, size))
        asked = (
            count(a=(low, high), b=int(rng.integers(3)))
            if rng.random() < 0.3
            else count(a=(low, high))
        )
        rows.append(Row(asked.on(domain), 1.0, Laplace(float(rng.integers(1, 3)))))
    return rows


@pytest.mark.parametrize("number", [60, in_long(600)])
def test_classes_are_those_of_the_definition(number: int) -> None:
    """In a tenth of the histories at least, values are alike that answers tell apart."""
    rng = np.random.default_rng(5)
    domain, joined = Domain(a=Integer(0, 5), b=Integer(0, 2)), 0
    for _ in range(number):
        rows = random_rows(rng, domain, 6)
        twin = by_definition(rows, 6)
        assert value_classes(rows, "a", 6).tolist() == twin
        plain = np.ones(6, int)
        vectors = [dict(t.factors).get("a", plain) for row in rows for t in row.query.terms]
        joined += len(np.unique(np.array(vectors), axis=1).T) > max(twin) + 1
    assert joined > number / 10


def test_values_that_answers_treat_differently_are_not_swapped_to_see_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Boxes like those of many analysts: hardly any two values have entries that could match."""
    swapped, swappable = [], alike._swappable

    def noted(held: list[alike._Held], one: int, other: int) -> bool:
        swapped.append((one, other))
        return swappable(held, one, other)

    monkeypatch.setattr(alike, "_swappable", noted)
    domain, rng = Domain(a=Integer(0, 59), b=Integer(0, 9)), np.random.default_rng(1)
    rows = []
    for _ in range(80):
        (low, high), (start, end) = (np.sort(rng.integers(0, n, 2)).tolist() for n in (60, 10))
        rows.append(Row(count(a=(low, high), b=(start, end)).on(domain), 0.0, Laplace(1.0)))
    assert len(set(value_classes(rows, "a", 60))) > 50
    assert len(swapped) < 10


def test_sums_that_are_equal_by_chance_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Chance:
        def integers(self, _: int, dtype: object) -> np.uint64:
            return np.uint64(0)

    monkeypatch.setattr(np.random, "default_rng", lambda _: Chance())
    terms = [term for row in rows_by_value(2, 2) for term in row.query.terms]
    told = alike._not_told_apart(terms, "a", 5)
    assert [one.tolist() for one in told] == [[0, 1, 2, 3, 4]] * 2
    assert value_classes(rows_by_value(2, 2), "a", 5).tolist() == [0, 0, 1, 1, 1]


def test_kinds_are_counted_and_what_cannot_be_known_is_seen() -> None:
    block = marginal("a", "b").on(AB)
    inference = Inference(AB)
    assert not inference.may_know(block)
    assert inference.table(block) is None
    for row in rows_by_value(2, 3):
        inference.append(row)
    assert inference.kinds(block) == 3
    released = marginal("a", "b").on(AB)
    inference.extend(Measurement(released, Laplace(1.0), tuple(float(i) for i in range(15))))
    assert inference.may_know(block)
    known = inference.table(block)
    assert known is not None
    assert len(known.noises) == 3
    assert inference.table(marginal("b").on(AB)) is not None
    assert inference.table(count(a=1).on(AB)) is None
    assert kinds_of([np.array([0, 1, 1]), np.array([0, 0])]) == 2
