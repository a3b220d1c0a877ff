"""`eke guard`: guarded claims on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import Run

COUNT = "SELECT COUNT(*) FROM people WHERE sex = 'Female'"


@pytest.fixture
def place(run: Run, people: tuple[Path, Path], tmp_path: Path) -> Path:
    target = tmp_path / "own.eke"
    assert run("init", *people, "--epsilon", "2", "-o", target).code == 0
    return target


def test_a_claim_is_guarded_listed_closed_and_lifted(run: Run, place: Path) -> None:
    assert "No claim is guarded." in run("guard", "list", place).out
    made = run("guard", "add", place, COUNT, "> 20", "-t", "0.9", "--note", "Board")
    assert made.code == 0, made.err
    assert "Guarded by entry 2. Nothing was spent." in made.out
    listed = run("guard", "list", place).out
    assert "not known" in listed
    assert "open" in listed
    assert "Board" in listed
    assert run("ask", place, COUNT, "-w", "20").code == 0
    assert "closed" in run("guard", "list", place).out
    refused = run("ask", place, COUNT, "-w", "10")
    assert refused.code == 3
    assert "(entry 2, from 0.9 on). Nothing was spent. Instead: ±20 is free now" in refused.err
    told = json.loads(run("ask", place, COUNT, "-w", "10", "--json").err)
    assert "(entry 2, from 0.9 on)" in told["refusal"]["guarded"]
    assert run("ask", place, COUNT, "-w", "20").code == 0
    preview = json.loads(run("preview", place, COUNT, "-w", "10", "--json").out)
    assert preview["action"] == "refuse"
    assert "(entry 2," in preview["guarded"]
    (state,) = json.loads(run("guard", "list", place, "--json").out)
    assert (state["closed"], state["threshold"], state["claim"]) == (True, 0.9, "> 20")
    assert json.loads(run("guard", "lift", place, "2", "--json").out) == {"sequence": 2}
    assert json.loads(run("guard", "list", place, "--json").out) == []
    assert run("ask", place, COUNT, "-w", "10").code == 0


def test_plans_releases_and_publications_are_refused(run: Run, place: Path, tmp_path: Path) -> None:
    assert run("ask", place, COUNT, "-w", "20").code == 0
    assert run("guard", "add", place, COUNT, "> 20", "-t", "0.9").code == 0
    tables = ("--over", "sex", "-b", "0.2")
    shown = run("plan", place, *tables)
    assert shown.code == 0
    assert "Refused: what was released makes a guarded claim so probable" in " ".join(
        shown.out.split()
    )
    for words in (
        ("release", place, *tables, "--yes"),
        ("publish", place, "lda", "--target", "sex", "--epsilon", "0.2", "-o", tmp_path / "r.csv"),
    ):
        refused = run(*words)
        assert refused.code == 3, words
        assert "guarded claim" in refused.err
    assert not (tmp_path / "r.csv").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("add", COUNT, "> 20"), 2),
        (("add", COUNT, "-t", "0.9"), 2),
        (("add",), 2),
        (("lift",), 2),
        (("lift", "two"), 2),
        (("lift", "9"), 1),
        (("add", COUNT, "soon", "-t", "0.9"), 1),
        (("add", COUNT, "> 20", "-t", "9"), 1),
        (("add", "SELECT AVG(age) FROM people", "> 20", "-t", "0.9"), 1),
    ],
)
def test_commands_that_lack_something_say_so(
    run: Run, place: Path, words: tuple[str, ...], code: int
) -> None:
    action, *rest = words
    assert run("guard", action, place, *rest).code == code
    assert "No claim is guarded." in run("guard", "list", place).out
