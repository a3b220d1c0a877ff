"""A file opened for one question: only the columns that it needs are coded, of the same rows."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from eke.data import file_source, open_source, reduction, reopen_source
from eke.data.scan import Scan
from eke.domain import Categorical, Domain, Integer
from eke.errors import DataError
from eke.privacy.unit import Unit

DOMAIN = Domain(
    a=Integer(0, 4, null="never"),
    b=Categorical("x", "y", null="bucket", outside="bucket"),
    c=Integer(0, 2, null="drop", outside="drop"),
    d=Categorical("p", "q", outside="drop", null="drop"),
)
SUBSETS = [names for size in range(5) for names in combinations(DOMAIN.names, size)]


def people() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "id": rng.integers(0, 80, 500),
            "a": rng.integers(-1, 7, 500),
            "b": rng.choice(["x", "y", "z"], 500),
            "c": rng.integers(0, 4, 500),
            "d": rng.choice(["p", "q", "r"], 500),
        }
    )


@pytest.fixture(params=["csv", "parquet", "duckdb"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path, table = tmp_path / f"people.{request.param}", people()
    if request.param == "csv":
        table.to_csv(path, index=False)
    elif request.param == "parquet":
        table.to_parquet(path)
    else:
        with duckdb.connect(path) as base:
            base.register("given", table)
            base.execute("CREATE TABLE people AS FROM given")
    return path


def reopened(path: Path, unit: Unit | None = None) -> Any:
    """A source that has read nothing yet."""
    made = open_source(path, DOMAIN, unit)
    return reopen_source(made.reference(), DOMAIN, unit, columns="needed")


def same(mine: Any, other: Any) -> bool:
    return bool(
        np.array_equal(mine.codes, other.codes) and np.array_equal(mine.counts, other.counts)
    )


@pytest.fixture
def coded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The attributes that are coded, read by read."""
    reads: list[tuple[str, ...]] = []

    def count_cells(table: Any, domain: Domain, *given: Any, **named: Any) -> Any:
        reads.append(domain.names)
        return reduction.count_cells(table, domain, *given, **named)

    monkeypatch.setattr(file_source, "count_cells", count_cells)
    return reads


def test_every_set_of_columns_counts_the_same_rows(path: Path) -> None:
    """N = 16 sets, each read by itself and from all columns."""
    whole = open_source(path, DOMAIN)
    for names in SUBSETS:
        (mine,), (other,) = reopened(path).counts([names]), whole.counts([names])
        assert same(mine, other), names


def test_what_is_needed_is_read_and_then_all(path: Path, coded: list[tuple[str, ...]]) -> None:
    source = reopened(path)
    coded.clear()
    source.load([("b",)])
    source.counts([("b",)])
    assert coded == [("b", "c", "d")], "and what takes rows out of the table"
    source.counts([("b", "d"), ()])
    assert len(coded) == 1
    source.counts([("a",)])
    assert coded[1:] == [DOMAIN.names]
    source.counts([("b",), ("a", "c")])
    assert len(coded) == 2


def test_all_columns_say_which_rows_of_an_id_are_kept(
    path: Path, coded: list[tuple[str, ...]]
) -> None:
    source = reopened(path, Unit("id", rows=2))
    coded.clear()
    source.counts([("a",)])
    assert coded == [DOMAIN.names]


def test_others_read_all_at_once(path: Path, coded: list[tuple[str, ...]]) -> None:
    made = open_source(path, DOMAIN)
    source = reopen_source(made.reference(), DOMAIN)
    coded.clear()
    source.counts([("b",)])
    assert coded == [DOMAIN.names]
    with pytest.raises(DataError, match="columns must be 'all' or 'needed'"):
        reopen_source(made.reference(), DOMAIN, columns="some")  # type: ignore[arg-type]


def test_lines_that_cannot_be_read_are_left_out_by_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Positive control: without a look at the other columns they would be counted."""
    path = tmp_path / "people.csv"
    path.write_bytes(b"a,b,c,d\n1,x,0,p\n2,\xff\xfe,1,q\n3,y,2,q\n")
    whole = open_source(path, DOMAIN).counts([("a",)])[0]
    assert whole.total == 2
    assert same(reopened(path).counts([("a",)])[0], whole)
    plain = Scan.table

    def careless(self: Scan, *given: Any, **_: Any) -> Any:
        return plain(self, *given)

    monkeypatch.setattr(Scan, "table", careless)
    assert reopened(path).counts([("a",)])[0].total == 3
