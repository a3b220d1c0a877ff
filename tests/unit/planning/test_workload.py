"""Workloads: the families of the paper, lists of anything, weights, and what is refused."""

from __future__ import annotations

from math import comb

import pytest

import eke
from eke.errors import EkeError
from eke.planning.workload.workload import (
    Item,
    Target,
    Workload,
    all_marginals,
    grouping_sets,
    marginals_and_half_of_next,
    marginals_and_those_with,
    marginals_up_to,
    prefixes,
    ranges,
)
from tests.unit.planning.cubes import cube

DOMAIN = cube(3, 2, 4, 5)


def test_families_of_marginals() -> None:
    assert len(all_marginals(DOMAIN, 2).targets) == comb(4, 2)
    assert len(marginals_up_to(DOMAIN, 2).targets) == 1 + 4 + 6
    starred = marginals_and_half_of_next(DOMAIN, 1)
    assert len(starred.targets) == 4 + 3
    fixed = marginals_and_those_with(DOMAIN, 1, "c")
    assert [t.attributes for t in fixed.targets[4:]] == [("a", "c"), ("b", "c"), ("c", "d")]
    cube_of_sql = grouping_sets(DOMAIN, [("c", "a"), ("a",), ()])
    assert [t.attributes for t in cube_of_sql.targets] == [("a", "c"), ("a",), ()]
    assert all_marginals(DOMAIN, 0).targets == (Target(()),)


def test_questions_are_counted() -> None:
    assert all_marginals(DOMAIN, 1).questions == 3 + 2 + 4 + 5
    assert ranges(DOMAIN, "c").questions == 10
    assert prefixes(DOMAIN, "c", "a").questions == 12
    assert (ranges(DOMAIN, "a", "c") + all_marginals(DOMAIN, 1)).questions == 6 * 10 + 14


def test_any_list_makes_a_workload() -> None:
    items: list[Item] = [
        eke.marginal("b", "a"),
        ("c",),
        "d",
        eke.count(a="v1"),
        Target(("c",), ("ranges",)),
        eke.marginal("a").on(DOMAIN),
    ]
    workload = Workload.of(DOMAIN, items, weights=[1, 2, 3, 4, 5, 6])
    assert [t.attributes for t in workload.targets] == [("a", "b"), ("c",), ("d",), ("c",), ("a",)]
    assert [t.weight for t in workload.targets] == [1, 2, 3, 5, 6]
    assert workload.query_weights == (4.0,)
    assert not workload.is_marginal
    doubled = workload.weighted(2.0)
    assert doubled.query_weights == (8.0,)
    assert doubled.targets[0].weight == 2.0


@pytest.mark.parametrize(
    "make",
    [
        lambda: Workload(DOMAIN),
        lambda: all_marginals(DOMAIN, 5),
        lambda: all_marginals(DOMAIN, -1),
        lambda: marginals_and_half_of_next(DOMAIN, 4),
        lambda: marginals_and_those_with(DOMAIN, 1, "z"),
        lambda: ranges(DOMAIN),
        lambda: Workload.of(DOMAIN, ["a"], weights=[0.0]),
        lambda: Workload.of(DOMAIN, ["a"], weights=[1.0, 2.0]),
        lambda: Workload.of(DOMAIN, [eke.marginal("a", where={"b": "v1"})]),
        lambda: Workload.of(DOMAIN, ["z"]),
        lambda: Target(("a",), ("cells", "cells")),
        lambda: Target(("a",), ("values",)),  # type: ignore[arg-type]
        lambda: Workload(DOMAIN, (Target(("b", "a")),)),
        lambda: all_marginals(DOMAIN, 1) + all_marginals(cube(2, 2), 1),
        lambda: Workload(DOMAIN, (), (eke.count().on(cube(2, 2)),)),
    ],
)
def test_bad_workloads_are_refused(make) -> None:
    with pytest.raises(EkeError):
        make()
