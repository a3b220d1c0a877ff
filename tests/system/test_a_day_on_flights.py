"""A day with a table of flights, from the draft to the last question, as its commands are typed.

What is answered is compared with DuckDB on the raw rows; what is refused, with what the
documentation says about it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from tests.command_line import Shown, call
from tests.flights import DESTINATIONS, flights
from tests.parts import in_long

ROOT = Path(__file__).resolve().parents[2]
ROWS = 8_000
EPSILON = 100
CONFIDENCE = 1 - 1e-9
CLOSE = 1e-6

ANSWERED: dict[str, float] = {
    "SELECT COUNT(*) FROM flights": 40,
    "SELECT carrier, COUNT(*) AS n FROM flights GROUP BY carrier ORDER BY n DESC": 40,
    "SELECT month, COUNT(*) AS n FROM flights GROUP BY month": 40,
    "SELECT hour, COUNT(*) AS n FROM flights WHERE hour BETWEEN 6 AND 9 GROUP BY hour": 40,
    "SELECT AVG(dep_delay) FROM flights": 5,
    "SELECT carrier, AVG(arr_delay) AS late FROM flights WHERE carrier IN ('UA', 'B6', 'EV') "
    "GROUP BY carrier": 20,
    "SELECT origin, AVG(air_time) AS t, COUNT(*) AS n FROM flights GROUP BY origin": 100,
    "SELECT SUM(CASE WHEN dep_delay > 15 THEN 1 ELSE 0 END) / COUNT(*) AS share FROM flights": 0.1,
    "SELECT 100.0 * COUNT(*) FILTER (WHERE arr_delay > 30) / COUNT(*) AS x FROM flights": 5,
    "SELECT COUNT(*) FROM flights WHERE dep_time IS NULL": 40,
    "SELECT COUNT(dep_delay) AS flown, COUNT(*) AS planned FROM flights": 60,
    "SELECT dest, COUNT(*) AS n FROM flights GROUP BY dest ORDER BY n DESC LIMIT 10": 40,
    "SELECT COUNT(*) FROM flights WHERE origin = 'JFK' AND month IN (6, 7, 8) AND dep_delay > 60 "
    "AND carrier <> 'UA'": 40,
    "SELECT origin, month, COUNT(*) AS n FROM flights WHERE carrier = 'DL' "
    "GROUP BY origin, month": 40,
    "SELECT carrier, SUM(distance) AS miles FROM flights GROUP BY carrier": 100_000,
    "SELECT origin, carrier, COUNT(*) AS n FROM flights GROUP BY origin, carrier "
    "HAVING COUNT(*) > 500": 40,
    "SELECT CASE WHEN dep_delay IS NULL THEN 'none' WHEN dep_delay < 60 THEN 'some' "
    "ELSE 'long' END AS band, COUNT(*) AS n FROM flights GROUP BY band": 40,
    "SELECT FLOOR(distance / 1000) AS band, COUNT(*) AS n FROM flights GROUP BY band": 40,
    "SELECT COUNT(*) / 365 AS a_day FROM flights": 1,
    "SELECT dest, carrier, month, COUNT(*) AS n FROM flights GROUP BY dest, carrier, month": 40,
    "SELECT dest, COUNT(*) AS n FROM flights WHERE month = 12 AND carrier = 'UA' "
    "GROUP BY dest": 400,
    "SELECT a.name, COUNT(*) AS n FROM flights f JOIN airlines a ON f.carrier = a.carrier "
    "GROUP BY 1": 40,
}
"""Questions, each with a half-width."""

NOT_ASKED = (
    *("year", "sched_dep_time", "arr_time", "sched_arr_time", "flight", "minute", "time_hour"),
)
KNOWN = "docs/concepts/known-limits.md"
SQL = "docs/reference/sql.md"
REFUSED: dict[str, tuple[str, str, str]] = {
    "SELECT MAX(dep_delay) FROM flights": (
        "MAX is that of a single record, which could change it at will; ask for a quantile",
        KNOWN,
        "Extremes and numbers of distinct values cannot be asked",
    ),
    "SELECT COUNT(DISTINCT dest) FROM flights": (
        "how many values occur is not a sum over records, and one record may decide it",
        SQL,
        "how many values occur is not a sum over records, and one record may decide it",
    ),
    "SELECT COUNT(*) FROM flights f JOIN flights g ON f.carrier = g.carrier": (
        "records are joined with declared lookups only, never with other records",
        KNOWN,
        "no joins of records with records",
    ),
    "SELECT EXTRACT(hour FROM month) AS m, COUNT(*) FROM flights GROUP BY m": (
        "'month' holds no dates",
        SQL,
        "'age' holds no dates; compare it with its own values",
    ),
    "SELECT tailnum, COUNT(*) FROM flights GROUP BY tailnum": (
        "there is no column 'tailnum'",
        SQL,
        "there is no column",
    ),
    "SELECT dest, carrier, month, AVG(arr_delay) FROM flights GROUP BY dest, carrier, month": (
        "the result has 19,200 groups and at most 4,096 can be asked at once",
        KNOWN,
        "sums, averages and counts under a condition have at most 4,096 cells",
    ),
}
"""Questions, each with what is said, and the page that says so."""


@dataclass(frozen=True)
class Place:
    """The files of the day."""

    folder: Path
    table: pd.DataFrame

    @property
    def csv(self) -> Path:
        return self.folder / "flights.csv"

    @property
    def domain(self) -> Path:
        return self.folder / "flights.yaml"

    @property
    def dataset(self) -> Path:
        return self.folder / "flights.eke"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The table, drafted, its domain checked by somebody, and protected."""
    made = Place(tmp_path_factory.mktemp("flights"), flights(ROWS))
    made.table.to_csv(made.csv, index=False, na_rep="NA")
    drafted = call("draft", made.csv, "-o", made.domain)
    assert drafted.code == 0, drafted.err
    assert '--null "NA"' in drafted.err
    assert re.search(r'"tailnum": left out: .*make it\s+the\s+unit', drafted.err, re.DOTALL)
    form = made.domain.read_text("utf-8")
    assert "  time_hour:\n    type: timestamp\n    low: '2013-01-01" in form
    refused = call("init", made.csv, made.domain, "--null", "NA", "--epsilon", EPSILON)
    assert refused.code != 0
    assert "draft" in refused.err
    airlines(made.table).to_csv(made.folder / "airlines.csv", index=False)
    lookups = "lookups:\n  airlines: {file: airlines.csv, keys: [carrier]}\n"
    made.domain.write_text(confirmed(made.domain.read_text("utf-8")) + lookups, "utf-8")
    checked = call("check", made.csv, made.domain, "--null", "NA")
    assert checked.code == 0, checked.err
    assert "0 rows dropped by the domain" in checked.out
    init = ["init", made.csv, made.domain, "--null", "NA", "--epsilon", EPSILON]
    done = call(*init, "-o", made.dataset)
    assert done.code == 0, done.err
    return made


