"""Release plans: unbiased, of the stated variance, within budget, whatever the workload."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

import eke
from eke.errors import EkeError
from eke.planning.workload.lattice import Lattice
from eke.planning.workload.release import plan_release
from eke.planning.workload.release.accuracies import least_cost_of_components, plan_for_accuracies
from eke.planning.workload.release.queries import workload_matrix
from eke.planning.workload.strategy.blocks import residual_tables
from eke.planning.workload.strategy.matrices import MatrixStrategy, sketch
from eke.planning.workload.workload import (
    Workload,
    all_marginals,
    marginals_up_to,
    prefixes,
    ranges,
)
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.query import Marginal, Neighbours
from tests.unit.planning.cubes import (
    cube,
    loss_of,
    noise_of,
    recovery_of,
    stated_variances,
    strategy_of,
)

MEASURES: tuple[Measure, ...] = (PURE, CONCENTRATED)


def _workloads() -> dict[str, Workload]:
    domain = cube(3, 2, 4)
    single = Workload.of(
        domain, [eke.count(a="v1", b="v0"), 2 * eke.count(c=["v1", "v2"]) + 7, eke.count()]
    )
    return {
        "marginals": all_marginals(domain, 2),
        "ranges": ranges(domain, "c"),
        "boxes": prefixes(domain, "a", "c"),
        "queries": single,
        "mixed": marginals_up_to(domain, 1) + ranges(domain, "c").weighted(2.0) + single,
    }


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", ["marginals", "ranges", "boxes", "queries", "mixed"])
def test_plans_are_what_they_state(name: str, measure: Measure) -> None:
    workload = _workloads()[name]
    plan = plan_release(workload, measure=measure, budget=0.7)
    marginals = tuple(t for t in workload.targets if t.is_marginal)
    others = tuple(t for t in workload.targets if not t.is_marginal)
    ordered = Workload(
        workload.domain, marginals + others, workload.queries, workload.query_weights
    )
    wanted = workload_matrix(ordered, workload.domain.names)
    constants = np.zeros(len(wanted))
    if workload.queries:
        constants[-len(workload.queries) :] = [float(q.constant) for q in workload.queries]
    recovery = (
        recovery_of(plan) - constants[:, None]
    )  # the public constants are added to every recovery
    np.testing.assert_allclose(recovery @ strategy_of(plan), wanted, atol=1e-6)
    np.testing.assert_allclose(recovery**2 @ noise_of(plan), stated_variances(plan), rtol=1e-5)
    assert loss_of(plan) <= 0.7 * (1 + 1e-6)
    weights = np.concatenate(
        [np.full(t.questions(workload.domain), t.weight) for t in ordered.targets]
        + [np.array(ordered.query_weights)]
    )
    error = sqrt(float(weights @ stated_variances(plan)) / float(weights.sum()))
    assert plan.rmse == pytest.approx(error, rel=1e-5)


@pytest.mark.parametrize("measure", MEASURES)
def test_smallest_workloads(measure: Measure) -> None:
    """The total alone, attributes of one value, and the same marginal twice."""
    domain = cube(3, 2)
    alone = 2.0 if measure == PURE else 0.5
    for workload in (
        all_marginals(domain, 0),
        all_marginals(cube(1, 1), 2),
        ranges(cube(1, 4), "a"),
        Workload.of(domain, [eke.count()]),
    ):
        plan = plan_release(workload, measure=measure, budget=1.0)
        assert plan.rmse**2 == pytest.approx(alone)
        assert loss_of(plan) == pytest.approx(1.0)
    twice = plan_release(Workload.of(domain, ["a", "a"]), measure=measure, budget=1.0)
    once = plan_release(Workload.of(domain, ["a"]), measure=measure, budget=1.0)
    assert twice.rmse == pytest.approx(once.rmse)


@pytest.mark.parametrize("strategy", ["Q", "C", "design"])
@pytest.mark.parametrize("measure", MEASURES)
def test_a_plan_for_the_whole_limit_fits_into_it(measure: Measure, strategy: str) -> None:
    """The accountant's own figure, to the nano-unit."""
    workload = all_marginals(cube(*[3, 2, 4] * 3), 2)
    plan = plan_release(workload, measure=measure, budget=0.25, strategy=strategy)
    total = sum(law.loss_nano(1) for _, law in plan.laws())
    assert 249_999_000 < total <= 250_000_000


