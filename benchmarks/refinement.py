"""What accuracy in steps loses: one question asked k times, each time more accurately.

The steps cost about equally much. Their loss is compared with that of one answer asked at once on a
fresh dataset of the same table, and their half-width with that of one answer bought for the loss of
all steps: 1 where nothing is lost. Beside it is the same ratio for the mean of k independent
answers that cost as much.

    python benchmarks/refinement.py [--steps 2 4 8] [--policies top_up look_ahead] [--within 10]
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
DOMAIN = eke.Domain(age=eke.Integer(0, 89), sex=eke.Categorical("F", "M"))
QUESTIONS = {
    "count of a range": "SELECT COUNT(*) FROM t WHERE age < 40",
    "count of a group": "SELECT COUNT(*) FROM t WHERE sex = 'F'",
    "two groups": "SELECT sex, COUNT(*) FROM t GROUP BY sex",
}


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
    return pd.DataFrame({"age": draw.integers(0, 90, ROWS), "sex": sex})


def half_width(answer: eke.Answer) -> float:
    """Half the width of the widest interval of an answer."""
    return float(max(high - low for low, high in answer.intervals)) / 2.0


def compare(policy: str, question: str, k: int, within: float) -> Compared:
    """Ask in k steps, the last of them with this half-width, and at once."""
    sql, table = QUESTIONS[question], people()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        steps, once, bought = (
            eke.create(folder / f"{title}.eke", table, DOMAIN, epsilon=1000.0, policy=policy)
            for title in ("steps", "once", "bought")
        )
        last = [steps.ask(sql, within * k / step, CONFIDENCE) for step in range(1, k + 1)][-1]
        once.ask(sql, within, CONFIDENCE)
        loss, at_once = steps.budget.spent, once.budget.spent
        one = bought.ask(sql, confidence=CONFIDENCE, spend=loss)
    reached = half_width(last) / half_width(one)
    return Compared(policy, question, k, loss, at_once, reached, averaged(k))


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
    options = parser.parse_args()
    titles = ("loss in steps", "at once", "reached / one", "averaged / one")
    print(f"{'policy':12}{'question':18}{'k':>3}" + "".join(f"{title:>16}" for title in titles))
    found = []
    for policy in options.policies:
        for question in QUESTIONS:
            for k in options.steps:
                row = compare(policy, question, k, options.within)
                found.append(asdict(row))
                figures = (row.in_steps, row.at_once, row.reached, row.averaged)
                cells = "".join(f"{figure:16.4f}" for figure in figures)
                print(f"{policy:12}{question:18}{k:3}{cells}", flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
