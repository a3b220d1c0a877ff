"""Neighbouring tables that differ by one hostile unit, in every form in which a table is given.

The unit that one of them has, or has otherwise, is what nobody foresaw: missing, endless, huge or
undeclared values, texts in other cases, more rows than a unit may have, and an id that looks like
another one.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import eke

Row = tuple[Any, ...]  # age, town, rich, pay, id
Table = list[Row]
COLUMNS = ("age", "town", "rich", "pay", "id")
TOWNS = ("Rome", "Oslo", "Bonn")
MEMORY = ("objects", "typed", "arrow")
FILES = ("csv", "parquet", "marginals", "duckdb")

_HOSTILE: tuple[tuple[Any, ...], ...] = (
    (None, math.nan, math.inf, -math.inf, 1e308, -1e308, 2.5, 1e6, -0.0, 5e-324),
    (None, "ROME", "rome", "Rome ", "R\u00f6me", "", "nan", "x" * 3000, 'a"b,c\nd', "<b>&"),
    (None,),
    (None, math.nan, math.inf, -math.inf, 40.0, 40.000001, -1e308, 5e-324, 1e17),
)
# A column of Python objects may hold anything in any row.
_OBJECTS: tuple[tuple[Any, ...], ...] = (
    (10**40, -(10**400), Decimal("1e999999"), Decimal("NaN"), "3", [1, 2], b"x", True, pd.NA),
    (3, math.nan, b"Rome", ("Rome",), pd.NaT, Decimal(1), False),
    (2, "yes", math.nan, 1.0, [], Decimal(0), pd.NA),
    (10**400, Decimal("-1e999999"), "12", {}, True, pd.NaT),
)
# Each class is one individual: the ids in it are equal in their form, and to no others.
_IDS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "objects": (
        (1, 1.0, True, Decimal("1.00")),
        (0, -0.0, False, Decimal("-0")),
        (None, math.nan, pd.NA, Decimal("NaN")),
        (2**127,),
        (2**127 + 1,),
        (2.0**53, 2**53),
        (2**53 + 1,),
        ("Ann",),
        ("ann",),
        ("1",),
        (b"1",),
        (Decimal("1e40"), 10**40),
        (UUID(int=1),),
        ((1, "a"), (1.0, "a")),
    ),
    "typed": ((1,), (0,), (2**63 - 1,), (-(2**63),), (None,), (7,), (8,)),
    "arrow": (
        (Decimal(10) ** 37,),
        (Decimal(10) ** 37 + 1,),
        (Decimal("1.0"), Decimal(1)),
        (Decimal(0), Decimal("-0")),
        (None,),
        (Decimal(7),),
    ),
    "csv": (
        ("1",),
        ("1.0",),
        ("01",),
        ("Ann",),
        ("ann",),
        ("9" * 39,),
        ("9" * 38 + "8",),
        ("e\u0301",),
        ("\u00e9",),
        (None, ""),
    ),
    "duckdb": ((2**126,), (2**126 + 1,), (-(2**126),), (0,), (1,), (None,), (7,)),
}
_IDS["parquet"] = _IDS["marginals"] = _IDS["arrow"]


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """Two neighbouring tables, how they are given, and the settings of their datasets."""

    domain: eke.Domain
    tables: tuple[Table, Table]
    form: str
    settings: dict[str, Any]

    @property
    def measure(self) -> str:
        return "epsilon" if "epsilon" in self.settings else "rho"

    @property
    def in_file(self) -> bool:
        return self.form in FILES

    def place(self, side: int, folder: Path) -> Any:
        """What `eke.create` is given for one of the tables."""
        return _PLACED[self.form](self.tables[side], folder)


def random_neighbours(rng: np.random.Generator, forms: Sequence[str] = ()) -> Neighbours:
    """A pair under a random relation, unit and measure."""
    form = str(rng.choice([*(forms or (*MEMORY, *FILES))]))
    relation = str(rng.choice(["row", "unit", "replace"]))
    domain = random_domain(rng, total=relation == "replace" and bool(rng.random() < 0.8))
    classes = [_IDS[form][int(place)] for place in rng.permutation(len(_IDS[form]))]
    stranger, known = classes[0], classes[1:]
    rows = int(rng.choice([0, 1, 6, 60, 200]))
    table = [_row(rng, form, known, hostile=0.1) for _ in range(rows)]
    neighbour = list(table)
    limit = float(rng.choice([0.5, 3.0, 20.0]))
    settings: dict[str, Any] = {"epsilon": limit} if rng.random() < 0.5 else {"rho": limit}
    if relation == "replace":
        settings["neighbours"] = "replace_one"
        if table:
            neighbour[int(rng.integers(rows))] = _row(rng, form, known, hostile=0.8)
    elif relation == "row":
        neighbour.insert(int(rng.integers(rows + 1)), _row(rng, form, known, hostile=0.6))
    else:
        most = int(rng.integers(1, 4))
        settings["unit"] = eke.Unit("id", rows=most)
        for _ in range(int(rng.integers(1, most + 3))):
            at = int(rng.integers(len(neighbour) + 1))
            neighbour.insert(at, _row(rng, form, [stranger], hostile=0.5))
    tables = (table, neighbour) if rng.random() < 0.5 else (neighbour, table)
    return Neighbours(domain, tables, form, settings)


def plain_neighbours(form: str, rows: int = 60, **settings: Any) -> Neighbours:
    """A pair whose sizes differ by one declared row: what a leak of the size shows at once."""
    rng = np.random.default_rng(rows)
    known = [(7,)] if form != "csv" else [("7",)]
    table = [_row(rng, form, known, hostile=0.0) for _ in range(rows)]
    domain = random_domain(rng, total=True)
    return Neighbours(domain, (table, table[1:]), form, settings or {"epsilon": 3.0})


def random_domain(rng: np.random.Generator, *, total: bool) -> eke.Domain:
    """Four small attributes, a lookup and a derived column; a `total` domain drops no row."""
    null: list[Any] = ["bucket"] if total else ["drop", "bucket"]

    def rule(replacement: object, *more: Any) -> Any:
        choices = [*null, eke.Replace(replacement), *more]  # type: ignore[arg-type]
        return choices[int(rng.integers(len(choices)))]

    domain = eke.Domain(
        age=eke.Integer(0, 5, null=rule(2), outside=rule(0, "clamp")),
        town=eke.Categorical(*TOWNS, null=rule("Oslo"), outside=rule("Bonn")),
        rich=eke.Boolean(null=rule(replacement=True), outside=rule(replacement=False)),
        pay=eke.Binned([0, 10, 20, 40], null=rule(15.0), outside=rule(5.0, "clamp")),
    )
    towns = {"town": ["Rome", "Oslo", "Kyiv"], "country": ["Italy", "Norway", "Ukraine"]}
    return domain.with_lookups(eke.Lookup("towns", ["town"], towns)).with_derived(old="age > 3")


def _row(
    rng: np.random.Generator, form: str, classes: Sequence[Sequence[Any]], hostile: float
) -> Row:
    declared: Row = (
        float(rng.integers(0, 6)),
        str(rng.choice(TOWNS)),
        bool(rng.random() < 0.5),
        float(rng.integers(0, 41)),
    )
    found = []
    for place, plain in enumerate(declared):
        odd = _HOSTILE[place] + (_OBJECTS[place] if form == "objects" else ())
        chosen = odd[int(rng.integers(len(odd)))] if rng.random() < hostile else plain
        found.append(chosen)
    one = classes[int(rng.integers(len(classes)))]
    return (*found, one[int(rng.integers(len(one)))])


# --- the forms -----------------------------------------------------------------------------------


def _columns(table: Table) -> list[list[Any]]:
    return [[row[place] for row in table] for place in range(len(COLUMNS))]


def _objects(table: Table, _: Path) -> pd.DataFrame:
    frame = pd.DataFrame(index=range(len(table)))
    for name, values in zip(COLUMNS, _columns(table), strict=True):
        held = np.empty(len(values), dtype=object)
        held[:] = values
        frame[name] = pd.Series(held, dtype=object)
    return frame


def _typed(table: Table, _: Path) -> pd.DataFrame:
    kinds = ("float64", "string", "boolean", "float64", "Int64")
    named = zip(COLUMNS, _columns(table), kinds, strict=True)
    return pd.DataFrame({name: pd.Series(values, dtype=kind) for name, values, kind in named})


def _arrow(table: Table, _: Path) -> pa.Table:
    kinds = (pa.float64(), pa.string(), pa.bool_(), pa.float64(), pa.decimal128(38, 0))
    named = zip(COLUMNS, _columns(table), kinds, strict=True)
    return pa.table({name: pa.array(values, kind) for name, values, kind in named})


def _csv(table: Table, folder: Path) -> str:
    path = folder / "people.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        writer.writerows(["" if value is None else value for value in row] for row in table)
    return str(path)


def _parquet(table: Table, folder: Path) -> eke.ParquetFile:
    path = folder / "people.parquet"
    pq.write_table(_arrow(table, folder), path)
    return eke.ParquetFile(str(path))


def _marginals(table: Table, folder: Path) -> eke.ParquetFile:
    return eke.ParquetFile(_parquet(table, folder).path, collect="marginals")


def _duckdb(table: Table, folder: Path) -> eke.DuckDBFile:
    path = folder / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people (age DOUBLE, town VARCHAR, rich BOOLEAN, pay DOUBLE, id HUGEINT)"
        )
        if table:
            connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", table)
    return eke.DuckDBFile(str(path), "people")


_PLACED: dict[str, Callable[[Table, Path], Any]] = {
    "objects": _objects,
    "typed": _typed,
    "arrow": _arrow,
    "csv": _csv,
    "parquet": _parquet,
    "marginals": _marginals,
    "duckdb": _duckdb,
}
