"""The noise itself: on its grid, of its law, and never twice the same in forked processes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

import eke
from audits.choice import pooled_draws
from audits.claim import no_inference
from audits.place import memory_folder
from audits.row import Row, Scale, number
from eke.mechanism import (
    Secret,
    choose_among_runs,
    choose_with_noise,
    draw,
    reveal_with_noise,
)
from eke.mechanism.noise import MANY
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw, NoiseLaw
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from tests.privacy.sampled_release import block_plan, misfit, release
from tests.privacy.sampled_rows import RowSampler
from tests.unit.mechanism.test_choice import ANSWERS, chances
from tests.unit.mechanism.test_choice_among_runs import SCORES, WIDTHS, runs
from tests.unit.mechanism.test_choice_among_runs import chances as step_chances
from tests.unit.mechanism.test_noise import WIDE, fit

REJECTED = 1e-6
DRIVER = Path(__file__).with_name("forked_draws.py")
Integers = NDArray[np.int64]


# -- bit patterns --------------------------------------------------------------------------------


def off_grid(values: list[float], law: NoiseLaw) -> int:
    """How many values are no whole multiple of the law's step, in exact arithmetic."""
    if not isinstance(law, (DiscreteLaplace, DiscreteGaussian)):
        return len(values)  # noise without a grid
    step = Fraction(2) ** law.exponent
    return sum((Fraction(value) / step).denominator != 1 for value in values)


def released_values(rounds: int) -> Iterator[tuple[list[float], NoiseLaw]]:
    """Everything that ledgers hold after questions with all kinds of coefficients."""
    domain = eke.Domain(age=eke.Integer(0, 15), sex=eke.Categorical("F", "M"))
    people = pd.DataFrame({"age": np.arange(300) % 16, "sex": ["F", "M", "M"] * 100})
    with memory_folder() as folder:
        for turn in range(rounds):
            limit: dict[str, Any] = {"epsilon": 1000.0} if turn % 2 else {"rho": 1000.0}
            session = eke.create(folder / f"{turn}.eke", people, domain, **limit)
            for weight in (1, 3, 0.1, 1 / 3, 2**-12, 1e6):
                asked = weight * eke.count(age=(0, turn % 16)) + eke.count(sex="F")
                session.ask(asked, within=20.0 * max(weight, 1), policy="direct")
            session.ask(eke.marginal("age", "sex"), within=30)
            session.ask(eke.total("age"), within=100)
            yield from ((list(one.values), one.law) for one in session.history)


def bit_patterns(scale: Scale) -> tuple[Row, ...]:
    """Released values are multiples of the grid; float noise, which tells its answer, is not."""
    checked = wrong = floats = 0
    coins = np.random.default_rng()
    for values, law in released_values(scale.of(100, 2)):
        checked += len(values)
        wrong += off_grid(values, law)
        floats += off_grid([v + float(coins.laplace(scale=20.0)) for v in values], law)
    wide = DiscreteLaplace(WIDE, -20)
    count = scale.of(1_000_000, 20_000)
    low = np.array(reveal_with_noise(Secret([-7] * count, 2), wide)) & 63
    uniform = float(stats.chisquare(np.bincount(low, minlength=64)).pvalue)
    return (
        Row(
            title="bit patterns: released values on the grid",
            samples=f"{number(checked)} values, {number(count)} low bits",
            figure=f"{wrong} off the grid; low bits uniform (p = {uniform:.2g})",
            control=f"NumPy's Laplace: {number(floats)} off the grid",
            passed=wrong == 0 and uniform > REJECTED and checked > 0,
            caught=floats > 0.9 * checked,
        ),
    )


# -- goodness of fit -----------------------------------------------------------------------------

Fit = Callable[[float], float]  # the p-value under a law that is stretched by a factor


def drawn_fit(law: DiscreteLaw, sample: Integers) -> Fit:
    """Draws of a law against that law, stretched."""

    def pvalue(stretch: float) -> float:
        return fit(sample, type(law)(round(stretch * law.steps), law.exponent))

    return pvalue


