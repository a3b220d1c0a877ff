"""Chosen: the stored answer of a question for a chosen quantile, and what is said of it.

The value is what was chosen. Its interval in the column's unit is not the choice's: it follows from
counts that were released before, and is all of the column where there are none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from eke.errors import EstimateError
from eke.inference import Posterior
from eke.planning import Facts, QuestionDemand, best_choice
from eke.session.answer.cell import Cell
from eke.session.answer.receipt import Receipt
from eke.session.answer.record import Finding, Headline, answer_body, stored_text


def chosen_text(
    demand: QuestionDemand,
    belief: Posterior,
    facts: Facts,
    finding: Finding,
    *,
    headline: Headline,
    asked: Mapping[str, Any],
) -> str:
    """The stored answer: what was chosen with the least noise, and how many records it is off by.

    Privacy: a function of released values.
    """
    best = best_choice(demand, facts)
    if best is None:
        raise EstimateError("nothing was chosen for this question")
    error = math.ceil(best.choice.rank_error(demand.confidence))
    low, high = belief.interval(demand.confidence)
    value = best.value
    cell = Cell(value, min(low, value), max(high, value), belief.variance)
    if finding.source != "history":
        noise = f"a choice by the exponential mechanism, of scale {float(best.choice.scale):.6g}"
        finding = replace(finding, noise=noise, price=finding.cost)
    body = {**answer_body(demand.question, [0], [[cell]]), **asked}
    return stored_text(body, replace(headline, rank_error=error), float(error), facts, finding)


def chosen_sentence(receipt: Receipt) -> tuple[str, ...]:
    """What holds of a chosen quantile; nothing of any other answer."""
    if receipt.rank_error is None:
        return ()
    records = f"{receipt.rank_error:,} record{'s' * (receipt.rank_error != 1)}"
    sentence = (
        f"The value was chosen: with probability {receipt.confidence:.4g} at most {records} lie "
        "between it and the quantile's place in their order. The interval is not the choice's: it "
        "follows from counts that were released before."
    )
    return (sentence,)
