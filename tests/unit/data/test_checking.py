"""What a domain does to a table, counted by the engine and by `Attribute.code` row by row."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import ibis
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings

from eke.data import check_table, open_source
from eke.data.table_check import ColumnCheck, TableCheck, UnitCheck
from eke.domain import (
    Attribute,
    Binned,
    Boolean,
    Categorical,
    Domain,
    Integer,
    Numeric,
    Replace,
    domain_from_document,
    domain_to_document,
)
from eke.domain.fate import Fate
from eke.errors import DataError, SecretLeak
from eke.privacy.unit import Unit
from tests.property.test_data import arrow_table as random_arrow
from tests.property.test_data import tables
from tests.unit.data.slow_twin import (
    HOSTILE_FLOATS,
    HOSTILE_INTS,
    HOSTILE_TEXTS,
    OUTSIDE,
    Row,
    attributes_with_every_rule,
    coded_rows,
    value_of_text,
)
from tests.unit.data.test_sources import COLUMNS, DOMAINS, KINDS, ROWS, arrow_table, make, write_csv

# Ibis 12 still calls a method that DuckDB 2 has renamed.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


def strict(attribute: Attribute) -> Attribute:
    """The same values with rules that drop everything else."""
    document = domain_to_document(Domain(x=attribute))
    document["attributes"]["x"] |= {"null": "drop", "outside": "drop"}
    return domain_from_document(document)["x"]


def effect(attribute: Attribute, raw: object) -> str:
    """What becomes of a value that is missing or outside, told by its code and the rules."""
    code = attribute.code(raw)
    if code is None:
        return "dropped"
    if attribute.has_bucket and code == attribute.size - 1:
        return "bucket"
    rule = attribute.null if raw is None else attribute.outside
    if rule == "clamp" and not isinstance(raw, (int, float)):
        rule = attribute.null
    return "replaced" if isinstance(rule, Replace) else "clamped"


def is_rounded(attribute: Attribute, raw: object) -> bool:
    """Whether a number lies between declared ones, and not just by the rounding of doubles."""
    code = attribute.code(raw)
    if not isinstance(attribute, (Integer, Numeric)) or code is None:
        return False
    assert isinstance(raw, (int, float))
    step = attribute.step if isinstance(attribute, Numeric) else 0
    first, between = attribute.progression
    return abs(Fraction(raw) - (first + between * code)) > Fraction(step) / 10**6


def slow_check(rows: list[Row], domain: Domain, unit: Unit | None = None) -> dict[str, Any]:
    """The report as a document, one row and one value after the other."""
    columns = []
    for name, attribute in domain.attributes:
        own = strict(attribute)
        found = Counter(
            {"missing": 0, "outside": 0, "dropped": 0, "clamped": 0, "replaced": 0, "bucket": 0}
            | {"rounded": 0}
        )
        for row in rows:
            value = row[name]
            if isinstance(value, float) and math.isnan(value):
                value = None
            if own.code(value) is None:
                found["missing" if value is None else "outside"] += 1
                found[effect(attribute, value)] += 1
            found["rounded"] += is_rounded(own, value)
        columns.append({"column": name, **found})
    kept = coded_rows(rows, domain)
    counted = len(kept)
    units = None
    if unit is not None:
        everybody = {row[unit.column] for row in rows}
        sizes = Counter(row[unit.column] for row, _ in kept)
        truncated = sum(max(0, size - unit.rows) for size in sizes.values())
        counted -= truncated
        units = {
            "column": unit.column,
            "rows": unit.rows,
            "ids": len(everybody),
            "ids_cut": sum(size > unit.rows for size in sizes.values()),
            "rows_truncated": truncated,
        }
    return {
        "rows": len(rows),
        "kept": counted,
        "dropped": len(rows) - len(kept),
        "columns": columns,
        "unit": units,
    }


def document(found: TableCheck) -> dict[str, Any]:
    told = found.to_dict()
    del told["problems"]
    return told


# -- the same as the slow twin -------------------------------------------------------------------


@pytest.mark.parametrize("which", DOMAINS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_is_checked_as_by_the_slow_twin(
    kind: str, which: str, tmp_path: Path
) -> None:
    found = check_table(make(kind, tmp_path), DOMAINS[which])
    assert document(found) == slow_check(ROWS, DOMAINS[which])


def test_text_files_are_checked_as_they_are_counted(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "people.csv")
    texts = [{n: None if row[n] is None else str(row[n]) for n in COLUMNS} for row in ROWS]
    for which in ("buckets", "replacements", "drops"):
        domain = DOMAINS[which]
        read: list[Row] = [
            {n: value_of_text(_field(row[n]), a) for n, a in domain.attributes} for row in texts
        ]
        found = check_table(path, domain)
        assert document(found) == slow_check(read, domain), which
        assert found.kept == open_source(path, domain).counts([()])[0].total


def _field(text: str | None) -> str | None:
    short = None if text is None else text.strip(" \t")
    return short or None


def test_tables_behind_ibis_and_of_units(tmp_path: Path) -> None:
    for column, rows in (("word", 2), ("day", 3), ("whole", 1)):
        unit = Unit(column, rows)
        expected = slow_check(ROWS, DOMAINS["drops"], unit)
        for data in (arrow_table(), make("parquet", tmp_path), ibis.memtable(arrow_table())):
            found = check_table(data, DOMAINS["drops"], unit)
            assert document(found) == expected
            counted = open_source(data, DOMAINS["drops"], unit).counts([()])[0].total
            assert found.kept == counted


@settings(max_examples=15)
@given(case=tables())
def test_random_tables_are_checked_as_by_the_slow_twin(case: Any) -> None:
    columns, domain, unit = case
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    expected = slow_check(rows, domain, unit)
    assert document(check_table(random_arrow(columns), domain, unit)) == expected
    objects = pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in columns.items()})
    assert document(check_table(objects, domain, unit)) == expected


def test_a_table_without_rows() -> None:
    found = check_table(arrow_table([]), DOMAINS["drops"], Unit("word"))
    assert (found.rows, found.kept, found.dropped, found.truncated) == (0, 0, 0, 0)
    assert found.problems() == []
    assert "0 rows read, 0 kept\n" in str(found)
    assert found.losing_most is None


def test_fates_and_rules_say_what_the_code_says() -> None:
    """For every kind of attribute, rule and hostile value."""
    values = [*HOSTILE_TEXTS, *HOSTILE_FLOATS, *HOSTILE_INTS, True, False, OUTSIDE]
    for attribute in attributes_with_every_rule():
        own = strict(attribute)
        for value in values:
            missing = value is None or (isinstance(value, float) and math.isnan(value))
            fate = attribute.fate(value)
            assert (fate is Fate.MISSING) == missing
            declared = fate in (Fate.DECLARED, Fate.ROUNDED)
            assert declared == (own.code(value) is not None)
            assert (fate is Fate.ROUNDED) == is_rounded(own, value)
            dropped = not declared and attribute.rule_of(fate) in ("drop", "never")
            assert dropped == (attribute.code(value) is None)
            assert attribute.rule_of(fate) != "clamp" or fate is Fate.BEYOND


# -- what it says --------------------------------------------------------------------------------


def some(**changes: Any) -> TableCheck:
    sex = Categorical("F", "M")
    age = Integer(0, 99, null="bucket")
    columns = (
        ColumnCheck(
            "age", age, missing=5, beyond=changes.pop("beyond", 10), undeclared=1, rounded=2
        ),
        ColumnCheck("sex", sex, missing=changes.pop("missing", 0), beyond=0, undeclared=3),
    )
    return TableCheck(**{"rows": 100, "dropped": 3, "columns": columns, **changes})


def test_it_prints_as_a_table() -> None:
    unit = UnitCheck(Unit("who", 4), ids=20, cut=2, truncated=7)
    shown = str(some(unit=unit)).splitlines()
    assert shown[:3] == [
        "100 rows read, 90 kept (90.0 %)",
        "3 rows dropped by the domain",
        "7 rows truncated: 2 of 20 ids (who) have more than 4",
    ]
    assert [line.split() for line in shown[4:]] == [
        [
            "column",
            "missing",
            "outside",
            "dropped",
            "clamped",
            "replaced",
            "bucket",
            "rounded",
            "rules",
        ],
        ["age", "5", "11", "0", "10", "0", "6", "2", "null:", "bucket,", "outside:", "clamp"],
        ["sex", "0", "3", "3", "0", "0", "0", "0", "null:", "drop,", "outside:", "drop"],
    ]
    assert some(unit=unit).short() == (
        "100 rows read, 90 kept (90.0 %): 3 dropped, 7 truncated; 10 values clamped. "
        "Column 'sex' loses most: 3 rows dropped, 3 values not declared."
    )


@pytest.mark.parametrize(
    ("attribute", "counts", "rule"),
    [
        (Integer(0, 9, "never", "never"), (1, 0, 0, 0), "null: never"),
        (Integer(0, 9, "bucket", "never"), (0, 1, 0, 0), "outside: never"),
        (Integer(0, 9, "bucket", "never"), (0, 0, 1, 0), "outside: never"),
        (Integer(0, 9, "bucket", "never"), (0, 0, 0, 1), "outside: never"),
        (
            Integer(0, 9, "never", "clamp"),
            (0, 0, 1, 0),
            "null: never",
        ),  # a text is as good as missing
        (Integer(0, 9, "never", "clamp"), (0, 9, 0, 9), None),
        (Categorical("a", null="never", outside="never"), (0, 0, 0, 0), None),
        (Categorical("a", null="drop", outside="bucket"), (5, 0, 5, 0), None),
    ],
)
def test_a_rule_that_says_never_can_be_contradicted(attribute, counts, rule) -> None:
    column = ColumnCheck("x", attribute, *counts)
    found = TableCheck(rows=20, dropped=0, columns=(column, column)).contradictions()
    assert [f"the rule of 'x', 'x' is {rule}, and" in text for text in found] == [True] * len(found)
    assert len(found) == (rule is not None)


def test_problems_begin_beyond_their_bounds() -> None:
    unit = UnitCheck(Unit("who", 4), ids=20, cut=2, truncated=3)
    assert some().problems() == []
    assert some(dropped=5).problems() == []
    (lost,) = some(dropped=6).problems()
    assert "'sex' drops most, by its rule outside: drop" in lost
    (missing,) = some(dropped=60, missing=57).problems()
    assert "'sex' drops most, by its rule null: drop" in missing
    lines = some(unit=unit).problems()
    assert len(lines) == 2
    assert "ids of column 'who' have more rows than the 4" in lines[1]
    assert len(some(dropped=0, unit=unit).problems()) == 0
    assert some(beyond=46).problems() == []  # 47 of the 95 that are there
    (outside,) = some(beyond=47).problems()
    assert "column 'age' are not declared and follow its rule outside: clamp" in outside


def test_texts_in_a_column_of_numbers_follow_the_rule_of_missing_ones() -> None:
    dropping = ColumnCheck("age", Integer(0, 99), missing=1, beyond=4, undeclared=8)
    assert dropping.effects == {"dropped": 9, "clamped": 4, "replaced": 0, "bucket": 0}
    assert dropping.worst_rule == "null: drop"
    attribute = Boolean(null=Replace(False), outside="drop")
    replacing = ColumnCheck("rich", attribute, missing=2, beyond=0, undeclared=1)
    assert replacing.effects == {"dropped": 1, "clamped": 0, "replaced": 2, "bucket": 0}


def test_it_is_not_stored() -> None:
    with pytest.raises(SecretLeak):
        pickle.dumps(some())


def test_what_is_no_table_is_refused() -> None:
    domain = Domain(a=Binned([0, 1, 2]))
    with pytest.raises(DataError, match="cannot open this kind of object"):
        check_table(7, domain)
    with pytest.raises(DataError, match="no column 'a'"):
        check_table(pa.table({"b": [1]}), domain)
    with pytest.raises(DataError, match="table= goes with"):
        check_table(pa.table({"a": [1]}), domain, table="x")
    with pytest.raises(DataError, match=r"eke\.check\(table, domain\)"):
        check_table(open_source(pa.table({"a": [1]}), domain).reference(), domain)
