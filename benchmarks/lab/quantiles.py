"""Quantiles asked of counts in memory, step by step, with noise from a seeded generator."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from eke.domain import Domain, Integer
from eke.history import Measurement
from eke.inference import Inference, QuantilePosterior
from eke.planning import (
    AccountsAtHand,
    Decision,
    Facts,
    QuestionDemand,
    checked,
    decide_quantiles,
    spend_on_quantiles,
    top_up,
)
from eke.planning.online.known_quantiles import KnownQuantiles
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Query
from eke.sql import parse

MOST_STEPS = 20
VALUES, ROWS = 256, 4001  # no share of them is a whole number: then ranks can tie
LEVELS = (0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Found:
    """What was known about each quantile in the end."""

    known: list[QuantilePosterior]
    decision: Decision
    steps: int
    cost: float


@dataclass(frozen=True, slots=True)
class Column:
    """A column whose records are counted for each of its values."""

    domain: Domain
    name: str
    counts: np.ndarray  # (values,)

    def rank_error(self, step: int, share: float) -> float:
        """How many records lie between the value at a step and the quantile."""
        below = float(self.counts[:step].sum())
        wanted = share * float(self.counts.sum())
        return max(below - wanted, wanted - below - float(self.counts[step]), 0.0)

    def quantile(self, share: float) -> int:
        """The least step that this share of the records does not exceed: the slow twin."""
        wanted, seen = share * self.counts.sum(), 0
        for step, count in enumerate(self.counts):
            seen += count
            if seen >= wanted:
                return step
        raise ValueError("there are no records")

    def answer(self, query: Query) -> float:
        """The exact answer to a query about this column alone."""
        total = Fraction(query.constant)
        for term in query.terms:
            vector = dict(term.factors).get(self.name, np.ones_like(self.counts))
            total += term.weight * int(self.counts @ vector)
        return float(total)


def asked(
    column: Column,
    shares: list[float],
    generator: np.random.Generator,
    *,
    within: float | None = None,
    spend: float | None = None,
    confidence: float = 0.95,
    limit: float = 1.0,
    measure: Measure = PURE,
    noise: float = 1.0,
) -> Found:
    """What eke finds; with `noise` above 1, more is drawn than it is told: a positive control."""
    texts = ", ".join(f"QUANTILE_DISC({column.name}, {share})" for share in shares)
    question = parse(f"SELECT {texts} FROM t", column.domain)  # noqa: S608 - no engine reads it
    widths = (1.0 if within is None else within,) * len(question.columns)
    demand = checked(QuestionDemand(question, widths, confidence))
    inference = Inference(column.domain)
    accountant = Accountant(column.domain, measure, "add_remove")
    costs: list[int] = []
    while True:
        facts = Facts(inference.view(), AccountsAtHand(accountant), round(limit * NANO))
        if spend is None:
            decision = decide_quantiles(demand, facts, top_up)
        else:
            decision = spend_on_quantiles(demand, facts, round(spend * NANO), costs)
        if decision.plan is None or len(costs) == MOST_STEPS:
            known = [doubt.known for doubt in KnownQuantiles.of(demand, inference).doubts]
            return Found(known, decision, len(costs), accountant.spent / NANO)
        measured = [(part.query, part.law) for part in decision.plan.parts]
        after = accountant.after_all(measured, facts.limit)
        for query, law in measured:
            accountant.add(query, law, after)
        costs.append(decision.cost)
        released = []
        for query, law in measured:
            (single,) = query.queries()
            drawn = generator.laplace(scale=law.laplace_scale) if law.laplace_scale else 0.0
            drawn += generator.normal(scale=law.gaussian_variance**0.5)
            released.append(Measurement(query, law, (column.answer(single) + noise * drawn,)))
        inference.extend_all(released)


def skewed(generator: np.random.Generator) -> Column:
    """A skewed column, another one each time."""
    numbers = np.clip(generator.lognormal(4.0, 0.5, ROWS), 0, VALUES - 1).astype(int)
    counts = np.bincount(numbers, minlength=VALUES)
    return Column(Domain(x=Integer(0, VALUES - 1)), "x", counts)


def shares_held(
    runs: int, seed: int, measure: Measure = CONCENTRATED, noise: float = 1.0
) -> np.ndarray:  # (levels,)
    """The share of runs whose interval holds the truth, at each level; ± 3 is asked at 95 %."""
    return coverage(runs, seed, measure, noise)[0]


def room_by_values(column: Column, share: float, known: QuantilePosterior, level: float) -> float:
    """How often an interval of whole values holds the truth, if its noise is Gaussian.

    The two tests that can make it miss are at the nearest cuts, and the ranks there are some
    records above and below 0, not at it.
    """
    true, records = column.quantile(share), float(column.counts.sum())
    ranks = np.cumsum(column.counts)[known.cuts] - share * records
    far = np.abs(ranks) / known.deviations
    above, below = far[known.cuts >= true], far[known.cuts < true]
    normal = NormalDist()
    surely = normal.inv_cdf(0.5 + 0.5 * level)
    ends = [float(one) for one in (*above[:1], *below[-1:])]
    return 1.0 - sum(normal.cdf(-surely - end) for end in ends)


def coverage(
    runs: int, seed: int, measure: Measure = CONCENTRATED, noise: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:  # (levels,) each
    """The shares that held, and what `room_by_values` lets expect."""
    generator = np.random.default_rng(seed)
    held, expected = np.zeros(len(LEVELS)), np.zeros(len(LEVELS))
    for _ in range(runs):
        column = skewed(generator)
        share = float(generator.choice([0.1, 0.25, 0.5, 0.75]))
        found = asked(
            column, [share], generator, within=3.0, measure=measure, noise=noise, limit=5.0
        )
        (known,) = found.known
        if noise == 1.0 and (found.decision.action != "history" or known.halfwidth(0.95) > 3.0):
            raise AssertionError("the quantile is not known as was asked for")
        true = column.quantile(share)
        for place, level in enumerate(LEVELS):
            low, high = known.interval(level)
            held[place] += low <= true <= high
            expected[place] += room_by_values(column, share, known, level)
    return held / runs, expected / runs
