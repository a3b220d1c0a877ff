"""Numerical audit of what one record can do to a publication (docs/proofs/pca.md, lda.md).

Every statistic is computed from feature matrices, not through queries, on pairs of neighbouring
records: random ones, and adversarial ones with all numbers at 0 or 1 and all categories changed.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from eke.data import Rows
from eke.domain import Attribute, Boolean, Categorical, Domain, Integer
from eke.engine.row_scores import (
    RowScores,
    exact_scores,
    largest_sum_of_changes,
    largest_sum_of_squares,
)
from eke.mechanism import secret
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteLaplace
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.publish.components import MOST_WEIGHT_BITS
from eke.publish.features import FEATURE_BITS, Features, features_of
from eke.publish.moments import Measured, statistics_for
from eke.publish.split import noise_scales, plan_within
from eke.query import Marginal
from tests.privacy.audit import audit_epsilon

DOMAIN = Domain(
    a=Integer(0, 4),
    b=Integer(10, 13),
    c=Categorical("x", "y", "z"),
    d=Categorical("u", "v"),
    e=Categorical("p", "q"),
    f=Boolean(),
    t=Categorical("no", "yes"),
)
EXPONENT = -(MOST_WEIGHT_BITS + FEATURE_BITS)
TABLES = {"target": "t", "no target": None}


def measured_of(target: str | None) -> Measured:
    names = [name for name in DOMAIN.names if name != target]
    return statistics_for(features_of(DOMAIN, names), target, count=target is None)


def contributions(measured: Measured, record: np.ndarray) -> list[np.ndarray]:
    """What one record adds to each statistic, from its features; the slow twin of the queries."""
    features = measured.features
    places = [DOMAIN.names.index(name) for name in features.names]
    x = features.encode(record[places][np.newaxis])[0]
    one_class = np.ones(1)
    if measured.target is not None:
        one_class = np.eye(2)[record[DOMAIN.names.index(measured.target)]]
    found = []
    for s in measured.statistics:
        rows = x[s.row.columns] if s.row else np.ones(1)
        columns = x[s.column.columns] if s.column else np.ones(1)
        classes = one_class if s.by_class else np.ones(1)
        found.append(np.einsum("c,i,j->cij", classes, rows, columns))
    return found


def random_records(rng: np.random.Generator, count: int) -> np.ndarray:
    return np.stack([rng.integers(0, size, count) for size in DOMAIN.shape], axis=1)


def adversarial_records() -> np.ndarray:
    """Numbers at their ends, categories at two of their values."""
    ends = [sorted({0, DOMAIN[name].size - 1}) for name in DOMAIN.names]
    return np.array(list(product(*ends)))


@pytest.mark.parametrize("target", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
def test_no_pair_of_neighbours_loses_more_than_is_charged(target, neighbours, measure):
    """2,000 random pairs and all 8,128 adversarial ones."""
    measured = measured_of(target)
    plan = plan_within(
        measured.statistics,
        "expected_error",
        NANO,
        domain=DOMAIN,
        measure=measure,
        neighbours=neighbours,
    )
    width = [
        part.law.laplace_scale if measure == PURE else part.law.gaussian_variance**0.5
        for part in plan.parts
    ]
    rng = np.random.default_rng(5)
    sets = [random_records(rng, 90), adversarial_records()]
    worst = 0.0
    for records in sets:
        flat = np.array(
            [
                np.concatenate([c.ravel() / w for c, w in zip(parts, width, strict=True)])
                for parts in (contributions(measured, record) for record in records)
            ]
        )
        if neighbours == "add_remove":
            changes = flat[:, np.newaxis, :]
        else:
            changes = flat[:, np.newaxis, :] - flat
        if measure == PURE:
            worst = max(worst, float(np.abs(changes).sum(axis=-1).max()))
        else:
            worst = max(worst, float((changes**2).sum(axis=-1).max()) / 2.0)
    assert worst <= 1.0 + 1e-9
    assert worst > 0.6, "the audit would notice noise of half the width"


def test_queries_are_the_statistics_they_stand_for():
    """Every cell of every query against the features, on all adversarial records."""
    measured = measured_of("t")
    for record in adversarial_records()[::7]:
        for statistic, expected in zip(
            measured.statistics, contributions(measured, record), strict=True
        ):
            query = statistic.query
            values = []
            for single in query.queries():
                (numerator,) = single.numerators(DOMAIN.names, record[np.newaxis])
                values.append(numerator * 2.0**single.exponent)
            got = measured.moments(_only(query, np.array(values)))
            slow = measured.moments(_only(query, _flat(statistic, expected)))
            np.testing.assert_allclose(got.sums, slow.sums)
            np.testing.assert_allclose(got.products, slow.products)
            np.testing.assert_allclose(got.sizes, slow.sizes)


def _only(wanted, values: np.ndarray):
    """Estimates that are zero but for one query."""

    def estimate(query) -> np.ndarray:
        size = query.cells if isinstance(query, Marginal) else 1
        return values if query is wanted else np.zeros(size)

    return estimate


def _flat(statistic, block: np.ndarray) -> np.ndarray:
    """A (class, row, column) block in the order of the query's cells."""
    if not isinstance(statistic.query, Marginal):
        return block.ravel()
    roles = ["class", "row", "column"]
    kept = [role for role in roles if role in statistic.axes]
    table = block.reshape([block.shape[roles.index(role)] for role in kept])
    return table.transpose([kept.index(role) for role in statistic.axes]).ravel()


