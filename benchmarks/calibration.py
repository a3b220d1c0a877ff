"""How often shrinkage's intervals hold, and how wide they are, over tables and histories.

Two shipped tables, one of them as binary columns, too, and seven drawn from declared laws: a chain
of binary columns, hidden classes, independent columns, three-way parities, columns that are
functions of others, and two tables of fair coins, with and without parities, whose pairs are alike.
A release measures random pairs; pairs, triples and a column; triples and two columns; or single
columns, by a plan that packs several into a table. Single columns, and pairs, are asked for one by
one as well. Then conjunctions of two to four columns, with ranges around random records, are
compared with the truth. Printed for each: how often the 95 % intervals held, for all questions, for
the larger half, and of the history where they held least, the median half-width, and that of the
best alternative: the estimates of shrinkage, of maximum entropy or of the product of the columns
with one half-width, or one in proportion to √(p(1−p)), that the truth says holds 95 %. Nobody could
have chosen that one without the truth. Single columns say nothing of how columns depend on each
other; those intervals say that they rest on a guess.

    python benchmarks/calibration.py [--seeds 3] [--questions 100] [--tables …] [--histories …]
    python benchmarks/calibration.py --histories 17+7+1   # so many pairs, triples, single columns
    python benchmarks/calibration.py --table my.csv       # a table of yours: see `of_file`
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import eke
from benchmarks.estimates import (
    DATA,
    Condition,
    adult,
    by_independence,
    exact,
    random_condition,
    random_workload,
)
from eke.session import Estimate

Table: TypeAlias = tuple[eke.Domain, pd.DataFrame]
Drawn: TypeAlias = np.ndarray[Any, np.dtype[Any]]
HISTORIES = {
    "pairs": (10, 0, 0),
    "mixed": (8, 3, 1),
    "triples": (0, 6, 2),
    "columns": (0, 0, 16),
    "packed": (0, 0, 16),
    "each": (10, 0, 0),
}
ONE_BY_ONE = ("columns", "each")
CONFIDENCE = 0.95


def _of(columns: dict[str, Drawn]) -> Table:
    sizes = {name: int(column.max()) + 1 for name, column in columns.items()}
    domain = eke.Domain({name: eke.Integer(0, size - 1) for name, size in sizes.items()})
    return domain, pd.DataFrame(columns)


def census() -> Table:
    """The nine attributes of Census-Income, ages in steps of three years."""
    table = pd.read_csv(DATA / "census_income_kdd_9attr.csv.gz").drop(columns=["year", "split"])
    codes = {str(name): pd.factorize(table[name], sort=True)[0] for name in table}
    return _of({**codes, "age": codes["age"] // 3})


def chain(records: int = 40_000) -> Table:
    """Sixteen binary columns, each a noisy copy of the one before."""
    rng = np.random.default_rng(1)
    columns = [(rng.random(records) < 0.4).astype(int)]
    for place in range(1, 16):
        fresh = (rng.random(records) < 0.3 + 0.4 * (place % 2)).astype(int)
        columns.append(np.where(rng.random(records) < 0.25, fresh, columns[-1]))
    return _of({f"c{place}": column for place, column in enumerate(columns)})


def classes(records: int = 30_000) -> Table:
    """Twelve columns of two to ten values, independent within each of five hidden classes."""
    rng = np.random.default_rng(2)
    hidden = rng.choice(5, records, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    columns = {}
    for place, size in enumerate([2, 3, 4, 5, 6, 8, 2, 3, 5, 10, 2, 4]):
        shares = np.cumsum(rng.dirichlet(np.full(size, 0.6), 5), axis=1)[hidden]
        codes = (rng.random(records)[:, None] > shares).sum(axis=1)
        columns[f"c{place}"] = np.minimum(codes, size - 1)
    return _of(columns)


def independent(records: int = 20_000) -> Table:
    """Eight columns that have nothing to do with each other."""
    rng = np.random.default_rng(3)
    sizes = [2, 3, 4, 6, 8, 12, 3, 5]
    drawn = [rng.choice(size, records, p=rng.dirichlet(np.full(size, 0.8))) for size in sizes]
    return _of({f"c{place}": column for place, column in enumerate(drawn)})


def parities(records: int = 30_000) -> Table:
    """Ten binary columns, three of them mostly the parity of two others, which no pair shows."""
    rng = np.random.default_rng(4)
    codes = (rng.random((records, 10)) < 0.45).astype(int)
    for place in range(2, 10, 3):
        odd = rng.random(records) < 0.5
        codes[odd, place] = codes[odd, place - 1] ^ codes[odd, place - 2]
    return _of({f"c{place}": codes[:, place] for place in range(10)})


def functions(records: int = 25_000) -> Table:
    """A skewed column with coarser copies of it, an empty branch, and two more columns."""
    rng = np.random.default_rng(5)
    fine = np.minimum(rng.geometric(0.12, records) - 1, 29)
    near = (fine + rng.integers(0, 8, records)) // 6
    branch = rng.choice(6, records, p=[0.5, 0.2, 0.1, 0.1, 0.06, 0.04])
    leaf = np.where(branch == 0, 0, rng.integers(0, 9, records))
    follows = (rng.random(records) < np.where(near > 2, 0.9, 0.1)).astype(int)
    other = rng.integers(0, 4, records)
    names = ("fine", "coarse", "near", "branch", "leaf", "follows", "other")
    parts = (fine, fine // 5, near, branch, leaf, follows, other)
    return _of(dict(zip(names, parts, strict=True)))


def binary() -> Table:
    """Sixteen columns of two values: Adult's own, each cut at one or two places."""
    sizes = json.loads((DATA / "adult_pgm-domain.json").read_text("utf-8"))
    table = pd.read_csv(DATA / "adult_pgm.csv.gz")[list(sizes)]
    columns = {name: (table[name] > table[name].median()).to_numpy(int) for name in table}
    columns["young"] = (table["age"] < table["age"].quantile(0.25)).to_numpy(int)
    columns["long"] = (table["hours-per-week"] > table["hours-per-week"].quantile(0.9)).to_numpy(
        int
    )
    return _of({name: column for name, column in columns.items() if column.max() > 0})


