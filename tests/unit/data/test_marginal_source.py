"""A source that holds nothing but the tables of counts that were asked for."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import eke
from eke.data import MarginalSource, ParquetFile, open_source
from eke.data.cells import Cells, cells_of_rows
from eke.data.grouping import Scanned, scan_sets
from eke.data.source import Rows
from eke.domain import Domain, Integer
from eke.errors import DataError, SecretLeak

DOMAIN = Domain({name: Integer(0, 99) for name in "abcd"})
ROWS = Rows(DOMAIN.names, np.random.default_rng(1).integers(0, 100, (200, 4)))


class Scanning:
    """Counts scans of a table in memory."""

    def __init__(self, domain: Domain = DOMAIN, rows: Rows = ROWS) -> None:
        self.whole = cells_of_rows(rows, domain.shape)
        self.sizes = dict(zip(domain.names, domain.shape, strict=True))
        self.scans: list[tuple[tuple[str, ...], ...]] = []
        self.checks = 0
        self.source = MarginalSource(
            domain, None, scan=self.scan, check=self.check, reference={"kind": "test"}
        )

    def check(self) -> None:
        self.checks += 1

    def scan(self, sets: Sequence[tuple[str, ...]]) -> list[Cells]:
        self.scans.append(tuple(sets))
        tables = []
        for names in sets:
            found = self.whole.marginal(names)
            sizes = tuple(self.sizes[name] for name in names)
            tables.append(Cells(names, sizes, tuple(found.codes.T), found.counts))
        return tables


def test_a_plan_is_one_scan_and_what_it_gave_is_kept() -> None:
    scanning = Scanning()
    first = scanning.source.counts([("a", "b"), ("c",), ("d",), ("b", "a"), ()])
    assert len(scanning.scans) == 1
    again = scanning.source.counts([("a",), ("c",), ()])
    assert len(scanning.scans) == 1, "sums of what is held"
    assert again[0].counts.tolist() == scanning.whole.marginal(("a",)).counts.tolist()
    assert first[3].codes.tolist() == scanning.whole.marginal(("b", "a")).codes.tolist()
    scanning.source.counts([("a", "b"), ("a", "c")])
    assert scanning.scans[1] == (("a", "c"),), "only what is missing is counted"
    assert scanning.checks == 1


def test_what_is_held_is_bounded_by_the_domain_and_the_last_used_stays() -> None:
    names = "abcdefgh"
    domain = Domain({name: Integer(0, 2**12 - 1) for name in names})
    scanning = Scanning(domain, Rows(tuple(names), np.zeros((3, 8), np.int64)))
    pairs = [("a", "b"), ("c", "d"), ("a", "b"), ("e", "f")]
    for pair in pairs:
        scanning.source.counts([pair])
    assert len(scanning.scans) == 3
    scanning.source.counts([("a", "b"), ("e", "f")])
    assert len(scanning.scans) == 3
    scanning.source.counts([("c", "d")])
    assert len(scanning.scans) == 4, "forgotten long before"


def test_others_may_ask_while_it_scans() -> None:
    """A table that somebody else lets go of meanwhile still serves whoever began with it."""
    names = "abcdefgh"
    domain = Domain({name: Integer(0, 2**12 - 1) for name in names})
    scanning = Scanning(domain, Rows(tuple(names), np.zeros((3, 8), np.int64)))
    source, plain = scanning.source, scanning.scan
    source.counts([("a", "b")])

    def scan(sets: Sequence[tuple[str, ...]]) -> list[Cells]:
        if ("c", "d") in sets:
            asking = threading.Thread(target=source.counts, args=([("e", "f"), ("g", "h")],))
            asking.start()
            asking.join()
        return plain(sets)

    source._scan = scan
    found = source.counts([("a",), ("c", "d")])
    assert [int(table.total) for table in found] == [3, 3]
    assert len(scanning.scans) == 3
    assert set(source._held) == {("a", "b"), ("c", "d")}, "used last, and no more than fit"


def test_too_many_cells_are_refused_before_anything_is_read() -> None:
    domain = Domain(a=Integer(0, 2**13 - 1), b=Integer(0, 2**12 - 1))
    scanning = Scanning(domain, Rows(("a", "b"), np.zeros((3, 2), np.int64)))
    with pytest.raises(DataError, match="ask about fewer attributes"):
        scanning.source.load([("a",), ("a", "b")])
    assert scanning.checks == 0
    with pytest.raises(DataError, match="ask about fewer attributes"):
        scanning.source.counts([("a", "b")])
    assert scanning.scans == []


def test_nothing_of_it_can_be_printed_pickled_or_listed() -> None:
    source = Scanning().source
    assert repr(source) == "MarginalSource(a, b, c, d; the rows are not shown)"
    with pytest.raises(SecretLeak):
        pickle.dumps(source)
    with pytest.raises(DataError, match="never read row by row"):
        source.rows()


# -- through a session ---------------------------------------------------------------------------


@pytest.fixture
def parquet(tmp_path: Path) -> ParquetFile:
    rng = np.random.default_rng(2)
    names = [f"x{i}" for i in range(8)]
    table = pa.table({name: rng.integers(0, 16, 3000) for name in names})
    pq.write_table(table, tmp_path / "wide.parquet")
    return ParquetFile(str(tmp_path / "wide.parquet"), "marginals")


WIDE = Domain({f"x{i}": Integer(0, 15) for i in range(8)})


def test_a_dataset_counted_by_marginals_is_asked_like_any_other(
    tmp_path: Path, parquet: ParquetFile
) -> None:
    session = eke.create(tmp_path / "wide.eke", parquet, WIDE, epsilon=5.0)
    exact = open_source(ParquetFile(parquet.path), WIDE).counts([("x1", "x2")])[0]
    inside = exact.counts[(exact.codes[:, 0] <= 7) & (exact.codes[:, 1] == 3)].sum()
    answer = session.ask(eke.count(x1=(0, 7), x2=3), within=20)
    assert abs(answer.value - inside) < 60
    again = eke.open(tmp_path / "wide.eke")
    assert again.ask(eke.count(x1=(0, 7), x2=3), within=20).free
    assert not again.ask(eke.count(x5=1), within=20).free


def test_a_question_that_needs_too_many_counts_costs_nothing(
    tmp_path: Path, parquet: ParquetFile
) -> None:
    session = eke.create(tmp_path / "wide.eke", parquet, WIDE, epsilon=5.0)
    every = eke.count(dict.fromkeys(WIDE.names[:7], 3))
    with pytest.raises(DataError, match="ask about fewer attributes"):
        session.ask(every, within=100)
    assert session.budget.spent == 0
    assert not session.ask(eke.count(dict.fromkeys(WIDE.names[:6], 3)), within=100).free


def test_rows_are_not_published_from_it_and_nothing_is_charged(
    tmp_path: Path, parquet: ParquetFile
) -> None:
    total = Domain({name: Integer(0, 15, null="bucket", outside="clamp") for name in WIDE.names})
    session = eke.create(
        tmp_path / "wide.eke", parquet, total, epsilon=5.0, neighbours="replace_one"
    )
    with pytest.raises(DataError, match="never read row by row"):
        session.publish("pca", components=2, epsilon=1.0)
    assert session.budget.spent == 0


def test_an_adaptive_publication_names_its_tables_and_reads_once(
    tmp_path: Path, parquet: ParquetFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = Domain({name: WIDE[name] for name in WIDE.names[:3]})
    session = eke.create(tmp_path / "wide.eke", parquet, domain, epsilon=5.0)
    scans: list[Sequence[tuple[str, ...]]] = []

    def counted(rows: Any, sets: Sequence[tuple[str, ...]], *others: Any) -> Scanned:
        scans.append(sets)
        return scan_sets(rows, sets, *others)

    monkeypatch.setattr("eke.data.file_source.scan_sets", counted)
    published = session.publish("max_entropy", rows=100, epsilon=1.0)
    assert len(published.codes) == 100
    assert len(scans) == 1
