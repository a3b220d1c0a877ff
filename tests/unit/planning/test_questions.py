"""Statements: what is measured for the columns of a SQL result, and in how many steps."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.errors import AccuracyError, QueryError
from eke.history import Measurement
from eke.inference import Inference, halfwidth
from eke.planning import Facts, QuestionDemand, checked, decide, top_up
from eke.planning.online.known_formulas import KnownFormulas
from eke.privacy.law import DiscreteLaplace
from eke.privacy.record_loss import NANO
from eke.query import Marginal, marginal
from eke.question import Constant, Operation, Question
from eke.sql import parse
from tests.formula_lab import DOMAIN, carried_out, demanded, exact, interval


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def half(demand, facts: Facts, aggregate: int, row: int) -> float:
    found = facts.inference.linear(demand.question.query(aggregate, row))
    assert found is not None
    return halfwidth(found[1], demand.confidence)


def test_a_linear_statement_takes_one_step_and_is_then_free(rng):
    demand = demanded('SELECT "group", COUNT(*) FROM t GROUP BY "group"', 100)
    facts, decisions = carried_out(demand, rng)
    assert [one.action for one in decisions] == ["measure", "history"]
    (part,) = decisions[0].plan.parts
    assert isinstance(part.query, Marginal)
    assert max(half(demand, facts, 0, row) for row in (0, 1)) <= 100


def test_a_scaled_column_is_measured_as_finely_as_its_scale_needs(rng):
    text = 'SELECT "group", 200 * COUNT(*) + 5 AS tax FROM t GROUP BY "group"'
    demand = demanded(text, 20_000)
    facts, _ = carried_out(demand, rng)
    assert facts.accountant.spent == pytest.approx(NANO * math.log(20) / 100, rel=1e-4)


def test_aggregates_that_follow_from_others_are_not_measured(rng):
    """The total is the sum of the groups; asked for less accurately it costs nothing more."""
    both = demanded(
        "SELECT COUNT(*) FILTER (WHERE \"group\" = 'a') AS a, "
        "COUNT(*) FILTER (WHERE \"group\" = 'b') AS b, COUNT(*) / 3 AS total FROM t",
        100,
    )
    facts, decisions = carried_out(both, rng)
    assert len(decisions[0].plan.parts) <= 2
    alone, _ = carried_out(demanded("SELECT COUNT(*) FROM t WHERE x > 3", 100), rng)
    assert facts.accountant.spent == alone.accountant.spent


def test_questions_that_overlap_share_their_cells(rng):
    """Twenty nested counts cost less as the 21 cells they are made of."""
    columns = ", ".join(f"COUNT(*) FILTER (WHERE x >= {i}) AS c{i}" for i in range(1, 21))
    demand = demanded(f"SELECT {columns} FROM t", 100)
    facts, decisions = carried_out(demand, rng)
    assert [part.query.attributes for part in decisions[0].plan.parts] == [("x",)]
    assert max(half(demand, facts, i, 0) for i in range(20)) <= 100 * (1 + 1e-9)
    separate = 20 * math.log(20) / 100
    assert facts.accountant.spent / NANO < 0.5 * separate


def test_an_average_is_measured_around_the_middle_of_its_values(rng):
    demand = demanded("SELECT AVG(x) FROM t", 0.05)
    facts, decisions = carried_out(demand, rng)
    assert [one.action for one in decisions[-2:]] == ["measure", "history"]
    assert len(decisions) <= 5
    ends = [part.query.extremes() for one in decisions[:-1] for part in one.plan.parts]
    around = [-float(low) for low, high in ends if low and high - low == 20]
    assert around, "a sum of x − r, with weight 1 for each x"
    assert around[0] == 10.0, "no record is farther than 10 from there"
    value, low_end, high_end = interval(demand, facts, 0, 0)
    assert low_end <= value <= high_end
    assert (high_end - low_end) / 2 <= 0.05


def test_groups_made_by_case_are_as_cheap_as_those_of_a_column(rng):
    plain = demanded('SELECT "group", COUNT(*) FROM t GROUP BY "group"', 60)
    cased = demanded(
        "SELECT CASE WHEN x < 5 THEN 'low' ELSE 'high' END AS size, COUNT(*) FROM t GROUP BY size",
        60,
    )
    one, _ = carried_out(plain, rng)
    other, _ = carried_out(cased, rng)
    assert one.accountant.spent == other.accountant.spent


def test_an_average_over_nobody_is_refused_soon(rng):
    """A group that may be empty has no average; the look at its size stays cheap."""
    demand = demanded("SELECT AVG(x) FROM t WHERE \"group\" = 'b' AND x BETWEEN 0 AND 1", 0.001)
    facts, decisions = carried_out(demand, rng)
    assert exact(demand.question.query(0, 0)) >= 0
    assert decisions[-1].action == "refuse"
    assert facts.accountant.spent < 0.1 * NANO


def test_a_refusal_names_the_group_and_what_can_be_had(rng):
    demand = demanded('SELECT "group", AVG(x) FROM t GROUP BY "group"', 0.001)
    facts, decisions = carried_out(demand, rng, limit=0.2)
    last = decisions[-1]
    assert last.action == "refuse"
    assert last.hint.startswith("the group group = b decides the price; groups_of=1000, or FOR")
    assert last.narrowest is not None
    wider = demanded('SELECT "group", AVG(x) FROM t GROUP BY "group"', 1.1 * last.narrowest)
    assert decide(wider, facts, top_up).action == "measure"


def test_scales_are_those_of_columns_with_one_aggregate():
    columns = parse("SELECT COUNT(*), AVG(x) FROM t", DOMAIN).columns
    assert columns[0].formula.scale() == (0, 1.0)
    assert columns[1].formula.scale() is None
    shifted = Operation(
        "-", Constant(Fraction(3)), Operation("/", columns[0].formula, Constant(Fraction(2)))
    )
    assert shifted.scale() == (0, -0.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('SELECT "group", COUNT(*) FROM t GROUP BY "group" HAVING SUM(x) > 3', "not selected"),
        ("SELECT x, COUNT(*) AS n FROM t GROUP BY x ORDER BY SUM(x)", "not selected"),
    ],
)
def test_what_decides_about_rows_must_be_selected(text, message):
    with pytest.raises(QueryError, match=message):
        demanded(text, 10)


@pytest.mark.parametrize("public", ["4", "2 + 2", "SQRT(4)"])
def test_a_column_that_is_public_is_refused(public):
    with pytest.raises(QueryError, match="a column is a constant"):
        demanded(f"SELECT COUNT(*), {public} FROM t", 10)


def test_nonsense_is_refused():
    with pytest.raises(AccuracyError, match="within"):
        demanded("SELECT COUNT(*) FROM t", -3)
    with pytest.raises(AccuracyError, match="confidence"):
        demanded("SELECT COUNT(*) FROM t", 3, 1.5)


@pytest.mark.parametrize(
    ("keys", "value", "sizes", "too_large"),
    [
        ("x, y", "SUM(z)", (64, 64), (64, 65)),
        ("x, y", "COUNT(*) FILTER (WHERE z = 1)", (64, 64), (64, 65)),
        ("FLOOR(x / 2), FLOOR(y / 2)", "COUNT(*)", (64, 32), (64, 34)),
        ("x, y", "COUNT(*)", (256, 512), None),
    ],
)
def test_results_with_too_many_groups_are_refused(keys, value, sizes, too_large):
    def ask(x: int, y: int) -> None:
        domain = Domain(x=Integer(0, x - 1), y=Integer(0, y - 1), z=Integer(0, 3))
        statement = parse(f"SELECT {keys}, {value} AS n FROM t GROUP BY {keys}", domain)
        checked(QuestionDemand(statement, (None, None, 10.0), 0.95))

    ask(*sizes)
    if too_large is not None:
        with pytest.raises(QueryError, match="groups and at most"):
            ask(*too_large)


def test_too_many_groups_are_told_what_gives_the_same():
    domain = Domain(x=Integer(0, 63), y=Integer(0, 64), z=Integer(0, 3), far=Integer(0, 99))

    def said(value: str, keys: str = "x, y") -> str:
        text = f"SELECT {keys}, {value} AS n FROM t GROUP BY {keys}"
        with pytest.raises(QueryError) as told:
            checked(QuestionDemand(parse(text, domain), (None, None, 10.0), 0.95))
        return str(told.value)

    finer = "or ask for COUNT(*) alone by x, y, z (16,640 groups), from which the rest can be added"
    for value in ("COUNT(*) FILTER (WHERE z = 1)", "SUM(z)", "AVG(z)"):
        assert finer in said(value)
    for value in ("SUM(far)", "SUM(x)"):  # more than can be asked for, and no more columns
        assert said(value).endswith("coarser keys, or choose some of the groups with WHERE")
    assert said("COUNT(*)", "FLOOR(x / 2), FLOOR(y / 2)").endswith("coarser keys")


def test_a_table_of_counts_has_a_limit_too():
    domain = Domain(x=Integer(0, 511), y=Integer(0, 256))
    question = Question.of_block(marginal("x", "y").on(domain))
    with pytest.raises(QueryError, match="131,584 groups and at most 131,072"):
        checked(QuestionDemand(question, (None, None, 10.0), 0.95))


def test_an_average_lies_between_the_values_it_averages(rng):
    """Nobody needs to be asked for an average to within more than the range of its values."""
    demand = demanded('SELECT "group", AVG(x) FROM t GROUP BY "group"', 0.5)
    assert demand.question.bounds(demand.question.columns[1].formula) == (0.0, 20.0)
    wide = demanded("SELECT AVG(x) FROM t WHERE x < 4 AND \"group\" = 'b'", 11)
    facts, decisions = carried_out(wide, rng)
    assert decisions[-1].action == "history"
    value, low, high = interval(wide, facts, 0, 0)
    assert 0.0 <= low <= value <= high <= 20.0
    ratio = demanded("SELECT COUNT(*) FILTER (WHERE x > 3) / COUNT(*) FROM t", 0.5)
    assert ratio.question.bounds(ratio.question.columns[0].formula) == (0.0, 1.0)
    other = demanded("SELECT SUM(x) / COUNT(*) FILTER (WHERE x > 3) FROM t", 0.5)
    assert other.question.bounds(other.question.columns[0].formula) == (-math.inf, math.inf)


def test_sums_over_all_records_need_not_be_known_as_well_as_those_of_a_group() -> None:
    """Each grouping of a ROLLUP is planned by itself: with ten groups, ten times as coarsely."""
    domain = Domain(k=Integer(1, 10), x=Integer(0, 9))
    question = parse("SELECT k, AVG(x) AS m FROM t GROUP BY ROLLUP (k)", domain)
    inference = Inference(domain)
    law = DiscreteLaplace(2**10, -10)
    for block in question.blocks:
        size = 4500.0 if block.inside.extremes()[1] > 1 else 1000.0
        table = block.parts[0]
        assert isinstance(table, Marginal)
        inference.extend(Measurement(table, law, (size,) * table.cells))
    known = KnownFormulas.of(QuestionDemand(question, (None, 0.001), 0.95), inference)
    assert known is not None
    widths = {demand.query.cells: demand.requirement.within for demand in known.linearised()}
    assert widths[1] == pytest.approx(10 * widths[10], rel=0.05)
