"""The privacy loss of whole releases, measured on what the ledger stores and analysts see.

Everything is real: the accountant, the reservation, the table, the exact answers, the noise, the
commit. Only inference is left out, which sees nothing but the values after they are released.

One release of a block gives a sample for each of its cells: a record contributes to one cell only,
and the noise of the cells is independent. The block sums an attribute `weight`, so that the same
release serves two claims: under Laplace noise of scale 10 a record of weight 1 loses ε = 0.1, and
one of weight 10 loses ε = 1.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from eke.data import open_source
from eke.domain import Domain, Integer
from eke.engine import Vault, standing, vault
from eke.engine.exact import exact_answers
from eke.history import Measurement
from eke.ledger import Ledger
from eke.mechanism import secret
from eke.planning import Part, Plan, part_for
from eke.privacy.accountant import Accountant, Measure
from eke.privacy.law import DiscreteLaw
from eke.privacy.record_loss import NANO
from eke.query import marginal, total
from tests.privacy.audit import audit_epsilon, audit_rho

CONFIDENCE = 0.9999
SAMPLES = 1_000_000
WIDTH = 1000


class NoInference:
    """Stands in for inference, whose cost grows with the cube of a block."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    def extend_all(self, released: list[Measurement]) -> None:
        """Learn nothing."""

    def settle(self) -> None:
        """Nothing is put off."""


@pytest.fixture(autouse=True)
def _without_inference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "Inference", NoInference)


@pytest.fixture
def coins() -> np.random.Generator:
    return np.random.default_rng()


