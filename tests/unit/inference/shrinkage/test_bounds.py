"""Bounds of conjunctions by measured tables: by hand, against all tables, and under noise."""

from itertools import combinations, product

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.history import Measurement
from eke.inference.posterior import BoundedPosterior, ComposedNoise, ExactPosterior
from eke.inference.posterior.bounded import SHARE
from eke.inference.posterior.exact import bounded_halfwidth
from eke.inference.shrinkage.bounds import Bounds
from eke.privacy.law import Gaussian, Laplace
from eke.query import Query, count, marginal, moment

DOMAIN = Domain(a=Integer(0, 3), b=Integer(0, 2), c=Integer(0, 1))
WIDE = ExactPosterior(0.0, ComposedNoise(np.empty(0), 1e12))
QUERIES = [
    count(a=(1, 2), b=1).on(DOMAIN),
    count(a=(0, 2), b=(0, 1), c=1).on(DOMAIN),
    count(b=(1, 2), c=0).on(DOMAIN),
    count(a=3).on(DOMAIN),
]
HISTORIES = [("a", "b", "c"), ("ab", "c"), ("ab", "bc"), ("ab", "ac", "b"), ("c", "c", "ab")]


def history(cells: np.ndarray, tables: tuple[str, ...], scale: float, seed: int) -> list:
    """Noisy tables of cells; each has a law of its own."""
    rng = np.random.default_rng(seed)
    measured = []
    for place, names in enumerate(tables):
        rest = tuple(axis for axis, name in enumerate("abc") if name not in names)
        exact = cells.sum(axis=rest).reshape(-1)
        law = Laplace(scale * (1 + place))
        noisy = exact + rng.laplace(0.0, law.laplace_scale, exact.size)
        measured.append(Measurement(marginal(*names).on(DOMAIN), law, tuple(noisy.tolist())))
    return measured


def bounded(measured: list, query: Query) -> BoundedPosterior:
    belief = Bounds.of_history(measured, 1_000).around(query, WIDE)
    assert isinstance(belief, BoundedPosterior)
    return belief


def by_hand(measured: list, query: Query, miss: float) -> tuple[float, float]:
    """The same ends by a look at every table, every set of columns and every cell."""
    ranges = {name: np.flatnonzero(vector) for name, vector in query.terms[0].factors}
    outside = {name: np.setdiff1d(np.arange(DOMAIN[name].size), v) for name, v in ranges.items()}

    def told(chosen: dict) -> tuple[float, Laplace, int] | None:
        best = None
        for table in measured:
            names = table.query.attributes
            if not set(chosen) <= set(names):
                continue
            keys = product(*(range(DOMAIN[name].size) for name in names))
            parts = [
                value
                for key, value in zip(keys, table.values, strict=True)
                if all(v in chosen.get(name, [v]) for name, v in zip(names, key, strict=True))
            ]
            cells = len(table.values) / np.prod([DOMAIN[n].size for n in chosen], initial=1.0)
            noise = table.law.variance * cells
            if best is None or noise < best[0]:
                best = (noise, sum(parts), table.law, len(parts))
        return None if best is None else best[1:]

    def half(scale: float, parts: int, each: float) -> float:
        return bounded_halfwidth(ComposedNoise(np.full(parts, scale)), 1.0 - each)

    sets = [s for order in range(len(ranges) + 1) for s in combinations(ranges, order)]
    some = {s: told({name: ranges[name] for name in s}) for s in sets}
    lost = {name: told({name: outside[name]}) for name in ranges}
    used = [one for one in (*some.values(), *lost.values()) if one is not None]
    each = SHARE * miss / len(used)
    low, high = 0.0, np.inf
    for names, one in some.items():
        if one is None:
            continue
        high = min(high, one[0] + half(one[1].laplace_scale, one[2], each))
        others = [lost[name] for name in ranges if name not in names]
        if any(other is None for other in others):
            continue
        value = one[0] - half(one[1].laplace_scale, one[2], each)
        for other in others:
            assert other is not None
            value -= other[0] + half(other[1].laplace_scale, other[2], each)
        low = max(low, value)
    return low, max(high, 0.0)


