"""The rows kept of an id: a function of its own rows and a key, and a fair sample of them."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eke.data import DuckDBFile, open_source
from eke.data.id_mark import duckdb_mark, mark_of, marks
from eke.data.row_sample import PRIME, RowSample
from eke.domain import Attribute, Domain, Integer
from eke.errors import DataError
from eke.privacy.unit import Unit
from tests.unit.data.slow_twin import (
    FIXED,
    all_cells,
    cell_counts,
    fixed_sample,
    ordered,
    polynomial,
    slow_mark,
)

MONTHS = Domain(month=Integer(1, 12))
FLIGHTS = Domain(month=Integer(1, 12), carrier=Integer(0, 15), hour=Integer(0, 23))
SAMPLES = [RowSample(key) for key in ("2/one", "2/two", "before there were marks")]

Codes = tuple[int, ...]
ById = Mapping[Any, Sequence[Codes]]
Kept = Callable[[ById, int], Counter[Codes]]


def value_of(attribute: Attribute, code: int) -> object:
    """The declared value of a code, also of a column whose values are not listed."""
    return attribute.low + code if isinstance(attribute, Integer) else attribute.declared[code]


def frame(table: ById, domain: Domain) -> pd.DataFrame:
    """A table in memory of the coded rows of each id."""
    rows = [(who, codes) for who, some in table.items() for codes in some]
    columns: dict[str, Any] = {
        name: [value_of(attribute, codes[place]) for _, codes in rows]
        for place, (name, attribute) in enumerate(domain.attributes)
    }
    return pd.DataFrame({"who": pd.Series([who for who, _ in rows], dtype=object), **columns})


def engine_keeps(domain: Domain, sample: RowSample) -> Kept:
    def kept(table: ById, most: int) -> Counter[Codes]:
        with fixed_sample(sample):
            return all_cells(open_source(frame(table, domain), domain, Unit("who", most)))

    return kept


def twin_of(sample: RowSample) -> Kept:
    """What the slow twin keeps, marks of ids included."""
    return lambda table, most: Counter(
        codes
        for who, some in table.items()
        for codes in ordered(some, sample, slow_mark(who))[:most]
    )


def twin_keeps(order: Callable[[Sequence[Codes]], Sequence[Codes]]) -> Kept:
    return lambda table, most: Counter(
        codes for some in table.values() if some for codes in order(some)[:most]
    )


def old_rule(table: ById, most: int) -> Counter[Codes]:
    return twin_keeps(partial(ordered, sample=None))(table, most)


# -- the same as the slow twin -------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 4, 50])
def test_the_engine_keeps_what_the_slow_twin_keeps(most: int) -> None:
    rng = np.random.default_rng(most)
    table = {
        who: [tuple(map(int, row)) for row in rng.integers(0, (12, 16, 24), (int(length), 3))]
        * int(rng.integers(1, 4))  # with equal rows
        for who, length in enumerate(rng.integers(1, 20, 30))
    }
    for sample in SAMPLES:
        assert engine_keeps(FLIGHTS, sample)(table, most) == twin_of(sample)(table, most)


def test_the_engine_keeps_what_the_slow_twin_keeps_of_wide_columns() -> None:
    """Amounts that are alike in their low digit, modulo the prime, are told apart by the other."""
    amounts = Domain(month=Integer(1, 12), amount=Integer(-5, 2**40 - 6), hour=Integer(0, 23))
    rng = np.random.default_rng(3)
    table = {
        who: [
            (int(month), int(place) * PRIME + 7, int(hour))
            for month, place, hour in rng.integers(0, (12, 2**14, 24), (12, 3))
        ]
        for who in range(40)
    }
    for sample in SAMPLES:
        assert engine_keeps(amounts, sample)(table, 4) == twin_of(sample)(table, 4)


def test_no_product_is_larger_than_every_engine_holds_exactly() -> None:
    largest_code = 2**25  # of a column whose codes have one digit
    assert max(PRIME * PRIME + PRIME, PRIME * largest_code) < 2**53
    assert all(0 <= n < PRIME for n in (*FIXED.form(9), *FIXED.digesting, *FIXED.ordering))


# -- one id moves its own rows only --------------------------------------------------------------


def check_stable(keeps: Kept, table: ById, most: int) -> None:
    """Without an id its own rows are gone, at most so many, and everybody else's are the same."""
    everybody = keeps(table, most)
    for who, own in table.items():
        others = keeps({one: some for one, some in table.items() if one != who}, most)
        assert everybody - others == keeps({who: own}, most), "its own rows are gone"
        assert not others - everybody, "no row of another id comes instead"
        assert (everybody - others).total() == min(most, len(own))


HOSTILE_IDS = st.none() | st.sampled_from(
    [0, -0.5, True, "a", "A", "a\0", "", "🙂", (1, "x"), b"a"]
)
Rows = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), min_size=1, max_size=9)


