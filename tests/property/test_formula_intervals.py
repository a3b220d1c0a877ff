"""Averages, ratios and variances: the intervals hold as often as they promise, and are met.

Steps are planned from noisy values that were released before, and they stop when the interval is
narrow enough; the figures here are for the whole of it.
"""

from __future__ import annotations

import numpy as np
import pytest

from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from tests.formula_lab import carried_out, demanded, interval, truth
from tests.parts import in_long

# Runs, and the least share that may hold: four standard deviations of 0.95 over 12 runs are 0.252,
# over 40 runs 0.138. With noise × 10 a Laplace interval holds in 0.26 of all runs.
FEW = (12, 0.698)
MORE = (40, 0.812)

IN_B = "IF(\"group\" = 'b', 1, 0)"
CASES = {
    "average": ("SELECT AVG(x) FROM t", 0.05),
    "average of one group": ("SELECT AVG(x) FROM t WHERE \"group\" = 'b'", 0.2),
    "average of few records": ("SELECT AVG(x) FROM t WHERE \"group\" = 'b' AND x IN (2, 18)", 2.0),
    "share": ("SELECT COUNT(*) FILTER (WHERE x > 9) / COUNT(*) FROM t", 0.005),
    "variance": ("SELECT VARIANCE(x) FROM t", 0.5),
    "deviation": ("SELECT STDDEV_POP(x) FROM t", 0.1),
    "product": ("SELECT SUM(x) * COUNT(*) / 1000000 FROM t", 60.0),
    "covariance": (f"SELECT COVAR_POP(x, {IN_B}) FROM t", 0.05),
    "sample covariance": (f"SELECT COVAR_SAMP(x, {IN_B}) FROM t", 0.05),
    "correlation": (f"SELECT CORR(x, {IN_B}) FROM t", 0.02),
    "slope": (f"SELECT REGR_SLOPE(x, {IN_B}) FROM t", 0.3),
    "intercept": (f"SELECT REGR_INTERCEPT(x, {IN_B}) FROM t", 0.1),
    "explained": (f"SELECT REGR_R2(x, {IN_B}) FROM t", 0.02),
}


def share_held(text: str, within: float, runs: int, measure: Measure = PURE, stretch: float = 1.0):
    """The share of runs whose interval holds the truth, and of those as narrow as asked for."""
    rng = np.random.default_rng(20261115)
    demand = demanded(text, within)
    true = truth(demand, 0, 0)
    held = narrow = 0
    for _ in range(runs):
        facts, decisions = carried_out(demand, rng, measure=measure, stretch=stretch)
        assert decisions[-1].action == "history"
        _, low, high = interval(demand, facts, 0, 0)
        held += low <= true <= high
        narrow += (high - low) / 2.0 <= within
    return held / runs, narrow / runs


@pytest.mark.parametrize("name", ["average", in_long("share")])
@pytest.mark.parametrize(("runs", "least"), [FEW, pytest.param(*MORE, marks=pytest.mark.long)])
def test_intervals_hold_as_often_as_they_promise(name, runs, least):
    """N = 12 runs at confidence 0.95, Laplace noise; N = 40 and 1,000 are in the long part."""
    held, narrow = share_held(*CASES[name], runs)
    assert held >= least
    assert narrow == 1.0


@pytest.mark.long
@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("name", CASES)
def test_intervals_hold_as_often_as_they_promise_in_many_runs(name, measure):
    """N = 1,000 runs at confidence 0.95; four standard deviations are 0.0276."""
    held, narrow = share_held(*CASES[name], 1000, measure=measure)
    assert held >= 0.95 - 0.0276
    assert narrow == 1.0


@pytest.mark.parametrize(
    "name",
    ["average", in_long("covariance"), in_long("correlation")],
)
@pytest.mark.parametrize(
    ("runs", "least", "stretch"), [(*FEW, 10.0), pytest.param(*MORE, 2.0, marks=pytest.mark.long)]
)
def test_noise_that_is_larger_than_told_is_noticed(name, runs, least, stretch):
    """Positive control, N = 12 with noise × 10, or 40 with × 2: the intervals hold too rarely."""
    held, _ = share_held(*CASES[name], runs, stretch=stretch)
    assert held < least
