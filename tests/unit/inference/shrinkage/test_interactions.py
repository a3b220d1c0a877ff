"""What tables leave open: against every cell, and intervals of questions unlike those measured."""

from itertools import combinations

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.history import Measurement
from eke.inference.shrinkage import (
    Evidence,
    Factorisation,
    Interactions,
    Shrinkage,
    prior_from_history,
)
from eke.inference.shrinkage.interactions import (
    ALIKE,
    ASSUMED,
    AWARE,
    BEYOND,
    ENOUGH,
    FEW,
    TOGETHER,
    _strength,
    drawn_events,
)
from eke.privacy.law import Laplace
from eke.query import Prior, count, marginal, moment
from tests.parts import in_long

DOMAIN = Domain(a=Integer(0, 4), b=Integer(0, 2), c=Integer(0, 3))
PRIOR = Prior(DOMAIN, {"a": [1, 2, 3, 4, 5], "c": [1, 1, 2, 2]})
QUERIES = [
    count(a=(1, 3), b=1, c=(0, 1)).on(DOMAIN),
    (count(a=2, b=1) - 2 * count(b=(0, 1), c=3)).on(DOMAIN),
    moment({"a": 1, "c": 2}).on(DOMAIN),
]
STRENGTHS = (0.3, 0.2, 0.1)


def interactions(known: set[tuple[str, ...]]) -> Interactions:
    noise = {"a": 4.0, "b": 9.0, "c": 1.0}
    return Interactions(PRIOR, 100.0, frozenset(known), STRENGTHS, 0.5, noise)


def parts_by_cells(query: object) -> dict[tuple[str, ...], float]:
    """‖q_S‖² of every S by conditional means over all cells, with inclusion and exclusion."""
    vectors = [PRIOR.vectors[name] for name in DOMAIN.names]
    p0 = np.einsum("i,j,k->ijk", *vectors)
    cells = np.zeros(DOMAIN.shape)
    for term in query.terms:  # type: ignore[attr-defined]
        given = dict(term.factors)
        rows = [np.asarray(given.get(n, np.ones(DOMAIN[n].size)), np.float64) for n in DOMAIN.names]
        cells += float(term.weight) * np.einsum("i,j,k->ijk", *rows)
    means = {}
    for order in range(4):
        for axes in combinations(range(3), order):
            mean = cells
            for axis in set(range(3)) - set(axes):
                shape = [-1 if k == axis else 1 for k in range(3)]
                mean = (mean * vectors[axis].reshape(shape)).sum(axis=axis, keepdims=True)
            means[axes] = mean
    parts = {}
    for axes in means:
        inner = [s for order in range(len(axes) + 1) for s in combinations(axes, order)]
        part = sum((-1.0) ** (len(axes) - len(s)) * means[s] for s in inner)
        names = tuple(DOMAIN.names[axis] for axis in axes)
        parts[names] = float((p0 * (part * np.ones(DOMAIN.shape)) ** 2).sum())
    return parts


@pytest.mark.parametrize("query", QUERIES)
def test_open_parts_are_those_of_the_analysis_of_variance(query: object) -> None:
    known = {("a",), ("b",), ("c",), ("a", "b")}
    told = interactions(known).left_open(query)  # type: ignore[arg-type]
    parts = parts_by_cells(query)
    open_parts = {s: one for s, one in parts.items() if s and s not in known and one > 1e-12}
    sizes = [STRENGTHS[len(s) - 1] ** 2 * one for s, one in open_parts.items()]
    expected = (1 - TOGETHER) * sum(sizes) + TOGETHER * sum(np.sqrt(sizes)) ** 2
    assert told is not None
    assert told.variance == pytest.approx(1e4 * expected / sum(open_parts.values()))


def test_margin_noise_is_that_of_the_product() -> None:
    told = interactions({("a",), ("b",), ("c",)}).left_open(QUERIES[0])
    inside = {name: PRIOR.vectors[name] for name in DOMAIN.names}
    shares = [inside["a"][1:4].sum(), inside["b"][1], inside["c"][:2].sum()]
    slopes = [
        3 * (shares[1] * shares[2]) ** 2,
        (shares[0] * shares[2]) ** 2,
        2 * (shares[0] * shares[1]) ** 2,
    ]
    assert told is not None
    assert told.margin_noise == pytest.approx(4 * slopes[0] + 9 * slopes[1] + slopes[2])


