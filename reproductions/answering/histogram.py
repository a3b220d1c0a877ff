"""Histogram: the table that simulated analysts question, as one list of cell counts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

DATA = Path(__file__).resolve().parents[2] / "data"
ADULT_COLUMNS = {"age": 0, "sex": 9}
"""Places of the columns used; the file has no header."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of disjoint cells in a fixed order."""

    name: str
    counts: NDArray[np.int64]  # (cells,)

    def __post_init__(self) -> None:
        if self.counts.ndim != 1 or len(self.counts) < 2:
            raise ValueError("a histogram needs at least two cells in one dimension")
        if (self.counts < 0).any():
            raise ValueError("the counts of a histogram cannot be negative")

    @property
    def cells(self) -> int:
        return len(self.counts)


def census_age_by_sex() -> Histogram:
    """Census-Income: 299,285 people by age and sex, 182 cells ordered by age."""
    frame = pd.read_csv(DATA / "census_income_kdd_9attr.csv.gz", usecols=["age", "sex"])
    return Histogram("Census-Income, age by sex", cross_counts(frame, ["age", "sex"]))


def adult_age_by_sex() -> Histogram:
    """Adult: 48,842 people by age and sex, ordered by age."""
    parts = [
        pd.read_csv(
            DATA / name,
            header=None,
            names=list(ADULT_COLUMNS),
            skipinitialspace=True,
            skiprows=skipped,
            usecols=list(ADULT_COLUMNS.values()),
        )
        for name, skipped in (("adult.data.gz", 0), ("adult.test.gz", 1))
    ]
    return Histogram("Adult, age by sex", cross_counts(pd.concat(parts), ["age", "sex"]))


def read_histogram(path: Path, columns: Sequence[str] = ()) -> Histogram:
    """A histogram from a file: one column of counts, or a table to be counted by some columns.

    A file with one column holds the counts themselves, with or without a header. Any other CSV
    file has a header; its rows are counted by the columns named, by the first one if none is.
    """
    lines = pd.read_csv(path, header=None, dtype=str, skipinitialspace=True)
    numbers = pd.to_numeric(lines[0], errors="coerce")
    if lines.shape[1] == 1 and numbers.iloc[1:].notna().all():
        return Histogram(path.name, numbers.dropna().to_numpy(np.int64))
    frame = pd.read_csv(path, skipinitialspace=True)
    chosen = list(columns) or [str(frame.columns[0])]
    return Histogram(f"{path.name}, {' by '.join(chosen)}", cross_counts(frame, chosen))


def cross_counts(frame: pd.DataFrame, columns: Sequence[str]) -> NDArray[np.int64]:
    """The number of rows in each cell of the product of the columns' values, in sorted order."""
    codes = [pd.factorize(frame[name], sort=True, use_na_sentinel=False) for name in columns]
    shape = tuple(len(values) for _, values in codes)
    flat = np.ravel_multi_index(tuple(code for code, _ in codes), shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).astype(np.int64)


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Let the user name another table."""
    parser.add_argument(
        "--data", type=Path, help="a CSV file: one column of counts, or a table with a header"
    )
    parser.add_argument(
        "--columns", default="", help="with a table: the columns to count by, separated by commas"
    )


def chosen_histograms(arguments: argparse.Namespace) -> list[Histogram]:
    """The histogram of --data, or the two that stand in for net-trace and search logs.

    One is enough for a quick look: the errors of all systems are independent of the counts.
    """
    if arguments.data is None:
        census = census_age_by_sex()
        return [census] if arguments.quick else [census, adult_age_by_sex()]
    columns = [name.strip() for name in arguments.columns.split(",") if name.strip()]
    return [read_histogram(arguments.data, columns)]
