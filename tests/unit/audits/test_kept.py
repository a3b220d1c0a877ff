"""Results are taken again for the very same commit only, and only when they passed."""

from __future__ import annotations

import pytest

from audits import kept
from audits.kept import Kept
from audits.row import FULL, TINY, Check, Row

CHECK = Check("one", "noise", "bit_patterns")
ROW = Row("title", "1 sample", "0 found", "noticed", passed=True, caught=True)
FAILED = Row("title", "1 sample", "1 found", "noticed", passed=False, caught=True)


@pytest.fixture(autouse=True)
def commit(monkeypatch):
    monkeypatch.setattr(kept, "commit", lambda: "`abc`")


def test_what_passed_on_this_commit_is_found(tmp_path):
    store = Kept(tmp_path / "kept")
    assert store.find(CHECK, FULL) is None
    store.put(CHECK, FULL, (ROW,))
    assert store.find(CHECK, FULL) == (ROW,)
    assert store.find(CHECK, TINY) is None


def test_what_failed_is_measured_again(tmp_path):
    store = Kept(tmp_path)
    store.put(CHECK, FULL, (ROW, FAILED))
    assert store.find(CHECK, FULL) is None


@pytest.mark.parametrize("now", ["`abd`", "`abc` with changes", "unknown (no git checkout)"])
def test_other_code_is_measured_again(tmp_path, monkeypatch, now):
    store = Kept(tmp_path)
    store.put(CHECK, FULL, (ROW,))
    monkeypatch.setattr(kept, "commit", lambda: now)
    assert store.find(CHECK, FULL) is None
    store.put(CHECK, FULL, (ROW,))
    if now != "`abd`":  # files that differ from a commit are no particular code
        assert store.find(CHECK, FULL) is None


def test_without_a_folder_nothing_is_kept():
    Kept(None).put(CHECK, FULL, (ROW,))
    assert Kept(None).find(CHECK, FULL) is None