def choice_fit(count: int) -> Fit:
    """Chances of the exponential mechanism; the last answer is too rare for a bin of its own."""
    with pooled_draws(tries=2):
        law, scores = DiscreteLaplace(16, -2), Secret(ANSWERS, 0)
        found = np.bincount([choose_with_noise(scores, law) for _ in range(count)], minlength=5)

    def pooled(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([values[0], values[1], values[2] + values[4], values[3]])

    def pvalue(stretch: float) -> float:
        expected = pooled(chances(4.0 * stretch)) * count
        return float(stats.chisquare(pooled(found.astype(float)), expected).pvalue)

    return pvalue


def quantile_fit(count: int) -> Fit:
    """Chances of the steps of a column, each of which can be chosen as a quantile."""
    law, secret = DiscreteLaplace(16, -2), runs(WIDTHS, SCORES)
    places = [choose_among_runs(secret, law) for _ in range(count)]
    found = np.bincount(places, minlength=sum(WIDTHS))

    def pvalue(stretch: float) -> float:
        return float(stats.chisquare(found, step_chances(4.0 * stretch) * count).pvalue)

    return pvalue


def released_fit(count: int, measure: Measure, folder: Path) -> Fit:
    """Values of the release function, less the weight of the one record in each cell."""
    part = block_plan(count, 25.0, measure)
    noise = release(folder, part, measure, 7) - (7 << -part.law.exponent)
    return lambda stretch: misfit(noise, part.law, stretch)


def scored_fit(count: int) -> Fit:
    """Scores of rows whose exact score is 0, in steps of the noise that ε = 1 buys."""
    sampler = RowSampler(NANO)
    noise = sampler.scores(0, count)
    return lambda stretch: misfit(noise, sampler.law, stretch)


def noise_paths(count: int, folder: Path) -> Iterator[tuple[str, Fit]]:
    """Every way on which noise reaches a released value, with samples of it."""
    for family in (DiscreteLaplace, DiscreteGaussian):
        for steps in (10, WIDE):
            law: DiscreteLaw = family(steps, -3)
            yield f"drawn {law}", drawn_fit(law, draw(law, count))
            few = [draw(law, MANY - 1) for _ in range(count // (MANY - 1))]
            yield f"drawn {law}, few at once", drawn_fit(law, np.concatenate(few))
        law = family(WIDE, -20)
        noisy = np.array(reveal_with_noise(Secret([-7] * count, 2), law)) + (7 << 22)
        yield f"revealed {law}", drawn_fit(law, noisy)
    measures: tuple[Measure, ...] = (PURE, CONCENTRATED)
    for measure in measures:
        yield f"released, {measure}", released_fit(count, measure, folder)
    yield "scored rows", scored_fit(count)
    yield "chosen", choice_fit(count)
    yield "chosen among runs", quantile_fit(count)


def goodness_of_fit(scale: Scale) -> tuple[Row, ...]:
    """Noise of every path has its law, and does not pass for one 30 % wider or narrower."""
    count = scale.of(100_000, 20_000)
    with memory_folder() as folder, no_inference():
        paths = list(noise_paths(count, folder))
    fits = [pvalue(1.0) for _, pvalue in paths]
    stretched = [pvalue(stretch) for _, pvalue in paths for stretch in (0.7, 1.3)]
    return (
        Row(
            title="goodness of fit of every noise path",
            samples=f"{len(paths)} paths × {number(count)}",
            figure=f"least p = {min(fits):.2g}",
            control=f"scale ± 30 %: largest p = {max(stretched):.1g}",
            passed=min(fits) > REJECTED,
            caught=max(stretched) < REJECTED,
        ),
    )


# -- forked workers ------------------------------------------------------------------------------


def forked_workers(scale: Scale) -> tuple[Row, ...]:
    """No two processes forked from one interpreter draw the same noise."""
    children = scale.of(1000, 20)
    command = [sys.executable, str(DRIVER), str(children)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    figures = json.loads(done.stdout)
    return (
        Row(
            title="randomness of forked workers",
            samples=f"{number(2 * children)} processes, {number(figures['draws'])} draws",
            figure=f"{figures['repeated']} draws seen twice (os.fork and multiprocessing)",
            control=f"NumPy's generator: {number(figures['numpy_repeated'])} seen twice",
            passed=figures["repeated"] == 0 and figures["draws"] >= 6 * children,
            caught=figures["numpy_repeated"] > 0.9 * children,
        ),
    )
