"""Random small tables, domains and units: counts equal the slow twin."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eke.data import open_source
from eke.data.identity import numbered
from eke.domain import Attribute, Binned, Boolean, Categorical, Domain, Integer, Replace
from eke.privacy.unit import Unit
from tests.unit.data.slow_twin import (
    all_cells,
    as_counter,
    cell_counts,
    fixed_sample,
    marginal,
)

ARROW = {"i": pa.int64(), "f": pa.float64(), "s": pa.string(), "b": pa.bool_()}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "i": st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5),
    "f": st.floats() | st.sampled_from([0.0, -0.0, 0.5, 1.0, 2.5, 3.0]),
    "s": st.sampled_from(["a", "b", "é", "", "1", "o'k"]) | st.text("ab'\"\\%🙂", max_size=3),
    "b": st.booleans(),
}


@st.composite
def attributes(draw: st.DrawFn) -> Attribute:
    null = draw(st.sampled_from(["drop", "bucket", "replace"]))
    outside = draw(st.sampled_from(["drop", "bucket", "clamp", "replace"]))
    kind = draw(st.sampled_from([Categorical, Boolean, Integer, Binned]))
    if kind is Categorical:
        values: list[Any] = draw(
            st.lists(st.integers(-3, 3), min_size=1, unique=True)
            | st.lists(VALUES["s"], min_size=1, max_size=5, unique=True)
        )
        replacement: Any = values[-1]
    elif kind is Boolean:
        values, replacement = [], True
    elif kind is Integer:
        low = draw(st.integers(-5, 5) | st.integers(2**40, 2**41))
        values = [low, low + draw(st.integers(0, 6))]
        replacement = values[1]
    else:
        edges = st.floats(-10, 10) | st.integers(-10, 10) | st.sampled_from([0.1, 1e300, -1e300])
        cuts = draw(st.lists(edges, min_size=2, max_size=6, unique_by=float))
        values, replacement = [sorted(cuts)], min(cuts)
    rules = {"null": null, "outside": outside}
    if kind in (Categorical, Boolean) and outside == "clamp":
        rules["outside"] = "bucket"
    given_rules = {k: Replace(replacement) if v == "replace" else v for k, v in rules.items()}
    attribute: Attribute = kind(*values, **given_rules)
    return attribute


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, list[Any]], Domain, Unit | None]:
    rows = draw(st.integers(0, 25))
    names = draw(st.lists(st.sampled_from("ifsb"), min_size=1, max_size=3, unique=True))
    columns = {
        name: draw(st.lists(st.none() | VALUES[name], min_size=rows, max_size=rows))
        for name in names
    }
    columns["who"] = draw(st.lists(st.none() | st.integers(0, 3), min_size=rows, max_size=rows))
    unit = draw(st.none() | st.builds(Unit, st.just("who"), st.integers(1, 3)))
    return columns, Domain({name: draw(attributes()) for name in names}), unit


def arrow_table(columns: dict[str, list[Any]]) -> pa.Table:
    kinds = {**ARROW, "who": pa.int64()}
    return pa.table({name: pa.array(v, kinds[name]) for name, v in columns.items()})


@pytest.mark.parametrize("form", ["arrow", "polars", "objects"])
@settings(max_examples=20)
@given(case=tables())
def test_counts_of_random_tables_equal_the_slow_twin(form: str, case) -> None:
    columns, domain, unit = case
    data: object = arrow_table(columns)
    if form == "polars":
        data = pl.from_arrow(arrow_table(columns))
    if form == "objects":
        data = pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in columns.items()})
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    expected = cell_counts(rows, domain, unit)
    with fixed_sample():
        source = open_source(data, domain, unit)
    assert all_cells(source) == expected
    last = domain.names[-1:]
    total, one = source.counts([(), last])
    assert total.total == one.total == expected.total() <= len(rows)
    assert as_counter(one) == marginal(expected, domain, last)
    assert domain.total <= (unit is not None or total.total == len(rows))


NUMBERS = (
    st.integers(-3, 3)
    | st.sampled_from([2**53, 2**53 + 1, 2**64, 10**400])
    | st.sampled_from([0.0, -0.0, 0.1, 1.0, 2.0**53, 2.0**64, math.inf, -math.inf])
    | st.booleans()
    | st.fractions(-2, 2, max_denominator=2)
    | st.decimals(-2, 2, allow_nan=False, places=1)
    | st.builds(complex, st.integers(-1, 1), st.integers(0, 1))
)
TEXTS = st.text("aA\0", max_size=2)
PLAIN = NUMBERS | TEXTS | TEXTS.map(str.encode) | st.dates(date(2020, 1, 1), date(2020, 1, 2))


@settings(max_examples=60)
@given(values=st.lists(st.none() | PLAIN | st.tuples(PLAIN, PLAIN | st.none()), max_size=12))
def test_objects_have_one_number_exactly_when_they_are_equal(values) -> None:
    column = numbered(values)
    assert column is not None
    for one, first in zip(values, column.to_pylist(), strict=True):
        for other, second in zip(values, column.to_pylist(), strict=True):
            assert (first == second) == (one == other)


@settings(max_examples=15)
@given(
    values=st.lists(st.floats() | st.integers(-(10**30), 10**30), min_size=1, max_size=20),
    attribute=attributes(),
)
def test_numbers_survive_the_way_through_a_text_file(tmp_path_factory, values, attribute) -> None:
    """What Python writes as a number, a text file is read as, to the last digit."""
    if isinstance(attribute, Categorical) and isinstance(attribute.values[0], str):
        return
    path = tmp_path_factory.mktemp("text") / "t.csv"
    path.write_text("n,x\n" + "".join(f"{n},{v!r}\n" for n, v in enumerate(values)))
    domain = Domain(x=attribute)
    floats = [None if isinstance(v, float) and math.isnan(v) else float(v) for v in values]
    expected = cell_counts([{"x": v} for v in floats], domain)
    assert all_cells(open_source(path, domain)) == expected
