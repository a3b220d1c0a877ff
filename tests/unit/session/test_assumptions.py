"""Priors, alpha and folds of an estimate: what they change, that they cost nothing, refusals."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import eke
from eke.errors import EstimateError
from eke.inference.shrinkage import Evidence, Factorisation, Shrinkage, choose_alpha
from eke.query import Prior
from eke.session.ask.assumptions import DEFAULT, Assumptions
from eke.session.ask.estimate import Estimate

DOMAIN = eke.Domain(sex=eke.Categorical("F", "M"), age=eke.Integer(0, 3))
ASKED = eke.count(age=(17, 21), sex="Male")


@pytest.fixture
def informed(new: Callable[..., eke.Session]) -> eke.Session:
    """A session with a history of two marginals."""
    session = new()
    session.ask(eke.marginal("age"), within=25)
    session.ask(eke.marginal("sex", "city"), within=25)
    return session


def test_a_public_table_is_counted_value_by_value() -> None:
    table = pd.DataFrame({"age": [0, 3, 3, 9], "name": ["x"] * 4})
    told = Assumptions.of(DOMAIN, table)
    assert told.prior == (("age", (1.5, 0.5, 0.5, 2.5 + float(DOMAIN["age"].code(9) == 3))),)
    assert Assumptions.of(DOMAIN, pa.Table.from_pandas(table)) == told


def test_weights_may_be_a_list_or_by_label() -> None:
    by_label = Assumptions.of(DOMAIN, {"sex": {"F": 3, "M": 1}})
    assert by_label == Assumptions.of(DOMAIN, {"sex": [3, 1]})
    assert by_label == Assumptions.of(DOMAIN, {"sex": np.array([3.0, 1.0])})
    assert by_label.before(DOMAIN).vectors["sex"].tolist() == [0.75, 0.25]
    assert by_label.document() == {"prior": {"sex": [3.0, 1.0]}}
    assert Assumptions.of(DOMAIN, **by_label.document()) == by_label
    some = Assumptions.of(DOMAIN, {"sex": {"F": 3}}).before(DOMAIN).vectors["sex"]
    assert some[0] > 0.999
    assert some[1] > 0.0
    assert DEFAULT.document() == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"prior": "flat"}, "there is no prior 'flat'"),
        ({"prior": {}}, "prior is"),
        ({"prior": 3}, "prior is"),
        ({"prior": {"height": [1, 2]}}, "none of: sex, age"),
        ({"prior": {"sex": [1]}}, "needs 2 finite weights"),
        ({"prior": {"sex": [1, -1]}}, "needs 2 finite weights"),
        ({"prior": {"sex": [0, 0]}}, "needs 2 finite weights"),
        ({"prior": {"sex": [1, float("nan")]}}, "needs 2 finite weights"),
        ({"prior": {"sex": "FM"}}, "prior is"),
        ({"prior": {"sex": {"X": 1}}}, "which it cannot be"),
        ({"prior": pd.DataFrame({"x": [1]})}, "none of the columns"),
        ({"alpha": 0.0}, "alpha is a finite number above 0"),
        ({"alpha": float("inf")}, "alpha is a finite number above 0"),
        ({"alpha": True}, "alpha is a finite number above 0"),
        ({"folds": 1}, "from 2 to 50"),
        ({"folds": 2.0}, "from 2 to 50"),
        ({"alpha": 1.0, "folds": 3}, "one of the two"),
    ],
)
def test_what_is_no_assumption_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(EstimateError, match=said):
        Assumptions.of(DOMAIN, **given)


def test_estimates_are_those_of_the_formulas(informed: eke.Session) -> None:
    """The same value as HIST's, put together by hand: uniform prior, this alpha."""
    found = informed.estimate(ASKED, prior="uniform", alpha=30.0)
    query = ASKED.on(informed.domain)
    by_hand = Shrinkage(
        Factorisation(
            Evidence.of_history(informed.domain, list(informed.history), Prior(informed.domain))
        ),
        30.0,
    )
    assert isinstance(found, Estimate)
    assert found.alpha == 30.0
    assert found.value == pytest.approx(by_hand.posterior(query).value)


def test_folds_choose_the_alpha_of_so_many_folds(informed: eke.Session) -> None:
    found = informed.estimate(ASKED, prior="uniform", folds=3)
    evidence = Evidence.of_history(informed.domain, list(informed.history), Prior(informed.domain))
    assert isinstance(found, Estimate)
    assert found.alpha == pytest.approx(choose_alpha(evidence, folds=3).alpha)


@pytest.mark.parametrize("method", ["shrinkage", "max_entropy"])
def test_a_prior_fills_in_what_was_never_measured(
    new: Callable[..., eke.Session], method: str
) -> None:
    """Uniform is the control: without the table every city has its share."""
    session = new()
    session.ask(eke.marginal("sex"), within=25)
    cities = session.domain["city"].labels
    public = pd.DataFrame({"city": [cities[0]] * 98 + [cities[1]] * 2})
    asked = eke.count(city=cities[0])
    told = session.estimate(asked, method, prior=public)  # type: ignore[arg-type]
    plain = session.estimate(asked, method, prior="uniform")  # type: ignore[arg-type]
    assert isinstance(told, Estimate)
    assert isinstance(plain, Estimate)
    assert told.value > 1.5 * plain.value


def test_assumptions_cost_nothing_and_are_not_kept_for_others(informed: eke.Session) -> None:
    before, plain = informed.budget.spent, informed.estimate(ASKED)
    for alpha in (1.0, 2.0, 3.0, 4.0, 5.0):
        informed.estimate(ASKED, alpha=alpha)
    assert informed.estimate(ASKED) == plain
    assert informed.budget.spent == before


def test_blue_has_no_prior(informed: eke.Session) -> None:
    for given in ({"prior": "uniform"}, {"alpha": 3.0}, {"folds": 4}):
        with pytest.raises(EstimateError, match="unbiased"):
            informed.estimate(eke.count(sex="Male"), "blue", **given)