@settings(max_examples=6)
@given(table=st.dictionaries(HOSTILE_IDS, Rows, min_size=1, max_size=4), most=st.integers(1, 3))
def test_without_an_id_nobody_elses_rows_change(table: dict[Any, list[Codes]], most: int) -> None:
    domain = Domain(a=Integer(0, 1), b=Integer(0, 2))
    check_stable(engine_keeps(domain, FIXED), table, most)


def test_the_check_catches_a_digest_of_all_ids_together() -> None:
    def together(table: ById, most: int) -> Counter[Codes]:
        digest = sum(len(some) for some in table.values())
        return twin_keeps(
            lambda some: sorted(
                some, key=lambda codes: polynomial(FIXED.ordering, codes[0] + digest)
            )
        )(table, most)

    table = {who: [(who % 3, 0), (5, 0), (7, 1), (9, 2)] for who in range(6)}
    check_stable(twin_keeps(ordered), table, 1)
    with pytest.raises(AssertionError, match="its own rows"):
        check_stable(together, table, 1)


def test_the_order_of_storage_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    table = frame({who: [(int(m),) for m in rng.integers(0, 12, 9)] for who in range(20)}, MONTHS)
    with fixed_sample():
        found = [
            all_cells(open_source(table.sample(frac=1, random_state=n), MONTHS, Unit("who", 2)))
            for n in range(3)
        ]
    assert found[0] == found[1] == found[2]


# -- a fair sample -------------------------------------------------------------------------------


def unfairness(keeps: Kept, table: ById, most: int) -> float:
    """How far the kept rows of each month are from the share that is kept, as a χ² of 11 degrees.

    Of an id with n of its m rows in a month, k of m kept, the number kept in that month is
    hypergeometric if all sets of k rows are equally likely.
    """
    kept = keeps(table, most)
    expected, variance, found = np.zeros(12), np.zeros(12), np.zeros(12)
    for codes, count in kept.items():
        found[codes[0]] += count
    for some in table.values():
        m, k = len(some), min(most, len(some))
        share = np.bincount([codes[0] for codes in some], minlength=12) / m
        expected += k * share
        variance += k * share * (1 - share) * (m - k) / (m - 1)
    return float(np.sum((found - expected) ** 2 / variance)) * 11 / 12


def months_of(rng: np.random.Generator, rows: int) -> list[Codes]:
    return [(int(month),) for month in rng.integers(0, 12, rows)]


def cells_of(rng: np.random.Generator, cells: int, twins: int) -> list[Codes]:
    """A few cells, with many equal rows each."""
    return [tuple(map(int, row)) for row in rng.integers(0, (12, 16, 24), (cells, 3))] * twins


N = 1500  # ids
LARGEST = 40.0  # a χ² of 11 degrees exceeds it with a chance of 4e-5


@pytest.mark.parametrize("most", [1, 6])
def test_months_are_kept_by_their_share(most: int) -> None:
    """N ids of 24 rows each, in a domain of one attribute with 12 values."""
    rng = np.random.default_rng(most)
    table = {who: months_of(rng, 24) for who in range(N)}
    for sample in SAMPLES:
        assert unfairness(engine_keeps(MONTHS, sample), table, most) < LARGEST
    assert unfairness(old_rule, table, most) > 100 * LARGEST, "the order of codes is caught"


def test_months_of_many_equal_rows_are_kept_by_their_share() -> None:
    """N ids of 5 cells with 6 equal rows each."""
    rng = np.random.default_rng(5)
    table = {who: cells_of(rng, cells=5, twins=6) for who in range(N)}
    for sample in SAMPLES:
        assert unfairness(engine_keeps(FLIGHTS, sample), table, 4) < LARGEST
    assert unfairness(old_rule, table, 4) > 100 * LARGEST


def test_the_check_catches_one_order_for_all_ids() -> None:
    """Without the digest of an id's rows all ids prefer the same months."""

    def without_digest(some: Sequence[Codes]) -> list[Codes]:
        factor = FIXED.form(1)[0]
        return sorted(some, key=lambda codes: polynomial(FIXED.ordering, codes[0] * factor))

    rng = np.random.default_rng(6)
    table = {who: months_of(rng, 24) for who in range(N)}
    assert unfairness(twin_keeps(ordered), table, 3) < LARGEST
    assert unfairness(twin_keeps(without_digest), table, 3) > 100 * LARGEST


def test_over_keys_every_row_of_one_id_is_as_likely_to_be_kept() -> None:
    """2,000 keys, one id with a row in each month, of which 3 are kept: 500 times each."""
    year: list[Codes] = [(month,) for month in range(12)]

    def deviation(samples: Iterable[RowSample | None]) -> float:
        kept = Counter(codes for sample in samples for codes in ordered(year, sample)[:3])
        return float(sum((kept[codes] - 500) ** 2 / 375 for codes in year)) * 11 / 12

    assert deviation(RowSample(f"key {n}") for n in range(2000)) < LARGEST
    assert deviation([None] * 2000) > 100 * LARGEST, "the order of codes is caught"


