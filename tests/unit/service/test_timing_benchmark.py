"""The measurement of times: its statistics on given times, and one small run without a verdict.

Verdicts need many pairs: `python benchmarks/timing.py`.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind

from benchmarks import timing
from benchmarks.timing import BOUND, Timing, largest, measure, swapped


def test_t_is_that_of_welch() -> None:
    """Means 2 and 4, variances 1 and 4, three each: t = −2 / √(1/3 + 4/3); and SciPy's twin."""
    assert largest([1, 2, 3], [2, 4, 6]) >= 2 / (5 / 3) ** 0.5
    assert largest([1, 1], [1, 1]) == 0.0
    assert largest([1], [2, 3]) == 0.0
    draw = np.random.default_rng(10)
    one, other = draw.normal(5.0, 1.0, 400), draw.normal(5.2, 3.0, 300)
    both, found = np.concatenate([one, other]), []
    for crop in (100, 99, 95, 80, 50):
        edge = np.percentile(both, crop)
        t = ttest_ind(one[one <= edge], other[other <= edge], equal_var=False).statistic
        found.append(abs(t))
    assert largest(one, other) == pytest.approx(max(found))


def test_times_of_one_law_do_not_show_and_a_shift_does() -> None:
    """N = 20,000 a side, heavy tails; the control is shifted by a tenth of the spread."""
    draw = np.random.default_rng(11)
    one, same = (1.0 + draw.exponential(1.0, 20_000) ** 2 for _ in range(2))
    assert largest(one, same) < BOUND
    assert largest(one, same) < swapped(one, same)
    shifted = same + 0.1 * np.std(one)
    assert largest(one, shifted) > BOUND
    assert largest(one, shifted) > swapped(one, shifted)


def test_a_small_shift_under_late_answers_shows_in_a_crop() -> None:
    """A tenth of all answers is late by much more than the shift."""
    draw = np.random.default_rng(12)
    late = [np.where(draw.random(5000) < 0.1, draw.exponential(50.0, 5000), 0.0) for _ in range(2)]
    one, other = (x + draw.normal(1.0, 0.1, 5000) for x in late)
    whole = ttest_ind(one, other + 0.03, equal_var=False).statistic
    assert abs(whole) < BOUND
    assert largest(one, other + 0.03) > BOUND


def test_a_verdict_needs_both_sides() -> None:
    found = Timing(10, 0.1, neighbours=1.0, chance=2.0, noise=1.0, bare=9.0, steps={1: 20})
    assert found.hidden
    assert found.shown
    telling = Timing(10, 0.1, neighbours=3.0, chance=2.0, noise=1.0, bare=1.0, steps={1: 20})
    assert not telling.hidden
    assert not telling.shown


@pytest.mark.parametrize("wait", [False, True])
def test_a_small_run(wait: bool) -> None:
    """Every answer of both sides is paid for, and none leaves before its first step."""
    found = measure(6, 0.02, filled=50, wait=wait)
    assert sum(found.steps.values()) == 12
    assert min(found.steps) >= 1


def test_a_run_that_was_broken_off_goes_on(tmp_path, monkeypatch) -> None:
    """What is kept is not measured again, and nothing else is missing or counted twice."""
    monkeypatch.setattr(timing, "_SLICE", 3)
    measured = []

    def collected(pairs: int, *_: object, **__: object) -> dict[str, timing.Answers]:
        measured.append(pairs)
        if len(measured) == 2:
            raise KeyboardInterrupt
        begin = 10.0 * len(measured)
        times = [begin + number for number in range(pairs)]
        return {side: timing.Answers(times, times, times) for side in ("few", "many")}

    monkeypatch.setattr(timing, "collect", collected)
    with pytest.raises(KeyboardInterrupt):
        measure(8, filled=5, keep=tmp_path)
    found = measure(8, filled=5, keep=tmp_path)
    assert measured == [3, 3, 3, 2]
    assert sum(found.steps.values()) == 2 * 8
    assert measure(8, filled=5, keep=tmp_path) == found
    assert measured == [3, 3, 3, 2]
