"""Drafts fit the table they were read from, round their numbers and survive their file."""

from __future__ import annotations

import datetime as dt
import math

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eke.data import CsvFile, draft_domain, draft_file, open_source
from eke.data.round_edges import round_bounds, round_edges, round_step
from eke.domain import (
    Binned,
    Boolean,
    Categorical,
    Date,
    Integer,
    Numeric,
    Replace,
    Time,
    Timestamp,
    read_domain,
    write_domain,
)
from eke.errors import DataError
from tests.unit.data.real_tables import ADULT
from tests.unit.data.slow_twin import DATA


def test_the_draft_of_adult_is_sensible_and_survives_its_file(tmp_path) -> None:
    draft = draft_file(ADULT, tmp_path / "adult.yaml")
    domain = draft.domain
    assert domain["age"] == Integer(15, 90, "never", "never")
    assert domain["education-num"] == Integer(1, 16, "never", "never")
    assert domain["hours-per-week"] == Integer(0, 100, "never", "never")
    assert domain["sex"] == Categorical("Female", "Male", null="never", outside="never")
    assert domain["race"].size == 5
    occupation = domain["occupation"]
    assert occupation.size == 15
    assert (occupation.null, occupation.outside) == ("bucket", "never")
    assert domain["capital-gain"] == Numeric(0, 100_000, 10, null="never")
    gain = draft_domain(ADULT, bins=20).domain["capital-gain"]
    assert isinstance(gain, Binned)
    assert gain.edges[:3] == (0, 1, 1000)  # nothing gained has a bin of its own
    assert gain.edges[-1] == 100_000
    assert len(draft.notes) == len(domain) == 15
    text = (tmp_path / "adult.yaml").read_text("utf-8")
    assert text.startswith(
        "# DRAFT of a domain. Everything below was read off the data and is PRIV"
    )
    for note in draft.notes:
        assert f"  # {note}\n" in text
    assert read_domain(tmp_path / "adult.yaml") == domain
    assert open_source(ADULT, domain).counts([()])[0].total == 32_561


