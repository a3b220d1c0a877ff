"""What is asked after a release equals least squares over everything that was measured.

The slow twin is dense: every released answer is a row over all cells of a small domain, and the
estimate is q (HᵀV⁻¹H)⁺ HᵀV⁻¹ y with variance q (HᵀV⁻¹H)⁺ qᵀ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.history import Measurement
from eke.inference import Inference, noise_of, state
from eke.planning import (
    ReleasePlan,
    Workload,
    all_marginals,
    marginals_and_half_of_next,
    plan_for_accuracies,
    plan_release,
    prefixes,
    ranges,
)
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.query import Block, Query, Term, count, total

FloatArray = NDArray[np.float64]
SIZES = [(2, 2, 2, 2), (3, 2, 4), (5, 1, 3), (4, 4)]
OF_MARGINALS = ("auto", "I", "Q", "C", "F", "Fourier", "residuals", "design")
OF_RANGES = ("auto", "I", "W", "H", "optimised")
OF_QUERIES = ("auto", "I", "Q", "W", "H2", "F")


def by_turns(strategies: Sequence[str]) -> list[Any]:
    """Each strategy with both measures; one of the two in the short part, by turns."""
    return [
        pytest.param(measure, name, marks=[pytest.mark.long] if place % 2 != turn else [])
        for place, name in enumerate(strategies)
        for turn, measure in enumerate((PURE, CONCENTRATED))
    ]


def domain_of(sizes: tuple[int, ...]) -> Domain:
    return Domain({f"a{i}": Integer(0, n - 1) for i, n in enumerate(sizes)})


def row_of(query: Query) -> FloatArray:
    """The coefficients of a query over all cells, in C order."""
    domain = query.domain
    shape = [domain[n].size if n in query.attributes else 1 for n in domain.names]
    small = query.table().astype(np.float64) * 2.0**query.exponent
    return np.broadcast_to(small.reshape(shape), domain.shape).ravel()


def rows_of(block: Block) -> list[FloatArray]:
    if isinstance(block, Query):
        return [row_of(block)]
    return [row_of(block.cell(i)) for i in range(block.cells)]


def released(plan: ReleasePlan, cells: FloatArray, rng: np.random.Generator) -> list[Measurement]:
    """The parts of a plan, measured on some cells with continuous noise of the right size."""
    found = []
    for block, law in plan.laws():
        exact = np.array([row @ cells for row in rows_of(block)])
        noise = rng.normal(0.0, math.sqrt(law.variance), len(exact))
        found.append(Measurement(block, law, tuple(exact + noise), sequence=1))
    return found


class Dense:
    """Least squares over all cells."""

    def __init__(self, measured: list[Measurement]) -> None:
        rows = [row for one in measured for row in rows_of(one.query)]
        values = np.array([value for one in measured for value in one.values])
        variances = np.concatenate([[one.law.variance] * len(one.values) for one in measured])
        self.rows = np.array(rows) / np.sqrt(variances)[:, None]
        self.values = values / np.sqrt(variances)
        self.inverse = np.linalg.pinv(self.rows, rcond=1e-11)

    def estimate(self, query: Query) -> tuple[float, float] | None:
        row = row_of(query)
        weights = row @ self.inverse
        if not np.allclose(weights @ self.rows, row, atol=1e-7 * (1.0 + np.abs(row).max())):
            return None
        return float(weights @ self.values) + float(query.constant), float(weights @ weights)


def questions(domain: Domain, rng: np.random.Generator) -> list[Query]:
    """Counts, ranges and sums over up to three attributes, and random products."""
    asked = [count().on(domain)]
    for size in (1, 2, 3):
        for names in combinations(domain.names, min(size, len(domain))):
            where = {n: tuple(sorted(rng.integers(0, domain[n].size, 2).tolist())) for n in names}
            asked += [count(where).on(domain), total(names[0], where).on(domain)]
            factors = tuple((n, rng.integers(-2, 3, domain[n].size)) for n in names)
            asked.append(Query.of(domain, [Term(Fraction(1), factors)], Fraction(3)))
    return [query for query in asked if not query.is_zero]


def compare(plan: ReleasePlan, rng: np.random.Generator) -> tuple[int, int]:
    """(determined, open) questions, after checking each of them against the twin."""
    domain = plan.workload.domain
    cells = rng.integers(0, 50, domain.size).astype(np.float64)
    measured = released(plan, cells, rng)
    inference, dense = Inference(domain, measured), Dense(measured)
    determined = 0
    asked = questions(domain, rng)
    for query in asked:
        found, expected = inference.estimate(query), dense.estimate(query)
        assert (found is None) == (expected is None), query
        if found is None or expected is None:
            continue
        determined += 1
        noise = noise_of(found, inference.regression.laws, inference.tables)
        assert found.value == pytest.approx(expected[0], rel=1e-6, abs=1e-5 * plan.rmse)
        assert noise.variance == pytest.approx(expected[1], rel=1e-5)
    return determined, len(asked) - determined


@pytest.fixture(params=["tables", "single"])
def kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Blocks are kept as tables even when they are small, or taken apart as small ones are."""
    monkeypatch.setattr(state, "LEAST_CELLS", 0 if request.param == "tables" else 10**6)
    return str(request.param)


