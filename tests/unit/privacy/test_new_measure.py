"""A new measure is one class, and one more for its noise: Rényi losses are made here.

Discrete Gaussian noise of deviation σ has the Rényi divergence α c² / 2σ² of order α between two
answers that differ by c (Canonne, Kamath, Steinke 2020, Theorem 4), which adds up. So a loss L is
that of zCDP with ρ = L / α, which is the twin of every price here; the divergence itself is summed
term by term.
"""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from eke.data import open_source
from eke.domain import Domain, Integer, Replace
from eke.engine import Beginning, RowScores, Vault
from eke.errors import PrivacyError, QueryError
from eke.ledger import Ledger
from eke.planning import (
    Part,
    Plan,
    Requirement,
    all_marginals,
    direct,
    part_for,
    plan_release,
    ranges,
)
from eke.planning.workload.strategy.kernel import Kernel
from eke.privacy import law as laws
from eke.privacy import measures
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED, root_above
from eke.privacy.law import DiscreteGaussian, Gaussian, choose_grid
from eke.privacy.measure import Measure, Real, normal_quantile
from eke.privacy.record_loss import NANO
from eke.query import Block, Kronecker, Neighbours, count, marginal, total
from tests.unit.privacy.loss_twin import LossTwin

# -- the new measure -----------------------------------------------------------------------------

ALPHA = 8


class RenyiGaussian(DiscreteGaussian):
    """The same noise, priced in another unit."""

    __slots__ = ()
    kind: ClassVar[str] = "renyi_gaussian"
    loss_unit: ClassVar[str] = "renyi_8"

    @property
    def rate(self) -> Fraction:
        return ALPHA * DiscreteGaussian(self.steps, self.exponent).rate


