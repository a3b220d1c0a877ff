"""The tables of CUBE §5: Adult's eight categorical attributes, and sixteen binary attributes.

The paper's second table (NLTCS) is not in `data/`. In its place stand as many records of sixteen
binary attributes that share one hidden trait, drawn from a seeded generator: errors depend on the
attributes only, and relative errors on the number of records besides.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import eke

DATA = Path(__file__).resolve().parents[2] / "data"

ADULT_ATTRIBUTES = {
    "workclass": 9,
    "education-num": 16,
    "marital-status": 7,
    "occupation": 15,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "income>50K": 2,
}
NLTCS_RECORDS = 21_576


@dataclass(frozen=True, slots=True, eq=False)
class CodedTable:
    """Records as integer codes, with the domain that they live in."""

    name: str
    domain: eke.Domain
    codes: NDArray[np.int64]  # (records, attributes)
    fixed: str  # the attribute of the workloads Qa_k

    @property
    def records(self) -> int:
        return len(self.codes)

    def counts(self, attributes: tuple[str, ...]) -> NDArray[np.int64]:
        """The exact marginal over some attributes."""
        shape = self.domain.sizes(attributes)
        if not attributes:
            return np.array(self.records)
        columns = [self.codes[:, self.domain.names.index(name)] for name in attributes]
        flat = np.ravel_multi_index(tuple(columns), shape)
        return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)


def adult_eight() -> CodedTable:
    """48,842 records of Adult over the paper's eight attributes."""
    with gzip.open(DATA / "adult_pgm.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(io.StringIO(file.read())))
    codes = np.array([[int(row[name]) for name in ADULT_ATTRIBUTES] for row in rows], np.int64)
    attributes = {name: eke.Integer(0, size - 1) for name, size in ADULT_ATTRIBUTES.items()}
    return CodedTable("Adult", eke.Domain(attributes), codes, "income>50K")


def binary_attributes(
    width: int, generator: np.random.Generator, records: int = NLTCS_RECORDS
) -> CodedTable:
    """Records of binary attributes that are more likely one for those with more of a trait."""
    trait = generator.normal(size=(records, 1))
    ease = generator.normal(1.0, 0.7, size=width)
    codes = (trait + generator.normal(size=(records, width)) > ease).astype(np.int64)
    domain = eke.Domain({f"d{i:02}": eke.Integer(0, 1) for i in range(width)})
    return CodedTable(f"{width} binary attributes", domain, codes, "d00")


def read_table(path: Path, columns: list[str]) -> CodedTable:
    """Records of a CSV file with a header, such as NLTCS; columns have the values that occur."""
    frame = pd.read_csv(path, skipinitialspace=True)
    names = columns or [str(name) for name in frame.columns]
    codes, attributes = [], {}
    for name in names:
        column, values = pd.factorize(frame[name], sort=True, use_na_sentinel=False)
        codes.append(column)
        attributes[name] = eke.Integer(0, max(len(values) - 1, 1))
    return CodedTable(path.name, eke.Domain(attributes), np.stack(codes, axis=1), names[0])


def add_table_arguments(parser: argparse.ArgumentParser) -> None:
    """Let the user name a table for Fig. 5 and 6."""
    parser.add_argument(
        "--data", type=Path, help="a CSV file with a header, such as NLTCS, for Fig. 5 and 6"
    )
    parser.add_argument(
        "--columns", default="", help="the columns to use, separated by commas; all if not given"
    )
