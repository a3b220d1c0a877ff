"""What a chosen quantile really loses: every neighbour of random tables, chances worked out."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from eke.data import Counts
from eke.domain import Categorical, Domain, Integer
from eke.engine.exact_ranks import exact_ranks
from eke.history import RankChoice
from eke.mechanism import secret
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteLaplace
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import count

DOMAIN = Domain(x=Integer(0, 4), sex=Categorical("F", "M"))
ORDERS = np.array([1.01, 1.5, 2.0, 4.0, 16.0, 64.0])
TABLES = 40
Cells = np.ndarray


def chances(choice: RankChoice, cells: Cells) -> np.ndarray:
    """Of each step, on a table of counts by x and sex."""
    codes = np.argwhere(cells > 0).astype(np.int64)
    counted = Counts(("x", "sex"), codes, cells[tuple(codes.T)].astype(np.int64))
    runs = secret._EXACT.__get__(exact_ranks(choice, counted))
    scores = np.repeat(np.array(runs[1::2], float), runs[::2])
    weights = np.exp(-(scores - scores.min()) / float(choice.scale))
    return np.asarray(weights / weights.sum())


def neighbours(cells: Cells, kind: str) -> Iterator[Cells]:
    places = list(product(*map(range, cells.shape)))
    for place in places:
        if kind == "add_remove":
            more = cells.copy()
            more[place] += 1
            yield more
        for other in [*places, None] if kind == "replace_one" else [None]:
            if cells[place] and (kind == "add_remove" or other is not None):
                less = cells.copy()
                less[place] -= 1
                if other is not None:
                    less[other] += 1
                yield less


def losses(share: Fraction, kind: str, scale: int) -> tuple[float, float]:
    """The largest pure loss, and the largest ρ, over all neighbours of some tables."""
    coins = np.random.default_rng(share.denominator)
    choice = RankChoice(count(sex="F").on(DOMAIN), "x", share, DiscreteLaplace(scale, 0))
    pure = concentrated = 0.0
    for turn in range(TABLES):
        cells = coins.integers(0, 4, (5, 2)) * coins.integers(0, 2, (5, 2)) * (1 + 9 * (turn % 2))
        before = chances(choice, cells)
        for other in neighbours(cells, kind):
            after = chances(choice, other)
            pure = max(pure, float(np.abs(np.log(before / after)).max()))
            for one, two in ((before, after), (after, before)):
                moments = (one * np.exp((ORDERS[:, None] - 1.0) * np.log(one / two))).sum(axis=1)
                divergences = np.log(moments) / (ORDERS - 1.0)
                concentrated = max(concentrated, float((divergences / ORDERS).max()))
    return pure, concentrated


@pytest.mark.parametrize("kind", ["add_remove", "replace_one"])
@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(9, 10), Fraction(1, 4)])
def test_no_neighbour_tells_more_than_is_charged(share, kind):
    """40 tables of up to 10 cells, each of their neighbours; half the price would be too little."""
    scale = 2 * share.denominator
    choice = RankChoice(count(sex="F").on(DOMAIN), "x", share, DiscreteLaplace(scale, 0))
    pure, concentrated = losses(share, kind, scale)
    charged = choice.price(Accountant(DOMAIN, PURE, kind)) / NANO
    assert pure <= charged * (1 + 1e-9)
    assert pure > 0.5 * charged
    charged = choice.price(Accountant(DOMAIN, CONCENTRATED, kind)) / NANO
    assert concentrated <= charged * (1 + 1e-9)
    assert concentrated > 0.25 * charged


@pytest.mark.parametrize("kind", ["add_remove", "replace_one"])
def test_a_unit_of_several_rows_is_charged_for_all_of_them(kind):
    choice = RankChoice(count().on(DOMAIN), "x", Fraction(9, 10), DiscreteLaplace(100, 0))
    moved = Fraction(9 if kind == "add_remove" else 10, 100)
    assert choice.price(Accountant(DOMAIN, PURE, kind)) == 2 * moved * NANO
    assert choice.price(Accountant(DOMAIN, PURE, kind, 3)) == 6 * moved * NANO
    assert choice.price(Accountant(DOMAIN, CONCENTRATED, kind, 3)) == 9 * moved**2 / 2 * NANO
