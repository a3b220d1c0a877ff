"""What accuracy in steps loses: one question asked k times, each time more accurately.

The steps cost about equally much. Their loss is compared with that of one answer asked at once on a
fresh dataset of the same table, and their half-width with that of one answer bought for the loss of
all steps: 1 where nothing is lost. Beside it is the same ratio for the mean of k independent
answers that cost as much. Releases take k budgets instead, the last of which is the whole:
"released again" releases two marginals k times, "released, then asked" releases one and asks for it
from then on.

    python benchmarks/refinement.py [--steps 2 4 8] [--policies top_up look_ahead] [--within 10]
                                    [--questions NAME ...]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import eke
from eke.inference import ComposedNoise, halfwidth

ROWS = 5000
CONFIDENCE = 0.95
RELEASED_THEN_ASKED = "released, then asked"
RELEASED_AGAIN = "released again"
DOMAIN = eke.Domain(age=eke.Integer(0, 89), sex=eke.Categorical("F", "M"), town=eke.Integer(0, 22))
TABLE = "SELECT age, town, COUNT(*) FROM t GROUP BY age, town"
QUESTIONS = {
    "count of a range": "SELECT COUNT(*) FROM t WHERE age < 40",
    "count of a group": "SELECT COUNT(*) FROM t WHERE sex = 'F'",
    "two groups": "SELECT sex, COUNT(*) FROM t GROUP BY sex",
    "2,070 groups": TABLE,
    RELEASED_THEN_ASKED: TABLE,
}
MARGINALS = [["age", "town"], ["sex"]]


@dataclass(frozen=True, slots=True)
class Compared:
    """One question in k steps, next to one answer."""

    policy: str
    question: str
    k: int
    in_steps: float  # loss
    at_once: float  # loss of one answer with the accuracy of the last step
    reached: float  # half-width in k steps, as a multiple of one answer's for the same loss
    averaged: float  # the same of the mean of k independent answers


def people() -> pd.DataFrame:
    """A table, the same each time."""
    draw = np.random.default_rng(7)
    sex = np.where(draw.random(ROWS) < 0.4, "F", "M")
    towns = draw.integers(0, 23, ROWS)
    return pd.DataFrame({"age": draw.integers(0, 90, ROWS), "sex": sex, "town": towns})


def half_width(answer: eke.Answer) -> float:
    """Half the width of the widest interval of an answer."""
    return float(max(high - low for low, high in answer.intervals)) / 2.0


def compare(policy: str, question: str, k: int, within: float) -> Compared:
    """Ask in k steps, the last of them with this half-width, and at once."""
    with tempfile.TemporaryDirectory() as name:
        steps, once, bought = datasets(Path(name), policy)
        if question == RELEASED_AGAIN:
            return released_again(policy, k, steps, once)
        sql, first = QUESTIONS[question], 1
        if question == RELEASED_THEN_ASKED:
            steps.release(steps.plan([["age", "town"]], within=within * k, confidence=CONFIDENCE))
            first = 2
        widths = [within * k / step for step in range(first, k + 1)]
        last = [steps.ask(sql, width, CONFIDENCE) for width in widths][-1]
        once.ask(sql, within, CONFIDENCE)
        loss, at_once = steps.budget.spent, once.budget.spent
        one = bought.ask(sql, confidence=CONFIDENCE, spend=loss)
    reached = half_width(last) / half_width(one)
    return Compared(policy, question, k, loss, at_once, reached, averaged(k))


def released_again(policy: str, k: int, steps: eke.Session, once: eke.Session) -> Compared:
    """Release two marginals k times, for growing budgets, and once for the last of them."""
    for step in range(1, k + 1):
        steps.release(steps.plan(MARGINALS, budget=step / k, strategy="Q"))
    once.release(once.plan(MARGINALS, budget=1.0, strategy="Q"))
    loss, at_once = steps.budget.spent, once.budget.spent
    wide = [half_width(one.ask(TABLE, within=1000.0)) for one in (steps, once)]
    return Compared(policy, RELEASED_AGAIN, k, loss, at_once, wide[0] / wide[1], averaged(k))


def datasets(folder: Path, policy: str) -> list[eke.Session]:
    """Three fresh datasets of the same table."""
    table = people()
    return [
        eke.create(folder / f"{title}.eke", table, DOMAIN, epsilon=1000.0, policy=policy)
        for title in ("steps", "once", "bought")
    ]


def averaged(k: int) -> float:
    """Half-width of the mean of k answers, each for 1/k of the loss, as a multiple of one's.

    One answer has noise of scale 1, each of the k has scale k, and their mean has k parts of 1.
    """
    one, mean = (halfwidth(ComposedNoise(np.ones(parts)), CONFIDENCE) for parts in (1, k))
    return mean / one


def main() -> None:
    """Print the table, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--policies", nargs="+", default=["top_up", "look_ahead"])
    parser.add_argument("--within", type=float, default=10.0, help="half-width of the last step")
    named = [*QUESTIONS, RELEASED_AGAIN]
    parser.add_argument("--questions", nargs="+", default=named, choices=named, metavar="NAME")
    options = parser.parse_args()
    titles = ("loss in steps", "at once", "reached / one", "averaged / one")
    print(f"{'policy':12}{'question':22}{'k':>3}" + "".join(f"{title:>16}" for title in titles))
    found = []
    for policy in options.policies:
        for question in options.questions:
            for k in options.steps:
                row = compare(policy, question, k, options.within)
                found.append(asdict(row))
                figures = (row.in_steps, row.at_once, row.reached, row.averaged)
                cells = "".join(f"{figure:16.4f}" for figure in figures)
                print(f"{policy:12}{question:22}{k:3}{cells}", flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