def test_the_draft_of_census_income_has_the_sizes_of_its_codebook() -> None:
    draft = draft_domain(DATA / "census_income_kdd_9attr.csv.gz")
    assert draft.domain.shape[:9] == (91, 2, 17, 43, 5, 9, 7, 15, 2)


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    n = 400
    return pd.DataFrame(
        {
            "person": [f"p{k}" for k in range(n)],
            "number": rng.permutation(n) * 1000,
            "town": [f"town {k % 30 if k % 2 else k % 79}" for k in range(n)],
            "visitor": [f"v{k % 150}" for k in range(n)],
            "full name": [f"Ann {k % 20}" for k in range(n)],
            "price": [(k % 400) / 100 for k in range(n)],
            "yes": rng.integers(0, 2, n).astype(bool),
            "maybe": pd.array([None, True] * (n // 2), dtype="boolean"),
            "colour": ["red", None, "blue", "red"] * (n // 4),
            "height": rng.normal(170, 9, n),
            "wild": [math.inf, -math.inf, math.nan, 1.5] * (n // 4),
            "code": [10, 2000, 30_000, 10] * (n // 4),
            "one": [7] * n,
            "never": [None] * n,
            "mixed": [1, "a", None, 2.5] * (n // 4),
            "day": [dt.date(2020, 1, 1)] * n,
            "written day": [f"2020-01-{k % 28 + 1:02}" for k in range(n)],
            "birth month": [k % 11 + 1 for k in range(n)],
            "# odd\nname: [": [0, 1] * (n // 2),
        }
    )


def test_every_column_gets_an_attribute_or_a_reason(tmp_path) -> None:
    draft = draft_file(frame(), tmp_path / "draft.yaml")
    drafted, notes = draft.domain, {note.split(": ")[0]: note for note in draft.notes}
    assert drafted["yes"] == Boolean("never", "never")
    assert drafted["maybe"] == Boolean("bucket", "never")
    assert drafted["colour"] == Categorical("blue", "red", null="bucket", outside="never")
    assert drafted["code"] == Categorical(10, 2000, 30_000, null="never", outside="never")
    assert drafted["birth month"] == Integer(1, 12, "never", "never")
    assert drafted["one"] == Integer(7, 7, "never", "never")
    assert drafted["price"] == Numeric(0, 4, 0.01, "never", "never")
    towns = drafted["town"]
    assert towns.size == 51
    assert towns.outside == Replace("other")
    assert drafted["wild"].null == "bucket"
    assert "infinities" in notes['"wild"']
    height = drafted["height"]
    assert isinstance(height, Numeric)
    assert (height.step, height.outside) == (0.01, "clamp")
    assert 4000 < height.size <= 10_001
    for name in ("person", "number", "visitor", "full name"):
        assert "make it the unit" in notes[f'"{name}"']
    assert "95 % have at most 3 rows" in notes['"visitor"']
    for name in ("day", "written day"):
        assert drafted[name] == Date("2020-01-01", "2020-12-31", "never", "never")
        assert "days of whole years" in notes[f'"{name}"']
    for name in ("never", "mixed"):
        assert "left out" in notes[f'"{name}"']
    left_out = {"person", "number", "visitor", "never", "mixed", "full name"}
    assert set(drafted.names) == set(frame().columns) - left_out
    assert read_domain(tmp_path / "draft.yaml") == drafted
    assert open_source(frame(), drafted).counts([()])[0].total == len(frame())


def test_a_draft_reads_like_a_form(tmp_path) -> None:
    """What was seen, what to check, and the other choices of each rule, column by column."""
    draft_file(frame(), tmp_path / "draft.yaml")
    text = (tmp_path / "draft.yaml").read_text("utf-8")
    lines = [line.strip() for line in text.splitlines()]
    place = lines.index("colour:")
    assert lines[place - 2 : place] == [
        '# "colour": the texts that occur',
        "# Check: every value that can occur, also if it did not, and none that only a few have.",
    ]
    assert lines[place + 1 : place + 5] == [
        "type: categorical",
        "values: [blue, red]",
        "'null': bucket        # some are missing; or drop, {replace: value}",
        "outside: never        # or drop, bucket, {replace: value}",
    ]
    month = lines.index("birth month:")
    assert (
        lines[month + 4]
        == "'null': never         # none is missing; or drop, bucket, {replace: value}"
    )
    assert lines[month + 5] == "outside: never        # or drop, bucket, clamp, {replace: value}"
    assert "outside: {replace: other}  # or never, drop, bucket" in lines
    assert lines.count("# Columns left out, and why:") == 1
    assert any(line.startswith('# "person": left out: ') for line in lines)


@pytest.mark.parametrize(
    "name",
    [
        "x",
        "null",
        "yes",
        "a: b",
        "# c",
        "'q'",
        '"',
        "line\nbreak",
        "next\x85one\u2028two",
        "é" * 200,
    ],
)
def test_forms_and_json_hold_the_same_domain(tmp_path, name: str) -> None:
    """Whatever columns and values are called, the form is read as the JSON of the same draft."""
    odd = ["null", "no", "1", " ", "# x", "{a}", "\u2028", "\x85", "- y", "a\nb", "é" * 99, name]
    texts = [*odd, *odd]  # twice each: no ids
    table = pd.DataFrame({name: texts, "n": [0.5, 1.5] * 12, "k": [1.0, math.nan] * 12})
    draft = draft_file(table, tmp_path / "draft.yaml")
    assert name in draft.domain.names
    write_domain(draft.domain, tmp_path / "draft.json")
    form, document = (read_domain(tmp_path / f"draft.{kind}") for kind in ("yaml", "json"))
    assert form == document == draft.domain
    assert form.names == document.names


def test_days_and_hours_are_drafted_by_whole_years(tmp_path) -> None:
    moments = pd.DatetimeIndex(["2013-05-01 10:00", "2015-02-03 23:59", "NaT"])
    table = pd.DataFrame(
        {
            "time": moments,
            "moment": moments.tz_localize("UTC"),
            "text": ["2013-05-01T10:00:00", "2015-02-03", None],
            "told": ["2013-05-01T10:00:00Z", "2015-02-03T05:00+01:00", None],
            "midnight": ["2013-05-01 00:00:00", "2015-02-03 00:00", None],
            "clock": ["05:00", "23:59:00", None],
            "hour": [dt.time(5), dt.time(0), None],
            "long": ["1900-01-01 05:00", "2015-01-01", None],
            "wide": ["1700-01-01", "2015-01-01", None],
            "endless": ["2015-01-01", "9999-12-31", None],
            "nearly": ["2015-01-01", "2015-02-30", None],
        }
    )
    expected = Timestamp("2013-01-01", "2015-12-31", "hour", "bucket", "never")
    in_utc = Timestamp("2013-01-01", "2015-12-31", "hour", "bucket", "never", zone="UTC")
    table.to_csv(tmp_path / "t.csv", index=False)
    for data in (table, tmp_path / "t.csv"):
        draft = draft_domain(data)
        assert draft.domain["time"] == draft.domain["text"] == expected
        assert draft.domain["moment"] == draft.domain["told"] == in_utc
        assert draft.domain["midnight"] == Date("2013-01-01", "2015-12-31", "bucket", "never")
        assert draft.domain["clock"] == Time(step="minute", null="bucket", outside="never")
        assert draft.domain["hour"] == Time(step="hour", null="bucket", outside="never")
        assert draft.domain["long"] == Date("1900-01-01", "2015-12-31", "bucket", "never")
        assert isinstance(draft.domain["nearly"], Categorical)
        wide, endless = (note for note in draft.notes if "left out" in note)
        assert '"wide": left out: it holds dates; 1700-01-01 to 2015-12-31 is too long' in wide
        assert "2015-01-01 to 9999-12-31 is too long, declare it as a Date" in endless
        assert open_source(data, draft.domain).counts([()])[0].total == 3


def test_the_form_of_moments_says_what_to_check(tmp_path) -> None:
    table = pd.DataFrame({"told": ["2013-05-01T10:00:00Z", "2015-02-03T05:00+01:00"]})
    draft = draft_file(table, tmp_path / "draft.yaml")
    text = (tmp_path / "draft.yaml").read_text("utf-8")
    lines = [line.strip() for line in text.splitlines()]
    place = lines.index("told:")
    assert lines[place - 2 : place] == [
        '# "told": hours of whole years, beginning in UTC; write your own zone',
        "# Check: the first and the last step that can occur, not those that did, and its length.",
    ]
    assert lines[place + 1 : place + 6] == [
        "type: timestamp",
        "low: '2013-01-01 00:00:00'",
        "high: '2015-12-31 23:00:00'",
        "step: hour",
        "zone: UTC",
    ]
    assert "outside: never        # or drop, bucket, clamp, {replace: value}" in lines
    assert read_domain(tmp_path / "draft.yaml") == draft.domain


def test_moments_beyond_the_calendar_are_drafted_as_too_long() -> None:
    table = pd.DataFrame({"x": ["0001-01-01T00:00:00+23:59", "2013-01-01T00:00:00Z"], "n": [1, 2]})
    (note,) = (note for note in draft_domain(table).notes if "left out" in note)
    assert "0001-01-01 to 2013-12-31 is too long" in note


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
def test_drafts_of_other_kinds_of_table_agree(tmp_path) -> None:
    small = frame()[["colour", "height", "code"]]
    expected = draft_domain(small).domain
    small.to_csv(tmp_path / "t.csv", index=False)
    small.to_parquet(tmp_path / "t.parquet")
    assert draft_domain(tmp_path / "t.csv").domain == expected
    assert draft_domain(tmp_path / "t.parquet").domain == expected
    assert draft_domain(ibis.memtable(pa.Table.from_pandas(small))).domain == expected


def test_words_of_a_text_file_become_booleans(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("a,b\nyes,T\nNo,\n")
    drafted = draft_domain(CsvFile(tmp_path / "t.csv")).domain
    assert drafted["a"] == Boolean("never", "never")
    assert drafted["b"] == Boolean("bucket", "never")


def test_numbers_with_words_for_missing_ones_are_numbers(tmp_path) -> None:
    """NA among numbers means missing, there and in other columns; among texts alone it is one."""
    (tmp_path / "t.csv").write_text("x,y,z\n1,NA,a\n2,b,?\nNA,b,a\n")
    draft = draft_domain(tmp_path / "t.csv")
    assert draft.missing == ("NA",)
    assert draft.domain["x"] == Integer(1, 2, "bucket", "never")
    assert draft.domain["y"] == Categorical("b", null="bucket", outside="never")
    assert draft.domain["z"] == Categorical("?", "a", null="never", outside="never")
    (tmp_path / "u.csv").write_text("x\nNA\nb\n")
    assert draft_domain(tmp_path / "u.csv").missing == ()


def test_words_that_are_found_out_are_as_good_as_declared_ones(tmp_path) -> None:
    """Whether somebody says that NA is missing or the draft finds it out: one domain."""
    rows = [
        "1,NA,a,yes,NA,2013-01-01",
        "2.5,b,?,no,NA,2013-01-02",
        "NA,b,a,NA,NA,NA",
        "NA,,NA,yes,,",
    ]
    (tmp_path / "t.csv").write_text("\n".join(["x,y,z,t,empty,day", *rows, *rows, ""]))
    found = draft_domain(tmp_path / "t.csv")
    told = draft_domain(CsvFile(tmp_path / "t.csv", null=("NA",)))
    assert (found.missing, told.missing) == (("NA",), ())
    assert found.domain == told.domain
    assert found.notes == told.notes
    assert found.domain["t"] == Boolean("bucket", "never")
    assert found.domain["x"] == Numeric(1, 2.5, 0.1, "bucket", "never")


def test_limits_of_a_draft() -> None:
    table = pd.DataFrame({"t": list("abcabc"), "x": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]})
    assert draft_domain(table, max_categories=1).domain.names == ("x",)
    two = draft_domain(table, max_categories=2).domain["t"]
    assert two == Categorical("a", "b", "other", null="never", outside=Replace("other"))
    assert draft_domain(table, bins=1).domain["x"].size <= 2
    for bad in ({"bins": 0}, {"max_categories": 1.5}, {"table": "t"}):
        with pytest.raises(DataError):
            draft_domain(table, **bad)
    with pytest.raises(DataError, match="no column can be drafted"):
        draft_domain(table[["t"]], max_categories=1)
    with pytest.raises(DataError, match="give a path"):
        draft_domain(7)


@given(
    low=st.floats(-1e308, 1e308),
    high=st.floats(-1e308, 1e308),
    inner=st.lists(st.floats(-1e308, 1e308), max_size=20),
    spike=st.booleans(),
    whole=st.booleans(),
)
def test_edges_always_increase_and_cover_the_data(
    low: float, high: float, inner: list[float], spike: bool, whole: bool
) -> None:
    low, high = sorted((low, high))
    if whole:
        low, high = float(math.floor(low)), float(math.ceil(high))
    cuts = [cut for cut in inner if low <= cut <= high]
    edges = Binned(round_edges(low, high, cuts, spike=spike, whole=whole)).edges
    assert edges[0] <= max(low, -1e300)
    assert edges[-1] >= min(high, 1e300)
    assert len(edges) <= len(cuts) + 3
    assert not whole or all(edge == math.floor(edge) for edge in edges)


@given(low=st.integers(-(10**6), 10**6), width=st.integers(0, 1000))
def test_bounds_cover_the_data_and_are_round(low: int, width: int) -> None:
    below, above = round_bounds(low, low + width)
    assert below <= low <= low + width <= above
    assert above - below <= max(width * 1.25, 20)


@given(st.floats(1e-300, 1e300))
def test_steps_are_one_two_or_five_times_a_power_of_ten(width: float) -> None:
    step = round_step(width)
    assert 0.99 * width <= step <= 2.51 * width
    assert f"{step:.6e}"[:8] in {"1.000000", "2.000000", "5.000000"}


def test_a_draft_says_which_type_would_keep_numbers_as_they_are() -> None:
    rng = np.random.default_rng(1)
    cents = pd.DataFrame(
        {"paid": rng.integers(0, 10**8, 200) / 100, "weight": rng.random(200) * 99}
    )
    draft = draft_domain(cents)
    notes = {note.split(": ")[0]: note for note in draft.notes}
    assert notes['"paid"'].endswith(
        "; type: decimal, scale: 2 would keep them as they are, for exact sums"
    )
    assert "would keep them" not in notes['"weight"']
