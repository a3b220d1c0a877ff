"""Noisy scores of rows: paid first, charged to everyone, checked at the junction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eke.data import CellSource, open_source
from eke.domain import Domain, Integer, Replace
from eke.engine import Beginning, RowScores, RowScoring, ScoreRows, Vault
from eke.errors import BudgetExceeded, DataError, PrivacyError, ReleaseFailed
from eke.history import Measurement
from eke.ledger import Ledger
from eke.mechanism import secret
from eke.planning import Facts, Plan, part_for
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteLaplace
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import count

DOMAIN = Domain(a=Integer(0, 3, null=Replace(0)))
ROWS = pd.DataFrame({"a": [3, 0, 2, 1, 1, 3, 0]})


@dataclass
class Doubled:
    """Publishes twice the code of each row, `times` over."""

    times: int = 1
    fails: bool = False
    received: list[int] = field(default_factory=list)

    def score(self, score_rows: ScoreRows, measured: Sequence[Measurement]) -> None:
        assert measured[0].values
        if self.fails:
            raise RuntimeError("no memory left")
        table = np.arange(4, dtype=np.int64)[:, np.newaxis]
        scores = RowScores((("a", table),), np.array([[2]], np.int64), 0)
        for _ in range(self.times):
            steps, law = score_rows(scores)
            self.received = [round(step * law.step) for step in steps]

    def text(self, facts: Facts, measured: Sequence[Measurement], cost: int) -> str:
        return f"{self.received} for {cost}"


@pytest.fixture
def make(folder: Path) -> Callable[..., Vault]:
    def vault(neighbours="replace_one", source: CellSource | None = None) -> Vault:
        path = folder / "a.eke"
        ledger = Ledger.open(path) if path.exists() else Ledger.create(path, {}, limit=NANO)
        opened = open_source(ROWS, DOMAIN) if source is None else source
        return Vault(ledger, opened, Beginning(DOMAIN, PURE, neighbours))

    return vault


def plan_of(row_loss: int = NANO // 4) -> Plan:
    return Plan((part_for(count(a=0).on(DOMAIN), 4.0, PURE),), row_loss)


def release(vault: Vault, rows: Doubled, plan: Plan | None = None, key: str = "one") -> str:
    return vault.release(
        plan or plan_of(),
        analyst="ann",
        key=key,
        digest="same",
        answer=rows.text,
        measuring=RowScoring(rows.score),
    )


def test_rows_leave_in_order_with_noise_and_are_paid_for(make, monkeypatch):
    monkeypatch.setattr(secret, "draw", lambda _law, number: np.zeros(number, np.int64))
    vault, rows = make(), Doubled()
    text = release(vault, rows)
    assert rows.received == [2 * code for code in ROWS["a"]]
    # The part costs a quarter, the rows another; the number of rows does not matter.
    assert vault.ledger.balance().spent == NANO // 2
    assert text == f"{rows.received} for {NANO // 2}"
    assert release(vault, Doubled()) == text  # the same key, the same rows
    assert vault.ledger.verify().intact


def test_the_loss_of_rows_is_added_to_every_cell(make):
    vault = make()
    release(vault, Doubled())
    other = part_for(count(a=3).on(DOMAIN), 4.0, PURE)  # another cell than a=0
    vault.release(
        Plan((other,)), analyst="ann", key="two", digest="same", answer=lambda *_: "stored"
    )
    # Moving from a=0 to a=3 loses both quarters, and the rows' quarter whatever happens.
    assert vault.ledger.balance().spent == 3 * NANO // 4
    reopened = make()
    facts = reopened.facts()
    assert facts.accountant.spent == 3 * NANO // 4
    assert facts.accountant.sequential == 3 * NANO // 4
    assert facts.accountant.after(count(a=0).on(DOMAIN), DiscreteLaplace(4, 0), NANO) == NANO


def test_the_charge_comes_before_the_noise_and_stays(make, monkeypatch):
    vault = make()
    with pytest.raises(ReleaseFailed, match="in the history"):
        release(vault, Doubled(fails=True))
    assert vault.ledger.balance().spent == NANO // 2
    rows = Doubled()
    for other in (vault, make()):  # it failed once and for all: nothing is drawn anew
        with pytest.raises(ReleaseFailed, match="in the history"):
            other.complete(
                analyst="ann",
                key="one",
                digest="same",
                answer=rows.text,
                measuring=RowScoring(rows.score),
            )
    assert rows.received == []
    assert vault.ledger.balance().spent == NANO // 2
    again = make()
    again.facts()
    assert len(again.measurements) == 1  # what was measured is history
    assert vault.ledger.verify().intact


def test_rows_are_scored_once_for_one_charge(make):
    rows = Doubled(times=2)
    with pytest.raises(ReleaseFailed):
        release(make(), rows)
    assert len(rows.received) == len(ROWS)  # of the first time


@pytest.mark.parametrize("row_loss", [1, 7, 10**3, NANO // 4, NANO])
@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
def test_the_junction_chooses_the_least_noise_that_was_paid_for(measure, row_loss):
    table = np.array([[0], [1], [3]], np.int64)
    scores = RowScores((("a", table),), np.array([[2, 5]], np.int64), -3)
    law = scores.law_within(row_loss, measure)
    assert scores.loss_nano(law) <= row_loss
    tighter = type(law)(law.steps - law.steps // 2**18 - 2, law.exponent)
    assert scores.loss_nano(tighter) >= row_loss  # positive control: hardly less is too little


def test_over_the_limit_nothing_is_spent(make):
    vault = make()
    with pytest.raises(BudgetExceeded):
        release(vault, Doubled(), plan_of(NANO))
    assert vault.ledger.balance().spent == 0


@pytest.mark.parametrize("neighbours", ["add_remove"])
def test_rows_need_a_public_number_of_rows(make, neighbours):
    vault = make(neighbours)
    assert not vault.publishes_rows
    with pytest.raises(PrivacyError, match="replace_one"):
        release(vault, Doubled())
    assert vault.ledger.balance().spent == 0


def test_a_domain_that_drops_rows_has_no_rows_in_order():
    source = open_source(ROWS, Domain(a=Integer(0, 3)))
    with pytest.raises(DataError, match="drops no row"):
        source.rows()


def test_files_and_frames_keep_their_order(folder):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 4, 5000)})
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    for place in (frame, folder / "t.csv", folder / "t.parquet"):
        rows = open_source(place, DOMAIN).rows()
        assert rows.codes[:, 0].tolist() == frame["a"].tolist()
        assert "not shown" in repr(rows)


def test_a_frame_that_changed_is_noticed():
    frame = ROWS.copy()
    source = open_source(frame, DOMAIN)
    frame.loc[0, "a"] = 1
    with pytest.raises(DataError, match="changed"):
        source.rows()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.array([[2.0]]), "integers"),
        (np.array([[1], [1]], np.int64), "one weight"),
        (np.array([[2**30]], np.int64), "2\\^24"),
    ],
)
def test_scores_are_checked_when_they_are_made(weights, message):
    table = np.arange(4, dtype=np.int64)[:, np.newaxis]
    with pytest.raises(PrivacyError, match=message):
        RowScores((("a", table),), weights, 0)
    with pytest.raises(PrivacyError, match="grid"):
        RowScores((("a", table),), np.array([[1]], np.int64), 500)