def domain_of(cells: int) -> Domain:
    return Domain(
        row=Integer(0, cells // WIDTH - 1), column=Integer(0, WIDTH - 1), weight=Integer(1, 10)
    )


def table_of(cells: int, weight: int | None) -> pd.DataFrame:
    """One record of this weight in every cell; None for nobody at all."""
    number = np.arange(cells if weight is not None else 0)
    return pd.DataFrame(
        {"row": number // WIDTH, "column": number % WIDTH, "weight": np.full(len(number), weight)}
    )


def block_plan(cells: int, noise_scale: float, measure: Measure) -> Part:
    asked = marginal("row", "column", of=total("weight")).on(domain_of(cells))
    return part_for(asked, noise_scale, measure)


def release(
    folder: Path, part: Part, measure: Measure, weight: int | None
) -> NDArray[np.int64]:  # (cells,)
    """What one release says of each cell, in steps of the noise grid."""
    domain = part.query.domain
    cells = len(domain["row"].labels) * WIDTH
    path = folder / f"{weight}-{len(list(folder.iterdir()))}.eke"
    ledger = Ledger.create(path, {}, limit=100 * NANO)
    source = open_source(table_of(cells, weight), domain)
    protected = Vault(ledger, source, domain=domain, measure=measure, neighbours="add_remove")
    text = protected.release(
        Plan((part,)),
        analyst="ann",
        key="key",
        digest="digest",
        answer=lambda _facts, _what, _cost: "text",
    )
    assert text == "text"
    (measurement,) = protected.measurements
    charged = Accountant(domain, measure, "add_remove").price(part.query, part.law)
    assert ledger.balance().spent == charged
    assert ledger.verify().problems == ()
    path.unlink()
    return np.round(np.array(measurement.values) / part.law.step).astype(np.int64)


def misfit(steps: NDArray[np.int64], law: DiscreteLaw, stretch: float = 1.0) -> float:
    """The p-value of a chi-square test that these are draws of the law, stretched by a factor.

    Fifty about equally likely intervals of |noise|, with probabilities from the law's own tail,
    and a test of the signs.
    """
    sizes = np.abs(steps) * law.step
    shares = np.linspace(0, 1, 51)[1:-1]
    if law.laplace_scale:
        edges = law.laplace_scale * stats.expon.ppf(shares)
    else:
        edges = law.gaussian_variance**0.5 * stats.halfnorm.ppf(shares)
    beyond = np.concatenate([[1.0], law.tail(edges / stretch), [0.0]])
    expected = -np.diff(beyond)
    # P(|noise| > edge) counts values above an edge, so a value on an edge belongs below it.
    found = np.bincount(np.searchsorted(edges, sizes, side="left"), minlength=50)
    shape = float(stats.chisquare(found, expected * len(steps) / expected.sum()).pvalue)
    signs = steps[steps != 0] > 0
    balance = float(stats.binomtest(int(signs.sum()), len(signs)).pvalue)
    return min(shape, balance)


def test_releases_cost_no_more_than_they_are_charged(folder, coins):
    """N = 1,000,000 a side; a true claim is contradicted in less than 1 run in 10,000."""
    plan = block_plan(SAMPLES, 10.0, "epsilon")
    nobody = release(folder, plan, "epsilon", None)
    for weight, epsilon in ((1, 0.1), (10, 1.0)):
        assert plan.law.loss_nano(weight) == epsilon * NANO
        everybody = release(folder, plan, "epsilon", weight)
        bound = audit_epsilon(nobody, everybody, confidence=CONFIDENCE, coins=coins)
        # The bound is near the claim too: an audit that sees nothing would prove nothing.
        assert 0.8 * epsilon < bound <= epsilon
    assert misfit(nobody[:200_000], plan.law) > 1e-6


def scant_draws(coins: np.random.Generator, share: float):
    """A sampler of discrete Laplace noise that is too narrow: for positive controls only."""

    def draw(law: DiscreteLaw, count: int) -> NDArray[np.int64]:
        chance = -np.expm1(-1.0 / (law.steps * share))
        return coins.geometric(chance, count) - coins.geometric(chance, count)

    return draw


def test_a_tenth_too_little_noise_is_flagged(folder, coins, monkeypatch):
    """Positive control, N = 1,200,000 a side for ε = 0.1 (true loss 0.111), 100,000 for ε = 1.

    Less than 1 run in 10,000 misses it. The fake noise comes from NumPy, which is faster.
    """
    cells = SAMPLES + 200_000
    plan = block_plan(cells, 10.0, "epsilon")
    monkeypatch.setattr(secret, "draw", scant_draws(coins, 0.9))
    nobody = release(folder, plan, "epsilon", None)
    everybody = release(folder, plan, "epsilon", 1)
    assert audit_epsilon(nobody, everybody, confidence=CONFIDENCE, coins=coins) > 0.1
    plan = block_plan(100_000, 10.0, "epsilon")
    everybody = release(folder, plan, "epsilon", 10)
    assert audit_epsilon(nobody[:100_000], everybody, confidence=CONFIDENCE, coins=coins) > 1.0


def test_counting_a_record_twice_is_flagged(folder, coins, monkeypatch):
    """Positive control of the path before the noise, N = 100,000: twice the answer, ε = 1."""

    def doubled(query, counts):
        answers = secret._EXACT.__get__(exact_answers(query, counts))
        return secret.Secret([2 * answer for answer in answers], 0)

    plan = block_plan(100_000, 10.0, "epsilon")
    nobody = release(folder, plan, "epsilon", None)
    monkeypatch.setattr(vault, "exact_answers", doubled)
    everybody = release(folder, plan, "epsilon", 10)
    assert audit_epsilon(nobody, everybody, confidence=CONFIDENCE, coins=coins) > 1.2


@pytest.mark.parametrize("measure", ["epsilon", "rho"])
def test_released_values_follow_the_stated_law(folder, measure):
    """N = 100,000 values; a scale that is off by 30 % either way would be seen, and by 5 %, too."""
    plan = block_plan(100_000, 25.0, measure)
    weight = 7
    steps = release(folder, plan, measure, weight)
    noise = steps - (weight << -plan.law.exponent)
    assert misfit(noise, plan.law) > 1e-6
    for stretch in (0.7, 0.95, 1.05, 1.3):
        assert misfit(noise, plan.law, stretch) < 1e-6
    # Cells are independent: neighbours in the block do not move together.
    correlation = np.corrcoef(noise[:-1], noise[1:])[0, 1]
    assert abs(correlation) < 6 / np.sqrt(len(noise))


def test_gaussian_releases_cost_no_more_than_they_are_charged(folder, monkeypatch):
    """N = 50,000 a side at ρ = 1/2: a record of weight 10 under noise of that deviation."""
    plan = block_plan(50_000, 10.0, "rho")
    claim = plan.law.loss_nano(10) / NANO
    assert claim == 0.5
    nobody, everybody = (release(folder, plan, "rho", weight) for weight in (None, 10))
    bound = audit_rho(nobody, everybody, confidence=CONFIDENCE)
    assert 0.85 * claim < bound <= claim
    # Positive control: nine tenths of the noise.
    scant = block_plan(50_000, 9.0, "rho")
    nobody, everybody = (release(folder, scant, "rho", weight) for weight in (None, 10))
    assert audit_rho(nobody, everybody, confidence=CONFIDENCE) > claim
