"""The stored form of an answer: one JSON text, the same bytes whenever the request is repeated."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eke.errors import EstimateError
from eke.inference import ExactPosterior, Inference, Posterior
from eke.planning import Facts, Requirement
from eke.privacy.law import NoiseLaw
from eke.query import Marginal, Query, describe
from eke.session.answer import Answer, Receipt, Source, TableAnswer


@dataclass(frozen=True, slots=True)
class Finding:
    """How an answer came about: where from, up to which ledger entry, and at what cost."""

    source: Source
    through: int
    cost: int = 0
    price: int = 0
    known: float | None = None
    laws: tuple[NoiseLaw, ...] = ()


def answer_text(
    asked: Query | Marginal, requirement: Requirement, facts: Facts, finding: Finding
) -> str:
    """The answer from the facts as they are now, as JSON."""
    cells = []
    for posterior in _posteriors(asked, facts.inference):
        low, high = posterior.interval(requirement.confidence)
        cells.append([posterior.value, low, high, posterior.variance])
    known = finding.known
    if finding.source == "history":
        known = max((high - low) / 2.0 for _, low, high, _ in cells)
    document: dict[str, Any] = {
        "cells": cells,
        "receipt": {
            "question": describe(asked),
            "within": requirement.within,
            "confidence": requirement.confidence,
            "source": finding.source,
            "cost_nano": finding.cost,
            "price_nano": finding.price,
            "known": known,
            "noise": " and ".join(dict.fromkeys(_noise_text(law) for law in finding.laws)),
            "measure": facts.accountant.measure,
            "spent_nano": facts.accountant.spent,
            "limit_nano": facts.limit,
            "through": finding.through,
        },
    }
    return json.dumps(document, allow_nan=False)


def answer_from_text(
    text: str, asked: Query | Marginal, inference_through: Callable[[int], Inference]
) -> Answer | TableAnswer:
    """The answer that a stored text holds; its posterior is computed when somebody looks."""
    document = json.loads(text)
    receipt = Receipt(**document["receipt"])

    def posteriors() -> list[Posterior]:
        return _posteriors(asked, inference_through(receipt.through))

    cells = document["cells"]
    if isinstance(asked, Query):
        value, low, high, variance = cells[0]
        return Answer(value, (low, high), variance, receipt, lambda: posteriors()[0])
    return TableAnswer(
        asked.attributes,
        tuple(asked.keys()),
        tuple(cell[0] for cell in cells),
        tuple((cell[1], cell[2]) for cell in cells),
        tuple(cell[3] for cell in cells),
        receipt,
        posteriors,
    )


def _posteriors(asked: Query | Marginal, inference: Inference) -> list[Posterior]:
    singles = asked.queries() if isinstance(asked, Marginal) else iter((asked,))
    found: list[Posterior] = []
    for single in singles:
        known = inference.linear(single)
        if known is None:
            raise EstimateError("history does not determine this question")
        found.append(ExactPosterior(*known))
    return found


def _noise_text(law: NoiseLaw) -> str:
    if law.laplace_scale:
        return f"discrete Laplace noise of scale {law.laplace_scale:.6g}"
    return f"discrete Gaussian noise of standard deviation {law.gaussian_variance**0.5:.6g}"
