"""What an answer may be off by besides the noise is in its interval, or said, at every door."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import eke
import eke.dbapi
from eke.inference import WidenedPosterior
from eke.publish import Published
from tests.command_line import call

DOMAIN = eke.Domain(
    hours=eke.Binned([0, 20, 60], null="never", outside="never"),
    sex=eke.Categorical("F", "M", null="never", outside=eke.Replace("F")),
)
ALLOWED = (
    "hours is known only to within ±20, because of its bins or its step; the intervals allow for "
    "that. Declared with a finer step, it would be exact."
)
TOTAL = ALLOWED.replace(
    "the intervals allow for that",
    "a sum may be off by that much for each record, beyond its interval",
)
OTHERS = "Undeclared values of sex count as 'F'."


@pytest.fixture
def path(folder: Path) -> Path:
    table = pd.DataFrame({"hours": [30] * 600 + [5] * 400, "sex": ["F", "M"] * 500})
    table.to_csv(folder / "people.csv", index=False)
    eke.create(folder / "people.eke", folder / "people.csv", DOMAIN, epsilon=1e6)
    return folder / "people.eke"


AVERAGE = "SELECT AVG(hours) FROM people"


def test_an_average_is_widened_by_its_bins_and_holds_the_truth(path: Path):
    session = eke.open(path)
    for asked in (AVERAGE, eke.mean("hours")):
        answer = session.ask(asked, within=0.05)
        low, high = answer.interval
        assert low < 20 < high  # 600 · 30 + 400 · 5, by 1,000; midpoints give 28
        assert answer.value == pytest.approx(28, abs=0.5)
        assert answer.within == pytest.approx(20, abs=0.5)
        assert answer.caveats == (ALLOWED,)
        assert answer.explain().endswith(ALLOWED)
        assert "known only to within ±20" in answer._repr_html_()
        assert answer.to_dict()["caveats"] == [ALLOWED]
        belief = answer.posterior
        assert isinstance(belief, WidenedPosterior)
        assert belief.interval(answer.confidence) == pytest.approx(answer.interval)
        assert answer.probability(above=20) < 0.01  # it may be as low as 8
        assert answer.probability(above=7, below=49) > 0.99
        assert answer.probability(above=27, below=29) == 0.0
    assert session.ask(AVERAGE, within=0.05).free


def test_groups_are_widened_and_keys_are_not_touched(path: Path):
    answer = eke.open(path).ask("SELECT sex, AVG(hours) FROM people GROUP BY sex", within=0.5)
    assert [key for (key,) in answer.keys] == ["F", "M"]
    assert all(high - low > 40 for low, high in answer.intervals)
    assert answer.caveats == (ALLOWED, OTHERS)


def test_a_sum_says_that_its_interval_does_not_hold_it(path: Path):
    session = eke.open(path)
    answer = session.ask(eke.total("hours"), within=100)
    assert answer.caveats == (TOTAL,)
    estimate = session.estimate(eke.total("hours"), "blue")
    assert estimate.caveats == (TOTAL,)
    assert estimate.explain().endswith(TOTAL)
    table = session.estimate(eke.total("hours").by("sex"), "max_entropy")
    assert table.caveats == (TOTAL, OTHERS)


def test_a_unit_is_said_in_every_answer(folder: Path):
    table = pd.DataFrame({"id": [1, 1, 2], "sex": ["F", "F", "M"]})
    domain = eke.Domain(sex=eke.Categorical("F", "M", null="never", outside="never"))
    unit = eke.Unit("id", rows=1)
    session = eke.create(folder / "u.eke", table, domain, epsilon=9, unit=unit)
    answer = session.ask(eke.count(), within=5)
    assert answer.caveats == ("Of each id at most one record is counted.",)


def test_every_front_end_says_it(path: Path):
    shown = call("ask", path, AVERAGE, "-w", "0.5")
    assert f"Note: {ALLOWED}" in shown.words
    assert call("ask", path, AVERAGE, "-w", "0.5", "--json").json["caveats"] == [ALLOWED]
    as_csv = call("ask", path, AVERAGE, "-w", "0.5", "--csv")
    assert as_csv.out.count("\n") == 2
    assert f"Note: {ALLOWED}" in " ".join(as_csv.err.split())
    explained = call("explain", path, AVERAGE, "--json").json
    assert explained["caveats"] == [ALLOWED]
    assert f"Note: {ALLOWED}" in call("explain", path, AVERAGE).words
    with eke.dbapi.connect(path, within=0.5) as connection:
        cursor = connection.cursor()
        cursor.execute(AVERAGE)
        assert cursor.messages == [(eke.dbapi.Warning, ALLOWED)]
        cursor.execute("SELECT COUNT(*) FROM people")
        assert cursor.messages == []


ROWS = ALLOWED.replace("the intervals allow for that", "the rows hold the numbers in the middle")


def test_a_release_says_what_its_columns_leave_open(path: Path):
    session = eke.open(path)
    by_hours = session.release(session.plan([["hours"]], budget=0.5))
    assert by_hours.caveats == ()  # counts by bins are exact
    plan = session.plan(eke.Workload.of(DOMAIN, [["sex"], eke.total("hours")]), budget=0.5)
    released = session.release(plan, key="both")
    beyond = TOTAL.replace("its interval", "its standard error")
    assert released.caveats == (beyond, OTHERS)
    assert session.archive.release(released.sequence).caveats == released.caveats
    assert "Undeclared values of sex" in released._repr_html_()


def test_published_rows_say_what_they_leave_open(path: Path):
    session = eke.open(path)
    rows = session.publish("max_entropy", epsilon=1.0, key="rows", rows=50)
    assert rows.caveats == (ROWS, OTHERS)
    assert "Undeclared values of sex" in rows._repr_html_()
    (record,) = session.archive.publications()
    assert session.archive.publication(record.sequence).caveats == rows.caveats
    only = session.publish("max_entropy", from_history=True, rows=5, attributes=["sex"])
    assert only.caveats == (OTHERS,)
    again = Published.from_text(DOMAIN, rows.to_text())
    assert again.caveats == rows.caveats == again.qualified().caveats
    older = replace(rows, caveats=()).to_text()  # as the ledger keeps them
    assert "caveats" not in json.loads(older)
    assert Published.from_text(DOMAIN, older).qualified().caveats == rows.caveats


def test_a_unit_is_said_of_releases_and_rows(folder: Path):
    table = pd.DataFrame({"id": [1, 1, 2] * 50, "sex": ["F", "F", "M"] * 50})
    domain = eke.Domain(sex=eke.Categorical("F", "M", null="never", outside="never"))
    session = eke.create(folder / "u.eke", table, domain, epsilon=9, unit=eke.Unit("id", rows=2))
    said = ("Of each id at most 2 records are counted.",)
    assert session.release(session.plan([["sex"]], budget=1)).caveats == said
    assert session.publish("max_entropy", from_history=True, rows=5).caveats == said


def test_commands_and_the_report_say_it_of_releases_and_rows(path: Path, folder: Path):
    wanted = ("release", path, "--over", "sex", "--budget", "0.5", "--yes")
    assert f"Note: {OTHERS}" in call(*wanted).words
    assert call(*wanted, "--json").json["caveats"] == [OTHERS]
    quiet = call("release", path, "--over", "hours", "--budget", "0.5", "--yes")
    assert "Note:" not in quiet.words
    rows = ("publish", path, "max_entropy", "--from-history", "--rows", "9", "-o", folder / "r.csv")
    shown = call(*rows)
    assert f"Note: {ROWS}" in shown.words
    assert f"Note: {OTHERS}" in shown.words
    assert call(*rows, "--json").json["caveats"] == [ROWS, OTHERS]
    report = call("export", path, "report", "--format", "html").out
    assert html.escape(OTHERS) in report
    session = eke.open(path)
    made = session.publish("max_entropy", from_history=True, rows=5)
    released = session.release(session.plan([["sex"]], budget=0.5))
    eke.write_report(session, folder / "report.html", [released, made])
    assert (folder / "report.html").read_text("utf-8").count(html.escape(OTHERS)) == 3