class Renyi(Measure):
    """A record with coefficient c loses α c² / 2σ²."""

    name: ClassVar[str] = "renyi_8"
    order: ClassVar[int] = 2
    unit_law: ClassVar[Gaussian] = Gaussian(1.0)
    rotations_are_free: ClassVar[bool] = True
    sums_keep_their_law: ClassVar[bool] = True

    def loss(self, coefficient: float, noise_scale: float) -> float:
        return ALPHA * coefficient**2 / (2.0 * noise_scale**2)

    def noise_scale(self, coefficient: float, loss: float) -> float:
        return coefficient * math.sqrt(ALPHA / (2.0 * loss))

    def noise_steps(self, coefficient: int, loss_nano: int) -> Fraction:
        square = -(-ALPHA * coefficient**2 * NANO * 4**20 // (2 * loss_nano))
        return Fraction(root_above(square), 2**20)

    def loss_of_reach(self, reach: Any, noise_variance: Any) -> Any:
        return ALPHA * reach / (2.0 * noise_variance)

    def variance_for(self, loss: Any) -> Any:
        return ALPHA / (2.0 * loss)

    def law_for(self, loss: float) -> Gaussian:
        return Gaussian(ALPHA / (2.0 * loss))

    def quantile(self, missing: float) -> float:
        return normal_quantile(missing)

    def sum_quantile(self, missing: float) -> float:
        return normal_quantile(missing)

    def law(self, noise_scale: float | Fraction, coefficient_exponent: int) -> RenyiGaussian:
        return choose_grid(RenyiGaussian, noise_scale, coefficient_exponent)

    def loss_of_choice(self, ratio: Fraction) -> Fraction:
        return ALPHA * ratio**2 / 2

    def epsilon_of_choice(self, loss: float) -> float:
        return math.sqrt(8.0 * loss / ALPHA)

    def root(self, number: Real) -> Real:
        return CONCENTRATED.root(number)

    def epsilon(self, loss: float, delta: float | None) -> float:
        if delta is None:
            raise PrivacyError("a Rényi loss has an epsilon for a delta")
        return loss + math.log(1.0 / delta) / (ALPHA - 1.0)


RENYI = Renyi()

# -- what it is used for -------------------------------------------------------------------------

DOMAIN = Domain(a=Integer(0, 2, null=Replace(0)), b=Integer(0, 1, null=Replace(0)))
ROWS = pd.DataFrame({"a": np.arange(60) % 3, "b": np.arange(60) % 2})
MATRICES = (np.array([[1, 1, 1], [2, -1, 0]]), np.array([[1, 1]]))
BLOCKS: tuple[Block, ...] = (
    count(a=0).on(DOMAIN),
    (3 * total("a") - count(b=1)).on(DOMAIN),
    marginal("a", "b").on(DOMAIN),
    Kronecker(DOMAIN, ("a", "b"), MATRICES),
)


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `measures.py` and `law.py` would list."""
    known = MappingProxyType({**measures.MEASURES, RENYI.name: RENYI})
    monkeypatch.setattr(measures, "MEASURES", known)
    monkeypatch.setattr(laws, "DRAWN", (*laws.DRAWN, RenyiGaussian))
    monkeypatch.setitem(laws._FIELDS, RenyiGaussian.kind, (RenyiGaussian, ("steps", "exponent")))


def divergence(steps: int, shift: int) -> float:
    """The Rényi divergence of two shifted discrete Gaussians, term by term."""
    values = np.arange(-60 * steps, 60 * steps + 1, dtype=float)
    log_mass = -(values**2) / (2 * steps**2)
    log_mass -= np.logaddexp.reduce(log_mass)
    log_moved = -((values - shift) ** 2) / (2 * steps**2)
    log_moved -= np.logaddexp.reduce(log_moved)
    terms = ALPHA * log_mass + (1 - ALPHA) * log_moved
    return float(np.logaddexp.reduce(terms)) / (ALPHA - 1)


@pytest.mark.parametrize("coefficient", [0, 1, 2, 5])
def test_a_price_is_the_divergence(coefficient: int) -> None:
    law = RenyiGaussian(5, 0)
    loss = law.loss_nano(coefficient)
    assert loss / NANO == pytest.approx(divergence(5, coefficient), abs=2 / NANO)
    assert loss / NANO == pytest.approx(RENYI.loss(coefficient, 5.0), abs=1 / NANO)
    assert law.loss_nano_array(np.array([coefficient]), 0).tolist() == [loss]
    # A group moves an answer so many times as far.
    group = RENYI.group_factor(3) * RENYI.loss(coefficient, 5.0)
    assert group == pytest.approx(divergence(5, 3 * coefficient))


@pytest.mark.parametrize("loss", [1e-6, 0.1, 3.0])
def test_noise_and_price_are_inverse(loss: float) -> None:
    scale = RENYI.noise_scale(3.0, loss)
    assert RENYI.loss(3.0, scale) == pytest.approx(loss)
    assert RENYI.loss_of_reach(9.0, RENYI.variance(scale)) == pytest.approx(loss)
    assert RENYI.variance_for(loss) == pytest.approx(RENYI.law_for(loss).variance)
    law = RENYI.law(RENYI.noise_steps(3, round(loss * NANO)), 0)
    assert law.loss_nano(3) <= round(loss * NANO)
    assert law.loss_nano(3) == pytest.approx(loss * NANO, rel=1e-4)
    assert pickle.loads(pickle.dumps(RENYI)) is RENYI


def test_the_epsilon_holds_for_gaussian_noise() -> None:
    """Against the exact δ of Gaussian noise (Balle and Wang 2018)."""
    scale, delta = 4.0, 1e-6
    epsilon = RENYI.epsilon(RENYI.loss(1.0, scale), delta)
    phi = lambda x: 0.5 * math.erfc(-x / math.sqrt(2.0))  # noqa: E731
    exact = phi(0.5 / scale - epsilon * scale)
    exact -= math.exp(epsilon) * phi(-0.5 / scale - epsilon * scale)
    assert 0.0 < exact <= delta
    with pytest.raises(PrivacyError, match="delta"):
        RENYI.epsilon(0.1, None)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("rows_per_unit", [1, 2])
def test_losses_add_up(entered: None, neighbours: Neighbours, rows_per_unit: int) -> None:
    """Never below what any unit loses, and what zCDP says times α."""
    settings = neighbours, rows_per_unit
    accountant = Accountant(DOMAIN, RENYI, *settings)
    other = Accountant(DOMAIN, CONCENTRATED, *settings)
    twin = LossTwin(DOMAIN, *settings)
    for block in BLOCKS:
        law = RENYI.law(7.0, 0)
        same = DiscreteGaussian(law.steps, law.exponent)
        for account, noise in ((accountant, law), (other, same)):
            account.add(block, noise, account.after(block, noise, 10**15))
        twin.add(block, law)
        assert ALPHA * twin.largest <= accountant.spent  # the twin counts in rho
        assert accountant.spent == pytest.approx(ALPHA * other.spent, abs=1000)
    with pytest.raises(PrivacyError, match="losses are in renyi_8"):
        accountant.price(BLOCKS[0], CONCENTRATED.law(7.0, 0))


@pytest.mark.parametrize("workload", [all_marginals(DOMAIN, 1), ranges(DOMAIN, "a")])
def test_plans_are_those_of_the_twin(entered: None, workload: Any) -> None:
    plan = plan_release(workload, measure=RENYI, budget=2.0)
    same = plan_release(workload, measure=CONCENTRATED, budget=2.0 / ALPHA)
    assert plan.strategy == same.strategy
    scales = [law.steps * law.step for _, law in plan.laws()]
    assert scales == pytest.approx([law.steps * law.step for _, law in same.laws()])
    accountant = Accountant(DOMAIN, RENYI, "add_remove")
    assert accountant.after_all(list(plan.laws()), 10**15) <= 2 * NANO
    wanted = Requirement(5.0, 0.95)
    assert direct(wanted, None, RENYI) == direct(wanted, None, CONCENTRATED)


def release(folder: Path, plan: Plan) -> tuple[Vault, Ledger]:
    ledger = Ledger.create(folder / "a.eke", {}, limit=NANO)
    vault = Vault(ledger, open_source(ROWS, DOMAIN), Beginning(DOMAIN, RENYI, "add_remove"))
    try:
        vault.release(plan, analyst="ann", key="k", digest="d", answer=lambda *_: "done")
    finally:
        ledger.verify()
    return vault, ledger


def test_it_is_released_and_read_again(entered: None, folder: Path) -> None:
    part = part_for(BLOCKS[2], 40.0, RENYI)
    vault, ledger = release(folder, Plan((part,)))
    price = Accountant(DOMAIN, RENYI, "add_remove").price(part.query, part.law)
    assert ledger.balance().spent == price == part.law.loss_nano(1)
    assert vault.measurements[0].law == part.law
    assert Part.from_document(DOMAIN, part.to_document()).law == part.law
    again = Vault(
        Ledger.open(folder / "a.eke"),
        open_source(ROWS, DOMAIN),
        Beginning(DOMAIN, measures.measure_named("renyi_8"), "add_remove"),
    )
    assert again.facts().accountant.spent == price


def test_nothing_is_released_before_it_is_entered(folder: Path) -> None:
    with pytest.raises(PrivacyError, match="only discrete laws are drawn"):
        release(folder, Plan((part_for(BLOCKS[0], 40.0, RENYI),)))
    assert Ledger.open(folder / "a.eke").balance().spent == 0
    with pytest.raises(PrivacyError, match="epsilon or rho, not in 'renyi_8'"):
        measures.measure_named(RENYI.name)


def test_a_measure_of_another_power_is_refused_where_norms_are_not_known() -> None:
    class Cubic(Renyi):
        order: ClassVar[int] = 3

    scores = RowScores((("a", np.eye(3, dtype=np.int64)),), np.ones((3, 1), np.int64), 0)
    assert scores.reach(RENYI) == scores.reach(CONCENTRATED)
    with pytest.raises(PrivacyError, match="how far scores of rows move is not known"):
        scores.reach(Cubic())
    with pytest.raises(QueryError, match="not known to order 3"):
        Kernel("residual", 3).reach(Cubic.order)
    with pytest.raises(QueryError, match="power 1 or 2"):
        BLOCKS[3].largest_reach(Cubic.order)