YEAR: list[Codes] = [(month,) for month in range(12)]


@pytest.mark.parametrize("kind", [int, str, float])
def test_ids_with_the_same_rows_keep_different_ones(kind: type) -> None:
    """A panel: N ids with one row in each month, of which 2 are kept; N/6 in each month."""
    panel = {kind(who): YEAR for who in range(N)}
    for sample in SAMPLES[:2]:
        assert unfairness(engine_keeps(MONTHS, sample), panel, 2) < LARGEST
    before = engine_keeps(MONTHS, SAMPLES[2])(panel, 2)
    assert sorted(before.values()) == [N, N], "old datasets keep what they kept"


def test_ids_without_a_mark_keep_the_same_ones() -> None:
    """A stated limit: dates are written down in too many ways."""
    panel = {dt.date(2020, 1, 1 + n): YEAR for n in range(5)}
    assert sorted(engine_keeps(MONTHS, FIXED)(panel, 2).values()) == [5, 5]


def test_marks_are_those_that_engines_compute() -> None:
    values = ["", "a", "ä", "🙂 b", "007", 7, -7, 0, 2**62, "x" * 300]
    with duckdb.connect() as connection:
        for value in values:
            kind = "VARCHAR" if isinstance(value, str) else "BIGINT"
            sql = f"SELECT {duckdb_mark('v', kind)} FROM (SELECT $1::{kind} AS v)"
            assert connection.execute(sql, [value]).fetchall() == [(mark_of(value),)]
    assert mark_of(7) == mark_of(7.0) == mark_of(np.int8(7)) != mark_of("007")
    assert mark_of(True) == mark_of(1)
    assert [mark_of(one) for one in (None, 0.5, b"a", dt.date(2020, 1, 1), (1,))] == [None] * 5
    assert marks(["a", None, "a", 0.5]).to_pylist() == [mark_of("a"), None, mark_of("a"), None]
    assert duckdb_mark("v", "TIMESTAMP") is None


# -- the key -------------------------------------------------------------------------------------


@pytest.fixture
def people() -> pd.DataFrame:
    rng = np.random.default_rng(8)
    return frame({who: months_of(rng, 30) for who in range(40)}, MONTHS)


def test_a_table_opened_again_keeps_the_same_rows(people: pd.DataFrame, tmp_path: Path) -> None:
    people["who"] = people["who"].astype(int)
    unit = Unit("who", 3)
    people.to_csv(tmp_path / "people.csv", index=False)
    with duckdb.connect(tmp_path / "people.duckdb") as connection:
        connection.register("given", people)
        connection.execute("CREATE TABLE people AS FROM given")
    marginals = DuckDBFile(str(tmp_path / "people.duckdb"), collect="marginals")
    with fixed_sample():
        expected = all_cells(open_source(people, MONTHS, unit))
        assert all_cells(open_source(tmp_path / "people.csv", MONTHS, unit)) == expected
    for data in (people, tmp_path / "people.csv", tmp_path / "people.duckdb", marginals):
        source = open_source(data, MONTHS, unit)
        reference = json.loads(json.dumps(source.reference()))
        again = open_source(reference, MONTHS, unit, data=data if data is people else None)
        assert all_cells(again) == all_cells(source) != expected, "each dataset draws a key"
        assert again.reference() == reference
        assert reference["row_key"] not in f"{source!r} {again!r} {source.notes}"


def test_a_reference_without_a_key_keeps_rows_in_the_order_of_codes(
    people: pd.DataFrame, tmp_path: Path
) -> None:
    """Datasets that were made before there was a key stay as they are."""
    people.to_csv(tmp_path / "people.csv", index=False)
    reference = open_source(tmp_path / "people.csv", MONTHS, Unit("who", 3)).reference()
    del reference["row_key"]
    rows = people.to_dict("records")
    first = cell_counts(rows, MONTHS, Unit("who", 3), sample=None)  # type: ignore[arg-type]
    old = open_source(reference, MONTHS, Unit("who", 3))
    assert all_cells(old) == first
    assert "row_key" not in old.reference()


def test_a_table_of_single_rows_has_no_key(people: pd.DataFrame) -> None:
    assert "row_key" not in open_source(people, MONTHS).reference()


@pytest.mark.parametrize("key", ["", None, 7, ["a"]])
def test_a_damaged_key_is_refused(people: pd.DataFrame, tmp_path: Path, key: object) -> None:
    people.to_csv(tmp_path / "people.csv", index=False)
    reference = open_source(tmp_path / "people.csv", MONTHS, Unit("who")).reference()
    with pytest.raises(DataError, match="no valid key of kept rows"):
        open_source({**reference, "row_key": key}, MONTHS, Unit("who"))


def test_the_key_is_random_and_not_shown() -> None:
    assert RowSample.draw() != RowSample.draw()
    assert FIXED.key not in repr(FIXED)
    assert FIXED.digesting != FIXED.ordering != SAMPLES[0].ordering