def confirmed(draft: str) -> str:
    """The draft as somebody leaves it who knows the airports, and what nobody asks about."""
    body = draft[draft.index("format:") :]
    for name in NOT_ASKED:
        form = rf'  # "{name}": .*\n  # Check: .*\n  {name}:\n(    .*\n)+'
        body, left_out = re.subn(form, "", body)
        assert left_out == 1
    listed = f"values: [{', '.join(DESTINATIONS)}]\n    'null': never\n    outside: never\n"
    found, count = re.subn(
        r"(  dest:\n    type: categorical\n    )values: \[.*?\]\n.*?\n.*?\n",
        lambda part: part[1] + listed,
        body,
        flags=re.DOTALL,
    )
    assert count == 1
    return found


def airlines(table: pd.DataFrame) -> pd.DataFrame:
    """The public names of the carriers."""
    carriers = sorted(table["carrier"].unique())
    return pd.DataFrame({"carrier": carriers, "name": [f"{code} Airlines" for code in carriers]})


def ask(place: Place, sql: str, within: float, *more: object) -> Shown:
    return call("ask", place.dataset, sql, "-w", within, "-c", CONFIDENCE, *more)


def truths(table: pd.DataFrame, sql: str) -> list[dict[str, Any]]:
    """What DuckDB says of the raw rows, before HAVING, ORDER BY and LIMIT."""
    with duckdb.connect() as connection:
        connection.register("flights", table)
        connection.register("airlines", airlines(table))
        found = connection.execute(re.split(" HAVING | ORDER BY ", sql, maxsplit=1)[0])
        return [
            {str(name): value for name, value in row.items()}
            for row in found.df().to_dict("records")
        ]