def coins(records: int = 30_000) -> Table:
    """Five fair coins that have nothing to do with each other."""
    codes = np.random.default_rng(6).integers(0, 2, (records, 5))
    return _of({f"c{place}": codes[:, place] for place in range(5)})


def odd_coins(records: int = 30_000) -> Table:
    """Five fair coins, two of them the parity of two others: each pair is as that of `coins`."""
    codes = np.random.default_rng(7).integers(0, 2, (records, 5))
    for place in (2, 4):
        codes[:, place] = codes[:, place - 1] ^ codes[:, place - 2]
    return _of({f"c{place}": codes[:, place] for place in range(5)})


def of_file(path: Path, most_values: int = 50) -> Table:
    """A table in a CSV file: numbers of many values in so many groups of like size, NULL apart."""
    columns: dict[str, Drawn] = {}
    for name, values in pd.read_csv(path).items():
        many = values.dtype.kind in "if" and values.nunique() > most_values
        groups = pd.qcut(values, most_values - 1, duplicates="drop") if many else values
        codes = pd.factorize(groups, sort=True)[0] + int(values.isna().any())
        if 0 < codes.max() < most_values:
            columns[str(name)] = codes
    return _of(columns)


TABLES: dict[str, Callable[[], Table]] = {
    "adult": adult,
    "census": census,
    "binary": binary,
    "chain": chain,
    "classes": classes,
    "independent": independent,
    "parities": parities,
    "functions": functions,
    "coins": coins,
    "odd coins": odd_coins,
}


def shape_of(history: str) -> tuple[int, int, int]:
    """So many pairs, triples and single columns: of a named history, or written as 17+7+1."""
    if history in HISTORIES:
        return HISTORIES[history]
    pairs, triples, singles = (int(part) for part in history.split("+"))
    return pairs, triples, singles


def alternative(values: list[Drawn], truth: Drawn, product: Drawn, records: int) -> float:
    """The least median half-width that holds 95 % of the truth, of estimates it was fitted to."""
    spread = np.sqrt(np.maximum(product * (1.0 - product / records), 1.0))
    widths = []
    for value in values:
        off = np.abs(value - truth)
        widths.append(float(np.quantile(off, CONFIDENCE)))
        widths.append(float(np.median(spread) * np.quantile(off / spread, CONFIDENCE)))
    return min(widths)


def measured(drawn: Table, seed: int, history: str, questions: int, epsilon: float) -> Drawn:
    """(held, held of the larger half, median half-width, that of the best alternative)."""
    domain, table = drawn
    rng = np.random.default_rng([20260102, seed, len(history)])
    workload = random_workload(domain, shape_of(history), rng)
    with tempfile.TemporaryDirectory() as folder:
        session = eke.create(Path(folder) / "table.eke", table, domain, epsilon=1e6)
        if history in ONE_BY_ONE:
            for names in workload:
                session.ask(eke.marginal(*names), spend=epsilon / len(workload))
        else:
            session.release(session.plan(workload, budget=epsilon))
        conditions: list[Condition] = [
            random_condition(domain, table, rng) for _ in range(questions)
        ]
        truth = np.array([exact(table, one) for one in conditions])
        shrunk = [session.estimate(eke.count(one)) for one in conditions]
        fitted = [session.estimate(eke.count(one), "max_entropy") for one in conditions]
        product = by_independence(session, conditions, len(table))
    ends = np.array([one.interval for one in shrunk if isinstance(one, Estimate)])
    held = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    values = [
        np.array([one.value for one in some if isinstance(one, Estimate)])
        for some in (shrunk, fitted)
    ]
    return np.array(
        [
            held.mean(),
            held[truth > np.median(truth)].mean(),
            np.median(ends[:, 1] - ends[:, 0]) / 2.0,
            alternative([*values, product], truth, product, len(table)),
        ]
    )


def main() -> None:
    """Print a line for each table and history, then all of it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--histories", default=",".join(HISTORIES))
    parser.add_argument("--table", type=Path, help="a CSV file with a header")
    options = parser.parse_args()
    results = []
    for name in [options.table.stem] if options.table else options.tables.split(","):
        drawn = of_file(options.table) if options.table else TABLES[name]()
        for history in options.histories.split(","):
            each = np.array(
                [
                    measured(drawn, seed, history, options.questions, options.epsilon)
                    for seed in range(options.seeds)
                ]
            )
            held, larger, width, best = (float(one) for one in each.mean(axis=0))
            least = float(each[:, 0].min())
            results.append([name, history, held, larger, least, width, best])
            print(
                f"{name:12} {history:8} held {held:6.1%}, of the larger {larger:6.1%}, "
                f"of the worst history {least:4.0%}, half-width {width:9,.1f}, "
                f"best alternative {best:9,.1f}, {width / best:5.1f} times",
                flush=True,
            )
    for history in options.histories.split(","):
        lines = [line for line in results if line[1] == history]
        times = float(np.median([width / best for *_, width, best in lines]))
        held = float(np.mean([line[2] for line in lines]))
        print(f"{len(lines)} tables, {history}: held {held:.1%}, median {times:.1f} times the best")
    print(json.dumps(results))


if __name__ == "__main__":
    main()
