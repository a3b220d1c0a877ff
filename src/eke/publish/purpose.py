"""Purpose: which columns of synthetic rows matter more together, as integer weights of tables.

`target` is a column that somebody wants to predict from the others; `workload` names columns, or
questions in SQL, that will be asked of the rows. The weight of two columns is 1 unless a purpose
says more, and that of a table is the mean of its pairs'. Where nobody says how much more, all pairs
of a purpose together count as much as all others, and each twice at least. Public: a purpose is
part of the request.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from eke.domain import Domain
from eke.errors import QueryError
from eke.sql import parse

FULL_WEIGHT = 256
"""Of the tables that matter most; others have whole parts of it, one at least."""
MOST_WEIGHT = 100.0
MOST_ENTRIES = 100
_LEAST_MORE = 2.0
_FORMS = (
    "workload is a list: each entry names two columns or more, ['age', 'sex'], or is a question in "
    "SQL, or is {'columns': [...], 'weight': 5} or {'sql': '...', 'weight': 5}"
)


@dataclass(frozen=True, slots=True)
class Purpose:
    """The weights of pairs of columns that count more than once."""

    pairs: Mapping[frozenset[str], float]

    @staticmethod
    def of(
        domain: Domain, names: tuple[str, ...], target: object = None, workload: object = None
    ) -> Purpose:
        """The purpose of rows with these columns; raises `QueryError` for what is none."""
        weights: dict[frozenset[str], float] = {}
        if target is not None:
            if not isinstance(target, str) or target not in names:
                raise QueryError(
                    f"target is one of the published columns: {', '.join(map(repr, names))}"
                )
            _put(weights, [{target, other} for other in names if other != target], None, names)
        if workload is not None:
            _put_workload(weights, domain, names, workload)
        return Purpose(weights)

    def weights(self, tables: Sequence[tuple[str, ...]]) -> list[int]:
        """Of each table, from 1 to `FULL_WEIGHT`: a score moves by no more than that."""
        means = [self._mean(names) for names in tables]
        largest = max(means, default=1.0)
        return [max(1, math.floor(FULL_WEIGHT * mean / largest)) for mean in means]

    def _mean(self, names: tuple[str, ...]) -> float:
        pairs = [frozenset(pair) for pair in combinations(names, 2)]
        return sum(self.pairs.get(pair, 1.0) for pair in pairs) / max(len(pairs), 1)


def _put_workload(
    weights: dict[frozenset[str], float], domain: Domain, names: tuple[str, ...], workload: object
) -> None:
    if not isinstance(workload, (list, tuple)) or not 1 <= len(workload) <= MOST_ENTRIES:
        raise QueryError(f"{_FORMS}; {MOST_ENTRIES} entries at most")
    unweighted: list[set[str]] = []
    for entry in workload:
        columns, weight = _entry(domain, entry)
        missing = [name for name in columns if name not in names]
        if missing:
            raise QueryError(f"workload names {', '.join(missing)}, which is not published")
        if len(columns) < 2:
            raise QueryError(
                "an entry of a workload is about two columns at least: every column by itself is "
                "measured anyway"
            )
        pairs = [set(pair) for pair in combinations(sorted(columns), 2)]
        if weight is None:
            unweighted += pairs
        else:
            _put(weights, pairs, weight, names)
    _put(weights, unweighted, None, names)


def _put(
    weights: dict[frozenset[str], float],
    pairs: Sequence[set[str]],
    weight: float | None,
    names: tuple[str, ...],
) -> None:
    """Enter the weight of pairs; without one, so that together they count as all others do."""
    together = {frozenset(pair) for pair in pairs}
    if not together:
        return
    if weight is None:
        others = math.comb(len(names), 2) - len(together)
        weight = min(max(_LEAST_MORE, others / len(together)), MOST_WEIGHT)
    for pair in together:
        weights[pair] = max(weights.get(pair, 1.0), weight)


def _entry(domain: Domain, entry: object) -> tuple[set[str], float | None]:
    """The columns of one entry, and its weight if it has one."""
    weight: object = None
    if isinstance(entry, Mapping):
        known = {name: value for name, value in entry.items() if value is not None}
        weight = known.pop("weight", None)
        if len(known) != 1 or not known.keys() <= {"columns", "sql"}:
            raise QueryError(_FORMS)
        wants_sql = "sql" in known
        entry = next(iter(known.values()))
        if isinstance(entry, str) is not wants_sql:
            raise QueryError(_FORMS)
    if isinstance(entry, str):
        asked = set(parse(entry, domain).about)
    elif isinstance(entry, (list, tuple)) and all(isinstance(name, str) for name in entry):
        asked = set(domain.in_order(entry))
    else:
        raise QueryError(_FORMS)
    if weight is None:
        return asked, None
    if isinstance(weight, bool) or not isinstance(weight, (int, float)):
        raise QueryError("the weight of an entry is a number")
    if not 1.0 <= weight <= MOST_WEIGHT:
        raise QueryError(f"weights are numbers from 1 to {MOST_WEIGHT:g}")
    return asked, float(weight)
