"""Row files: piece by piece the same as the whole table, as a whole or not at all."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import eke
from eke.errors import DataError
from eke.publish import row_files
from eke.publish.published import Published
from eke.publish.row_files import RowPieces, check_writable

DOMAIN = eke.Domain(
    {
        "age": eke.Integer(0, 9, null="bucket"),
        't,o"w\nn': eke.Categorical("A", 'b"\n,', "é", null="bucket"),
        "rich": eke.Boolean(null="bucket"),
        "plain": eke.Boolean(null="never", outside="never"),
        "hours": eke.Binned([0, 10, 20.5], null="bucket"),
        "day": eke.Date("2013-01-01", "2013-02-28"),
        "left": eke.Date("2013-01-01", "2013-02-28", null="bucket"),
        "at": eke.Timestamp("2013-01-01", "2013-01-03", step="hour"),
        "night": eke.Timestamp("2013-01-01", "2013-03-03", step="day"),
    }
).with_derived(
    {
        "month": "EXTRACT(MONTH FROM day)",
        "old": "CASE WHEN age >= 9 THEN 'old' END",
        "never": "CASE WHEN age >= 9 AND age < 3 THEN 1 END",
        "half": "age / 2",
        "start": "DATE_TRUNC('month', day)",
    },
)


def rows(number: int = 1000, first: int = 0) -> Published:
    """The first rows have the lowest codes, so that pieces differ in what they hold."""
    draw = np.random.default_rng(3)
    codes = np.stack([draw.integers(0, size, number) for size in DOMAIN.shape], axis=1)
    codes[: number // 2, :] = first
    return Published(DOMAIN, DOMAIN.names, codes.astype(np.int64), {})


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_files, "PARQUET_CELLS", 9 * 130)
    monkeypatch.setattr(row_files, "CSV_CELLS", 9 * 70)
    for name in ("parquet", "texts", "tables"):
        monkeypatch.setattr(RowPieces, name, _with_cells(getattr(RowPieces, name), name))


def _with_cells(plain: Any, name: str) -> Any:
    def small(self: RowPieces, cells: int = 0) -> Any:
        return plain(self, min(cells or 10**9, 9 * (70 if name == "texts" else 130)))

    return small


@pytest.mark.parametrize("number", [0, 1, 70, 1000])
@pytest.mark.usefixtures("small")
def test_files_hold_what_the_whole_table_holds(tmp_path: Path, number: int) -> None:
    """The whole table at once is the slow twin."""
    published = rows(number)
    whole = published.to_pandas()
    plain = whole.astype(object).where(whole.notna(), None)
    published.to_parquet(tmp_path / "rows.parquet")
    read = pq.read_table(tmp_path / "rows.parquet")
    assert read.num_rows == number
    assert read.schema.names == list(whole.columns)
    frame = read.to_pandas().astype(object)
    pd.testing.assert_frame_equal(frame.where(frame.notna(), None), plain, check_dtype=False)
    published.to_csv(tmp_path / "rows.csv")
    lines = pd.read_csv(tmp_path / "rows.csv")
    expected = pd.read_csv(io.StringIO(whole.to_csv(index=False)))
    for name in ("at", "night"):
        lines[name], expected[name] = pd.to_datetime(lines[name]), pd.to_datetime(expected[name])
    pd.testing.assert_frame_equal(lines, expected, check_dtype=number > 0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv", "rows.parquet"]


def test_a_column_has_one_type_in_all_pieces() -> None:
    """Here the first half has no age, and the second one has."""
    published = rows(600, first=1)
    published.codes[:300, 0] = 10
    schema = RowPieces(DOMAIN, DOMAIN.names, published.codes).schema
    pieces = list(RowPieces(DOMAIN, DOMAIN.names, published.codes).tables(9 * 100))
    assert len(pieces) == 6
    assert all(piece.schema.equals(schema) for piece in pieces)
    types = {name: schema.field(name).type for name in schema.names}
    assert types["age"] == types["month"] == pa.int64()
    assert types["half"] == pa.float64()
    assert types["rich"] == types["plain"] == pa.bool_()
    assert types["day"] == types["left"] == pa.date32()
    assert types["at"] == pa.timestamp("us")
    assert types["never"] == pa.null()
    back = published.to_arrow().to_pandas()
    assert back["age"].dtype == "Int64"
    assert back["age"].isna().sum() >= 300


def test_moments_are_written_in_one_form(tmp_path: Path) -> None:
    """Midnights among other times keep their clock, days have none."""
    published = rows(400)
    published.codes[:200, 7] = 0
    published.to_csv(tmp_path / "rows.csv")
    texts = pd.read_csv(tmp_path / "rows.csv", dtype=str)
    assert set(texts["at"].str.len()) == {19}
    assert set(texts["night"].str.len()) == {10}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_who_stops_leaves_no_half_and_what_was_there(tmp_path: Path, name: str) -> None:
    class Enough(BaseException):
        pass

    told: list[float] = []

    def stop(what: str, done: float) -> None:
        assert what == "writing rows"
        told.append(done)
        if done > 0.5:
            raise Enough

    target = tmp_path / name
    target.write_text("before")
    write = rows().to_csv if name.endswith("csv") else rows().to_parquet
    with pytest.raises(Enough):
        write(target, progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert target.read_text() == "before"
    told.clear()
    write(target, progress=lambda _, done: told.append(done))
    assert told == sorted(told)
    assert len(told) > 5
    assert (told[0], told[-1]) == (0.0, 1.0)


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere" / "rows.csv", tmp_path):
        with pytest.raises(DataError, match="cannot be written"):
            rows(5).to_csv(path)
    assert list(tmp_path.iterdir()) == []


def test_only_files_are_replaced(tmp_path: Path) -> None:
    """A link is followed; nothing takes the place of a device, a pipe or a folder."""
    kept, link, pipe = tmp_path / "kept.csv", tmp_path / "link.csv", tmp_path / "pipe.csv"
    kept.write_text("before")
    kept.chmod(0o640)
    link.symlink_to(kept)
    rows(5).to_csv(link)
    assert link.is_symlink()
    assert kept.read_text().startswith("age,")
    assert kept.stat().st_mode & 0o777 == 0o640
    os.mkfifo(pipe)
    circle = tmp_path / "circle.csv"
    circle.symlink_to(circle)
    before = sorted(tmp_path.iterdir())
    for wrong in (pipe, Path(os.devnull), circle, Path("/"), Path(), Path("a\0.csv"), tmp_path):
        for write in (rows(5).to_csv, rows(5).to_parquet):
            with pytest.raises(DataError, match="cannot be written"):
                write(wrong)
        with pytest.raises(DataError, match="cannot be written"):
            check_writable(wrong)
    assert pipe.is_fifo()
    assert Path(os.devnull).is_char_device()
    check_writable(kept)
    check_writable(tmp_path / "new.csv")
    assert sorted(tmp_path.iterdir()) == before


def test_what_is_raised_on_the_way_is_not_taken_for_a_problem_of_the_file(tmp_path: Path) -> None:
    def stop(_: str, __: float) -> None:
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        rows(5).to_csv(tmp_path / "rows.csv", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_pieces_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No piece has more cells than were allowed; the control is the whole table."""
    seen: list[int] = []
    plain = RowPieces.tables

    def watched(self: RowPieces, cells: int) -> Any:
        for piece in plain(self, cells):
            seen.append(piece.num_rows)
            yield piece

    monkeypatch.setattr(RowPieces, "tables", watched)
    monkeypatch.setattr(row_files, "CSV_CELLS", 9 * 64)
    published = rows(1000)
    list(RowPieces(DOMAIN, DOMAIN.names, published.codes).texts(9 * 64))
    assert max(seen) == 64
    seen.clear()
    published.to_arrow()
    assert seen == [1000]
