"""The scoreboard at its tiny scale: every check runs, every row has a verdict, controls are caught.

The same code runs in full by `make audit`. Checks that consist of other tests (`audits/tested.py`)
are not run again here, nor is the row that reads the last result of a script.
"""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from audits.board import BEGIN, END, HEADINGS, cells, markdown, write
from audits.checks import CHECKS
from audits.measured import in_runs, mutant_row
from audits.row import FULL, ROOT, TINY, Check, Row, broken

ELSEWHERE = {"tested", "measured"}
# What these run has tests of its own, of the same scale, in `tests/system`, `tests/unit/data`,
# `tests/privacy` and `tests/unit/service`;
# the load, which takes its seconds whatever it does, shares its parts with them.
TWICE = {"kills", "failpoints", "disk-failures", "rows", "writers", "load"}
TWICE |= {"replay", "draws", "publications", "openapi"}
# The driver of Spark leaves its sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def row(*, passed: bool = True, caught: bool = True) -> Row:
    return Row("a check", "7", "0 wrong", "1 noticed", passed=passed, caught=caught)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(check.name, marks=[pytest.mark.long] if check.name in TWICE else [])
        for check in CHECKS
        if check.module not in ELSEWHERE
    ],
)
def test_every_check_passes_and_catches_its_control(name: str) -> None:
    (check,) = (one for one in CHECKS if one.name == name)
    for found in check.run(TINY):
        assert found.verdict == "passed", found


def test_every_check_is_there_and_has_a_name_of_its_own() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        assert callable(getattr(import_module(f"audits.{check.module}"), check.function))


def test_verdicts() -> None:
    assert row().verdict == "passed"
    assert row(passed=False).verdict == "FAILED"
    assert row(caught=False).verdict == "CONTROL MISSED"
    assert row(passed=False, caught=False).verdict == "FAILED"
    assert broken("x", "a | b\nc").verdict == "FAILED"


@pytest.mark.parametrize("text", ["", "a | b", "two\nlines"])
def test_rows_that_would_spoil_the_table_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="single"):
        Row("a check", "7", text, "none", passed=True, caught=True)


def test_what_is_missing_is_a_failure() -> None:
    (found,) = Check("x", "row", "nothing", needs=("no/such/file.py",)).run(TINY)
    assert found.verdict == "FAILED"
    assert "no/such/file.py" in found.figure


def test_the_page_is_written_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", "utf-8")
    write(page, markdown([row(), row(caught=False)], FULL, ["timing", "mutants"]))
    text = page.read_text("utf-8")
    assert text.startswith("before\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "old" not in text
    assert "1 NOT passed" in text
    assert f"| {' | '.join(HEADINGS)} |" in text
    assert "Not measured yet: timing, mutants." in text
    for name in ("date", "Python", "OpenDP", "DuckDB", "SQLite", "PostgreSQL", "Spark"):
        assert re.search(rf"^- {name}: \S", text, re.MULTILINE)
    write(page, "once more")
    assert page.read_text("utf-8").count(BEGIN) == 1
    page.write_text("no marks", "utf-8")
    with pytest.raises(SystemExit, match="goes between"):
        write(page, "text")


def test_a_row_says_what_was_checked() -> None:
    long = "`" + 4 * "0123456789" + "`"
    assert cells(replace(row(), commit=long))[-1] == "`0123456789`"
    assert cells(replace(row(), commit=f"{long} with changes"))[-1] == "`0123456789` with changes"
    assert cells(replace(row(), commit="unknown"))[-1] == "unknown"
    assert "| passed | `0123456789` |" in markdown([replace(row(), commit=long)], FULL)


def test_the_documentation_has_a_place_for_the_table() -> None:
    text = (ROOT / "docs" / "security.md").read_text("utf-8")
    assert text.index(BEGIN) < text.index(END)


@pytest.mark.parametrize(
    ("killed", "survived", "explained", "verdict"),
    [(95, 5, 5, "passed"), (95, 5, 4, "FAILED"), (80, 20, 20, "FAILED"), (0, 0, 0, "FAILED")],
)
def test_mutants(killed: int, survived: int, explained: int, verdict: str) -> None:
    found = {"killed": killed, "survived": survived, "explained": explained}
    assert mutant_row(found).verdict == verdict


def test_steps_are_told_in_runs() -> None:
    assert in_runs([1, 2, 3, 5, 6, 9]) == "1 to 3, 5, 6, 9"
    assert in_runs([4]) == "4"