# -- the paper's constants -----------------------------------------------------------------------


def upper_triangle_change(one: np.ndarray, other: np.ndarray) -> float:
    upper = np.triu_indices(len(one))
    second = np.outer(one, one)[upper] - np.outer(other, other)[upper]
    return float(np.abs(one - other).sum() + np.abs(second).sum())


def largest_change(numeric: int, categorical: int) -> float:
    """The largest L1 change of Σx and the upper triangle of Σxxᵀ, by trying all corners."""
    corners = list(product([0.0, 1.0], repeat=2))
    first, second = np.tile([1.0, 0.0], categorical), np.tile([0.0, 1.0], categorical)
    changes = []
    for numbers in combinations_with_replacement(corners, numeric):  # numbers are exchangeable
        one = np.concatenate([[u for u, _ in numbers], first])
        other = np.concatenate([[v for _, v in numbers], second])
        changes.append(upper_triangle_change(one, other))
    return max(changes)


def paper_sensitivity(p1: int, p2: int) -> float:
    return (p1 + 2 * p2) + ((p1 + p2) * (p1 + p2 + 1) + p2 * (p2 + 1)) / 2


def test_the_papers_sensitivity_is_too_small_for_its_own_experiment():
    """Positive control of the audit: COMP §3.1 with Adult's five numbers and six categories."""
    assert paper_sensitivity(5, 6) == 104
    assert largest_change(5, 6) >= 114
    assert largest_change(4, 0) == paper_sensitivity(4, 0)
    assert largest_change(4, 1) == paper_sensitivity(4, 1)


def test_under_symmetric_difference_the_paper_charges_more_than_enough():
    """One record more or less changes the sums by its own statistics: 11 + 66 can be 1 at once."""
    dummies = np.tile([1.0, 0.0], 6)
    records = [np.concatenate([numbers, dummies]) for numbers in product([0.0, 1.0], repeat=5)]
    nothing = np.zeros(len(records[0]))
    changes = [upper_triangle_change(record, nothing) for record in records]
    assert max(changes) == 77 < paper_sensitivity(5, 6)


@pytest.mark.parametrize(("p1", "p2"), [(5, 6), (3, 2), (1, 4)])
def test_what_eke_charges_covers_the_true_change(p1, p2):
    names: dict[str, Attribute] = {f"n{i}": Integer(0, 1_000) for i in range(p1)}
    names |= {f"c{i}": Categorical("x", "y") for i in range(p2)}
    domain = Domain(names)
    measured = statistics_for(features_of(domain, domain.names), None, count=False)
    (scale, *rest) = noise_scales(measured.statistics, "paper", 1.0, PURE, "replace_one")
    assert set(rest) == {scale}
    # Squares of dummies are not measured again: that is one change of two for each category.
    assert scale >= largest_change(p1, p2) - 2 * p2


# -- rows ----------------------------------------------------------------------------------------


def random_weights(features: Features, rng: np.random.Generator, scores: int) -> Any:
    basis = np.linalg.qr(rng.normal(size=(features.width, features.width)))[0]
    return np.rint(basis[:, :scores] * 2**20).astype(np.int64)


def score_changes(features: Features, weights: np.ndarray, records: np.ndarray) -> Any:
    """All differences of exact scores between records, as integers: (pairs, scores)."""
    x = np.concatenate([f.table[records[:, i]] for i, f in enumerate(features.all)], axis=1)
    scores = x @ weights
    return (scores[:, np.newaxis] - scores).reshape(-1, weights.shape[1])


