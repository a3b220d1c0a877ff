"""Adult as in COMP §4.1: the 45,222 complete records, 35 features, income as the class.

Another table can stand in its place (`read_records`).
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eke.domain import Binned, Categorical, Domain, Integer, Replace
from eke.publish.features import Features, features_of

DATA = Path(__file__).resolve().parents[2] / "data"
COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation"),
    *("relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week"),
    *("native_country", "income"),
)
TARGET = "income"
_FEW_NUMBERS = 12  # columns with no more values than this are categories


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


def coded(table: pd.DataFrame, domain: Domain) -> NDArray[np.int64]:
    """The codes of a table, (rows, attributes)."""
    columns = []
    for name, attribute in domain.attributes:
        codes = {value: attribute.code(value) for value in table[name].unique()}
        columns.append(table[name].map(codes).to_numpy(np.int64))
    return np.stack(columns, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """A table as codes, the class last."""

    name: str
    domain: Domain
    codes: NDArray[np.int64]  # (rows, attributes)

    @property
    def target(self) -> str:
        return self.domain.names[-1]

    def features(self) -> Features:
        """Every attribute but the class as features."""
        return features_of(self.domain, self.domain.names[:-1])


def adult() -> Records:
    """The records of `data/`."""
    domain = adult_domain()
    return Records("Adult", domain, coded(adult_table(), domain))


def read_records(path: Path, columns: Sequence[str], target: str) -> Records:
    """Complete records of a CSV file with a header; the class is the column named, or the last.

    Columns of more than a few whole numbers are numeric, all others are categories. What values
    there are is read from the table: that is fine for a simulation and no release.
    """
    table = pd.read_csv(path, skipinitialspace=True).dropna().reset_index(drop=True)
    names = list(columns) or [str(name) for name in table.columns]
    label = target or names[-1]
    names = [name for name in names if name != label] + [label]
    attributes: dict[str, Integer | Categorical] = {}
    for name in names:
        values = np.unique(table[name])
        if name != label and table[name].dtype.kind in "iu" and len(values) > _FEW_NUMBERS:
            attributes[name] = Integer(
                int(values[0]), int(values[-1]), null=Replace(int(values[0]))
            )
        else:
            table[name] = table[name].astype(str)
            listed = sorted(table[name].unique())
            attributes[name] = Categorical(
                *listed, null=Replace(listed[0]), outside=Replace(listed[0])
            )
    domain = Domain(attributes)
    return Records(path.name, domain, coded(table[names], domain))


def add_record_arguments(parser: argparse.ArgumentParser) -> None:
    """Let the user name another table for Fig. 2 to 4."""
    parser.add_argument("--data", type=Path, help="a CSV file with a header instead of Adult")
    parser.add_argument(
        "--columns", default="", help="the columns to use, separated by commas; all if not given"
    )
    parser.add_argument("--target", default="", help="the column of the classes; the last if not")


def chosen_records(arguments: argparse.Namespace) -> Records:
    """The table of --data, or Adult."""
    if arguments.data is None:
        return adult()
    columns = [name.strip() for name in arguments.columns.split(",") if name.strip()]
    return read_records(arguments.data, columns, arguments.target)


def all_features(domain: Domain) -> Features:
    """Every attribute as features, the class with its dummies included."""
    return features_of(domain, domain.names)
