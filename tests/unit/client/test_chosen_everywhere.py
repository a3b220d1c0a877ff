"""A chosen quantile on every way to ask: the same number, paid for once, and refused alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import eke
from eke import dbapi
from eke.errors import AccuracyError
from tests.command_line import call, write_people
from tests.service import Server, listening, serving
from tests.wire import open_door

MEDIAN = "SELECT CHOSEN_MEDIAN(age) AS m FROM people WHERE sex = 'Male'"
ASK = "/api/v1/datasets/people/ask"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    folder = tmp_path_factory.mktemp("chosen")
    with serving(folder, epsilon=5.0) as one, listening(one.app) as url:
        yield one, url


def test_over_http(server: tuple[Server, str]) -> None:
    place, _ = server
    priced = place.call(
        "POST",
        "/api/v1/datasets/people/preview",
        "ann",
        {"sql": "SELECT CHOSEN_QUANTILE(age, 0.8) FROM people", "spend": 0.2},
    ).json()
    assert priced["of_rank"]
    assert "records off" in priced["sentence"]
    body = {"sql": MEDIAN, "spend": 0.2}
    first = place.call("POST", ASK, "ann", body).json()
    assert first["kind"] == "number"
    assert 17 <= first["value"] <= 26
    assert first["rank_error"] == first["receipt"]["rank_error"] > 0
    assert "was chosen" in first["caveats"][0]
    again = place.call("POST", ASK, "ann", body).json()
    assert (again["value"], again["source"], again["cost"]) == (first["value"], "history", 0)
    refused = place.call("POST", ASK, "ann", {"sql": MEDIAN, "within": 2})
    assert refused.status == 400
    assert "records only" in str(refused.json())


def test_from_a_remote_session_as_from_a_local_one(server: tuple[Server, str]) -> None:
    place, url = server
    question = eke.quantile("age", 0.25).chosen()
    with eke.connect(url, place.tokens["ann"]) as remote:
        asked = "SELECT CHOSEN_QUANTILE(age, 0.25) FROM people"
        assert remote.preview(asked, spend=0.3).of_rank
        there = remote.ask(asked, spend=0.3)
        here = place.session.ask(question, spend=0.3)
        assert here.free
        assert (there.value, there.rank_error) == (here.value, here.rank_error)
        assert there.interval == here.interval
        assert remote.ask(question, spend=0.3).value == here.value
        with pytest.raises(AccuracyError, match="records only"):
            remote.ask(asked, within=3)
        assert remote.explain(asked)["columns"][0]["formula"].startswith("chosen 0.25 quantile")
        with dbapi.connect(remote, within="5 %") as connection:
            ((value, *_),) = connection.cursor().execute(f"{asked} ERROR WITHIN 20 %").fetchall()
            assert value in range(17, 27)


def test_from_a_client_of_postgresql(tmp_path: Path) -> None:
    with open_door(tmp_path) as wire, wire.connect(within=None) as connection:
        notices: list[str] = []
        connection.add_notice_handler(lambda said: notices.append(str(said.message_primary)))
        (value,) = connection.execute(f"{MEDIAN} SPEND 0.5").fetchone()
        assert 17 <= float(value) <= 26
        assert any("was chosen" in said for said in notices)
        (again,) = connection.execute(f"{MEDIAN} LIMIT 500 SPEND 0.5").fetchone()
        assert again == value
        assert wire.session.budget.spent <= 0.5
        connection.execute("SET eke.within = '10 %'")
        assert connection.execute(MEDIAN).fetchone() == (value,)
        with pytest.raises(psycopg.Error, match="records only"):
            connection.execute(f"{MEDIAN} ERROR WITHIN 3")


def test_on_the_command_line(tmp_path: Path) -> None:
    table, domain = write_people(tmp_path)
    place = tmp_path / "people.eke"
    assert call("init", table, domain, "--epsilon", "2", "-o", place).code == 0
    sql = "SELECT CHOSEN_MEDIAN(age) FROM people"
    priced = call("preview", place, sql, "--spend", "0.5")
    assert "records off" in priced.words
    first = call("ask", place, sql, "--spend", "0.5", "--json").json
    assert first["rank_error"] > 0
    shown = call("ask", place, sql, "--spend", "0.5")
    assert "Free: what was chosen before" in shown.words
    assert f"at most {first['rank_error']} records off" in shown.words
    share = call("ask", place, sql, "--within", "20 %", "--json")
    assert share.code == 0
    again = call("ask", place, sql, "--within", "20 %", "--json").json
    assert (again["value"], again["cost"]) == (first["value"], 0)
    assert call("verify", place).code == 0
    assert "chosen median of age" in call("history", place).words
    entry = call("history", place, "--json").json[0]
    assert entry["chosen"] == first["value"]
    assert f"{first['value']:g}" in call("explain", place, entry["sequence"]).words
    listed = call("export", place, "history", "-f", "csv").out.splitlines()
    assert listed[0].endswith(",chosen")
    assert {line.count(",") for line in listed} == {listed[0].count(",")}
    assert '"choices"' in call("export", place, "ledger").out
    refused = call("ask", place, sql, "--within", "2")
    assert refused.code != 0
    assert "records only" in " ".join(refused.err.split())
    assert call("release", place, "SELECT CHOSEN_MEDIAN(age) FROM people").code != 0
