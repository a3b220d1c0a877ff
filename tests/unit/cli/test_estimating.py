"""`eke estimate`: an interval for nothing, and a bar on terminals only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eke.cli.screen import errors, progress_bar
from tests.command_line import Run

WOMEN = "SELECT COUNT(*) FROM people WHERE sex = 'Female'"


def test_an_estimate_is_free_and_says_what_it_rests_on(dataset: Path, run: Run) -> None:
    assert run("estimate", dataset, WOMEN).code == 1  # no history yet
    assert run("ask", dataset, WOMEN, "-w", 60).code == 0
    before = run("budget", dataset, "--json").json
    shown = run("estimate", dataset, WOMEN)
    assert shown.code == 0, shown.err
    assert "Free: history determines this question" in shown.words
    assert "%" not in shown.err  # no bar
    found = run("estimate", dataset, WOMEN, "--method", "blue", "-c", 0.5, "--json").json
    assert found["low"] < found["value"] < found["high"]
    assert (found["method"], found["confidence"]) == ("blue", 0.5)
    assert run("budget", dataset, "--json").json == before
    unknown = "SELECT COUNT(*) FROM people WHERE age = 44"
    assert run("estimate", dataset, unknown, "--method", "blue").code == 1
    assert "shrinkage" in run("estimate", dataset, unknown, "--method", "blue").err


def test_a_prior_is_a_name_or_a_public_table(dataset: Path, run: Run, tmp_path: Path) -> None:
    assert run("ask", dataset, WOMEN, "-w", 60).code == 0
    before = run("budget", dataset, "--json").json
    table = tmp_path / "public.csv"
    table.write_text("sex,age\n" + "Female,20\n" * 30 + "Male,20\n")
    young = "SELECT COUNT(*) FROM people WHERE age = 20"
    told = run("estimate", dataset, young, "--prior", table, "--alpha", 2, "--json").json
    plain = run("estimate", dataset, young, "--prior", "uniform", "--json").json
    assert told["value"] > 3 * plain["value"]
    for given in (("--prior", "flat"), ("--alpha", 0), ("--folds", 1), ("--prior", "no.csv")):
        refused = run("estimate", dataset, young, *given)
        assert refused.code == 1
        assert given[1] == "no.csv" or given[0][2:] in refused.err
    assert run("budget", dataset, "--json").json == before


def test_bars_are_drawn_on_terminals_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_bar("Reading") as progress:
        progress("choosing alpha", 0.5)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    with progress_bar("Reading") as progress:
        progress("choosing alpha", 0.5)
        errors().print("by the way")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Choosing alpha" in shown.err
    assert "50 %" in shown.err
    assert re.search(r"\x1b\[2Kby the way|\nby the way", shown.err), "on a line of its own"