@pytest.mark.parametrize(("measure", "strategy"), by_turns(OF_MARGINALS))
def test_marginals(kept: str, measure: Measure, strategy: str) -> None:
    del kept
    rng = np.random.default_rng(1)
    determined = undetermined = 0
    for sizes in SIZES:
        domain = domain_of(sizes)
        for workload in (all_marginals(domain, 1), marginals_and_half_of_next(domain, 1)):
            plan = plan_release(workload, measure=measure, budget=2.0, strategy=strategy)
            found = compare(plan, rng)
            determined, undetermined = determined + found[0], undetermined + found[1]
    assert determined > 50
    assert undetermined > 0 or strategy == "I"


@pytest.mark.parametrize(("measure", "strategy"), by_turns(OF_RANGES))
def test_ranges_and_prefixes(kept: str, measure: Measure, strategy: str) -> None:
    del kept
    rng = np.random.default_rng(2)
    domain = domain_of((8, 3, 2))
    for workload in (ranges(domain, "a0"), prefixes(domain, "a0", "a1")):
        plan = plan_release(workload, measure=measure, budget=2.0, strategy=strategy)
        determined, undetermined = compare(plan, rng)
        assert determined > 3
        assert undetermined > 3


@pytest.mark.parametrize(("measure", "strategy"), by_turns(OF_QUERIES))
def test_single_questions(kept: str, measure: Measure, strategy: str) -> None:
    del kept
    rng = np.random.default_rng(3)
    domain = domain_of((4, 2, 3))
    asked = [count(a0=(0, 1)), count(a0=(1, 3), a1=1), total("a0"), count()]
    workload = Workload.of(domain, asked)
    plan = plan_release(workload, measure=measure, budget=2.0, strategy=strategy)
    determined, undetermined = compare(plan, rng)
    assert determined > 1
    assert undetermined > 1


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
def test_everything_at_once_and_by_accuracies(kept: str, measure: Measure) -> None:
    del kept
    rng = np.random.default_rng(4)
    domain = domain_of((4, 2, 3))
    mixed = all_marginals(domain, 2) + ranges(domain, "a0") + Workload.of(domain, [count(a2=1)])
    assert compare(plan_release(mixed, measure=measure, budget=1.0), rng)[0] > 5
    each = [3.0 + i for i in range(3)]
    assert compare(plan_for_accuracies(all_marginals(domain, 2), each, measure), rng)[0] > 5


def test_the_twin_notices_a_wrong_weight() -> None:
    """Positive control: the twin with one law misread is not met."""
    rng = np.random.default_rng(5)
    domain = domain_of((3, 2, 4))
    plan = plan_release(all_marginals(domain, 2), measure=CONCENTRATED, budget=1.0, strategy="Q")
    measured = released(plan, np.ones(domain.size), rng)
    dense = Dense(measured)
    dense.rows[0] *= 1.1
    dense.values[0] *= 1.1
    dense.inverse = np.linalg.pinv(dense.rows)
    expected = dense.estimate(count(a0=0).on(domain))
    found = Inference(domain, measured).linear(count(a0=0).on(domain))
    assert expected is not None
    assert found is not None
    assert found[0] != pytest.approx(expected[0], rel=1e-6)
