"""Estimates: free, for questions never asked, also when the budget is gone; honest about doubt."""

from collections.abc import Callable

import numpy as np
import pytest

import eke
from eke.errors import EstimateError, QueryError, Refused
from eke.inference.max_entropy import Constraints, Fit, fit_max_entropy
from eke.query import Prior
from eke.session.ask import estimator
from eke.session.ask.estimate import Estimate, TableEstimate


@pytest.fixture
def informed(new: Callable[..., eke.Session]) -> eke.Session:
    """A session with a history of two marginals."""
    session = new()
    session.ask(eke.marginal("age"), within=25)
    session.ask(eke.marginal("sex", "city"), within=25)
    return session


@pytest.mark.parametrize("method", ["shrinkage", "max_entropy"])
def test_a_question_never_asked_gets_an_estimate_for_nothing(
    informed: eke.Session, method: str
) -> None:
    before = informed.budget.spent
    found = informed.estimate(eke.count(age=(17, 21), sex="Male"), method=method)  # type: ignore[arg-type]
    assert isinstance(found, Estimate)
    assert not found.determined
    assert found.free
    assert found.cost == 0.0
    assert informed.budget.spent == before


@pytest.mark.parametrize("method", ["shrinkage", "max_entropy"])
def test_estimates_fill_in_what_sharp_answers_leave_open(
    new: Callable[..., eke.Session], method: str
) -> None:
    """Half of 400 are young and two thirds are men: 133 young men when nothing says otherwise.

    Noise moves each answer by less than 3 with probability 1 − e^-10; women, 67, are the control.
    """
    session = new(epsilon=100.0)
    session.ask(eke.marginal("age"), within=1)
    session.ask(eke.marginal("sex", "city"), within=1)
    men = session.estimate(eke.count(age=(17, 21), sex="Male"), method=method)  # type: ignore[arg-type]
    women = session.estimate(eke.count(age=(17, 21), sex="Female"), method=method)  # type: ignore[arg-type]
    assert isinstance(men, Estimate)
    assert isinstance(women, Estimate)
    assert abs(men.value - 133.0) < 20.0 < abs(women.value - 133.0)


def test_shrinkage_has_an_interval_and_entropy_has_none(informed: eke.Session) -> None:
    asked = eke.count(age=(17, 21), sex="Male")
    found = informed.estimate(asked)
    assert isinstance(found, Estimate)
    assert found.interval is not None
    assert found.interval[0] < found.value < found.interval[1]
    assert found.within is not None
    low, high = found.interval
    assert 0.95 <= found.probability(above=low, below=high) < 1.0
    assert found.probability(above=high) + found.probability(below=high) == pytest.approx(1.0)
    assert "does not determine" in found.explain()
    wider = informed.estimate(asked, confidence=0.999)
    assert isinstance(wider, Estimate)
    assert wider.within is not None
    assert wider.within > found.within
    bare = informed.estimate(asked, "max_entropy")
    assert isinstance(bare, Estimate)
    assert bare.interval is None
    assert bare.within is None
    with pytest.raises(EstimateError, match="no error bars"):
        bare.probability(above=0.0)
    assert "Estimate(" in repr(bare)
    assert "without error bars" in bare.explain()


def test_blue_is_what_history_determines(informed: eke.Session) -> None:
    found = informed.estimate(eke.count(sex="Male"), "blue")
    assert isinstance(found, Estimate)
    assert found.determined
    posterior = informed.history.estimate(eke.count(sex="Male"))
    assert found.value == pytest.approx(posterior.value)
    assert found.interval == pytest.approx(posterior.interval(0.95))
    with pytest.raises(EstimateError, match="shrinkage"):
        informed.estimate(eke.count(age=20, sex="Male"), "blue")


def test_a_marginal_gives_a_table(informed: eke.Session) -> None:
    found = informed.estimate(eke.marginal("sex"))
    assert isinstance(found, TableEstimate)
    table = found.to_pandas()
    assert list(table.columns) == ["sex", "value", "low", "high"]
    assert len(table) == 2
    assert (table["low"] < table["high"]).all()


