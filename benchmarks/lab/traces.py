"""Traces: questions in the order in which they arrive, with the accuracy that each must have."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.planning import Demand, Requirement
from eke.privacy.record_loss import NANO
from eke.query import Query, Term
from reproductions.answering.histogram import DATA, census_age_by_sex
from reproductions.answering.workload import draw_workload

UNBOUNDED = 10**6 * NANO


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Records as codes, and the marginals counted so far."""

    domain: Domain
    codes: NDArray[np.int64]  # (records, attributes)
    weights: NDArray[np.int64]  # (records,) how many people each stands for
    _marginals: dict[tuple[str, ...], NDArray[np.int64]] = field(default_factory=dict)

    @property
    def people(self) -> int:
        return int(self.weights.sum())

    def marginal(self, names: tuple[str, ...]) -> NDArray[np.int64]:
        if names not in self._marginals:
            shape = self.domain.sizes(names)
            places = [self.domain.names.index(name) for name in names]
            flat = np.zeros(len(self.codes), np.int64)
            if names:
                flat = np.ravel_multi_index(tuple(self.codes[:, places].T), shape)
            size = math.prod(shape)
            counts = np.bincount(flat, self.weights, size).astype(np.int64).reshape(shape)
            self._marginals[names] = counts
        return self._marginals[names]

    def truth(self, query: Query) -> float:
        """The exact answer."""
        counts = self.marginal(query.attributes)
        return float((query.table() * counts).sum()) * 2.0**query.exponent


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What arrives: places in a list of demands."""

    name: str
    table: Table
    demands: list[Demand]
    arrivals: list[int]
    limit: int

    def first(self, arrivals: int) -> Trace:
        return Trace(self.name, self.table, self.demands, self.arrivals[:arrivals], self.limit)


def multinomial(rng: np.random.Generator, *, bounded: bool, arrivals: int = 1000) -> Trace:
    """ONLINE and BAYES: 182 cells, sums of one to ten draws, half-widths uniform in [1, 1000]."""
    counts = census_age_by_sex().counts
    domain = Domain(cell=Integer(0, len(counts) - 1))
    table = Table(domain, np.arange(len(counts))[:, None], counts)
    drawn = draw_workload(len(counts), arrivals, within=(1.0, 1e3), delta=0.2, generator=rng)
    demands = [
        Demand(
            Query.of(domain, [Term(Fraction(1), (("cell", coefficients),))]),
            Requirement(float(within), 0.8),
        )
        for coefficients, within in zip(drawn.coefficients, drawn.within, strict=True)
    ]
    name = f"a. multinomial, {'limit 1' if bounded else 'no limit'}"
    limit = NANO if bounded else UNBOUNDED
    return Trace(name, table, demands, list(range(arrivals)), limit)


def conjunctions(rng: np.random.Generator, arrivals: int = 70_000) -> Trace:
    """Conjunctions of IN-lists over attributes of sizes 2, 2, 4, 8; Zipf repetition; 10⁶ people."""
    domain = Domain(a=Integer(0, 1), b=Integer(0, 1), c=Integer(0, 3), d=Integer(0, 7))
    people = 10**6
    shares = rng.dirichlet(np.ones(128))
    cells = np.stack([i.ravel() for i in np.indices((2, 2, 4, 8))], axis=1)
    table = Table(domain, cells, rng.multinomial(people, shares))
    # Attribute IN (…) for each attribute, every non-empty list: 3·3·15·255 questions.
    lists = [[_members(n, code) for code in range(1, 2**n)] for n in (2, 2, 4, 8)]
    shape = tuple(len(one) for one in lists)
    number = math.prod(shape)
    weights = 1.0 / np.arange(1, number + 1)
    order = rng.permutation(number)
    drawn = order[rng.choice(number, size=arrivals, p=weights / weights.sum())]
    distinct, arrived = np.unique(drawn, return_inverse=True)
    demands = []
    for flat in distinct:
        chosen = zip(domain.names, lists, np.unravel_index(flat, shape), strict=True)
        vectors = tuple((name, own[int(i)]) for name, own, i in chosen)
        query = Query.of(domain, [Term(Fraction(1), vectors)])
        demands.append(Demand(query, Requirement(0.05 * people, 0.999)))
    drawn = arrived
    return Trace("b. conjunctions, Zipf", table, demands, drawn.tolist(), UNBOUNDED)


def random_ranges(rng: np.random.Generator, table: Table, name: str, arrivals: int) -> Trace:
    """Ranges over one to three attributes, half-widths log-uniform between 0.2 and 5 per cent."""
    sets = [names for k in (1, 2, 3) for names in combinations(table.domain.names, k)]
    demands = [_range(rng, table, sets[int(rng.integers(len(sets)))]) for _ in range(arrivals)]
    return Trace(f"c. ranges, {name}", table, demands, list(range(arrivals)), NANO // 4)


def drifting(rng: np.random.Generator, table: Table, arrivals: int) -> Trace:
    """Four phases, each about another pair of attributes; a tenth of the questions is elsewhere."""
    pairs = list(combinations(table.domain.names, 2))
    chosen = [pairs[i] for i in rng.permutation(len(pairs))[:4]]
    demands = []
    for arrival in range(arrivals):
        names = chosen[4 * arrival // arrivals]
        if rng.random() < 0.1:
            names = pairs[int(rng.integers(len(pairs)))]
        elif rng.random() < 0.3:
            names = (names[int(rng.integers(2))],)
        demands.append(_range(rng, table, names))
    return Trace("d. drifting interests", table, demands, list(range(arrivals)), NANO // 2)


def abandoned_sets(rng: np.random.Generator, table: Table, each: int) -> Trace:
    """Every pair and triple of attributes is asked about `each` times, then never again."""
    demands = [
        _range(rng, table, names, share=0.01)
        for k in (2, 3)
        for names in combinations(table.domain.names, k)
        for _ in range(each)
    ]
    name = f"e. sets abandoned after {each}"
    return Trace(name, table, demands, list(range(len(demands))), 15 * NANO // 100)


def tightening(rng: np.random.Generator, table: Table, steps: int, factor: float) -> Trace:
    """Random ranges over one pair, each to be more accurate (or less) than the one before."""
    pair = table.domain.names[:2]
    demands = []
    for step in range(steps):
        share = 0.2 * factor**step if factor < 1 else 0.2 / factor ** (steps - step)
        demands.append(_range(rng, table, pair, share=share))
    kind = "tightening" if factor < 1 else "loosening"
    return Trace(f"e. {kind}", table, demands, list(range(steps)), 3 * NANO // 10)


def disjoint_cells(rng: np.random.Generator, table: Table) -> Trace:
    """Single cells of a pair, none asked twice: renting costs no more than the dearest of them."""
    names = table.domain.names[:2]
    demands = []
    for codes in np.ndindex(*table.domain.sizes(names)):
        vectors = tuple(
            (n, _indicator(table.domain, n, c, c)) for n, c in zip(names, codes, strict=True)
        )
        within = 0.002 * table.people * float(10 ** rng.uniform(0.0, 1.0))
        query = Query.of(table.domain, [Term(Fraction(1), vectors)])
        demands.append(Demand(query, Requirement(within, 0.95)))
    order = rng.permutation(len(demands)).tolist()
    return Trace("e. disjoint cells", table, demands, order, NANO // 50)


def _range(
    rng: np.random.Generator, table: Table, names: Sequence[str], share: float | None = None
) -> Demand:
    vectors = []
    for name in names:
        low, high = np.sort(rng.integers(0, table.domain[name].size, size=2))
        vectors.append((name, _indicator(table.domain, name, int(low), int(high))))
    query = Query.of(table.domain, [Term(Fraction(1), tuple(vectors))])
    part = float(10 ** rng.uniform(math.log10(0.002), math.log10(0.05))) if share is None else share
    confidence = 0.95 if share is not None else float(rng.choice([0.9, 0.95, 0.99]))
    return Demand(query, Requirement(part * table.people, confidence))


def _members(size: int, code: int) -> NDArray[np.int64]:
    return np.array([code >> i & 1 for i in range(size)], np.int64)


def _indicator(domain: Domain, name: str, low: int, high: int) -> NDArray[np.int64]:
    vector = np.zeros(domain[name].size, np.int64)
    vector[low : high + 1] = 1
    return vector


def adult() -> Table:
    """Adult: 48,842 people by five attributes, age and hours in fives."""
    names = {0: "age", 4: "education", 8: "race", 9: "sex", 12: "hours"}
    parts = [
        pd.read_csv(
            Path(DATA) / file, header=None, skipinitialspace=True, skiprows=skipped,
            usecols=list(names),
        )
        for file, skipped in (("adult.data.gz", 0), ("adult.test.gz", 1))
    ]  # fmt: skip
    frame = pd.concat(parts).rename(columns=names)
    return _coded(frame, {"age": 5, "hours": 5})


def census_income() -> Table:
    """Census-Income: 299,285 people by five attributes, age in fives."""
    columns = ["age", "sex", "race", "marital_stat", "class_of_worker"]
    frame = pd.read_csv(Path(DATA) / "census_income_kdd_9attr.csv.gz", usecols=columns)
    return _coded(frame[columns], {"age": 5})


def _coded(frame: pd.DataFrame, bins: dict[str, int]) -> Table:
    codes, attributes = [], {}
    for name in frame.columns:
        column = frame[name] // bins[name] if name in bins else frame[name]
        code, values = pd.factorize(column, sort=True)
        codes.append(code)
        attributes[str(name)] = Integer(0, len(values) - 1)
    stacked, weights = np.unique(np.stack(codes, axis=1), axis=0, return_counts=True)
    return Table(Domain(attributes), stacked, weights)


Make = Callable[[np.random.Generator], Trace]
