"""Releases: planned for free, charged once, kept for every later answer."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import eke
from eke.engine import draws, measuring, vault
from eke.errors import AccuracyError, BudgetExceeded, KeyConflict, LedgerError, QueryError
from eke.planning import MatrixStrategy
from eke.session.release import measured as releasing
from tests.parts import among
from tests.unit.session.conftest import CLOSED, DOMAIN

CUBE = "SELECT COUNT(*) FROM people GROUP BY CUBE (sex, city)"


class Crash(BaseException):
    """Stands for a process that dies."""


@pytest.fixture(params=["epsilon", "rho"])
def dataset(request: pytest.FixtureRequest, new: Callable[..., eke.Session]) -> eke.Session:
    return new(**{request.param: 1.0})


def values(release: eke.Release) -> list[list[float]]:
    return [np.ravel(table.values).tolist() for table in release.tables]


# -- plans ---------------------------------------------------------------------------------------


def test_a_plan_is_free_and_says_what_it_does(dataset):
    before = dataset.ledger_entries()
    plan = dataset.plan(eke.all_marginals(DOMAIN, 2), budget=0.5)
    assert dataset.ledger_entries() == before
    assert plan.budget == 0.5
    assert plan.measure.name == dataset.budget.measure
    assert plan.strategy in plan.explain()
    assert f"{plan.workload.questions} questions" in plan.explain()


@pytest.mark.parametrize(
    ("rows", "measure"),
    [
        (1, "rho"),
        (5, "epsilon"),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in [(1, "epsilon"), (2, "epsilon"), (2, "rho"), (5, "rho")]
        ),
    ],
)
def test_a_budget_is_what_a_unit_may_lose(measure, rows, new):
    """However many rows a unit has: the price is the budget, and the noise grows instead."""
    session = new(**{measure: 1.0}, unit=eke.Unit("person", rows=rows))
    plan = session.plan(eke.all_marginals(DOMAIN, 2), budget=0.5)
    price = session.price(plan).cost
    assert 0.4999 < price <= 0.5 == plan.budget
    session.release(plan)
    assert session.budget.spent == pytest.approx(price)
    accurate = session.plan(eke.all_marginals(DOMAIN, 2), within=40)
    assert session.price(accurate).cost == pytest.approx(accurate.budget, rel=0.01)
    everything = session.plan([["sex"], ["city"]], budget=session.remaining)
    session.release(everything)  # not refused for a few nano-units


def test_what_a_workload_can_be_given_as(session):
    sets = {("sex",), ("city",), ("sex", "city"), ()}
    for given in (
        CUBE,
        eke.marginals_up_to(DOMAIN, 0)
        + eke.grouping_sets(DOMAIN, [["city", "sex"], ["sex"], ["city"]]),
        [eke.marginal("sex", "city"), ["city"], "sex", ()],
    ):
        plan = session.plan(given, budget=0.1)
        assert {target.attributes for target in plan.workload.targets} == sets
    assert session.plan(eke.count(sex="Female"), budget=0.1).workload.queries
    assert session.plan(eke.marginal("sex"), budget=0.1).workload.is_marginal


def test_the_best_plan_is_not_worse_than_any_named_one(dataset):
    workload = eke.all_marginals(DOMAIN, 2)
    best = dataset.plan(workload, budget=0.5)
    for strategy in ("I", "Q", "C", "F", "Fourier", "residuals", "design"):
        named = dataset.plan(workload, budget=0.5, strategy=strategy)
        assert named.strategy.startswith(strategy)
        assert best.rmse <= named.rmse * (1.0 + 1e-9)


def test_a_plan_for_accuracies_compares_costs(dataset):
    plan = dataset.plan(CUBE, within=40)
    ((_, options),) = plan.comparison()
    costs = [option.cost for option in options]
    assert costs == sorted(costs)
    assert costs[0] == pytest.approx(plan.budget)
    shown = [line.split() for line in plan.explain().splitlines() if "gls" in line][1:]
    assert [float(words[-2]) for words in shown] == pytest.approx(costs, rel=1e-3)
    for _, budget, error in plan.errors_at([plan.budget])[:1]:
        assert (budget, error) == (plan.budget, pytest.approx(plan.rmse))


# -- releases ------------------------------------------------------------------------------------


def test_one_charge_within_the_budget(dataset):
    plan = dataset.plan(eke.all_marginals(DOMAIN, 2), budget=0.5)
    release = dataset.release(plan)
    assert [entry.kind for entry in dataset.ledger_entries()] == [
        *("genesis", "reserve", "draw", "commit")
    ]
    assert dataset.budget.spent == pytest.approx(release.cost)
    assert 0.5 * (1.0 - 1e-4) < release.cost <= 0.5
    assert release.measure == dataset.budget.measure
    assert release.sequence == 4
    assert "3 tables" in repr(release)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("measure", ["epsilon", "rho"])
def test_a_plan_for_everything_that_is_left_fits(new, measure, neighbours):
    dataset = new(**{measure: 0.7, "domain": CLOSED, "neighbours": neighbours})
    dataset.ask(eke.count(sex="Female"), within=200)
    left = dataset.budget.remaining
    release = dataset.release(dataset.plan(eke.all_marginals(CLOSED, 1), budget=left))
    assert release.cost <= left
    assert dataset.budget.remaining >= 0.0


def test_tables_have_labels_errors_and_the_right_numbers(new, people):
    session = new(epsilon=1e4)
    release = session.release(session.plan(eke.all_marginals(DOMAIN, 2), budget=5e3))
    table = release.table("age", "sex")
    assert table.attributes == ("sex", "age")
    assert table.labels == (("Female", "Male"), tuple(range(17, 27)))
    frame = table.to_pandas()
    assert list(frame.columns) == ["sex", "age", "value", "standard_error"]
    true = people.groupby(["sex", "age"]).size()
    for row in frame.itertuples():
        assert row.value == pytest.approx(true.get((row.sex, row.age), 0), abs=0.1)
    with pytest.raises(QueryError, match="no table over age"):
        release.table("age")
    with pytest.raises(QueryError, match="the total"):
        release.table()


def test_every_kind_of_question_has_its_table(new):
    session = new(epsilon=1e6)
    workload = (
        eke.marginals_up_to(DOMAIN, 1)
        + eke.ranges(DOMAIN, "age")
        + eke.prefixes(DOMAIN, "age", "sex")
        + eke.Workload.of(DOMAIN, [eke.count(sex="Female"), eke.total("age"), eke.count()])
    )
    release = session.release(session.plan(workload, budget=5e5))
    assert float(release.table().values) == pytest.approx(400, abs=0.1)
    assert len(release.table().to_pandas()) == 1
    ranges, corners = release.tables[4:6]
    frame = ranges.to_pandas().set_index("age")["value"]
    assert frame["17 to 26"] == pytest.approx(400, abs=0.1)
    assert frame["18 to 19"] == pytest.approx(80, abs=0.1)
    corner = corners.to_pandas().set_index(["sex", "age"])["value"]
    assert corner["up to Male", "up to 26"] == pytest.approx(400, abs=0.1)
    assert corner["up to Female", "up to 26"] == pytest.approx(134, abs=0.1)
    single = [table.to_pandas().iloc[0] for table in release.tables[6:]]
    assert [one["question"] for one in single] == [
        "count where sex = Female",
        "sum(age)",
        "count",
    ]
    assert [one["value"] for one in single] == pytest.approx([134, 400 * 21.5, 400], abs=0.1)
    assert "count where sex = Female" in repr(release.tables[6])


def test_marginals_agree_with_each_other(dataset):
    release = dataset.release(dataset.plan(eke.all_marginals(DOMAIN, 2), budget=0.5))
    by_sex = release.table("sex", "age").values.sum(axis=1)
    assert by_sex == pytest.approx(release.table("sex", "city").values.sum(axis=1), abs=1e-6)
    for norm in ("l1", "l2", "linf"):
        for attributes, near in release.consistent(norm).items():
            assert near == pytest.approx(release.table(*attributes).values, abs=1e-5)
    positive = release.consistent(nonnegative=True)
    assert min(table.min() for table in positive.values()) >= -1e-9
    whole = release.whole()
    assert all(table.dtype == np.int64 and table.min() >= 0 for table in whole.values())
    assert len({int(table.sum()) for table in whole.values()}) == 1


def test_only_marginals_can_be_made_whole(dataset):
    release = dataset.release(dataset.plan(eke.ranges(DOMAIN, "age"), budget=0.1))
    for made in (release.whole, release.consistent):
        with pytest.raises(QueryError, match="whole marginals"):
            made()


# -- keys, crashes, refusals ---------------------------------------------------------------------


def test_the_same_key_gives_the_same_tables(dataset, folder, people):
    plan = dataset.plan(CUBE, budget=0.2)
    first = dataset.release(plan, key="monday")
    dataset.ask(eke.count(), within=20)
    entries = dataset.ledger_entries()
    assert values(dataset.release(dataset.plan(CUBE, budget=0.2), key="monday")) == values(first)
    reopened = eke.open(folder / "people-1.eke", data=people, analyst="ann")
    again = reopened.release(plan, key="monday")
    assert values(again) == values(first)
    assert (again.cost, again.sequence) == (first.cost, first.sequence)
    assert dataset.ledger_entries() == entries
    with pytest.raises(KeyConflict):
        dataset.release(dataset.plan(CUBE, budget=0.3), key="monday")
    assert values(dataset.release(plan)) != values(first), "without a key it is another release"


@pytest.mark.parametrize("place", ["engine.reserved", "engine.counted", "engine.drawn"])
def test_a_crash_after_the_charge_is_finished_by_the_same_key(session, monkeypatch, place):
    plan = session.plan(CUBE, budget=0.2)

    def crash(name: str) -> None:
        if name == place:
            raise Crash

    with monkeypatch.context() as patched:
        for module in (vault, measuring, draws):
            patched.setattr(module, "failpoint", crash)
        with pytest.raises(Crash):
            session.release(plan, key="one")
    spent = session.budget.spent
    assert spent == pytest.approx(0.2, rel=1e-5)
    assert len(session.history) == 0
    release = session.release(plan, key="one")
    assert session.budget.spent == spent, "it was paid for"
    assert release.cost == pytest.approx(spent)
    assert len(session.history) == len(plan.parts)
    assert values(session.release(plan, key="one")) == values(release)


def test_a_refusal_spends_nothing_and_says_what_to_do(dataset):
    plan = dataset.plan(CUBE, budget=1.5)
    before = dataset.ledger_entries()
    with pytest.raises(BudgetExceeded, match=r"nothing was spent\. Plan with budget=1 or less"):
        dataset.release(plan, key="one")
    assert dataset.ledger_entries() == before
    assert dataset.release(dataset.plan(CUBE, budget=1.0), key="one").cost <= 1.0
    with pytest.raises(BudgetExceeded, match="remains"):
        dataset.release(dataset.plan(CUBE, budget=0.1))


# -- asking afterwards ---------------------------------------------------------------------------


STRATEGIES = ("auto", "I", "Q", "C", "F", "Fourier", "residuals")


@pytest.mark.parametrize("strategy", among(STRATEGIES, ("auto", "C", "residuals")))
def test_answers_are_those_of_the_tables(dataset, strategy):
    """When nothing else was released, both are least squares over the same noisy numbers.

    Tables use the noise that was planned and answers the noise that was drawn, which differ by the
    grid; and the coefficients of Fourier strategies are rounded to whole numbers.
    """
    plan = dataset.plan(eke.all_marginals(DOMAIN, 2), budget=0.5, strategy=strategy)
    release = dataset.release(plan)
    for table in release.tables:
        answer = dataset.ask(eke.marginal(*table.attributes), within=1e4)
        assert answer.free
        errors = np.broadcast_to(table.standard_error, table.values.shape).ravel()
        assert np.abs(np.array(answer.values) - table.values.ravel()).max() < 1e-3 * errors.min()
        assert np.sqrt(answer.variances) == pytest.approx(errors, rel=1e-4)
    assert dataset.budget.spent == pytest.approx(release.cost)


@pytest.mark.parametrize("strategy", ["auto", "I", "W", "H", "optimised"])
def test_released_ranges_answer_ranges(dataset, strategy):
    release = dataset.release(
        dataset.plan(eke.ranges(DOMAIN, "age"), budget=0.5, strategy=strategy)
    )
    frame = release.tables[0].to_pandas().set_index("age")
    # Both solve the same equations, on noisy numbers of this size and in different ways.
    rounding = 1e-6 * float(frame["standard_error"].max())
    for low, high in [(17, 26), (18, 19), (20, 25), (22, 22)]:
        answer = dataset.ask(eke.count(age=(low, high)), within=1e4)
        assert answer.free
        assert answer.value == pytest.approx(frame["value"][f"{low} to {high}"], abs=rounding)
        assert math.sqrt(answer.variance) == pytest.approx(
            frame["standard_error"][f"{low} to {high}"], rel=1e-5
        )


def test_a_release_sharpens_what_was_known(dataset):
    dataset.ask(eke.count(sex="Female"), within=60)
    known = dataset.preview(eke.count(sex="Female"), within=1e4).known
    dataset.release(dataset.plan(CUBE, budget=0.2))
    assert dataset.preview(eke.count(sex="Female"), within=1e4).known < known
    assert dataset.ask("SELECT city, COUNT(*) FROM people GROUP BY city", within=1e4).free


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_required_accuracies_are_met(dataset, confidence):
    wanted = {("sex",): 60.0, ("city",): 90.0, ("sex", "city"): 75.0, (): 120.0}
    plan = dataset.plan(CUBE, within=wanted, confidence=confidence)
    dataset.release(plan)
    for attributes, within in wanted.items():
        asked = eke.marginal(*attributes) if attributes else eke.count()
        assert dataset.preview(asked, within=within, confidence=confidence).free, attributes
    uniform = dataset.plan(CUBE, within=60, confidence=confidence)
    assert plan.budget < uniform.budget


# -- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, AccuracyError),
        ({"budget": 0.1, "within": 50}, AccuracyError),
        ({"budget": 0.0}, eke.EkeError),
        ({"budget": -1.0}, eke.EkeError),
        ({"budget": math.nan}, eke.EkeError),
        ({"budget": math.inf}, eke.EkeError),
        ({"within": 0.0}, AccuracyError),
        ({"within": math.nan}, AccuracyError),
        ({"within": 50, "confidence": 1.0}, AccuracyError),
        ({"within": {"sex": 50}}, AccuracyError),
        ({"within": {"nobody": 50}}, eke.EkeError),
        ({"within": 50, "strategy": "I"}, AccuracyError),
        ({"budget": 0.1, "strategy": "magic"}, QueryError),
        ({"budget": 0.1, "strategy": MatrixStrategy.of("mine", [[1, 1, 1]])}, QueryError),
    ],
)
def test_bad_plans(session, options, problem):
    before = session.ledger_entries()
    with pytest.raises(problem):
        session.plan(CUBE, **options)
    assert session.ledger_entries() == before


@pytest.mark.parametrize(
    "workload",
    [
        "SELECT COUNT(*) FROM people GROUP BY CUBE (nobody)",
        "SELECT AVG(age) FROM people GROUP BY CUBE (sex)",
        "SELECT COUNT(*) FROM people",
        5,
        None,
        [],
        [["nobody"]],
        [5],
        eke.mean("age"),
        [eke.mean("age").by("sex")],
        [eke.marginal("sex", where={"age": 20})],
        eke.all_marginals(CLOSED, 1),
    ],
)
def test_bad_workloads(session, workload):
    before = session.ledger_entries()
    with pytest.raises(eke.EkeError):
        session.plan(workload, budget=0.1)
    assert session.ledger_entries() == before


def test_a_plan_is_for_one_dataset(new):
    session, other = new(), new(domain=CLOSED)
    zcdp = new(rho=1.0)
    plan = session.plan(CUBE, budget=0.1)
    for target in (other, zcdp):
        before = target.ledger_entries()
        with pytest.raises(QueryError, match="plan again here"):
            target.release(plan)
        assert target.ledger_entries() == before
    for key in ("", 5):
        with pytest.raises(LedgerError):
            session.release(plan, key=key)
    assert session.budget.spent == 0.0


def test_blocks_that_later_answers_could_not_use_are_refused(session, monkeypatch):
    plan = session.plan(eke.ranges(DOMAIN, "age"), budget=0.5, strategy="W")
    largest = max(part.measured.cells for part in plan.parts)
    monkeypatch.setattr(releasing, "MOST_SINGLE_ANSWERS", largest - 1)
    with pytest.raises(QueryError, match=f"at most {largest - 1} such answers"):
        session.release(plan)
    assert session.budget.spent == 0.0
    monkeypatch.setattr(releasing, "MOST_SINGLE_ANSWERS", largest)
    assert session.release(plan).cost > 0.0


OWN = np.array([[1.0, 1.0], [0.7, -0.3], [0.1, 0.9]])


def test_a_strategy_matrix_of_ones_own(dataset):
    plan = dataset.plan([["sex"]], budget=0.2, strategy=OWN)
    assert plan.strategy == "matrix"
    before = dataset.ledger_entries()
    assert dataset.price(plan).cost <= 0.2
    assert dataset.ledger_entries() == before
    release = dataset.release(plan)
    assert 0.19 < release.cost <= 0.2
    assert dataset.budget.spent == pytest.approx(release.cost)
    assert dataset.ask(eke.count(sex="Female"), within=500).free
    as_list = dataset.plan([["sex"]], budget=0.2, strategy=OWN.tolist())
    assert as_list.rmse == plan.rmse


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 1.0]], "does not determine the workload"),
        ([[1.0, 1.0, 1.0]], "needs 2 columns .* the cells of sex"),
        ([[float("nan"), 1.0]], "finite"),
    ],
)
def test_a_matrix_that_cannot_be_used_costs_nothing(dataset, rows, message):
    with pytest.raises(QueryError, match=message):
        dataset.plan([["sex"]], budget=0.2, strategy=rows)
    with pytest.raises(AccuracyError, match="leave it out"):
        dataset.plan([["sex"]], within=20, strategy=OWN)
    assert dataset.budget.spent == 0
