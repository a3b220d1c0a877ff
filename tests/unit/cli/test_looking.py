"""`eke budget`, `history`, `export` and `verify`: what curators and auditors look at."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import eke
from tests.command_line import Run, write_people


@pytest.fixture(scope="module")
def used(dataset: Path, run: Run) -> Path:
    """The dataset after two paid questions."""
    for text in ("SELECT COUNT(*) FROM p", "SELECT sex, COUNT(*) FROM p GROUP BY sex"):
        assert run("ask", dataset, text, "-w", "40", "--analyst", "ana").code == 0
    return dataset


def test_budget_is_a_bar_and_a_sentence(used: Path, run: Run) -> None:
    shown = run("budget", used)
    assert "█" in shown.out
    assert "░" in shown.out
    assert str(eke.open(used).budget) in shown.words


def test_a_rho_budget_has_an_epsilon_for_a_delta(tmp_path: Path, run: Run) -> None:
    made = tmp_path / "rho.eke"
    run("init", *write_people(tmp_path), "--rho", "0.1", "-o", made)
    run("ask", made, "SELECT COUNT(*) FROM p", "-w", "40")
    shown = run("budget", made, "--delta", "1e-9", "--json").json
    assert shown["epsilon"] == eke.open(made).budget.epsilon(1e-9)
    assert "1e-09)-differential privacy" in run("budget", made, "--delta", "1e-9").words


def test_history_lists_what_was_released(used: Path, run: Run) -> None:
    shown = run("history", used)
    assert "count by sex" in shown.words
    assert "ana" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80
    records = run("history", used, "--json").json
    assert records == json.loads(json.dumps(eke.open(used).history.to_records()))
    last = run("history", used, "--last", "1")
    assert f"{len(records) - 1} earlier" in last.words


def test_an_empty_history_says_so(tmp_path: Path, run: Run) -> None:
    made = tmp_path / "new.eke"
    run("init", *write_people(tmp_path), "--epsilon", 1, "-o", made)
    assert run("history", made).words == "Nothing was released yet."
    assert run("history", made, "--json").json == []
    assert run("export", made, "history", "-f", "csv").out.strip() == ""


def test_export_writes_every_form_that_makes_sense(used: Path, run: Run, tmp_path: Path) -> None:
    ledger = run("export", used, "ledger").json
    rows = list(csv.DictReader(io.StringIO(run("export", used, "ledger", "-f", "csv").out)))
    assert [int(row["sequence"]) for row in rows] == [entry["sequence"] for entry in ledger]
    assert json.loads(rows[0]["payload"]) == ledger[0]["payload"]
    history = list(csv.DictReader(io.StringIO(run("export", used, "history", "-f", "csv").out)))
    assert len(history) == len(eke.open(used).history)
    page = tmp_path / "report.html"
    shown = run("export", used, "report", "-o", page)
    assert (shown.code, shown.out) == (0, "")
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert run("export", used, "report", "--json").json["intact"] is True
    assert run("export", used, "mark").json["sequence"] == len(ledger)
    for what, form in (("ledger", "html"), ("history", "html"), ("report", "csv"), ("mark", "csv")):
        assert run("export", used, what, "-f", form).code == 2


def test_exports_name_neither_the_table_nor_its_digest(used: Path, run: Run) -> None:
    for what in ("ledger", "history", "report", "mark"):
        text = run("export", used, what).out
        assert "people.csv" not in text
        assert str(used.parent) not in text


def test_verify_says_intact(used: Path, run: Run, tmp_path: Path) -> None:
    shown = run("verify", used)
    assert (shown.code, shown.words.split(":")[0]) == (0, "Intact")
    mark = tmp_path / "people.mark"
    run("export", used, "mark", "-o", mark)
    assert "mark lies on its chain" in run("verify", used, "--mark", mark).words
    assert run("verify", used, "--mark", used).code == 1, "not a mark"
    assert run("verify", used, "--mark", tmp_path / "nothing").code == 2
    assert run("verify", tmp_path / "nothing.eke").code == 1


def test_verify_needs_no_table(used: Path, run: Run, tmp_path: Path) -> None:
    """An auditor has the dataset, not the table."""
    table = used.parent / "people.csv"
    hidden = table.rename(tmp_path / "elsewhere.csv")
    try:
        assert run("verify", used).code == 0
        assert run("budget", used).code == 1
        assert run("budget", used, "--data", hidden).code == 0
    finally:
        hidden.rename(table)


def test_an_edited_ledger_is_exit_code_4(used: Path, run: Run, tmp_path: Path) -> None:
    copy = tmp_path / "copy.eke"
    shutil.copy(used, copy)
    with sqlite3.connect(copy) as connection:
        tables = [
            r[0] for r in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        account = next(name for name in tables if "account" in name)
        connection.execute(f"UPDATE {account} SET spent = 0")
    connection.close()
    shown = run("verify", copy)
    assert shown.code == 4
    assert "Not intact" in shown.out
    document = run("verify", copy, "--json")
    assert (document.code, document.json["intact"]) == (4, False)
    asked = run("ask", copy, "SELECT COUNT(*) FROM p", "-w", "40")
    assert asked.code == 4
    assert asked.err.startswith("error: ")


def test_an_older_copy_is_exit_code_4(run: Run, tmp_path: Path) -> None:
    made, old, mark = tmp_path / "new.eke", tmp_path / "old.eke", tmp_path / "new.mark"
    run("init", *write_people(tmp_path), "--epsilon", 1, "-o", made)
    shutil.copy(made, old)
    run("ask", made, "SELECT COUNT(*) FROM p", "-w", "40")
    run("export", made, "mark", "-o", mark)
    shown = run("verify", old, "--mark", mark)
    assert shown.code == 4
    assert "older copy" in shown.words


def test_a_table_in_place_of_a_dataset_is_told_apart_from_a_damaged_one(run: Run, people) -> None:
    table, _ = people
    for command in (("budget", table), ("ask", table, "SELECT COUNT(*) FROM people", "-w", "9")):
        shown = run(*command)
        assert shown.code != 0
        assert "protect it with `eke init`" in " ".join(shown.err.split())


def test_the_schema_lists_the_declared_columns(run: Run, dataset: Path) -> None:
    shown = run("schema", dataset)
    assert "age integer 17 to 80 sex categorical Female, Male hours binned" in shown.words
    assert "or missing" in shown.words
    for statement in ("DESCRIBE people", "show columns from people;", "SHOW TABLES"):
        assert run("ask", dataset, statement).out == shown.out
    listed = run("ask", dataset, "DESCRIBE people", "--json").json
    assert listed == run("schema", dataset, "--json").json
    assert [column["column"] for column in listed] == ["age", "sex", "hours"]
    wrong = run("ask", dataset, "SHOW GRANTS FOR people", "-w", "9")
    assert "`eke schema` lists the columns" in " ".join(wrong.err.split())
