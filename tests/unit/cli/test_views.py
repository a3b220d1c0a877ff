"""Views on the command line: from two files to answers."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from tests.command_line import Run

SQL = """
-- flights with what is known of the aircraft
SELECT f.tailnum, CAST(f.month AS INTEGER) AS month, p.engine
FROM flights AS f JOIN planes AS p USING (tailnum)
"""
DOMAIN = """
format: eke-domain/1
attributes:
  month: {type: integer, low: 1, high: 12}
  engine: {type: categorical, values: [fan, jet]}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    flights = [f"N{n % 7},{n % 12 + 1}" for n in range(300)]
    (tmp_path / "flights.csv").write_text("\n".join(["tailnum,month", *flights]), "utf-8")
    planes = [f"N{n},{('fan', 'jet')[n % 2]}" for n in range(7)]
    (tmp_path / "planes.csv").write_text("\n".join(["tailnum,engine", *planes]), "utf-8")
    (tmp_path / "trips.sql").write_text(SQL, "utf-8")
    (tmp_path / "trips.yaml").write_text(DOMAIN, "utf-8")
    return tmp_path


FILES = ("--view", "trips.sql", "--table", "flights=flights.csv", "--table", "planes=planes.csv")
UNIT = ("--unit", "tailnum", "--rows", "50")


def test_from_files_to_answers(folder: Path, run: Run) -> None:
    drafted = run("draft", *FILES, "-o", "draft.yaml", "--json")
    assert json.loads(drafted.out)["attributes"] == ["tailnum", "month", "engine"]
    checked = run("check", "trips.yaml", *FILES, *UNIT, "--json")
    assert json.loads(checked.out)["rows"] == 300
    made = run("init", "trips.yaml", *FILES, *UNIT, "--epsilon", "50")
    assert made.code == 0, made.err
    assert "trips.eke protects trips.sql" in made.out
    said = " ".join(made.out.split())
    assert "Protected: all rows of flights and planes that belong to one tailnum." in said
    answer = json.loads(run("ask", "trips.eke", "SELECT COUNT(*) FROM t", "-w", "20", "--json").out)
    assert abs(answer["value"] - 300) < 60
    assert json.loads(run("verify", "trips.eke", "--data", "--json").out)["check"]["rows"] == 300


def test_a_database_has_the_tables_itself(folder: Path, run: Run) -> None:
    with duckdb.connect("all.duckdb") as connection:
        for name in ("flights", "planes"):
            connection.execute(f"CREATE TABLE {name} AS FROM read_csv('{name}.csv')")
    made = run("init", "all.duckdb", "trips.yaml", "--view", "trips.sql", "--epsilon", "1")
    assert made.code == 0, made.err
    said = " ".join(made.out.split())
    assert "one row of flights" in said
    assert "planes is not protected" in said


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("check", "trips.yaml"), 2, "declares the domain"),
        (("check", "flights.csv", "trips.yaml", *FILES), 2, "--table"),
        (("check", "trips.yaml", *FILES, "--table", "flights=planes.csv"), 2, "NAME=FILE"),
        (("check", "trips.yaml", "--view", "trips.sql", "--table", "flights.csv"), 2, "NAME=FILE"),
        (("check", "trips.yaml", *FILES, "--columns", "a,b"), 2, "several tables"),
        (("check", "flights.csv", "trips.yaml", "--table", "a", "--table", "b"), 2, "--view"),
        (("draft",), 2, "name a table"),
        (("check", "trips.yaml", *FILES[:4]), 1, "'planes'"),
        (("check", "trips.yaml", *FILES, "--unit", "engine"), 0, ""),
        (("check", "trips.yaml", *FILES, "--unit", "wing"), 1, "'wing'"),
    ],
)
def test_what_is_wrong_is_said(
    arguments: tuple[str, ...], code: int, message: str, folder: Path, run: Run
) -> None:
    shown = run(*arguments)
    assert shown.code == code, shown.err
    assert message in " ".join(shown.err.split())
