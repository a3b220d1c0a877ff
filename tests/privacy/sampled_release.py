"""Whole releases as samples: what the ledger stores of many cells with one record each.

One release of a block gives a sample for each of its cells: a record contributes to one cell only,
and the noise of the cells is independent. The block sums an attribute `weight`, so that the same
release serves several claims: under Laplace noise of scale 10 a record of weight 1 loses ε = 0.1,
and one of weight 20 loses ε = 2.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from eke.data import open_source
from eke.domain import Domain, Integer
from eke.engine import Beginning, Vault
from eke.history import Measurement
from eke.ledger import Ledger
from eke.planning import Part, Plan, part_for
from eke.privacy.accountant import Accountant
from eke.privacy.law import DiscreteLaplace, DiscreteLaw
from eke.privacy.measure import Measure
from eke.privacy.record_loss import NANO
from eke.query import marginal, total

WIDTH = 1000
HEAVIEST = 20


class NoInference:
    """Stands in for inference, whose cost grows with the cube of a block."""

    memo: object = None  # of what it knows: always the same
    kept: tuple[object, ...] = ()

    def __init__(self, domain: Domain, *_: object) -> None:
        self.domain = domain

    def extend_all(self, released: list[Measurement]) -> None:
        """Learn nothing."""

    def settle(self) -> None:
        """Nothing is put off."""

    def view(self) -> NoInference:
        """The same: it never changes."""
        return self


def domain_of(cells: int) -> Domain:
    return Domain(
        row=Integer(0, cells // WIDTH - 1),
        column=Integer(0, WIDTH - 1),
        weight=Integer(1, HEAVIEST),
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
    cells = len(part.query.domain["row"].labels) * WIDTH
    return release_table(folder, part, measure, table_of(cells, weight))


def release_table(
    folder: Path, part: Part, measure: Measure, table: pd.DataFrame
) -> NDArray[np.int64]:  # (answers,)
    """What one release of a block on a table says, in steps of the noise grid."""
    domain = part.query.domain
    path = folder / f"{secrets.token_hex(8)}.eke"
    ledger = Ledger.create(path, {}, limit=100 * NANO)
    beginning = Beginning(domain, measure, "add_remove")
    protected = Vault(ledger, open_source(table, domain), beginning)
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


Draw = Callable[[DiscreteLaw, int], NDArray[np.int64]]


def scant_draws(coins: np.random.Generator, share: float) -> Draw:
    """A sampler of noise that is too narrow: for positive controls only.

    Gaussian noise is a rounded normal draw, which for wide laws is as good as the discrete one.
    """

    def draw(law: DiscreteLaw, count: int) -> NDArray[np.int64]:
        if not isinstance(law, DiscreteLaplace):
            return np.rint(coins.normal(scale=law.steps * share, size=count)).astype(np.int64)
        chance = -np.expm1(-1.0 / (law.steps * share))
        return coins.geometric(chance, count) - coins.geometric(chance, count)

    return draw
