"""The stored form of an answer: one JSON text, the same bytes whenever the request is repeated."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eke.planning import Facts
from eke.privacy.law import Charged, Refinement, noise_in
from eke.question import Question
from eke.session.answer.cell import Cell
from eke.session.answer.receipt import Receipt, Source


@dataclass(frozen=True, slots=True)
class Finding:
    """How an answer came about: where from, up to which ledger entry, and at what cost."""

    source: Source
    through: int
    cost: int = 0
    price: int = 0
    known: float | None = None
    noise: str = ""
    steps: int = 1


@dataclass(frozen=True, slots=True)
class Headline:
    """What was asked, as receipts and previews show it; of a price, `within` is what it buys."""

    question: str
    within: float | None
    confidence: float
    spend: int | None = None  # nano-units
    groups_of: int | None = None
    share: float | None = None  # of the value itself, in place of `within`
    of_records: bool = False  # of a quantile, the share is one of the records
    rank_error: int | None = None  # of a chosen quantile, in records


def stored_text(
    body: dict[str, Any], headline: Headline, known: float | None, facts: Facts, finding: Finding
) -> str:
    """An answer's body with its receipt, as JSON."""
    receipt = {
        "question": headline.question,
        "within": headline.within,
        "confidence": headline.confidence,
        "source": finding.source,
        "cost_nano": finding.cost,
        "price_nano": finding.price,
        "known": known if finding.source == "history" else finding.known,
        "noise": finding.noise,
        "measure": facts.measure.name,
        "spent_nano": facts.spent,
        "limit_nano": facts.limit,
        "through": finding.through,
        "steps": finding.steps,
    }
    if headline.spend is not None:
        receipt["spend_nano"] = headline.spend
    if headline.groups_of is not None:
        receipt["groups_of"] = headline.groups_of
    if headline.share is not None:
        receipt["share"] = headline.share
    if headline.of_records:
        receipt["of_records"] = True
    if headline.rank_error is not None:
        receipt["rank_error"] = headline.rank_error
    return json.dumps({**body, "receipt": receipt}, allow_nan=False)


def answer_body(
    question: Question, shown: Sequence[int], cells: Sequence[Sequence[Cell]]
) -> dict[str, Any]:
    """The rows that are shown and their values, as they are stored.

    The cells of a plain block are all shown, each with its variance.
    """
    if question.is_block:
        return {"cells": [[c.value, c.low, c.high, c.variance] for (c,) in cells]}
    values = [[[one.value, one.low, one.high] for one in row] for row in cells]
    body: dict[str, Any] = {"shown": list(shown), "cells": values}
    if question.is_number and cells and cells[0][0].variance is not None:
        body["variance"] = cells[0][0].variance
    return body


def read_rows(question: Question, body: Mapping[str, Any]) -> tuple[list[int], list[list[Cell]]]:
    """The rows and values that `answer_body` wrote down."""
    if question.is_block:
        cells = [[Cell(*cell)] for cell in body["cells"]]
        return list(range(len(cells))), cells
    cells = [[Cell(*cell) for cell in row] for row in body["cells"]]
    if "variance" in body:
        cells = [[replace(cells[0][0], variance=body["variance"])]]
    return body["shown"], cells


def read_text(text: str) -> tuple[dict[str, Any], Receipt]:
    """The body and the receipt that a stored text holds."""
    document = json.loads(text)
    return document, Receipt(**document.pop("receipt"))


def noise_text(laws: Sequence[Charged]) -> str:
    """The noise of some measurements, each kind once."""
    ordered = sorted(laws, key=lambda law: noise_in(law).variance)
    texts = list(dict.fromkeys(_noise(law) for law in ordered))
    if len(texts) > 3:
        return f"noise of {len(texts)} different scales, the smallest being {texts[0]}"
    return " and ".join(texts)


def _noise(law: Charged) -> str:
    if isinstance(law, Refinement):
        return f"{_noise(law.fine)}, refined from {law.coarse.laplace_scale:.6g}"
    if law.laplace_scale:
        return f"discrete Laplace noise of scale {law.laplace_scale:.6g}"
    return f"discrete Gaussian noise of standard deviation {law.gaussian_variance**0.5:.6g}"
