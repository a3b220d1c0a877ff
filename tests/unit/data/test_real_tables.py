"""The public tables load with their published counts, equal to a count in plain Python."""

from __future__ import annotations

import csv
import gzip
from collections import Counter

from eke.data import open_source
from eke.domain import Boolean, Categorical, Domain, Integer
from tests.unit.data.real_tables import ADULT, ADULT_COLUMNS, ADULT_TEST, adult_domain
from tests.unit.data.slow_twin import DATA, all_cells, as_counter


def adult_rows() -> list[dict[str, object]]:
    with gzip.open(DATA / "adult.data.gz", "rt") as file:
        fields = [line.split(", ") for line in map(str.strip, file) if line]
    rows = [dict(zip(ADULT_COLUMNS, row, strict=True)) for row in fields]
    numbers = ("age", "capital-gain")
    return [{k: int(v) if k in numbers else v for k, v in row.items()} for row in rows]


def test_adult_has_its_published_counts() -> None:
    domain = adult_domain()
    source = open_source(ADULT, domain)
    total, sex, income, workclass = source.counts([(), ("sex",), ("income",), ("workclass",)])
    assert total.total == 32_561
    assert as_counter(sex) == {(0,): 10_771, (1,): 21_790}
    assert as_counter(income) == {(0,): 24_720, (1,): 7_841}
    assert as_counter(workclass)[8,] == 1_836  # the question marks
    slow = Counter(
        tuple(a.code(None if row[n] == "?" else row[n]) for n, a in domain.attributes)
        for row in adult_rows()
    )
    assert all_cells(source) == slow


def test_both_files_of_adult_have_48842_rows() -> None:
    test = open_source(ADULT_TEST, adult_domain("."))
    assert test.counts([()])[0].total == 16_281
    coded = DATA / "adult_pgm.csv.gz"
    whole = open_source(coded, Domain({"sex": Boolean(), "income>50K": Boolean()}))
    assert whole.counts([()])[0].total == 48_842 == 32_561 + 16_281


def test_census_income_has_its_published_counts() -> None:
    domain = Domain(
        age=Integer(0, 90),
        sex=Categorical("Female", "Male"),
        income=Categorical("<=50K", ">50K"),
        year=Categorical(94, 95),
    )
    source = open_source(DATA / "census_income_kdd_9attr.csv.gz", domain)
    assert source.counts([()])[0].total == 299_285
    with gzip.open(DATA / "census_income_kdd_9attr.csv.gz", "rt", newline="") as file:
        slow = Counter(
            (int(r["age"]), ("Female", "Male").index(r["sex"]), int(r["income"] == ">50K"))
            for r in csv.DictReader(file)
        )
    assert as_counter(source.counts([("age", "sex", "income")])[0]) == slow
