"""`eke outside`: facts and tables of others on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import Run

COUNT = "SELECT COUNT(*) FROM people"


@pytest.fixture
def place(run: Run, people: tuple[Path, Path], tmp_path: Path) -> Path:
    target = tmp_path / "own.eke"
    assert run("init", *people, "--epsilon", "1", "-o", target).code == 0
    return target


def test_a_fact_is_registered_listed_used_and_forgotten(run: Run, place: Path) -> None:
    assert "Nothing from outside" in run("outside", "list", place).out
    made = run("outside", "fact", place, COUNT, "400", "-s", "Yearbook, table 1")
    assert made.code == 0
    assert "Registered as entry 2. Nothing was spent." in made.out
    listed = run("outside", "list", place)
    assert "Yearbook, table 1" in listed.out
    assert "exact" in listed.out
    answer = json.loads(run("ask", place, COUNT, "-w", "1", "--json").out)
    assert answer["value"] == 400.0
    assert "Yearbook, table 1" in answer["caveats"][-1]
    assert "from outside" in run("history", place).out
    assert json.loads(run("outside", "forget", place, "2", "--json").out) == {"sequence": 2}
    assert json.loads(run("outside", "list", place, "--json").out) == []


def test_tables_come_from_files(run: Run, place: Path, tmp_path: Path) -> None:
    schema = json.loads(run("schema", place, "--json").out)
    assert schema
    table = tmp_path / "sex.csv"
    table.write_text("sex,n\nMale,260\nFemale,140\n", "utf-8")
    by_sex = "SELECT sex, COUNT(*) FROM people GROUP BY sex"
    options = ("--values", table, "--noise-variance", "100", "-s", "Office")
    made = run("outside", "learn", place, by_sex, *options)
    assert made.code == 0, made.err
    assert json.loads(run("ask", place, COUNT, "-w", "40", "--json").out)["value"] == pytest.approx(
        400
    )
    table.write_text("sex,n\nMale,260\n", "utf-8")
    assert "Female has no number" in run("outside", "learn", place, by_sex, *options).err


def test_what_another_dataset_released_is_learned(
    run: Run, place: Path, people: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other.eke"
    assert run("init", *people, "--epsilon", "1", "-o", other).code == 0
    assert run("ask", other, COUNT, "-w", "20").code == 0
    assert run("outside", "learn", place, "--from", other, "-s", "Region B").code == 0
    (record,) = json.loads(run("outside", "list", place, "--json").out)
    assert (record["kind"], record["source"]) == ("learned", "Region B")
    assert "0 spent of 1" in run("budget", place).out


@pytest.mark.parametrize(
    "words",
    [
        ("fact", COUNT, "400"),
        ("fact", COUNT, "-s", "Yearbook"),
        ("fact", "-s", "Yearbook"),
        ("fact", COUNT, "400", "--laplace-scale", "3", "-s", "Yearbook"),
        ("forget",),
        ("forget", "two"),
    ],
)
def test_commands_that_lack_something_say_so(run: Run, place: Path, words: tuple[str, ...]) -> None:
    action, *rest = words
    assert run("outside", action, place, *rest).code == 2
    assert "contradict" not in run("outside", "list", place).out


def test_contradictions_are_errors(run: Run, place: Path) -> None:
    run("outside", "fact", place, COUNT, "400", "-s", "Yearbook")
    failed = run("outside", "fact", place, COUNT, "401", "-s", "Another")
    assert failed.code == 1
    assert "contradicts 'Yearbook'" in failed.err
