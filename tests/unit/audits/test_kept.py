"""Results are taken again for the very same sources only, and only when they passed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from audits import kept
from audits.kept import Kept, sources
from audits.row import FULL, TINY, Check, Row

CHECK = Check("one", "noise", "bit_patterns")
ROW = Row("title", "1 sample", "0 found", "noticed", passed=True, caught=True)
FAILED = Row("title", "1 sample", "1 found", "noticed", passed=False, caught=True)


@pytest.fixture(autouse=True)
def same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "sources", lambda check: f"abc {check.module}")
    monkeypatch.setattr(kept, "commit", lambda: "`abc`")


def test_what_passed_on_these_sources_is_found(tmp_path, monkeypatch):
    store = Kept(tmp_path / "kept")
    assert store.find(CHECK, FULL) is None
    store.put(CHECK, FULL, (ROW,))
    monkeypatch.setattr(kept, "commit", lambda: "`abd`")  # of other files
    assert store.find(CHECK, FULL) == (replace(ROW, commit="`abc`"),)
    assert store.find(CHECK, TINY) is None


def test_what_was_measured_last_is_found_whatever_changed_since(tmp_path, monkeypatch):
    store = Kept(tmp_path / "kept")
    assert store.last(CHECK, FULL) == ()
    store.put(CHECK, FULL, (ROW, FAILED))
    monkeypatch.setattr(kept, "commit", lambda: "`abd`")
    monkeypatch.setattr(kept, "sources", lambda _: "others")
    found = store.last(CHECK, FULL)
    assert found == tuple(replace(one, commit="`abc`") for one in (ROW, FAILED))


def test_what_failed_is_measured_again(tmp_path):
    store = Kept(tmp_path)
    store.put(CHECK, FULL, (ROW, FAILED))
    assert store.find(CHECK, FULL) is None


@pytest.mark.parametrize("now", ["abd noise", "abc epsilon", None])
def test_other_code_is_measured_again(tmp_path, monkeypatch, now):
    store = Kept(tmp_path)
    store.put(CHECK, FULL, (ROW,))
    monkeypatch.setattr(kept, "sources", lambda _: now)
    assert store.find(CHECK, FULL) is None
    store.put(CHECK, FULL, (ROW,))
    if now is None:  # files that differ from a commit are no particular code
        assert store.find(CHECK, FULL) is None


def test_sources_are_those_of_the_commit(monkeypatch):
    """Two checks of two files; files that differ from the commit; no checkout at all."""
    for state in ("`abc` with changes", "unknown (no git checkout)"):
        monkeypatch.setattr(kept, "commit", lambda state=state: state)
        assert sources(CHECK) is None


def test_without_a_folder_nothing_is_kept():
    Kept(None).put(CHECK, FULL, (ROW,))
    assert Kept(None).find(CHECK, FULL) is None
