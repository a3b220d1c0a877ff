"""Guarded claims in the engine: when one is closed, and what could make it more probable."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.arrays import FloatArray
from eke.engine import guarding
from eke.engine.checkpoint import Checkpoint
from eke.engine.guarding import claim_probability, claims_at_risk, claims_touched, is_closed
from eke.engine.standing import Standing
from eke.errors import LedgerError, QueryError
from eke.history import PUBLIC, Measurement, Row
from eke.history.guarded import GuardedClaim, guarded_sentence, holding, lifted
from eke.inference import Inference
from eke.planning import Part, Plan
from eke.privacy.law import DiscreteLaplace, Laplace
from eke.privacy.refinement import Earlier
from eke.query import Block, Marginal, Query
from eke.session.beginning import beginning_of
from tests.parts import in_long

DOMAIN = eke.Domain(age=eke.Integer(0, 2), sex=eke.Categorical("F", "M"))
LAW = DiscreteLaplace(64, 0)
NUMBERS = np.arange(600)
TABLE = pd.DataFrame({"age": NUMBERS * 7 % 3, "sex": np.where(NUMBERS % 3 == 0, "F", "M")})
WOMEN = eke.count(sex="F").on(DOMAIN)


def claimed(query: Query = WOMEN, lower: float = 150.0, upper: float = math.inf) -> GuardedClaim:
    return GuardedClaim(query, lower, upper, 0.9, "women", "> 150", by="cleo", sequence=7)


def known(*queries: Any, value: float = 200.0, scale: float = 10.0) -> Inference:
    rows = [Measurement(one, Laplace(scale), (value,) * one.cells) for one in queries]
    return Inference(DOMAIN, rows)


def dense(block: Block) -> FloatArray:
    """The coefficients of each cell of a block over all cells of the domain."""
    cells = [{"age": age, "sex": sex} for age in range(3) for sex in range(2)]

    def coefficient(query: Query, cell: dict[str, int]) -> float:
        vectors: Any = [(float(term.weight), term.vectors) for term in query.terms]
        return float(sum(w * math.prod(v[cell[name]] for name, v in each) for w, each in vectors))

    return np.array([[coefficient(query, cell) for cell in cells] for query in block.queries()])


def slow_variance(claim: FloatArray, rows: list[tuple[FloatArray, float]]) -> float:
    """That of the best linear unbiased estimate, from the definition; infinite without one."""
    if not rows:
        return math.inf
    design = np.vstack([block for block, _ in rows])
    precision = np.concatenate([np.full(len(block), 1.0 / noise) for block, noise in rows])
    if np.linalg.matrix_rank(np.vstack([design, claim])) > np.linalg.matrix_rank(design):
        return math.inf
    information = design.T @ (precision[:, None] * design)
    return float(claim @ np.linalg.pinv(information, rcond=1e-11, hermitian=True) @ claim)


def random_block(rng: np.random.Generator) -> Block:
    kind = int(rng.integers(4))
    if kind == 0:
        return Marginal((str(rng.choice(["age", "sex"])),), eke.count().on(DOMAIN))
    low = int(rng.integers(0, 3))
    plain: dict[str, Any] = {"age": (low, int(rng.integers(low, 3)))} if rng.random() < 0.6 else {}
    if rng.random() < 0.6:
        plain["sex"] = str(rng.choice(["F", "M"]))
    one = eke.count(**plain)
    if kind == 1:
        return (one + 2 * eke.count(age=int(rng.integers(3)))).on(DOMAIN)
    return one.on(DOMAIN)


@pytest.mark.parametrize("histories", [80, in_long(400)])
def test_what_could_raise_a_claim_is_told_as_the_definition_tells_it(histories: int) -> None:
    """N = 80 or 400 histories, claims and plans against dense least squares; both sides occur."""
    rng = np.random.default_rng(19)
    seen = {True: 0, False: 0}
    for _ in range(histories):
        history = [random_block(rng) for _ in range(int(rng.integers(1, 5)))]
        scales = [float(rng.choice([16.0, 32.0, 128.0])) for _ in history]
        claim = random_block(rng)
        query = claim if isinstance(claim, Query) else claim.cell(0)
        rows = [(dense(block), 2 * scale**2) for block, scale in zip(history, scales, strict=True)]
        before = slow_variance(dense(query)[0], rows)
        inference = Inference(
            DOMAIN,
            [
                Measurement(block, Laplace(scale), (1.0,) * block.cells, sequence=place)
                for place, (block, scale) in enumerate(zip(history, scales, strict=True))
            ],
        )
        # Closed whatever it is: the claim leaves out next to nothing.
        told = claimed(query, -1e12, 1e12)
        assert is_closed(told, inference) == math.isfinite(before)
        new = [random_block(rng) for _ in range(int(rng.integers(1, 3)))]
        plan = Plan(tuple(Part(block, LAW) for block in new))
        noise = LAW.variance
        after = slow_variance(dense(query)[0], rows + [(dense(block), noise) for block in new])
        could = math.isfinite(before) and after < before * (1.0 - 1e-8)
        assert bool(claims_at_risk(plan, [told], inference)) == could
        touched = [(dense(block), 1.0) for block in new]
        touches = math.isfinite(before) and (
            slow_variance(dense(query)[0], rows + touched) < before * (1.0 - 1e-8)
        )
        assert bool(claims_touched(new, [told], inference)) == touches
        seen[could] += 1
    assert min(seen.values()) > 0.15 * histories


def test_values_are_never_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands in the place of the zeros, the decision is the same."""
    rng = np.random.default_rng(4)
    told, inference = claimed(), known(WOMEN)
    plans = [Plan((Part(random_block(rng), LAW),)) for _ in range(30)]
    first = [claims_at_risk(plan, [told], inference) for plan in plans]

    def other(query: Block, law: Any, values: tuple[float, ...], **more: Any) -> Measurement:
        return Measurement(query, law, tuple(rng.normal(0, 1e6, len(values))), **more)

    monkeypatch.setattr(guarding, "Measurement", other)
    assert [claims_at_risk(plan, [told], inference) for plan in plans] == first
    assert {bool(one) for one in first} == {True, False}


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (190.0, math.inf, 1.0 - 0.5 * math.exp(-1.0)),
        (-math.inf, 190.0, 0.5 * math.exp(-1.0)),
        (190.0, 210.0, 1.0 - math.exp(-1.0)),
        (-math.inf, 200.0, 0.5),
    ],
)
def test_the_probability_is_that_of_one_laplace_noise(
    lower: float, upper: float, expected: float
) -> None:
    told = claimed(WOMEN, lower, upper)
    assert claim_probability(told, known(WOMEN)) == pytest.approx(expected, rel=1e-12)


