"""Synthetic tables: how far they are from the real one, by budget, and how long they take.

An evaluation, not a release: the curator below reads the table and draws NumPy noise, so that the
method can be judged by itself. Printed for each table and budget (ε at δ = 10⁻⁹ through zCDP): the
mean total variation over all 1-, 2- and 3-way marginals, next to that of as many records drawn anew
from the real ones (what sampling alone costs), of the same columns shuffled apart (what knowing
each column alone gives), and processor seconds.

    python benchmarks/synthetic.py [--runs 1] [--epsilon 0.1 1 10] [--out synthetic.json]
    python benchmarks/synthetic.py --doubling     # ε = 0.1, 0.2, 0.4 … 102.4
    python benchmarks/synthetic.py --table my.csv --domain my.json   # sizes by column, codes from 0
    python benchmarks/synthetic.py --released     # through `session.publish`, charged in a ledger
    python benchmarks/synthetic.py --shipped adult --target "income>50K" --runs 5

With `--target` two thirds of the records are published, with and without that target, and
classifiers trained on the rows predict it for the others: the area under the ROC curve, and its
deviation over runs, beside that of the real records.

Peers run beside it with `--peers PYTHON …`: the same table, ε and δ through zCDP, as many rows as
the table has (eke estimates that number), at their packages' defaults, one thread, their own
compilation included in the processor seconds; `--peer-seconds` ends each, `--mechanisms` picks
some. Their pins clash with eke's and with each other's, so each package has an environment of its
own, made by Python 3.11:

    python3.11 -m venv peers-a && peers-a/bin/pip install dpmm==0.1.9
    python3.11 -m venv peers-b && peers-b/bin/pip install smartnoise-synth==1.0.8
    python benchmarks/synthetic.py --peers peers-a/bin/python peers-b/bin/python

The first has MST, AIM and PrivBayes, the second MST and AIM over another version of the same
inference (mbi). No package on the index has SWIFT.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import eke
from benchmarks.peers import Peer, peers
from eke.domain import Categorical, Domain, Integer
from eke.privacy.concentrated import CONCENTRATED, epsilon_of_rho
from eke.privacy.law import Gaussian, Laplace, NoiseLaw
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.publish.classifiers import score_classifiers
from eke.publish.coarse import CoarseMarginal
from eke.publish.published import Published
from eke.publish.purpose import Purpose
from eke.publish.recipe import Recipe
from eke.publish.selection import (
    Candidate,
    measuring_law,
    score_sensitivity,
    scores,
    split_of_singles,
)
from eke.publish.synthesis import synthesise

DATA = Path(__file__).resolve().parents[1] / "data"
ORDERED = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
DELTA = 1e-9
DOUBLING = [0.1 * 2.0**k for k in range(11)]
Codes = NDArray[np.int64]
CLASSIFIERS = ("LDA", "decision tree")
Maker = Callable[[Codes, int], "tuple[Codes, float]"]
"""Rows for some records, and processor seconds, of a run."""


def coded(path: Path, sizes: dict[str, int], ordered: set[str]) -> tuple[Domain, Codes]:
    """A table of codes in a file, and its domain."""
    table = pd.read_csv(path)[list(sizes)]
    domain = Domain(
        {
            name: Integer(0, size - 1)
            if name in ordered
            else Categorical(*(f"v{code}" for code in range(size)))
            for name, size in sizes.items()
        }
    )
    return domain, table.to_numpy(np.int64)


def adult() -> tuple[Domain, Codes]:
    """48,842 rows and 14 columns, as MST, AIM and ResidualPlanner report on."""
    sizes = json.loads((DATA / "adult_pgm-domain.json").read_text())
    return coded(DATA / "adult_pgm.csv.gz", sizes, ORDERED)


def binary() -> tuple[Domain, Codes]:
    """16 columns of two values: whether Adult's columns are above their middle, 21,574 rows."""
    _, codes = adult()
    codes = codes[:21574]
    middles = [np.median(own) if (own > np.median(own)).mean() > 0.05 else 0 for own in codes.T]
    columns = [own > middle for own, middle in zip(codes.T, middles, strict=True)]
    columns += [codes[:, 0] < np.quantile(codes[:, 0], 0.25), codes[:, 3] == 8]
    table = np.stack(columns, axis=1).astype(np.int64)
    return Domain({f"b{k:02d}": Categorical("no", "yes") for k in range(table.shape[1])}), table


