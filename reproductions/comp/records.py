"""The records that COMP's figures are made of, and other tables in Adult's place (`--data`)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eke.domain import Binned, Categorical, Domain, Integer, Replace
from eke.publish.features import Features, features_of

_FEW_NUMBERS = 12  # columns with no more values than this are categories
_WIDEST_NUMBERS = 256  # whole numbers further apart, and all others, are cut into bins
_BINS = 100
_MOST_CATEGORIES = 200
_LEAST_OF_A_CLASS = 20  # records, and one in a hundred: some must be in every part of the table


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


def coded(table: pd.DataFrame, domain: Domain) -> NDArray[np.int64]:
    """The codes of a table, (rows, attributes)."""
    columns = []
    for name, attribute in domain.attributes:
        codes = {value: attribute.code(value) for value in table[name].unique()}
        columns.append(table[name].map(codes).to_numpy(np.int64))
    return np.stack(columns, axis=1)


def all_features(domain: Domain) -> Features:
    """Every attribute as features, the class with its dummies included."""
    return features_of(domain, domain.names)


def read_records(path: Path, columns: Sequence[str] = (), target: str = "") -> Records:
    """Complete records of a CSV file with a header; the class is the column named, or the last.

    Columns of more than a few numbers are numeric, all others are categories. What values there
    are is read from the table: that is fine for a simulation and no release.

    Raises:
        ValueError: for columns that are not there, or of which nothing can be learned.
    """
    table = pd.read_csv(path, skipinitialspace=True, low_memory=False)
    names = list(columns) or [str(name) for name in table.columns]
    label = target or names[-1]
    names = [name for name in names if name != label] + [label]
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise ValueError(f"{path.name} has no column {', '.join(absent)}")
    table = table[names].dropna().reset_index(drop=True)
    attributes: dict[str, Integer | Binned | Categorical] = {}
    for name in names:
        if name != label and _is_numeric(table[name]):
            attributes[name] = _numbers(table[name])
        else:
            table[name] = table[name].astype(str)
            attributes[name] = _categories(name, table[name])
    if len(names) < 2:
        raise ValueError("there must be a column beside that of the classes")
    _check_classes(label, table[label])
    domain = Domain(attributes)
    return Records(path.name, domain, coded(table, domain))


def add_record_arguments(parser: argparse.ArgumentParser) -> None:
    """Let the user name another table for Fig. 2 to 4."""
    parser.add_argument("--data", type=Path, help="a CSV file with a header instead of Adult")
    parser.add_argument(
        "--columns", default="", help="the columns to use, separated by commas; all if not given"
    )
    parser.add_argument("--target", default="", help="the column of the classes; the last if not")


def _is_numeric(column: pd.Series) -> bool:
    return column.dtype.kind in "iuf" and column.nunique() > _FEW_NUMBERS


def _numbers(column: pd.Series) -> Integer | Binned:
    """Whole numbers as they are unless they are far apart; else a hundred bins of one width."""
    low, high = column.min(), column.max()
    if high - low < _WIDEST_NUMBERS and (column == column.round()).all():
        return Integer(int(low), int(high), null=Replace(int(low)))
    edges = np.linspace(float(low), float(high), _BINS + 1).tolist()
    return Binned(edges, null=Replace(edges[0]))


def _categories(name: str, column: pd.Series) -> Categorical:
    listed = sorted(column.unique())
    if not 2 <= len(listed) <= _MOST_CATEGORIES:
        raise ValueError(
            f"column {name} has {len(listed)} value(s) in complete records; columns of categories "
            f"need 2 to {_MOST_CATEGORIES}: name the others in --columns"
        )
    return Categorical(*listed, null=Replace(listed[0]), outside=Replace(listed[0]))


def _check_classes(name: str, column: pd.Series) -> None:
    least = max(_LEAST_OF_A_CLASS, len(column) // 100)
    rare = [f"{value} ({count})" for value, count in column.value_counts().items() if count < least]
    if rare:
        others = f" and {len(rare) - 3} others" if len(rare) > 3 else ""
        raise ValueError(
            f"every class of {name} needs at least {least} of {len(column)} complete records; "
            f"fewer have {', '.join(rare[-3:])}{others}"
        )