def test_what_tables_tell_is_not_open() -> None:
    known = {s for order in (1, 2, 3) for s in combinations(DOMAIN.names, order)}
    assert interactions(known).left_open(QUERIES[0]) is None
    assert interactions({("a",), ("b",), ("a", "b")}).left_open(count(a=1).on(DOMAIN)) is None


def test_strengths_go_on_falling_and_fresh_columns_are_no_surer_than_others() -> None:
    told = interactions({("a",), ("b",), ("c",)})
    assert told.strength(("a", "b", "c")) == 0.1
    assert interactions({("a",), ("b",)}).strength(("a", "c")) == 0.3
    assert told.strength(("a", "b", "c", "d")) == 0.3  # d was never measured


def test_a_history_without_tables_has_no_interactions() -> None:
    single = Measurement(count(a=1).on(DOMAIN), Laplace(2.0), (7.0,))
    assert Interactions.of_history([single], PRIOR, Prior(DOMAIN)) is None
    assert Interactions.of_history([], PRIOR, Prior(DOMAIN)) is None


def test_what_few_pairs_cannot_show_is_told() -> None:
    columns = [
        Measurement(marginal("a").on(DOMAIN), Laplace(2.0), (20.0,) * 5),
        Measurement(marginal("b").on(DOMAIN), Laplace(2.0), (33.0,) * 3),
    ]
    told = Interactions.of_history(columns, PRIOR, Prior(DOMAIN))
    assert told is not None
    assert told.caveats(count(a=1, b=1).on(DOMAIN)) == (AWARE,)
    assert told.strengths[1] == ASSUMED
    assert not told.caveats(count(a=1).on(DOMAIN))
    many: list[tuple[str, ...]] = [(f"x{k}", "y") for k in range(ENOUGH - 1)]
    few = ALIKE.format(number=8, sets="pairs", enough=59)
    assert interactions({*many[:FEW]}).caveats(QUERIES[0]) == (few,)
    assert "pairs" in interactions({*many}).caveats(QUERIES[0])[0]
    assert "pairs" not in interactions({*many, ("a", "z")}).caveats(QUERIES[0])[0]


def test_what_pairs_cannot_show_of_triples_is_told() -> None:
    measured: set[tuple[str, ...]] = {("a", "b"), ("a", "c"), ("b", "c")}
    measured |= {(f"x{k}", "y") for k in range(FEW)}
    assert interactions(measured).caveats(QUERIES[0]) == (BEYOND.format(order=3),)
    assert not interactions(measured).caveats(count(a=1, b=1).on(DOMAIN))
    triples: set[tuple[str, ...]] = {(f"x{k}", "y", "z") for k in range(ENOUGH)}
    told = interactions({*measured, *list(triples)[:4]}).caveats(QUERIES[0])
    assert told == (ALIKE.format(number=4, sets="triples", enough=59),)
    assert not interactions(measured | triples).caveats(QUERIES[0])
    assert not interactions(measured | {("a", "b", "c")}).caveats(QUERIES[0])


def test_parities_look_like_coins_to_pairs() -> None:
    """Two tables with the same pairs get the same interval: it misses one of them, and says so."""
    domain = Domain(a=Integer(0, 1), b=Integer(0, 1), c=Integer(0, 1))
    even = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]]) * 10_000.0  # c is the parity of a and b
    coins = np.full((2, 2, 2), 5_000.0)
    asked = count(a=1, b=1, c=1).on(domain)
    estimates = []
    for table in (even, coins):
        history = [
            Measurement(
                marginal(*names).on(domain), Laplace(20.0), tuple(table.sum(axis=axis).ravel())
            )
            for axis, names in enumerate((("b", "c"), ("a", "c"), ("a", "b")))
        ]
        prior = prior_from_history(domain, history)
        found = Interactions.of_history(history, prior, Prior(domain))
        assert found is not None
        assert found.caveats(asked)
        left = found.left_open(asked)
        assert left is not None
        estimates.append(left.variance)
    assert estimates[0] == estimates[1]