@pytest.mark.parametrize("measure", MEASURES)
def test_laws_never_cost_more_than_planned(measure: Measure) -> None:
    plan = plan_release(_workloads()["marginals"], measure=measure, budget=0.7)
    for part, (measured, law) in zip(plan.parts, plan.laws(), strict=True):
        assert measured.attributes == part.measured.attributes
        drawn = law.laplace_scale if measure == PURE else sqrt(law.gaussian_variance)
        assert part.noise_scale <= drawn <= part.noise_scale * (1 + 1e-5)


def test_a_matrix_of_the_users_own() -> None:
    domain = cube(2, 4)
    workload = all_marginals(domain, 1)
    mine = MatrixStrategy.of("mine", np.eye(8, dtype=int))
    plan = plan_release(workload, measure=PURE, budget=1.0, strategy=mine)
    assert plan.strategy == "mine"
    assert loss_of(plan) <= 1.0 + 1e-6
    sketched = plan_release(workload, measure=PURE, budget=1.0, strategy=sketch(8, 4, 9))
    assert sketched.rmse > plan.rmse
    with pytest.raises(EkeError, match="does not determine"):
        plan_release(workload, measure=PURE, budget=1.0, strategy=sketch(8, 2, 1))
    with pytest.raises(EkeError, match="columns"):
        plan_release(workload, measure=PURE, budget=1.0, strategy=sketch(9, 4, 9))


def test_queries_over_many_cells_are_measured_themselves() -> None:
    domain = cube(40, 40, 40)
    asked = Workload.of(domain, [eke.count(a="v1", b="v2"), eke.count(c="v3", b="v1") + 5])
    plan = plan_release(asked, measure=CONCENTRATED, budget=0.5)
    assert plan.strategy == "Q"
    assert sum(part.cost for part in plan.parts) == pytest.approx(0.5)
    first, second = plan.recover([np.array(3.0), np.array(4.0)])
    assert float(first.values[0]) == 3.0
    assert float(second.values[0]) == 9.0


def test_explain_lists_strategies_with_their_errors() -> None:
    plan = plan_release(_workloads()["marginals"], measure=PURE, budget=1.0)
    text = plan.explain()
    assert "RMSE" in text
    assert "residuals" in text
    lines = text.splitlines()
    assert lines[4].split()[0] == plan.strategy.split()[0]
    points = plan.errors_at([0.5, 1.0, 2.0])
    chosen = [error for name, _, error in points if name == plan.strategy]
    assert chosen == pytest.approx([2 * plan.rmse, plan.rmse, plan.rmse / 2])


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("name", ["marginals", "ranges", "boxes", "queries", "mixed"])
def test_the_accountant_agrees(name: str, neighbours: Neighbours, measure: Measure) -> None:
    """A plan for the whole limit is within it, and not far below, for both relations."""
    workload = _workloads()[name]
    plan = plan_release(workload, measure=measure, budget=0.5, neighbours=neighbours)
    accountant = Accountant(workload.domain, measure, neighbours)
    loss = accountant.after_all(plan.laws(), 500_000_000)
    assert loss <= 500_000_000
    if neighbours == "add_remove" and name != "queries":
        assert loss > 499_990_000


def test_replaced_records_get_a_smaller_usable_budget() -> None:
    workload = _workloads()["marginals"]
    once = plan_release(workload, measure=PURE, budget=1.0)
    swapped = plan_release(workload, measure=PURE, budget=1.0, neighbours="replace_one")
    assert swapped.rmse == pytest.approx(2 * once.rmse)
    # Under zCDP whole marginals cost a replaced record half of what signed blocks cost it.
    swapped = plan_release(workload, measure=CONCENTRATED, budget=1.0, neighbours="replace_one")
    assert all(isinstance(part.measured, Marginal) for part in swapped.parts)


def test_large_releases_keep_marginals_whole() -> None:
    """All 2-way marginals of Adult's 14 attributes: one block each, whatever their cells."""
    sizes = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
    workload = all_marginals(cube(*sizes), 2)
    assert workload.questions == 148_137
    plan = plan_release(workload, measure=PURE, budget=1.0, strategy="Q")
    assert plan.answers == 148_137
    assert all(isinstance(part.measured, Marginal) for part in plan.parts)
    optimal = plan_release(workload, measure=CONCENTRATED, budget=0.5, compare=False)
    assert optimal.rmse == pytest.approx(6.3587, abs=1e-4)
    noisy = [np.zeros(m.cells if hasattr(m, "cells") else 1) for m, _ in optimal.laws()]
    tables = optimal.recover(noisy)
    assert sum(table.values.size for table in tables) == 148_137