@pytest.mark.parametrize("tables", HISTORIES)
@pytest.mark.parametrize("query", QUERIES)
def test_ends_are_those_of_every_margin(query: Query, tables: tuple[str, ...]) -> None:
    cells = np.random.default_rng(3).poisson(40.0, DOMAIN.shape)
    measured = history(cells, tables, 2.0, seed=5)
    for miss in (1.0, 0.05):
        ends = bounded(measured, query).ends(miss)
        assert ends == pytest.approx(by_hand(measured, query, miss), rel=1e-9)


def test_ends_without_noise_are_reached_by_tables_with_the_same_margins() -> None:
    """Of two columns the inequalities are sharp: all tables with these margins, one by one."""
    query = count(a=0, b=(0, 1)).on(DOMAIN)
    for first, second in product(range(7), repeat=2):
        margins = (np.array([first, 6 - first, 0, 0]), np.array([second, 0, 6 - second]))
        measured = [
            Measurement(marginal(name).on(DOMAIN), Laplace(1e-9), tuple(map(float, counts)))
            for name, counts in zip("ab", margins, strict=True)
        ]
        possible = [
            inside
            for inside in range(7)
            if inside <= min(first, second) and first + second - inside <= 6
        ]
        ends = bounded(measured, query).ends(0.05)
        assert ends == pytest.approx((min(possible), max(possible)), abs=1e-6)


def test_ends_hold_as_often_as_they_say() -> None:
    """N = 1,000 tables whose counts lie at an end; ≤ 5 % missed, and half without the widths."""
    rng = np.random.default_rng(11)
    query = count(a=(0, 1), b=0).on(DOMAIN)
    missed = careless = 0
    for seed in range(1_000):
        cells = np.zeros(DOMAIN.shape, int)
        cells[2, 0, 0], cells[0, 1, 0] = rng.integers(50, 100, 2)
        cells[1, 0, 1] = 20
        truth = cells[:2, 0].sum()
        belief = bounded(history(cells, ("a", "b"), 4.0, seed), query)
        low, high = belief.ends(1.0)
        missed += not low <= truth <= high
        careless += not max(x.value for x in belief.at_least) <= truth
    assert missed <= 0.05 * 1_000
    assert careless >= 0.5 * 1_000


def test_only_conjunctions_have_bounds() -> None:
    measured = history(np.ones(DOMAIN.shape), ("ab", "c"), 2.0, seed=1)
    bounds = Bounds.of_history(measured, 1_000)
    others = [
        moment({"a": 1, "c": 2}).on(DOMAIN),
        (2 * count(a=1)).on(DOMAIN),
        (count(a=1) - count(c=1)).on(DOMAIN),
    ]
    assert all(bounds.around(query, WIDE) is WIDE for query in others)
    shifted = bounds.around((count(a=1, c=1) + 7).on(DOMAIN), WIDE)
    plain = bounds.around(count(a=1, c=1).on(DOMAIN), WIDE)
    assert shifted.interval(0.95) == pytest.approx([end + 7.0 for end in plain.interval(0.95)])


def test_what_was_never_measured_bounds_nothing() -> None:
    measured = history(np.ones(DOMAIN.shape), ("c",), 2.0, seed=1)
    belief = bounded(measured, count(a=1, c=1).on(DOMAIN))
    assert belief.at_least == []
    assert [one.value for one in belief.at_most] == [sum(measured[0].values), measured[0].values[1]]
    assert Bounds.of_history([], 1_000).around(count(a=1, b=1).on(DOMAIN), WIDE) is WIDE


def test_a_finer_table_is_preferred_and_gaussian_noise_is_known() -> None:
    coarse = Measurement(marginal("a").on(DOMAIN), Gaussian(900.0), (1.0, 2.0, 3.0, 4.0))
    fine = Measurement(marginal("a").on(DOMAIN), Gaussian(4.0), (5.0, 6.0, 7.0, 8.0))
    query = count(a=(0, 1), b=0).on(DOMAIN)
    belief = bounded([coarse, fine], query)
    assert [one.value for one in belief.at_most] == [26.0, 11.0]
    assert [noise.variance for noise in belief.noises] == [8.0, 16.0, 8.0]
