"""Ids of views are compared as the tables that they come from compare them, or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eke.data import CsvFile, DuckDBFile, ParquetFile, open_source, view
from eke.domain import Domain, Integer
from eke.errors import DataError
from eke.privacy.unit import Unit
from eke.session.view import View
from tests.unit.data.id_check import LENGTH, ONE, Classes, check_ids, classes_of
from tests.unit.data.id_kinds import ARROW, arrow_column
from tests.unit.data.test_file_ids import COLUMNS, PARQUET, database, own_groups
from tests.unit.data.test_file_ids import parquet as parquet_files
from tests.unit.data.test_ids import PANDAS, arrow_classes

ROWS = range(LENGTH)
FORMS = (
    "SELECT {who}, {row} FROM t",
    " UNION ALL ".join(f"SELECT {{who}}, {{row}} FROM t WHERE {{row}} {w}" for w in ("< 9", "> 8")),
    "SELECT a.{who}, a.{row} FROM t AS a JOIN s AS b ON CAST(a.{row} AS BIGINT) = b.n",
    "SELECT {who}, {row}, COUNT(*) AS n FROM t GROUP BY {who}, {row}",
)
"""What a view may do to an id on its way: nothing, put parts together, join, group."""
NUMBERS = pa.table({"n": ROWS})

__all__ = ["database", "parquet_files"]  # fixtures


def outcome(everybody: object, others: object, column: str, own: Classes, form: str) -> str:
    """Whether a view over a table has ids like it, or is refused; else the check fails."""
    text = form.format(who=f'"{column}"', row='"row"')
    more = {"s": NUMBERS} if " JOIN " in form else {}
    try:
        all_of_them, fewer = (View(text, {"t": table, **more}) for table in (everybody, others))
        check_ids(all_of_them, fewer, column, own, len(own))
    except DataError:
        return "refused"
    return "right"


def counted(kinds: Iterable[str], check: Callable[[str, str], str]) -> dict[str, int]:
    """How many kinds of ids have which outcome, the forms of views taking turns."""
    pairs = zip(kinds, cycle(FORMS), strict=False)
    return dict(Counter(check(kind, form) for kind, form in pairs))


def all_counted(kinds: Iterable[str], check: Callable[[str, str], str]) -> None:
    """The outcome of a kind is the same in all forms; fewer kinds make groups."""
    for kind in kinds:
        *outcomes, grouped = (check(kind, form) for form in FORMS)
        assert len(set(outcomes)) == 1, kind
        assert grouped in ("refused", *outcomes), kind


def check_arrow(kind: str, form: str = FORMS[0]) -> str:
    column = arrow_column(kind)
    table = pa.table({"who": column, "row": ROWS})
    own = arrow_classes(column)
    return outcome(table, table.slice(len(ONE)), "who", own, form)


def test_ids_of_views_of_arrow_tables() -> None:
    found = counted(ARROW, check_arrow)
    assert found["right"] > 20, found


def check_pandas(kind: str, form: str) -> str:
    series = PANDAS[kind]()
    frame = pd.DataFrame({"who": series, "row": ROWS})
    own = classes_of(pd.factorize(series)[0].tolist())
    return outcome(frame, frame.iloc[len(ONE) :], "who", own, form)


def test_ids_of_views_of_pandas_tables() -> None:
    found = counted(PANDAS, check_pandas)
    assert found["right"] > 20, found


def check_parquet(files: tuple[Path, Path], kind: str, form: str) -> str:
    own = arrow_classes(pq.read_table(files[0], columns=[kind])[kind])
    everybody, others = (ParquetFile(str(path)) for path in files)
    return outcome(everybody, others, kind, own, form)


def test_ids_of_views_of_parquet_files(parquet_files: tuple[Path, Path]) -> None:
    found = counted(PARQUET, partial(check_parquet, parquet_files))
    assert found["right"] > 20, found


def check_duckdb(path: Path, column: str, form: str = FORMS[0]) -> str:
    own, _ = own_groups(path, column)
    everybody, others = (DuckDBFile(str(path), table) for table in ("people", "fewer"))
    return outcome(everybody, others, column, own, form)


@pytest.mark.long
def test_ids_of_views_of_duckdb_files(database: Path) -> None:
    found = counted(COLUMNS, partial(check_duckdb, database))
    assert found["right"] > 20, found


@pytest.mark.long
def test_ids_of_views_in_all_forms(database: Path, parquet_files: tuple[Path, Path]) -> None:
    all_counted(ARROW, check_arrow)
    all_counted(PANDAS, check_pandas)
    all_counted(PARQUET, partial(check_parquet, parquet_files))
    all_counted(COLUMNS, partial(check_duckdb, database))


def test_ids_of_views_of_text_files(tmp_path: Path) -> None:
    fields = [f"{'a' if n in ONE else 'b' if n % 2 else 'B'}{' ' * (n % 3)}" for n in ROWS]
    for name, first in (("all.csv", 0), ("others.csv", len(ONE))):
        lines = [f"{field},{n}" for n, field in enumerate(fields) if n >= first]
        (tmp_path / name).write_text("\n".join(["who,row", *lines, ""]), "utf-8")
    own = classes_of(field.strip(" ") for field in fields)
    everybody, others = (CsvFile(tmp_path / name) for name in ("all.csv", "others.csv"))
    for form in FORMS:
        text = form.replace("WHERE {row}", "WHERE CAST({row} AS INTEGER)")
        assert outcome(everybody, others, "who", own, text) == "right"


def test_a_table_whose_key_is_rounded_or_compared_otherwise_carries_no_id(
    tmp_path: Path, database: Path
) -> None:
    """Persons of a joined table would share rows of another person, or have those of two."""
    coarse, fine = pa.array([0, 1], pa.time64("us")), pa.array([0, 1], pa.time64("ns"))
    visits = pa.table({"who": coarse, "row": [0, 1]})
    text = "SELECT v.who, v.row, p.n FROM visits v JOIN people p USING (who)"
    domain = Domain(row=Integer(0, 1), n=Integer(0, 1))
    for times, error in ((coarse, None), (fine, "cannot be the id of a unit")):
        people = pa.table({"who": times, "n": [0, 1]})
        view_of_both = View(text, {"visits": visits, "people": people})
        assert view_of_both.promise(Unit("who")).protected == ("visits", "people")
        if error is None:
            open_source(view_of_both, domain, Unit("who"))
            continue
        with pytest.raises(DataError, match=error):
            open_source(view_of_both, domain, Unit("who"))


def test_the_check_catches_what_the_engine_rounds(monkeypatch: Any, database: Path) -> None:
    """Positive controls: nanoseconds of a day, and texts whose case their table ignores."""
    assert check_arrow("time64") == "refused"
    monkeypatch.setattr(view, "_is_exact", lambda _: True)
    with pytest.raises(AssertionError):
        check_arrow("time64")
    monkeypatch.setattr(view, "_is_plain", lambda *_: True)
    ignored = next(c for c, (kind, _) in COLUMNS.items() if kind == "VARCHAR COLLATE NOCASE")
    with pytest.raises(AssertionError):
        check_duckdb(database, ignored)
