"""What refining tables and questions is charged, against every possible unit."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.privacy.accountant import Accountant
from eke.privacy.law import DiscreteLaplace, Refinement
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Block, Kronecker, Neighbours, count, marginal, total
from tests.parts import in_long
from tests.unit.privacy.loss_twin import LossTwin

DOMAIN = Domain(a=Integer(0, 2), b=Integer(0, 1))
BLOCKS: list[Block] = [
    marginal("a", "b").on(DOMAIN),
    marginal("a").on(DOMAIN),
    marginal("b").on(DOMAIN),
    Kronecker(DOMAIN, ("a",), (3 * np.eye(3, dtype=np.int64) - 1,)),
    Kronecker(DOMAIN, ("a", "b"), (np.eye(3, dtype=np.int64), np.ones((1, 2), np.int64))),
    count(a=(0, 1)).on(DOMAIN),
    total("a").on(DOMAIN),
]


def play(seed: int, too_little: float = 0.0) -> Counter[str]:
    """Ten decisions, about half of which refine; the twin knows the last noise of each chain only.

    With `too_little`, that share of what refining costs is forgotten.
    """
    rng = np.random.default_rng(seed)
    neighbours: Neighbours = "add_remove" if rng.random() < 0.5 else "replace_one"
    rows = 1 if neighbours == "replace_one" else int(rng.integers(1, 3))
    accountant = Accountant(DOMAIN, PURE, neighbours, rows)
    lasting: list[tuple[Block, DiscreteLaplace]] = []
    found: Counter[str] = Counter()
    for _ in range(10):
        if lasting and rng.random() < 0.5:
            block, coarse = lasting.pop(int(rng.integers(len(lasting))))
            if coarse.steps < 2:
                lasting.append((block, coarse))
                continue
            fine = DiscreteLaplace(int(rng.integers(1, coarse.steps)), coarse.exponent)
            before = round(fine.steps + (1 - too_little) * (coarse.steps - fine.steps))
            law: DiscreteLaplace | Refinement = Refinement(fine.steps, fine.exponent, before)
            found["refined"] += 1
        else:
            block = BLOCKS[int(rng.integers(len(BLOCKS)))]
            fine = law = DiscreteLaplace(int(rng.integers(100, 5000)), -4)
        after = accountant.after(block, law, 2**60)
        accountant.add(block, law, after)
        lasting.append((block, fine))
        twin = LossTwin(DOMAIN, neighbours, rows)
        for one in lasting:
            twin.add(*one)
        found["decisions"] += 1
        found["under-counts"] += accountant.spent < twin.largest
        if neighbours == "add_remove" and not too_little:  # exact but for nano-units
            found["inexact"] += accountant.spent > twin.largest + 11 * rows
    assert accountant.spent < 10**6 * NANO
    return found


@pytest.mark.parametrize("histories", [40, in_long(400)])
def test_no_unit_loses_more_than_its_chains_of_refinements_are_charged(histories: int) -> None:
    """N = 40 or 400 adaptive histories of tables, contrasts, groups and single questions."""
    found = sum((play(seed) for seed in range(histories)), Counter[str]())
    assert found["under-counts"] == 0
    assert found["inexact"] == 0
    assert found["refined"] > 2 * histories


def test_charging_a_tenth_too_little_is_noticed() -> None:
    """The positive control: noise before is taken to be finer than it was."""
    found = sum((play(seed, too_little=0.1) for seed in range(10)), Counter[str]())
    assert found["under-counts"] > 10