def wrong_values(table: pd.DataFrame, sql: str, document: Mapping[str, Any]) -> list[str]:
    """The values whose interval does not hold the truth."""
    if "value" in document:
        (row,) = truths(table, sql)
        cells: dict[Any, Any] = {(): [(document, next(iter(row.values())))]}
    else:
        names = [column["name"] for column in document["columns"]]
        keys = [c["name"] for c in document["columns"] if c["kind"] == "key"]
        by_key = {
            tuple(str(row[key]).removesuffix(".0") for key in keys): row
            for row in truths(table, sql)
        }
        cells = {}
        for row in document["rows"]:
            key = tuple(str(row[name]) for name in keys)
            true = by_key.get(key, {})
            cells[key] = [(row[n], true.get(n, 0)) for n in names if n not in keys]
        if "LIMIT" not in sql and "HAVING" not in sql:
            assert set(by_key) <= set(cells), "a group is missing"
    wrong = []
    for key, pairs in cells.items():
        for cell, truth in pairs:
            slack = CLOSE * max(1.0, abs(float(truth)))
            if not cell["low"] - slack <= float(truth) <= cell["high"] + slack:
                wrong.append(f"{sql} {key}: {truth} is not in {cell['low']} to {cell['high']}")
    return wrong


def left(place: Place) -> float:
    return float(call("budget", place.dataset, "--json").json["remaining"])


@pytest.mark.parametrize("step", [3, in_long(1)])
def test_the_day(place: Place, step: int) -> None:
    """Every third question; in the long part all of them."""
    assert len(ANSWERED) + len(REFUSED) >= 25
    remaining = left(place)
    for sql, within in list(ANSWERED.items())[::step]:
        shown = ask(place, sql, within, "--json")
        assert shown.code == 0, f"{sql}: {shown.err}"
        document = shown.json
        caveats = [text for text in document["caveats"] if "among the first" not in text]
        assert caveats == [], "nothing is cut, clamped or binned in this table"
        assert ("LIMIT" in sql) == (caveats != document["caveats"]), "what is surely among them"
        assert wrong_values(place.table, sql, document) == []
        remaining -= document["cost"]
        assert document["remaining"] == pytest.approx(remaining, abs=1e-7), sql
        again = ask(place, sql, within, "--json").json
        assert again["source"] == "history", sql
        assert again["remaining"] == pytest.approx(remaining, abs=1e-7), sql
    for sql, (said, page, defended) in REFUSED.items():
        shown = ask(place, sql, 100)
        assert shown.code == 1, sql
        assert said in shown.err
        assert defended in " ".join((ROOT / page).read_text("utf-8").replace("**", "").split())
    assert left(place) == pytest.approx(remaining, abs=1e-7), "each was charged once"


def test_wrong_intervals_are_noticed(place: Place) -> None:
    """Positive control: the same answers beside another year's flights."""
    other = flights(ROWS + 3000, seed=2014)
    noticed = 0
    for sql, within in list(ANSWERED.items())[:4]:
        document = ask(place, sql, within, "--json").json
        noticed += bool(wrong_values(other, sql, document))
    assert noticed == 4


def test_long_results_are_cut_on_the_screen_and_whole_in_files(place: Place) -> None:
    sql = "SELECT dest, carrier, month, COUNT(*) AS n FROM flights GROUP BY dest, carrier, month"
    shown = ask(place, sql, 40)
    assert shown.code == 0, shown.err
    assert len(shown.out.splitlines()) < 230
    assert "and 19,000 more rows: --csv or --json prints all of them" in shown.words
    rows = list(csv.DictReader(io.StringIO(ask(place, sql, 40, "--csv").out)))
    assert len(rows) == 100 * 16 * 12
    assert list(rows[0]) == ["dest", "carrier", "month", "n", "n_low", "n_high"]


def test_planes_are_protected_as_such(place: Place) -> None:
    """With the plane as unit, of which twelve flights are kept; what that leaves out is said."""
    made = place.folder / "planes.eke"
    by_plane = ["--null", "NA", "--unit", "tailnum", "--rows", 12]
    checked = call("check", place.csv, place.domain, *by_plane)
    assert checked.code == 0, checked.err
    init = ["init", place.csv, place.domain, "--epsilon", 1000, "-o", made, *by_plane]
    refused = call(*init)
    assert refused.code != 0
    assert "--allow-loss" in refused.err
    done = call(*init, "--allow-loss")
    assert done.code == 0, done.err
    sql = "SELECT month, COUNT(*) AS n FROM flights GROUP BY month"
    shown = call("ask", made, sql, "-w", 30, "-c", CONFIDENCE, "--json")
    assert shown.code == 0, shown.err
    assert any("tailnum" in text or "rows of each" in text for text in shown.json["caveats"])
    again = call("ask", made, sql, "-w", 30, "-c", CONFIDENCE, "--json")
    assert again.json["source"] == "history"