def census() -> tuple[Domain, Codes]:
    """299,285 rows and 11 columns of the Census-Income table."""
    table = pd.read_csv(DATA / "census_income_kdd_9attr.csv.gz")
    attributes, columns = {}, []
    for name in table.columns:
        values, labels = pd.factorize(table[name], sort=True)
        numeric = table[name].dtype.kind in "if"
        attributes[name] = (
            Integer(0, len(labels) - 1)
            if numeric
            else Categorical(*(f"v{code}" for code in range(len(labels))))
        )
        columns.append(values)
    return Domain(attributes), np.stack(columns, axis=1).astype(np.int64)


TABLES = {"adult": adult, "binary": binary, "census": census}


def rho_of(epsilon: float, delta: float) -> float:
    """The largest ρ whose (ε, δ) statement holds, by bisection of the accountant."""
    low, high = 1e-9, 1e6
    for _ in range(90):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if epsilon_of_rho(middle, delta) <= epsilon else (low, middle)
    return low


class SimulatedCurator:
    """Reads the table and draws NumPy noise: for evaluation only."""

    def __init__(
        self, domain: Domain, codes: Codes, loss: float, measure: Measure, seed: int
    ) -> None:
        self.domain, self.codes, self.left, self.measured_in = domain, codes, loss, measure
        self.generator = np.random.default_rng(seed)
        self._known: dict[CoarseMarginal, Codes] = {}

    def counts(self, block: CoarseMarginal) -> Codes:
        """The exact coarse counts."""
        if block not in self._known:
            cells = np.zeros(len(self.codes), np.int64)
            for name, labels, size in zip(block.attributes, block.groups, block.shape, strict=True):
                cells = cells * size + labels[self.codes[:, self.domain.names.index(name)]]
            self._known[block] = np.bincount(cells, minlength=block.cells)
        return self._known[block]

    def measure(
        self, block: CoarseMarginal, law: Laplace | Gaussian
    ) -> tuple[NDArray[np.float64], NoiseLaw]:
        """Counts with noise of the law."""
        exact = self.counts(block)
        if isinstance(law, Laplace):
            self.left -= 1.0 / law.laplace_scale
            return exact + self.generator.laplace(0.0, law.laplace_scale, len(exact)), law
        self.left -= 0.5 / law.variance
        return exact + self.generator.normal(0.0, law.variance**0.5, len(exact)), law

    def choose(self, candidates: Sequence[Candidate], epsilon: float, picks: int) -> list[int]:
        """The exponential mechanism as a Gumbel race, one pick after the other."""
        self.left -= picks * (epsilon if self.measured_in == PURE else epsilon**2 / 8.0)
        gains = scores(candidates, self.counts)
        race = epsilon * gains / (2.0 * score_sensitivity("add_remove"))
        order = np.argsort(-race - self.generator.gumbel(size=len(race)))
        return [int(place) for place in order[:picks]]

    def singles(self, share: float) -> list[tuple[NDArray[np.float64], NoiseLaw]]:
        """Every column by itself, for this share of the loss."""
        losses = split_of_singles(self.domain.shape, share * self.left, self.measured_in)
        blocks = [
            CoarseMarginal(self.domain, (name,), (np.arange(attribute.size),))
            for name, attribute in self.domain.attributes
        ]
        return [
            self.measure(block, measuring_law(loss, self.measured_in))
            for block, loss in zip(blocks, losses, strict=True)
        ]


def distances(domain: Domain, real: Codes, made: Codes) -> list[float]:
    """Mean total variation over all marginals of one, two and three attributes."""
    result = []
    for ways in (1, 2, 3):
        found = []
        for chosen in combinations(range(len(domain)), ways):
            shape = [domain.shape[k] for k in chosen]
            both = [np.ravel_multi_index([t[:, k] for k in chosen], shape) for t in (real, made)]
            weights = np.concatenate(
                [np.full(len(c), s / len(c)) for c, s in zip(both, (1, -1), strict=True)]
            )
            cells = np.concatenate(both)
            if math.prod(shape) > 2_000_000:
                cells = np.unique(cells, return_inverse=True)[1]
            found.append(0.5 * float(np.abs(np.bincount(cells, weights=weights)).sum()))
        result.append(float(np.mean(found)))
    return result


