"""Creating and opening protected datasets."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import eke
from eke.errors import DataError, DomainError, EkeError, LedgerError, LedgerTampered, PrivacyError
from eke.ledger import Ledger
from tests.unit.session.conftest import DOMAIN, make_people


def test_reopened_it_is_the_same_dataset(session, folder, people):
    session.ask(eke.count(sex="Female"), within=60)
    session.ask(eke.marginal("city", "age"), within=90)
    again = eke.open(folder / "people-1.eke", data=people, analyst="bob")
    assert again.domain == session.domain
    assert again.domain.names == ("sex", "age", "city"), "the order of attributes is kept"
    assert again.budget == session.budget
    assert again.analyst == "bob"
    assert list(again.history) == list(session.history)
    assert again.ask(eke.count(sex="Female"), within=60).free
    for asked, within in ((eke.count(age=20), 40), (eke.total("age"), 2000)):
        mine, theirs = (s.preview(asked, within) for s in (session, again))
        assert mine.cost == theirs.cost
    again.ask(eke.count(age=20), within=40)
    assert session.budget == again.budget, "two sessions, one ledger"
    assert session.ask(eke.count(age=20), within=40).free
    assert again.verify().problems == ()


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 0.5},
        {"rho": 0.5},
        {"epsilon": 2.0, "neighbours": "replace_one"},
        {"epsilon": 2.0, "unit": eke.Unit("person", rows=2)},
        {"epsilon": 2.0, "policy": "direct"},
    ],
)
def test_settings_survive(new, folder, people, settings):
    session = new(**settings)
    cost = session.preview(eke.count(sex="Female"), within=60).cost
    again = eke.open(folder / "people-1.eke", data=people)
    assert again.settings == session.settings
    assert again.budget == session.budget
    assert again.preview(eke.count(sex="Female"), within=60).cost == cost
    session.ask(eke.count(sex="Female"), within=60)
    after = eke.open(folder / "people-1.eke", data=people)
    assert after.budget == session.budget
    assert after.preview(eke.count(sex="Male"), 60).cost == (
        session.preview(eke.count(sex="Male"), 60).cost
    )


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "csv", "parquet"])
def test_every_kind_of_table(folder, people, kind):
    people = people[["sex", "age", "city"]]
    data: object = people
    if kind == "polars":
        data = pl.from_pandas(people)
    elif kind == "arrow":
        data = pa.Table.from_pandas(people)
    elif kind == "csv":
        data = folder / "people.csv"
        people.to_csv(folder / "people.csv", index=False)
    elif kind == "parquet":
        data = folder / "people.parquet"
        people.to_parquet(folder / "people.parquet")
    session = eke.create(folder / "a.eke", data, DOMAIN, epsilon=1000.0)
    answer = session.ask(eke.marginal("sex"), within=1, confidence=1 - 1e-9)
    truth = people["sex"].value_counts()
    np.testing.assert_allclose(answer.values, [truth["Female"], truth["Male"]], atol=1)
    again = eke.open(folder / "a.eke", data=None if kind in ("csv", "parquet") else data)
    assert again.ask(eke.marginal("sex"), within=1, confidence=1 - 1e-9).free


def test_the_key_of_the_kept_rows_stays_in_the_private_part(new, folder):
    session = new(unit=eke.Unit("person", rows=1), epsilon=1000.0)
    answer = session.ask(eke.count(sex="Female"), within=1)
    private: dict[str, Any] = Ledger.open(folder / "people-1.eke").private
    key = private["data"]["row_key"]
    assert len(key.rpartition("/")[2]) == 64
    told = [session, session.settings, session.ledger_entries(), list(session.history), answer]
    assert key not in repr(told)
    eke.write_report(session, folder / "report.html")
    assert key not in (folder / "report.html").read_text("utf-8")


def test_a_table_in_memory_must_be_given_again(session, folder, people):
    with pytest.raises(DataError, match="data="):
        eke.open(folder / "people-1.eke")
    with pytest.raises(DataError, match="changed"):
        eke.open(folder / "people-1.eke", data=people.iloc[1:])
    shuffled = people.sample(frac=1, random_state=1)
    assert eke.open(folder / "people-1.eke", data=shuffled).budget.spent == 0


def test_a_changed_file_is_noticed_before_anything_is_paid(folder, people):
    people.to_csv(folder / "people.csv", index=False)
    session = eke.create(folder / "a.eke", folder / "people.csv", DOMAIN, epsilon=1.0)
    session.ask(eke.count(), within=60)
    people.iloc[1:].to_csv(folder / "people.csv", index=False)
    with pytest.raises(DataError, match="changed"):
        eke.open(folder / "a.eke")
    assert session.budget.spent == pytest.approx(math.log(20) / 60, rel=1e-4)


def test_a_file_that_vanished_costs_nothing(folder, people):
    people.to_csv(folder / "people.csv", index=False)
    eke.create(folder / "a.eke", folder / "people.csv", DOMAIN, epsilon=1.0)
    session = eke.open(folder / "a.eke")  # a file is read at the first count
    (folder / "people.csv").unlink()
    before = session.ledger_entries()
    with pytest.raises(DataError):
        session.ask(eke.count(), within=60)
    assert session.ledger_entries() == before


def test_the_domain_may_be_a_file(folder, people):
    eke.write_domain(DOMAIN, folder / "domain.yaml")
    session = eke.create(folder / "a.eke", people, folder / "domain.yaml", epsilon=1.0)
    assert session.domain == DOMAIN


def test_a_mark_protects_against_old_copies(session, folder, people):
    path = folder / "people-1.eke"
    old = path.read_bytes()
    session.ask(eke.count(), within=60)
    mark = session.mark()
    assert eke.open(path, data=people, mark=mark).verify(mark).problems == ()
    path.write_bytes(old)
    with pytest.raises(LedgerTampered):
        eke.open(path, data=people, mark=mark)
    with pytest.raises(LedgerTampered):
        session.ask(eke.count(age=17), within=60)


def test_an_edited_ledger_is_not_opened(session, folder, people):
    session.ask(eke.count(), within=60)
    path = folder / "people-1.eke"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE account SET spent = 0")
    with pytest.raises(LedgerTampered):
        eke.open(path, data=people)
    with pytest.raises(EkeError):
        session.ask(eke.count(age=17), within=60)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"epsilon": None}, PrivacyError),
        ({"epsilon": 1.0, "rho": 1.0}, PrivacyError),
        ({"epsilon": 0}, PrivacyError),
        ({"epsilon": -1}, PrivacyError),
        ({"epsilon": math.nan}, PrivacyError),
        ({"epsilon": math.inf}, PrivacyError),
        ({"epsilon": "1"}, PrivacyError),
        ({"epsilon": True}, PrivacyError),
        ({"neighbours": "swap"}, EkeError),
        ({"neighbours": None}, EkeError),
        ({"unit": "person"}, PrivacyError),
        ({"unit": eke.Unit("nobody")}, DataError),
        ({"unit": eke.Unit("person", rows=2), "neighbours": "replace_one"}, PrivacyError),
        ({"policy": "best"}, EkeError),
        ({"domain": eke.Domain(height=eke.Integer(0, 3))}, DataError),
        ({"domain": "nowhere.yaml"}, DomainError),
        ({"data": 5}, DataError),
        ({"data": "nowhere.csv"}, DataError),
        ({"table": "x"}, DataError),
    ],
)
def test_wrong_arguments_leave_no_file_behind(new, folder, settings, error):
    with pytest.raises(error):
        new(**settings)
    assert list(folder.glob("*.eke")) == []


def test_an_existing_dataset_is_not_overwritten(new, folder, people):
    session = new()
    session.ask(eke.count(), within=60)
    with pytest.raises(LedgerError):
        eke.create(folder / "people-1.eke", people, DOMAIN, epsilon=1.0)
    assert eke.open(folder / "people-1.eke", data=people).budget == session.budget


@pytest.mark.parametrize("content", [b"", b"not a ledger at all", None])
def test_what_is_no_dataset_is_not_opened(folder, content):
    path = folder / "x.eke"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LedgerError):
        eke.open(path)


def test_an_empty_table_is_a_table(folder):
    nobody: pd.DataFrame = make_people(0)
    session = eke.create(folder / "a.eke", nobody, DOMAIN, epsilon=1000.0)
    assert abs(session.ask(eke.count(), within=1, confidence=1 - 1e-9).value) <= 1
