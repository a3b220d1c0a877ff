"""Settings of a connection: what makes no sense is refused at once."""

from __future__ import annotations

import pytest

from eke.errors import ServiceError
from eke.wire.report import Trouble
from eke.wire.setting import ConnectionSettings, options_of
from eke.wire.words import statements
from tests.wire import Wire


def settings_after(*texts: str) -> ConnectionSettings:
    settings = ConnectionSettings("ann")
    for text in texts:
        (statement,) = statements(text)
        settings.set(statement)
    return settings


def test_how_accurate_answers_are() -> None:
    settings = settings_after(
        "SET eke.within = 100", "SET eke.confidence TO 0.9", "SET SESSION eke.groups_of = '500'"
    )
    assert (settings.within, settings.confidence, settings.groups_of) == (100.0, 0.9, 500)
    assert settings_after("SET eke.within TO '2 %'").within == "2 %"
    assert settings_after("SET eke.spend = off").only_free
    assert settings_after("set EKE.Intervals to on").intervals
    assert settings_after("SET eke.within = 5", "SET eke.within = DEFAULT").within is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SET eke.within = -1", "22023"),
        ("SET eke.within = 'much'", "22023"),
        ("SET eke.within = '200 %'", "22023"),
        ("SET eke.within = 1e999", "22023"),
        ("SET eke.confidence = 1", "22023"),
        ("SET eke.confidence = nan", "22023"),
        ("SET eke.groups_of = 1.5", "22023"),
        ("SET eke.policy = generous", "22023"),
        ("SET eke.spend = perhaps", "22023"),
        ("SET eke.last_cost = 0", "55P02"),
        ("SET server_version = 99", "55P02"),
        ("SET eke.withing = 1", "42704"),
        ("SET client_encoding = latin1", "22023"),
        ("SET eke.within", "42601"),
        ("SET", "42601"),
        (f"SET application_name = '{'a' * 2000}'", "22023"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(text: str, code: str) -> None:
    settings = ConnectionSettings("ann")
    before = dict(settings.values)
    (statement,) = statements(text)
    with pytest.raises(Trouble) as refusal:
        settings.set(statement)
    assert refusal.value.code == code
    assert settings.values == before


def test_what_a_transaction_set_goes_back_with_it() -> None:
    settings = settings_after("SET eke.within = 1")
    settings.begin()
    for text in ("SET eke.within = 2", "SET LOCAL eke.confidence = 0.5"):
        (statement,) = statements(text)
        settings.set(statement)
    assert (settings.within, settings.confidence) == (2.0, 0.5)
    settings.end(commits=True)
    assert (settings.within, settings.confidence) == (2.0, None)
    settings.begin()
    (statement,) = statements("SET eke.within = 3")
    settings.set(statement)
    settings.end(commits=False)
    assert settings.within == 2.0


def test_what_clients_send_by_themselves_is_taken() -> None:
    settings = settings_after(
        "SET extra_float_digits = 3",
        "SET application_name = 'PostgreSQL JDBC Driver'",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "SET TIME ZONE 'UTC'",
        "SET NAMES 'utf8'",
        "SET search_path TO public, pg_catalog",
        "SET DateStyle = 'ISO'",
    )
    assert settings.show("application_name") == "PostgreSQL JDBC Driver"
    assert settings.show("search_path") == "public, pg_catalog"


def test_options_of_a_client() -> None:
    assert options_of("-c eke.within=5 --eke.spend=off -ceke.confidence=0.9") == {
        "eke.within": "5",
        "eke.spend": "off",
        "eke.confidence": "0.9",
    }
    assert options_of(r"-c eke.within=2\ %") == {"eke.within": "2 %"}
    with pytest.raises(Trouble):
        options_of("-c eke.within")


def test_an_account_begins_with_what_its_curator_gave_it(wire: Wire) -> None:
    wire.access.change_settings("ann", {"eke.within": "30", "eke.intervals": "on"})
    try:
        with wire.connect(within=None) as client:
            assert client.execute("SHOW eke.within").fetchone() == ("30",)
            cursor = client.execute("SELECT COUNT(*) AS n FROM people")
            assert [column.name for column in cursor.description] == ["n", "n_low", "n_high"]
            client.execute("SET eke.within = 40")
            client.execute("RESET eke.within")
            assert client.execute("SHOW eke.within").fetchone() == ("30",)
        with wire.connect(within=50) as client:
            assert client.execute("SHOW eke.within").fetchone() == ("50",), "the client's own"
        with wire.connect("cleo", within=None) as client:
            assert client.execute("SHOW eke.within").fetchone() == ("",), "another account"
    finally:
        wire.access.change_settings("ann", {})


@pytest.mark.parametrize(
    "settings",
    [
        {"eke.within": "-1"},
        {"eke.spend": "perhaps"},
        {"eke.policy": "none"},
        {"eke.last_cost": "3"},
        {"work_mem": "1"},
    ],
)
def test_what_makes_no_sense_is_not_given(wire: Wire, settings: dict[str, str]) -> None:
    wire.access.change_settings("otto", {"eke.within": "7"})
    with pytest.raises(ServiceError):
        wire.access.change_settings("otto", {"eke.confidence": "0.9", **settings})
    assert wire.access.settings("otto") == {"eke.within": "7"}
