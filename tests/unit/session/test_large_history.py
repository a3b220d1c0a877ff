"""A history too large for a dense kernel: estimates of every kind, with progress and a report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.inference.shrinkage import ConjugateGradients
from eke.session.ask import estimator
from eke.session.ask.assumptions import DEFAULT
from eke.session.ask.estimate import Estimate, TableEstimate

DOMAIN = eke.Domain(x=eke.Integer(0, 69), y=eke.Integer(0, 69), z=eke.Integer(0, 2))


@pytest.fixture
def released(folder: Path) -> eke.Session:
    """All pairs of three attributes: 5,320 answers."""
    number = np.arange(20_000)
    table = pd.DataFrame({"x": number % 70, "y": number // 7 % 70, "z": number // 11 % 3})
    session = eke.create(folder / "t.eke", data=table, domain=DOMAIN, epsilon=4.0)
    pairs = [eke.marginal("x", "y"), eke.marginal("x", "z"), eke.marginal("y", "z")]
    session.release(session.plan(pairs, budget=2.0))
    session.ask(eke.count(x=(0, 9), y=(0, 9)), within=60)
    return session


def test_blocks_stay_blocks_and_estimates_hold(released: eke.Session) -> None:
    told: list[tuple[str, float]] = []
    asked = eke.count(x=(0, 34), y=(0, 34), z=1)
    found = released.estimate(asked, progress=lambda what, done: told.append((what, done)))
    assert isinstance(found, Estimate)
    assert not found.determined
    assert found.convergence is not None
    assert found.convergence.converged
    assert [what for what, _ in told][:2] == ["reading the history", "choosing alpha"]
    assert told[-1] == ("estimating", 1.0)
    number = np.arange(20_000)
    inside = (number % 70 < 35) & (number // 7 % 70 < 35) & (number // 11 % 3 == 1)
    low, high = released.estimate(asked, confidence=1 - 1e-9).interval  # type: ignore[union-attr, misc]
    assert low < inside.sum() < high
    assert "stopped early" not in found.explain()


def test_cells_of_a_marginal_are_solved_together(released: eke.Session) -> None:
    found = released.estimate(eke.marginal("z"))
    assert isinstance(found, TableEstimate)
    assert len(found.cells) == 3
    single = released.estimate(eke.count(z=2))
    assert isinstance(single, Estimate)
    assert found.cells[2].value == pytest.approx(single.value, abs=1e-3)
    assert found.cells[2].within == pytest.approx(single.within, rel=1e-6)


def test_the_dense_kernel_says_the_same(
    new: Callable[..., eke.Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a small history and at the same α, both ways give one estimate and one interval."""
    asked = eke.count(age=(17, 21), sex="Male")
    session = new()
    session.ask(eke.marginal("age", "city"), within=25)
    session.ask(eke.marginal("sex", "city"), within=25)
    dense = session.estimate(asked)
    chosen = session._estimators[DEFAULT][1].shrinkage
    monkeypatch.setattr(ConjugateGradients, "choose", lambda *_: chosen)
    monkeypatch.setattr(estimator, "_MOST_DENSE_ROWS", 0)
    session._estimators.clear()
    large = session.estimate(asked)
    assert isinstance(dense, Estimate)
    assert isinstance(large, Estimate)
    assert (dense.convergence, large.convergence is None) == (None, False)
    assert dense.within is not None
    assert large.within == pytest.approx(dense.within, rel=1e-3)
    assert large.value == pytest.approx(dense.value, abs=1e-3 * dense.within)
