"""Rows of measurements that other scripts make: the time of answers, and mutants of the code."""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import Any

from audits.row import ROOT, Row, Scale, number

PAIRS = "EKE_TIMING_PAIRS"
#: Where the script of mutants leaves its last result.
MUTANTS = "audits/mutants.json"
LARGEST_T = 4.5
LEAST_KILLED = 0.9


def timing(scale: Scale) -> tuple[Row, ...]:
    """Times of paid answers on neighbouring tables, interleaved: the largest Welch's t of each.

    A pair takes two steps of a tenth of a second, so that 10⁵ of them take hours: the environment
    variable EKE_TIMING_PAIRS asks for more than the usual 2,000. One lane: several at once would
    take longer than a step, and that is not what is asked here.
    """
    pairs = int(os.environ.get(PAIRS, "2000")) if scale.full else 50
    found: Any = import_module("benchmarks.timing").measure(pairs=pairs, lanes=1)
    padded, noise, same, bare = (
        abs(float(t)) for t in (found.neighbours, found.noise, found.same, found.bare)
    )
    return (
        Row(
            title="timing of paid answers on neighbours",
            samples=f"{number(pairs)} interleaved pairs",
            figure=(
                f"t = {padded:.2f}, by the size of the noise {noise:.2f}, "
                f"on one table twice {same:.2f}; steps taken: {', '.join(map(str, found.steps))}"
            ),
            control=f"without steps: t = {bare:.1f}",
            passed=max(padded, noise) < LARGEST_T,
            caught=bare > LARGEST_T,
        ),
    )


def mutants(_scale: Scale) -> tuple[Row, ...]:
    """What the tests made of changed code, as the script of mutants last found it."""
    found = json.loads((ROOT / MUTANTS).read_text("utf-8"))
    return (mutant_row(found),)


def mutant_row(found: dict[str, Any]) -> Row:
    """The row of a result with the numbers killed, survived, and explained among these."""
    killed, survived = int(found["killed"]), int(found["survived"])
    explained = int(found.get("explained", 0))
    share = killed / max(1, killed + survived)
    return Row(
        title="mutants of the release path",
        samples=f"{number(killed + survived)} mutants",
        figure=f"{share:.1%} killed, {survived - explained} survivors without a reason",
        control="each mutant is one",
        passed=share >= LEAST_KILLED and survived == explained,
        caught=killed > 0,
    )
