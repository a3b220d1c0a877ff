"""The experiments' setting: Census-Income, random two-dimensional questions, noise, priors."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.inference.features import HistoryFeatures, TableGroup
from eke.inference.shrinkage import measured_prior
from eke.query import Prior

DATA = Path(__file__).resolve().parents[2] / "data" / "census_income_kdd_9attr.csv.gz"
LETTERS = "AGEBRWMOS"  # as the paper abbreviates its attributes
_TABLE, _COLUMNS = "EKE_HIST_TABLE", "EKE_HIST_COLUMNS"
PRIOR_EPSILON = 0.02
_LEAST_COLUMNS, _MOST_VALUES = 3, 500
Reals = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Census:
    """The table as codes; every value of an attribute has one, in sorted order."""

    domain: Domain
    codes: Codes  # (records, 9)

    @property
    def total(self) -> int:
        return len(self.codes)

    def counts(self, attributes: Sequence[str]) -> Reals:
        """The exact marginal, flat in C order."""
        sizes = self.domain.sizes(attributes)
        cells = np.zeros(self.total, np.int64)
        for name, size in zip(attributes, sizes, strict=True):
            cells = cells * size + self.codes[:, self.domain.names.index(name)]
        return np.bincount(cells, minlength=math.prod(sizes)).astype(np.float64)


def choose_table(path: Path, columns: Sequence[str]) -> None:
    """Take another table, IPUMS say: a CSV file with a header, all its columns or those named.

    Processes side by side must take the same one, so it is noted where they look.

    Raises:
        ValueError: for columns that are not there, or too few or too wide for the figures.
    """
    os.environ[_TABLE], os.environ[_COLUMNS] = str(path.resolve()), ",".join(columns)
    census.cache_clear()
    census()


def _check(table: pd.DataFrame) -> None:
    """Triples need three columns, and marginals list every value."""
    if table.shape[1] < _LEAST_COLUMNS:
        raise ValueError(f"the figures need at least {_LEAST_COLUMNS} columns")
    for name in table:
        if not 2 <= table[name].nunique(dropna=False) <= _MOST_VALUES:
            raise ValueError(
                f"column {name} has {table[name].nunique(dropna=False)} values, columns need 2 to "
                f"{_MOST_VALUES}: name the others in --columns"
            )


@lru_cache(maxsize=1)
def census() -> Census:
    """The nine attributes nearest to those of the paper, or the table that was chosen."""
    if _TABLE in os.environ:
        table = pd.read_csv(os.environ[_TABLE], skipinitialspace=True, low_memory=False)
        wanted = [name for name in os.environ[_COLUMNS].split(",") if name]
        absent = [name for name in wanted if name not in table.columns]
        if absent:
            raise ValueError(f"there is no column {', '.join(absent)}")
        table = table[wanted] if wanted else table
        _check(table)
    else:
        table = pd.read_csv(DATA).iloc[:, :9]
    found = [pd.factorize(table[c], sort=True, use_na_sentinel=False)[0] for c in table]
    codes = np.stack(found, axis=1)
    sizes = codes.max(axis=0) + 1
    named = zip(table.columns, sizes, strict=True)
    return Census(Domain({n: Integer(0, int(s) - 1) for n, s in named}), codes.astype(np.int64))


def random_questions(kind: str, number: int, generator: np.random.Generator) -> HistoryFeatures:
    """Questions over random pairs of attributes: "range", or "counting" with random tables."""
    domain = census().domain
    drawn: dict[tuple[str, ...], list[tuple[int, Reals]]] = {}
    for row in range(number):
        chosen = sorted(generator.choice(len(domain), 2, replace=False))
        pair = tuple(domain.names[k] for k in chosen)
        shape = domain.sizes(pair)
        if kind == "range":
            table = np.multiply.outer(*(_interval(size, generator) for size in shape))
        else:
            table = generator.integers(0, 2, shape).astype(np.float64)
        drawn.setdefault(pair, []).append((row, table.reshape(-1)))
    groups = [
        TableGroup(pair, np.array([r for r, _ in kept], np.intp), np.array([t for _, t in kept]))
        for pair, kept in drawn.items()
    ]
    return HistoryFeatures(domain, groups=groups)


def true_answers(questions: HistoryFeatures) -> Reals:
    """The exact answers."""
    answers = np.zeros(questions.size)
    for group in questions.groups:
        answers[group.rows] = group.times(census().counts(group.attributes))
    return answers


def model_answers(questions: HistoryFeatures, marginals: dict[tuple[str, ...], Reals]) -> Reals:
    """Answers from flat marginals of a model, as shares."""
    answers = np.zeros(questions.size)
    for group in questions.groups:
        answers[group.rows] = group.times(marginals[group.attributes])
    return answers


def noisy_prior(generator: np.random.Generator) -> Prior:
    """The product of all one-dimensional marginals, together 0.02-differentially private.

    Simulated: the noise comes from NumPy.
    """
    domain = census().domain
    laplace_scale = len(domain) / PRIOR_EPSILON
    counts = {
        name: census().counts([name]) + generator.laplace(0.0, laplace_scale, domain[name].size)
        for name in domain.names
    }
    return measured_prior(domain, counts, dict.fromkeys(domain.names, 2.0 * laplace_scale**2))


def labels() -> list[str]:
    """A letter for each attribute of the census, else the beginning of its name."""
    names = list(census().domain.names)
    return [name[:6] for name in names] if _TABLE in os.environ else list(LETTERS)


def pairs() -> list[tuple[str, str]]:
    """All pairs of attributes."""
    return list(combinations(census().domain.names, 2))


def root_mean_square(errors: Reals) -> float:
    """The root of the mean of squares."""
    return float(np.sqrt(np.mean(np.square(errors))))


def _interval(size: int, generator: np.random.Generator) -> Reals:
    low, high = sorted(generator.integers(0, size, 2))
    inside = np.zeros(size)
    inside[low : high + 1] = 1.0
    return inside
