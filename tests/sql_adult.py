"""Adult as the SQL tests see it: a compact domain, the rows, and DuckDB's view of the same rows.

The view is written down by hand: bins hold midpoints, values beyond the domain are clamped, and
what falls into a bucket is NULL. It shares no code with `eke.sql` or `eke.data`.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from eke.data import Counts, open_source
from eke.domain import Binned, Boolean, Categorical, Domain, Integer
from eke.query import Marginal, Query
from eke.question import AskedBlock, GroupKey, Partition, PerRow, Question, ResultRow, Stacked

DATA = Path(__file__).resolve().parents[1] / "data" / "adult.data.gz"

WORKCLASSES = (
    *("Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov"),
    *("Without-pay", "Never-worked"),
)
MARITAL = (
    *("Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent"),
    *("Never-married", "Separated", "Widowed"),
)
HOURS = (0, 20, 35, 40, 41, 60, 100)
GAIN = (0, 1, 5000, 10000, 50000)


def compact_domain() -> Domain:
    """Ten columns of every kind; four of them have a bucket for NULL."""
    return Domain(
        age=Integer(17, 80),
        education_num=Integer(1, 16, null="bucket"),
        workclass=Categorical(*WORKCLASSES, null="bucket"),
        marital_status=Categorical(*MARITAL),
        sex=Categorical("Female", "Male"),
        hours=Binned(HOURS),
        gain=Binned(GAIN, null="bucket"),
        married=Boolean(null="bucket"),
        tier=Categorical(1, 2, 3),
        income=Categorical("<=50K", ">50K"),
    )


# Where the occupation is unknown, so are the schooling and whether one is married.
_RAW = """
    CREATE TABLE raw AS SELECT
        column00::BIGINT AS age,
        CASE WHEN column06 <> '?' THEN column04::BIGINT END AS education_num,
        NULLIF(column01, '?') AS workclass,
        column05 AS marital_status,
        column09 AS sex,
        column12::BIGINT AS hours,
        CASE WHEN column01 <> 'Private' THEN column10::BIGINT END AS gain,
        CASE WHEN column06 <> '?' THEN column05 LIKE 'Married%' END AS married,
        (1 + (column04::INT >= 9)::INT + (column04::INT >= 13)::INT)::BIGINT AS tier,
        column14 AS income
    FROM (SELECT COLUMNS(*)::VARCHAR.trim() FROM read_csv(
        '{path}', header = false, all_varchar = true, null_padding = true))
    WHERE column14 IS NOT NULL
"""


def _midpoints(name: str, edges: tuple[int, ...]) -> str:
    inner = " ".join(
        f"WHEN {name} < {high} THEN {(low + high) / 2}::DOUBLE"
        for low, high in pairwise(edges[:-1])
    )
    last = (edges[-2] + edges[-1]) / 2
    return f"CASE WHEN {name} IS NULL THEN NULL {inner} ELSE {last}::DOUBLE END AS {name}"


class Adult:
    """The rows: raw ones counted by eke's own data source, and DuckDB's view of them."""

    def __init__(self, rows: int | None = None) -> None:
        self.domain = compact_domain()
        self.engine = duckdb.connect(config={"threads": 1})
        self.engine.execute(_RAW.format(path=DATA))
        limit = "" if rows is None else f"LIMIT {rows}"
        self.source = open_source(
            self.engine.sql(f"SELECT * FROM raw {limit}").to_arrow_table(), self.domain
        )
        self.engine.execute(
            "CREATE TABLE adult AS SELECT LEAST(GREATEST(age, 17), 80) AS age, education_num, "
            f"workclass, marital_status, sex, {_midpoints('hours', HOURS)}, "
            f"{_midpoints('gain', GAIN)}, married, tier, income FROM (SELECT * FROM raw {limit})"
        )

    def answer(self, sql: str) -> list[tuple[Any, ...]]:
        """DuckDB's own rows."""
        return self.engine.execute(sql).fetchall()

    def exact(self, query: Query) -> Fraction:
        """The exact value of a query: its coefficients times eke's counts."""
        (counts,) = self.source.counts([query.attributes])
        whole = query.exact(counts.attributes, counts.codes, counts.counts)
        return whole * Fraction(2) ** query.exponent + query.constant

    def cells(self, block: Marginal | Partition) -> list[Fraction | None]:
        """The exact value of each cell of a block, from one pass over the counts."""
        inside = block.inside
        keys = block.keys_by if isinstance(block, Partition) else ()
        names = [key.attribute for key in keys if key.attribute]
        names += [] if isinstance(block, Partition) else block.attributes
        names += [name for key in keys for part in key.parts for name in part.attributes]
        wanted = self.domain.in_order([*names, *inside.attributes])
        (counts,) = self.source.counts([wanted])
        column = dict(zip(counts.attributes, counts.codes.T, strict=True))
        if isinstance(block, Partition):
            places = [_key_places(key, counts, column) for key in keys]
        else:
            places = [column[name] for name in block.attributes]
        flat = np.ravel_multi_index(tuple(places), block.shape)
        totals = [0] * block.cells
        values = inside.numerators(counts.attributes, counts.codes)
        for cell, value, count in zip(flat, values, counts.counts.tolist(), strict=True):
            totals[cell] += value * count
        return [total * Fraction(2) ** inside.exponent for total in totals]

    def rows(self, statement: Question) -> list[ResultRow]:
        """Every row of the result with its exact aggregates, before HAVING and LIMIT."""
        blocks = [self._values(block) for block in statement.blocks]
        return [
            ResultRow(keys, tuple(values[cell] for values in blocks))
            for keys, cell in zip(statement.keys(), statement.cells(), strict=True)
        ]

    def _values(self, block: AskedBlock) -> list[Fraction | None]:
        """The exact value of each cell of a block of any kind."""
        if isinstance(block, Stacked):
            return [value for part in block.parts for value in self._values(part)]
        if isinstance(block, PerRow):
            return [None if row is None else self.exact(row) for row in block.rows]
        return [self.exact(block)] if isinstance(block, Query) else self.cells(block)


def _key_places(key: GroupKey, counts: Counts, column: dict[str, Any]) -> Any:
    """The place of each cell's label; every cell must have exactly one."""
    if key.attribute:
        return column[key.attribute]
    hits = []
    for part in key.parts:
        assert part.exponent >= 0 or part.is_zero
        unit = 2**part.exponent if not part.is_zero else 1
        hits.append([unit * n for n in part.numerators(counts.attributes, counts.codes)])
    table = np.array(hits)
    assert ((table == 0) | (table == 1)).all()
    assert (table.sum(axis=0) == 1).all()
    return table.argmax(axis=0)
