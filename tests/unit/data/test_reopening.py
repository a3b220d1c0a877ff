"""Reopening a table: what changed is told at once, and the engine waits for the first count."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.data import CellSource, open_source, reopen_source
from eke.data.late_source import LateSource
from eke.domain import Domain, Integer
from eke.errors import DataError, SecretLeak

DOMAIN = Domain(a=Integer(0, 3), b=Integer(0, 1))
ROWS = pd.DataFrame({"a": [0, 1, 2, 3, 3], "b": [0, 1, 0, 1, 1]})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    ROWS.to_csv(path, index=False)
    return path


def test_it_counts_what_the_table_counts(file: Path) -> None:
    first = open_source(file, DOMAIN)
    again = reopen_source(first.reference(), DOMAIN)
    assert isinstance(again, LateSource)
    assert again.reference() == first.reference()
    sets: list[tuple[str, ...]] = [(), ("a",), ("a", "b")]
    again.load(sets)
    for one, other in zip(first.counts(sets), again.counts(sets), strict=True):
        assert one.attributes == other.attributes
        assert np.array_equal(one.codes, other.codes)
        assert np.array_equal(one.counts, other.counts)


def test_rows_come_in_their_order(tmp_path: Path) -> None:
    kept = Domain(
        a=Integer(0, 3, null="bucket", outside="bucket"),
        b=Integer(0, 1, null="bucket", outside="bucket"),
    )
    path = tmp_path / "rows.csv"
    ROWS.to_csv(path, index=False)
    first = open_source(path, kept)
    again = reopen_source(first.reference(), kept)
    assert np.array_equal(again.rows().codes, first.rows().codes)


def test_a_missing_or_changed_file_is_told_at_once(file: Path) -> None:
    reference = open_source(file, DOMAIN).reference()
    file.write_text("a,b\n0,0\n", "utf-8")
    with pytest.raises(DataError, match="has changed"):
        reopen_source(reference, DOMAIN)
    file.unlink()
    with pytest.raises(DataError, match="there is no file"):
        reopen_source(reference, DOMAIN)


def test_a_file_that_changes_later_is_told_before_anything_is_counted(file: Path) -> None:
    again = reopen_source(open_source(file, DOMAIN).reference(), DOMAIN)
    file.write_text("a,b\n0,0\n", "utf-8")
    with pytest.raises(DataError, match="has changed"):
        again.load()


def test_a_moved_file_is_found_where_it_is(file: Path, tmp_path: Path) -> None:
    reference = open_source(file, DOMAIN).reference()
    moved = file.rename(tmp_path / "moved.csv")
    again = reopen_source(reference, DOMAIN, data=moved)
    assert again.reference()["path"] == str(moved)
    assert again.counts([()])[0].total == len(ROWS)
    with pytest.raises(DataError, match="must be the path"):
        reopen_source(reference, DOMAIN, data=ROWS)


def test_a_table_in_memory_is_open_at_once() -> None:
    reference = open_source(ROWS, DOMAIN).reference()
    assert isinstance(reopen_source(reference, DOMAIN, data=ROWS), CellSource)
    with pytest.raises(DataError, match="give the same table again"):
        reopen_source(reference, DOMAIN)


def test_it_is_opened_once_and_never_shown(file: Path) -> None:
    inner = open_source(file, DOMAIN)
    opened: list[str] = []

    def opening() -> CellSource:
        opened.append("once")
        assert isinstance(inner, CellSource)
        return inner

    late = LateSource(inner.reference(), opening)
    assert opened == []
    for _ in range(3):
        late.load()
        late.counts([()])
    assert opened == ["once"]
    assert "rows are not shown" in repr(late)
    with pytest.raises(SecretLeak):
        pickle.dumps(late)


def loaded_by(statement: str, path: Path) -> set[str]:
    """Which engines a fresh interpreter has loaded after a statement about an open session."""
    engines = ("duckdb", "ibis", "pandas", "pyarrow")
    code = (
        f"import sys, eke\nsession = eke.open({str(path)!r})\n{statement}\n"
        f"print(*(n for n in {engines!r} if n in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_answers_from_history_load_no_engine(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.eke"
    session = eke.create(path, file, DOMAIN, epsilon=100)
    session.ask(eke.count(a=1), within=5)
    free = "assert session.ask('SELECT COUNT(*) FROM t WHERE a = 1', within=6).free"
    paid = "assert not session.ask('SELECT COUNT(*) FROM t WHERE a = 2', within=5).free"
    assert loaded_by(free, path) == set()
    assert {"duckdb", "ibis"} <= loaded_by(paid, path), "positive control"