@pytest.mark.parametrize("scores", [1, 2, 3, 5])
def test_row_sensitivity_is_attained_and_never_passed(scores):
    """30 cells, all pairs of them: exact for L1, a bound for squares."""
    domain = Domain(a=Integer(0, 4), c=Categorical("x", "y", "z"), d=Categorical("u", "v"))
    features = features_of(domain, domain.names)
    tables = tuple((f.name, f.table) for f in features.all)
    cells = np.array(list(product(*map(range, domain.shape))))
    rng = np.random.default_rng(scores)
    for _ in range(5):
        weights = random_weights(features, rng, scores)
        changes = score_changes(features, weights, cells)
        assert np.abs(changes).sum(axis=1).max() == largest_sum_of_changes(tables, weights)
        largest = max(sum(int(c) ** 2 for c in change) for change in changes)
        bound = largest_sum_of_squares(tables, weights)
        assert largest <= bound <= 2 * largest


def test_many_scores_are_bounded_too():
    domain = Domain({f"c{i}": Categorical("x", "y", "z") for i in range(6)})
    features = features_of(domain, domain.names)
    tables = tuple((f.name, f.table) for f in features.all)
    weights = random_weights(features, np.random.default_rng(0), 15)
    rng = np.random.default_rng(1)
    records = np.stack([rng.integers(0, 3, 300) for _ in domain.names], axis=1)
    changes = score_changes(features, weights, records)
    assert np.abs(changes).sum(axis=1).max() <= largest_sum_of_changes(tables, weights)


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("row_loss", [NANO // 10, 3 * NANO])
def test_the_noise_of_rows_costs_what_is_paid(measure, row_loss):
    features = features_of(DOMAIN, DOMAIN.names)
    tables = tuple((f.name, f.table) for f in features.all)
    weights = random_weights(features, np.random.default_rng(3), 4)
    scores = RowScores(tables, weights, EXPONENT)
    law = scores.law_within(row_loss, measure)
    assert 0.999 * row_loss < scores.loss_nano(law) <= row_loss
    narrower = type(law)(int(0.9 * law.steps), law.exponent)
    assert scores.loss_nano(narrower) > row_loss  # positive control


def test_exact_scores_are_the_features_times_the_weights(monkeypatch):
    features = features_of(DOMAIN, DOMAIN.names)
    tables = tuple((f.name, f.table) for f in features.all)
    rng = np.random.default_rng(4)
    weights = random_weights(features, rng, 3)
    records = random_records(rng, 20)
    law = DiscreteLaplace(1, EXPONENT)
    monkeypatch.setattr(secret, "draw", lambda _law, count: np.zeros(count, np.int64))
    steps = secret.reveal_with_noise(
        exact_scores(RowScores(tables, weights, EXPONENT), Rows(DOMAIN.names, records)), law
    )
    expected = features.encode(records) @ (weights / 2**20)
    np.testing.assert_allclose(np.array(steps).reshape(-1, 3) * law.step, expected, atol=1e-9)


@pytest.mark.parametrize(("narrower", "within"), [(1.0, True), (0.6, False)])
def test_audit_of_noisy_rows(narrower, within):
    """40,000 rows a side through the mechanism: a record at one end against one at the other.

    Every row is a release of its own record with the same scores, so rows are samples. The bound
    holds with confidence 1 - 1e-6; noise of 0.6 of the width is found out.
    """
    domain = Domain(a=Integer(0, 4), c=Categorical("x", "y", "z"))
    features = features_of(domain, domain.names)
    tables = tuple((f.name, f.table) for f in features.all)
    weights = random_weights(features, np.random.default_rng(6), 1)
    scores = RowScores(tables, weights, EXPONENT)
    law = scores.law_within(NANO, PURE)
    drawn = DiscreteLaplace(round(narrower * law.steps), law.exponent)
    cells = np.array(list(product(*map(range, domain.shape))))
    x = np.concatenate([f.table[cells[:, i]] for i, f in enumerate(features.all)], axis=1) @ weights
    samples = []
    for cell in (cells[x[:, 0].argmin()], cells[x[:, 0].argmax()]):
        rows = Rows(domain.names, np.tile(cell, (40_000, 1)))
        steps = secret.reveal_with_noise(exact_scores(scores, rows), drawn)
        samples.append(np.array(steps, np.int64))
    bound = audit_epsilon(*samples, confidence=1 - 1e-6, coins=np.random.default_rng(7))
    assert (bound <= 1.0) == within
    assert bound > 0.8
