"""Checks that are tests: failures are counted, controls are told apart, figures are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from audits.tested import Outcomes, numbered, row_of, run_tests

SAMPLE = '''
import pytest

def test_fine(record_property):
    record_property("triples", 1200)

@pytest.mark.long
def test_long():
    """N = 5."""

def test_a_leak_is_caught():
    """Positive control, N = 1."""
    assert {caught}

def test_wrong():
    assert {right}
'''


def outcome(
    folder: Path, *, right: bool = True, caught: bool = True, long: bool = False
) -> Outcomes:
    file = folder / "test_sample.py"
    file.write_text(SAMPLE.format(right=right, caught=caught), "utf-8")
    return run_tests(str(file), long=long)


def test_tests_and_controls_are_counted_apart(tmp_path: Path) -> None:
    found = outcome(tmp_path)
    assert found.count(control=False) == (2, 0)
    assert found.count(control=True) == (1, 0)
    assert numbered(found, "triples", "some") == "1,200 triples"
    assert numbered(found, "decisions", "some") == "some"
    assert row_of("x", found, "3").verdict == "passed"
    assert len(found.only("wrong").found) == 1
    assert len(found.without("wrong").found) == 2


@pytest.mark.parametrize(
    ("right", "caught", "verdict"), [(False, True, "FAILED"), (True, False, "CONTROL MISSED")]
)
def test_a_failure_is_noticed(tmp_path: Path, right: bool, caught: bool, verdict: str) -> None:
    """Positive control."""
    assert row_of("x", outcome(tmp_path, right=right, caught=caught), "3").verdict == verdict


def test_long_tests_run_when_asked_for(tmp_path: Path) -> None:
    assert outcome(tmp_path, long=True).count(control=False) == (3, 0)


def test_no_tests_are_no_success(tmp_path: Path) -> None:
    assert row_of("x", Outcomes(()), "0").verdict == "FAILED"