def test_plans_of_whole_marginals_only() -> None:
    workload = all_marginals(cube(9, 16, 7, 15, 2), 2)
    optimal = plan_release(workload, measure=CONCENTRATED, budget=0.5)
    plain = plan_release(workload, measure=CONCENTRATED, budget=0.5, only_marginals=True)
    assert all(isinstance(part.measured, Marginal) for part in plain.parts)
    assert optimal.rmse < plain.rmse < 1.05 * optimal.rmse


@pytest.mark.parametrize("measure", MEASURES)
def test_several_accuracies_at_the_least_cost(measure: Measure) -> None:
    workload = marginals_up_to(cube(3, 2, 4, 2), 2)
    required = np.random.default_rng(2).uniform(1.0, 9.0, len(workload.targets))
    plan = plan_for_accuracies(workload, list(required), measure)
    reached = np.array([float(error) for error in plan.standard_errors])
    assert (reached <= required * (1 + 1e-9)).all()
    assert (reached / required).max() == pytest.approx(1.0)
    assert loss_of(plan) == pytest.approx(plan.budget)
    np.testing.assert_allclose(
        recovery_of(plan) ** 2 @ noise_of(plan), stated_variances(plan), rtol=1e-3
    )
    named = dict(zip([t.attributes for t in workload.targets], required, strict=True))
    assert plan_for_accuracies(workload, named, measure).budget == pytest.approx(plan.budget)
    if measure == CONCENTRATED:  # the dual proves that no component noise does it for less
        lattice = Lattice(workload)
        strategy = residual_tables(lattice, measure)
        prices = strategy.reaches(measure) / strategy.row_squares / 2.0
        _, bound = least_cost_of_components(lattice.per_cell, prices, required**2, measure)
        assert bound <= plan.budget <= bound * (1 + 1e-4)


@pytest.mark.parametrize("measure", MEASURES)
def test_several_accuracies_for_replaced_records(measure: Measure) -> None:
    """The accountant charges what the plan says, and every requirement is met."""
    workload = all_marginals(cube(3, 2, 4), 2)
    plan = plan_for_accuracies(workload, [4.0, 5.0, 6.0], measure, "replace_one")
    limit = int(plan.budget * 1e9) + 1
    loss = Accountant(workload.domain, measure, "replace_one").after_all(plan.laws(), limit)
    assert 0.999 * limit < loss <= limit
    reached = [float(error) for error in plan.standard_errors]
    assert all(
        error <= wanted * (1 + 1e-9) for error, wanted in zip(reached, (4, 5, 6), strict=True)
    )


def test_bad_requests_are_refused() -> None:
    workload = _workloads()["marginals"]
    with pytest.raises(EkeError, match="budget"):
        plan_release(workload, measure=PURE, budget=0.0)
    with pytest.raises(EkeError, match="choose one"):
        plan_release(workload, measure=PURE, budget=1.0, strategy="magic")
    with pytest.raises(EkeError, match="one required"):
        plan_for_accuracies(workload, [1.0], CONCENTRATED)
    with pytest.raises(EkeError, match="positive"):
        plan_for_accuracies(workload, [0.0, 1.0, 1.0], CONCENTRATED)
    with pytest.raises(EkeError, match="no requirement"):
        plan_for_accuracies(workload, {("a", "b"): 1.0}, CONCENTRATED)
    with pytest.raises(EkeError, match="whole marginals"):
        plan_for_accuracies(_workloads()["ranges"], [1.0], CONCENTRATED)


def test_a_plan_in_rho_compares_rules_for_epsilon_and_delta():
    domain = cube(2, 3, 4)
    plans = [
        plan_release(all_marginals(domain, 1), measure=CONCENTRATED, budget=rho)
        for rho in (0.1, 20.0)
    ]
    shown = [plan.explain(delta=1e-6) for plan in plans]
    assert shown[0].startswith(plans[0].explain())
    assert "zCDP is tighter: Th. 2.2 asks for 1.26 times the variance" in shown[0]
    assert "too little" not in shown[0]
    assert "CUBE Th. 2.2" in shown[1]
    assert "too little" in shown[1]
    assert "does not hold at this epsilon" in shown[1]
    concentrated = next(line for line in shown[0].splitlines() if line.startswith("  zCDP"))
    assert concentrated.split()[1:] == ["5", f"{plans[0].rmse:.4g}"]
    with pytest.raises(EkeError, match="no delta"):
        plan_release(all_marginals(domain, 1), measure=PURE, budget=1.0).explain(delta=1e-6)
