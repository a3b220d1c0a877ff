"""Documents: answers, budgets and histories as JSON. The fields are in docs/reference/http.md."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from eke.privacy.record_loss import NANO
from eke.service.account import Account
from eke.session import Answer, Estimate, Session, TableEstimate

_POINTS = 161
_MOST_CELLS = 1_000_000


def finite(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with null for numbers that JSON does not have."""
    return {key: _finite(value) for key, value in document.items()}


def _finite(document: Any) -> Any:
    if isinstance(document, Mapping):
        return {str(key): _finite(value) for key, value in document.items()}
    if isinstance(document, (list, tuple)):
        return [_finite(value) for value in document]
    if isinstance(document, float) and not math.isfinite(document):
        return None
    return document


def answer_document(answer: Answer, *, posterior: bool) -> dict[str, Any]:
    """An answer with its receipt; the same bytes for the same stored answer."""
    receipt = answer.receipt
    shared = {
        "question": receipt.question,
        "confidence": receipt.confidence,
        "source": receipt.source,
        "measure": receipt.measure,
        "cost": receipt.cost,
        "why": receipt.sentence(),
        "receipt": asdict(receipt),
    }
    if answer.is_number:
        low, high = answer.interval
        number = {"kind": "number", "value": answer.value, "low": low, "high": high}
        named = {"column": answer.columns[0]} if answer.is_named else {}
        drawn = {"posterior": _curve(answer)} if posterior else {}
        return finite({**number, "variance": answer.variance, **named, **shared, **drawn})
    if answer.is_block:  # of a linear form; SQL never gives one
        return finite(
            {
                "kind": "marginal",
                "attributes": list(answer.attributes),
                "keys": [[plain_key(label) for label in key] for key in answer.keys],
                "values": list(answer.values),
                "intervals": [list(pair) for pair in answer.intervals],
                "variances": list(answer.variances),
                **shared,
            }
        )
    rows = [
        [
            plain_key(cell) if is_key else cell.to_dict()
            for is_key, cell in zip(answer.is_key, row, strict=True)
        ]
        for row in answer.rows
    ]
    columns = [
        {"name": name, "key": is_key}
        for name, is_key in zip(answer.columns, answer.is_key, strict=True)
    ]
    unnamed = {} if answer.is_named else {"named": False}
    return finite({"kind": "table", "columns": columns, "rows": rows, **unnamed, **shared})


def estimate_document(estimate: Estimate | TableEstimate) -> dict[str, Any]:
    """What history says about a question, without any promise that it was asked before."""
    if isinstance(estimate, Estimate):
        drawn = {} if estimate.interval is None else {"posterior": _curve(estimate)}
        return finite({"kind": "number", **_estimated(estimate), **drawn})
    return finite(
        {
            "kind": "marginal",
            "attributes": list(estimate.attributes),
            "keys": [[plain_key(label) for label in key] for key in estimate.keys],
            "cells": [_estimated(cell) for cell in estimate.cells],
        }
    )


def _estimated(estimate: Estimate) -> dict[str, Any]:
    solved = estimate.convergence
    return {
        **estimate.to_dict(),
        "alpha": estimate.alpha,
        "convergence": None if solved is None else asdict(solved),
    }


def plain_key(label: Any) -> Any:
    """A label; a bin is an object with its edges."""
    if isinstance(label, tuple):
        return {"from": label[0], "to": label[1]}
    return label.item() if isinstance(label, np.generic) else label


def _curve(answer: Answer | Estimate) -> dict[str, list[float]]:
    """The density of the posterior at points that are worth drawing."""
    belief = answer.posterior
    low, high = belief.support()
    if not high > low:
        return {"points": [answer.value], "density": [1.0]}
    points = np.linspace(low, high, _POINTS)
    return {"points": points.tolist(), "density": belief.density(points).tolist()}


def budget_document(session: Session, account: Account) -> dict[str, Any]:
    """The dataset's budget, and what the account may still spend of it."""
    budget, shares = session.budget, session.shares
    cap = shares.caps.get(account.name)
    spent = shares.spent.get(account.name, 0)
    left = budget.limit_nano - budget.spent_nano
    own = left if cap is None else min(left, max(0, cap - spent))
    document = {
        **budget.to_dict(),
        "yours": {
            "spent": spent / NANO,
            "cap": None if cap is None else cap / NANO,
            "remaining": own / NANO,
        },
    }
    if account.role != "analyst":
        names = sorted({*shares.spent, *shares.caps})
        document["analysts"] = [
            {
                "name": name,
                "spent": shares.spent.get(name, 0) / NANO,
                "cap": shares.caps[name] / NANO if name in shares.caps else None,
            }
            for name in names
        ]
    return document


def timeline_document(session: Session, who: str | None) -> list[dict[str, Any]]:
    """How loss and limit went, entry by entry; with a name, only that analyst is named."""
    found: list[dict[str, Any]] = []
    limit = spent = 0
    for entry in session.ledger_entries():
        if entry.kind in ("genesis", "limit"):
            limit = int(str(entry.about["limit"]))
        elif entry.kind == "reserve":
            spent = int(str(entry.about["spent_after"]))
        else:
            continue
        analyst = entry.about.get("analyst")
        found.append(
            {
                "sequence": entry.sequence,
                "at": entry.at,
                "spent": spent / NANO,
                "limit": limit / NANO,
                "analyst": analyst if who is None or analyst == who else None,
            }
        )
    return found


def attribute_document(session: Session) -> list[dict[str, Any]] | None:
    """For each attribute the largest loss of a record by its value; None for large domains."""
    domain = session.domain
    if domain.size > _MOST_CELLS:
        return None
    losses = session.history.cell_losses() + _flat_loss(session)
    found = []
    for place, (name, attribute) in enumerate(domain.attributes):
        others = tuple(axis for axis in range(losses.ndim) if axis != place)
        worst = losses.max(axis=others)
        labels = [plain_key(label) for label in attribute.labels]
        found.append({"name": name, "labels": labels, "losses": worst.tolist()})
    return found


def _flat_loss(session: Session) -> float:
    """What every record lost, whatever its values: scores of rows and private choices."""
    plans = [entry.payload["plan"] for entry in session.ledger_entries() if entry.kind == "reserve"]
    kinds = ("row_loss", "later_loss")
    return (
        sum(int(p.get(kind, 0)) for p in plans if isinstance(p, Mapping) for kind in kinds) / NANO
    )
