"""Adult as in COMP §4.1: the 45,222 complete records, 35 features, income as the class.

Another table can stand in its place (`records.py`).
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import pandas as pd

from eke.domain import Binned, Categorical, Domain, Integer, Replace
from reproductions.comp.records import Records, coded, read_records

DATA = Path(__file__).resolve().parents[2] / "data"
COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation"),
    *("relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week"),
    *("native_country", "income"),
)
TARGET = "income"


def adult_domain() -> Domain:
    """The ten attributes that COMP keeps, and the class; 35 features with its two dummies.

    Capital gain and loss are cut into bins of 1,000 and 100. No row is dropped, so that under
    `replace_one` the number of rows is public: whatever is not listed counts as the first value.
    """

    def listed(*values: str) -> Categorical:
        return Categorical(*values, null=Replace(values[0]), outside=Replace(values[0]))

    def number(low: int, high: int) -> Integer:
        return Integer(low, high, null=Replace(low))

    return Domain(
        age=number(17, 90),
        workclass=listed(
            *("Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov"),
            *("State-gov", "Without-pay", "Never-worked"),
        ),
        education_num=number(1, 16),
        marital_status=listed(
            *("Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed"),
            *("Married-spouse-absent", "Married-AF-spouse"),
        ),
        relationship=listed(
            *("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried")
        ),
        race=listed("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"),
        sex=listed("Female", "Male"),
        capital_gain=Binned(range(0, 100_001, 1_000), null=Replace(0)),
        capital_loss=Binned(range(0, 4_401, 100), null=Replace(0)),
        hours_per_week=number(1, 99),
        income=listed("<=50K", ">50K"),
    )


def adult_table() -> pd.DataFrame:
    """The complete records of both files, in their order, with the attributes of the domain."""
    frames = []
    for name, skip in (("adult.data.gz", 0), ("adult.test.gz", 1)):
        with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
            frames.append(
                pd.read_csv(
                    lines, names=list(COLUMNS), skiprows=skip, skipinitialspace=True, na_values="?"
                )
            )
    table = pd.concat(frames, ignore_index=True).dropna().reset_index(drop=True)
    table[TARGET] = table[TARGET].str.rstrip(".")
    return table[list(adult_domain().names)]


def adult() -> Records:
    """The records of `data/`."""
    domain = adult_domain()
    return Records("Adult", domain, coded(adult_table(), domain))


def chosen_records(arguments: argparse.Namespace) -> Records:
    """The table of --data, or Adult."""
    if arguments.data is None:
        return adult()
    columns = [name.strip() for name in arguments.columns.split(",") if name.strip()]
    try:
        return read_records(arguments.data, columns, arguments.target)
    except (ValueError, OSError) as error:
        raise SystemExit(f"{arguments.data}: {error}") from None
