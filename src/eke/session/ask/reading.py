"""Reading a question: its linear form, what history knows of it, and its price."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from eke.errors import QueryError
from eke.history import ChosenStep
from eke.ledger import Entry
from eke.privacy.record_loss import NANO
from eke.query import Query
from eke.question import Formula, Question, caveats
from eke.question.lowered import without_outer_parentheses
from eke.session.ask.preview import Preview
from eke.session.ask.request import DEFAULT_CONFIDENCE
from eke.session.history import History

_MOST_CELLS = 64


def preview_document(preview: Preview) -> dict[str, Any]:
    """What a question would cost."""
    return {
        "question": preview.question,
        "within": preview.within,
        "confidence": preview.confidence,
        "action": preview.action,
        "measure": preview.measure,
        "cost": preview.cost,
        "most": preview.most,
        "first_step": preview.first_step,
        "remaining": preview.remaining,
        "capped": preview.capped,
        "known": preview.known,
        "narrowest": preview.narrowest,
        **({} if preview.spend is None else {"spend": preview.spend}),
        **({} if preview.groups_of is None else {"groups_of": preview.groups_of}),
        **({} if preview.share is None else {"share": preview.share}),
        **({"of_rank": True} if preview.of_rank else {}),
        **(
            {} if preview.likely is None else {"likely": preview.likely, "records": preview.records}
        ),
        **({"guarded": preview.guarded} if preview.guarded else {}),
    }


def question_document(
    question: Question, history: History, confidence: float | None, preview: Preview | None
) -> dict[str, Any]:
    """How a question is read, what history offers for each part, and what it would cost."""
    inline = question.requirement
    sure = confidence or (inline and inline.confidence) or DEFAULT_CONFIDENCE
    priced = None
    if preview is not None:
        priced = {**preview_document(preview), "sentence": preview.explain().split("\n", 1)[1]}
    return {
        "columns": [
            {"name": column.name, "formula": _formula(question, column.finished)}
            for column in question.columns
        ],
        "clauses": _clauses(question),
        "aggregates": {
            f"a{place}": _aggregate(question, place, history, sure)
            for place in range(len(question.blocks))
        },
        "confidence": sure,
        "price": priced,
        "caveats": list(caveats(question)),
    }


_ON_ROWS = "UNION and its like, HAVING, ORDER BY and LIMIT"


def explained_answers(question: Question) -> int:
    """How many answers are looked at for it."""
    return 2 * min(question.rows, _MOST_CELLS) * len(question.blocks)


def _formula(question: Question, formula: Formula) -> str:
    """The formula with a0, a1, … for aggregates and the names of keys."""
    keys = [key.name for key in question.group_by]
    text = formula.text
    text = re.sub(r"\bk(\d+)\b", lambda found: f"key {keys[int(found[1])]}", text)
    return without_outer_parentheses(text)


def _clauses(question: Question) -> list[str]:
    clauses = []
    if question.combination is not None:
        clauses.append(f"for each of the {len(question.places)} rows of all SELECTs")
    elif question.group_by:
        names = ", ".join(key.name for key in question.group_by)
        clauses.append(f"for each of the {len(question.places)} declared groups of {names}")
    if not question.keeps_all:
        words = "HAVING, ORDER BY and LIMIT" if question.combination is None else _ON_ROWS
        clauses.append(f"{words} act on the noisy rows, and are free")
    return clauses


def _aggregate(
    question: Question, place: int, history: History, confidence: float
) -> dict[str, Any]:
    """One sum over records, or one for each group: in words, and what history offers."""
    block = question.blocks[place]
    rows = min(question.rows, _MOST_CELLS)
    cells = [question.query(place, row) for row in range(rows)]
    return {
        "question": block.description,
        "cells": question.rows,
        "known": _known(history, cells, confidence),
        "sources": _sources(history, cells),
    }


def _known(history: History, cells: list[Query], confidence: float) -> float | None:
    """The half-width that history offers for every cell; None when it leaves one open."""
    widths = []
    for cell in cells:
        if not history.determines(cell):
            return None
        low, high = history.estimate(cell).interval(confidence)
        widths.append((high - low) / 2.0)
    return max(widths)


def _sources(history: History, cells: list[Query]) -> list[dict[str, Any]]:
    """The entries behind the cells, each with the measurement and weight that count most."""
    sources: dict[int, dict[str, Any]] = {}
    behind: dict[int, set[str]] = {}
    for cell in islice(cells, _MOST_CELLS):
        for measurement, weight in history.sources(cell):
            question = measurement.query.description
            behind.setdefault(measurement.sequence, set()).add(question)
            known = sources.get(measurement.sequence)
            if known is None or abs(weight) > abs(known["weight"]):
                sources[measurement.sequence] = {
                    "sequence": measurement.sequence,
                    "question": question,
                    "weight": weight,
                }
    return [
        {**sources[sequence], "others": len(behind[sequence]) - 1} for sequence in sorted(sources)
    ]


def measurement_document(
    sequence: int, entries: Mapping[int, Entry], history: History, measure: str
) -> dict[str, Any]:
    """What one entry of the ledger released, with the charge that was made for it."""
    asked = entries.get(sequence)
    if asked is None or asked.kind not in ("reserve", "commit"):
        raise QueryError(f"entry {sequence} released nothing; `eke history` lists those that did")

    def is_meant(commit: int) -> bool:
        return sequence in (commit, entries[commit].about["reservation"])

    released = [measurement for measurement in history if is_meant(measurement.sequence)]
    chosen = [choice for choice in history.choices if is_meant(choice.sequence)]
    commits = [each.sequence for each in released] + [each.sequence for each in chosen]
    if not commits:
        raise QueryError(f"entry {sequence} is charged, but nothing was released for it yet")
    closing = entries[commits[0]]
    opening = entries[int(str(closing.about["reservation"]))]
    return {
        "sequence": closing.sequence,
        "at": opening.at,
        "analyst": opening.about["analyst"],
        "measure": measure,
        "cost": int(str(opening.payload["cost"])) / NANO,
        "charged_by": opening.sequence,
        "measurements": [
            {
                "question": measurement.query.description,
                "values": list(measurement.values),
                "noise_deviation": float(measurement.law.variance) ** 0.5,
                "noise": measurement.law.to_json(),
                "linear_form": measurement.query.to_document(),
                "refines": None if measurement.refines is None else measurement.refines.place,
            }
            for measurement in released
        ],
        **({"choices": [_choice_document(choice) for choice in chosen]} if chosen else {}),
    }


def _choice_document(chosen: ChosenStep) -> dict[str, Any]:
    """A quantile that was chosen, and what it was chosen by."""
    return {
        "question": chosen.choice.description,
        "chosen": chosen.shown,
        "step": chosen.step,
        **chosen.choice.to_document(),
    }