def test_a_claim_is_closed_at_its_threshold_and_not_before() -> None:
    inference = known(WOMEN)
    probability = claim_probability(claimed(), inference)
    assert probability is not None
    assert is_closed(replace(claimed(), threshold=probability), inference)
    above = math.nextafter(probability, 1.0)
    assert not is_closed(replace(claimed(), threshold=above), inference)


def test_nothing_is_closed_before_history_determines_it() -> None:
    everything = claimed(WOMEN, -1e300, math.inf)
    for inference in (Inference(DOMAIN), known(eke.count().on(DOMAIN))):
        assert claim_probability(everything, inference) is None
        assert claims_at_risk(Plan((Part(WOMEN, LAW),)), [everything], inference) == ()


def test_what_is_public_can_be_raised_no_further() -> None:
    everybody = eke.count().on(DOMAIN)
    exact = Inference(DOMAIN, public=[Row(everybody, 600.0, PUBLIC)])
    about_all = claimed(everybody)
    assert claim_probability(about_all, exact) == 1.0
    assert claims_at_risk(Plan((Part(WOMEN, LAW),)), [about_all], exact) == ()


def test_what_inference_does_not_read_counts_as_at_risk() -> None:
    told, inference = claimed(), known(WOMEN)
    men = eke.count(sex="M").on(DOMAIN)
    assert claims_at_risk(Plan((Part(men, LAW),)), [told], inference) == ()
    for losses in ((5, 0), (0, 5)):
        assert claims_at_risk(Plan((Part(men, LAW),), *losses), [told], inference) == (told,)
    # So near to the claim that least squares sets it aside, where a reader need not.
    near = (eke.count(sex="F") + Fraction(1, 10**9) * eke.count(age=1)).on(DOMAIN)
    fine = DiscreteLaplace(2**40, -40)
    assert claims_at_risk(Plan((Part(near, fine),)), [told], inference) == (told,)


def test_a_refinement_of_the_claim_is_at_risk() -> None:
    law = DiscreteLaplace(2**14, 0)
    coarse = Measurement(WOMEN, law, (200_000.0,), sequence=1)
    inference = Inference(DOMAIN, [coarse])
    told = claimed(WOMEN, 0.0)
    assert is_closed(told, inference)
    finer = Part(WOMEN, DiscreteLaplace(2**13, 0), Earlier(0, law.steps))
    assert claims_at_risk(Plan((finer,)), [told], inference) == (told,)


