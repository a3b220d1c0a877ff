"""Maximum entropy's α by held-out answers: against models of the others, fitted anew."""

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.inference.features import HistoryFeatures
from eke.inference.max_entropy import choose_entropy_alpha, constraints_of, fit_max_entropy
from eke.inference.max_entropy.held_out import ALPHAS, USUAL
from eke.privacy.law import Laplace
from eke.query import Prior, Query, count

DOMAIN = Domain(a=Integer(0, 5), b=Integer(0, 3))


def history(answers: int, scale: float) -> tuple[list[Query], list[float]]:
    """Counts of random boxes in a table where a and b go together, N = 40 answers."""
    rng = np.random.default_rng(3)
    table = np.array([[200.0 if b == a // 2 else 20.0 for b in range(4)] for a in range(6)])
    queries, values = [], []
    for _ in range(answers):
        low, high = sorted(int(k) for k in rng.integers(0, 6, 2))
        b = int(rng.integers(4))
        queries.append(count(a=(low, high), b=b).on(DOMAIN))
        values.append(float(table[low : high + 1, b].sum() + rng.laplace(0.0, scale)))
    return queries, values


@pytest.mark.parametrize("scale", [2.0, 400.0])
def test_the_choice_is_that_of_models_of_the_others(scale: float) -> None:
    queries, values = history(40, scale)
    prior, errors = Prior(DOMAIN), []
    laws = [Laplace(scale)] * len(values)
    for alpha in ALPHAS:
        off = 0.0
        for fold in range(5):
            rest = [k for k in range(40) if k % 5 != fold]
            told = constraints_of(
                HistoryFeatures.of(DOMAIN, [queries[k] for k in rest]),
                [values[k] for k in rest],
                [laws[k] for k in rest],
                total=1200.0,
                alpha=alpha,
            )
            model = fit_max_entropy(told, prior).distribution
            for k in set(range(40)) - set(rest):
                off += (1200.0 * model.expectation(queries[k]) - values[k]) ** 2
        errors.append(off)
    free = constraints_of(
        HistoryFeatures.of(DOMAIN, queries),
        values,
        laws,
        total=1200.0,
        alpha=1.0,
    )
    chosen = choose_entropy_alpha(free, prior)
    assert errors[ALPHAS.index(chosen)] <= 1.01 * min(errors)


def test_few_answers_are_not_held_out() -> None:
    queries, values = history(8, 2.0)
    features = HistoryFeatures.of(DOMAIN, queries)
    free = constraints_of(features, values, [Laplace(2.0)] * 8, total=1200.0, alpha=1.0)
    assert choose_entropy_alpha(free, Prior(DOMAIN)) == USUAL
