"""After a charge nothing fails: publications with budgets from next to nothing to plenty.

What can be wrong with a publication is said before it is paid. An error afterwards could depend on
the noise: it would be an output that nobody paid for. `make audit` tries 10,000.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import EkeError, PrivacyError
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.publish import synthesis
from eke.publish.components import weight_bits
from eke.publish.features import features_of
from eke.publish.publisher import Setting
from eke.publish.selection import measuring_law, selection_epsilon
from eke.publish.synthesis import LEAST_STEP
from eke.publish.synthetic import MaxEntropy, _choosing, _drawn
from eke.query import Kronecker, Neighbours
from tests.parts import in_long

PUBLICATIONS_A_DATASET = 6
DOMAIN = eke.Domain(
    a=eke.Integer(0, 6, null=eke.Replace(0)),
    b=eke.Categorical("x", "y", "z", null="bucket", outside="bucket"),
    c=eke.Categorical("u", "v", null="bucket", outside="bucket"),
    d=eke.Boolean(null=eke.Replace(False), outside=eke.Replace(False)),
)
TWO_WAYS: dict[str, Any] = {"max_entropy": {}, "lda": {"target": "c"}}
MECHANISMS = ("max_entropy", "lda", "pca")


assert DOMAIN.total, "else no number of rows is public, and nothing publishes rows in order"


def table(rows: int, rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "a": rng.integers(0, 7, rows),
            "b": rng.choice(["x", "y", "z"], rows),
            "c": rng.choice(["u", "v"], rows),
            "d": rng.random(rows) < 0.3,
        }
    )


def options_of(mechanism: str, rng: np.random.Generator) -> dict[str, Any]:
    if mechanism == "lda":
        chosen: dict[str, Any] = {"target": str(rng.choice(["b", "c", "d"]))}
        chosen["distance"] = str(rng.choice(["squared", "absolute"]))
    elif mechanism == "pca":
        chosen = {"components": int(rng.integers(1, 6)) if rng.random() < 0.5 else "auto"}
        chosen["recovery"] = str(rng.choice(["plain", "shrunk"]))
    else:
        chosen = {}
    if mechanism != "pca" and rng.random() < 0.3:
        chosen["rows"] = int(rng.integers(1, 50))
    return chosen


def random_dataset(folder: Path, rng: np.random.Generator) -> eke.Session:
    measure = str(rng.choice(["epsilon", "rho"]))
    settings: dict[str, Any] = {measure: 10**6, "neighbours": "replace_one"}
    if rng.random() < 0.4:
        settings["neighbours"] = "add_remove"
    rows = int(rng.choice([0, 1, 30, 2000], p=[0.05, 0.05, 0.1, 0.8]))
    path = folder / f"{rng.integers(2**62)}.eke"
    return eke.create(path, table(rows, rng), DOMAIN, analyst="ann", **settings)


def problems_of(folder: Path, publications: int, seed: int) -> tuple[list[str], int]:
    """(what failed after a charge, how many were charged) among so many publications."""
    rng, problems, charged = np.random.default_rng(seed), [], 0
    session = random_dataset(folder, rng)
    for number in range(publications):
        if number % PUBLICATIONS_A_DATASET == 0:
            session = random_dataset(folder, rng)
        mechanism = str(rng.choice(MECHANISMS))
        # Rows in order need a table that the noise does not bury, else they are refused at once.
        budget = 10 ** float(rng.uniform(-2 if mechanism == "pca" else -9, 2))
        chosen = options_of(mechanism, rng)
        before = session.budget.spent_nano
        try:
            amount: dict[str, Any] = {session.budget.measure: budget}
            session.publish(mechanism, key=f"k{number}", most_rows=2000, **amount, **chosen)
        except EkeError as problem:
            if session.budget.spent_nano != before:
                problems.append(f"{mechanism} {budget:.3g} {chosen}: {problem}")
        except Exception as problem:  # noqa: BLE001 -- whatever it is, it must not happen
            problems.append(f"{mechanism} {budget:.3g} {chosen}: {problem!r}")
        charged += session.budget.spent_nano != before
    return problems, charged


@pytest.mark.parametrize("publications", [12, in_long(45)])
def test_nothing_fails_after_the_charge(folder, publications):
    """N = 12 random publications in both measures, in the long part 45, budgets 1e-9 to 100."""
    problems, charged = problems_of(folder, publications, seed=int.from_bytes(b"eke"))
    assert problems == []
    assert charged > publications / 3


def out_of_memory(total: float, _: int) -> tuple[int, list[str]]:
    """How many rows to make, as before noisy totals were cut off, with memory for a thousand."""
    if total > 1000.0:
        raise MemoryError(f"{total} rows")
    return round(max(total, 0.0)), []


@pytest.mark.parametrize("publications", [12, in_long(30)])
def test_a_failure_after_the_charge_is_caught(folder, monkeypatch, publications):
    """Positive control: noisy totals beyond memory."""
    monkeypatch.setattr(synthesis, "within_most_rows", out_of_memory)
    monkeypatch.setattr("eke.publish.lda.within_most_rows", out_of_memory)
    assert problems_of(folder, publications, seed=2)[0] != []


@pytest.mark.parametrize("keys", [2, in_long(4)])
@pytest.mark.parametrize("measure", ["epsilon", "rho"])
def test_a_noisy_number_of_rows_is_cut_off(folder, measure, keys):
    """With so little budget the table is estimated to have thousands of rows, or none."""
    rng = np.random.default_rng(1)
    limit: dict[str, Any] = {measure: 1.0}
    session = eke.create(folder / "t.eke", table(100, rng), DOMAIN, **limit)
    budget = 1e-3 if measure == "epsilon" else 1e-6
    amount: dict[str, Any] = {measure: budget}
    for number in range(keys):
        for mechanism, chosen in TWO_WAYS.items():
            published = session.publish(
                mechanism,
                key=f"{mechanism}{number}",
                most_rows=300,
                **amount,
                **chosen,
            )
            assert len(published) <= 300
            if len(published) == 300:
                assert any("at most 300" in note for note in published.notes)
    with pytest.raises(eke.errors.QueryError, match="from 1 to 300"):
        session.publish("max_entropy", rows=301, most_rows=300, **amount)


def test_a_public_number_of_rows_beyond_the_cap_is_refused_before_it_is_paid(folder):
    rng = np.random.default_rng(1)
    session = eke.create(
        folder / "t.eke", table(100, rng), DOMAIN, epsilon=1.0, neighbours="replace_one"
    )
    every: dict[str, Any] = {**TWO_WAYS, "pca": {}}
    for mechanism, chosen in every.items():
        with pytest.raises(eke.errors.QueryError, match="at most 99"):
            session.publish(mechanism, epsilon=0.1, most_rows=99, **chosen)
    assert session.budget.spent == 0
    made = session.publish("lda", epsilon=0.9, most_rows=99, target="c", rows=40)
    assert len(made) == 40


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
def test_weights_are_as_fine_as_the_noise_can_be_drawn(measure):
    features = features_of(DOMAIN, DOMAIN.names)
    bits = [
        weight_bits(features, None, row_loss=loss, measure=measure)
        for loss in (10**2, 10**4, 10**6, 10**9, 10**11)
    ]
    assert bits == sorted(bits)
    assert bits[-1] == 20
    assert bits[0] < 20


def overdrawn(rng: np.random.Generator, number: int, *, careless: bool = False) -> int:
    """How many of so many publications came to a step that they could not pay for.

    Each spends what its plan charges turn by turn, as a desk prices it, in steps of any size that a
    recipe may take.
    """
    found = planned = 0
    for _ in range(number):
        measure: Measure = PURE if rng.random() < 0.5 else CONCENTRATED
        relation: Neighbours = "replace_one" if rng.random() < 0.6 else "add_remove"
        rows = 1 if relation == "replace_one" else int(rng.integers(1, 4))
        budget = round(10 ** float(rng.uniform(-7, 2)) * NANO)
        setting = Setting(DOMAIN, measure, relation, budget, None, False, rows)
        try:
            publisher = MaxEntropy(setting, {})
        except PrivacyError:
            continue
        planned += 1
        assert publisher.plan is not None
        found += not can_pay(publisher, setting, rng, careless=careless)
    assert planned > number / 2
    return found


def can_pay(
    publisher: MaxEntropy, setting: Setting, rng: np.random.Generator, *, careless: bool
) -> bool:
    assert publisher.plan is not None
    left, share = publisher.plan.later_loss, publisher._recipe.selection_share
    pair = Kronecker(DOMAIN, ("c", "d"), (np.array([[1, 0, 1], [0, 1, 0]]), np.array([[1, 1]])))
    accountant = Accountant(DOMAIN, setting.measure, setting.neighbours, setting.rows_per_unit)
    begun = publisher._loss_of(left)
    least = LEAST_STEP * begun / publisher._recipe.most_steps(len(DOMAIN))
    while True:
        usable = left / NANO / publisher._factor if careless else publisher._loss_of(left)
        if usable < least:
            return True
        picks = int(rng.integers(1, 5))
        loss = float(rng.uniform(least, begun / 2)) if rng.random() < 0.1 else least * picks
        loss = max(least, min(loss / picks, usable / picks))
        picks = min(picks, int(usable / loss + 1e-12))
        if picks == 0:
            return True
        measuring = _drawn(measuring_law((1.0 - share) * loss, setting.measure))
        choosing = _choosing(selection_epsilon(share * loss, setting.measure), 1)
        price = accountant.price(pair, measuring) + accountant.price_of_choice(1, choosing)
        left -= picks * price
        if left < 0:
            return False


@pytest.mark.parametrize("number", [250, in_long(1000)])
def test_steps_never_cost_more_than_was_charged_for_them(number):
    """N = 250 or 1,000. The control forgot that prices are rounded up to nano-units."""
    assert overdrawn(np.random.default_rng(4), number) == 0
    assert overdrawn(np.random.default_rng(4), number, careless=True) > number / 100
