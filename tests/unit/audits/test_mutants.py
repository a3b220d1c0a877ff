"""The script of mutants: names, reasons and numbers, without mutating anything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from audits import mutants
from audits.mutant_tests import within
from audits.mutants import KILLED, SURVIVED, Reason, Survivor, counted, function_of, status_of, told


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("eke.engine.share.x_cap_document__mutmut_3", "engine.share.cap_document"),
        ("eke.engine.draws.x__packed__mutmut_12", "engine.draws._packed"),
        ("eke.ledger.book.xǁBookǁ_append__mutmut_1", "ledger.book.Book._append"),
        ("eke.ledger.book.xǁBookǁ__init____mutmut_1", "ledger.book.Book.__init__"),
    ],
)
def test_mutants_are_called_by_the_function_they_change(name: str, function: str) -> None:
    assert function_of(name) == function


def test_a_survivor_is_told_by_what_was_changed() -> None:
    diff = "--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n def f():\n-    return 1\n+    return 2\n"
    one = told("eke.engine.share.x_f__mutmut_1", diff)
    assert one == Survivor("engine.share.f", "return 1", "return 2")
    assert one.text == "engine.share.f: return 1 → return 2"
    assert Survivor("f", "", "x = 1").text == "f: (nothing) → x = 1"


@pytest.mark.parametrize(
    ("function", "line", "covered"),
    [
        ("engine.share.f", "return", True),
        ("engine.*", r"return \d$", True),
        ("engine.*", "return 3", False),
        ("engine.share", "return", False),
        ("ledger.*", "return", False),
        ("*.F", "return", False),
    ],
)
def test_a_reason_covers_what_fits_function_and_line(
    function: str, line: str, covered: bool
) -> None:
    survivor = Survivor("engine.share.f", "return 1", "return 2")
    assert Reason(function, line, "because").covers(survivor) == covered


def test_outcomes_are_counted() -> None:
    states = ["killed", "timeout", "types", "survived", "no tests", "undecided"]
    survivors = [Survivor("b.g", "x", "y"), Survivor("a.f", "x", "y")]
    found = counted(states, survivors, (Reason("a.*", "x", "it is the same"),))
    assert found == {
        "killed": 3,
        "by_types": 1,
        "survived": 2,
        "explained": 1,
        "undecided": 1,
        "survivors": [
            {"mutant": "a.f: x → y", "reason": "it is the same"},
            {"mutant": "b.g: x → y", "reason": None},
        ],
    }
    assert not set(KILLED) & set(SURVIVED)


def test_every_reason_on_file_is_about_something() -> None:
    """None covers everything, and none is left of a survivor that a test has killed since."""
    known = mutants.reasons()
    anything = Survivor("some.other.function", "x = 1", "x = 2")
    assert [one for one in known if one.covers(anything)] == []
    assert all(len(one.why) > 20 for one in known)
    if mutants.RESULT.exists():  # after the first run
        document = json.loads(mutants.RESULT.read_text("utf-8"))
        used = {one["reason"] for one in document["survivors"]}
        assert {one.why for one in known} == used


@pytest.mark.parametrize("survivors", [True, False])
def test_survivors_are_tried_again_once_something_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, survivors: bool
) -> None:
    monkeypatch.setattr(mutants, "COPY", tmp_path)
    meta = tmp_path / "mutants/src/eke/a.py.meta"
    meta.parent.mkdir(parents=True)
    decided = {"killed": 1, "types": 37, "too long": -24}
    lived = {"survived": 0, "no tests": 33}
    cut_off = {"interrupted": 2, "new": None}
    codes = decided | lived | cut_off
    meta.write_text(json.dumps({"exit_code_by_key": codes, "other": 1}), "utf-8")
    mutants.forget(survivors=survivors)
    found = json.loads(meta.read_text("utf-8"))
    assert found["other"] == 1
    again = dict.fromkeys([*cut_off, *(lived if survivors else ())])
    assert found["exit_code_by_key"] == codes | again


def test_a_code_that_nobody_knows_decides_nothing() -> None:
    assert {status_of(code) for code in (2, 4, 35, 99, None)} == {"undecided"}
    assert {status_of(code) for code in (0, 5, 33)} == set(SURVIVED)
    assert {status_of(code) for code in (1, 3, 37, 24, -24, -11)} == set(KILLED)


def test_what_the_project_has_no_more_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "COPY", tmp_path)
    kept = ["src/a.py", "mutants/src/a.py", "mutants/src/a.py.spans", "plugin/p.py"]
    gone = ["src/b.py", "mutants/src/b.py", "mutants/src/b.py.meta", "tests/test_b.py"]
    for name in (*kept, *gone):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    mutants.remove_all_but({"src/a.py"})
    assert [name for name in kept if not (tmp_path / name).exists()] == []
    assert [name for name in gone if (tmp_path / name).exists()] == []


@pytest.mark.parametrize(
    ("work", "status"),
    [("while True: pass", "timeout"), ("import time; time.sleep(1)", "survived")],
)
def test_what_works_too_long_is_stopped_and_what_waits_is_not(work: str, status: str) -> None:
    program = f"from audits.mutant_tests import stop_after; stop_after(0.2)\n{work}"
    done = subprocess.run([sys.executable, "-c", program], cwd=mutants.ROOT, check=False)
    assert status_of(done.returncode) == status


def test_quick_tests_come_first_and_slow_ones_not_at_all() -> None:
    seconds = {"a": 3.0, "b": 0.1, "c": 2.0, "d": 9.0}
    assert within(seconds, 6.0) == ["b", "c", "a"]
    assert within(seconds, 100.0) == ["b", "c", "a", "d"]
    assert within({"d": 9.0}, 6.0) == ["d"]
    assert within({}, 6.0) == []