def test_events_are_ranges_around_records() -> None:
    values = np.zeros((9, 4))
    values[4, 1] = 50.0
    first, second = drawn_events(values)
    assert first[:, 4].all()
    assert second[:, 1].all()
    assert first.sum(axis=1).max() <= 7
    assert (np.abs(np.diff(first, axis=1)).sum(axis=1) <= 2).all()


def table_and_history(seed: int) -> tuple[Domain, np.ndarray, list[Measurement]]:
    """A chain of nine binary columns, of whose 36 pairs ten are measured."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((20_000, 9), int)
    codes[:, 0] = rng.random(len(codes)) < 0.4
    for place in range(1, 9):
        fresh = rng.random(len(codes)) < 0.3 + 0.4 * (place % 2)
        codes[:, place] = np.where(rng.random(len(codes)) < 0.25, fresh, codes[:, place - 1])
    domain = Domain({f"c{place}": Integer(0, 1) for place in range(9)})
    pairs = list(combinations(range(9), 2))
    history = []
    for place in rng.choice(len(pairs), 10, replace=False):
        pair = pairs[int(place)]
        exact = np.bincount(2 * codes[:, pair[0]] + codes[:, pair[1]], minlength=4)
        noisy = exact + rng.laplace(0.0, 10.0, 4)
        block = marginal(*(f"c{k}" for k in pair)).on(domain)
        history.append(Measurement(block, Laplace(10.0), tuple(noisy.tolist())))
    return domain, codes, history


@pytest.mark.parametrize("histories", [4, in_long(10)])
def test_intervals_hold_for_questions_unlike_those_measured(histories: int) -> None:
    """N = 40 conjunctions of two to four columns for each of the histories; 95 % ± 6.

    That is more than three deviations of independent questions; those of one history are not. What
    α alone says of the same estimates is the positive control: it holds far fewer, or is wider than
    the table.
    """
    held, wide, narrow = [], [], []
    for seed in range(histories):
        domain, codes, history = table_and_history(seed)
        prior = prior_from_history(domain, history)
        solver = Factorisation(Evidence.of_history(domain, history, prior))
        choice = solver.choose()
        told = Interactions.of_history(history, prior, Prior(domain))
        alone = Shrinkage(solver, choice.alpha, inflation=choice.inflation)
        shrinkage = Shrinkage(solver, choice.alpha, interactions=told)
        rng = np.random.default_rng([7, seed])
        for _ in range(40):
            chosen = rng.choice(9, int(rng.integers(2, 5)), replace=False)
            row = codes[int(rng.integers(len(codes)))]
            truth = float((codes[:, chosen] == row[chosen]).all(axis=1).sum())
            query = count({f"c{k}": int(row[k]) for k in chosen}).on(domain)
            low, high = shrinkage.posterior(query).interval(0.95)
            held.append(low <= truth <= high)
            wide.append(high - low)
            low, high = alone.posterior(query).interval(0.95)
            narrow.append((low <= truth <= high) and high - low < len(codes))
    assert 0.89 <= np.mean(held) <= 1.0
    assert np.median(wide) < 10_000
    assert np.mean(narrow) < 0.89


def test_few_tables_are_allowed_for_however_many_pairs_they_hold() -> None:
    """A table of three columns holds three pairs, and counts as one table: Student's t of 1, 2."""
    cells = np.zeros((5, 3, 4))
    cells[:2, :1, :2], cells[2:, 1:, 2:] = 40.0, 20.0
    whole = Measurement(marginal("a", "b", "c").on(DOMAIN), Laplace(1e-6), tuple(cells.flat))
    pairs = [
        Measurement(marginal(*names).on(DOMAIN), Laplace(1e-6), tuple(cells.sum(axis=axis).flat))
        for axis, names in ((2, "ab"), (1, "ac"), (0, "bc"))
    ]
    one, three = (_strength(np.array([4.0]), number) * 1.959964 / 2.0 for number in (1, 3))
    assert (one, three) == pytest.approx((12.706, 3.182), abs=1e-3)
    together = Interactions.of_history([whole], PRIOR, Prior(DOMAIN))
    apart = Interactions.of_history(pairs, PRIOR, Prior(DOMAIN))
    assert together is not None
    assert apart is not None
    assert together.strengths[1] > 2.0 * apart.strengths[1]
