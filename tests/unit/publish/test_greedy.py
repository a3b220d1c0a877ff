"""The greedy sampler against an obvious slow one, and what its records are good for."""

from __future__ import annotations

import numpy as np
import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import QueryError
from eke.publish.features import Features, features_of
from eke.publish.greedy import check_distance, sample_greedily
from eke.publish.moments import Moments

DOMAIN = Domain(
    a=Integer(0, 9), c=Categorical("x", "y", "z"), b=Integer(0, 4), d=Categorical("u", "v")
)


def table(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes and classes of a table with some dependence."""
    classes = (rng.random(rows) < 0.3).astype(np.int64)
    a = np.clip(rng.normal(4 + 3 * classes, 2), 0, 9).astype(np.int64)
    c = np.where(rng.random(rows) < 0.7, a // 4, rng.integers(0, 3, rows))
    b = rng.integers(0, 5, rows)
    d = np.where(c == 0, 1, rng.integers(0, 2, rows))
    return np.stack([a, c, b, d], axis=1), classes


def moments_of(features: Features, codes: np.ndarray, classes: np.ndarray) -> Moments:
    x, inside = features.encode(codes), np.eye(2)[classes]
    return Moments(inside.sum(axis=0), inside.T @ x, x.T @ x)


def slow_sample(features: Features, moments: Moments, distance: str) -> np.ndarray:
    """The same algorithm, every value of every attribute tried in plain Python."""
    sizes = np.rint(moments.sizes).astype(int)
    rows, means = int(sizes.sum()), moments.sums / moments.sizes[:, np.newaxis]
    each = moments.products / moments.total
    lacking, lacking_products = np.zeros_like(means), np.zeros_like(each)
    drawn, result = np.zeros(2, int), []
    order = sorted(range(len(features.all)), key=lambda i: features.all[i].numeric)

    def cost(x: np.ndarray, label: int) -> float:
        entries = np.concatenate(
            [lacking[label] - x, (lacking_products - np.outer(x, x))[np.triu_indices(len(x))]]
        )
        return float((entries**2).sum() if distance == "squared" else np.abs(entries).sum())

    for row in range(rows):
        label = int(np.argmax((row + 1) * sizes / rows - drawn))
        drawn[label] += 1
        lacking[label] += means[label]
        lacking_products += each
        x, codes = means[label].copy(), [0] * len(order)
        for place in order * (2 if distance == "squared" else 1):
            feature = features.all[place]
            options = []
            for code in range(len(feature.table)):
                trial = x.copy()
                trial[feature.columns] = feature.table[code] / 2**16
                options.append(cost(trial, label))
            codes[place] = int(np.argmin(options))
            x[feature.columns] = feature.table[codes[place]] / 2**16
        result.append(codes)
        lacking[label] -= x
        lacking_products -= np.outer(x, x)
    return np.array(result)


@pytest.mark.parametrize("distance", ["squared", "absolute"])
def test_the_fast_sampler_is_the_slow_one(distance):
    """Ties aside: the first records agree, and the final distance is the same or better."""
    features = features_of(DOMAIN, DOMAIN.names)
    codes, classes = table(np.random.default_rng(2), 300)
    moments = moments_of(features, codes, classes)
    fast = sample_greedily(features, moments, distance)
    slow = slow_sample(features, moments, distance)
    assert (fast.codes[:40] == slow[:40]).mean() > 0.95
    errors = []
    for made in (fast.codes, slow):
        x = features.encode(made)
        errors.append(np.abs(x.T @ x - moments.products).sum())
    assert errors[0] <= 1.2 * errors[1]


def test_exact_moments_are_met_within_a_few_records():
    features = features_of(DOMAIN, DOMAIN.names)
    codes, classes = table(np.random.default_rng(3), 5000)
    moments = moments_of(features, codes, classes)
    sample = sample_greedily(features, moments)
    got = moments_of(features, sample.codes, sample.classes)
    assert (got.sizes == moments.sizes).all()
    assert np.abs(got.sums - moments.sums).max() < 5
    assert np.abs(got.products - moments.products).max() < 10
    shuffled = moments_of(features, codes, np.random.default_rng(0).permutation(classes))
    assert np.abs(shuffled.sums - moments.sums).max() > 50  # the bound can fail


def test_the_same_moments_give_the_same_records():
    features = features_of(DOMAIN, DOMAIN.names)
    moments = moments_of(features, *table(np.random.default_rng(4), 200))
    assert (
        sample_greedily(features, moments).codes == sample_greedily(features, moments).codes
    ).all()


@pytest.mark.parametrize("sizes", [[0.0, 0.0], [-3.0, 0.2], [-5.0, 4.0], [1.0, 0.0]])
def test_small_and_negative_sizes_give_few_records(sizes):
    features = features_of(DOMAIN, DOMAIN.names)
    moments = moments_of(features, *table(np.random.default_rng(5), 50))
    odd = Moments(np.array(sizes), -3.0 * moments.sums, -moments.products)
    sample = sample_greedily(features, odd)
    assert len(sample.codes) == sum(round(max(size, 0.0)) for size in sizes)
    assert (sample.codes >= 0).all()
    assert (sample.codes < np.array(DOMAIN.shape)).all()


def test_an_unknown_distance_is_refused():
    with pytest.raises(QueryError, match="absolute"):
        check_distance("cubic")
