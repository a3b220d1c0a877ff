"""Measures: prices, noise and powers fit each other, and nobody asks a measure for its name."""

from __future__ import annotations

import ast
import copy
import math
import pickle
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import eke
from eke.errors import PrivacyError
from eke.planning import all_marginals, plan_release
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace
from eke.privacy.measure import Measure
from eke.privacy.measures import MEASURES, measure_named, measure_of
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO

BOTH = pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
LOSSES = (1e-9, 1e-3, 0.1, 1.0, 40.0)


@BOTH
@pytest.mark.parametrize("loss", LOSSES)
def test_noise_and_loss_are_inverse(measure: Measure, loss: float):
    for coefficient in (0.25, 1.0, 3.0):
        scale = measure.noise_scale(coefficient, loss)
        assert measure.loss(coefficient, scale) == pytest.approx(loss)
        variance, reach = measure.variance(scale), measure.raised(coefficient)
        assert measure.scale_of(variance) == pytest.approx(scale)
        assert measure.loss_of_reach(reach, variance) == pytest.approx(loss)
    assert measure.variance_for(loss) == pytest.approx(measure.law_for(loss).variance)
    assert measure.variance_for(loss) == pytest.approx(
        measure.variance_for(1.0) / loss**measure.variance_power
    )


@BOTH
@pytest.mark.parametrize("loss", [1, 7, 10**6, 3 * 10**9])
def test_exact_noise_is_never_less(measure: Measure, loss: int):
    """The exact price of the noise, against a tenth of a millionth less of it."""
    for coefficient in (1, 3, 10**6):
        scale = measure.noise_steps(coefficient, loss)
        price = Fraction(coefficient) / scale
        exact = price if measure is PURE else price**2 / 2
        assert NANO * exact <= loss
        less = price / (1 - Fraction(1, 10**5))
        assert NANO * (less if measure is PURE else less**2 / 2) > loss


@BOTH
def test_laws_are_priced_in_their_measure(measure: Measure):
    law = measure.law(100.0, 0)
    assert isinstance(law, DiscreteLaplace if measure is PURE else DiscreteGaussian)
    assert measure_of(law) is measure
    assert measure_of(measure.unit_law) is measure
    assert law.loss_nano(3) == pytest.approx(NANO * measure.loss(3.0, 100.0), abs=2)
    domain = eke.Domain(a=eke.Integer(0, 3))
    other = next(one for one in MEASURES.values() if one is not measure)
    with pytest.raises(PrivacyError, match=f"losses are in {other}"):
        Accountant(domain, other, "add_remove").price(eke.count().on(domain), law)


@BOTH
def test_powers(measure: Measure):
    assert measure.root(measure.raised(3.0)) == 3.0
    numbers = np.array([1.0, 2.0, 5.0])
    np.testing.assert_allclose(measure.root(measure.raised(numbers)), numbers)
    assert measure.group_factor(3) == (3 if measure is PURE else 9)
    assert type(measure.group_factor(3)) is int, "exact, however large"


@BOTH
def test_quantiles_are_those_of_the_noise(measure: Measure):
    for missing in (0.5, 0.05, 1e-6):
        exceeded = measure.quantile(missing)
        assert float(measure.unit_law.tail(exceeded)) == pytest.approx(missing)
        alone = exceeded / math.sqrt(measure.unit_law.variance)
        assert measure.sum_quantile(missing) >= alone * (1 - 1e-12)


@BOTH
def test_there_is_one_value_of_each(measure: Measure):
    """A plan that was copied or sent to another process is still in the dataset's measure."""
    assert copy.copy(measure) is measure
    assert copy.deepcopy([measure])[0] is measure
    assert pickle.loads(pickle.dumps(measure)) is measure
    domain = eke.Domain(a=eke.Integer(0, 3))
    plan = plan_release(all_marginals(domain, 1), measure=measure, budget=1.0)
    assert pickle.loads(pickle.dumps(plan)).measure is measure


def test_names():
    assert {name: measure_named(name) for name in MEASURES} == dict(MEASURES)
    assert [str(measure) for measure in MEASURES.values()] == ["epsilon", "rho"]
    with pytest.raises(PrivacyError, match="epsilon or rho, not in 'delta'"):
        measure_named("delta")


def comparisons(text: str) -> Iterator[int]:
    """Lines that compare something with the name of a measure."""
    if not any(name in text for name in MEASURES):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            names = [
                inner.value
                for side in sides
                for inner in ast.walk(side)
                if isinstance(inner, ast.Constant)
            ]
            if any(name in names for name in MEASURES):
                yield node.lineno


def test_nothing_compares_names():
    """Code asks the measure, so that a third one is one file."""
    root = Path(eke.__file__).parent
    found = {
        f"{path.relative_to(root)}:{line}"
        for path in root.rglob("*.py")
        for line in comparisons(path.read_text("utf-8"))
    }
    assert found == set()


def test_the_check_catches_a_comparison():
    """Positive control."""
    assert list(comparisons('x = 1 if measure == "epsilon" else 2')) == [1]
    assert list(comparisons('ok = measure in ("epsilon", "rho")')) == [1]
    assert list(comparisons("ok = measure is PURE")) == []