def test_sql_with_one_count_is_a_question_too(informed: eke.Session) -> None:
    by_sql = informed.estimate("SELECT COUNT(*) FROM people WHERE sex = 'Male' AND age < 22")
    by_hand = informed.estimate(eke.count(age=(17, 21), sex="Male"))
    assert isinstance(by_sql, Estimate)
    assert isinstance(by_hand, Estimate)
    assert by_sql.value == pytest.approx(by_hand.value)
    grouped = informed.estimate("SELECT sex, COUNT(*) FROM people GROUP BY sex")
    assert isinstance(grouped, TableEstimate)
    assert grouped == informed.estimate(eke.marginal("sex"))
    for text in (
        "SELECT AVG(age) FROM people",
        "SELECT COUNT(*), SUM(age) FROM people",
        "SELECT sex, COUNT(*) FROM people GROUP BY sex HAVING COUNT(*) > 3",
        "SELECT age > 20, COUNT(*) FROM people GROUP BY 1",
        "SELECT age, sex, COUNT(*) FROM people GROUP BY age, sex",
    ):
        with pytest.raises(QueryError, match="one count or sum"):
            informed.estimate(text)


def test_a_refusal_becomes_an_estimate_when_allowed(informed: eke.Session) -> None:
    asked = eke.count(age=(17, 21), sex="Male")
    with pytest.raises(Refused):
        informed.ask(asked, within=1e-3)
    before = informed.budget.spent
    found = informed.ask(asked, within=1e-3, allow_estimate=True)
    assert isinstance(found, Estimate)
    assert found.within is not None
    assert found.within > 1e-3
    assert informed.budget.spent == before


def test_what_can_be_answered_is_answered_as_ever(informed: eke.Session) -> None:
    found = informed.ask(eke.count(sex="Male"), within=200, allow_estimate=True)
    assert isinstance(found, eke.Answer)


def test_a_longer_history_changes_the_estimate(informed: eke.Session) -> None:
    asked = eke.count(age=17)
    first, again = informed.estimate(asked), informed.estimate(asked)
    assert isinstance(first, Estimate)
    assert isinstance(again, Estimate)
    assert first.value == again.value
    informed.ask(eke.count(age=17), within=12)
    later = informed.estimate(asked)
    assert isinstance(later, Estimate)
    assert first.within is not None
    assert later.within is not None
    assert later.within < first.within


def test_short_histories_have_wide_intervals(new: Callable[..., eke.Session]) -> None:
    session = new()
    with pytest.raises(EstimateError, match="no history"):
        session.estimate(eke.count(age=17))
    session.ask(eke.count(), within=20)
    session.ask(eke.count(sex="Male"), within=20)
    found = session.estimate(eke.count(age=17))
    assert isinstance(found, Estimate)
    assert found.interval is not None
    assert found.interval[0] < 40.0 < found.interval[1]
    assert np.isfinite(found.interval).all()


def test_unknown_methods_are_refused(informed: eke.Session) -> None:
    with pytest.raises(EstimateError, match="blue, shrinkage, max_entropy"):
        informed.estimate(eke.count(), "guess")  # type: ignore[arg-type]


def test_a_model_starts_from_that_of_the_shorter_history(
    informed: eke.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[object] = []
    told: list[str] = []

    def recorded(constraints: Constraints, prior: Prior, *, start: Fit | None) -> Fit:
        starts.append(start)
        return fit_max_entropy(constraints, prior, start=start)

    monkeypatch.setattr(estimator, "fit_max_entropy", recorded)
    asked = eke.count(age=(17, 21), sex="Male")
    informed.estimate(asked, "max_entropy", progress=lambda what, _: told.append(what))
    informed.estimate(eke.count(age=18), "max_entropy")
    informed.ask(eke.count(age=17), within=12)
    later = informed.estimate(asked, "max_entropy")
    assert len(starts) == 2
    assert starts[0] is None
    assert isinstance(starts[1], Fit)
    assert told[-1] == "fitting the model"
    informed._estimators.clear()
    cold = informed.estimate(asked, "max_entropy")
    assert isinstance(cold, Estimate)
    assert isinstance(later, Estimate)
    assert starts[2] is None
    assert later.value == pytest.approx(cold.value, abs=0.5)