def simulated(
    domain: Domain,
    real: Codes,
    loss: float,
    measure: Measure,
    seed: int,
    *,
    target: str | None = None,
) -> tuple[Codes, float]:
    """Rows, and processor seconds; `target` is a column to be predicted from them."""
    curator, recipe = SimulatedCurator(domain, real, loss, measure, seed), Recipe()
    started = time.process_time()
    singles = curator.singles(recipe.singles_share)
    purpose = Purpose.of(domain, domain.names, target)
    made = synthesise(domain, curator, singles, measure, recipe=recipe, purpose=purpose)
    return made.codes, time.process_time() - started


def areas_under_roc(
    domain: Domain, real: Codes, maker: Maker, seed: int, *, target: str
) -> dict[str, float]:
    """By classifier, what it scores for records that were not published, and processor seconds."""
    mixed = np.random.default_rng(seed).permutation(len(real))
    known, test = real[mixed[: 2 * len(real) // 3]], real[mixed[2 * len(real) // 3 :]]
    made, seconds = maker(known, seed)
    scores = score_classifiers(domain, domain.names, target, made=made, true=known, test=test)
    published = {one.classifier: one.auc for one in scores if one.trained_on != "real rows"}
    return dict.fromkeys(CLASSIFIERS, 0.5) | published | {"seconds": seconds}


def areas_of_real(domain: Domain, real: Codes, *, target: str) -> dict[str, float]:
    """The same of the real records themselves, the first split."""
    mixed = np.random.default_rng(0).permutation(len(real))
    known, test = real[mixed[: 2 * len(real) // 3]], real[mixed[2 * len(real) // 3 :]]
    scores = score_classifiers(domain, domain.names, target, made=known, true=known, test=test)
    return {one.classifier: one.auc for one in scores if one.classifier in CLASSIFIERS}


def released(domain: Domain, real: Codes, loss: float, measure: Measure) -> tuple[Codes, float]:
    """The same of rows that a session released: real noise, charged in a ledger."""
    frame = Published(domain, domain.names, real, {}).to_pandas()
    with tempfile.TemporaryDirectory() as folder:
        budget = {measure.name: loss}
        path = Path(folder) / "table.eke"
        session = eke.create(path, frame, domain, **budget)  # type: ignore[arg-type]
        started = time.process_time()
        rows = session.publish("max_entropy", **budget)  # type: ignore[arg-type]
        return rows.codes, time.process_time() - started


def apart(real: Codes) -> Codes:
    """Records whose columns have nothing to do with another: what nothing but them would give."""
    source = np.random.default_rng(0)
    return np.stack([source.permutation(column) for column in real.T], axis=1)


def of_peer(peer: Peer, domain: Domain, epsilon: float, most: int) -> Maker:
    """What another package makes of records; raises `TooSlowError` after so many seconds."""

    def make(codes: Codes, seed: int) -> tuple[Codes, float]:
        made = peer.rows(domain.shape, codes, (epsilon, DELTA), seed, most)
        if made is None:
            raise TooSlowError
        return made

    return make


class TooSlowError(Exception):
    """A peer was ended."""


def makers(arguments: argparse.Namespace, domain: Domain, epsilon: float) -> dict[str, Maker]:
    """What is compared at one budget."""
    measure: Measure = PURE if arguments.pure else CONCENTRATED
    loss = epsilon if arguments.pure else rho_of(epsilon, DELTA)

    def here(codes: Codes, seed: int, target: str | None = None) -> tuple[Codes, float]:
        if arguments.released:
            return released(domain, codes, loss, measure)
        return simulated(domain, codes, loss, measure, seed, target=target)

    found: dict[str, Maker] = {"eke": here}
    if arguments.target is not None and not arguments.released:
        found["eke with target"] = lambda codes, seed: here(codes, seed, arguments.target)
    for peer in peers(arguments.peers):
        if not arguments.mechanisms or peer.name.split()[0] in arguments.mechanisms:
            found[peer.name] = of_peer(peer, domain, epsilon, arguments.peer_seconds)
    return found


def table_of_results(
    arguments: argparse.Namespace, domain: Domain, real: Codes
) -> dict[str, list[float]]:
    """By name and budget the means over runs; printed as they come."""
    target, rows = arguments.target, {}
    for epsilon in arguments.epsilon:
        for name, maker in makers(arguments, domain, epsilon).items():
            runs = []
            try:
                for seed in range(arguments.runs):
                    if target is not None:
                        areas = areas_under_roc(domain, real, maker, seed, target=target)
                        runs.append(list(areas.values()))
                    else:
                        made, seconds = maker(real, seed)
                        runs.append([*distances(domain, real, made), seconds])
            except TooSlowError:
                print(f"  {name}, epsilon {epsilon:g}: ended after {arguments.peer_seconds} s")
                continue
            except RuntimeError as error:
                print(f"  {error}, epsilon {epsilon:g}")
                continue
            title = f"{name}, epsilon {epsilon:g}"
            rows[title] = np.mean(runs, axis=0).tolist()
            spread = np.std(runs, axis=0, ddof=1).tolist() if arguments.runs > 1 else None
            _show(title, rows[title], spread)
    if target is not None:
        rows["real records"] = [*areas_of_real(domain, real, target=target).values(), math.nan]
        _show("real records", rows["real records"])
    else:
        again = np.random.default_rng(0).integers(0, len(real), len(real))
        rows["records drawn anew"] = [*distances(domain, real, real[again]), math.nan]
        _show("records drawn anew", rows["records drawn anew"])
        rows["columns shuffled apart"] = [*distances(domain, real, apart(real)), math.nan]
        _show("columns shuffled apart", rows["columns shuffled apart"])
    return rows


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 1.0, 10.0])
    parser.add_argument(
        "--doubling", dest="epsilon", action="store_const", const=DOUBLING, help="0.1 to 102.4"
    )
    parser.add_argument("--shipped", nargs="+", choices=sorted(TABLES), default=sorted(TABLES))
    parser.add_argument("--table", type=Path, help="a CSV file of codes from 0 on")
    parser.add_argument("--domain", type=Path, help="a JSON file with the size of each column")
    parser.add_argument("--ordered", nargs="*", default=[], help="columns whose codes are in order")
    parser.add_argument("--pure", action="store_true", help="pure epsilon instead of zCDP")
    parser.add_argument("--released", action="store_true", help="through a session")
    parser.add_argument("--target", help="a column that classifiers are to predict")
    parser.add_argument("--peers", type=Path, nargs="*", default=[], help="Pythons that have some")
    parser.add_argument("--mechanisms", nargs="*", default=[], help="of peers: MST AIM PrivBayes")
    parser.add_argument("--peer-seconds", type=int, default=3600, help="of the processor, at most")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if (arguments.table is None) != (arguments.domain is None):
        parser.error("--table and --domain belong together")
    if arguments.pure and arguments.peers:
        parser.error("peers spend zCDP; leave --pure out")
    tables = {name: TABLES[name] for name in arguments.shipped}
    if arguments.table is not None:
        sizes = json.loads(arguments.domain.read_text())
        given = coded(arguments.table, sizes, set(arguments.ordered))
        tables = {arguments.table.stem: lambda: given}
    found = {}
    shown = (
        ["1-way", "2-way", "3-way"] if arguments.target is None else ["LDA", "tree"]
    )  # CLASSIFIERS
    of = "mean total variation" if arguments.target is None else "area under the ROC curve"
    print(f"{of:39} " + " ".join(f"{one:>8}" for one in [*shown, "seconds"]))
    for name, read in tables.items():
        domain, real = read()
        print(f"{name}: {len(real):,} rows, {len(domain)} columns, {arguments.runs} runs")
        found[name] = table_of_results(arguments, domain, real)
    if arguments.out:
        arguments.out.write_text(json.dumps(found, indent=1))


def _show(title: str, means: list[float], spread: list[float] | None = None) -> None:
    print(f"  {title:37} " + " ".join(f"{number:8.4g}" for number in means), flush=True)
    if spread is not None:
        shown = " ".join(f"{number:8.2g}" for number in spread)
        print(f"  {'deviation of a run':37} {shown}", flush=True)


if __name__ == "__main__":
    main()
