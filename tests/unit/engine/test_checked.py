"""The junction works on its own copies, of exactly known types, whoever hands it a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eke.data import open_source
from eke.domain import Domain, Integer, Replace
from eke.engine import Beginning, ChoiceOption, RowScores, Selection, Vault
from eke.engine.adaptive import checked_selection
from eke.engine.checked import checked_law, checked_part, checked_plan, checked_query
from eke.engine.row_scores import checked_scores
from eke.errors import PrivacyError, QueryError
from eke.history import Measurement
from eke.ledger import Ledger
from eke.planning import Facts, Part, Plan, part_for
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Kronecker, Marginal, Query, Term, count, marginal

DOMAIN = Domain(a=Integer(0, 3, null=Replace(0)), b=Integer(0, 1, null=Replace(0)))
OTHER = Domain(a=Integer(0, 3, null=Replace(0)), b=Integer(0, 2, null=Replace(0)))
LAW = DiscreteLaplace(4, 0)
LEAST = -(2**63)


class LyingQuery(Query):
    """Priced as it looks, measured as it likes."""

    def numerators(self, attributes: Sequence[str], codes: Any) -> list[int]:
        return [1000] * len(codes)


class LyingBlock(Kronecker):
    def reach(self, power: int) -> Any:
        return ()


class LyingMarginal(Marginal):
    pass


class FreeLaw(DiscreteLaplace):
    def loss_nano(self, coefficient: Any) -> int:
        return 0


class LyingScores(RowScores):
    def reach(self, _: Measure) -> int:
        return 0


class LyingPart(Part):
    pass


class LyingPlan(Plan):
    pass


class LyingSelection(Selection):
    @property
    def reach(self) -> int:
        return 0


class LyingOption(ChoiceOption):
    pass


def text_of(_facts: Facts, released: Sequence[Measurement], cost: int) -> str:
    return f"{released[0].values[0]} for {cost}"


def vault_of(folder: Path, rows: pd.DataFrame, domain: Domain) -> Vault:
    ledger = Ledger.create(folder / "a.eke", {}, limit=NANO)
    source = open_source(rows, domain)
    return Vault(ledger, source, Beginning(domain, PURE, "add_remove"))


def release(vault: Vault, plan: Plan) -> str:
    return vault.release(plan, analyst="ann", key="k", digest="d", answer=text_of)


def identity(size: int = 4) -> Any:
    return np.eye(size, dtype=np.int64)


def test_a_record_moves_an_answer_by_no_more_than_its_coefficient(folder):
    """2,048 coefficients of 2^53 add up to 2^64: sums in 64 bits jumped by 2,048 scales."""
    domain = Domain(a=Integer(0, 2047))
    block = Kronecker(domain, ("a",), (np.full((1, 2048), 2**53, np.int64),))
    vault = vault_of(folder, pd.DataFrame({"a": np.arange(1024)}), domain)
    text = release(vault, Plan((Part(block, DiscreteLaplace(2**53, 0)),)))
    value, cost = text.split(" for ")
    assert int(cost) == NANO
    assert abs(float(value) - 2.0**63) < 60 * 2.0**53  # beyond: one chance in e^60


def test_what_is_kept_and_changed_later_changes_nothing():
    matrix, vector = identity(), np.array([1, 2, 3, 4])
    block, query = (
        Kronecker(DOMAIN, ("a",), (matrix,)),
        Query.of(DOMAIN, [Term(Fraction(1), (("a", vector),))]),
    )
    scores = RowScores((("a", vector[:, np.newaxis]),), matrix[:1, :1], 0)
    option = ChoiceOption(Kronecker(DOMAIN, ("a",), (matrix,)), vector, 0)
    raw = Query(DOMAIN, (Term(Fraction(1), (("a", vector),)),), Fraction(0))
    before = (block.largest_reach(1), query.extremes(), raw.extremes(), scores.loss_nano)
    matrix *= 1000
    vector *= 1000
    assert (block.largest_reach(1), query.extremes(), raw.extremes(), scores.loss_nano) == before
    assert option.expected.tolist() == [1, 2, 3, 4]
    arrays = (
        *block.matrices,
        raw.terms[0].factors[0][1],
        scores.weights,
        scores.tables[0][1],
        option.expected,
    )
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_an_equal_domain_is_this_one():
    """Read anew from a ledger, a domain is another object."""
    again = Domain(a=Integer(0, 3, null=Replace(0)), b=Integer(0, 1, null=Replace(0)))
    query = count(a=1).on(again)
    assert checked_query(query, DOMAIN) == query
    with pytest.raises(PrivacyError, match="another domain"):
        checked_query(count(a=1).on(OTHER), DOMAIN)


def test_the_record_of_a_plan_is_kept():
    parts = (part_for(count().on(DOMAIN), 4.0, PURE),)
    plan = Plan(parts, later_loss=3, purpose="a publication")
    assert checked_plan(plan, DOMAIN, PURE) == plan


def test_copies_share_no_memory():
    queries = [
        count(a=(1, 2), b=0).on(DOMAIN),
        marginal("a", of=count(b=0)).on(DOMAIN),
        Kronecker(DOMAIN, ("a",), (identity(),)),
    ]
    for query in queries:
        own = checked_query(query, DOMAIN)
        assert own == query
        for theirs, ours in zip(_arrays(query), _arrays(own), strict=True):
            assert not np.shares_memory(theirs, ours)
            assert not ours.flags.writeable


def _arrays(query: Any) -> list[Any]:
    if isinstance(query, Kronecker):
        return list(query.matrices)
    inside = query.inside if isinstance(query, Marginal) else query
    return [vector for term in inside.terms for _, vector in term.factors]


def test_only_exact_types_are_measured(folder):
    honest = count(a=1).on(DOMAIN)
    lying = LyingQuery(DOMAIN, honest.terms, Fraction(0))
    block = LyingBlock(DOMAIN, ("a",), (identity(),))
    queries = [lying, block, LyingMarginal(("a",), honest), Marginal(("b",), lying), object()]
    for query in queries:
        with pytest.raises(PrivacyError, match="nothing derived"):
            checked_query(query, DOMAIN)
    vault = vault_of(folder, pd.DataFrame({"a": [0, 1], "b": [0, 1]}), DOMAIN)
    part = Part(honest, LAW)
    dishonest = [
        Plan((Part(lying, LAW),)),
        Plan((Part(honest, FreeLaw(4, 0)),)),
        Plan((LyingPart(honest, LAW),)),
        LyingPlan((part,)),
    ]
    for plan in dishonest:
        with pytest.raises(PrivacyError):
            release(vault, plan)
    assert vault.ledger.balance().spent == 0
    assert [entry.kind for entry in vault.ledger.entries()] == ["genesis"]


def test_questions_about_another_domain_are_refused():
    """Their sizes, and whether rows can be dropped, would decide the price."""
    for query in (
        count(a=1).on(OTHER),
        marginal("a").on(OTHER),
        Kronecker(OTHER, ("a",), (identity(),)),
    ):
        with pytest.raises(PrivacyError, match="another domain"):
            checked_query(query, DOMAIN)


def test_noise_of_another_kind_of_loss_is_refused():
    """A rho of 0.03 is no epsilon of 0.03."""
    with pytest.raises(PrivacyError, match="losses are in epsilon"):
        checked_law(DiscreteGaussian(4, 0), PURE)
    with pytest.raises(PrivacyError, match="losses are in rho"):
        checked_plan(Plan((part_for(count().on(DOMAIN), 4.0, PURE),)), DOMAIN, CONCENTRATED)
    with pytest.raises(PrivacyError, match="losses are in epsilon"):
        Accountant(DOMAIN, PURE, "add_remove").price(count().on(DOMAIN), DiscreteGaussian(4, 0))
    assert checked_part(Part(count().on(DOMAIN), LAW), DOMAIN, PURE).law == LAW


@pytest.mark.parametrize("rows", [np.int64(2), 0, -1, 1.0, True])
def test_the_rows_of_a_unit_are_a_python_integer(rows):
    with pytest.raises(PrivacyError, match="whole number of rows"):
        Accountant(DOMAIN, PURE, "add_remove", rows)


def test_scores_and_choices_are_copied_and_checked_too():
    table = np.arange(4, dtype=np.int64)[:, np.newaxis]
    weights = np.array([[2]], np.int64)
    scores = RowScores((("a", table),), weights, 0)
    own = checked_scores(scores, DOMAIN)
    assert own.loss_nano(LAW) == scores.loss_nano(LAW)
    assert not np.shares_memory(own.weights, scores.weights)
    twice = RowScores((("a", table), ("a", table)), np.array([[2], [2]], np.int64), 0)
    bad = [
        LyingScores((("a", table),), weights, 0),
        RowScores((("c", table),), weights, 0),
        RowScores((("b", table),), weights, 0),
        twice,
    ]
    for one in bad:
        with pytest.raises(PrivacyError):
            checked_scores(one, DOMAIN)
    option = ChoiceOption(Kronecker(DOMAIN, ("a",), (identity(),)), np.zeros(4, np.int64), 0)
    found = checked_selection(Selection((option,), 0, LAW), DOMAIN)
    assert found.reach == 1
    assert not np.shares_memory(found.options[0].expected, option.expected)
    derived = LyingOption(option.block, option.expected, 0)
    lying_block = ChoiceOption(LyingBlock(DOMAIN, ("a",), (identity(),)), option.expected, 0)
    for selection in (
        LyingSelection((option,), 0, LAW),
        Selection((derived,), 0, LAW),
        Selection((lying_block,), 0, LAW),
        Selection((option,), 0, FreeLaw(4, 0)),
    ):
        with pytest.raises(PrivacyError):
            checked_selection(selection, DOMAIN)


def test_the_least_integer_has_no_absolute_value():
    """np.abs(-2^63) is -2^63: below any bound, and of negative price."""
    least = np.full((1, 4), LEAST, np.int64)
    with pytest.raises(QueryError, match=r"2\^62"):
        Kronecker(DOMAIN, ("a",), (least,))
    with pytest.raises(QueryError, match=r"2\^62"):  # a matrix of zeros hides nothing
        Kronecker(DOMAIN, ("a", "b"), (least, np.zeros((1, 2), np.int64)))
    with pytest.raises(PrivacyError, match=r"2\^24"):
        RowScores((("a", identity()[:, :1]),), np.array([[LEAST]], np.int64), 0)
    with pytest.raises(PrivacyError, match=r"2\^17"):
        RowScores((("a", least.T),), np.array([[1]], np.int64), 0)
    with pytest.raises(PrivacyError, match=r"2\^52"):
        ChoiceOption(Kronecker(DOMAIN, ("a",), (identity(),)), least[0], 0)
    with pytest.raises(QueryError, match=r"2\^62"):
        Query(DOMAIN, (Term(Fraction(1), (("a", least[0]),)),), Fraction(0))


@dataclass(frozen=True)
class LyingTerm:
    weight: Fraction
    factors: Any


def test_a_query_built_by_hand_is_checked():
    ones = np.ones(4, np.int64)
    bad: list[tuple[Any, Any]] = [
        ((Term(Fraction(1), (("a", ones), ("a", ones))),), Fraction(0)),
        ((Term(Fraction(1, 3), (("a", ones),)),), Fraction(0)),
        ((Term(Fraction(0), (("a", ones),)),), Fraction(0)),
        ((Term(1, (("a", ones),)),), Fraction(0)),  # type: ignore[arg-type]
        ((Term(Fraction(1), (("a", ones * 0),)),), Fraction(0)),
        ((Term(Fraction(1), (("a", ones * 1.0),)),), Fraction(0)),  # type: ignore[arg-type]
        ((Term(Fraction(1), (("a", ones[:2]),)),), Fraction(0)),
        ((Term(Fraction(1), (("c", ones),)),), Fraction(0)),
        ((LyingTerm(Fraction(1), (("a", ones),)),), Fraction(0)),
        ((), 0.5),
    ]
    for terms, constant in bad:
        with pytest.raises(QueryError):
            Query(DOMAIN, terms, constant)


@pytest.mark.parametrize(
    "inside", [marginal("b").on(DOMAIN), Kronecker(DOMAIN, ("b",), (np.eye(2, dtype=np.int64),))]
)
def test_a_block_inside_a_block_is_refused(inside: Any) -> None:
    """Of a known kind, but no question: it has no coefficient that a price could be made of."""
    nested = Marginal(("a",), inside)
    with pytest.raises(PrivacyError, match="count one question"):
        checked_query(nested, DOMAIN)