def test_of_several_claims_those_are_named_that_could_be_raised() -> None:
    men = eke.count(sex="M").on(DOMAIN)
    first, second = claimed(), replace(claimed(men), sequence=9, question="men")
    inference = known(WOMEN, men)
    assert claims_at_risk(Plan((Part(WOMEN, LAW),)), [first, second], inference) == (first,)
    both = claims_at_risk(Plan((Part(eke.count().on(DOMAIN), LAW),)), [first, second], inference)
    assert both == (first, second)
    assert guarded_sentence(both).endswith(
        "women: > 150 (entry 7, from 0.9 on); men: > 150 (entry 9, from 0.9 on)"
    )
    assert claims_at_risk(Plan((Part(WOMEN, LAW),)), lifted([first], 7, 12), inference) == ()


# -- entries -----------------------------------------------------------------------------------


@pytest.fixture
def session(tmp_path: Path) -> eke.Session:
    return eke.create(tmp_path / "people.eke", TABLE, DOMAIN, epsilon=5)


def test_the_same_entries_give_the_same_guards_however_they_come(session: eke.Session) -> None:
    session.ask(eke.count(sex="F"), within=20)
    first = session.guard(eke.count(sex="F"), "> 10", threshold=0.9, note="Board")
    session.ask(eke.count(sex="M"), within=20)
    session.guard("SELECT COUNT(*) FROM t WHERE age < 2", "<= 500", threshold=0.5)
    session.lift(first)
    entries = session.ledger_entries()
    beginning = beginning_of(session.settings)
    at_once, one_by_one = Standing(beginning), Standing(beginning)
    at_once.take_in(entries)
    for entry in entries:
        one_by_one.take_in([entry])
    snapshot = session._vault.snapshot()
    assert at_once.guards == one_by_one.guards == snapshot.all_guards
    assert [one.until for one in at_once.guards] == [entries[-1].sequence, None]
    assert holding(at_once.guards) == snapshot.guards
    parts = at_once.parts()
    assert parts is not None
    again = Standing.from_parts(beginning, parts, lambda last: entries[:last])
    assert again.guards == at_once.guards


def test_a_checkpoint_keeps_the_guards(
    session: eke.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eke.engine.checkpoint.LEAST_ROWS", 1)
    session.ask(eke.marginal("age", "sex"), within=20)
    session.guard(eke.count(sex="F"), "> 10", threshold=0.9)
    session.ask(eke.marginal("age"), within=200)
    path = tmp_path / "people.eke"
    Checkpoint(path.with_name("kept")).keep(session._vault._standing)
    read = Checkpoint(path.with_name("kept")).standing(
        beginning_of(session.settings), session._vault.ledger.hash_of, session._vault._until
    )
    assert read.seen > 0
    assert read.guards == session._vault.snapshot().all_guards
    assert not eke.open(path, data=TABLE).preview(eke.count(sex="F"), within=1).affordable


@pytest.mark.parametrize(
    "changes",
    [
        {"threshold": 1.0},
        {"threshold": "0.9"},
        {"lower": 3.0, "upper": 3.0},
        {"lower": None, "upper": None},
        {"query": {}},
        {"note": 5},
        {"claim": ""},
    ],
)
def test_a_ledger_with_guards_of_unknown_forms_releases_nothing(
    session: eke.Session, changes: dict[str, object]
) -> None:
    session.guard(eke.count(sex="F"), "> 10", threshold=0.9)
    payload = {**session.ledger_entries()[-1].payload, **changes}
    with session._vault.ledger.exclusive() as book:
        book.note("guard", payload)
    with pytest.raises(LedgerError):
        session.ask(eke.count(sex="M"), within=20)


@pytest.mark.parametrize("number", [1, 99, "2", None])
def test_a_ledger_that_lifts_nothing_releases_nothing(session: eke.Session, number: object) -> None:
    session.guard(eke.count(sex="F"), "> 10", threshold=0.9)
    with session._vault.ledger.exclusive() as book:
        book.note("lift", {"entry": number, "by": "cleo"})
    with pytest.raises(LedgerError):
        session.ask(eke.count(sex="M"), within=20)


def test_so_many_are_guarded_and_no_more(
    session: eke.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarding, "MOST_GUARDS", 2)
    numbers = [session.guard(eke.count(), "> 5", threshold=0.5) for _ in range(2)]
    with pytest.raises(QueryError, match="at most 2 claims"):
        session.guard(eke.count(), "> 5", threshold=0.5)
    session.lift(numbers[0])
    assert session.guard(eke.count(), "> 5", threshold=0.5) > numbers[1]


def test_the_accountant_never_sees_them(session: eke.Session) -> None:
    session.guard(eke.count(sex="F"), "> 10", threshold=0.9)
    assert session.budget.spent_nano == 0
    assert session._vault.facts().accountant.spent == 0
