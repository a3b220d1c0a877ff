"""Printed: what commands print with --json, for scripts that read it.

The fields are in docs/reference/cli.md, and obey the law of this package: they stay.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eke.session import Answer, Budget, PlannedRelease, Price, Receipt, Release


def json_text(document: Any) -> str:
    """JSON that any reader accepts: what is not a finite number is null."""
    from eke.codec.plain import finite  # noqa: PLC0415 - domains; pictures need none

    return json.dumps(finite(document), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(label: Any) -> Any:
    from eke.domain import plain_label  # noqa: PLC0415 - slow to load; most documents hold none

    return plain_label(label)


def answer_document(answer: Answer) -> dict[str, Any]:
    """An answer: one number, or columns and rows."""
    receipt = {**receipt_document(answer.receipt), "caveats": list(answer.caveats)}
    if answer.is_number:
        low, high = answer.interval
        if answer.rank_error is not None:
            receipt = {"rank_error": answer.rank_error, **receipt}
        return {"value": answer.value, "low": low, "high": high, **receipt}
    kinds = ["key" if is_key else "value" for is_key in answer.is_key]
    return {
        "columns": [
            {"name": name, "kind": kind} for name, kind in zip(answer.columns, kinds, strict=True)
        ],
        "rows": [
            {
                name: _plain(cell) if is_key else cell.to_dict()
                for name, is_key, cell in zip(answer.columns, answer.is_key, row, strict=True)
            }
            for row in answer.rows
        ],
        **receipt,
    }


def receipt_document(receipt: Receipt) -> dict[str, Any]:
    """What an answer cost and where it came from."""
    return {
        "question": receipt.question,
        "confidence": receipt.confidence,
        "source": receipt.source,
        "measure": receipt.measure,
        "cost": receipt.cost,
        "steps": receipt.steps,
        "remaining": receipt.remaining,
    }


def budget_document(budget: Budget, yours: float, delta: float | None) -> dict[str, Any]:
    """Limit, spent and remaining, for all and for you; with a delta also the ε that a ρ implies."""
    document: dict[str, Any] = {**budget.to_dict(), "yours": yours}
    if delta is not None:
        document |= {"delta": delta, "epsilon": budget.epsilon(delta)}
    return document


def plan_document(plan: PlannedRelease, price: Price) -> dict[str, Any]:
    """What a release would measure, with which errors, for how much."""
    return {
        "measure": plan.measure.name,
        "budget": plan.budget,
        "cost": price.cost,
        "remaining": price.remaining,
        "affordable": price.affordable,
        "tables": len(plan.workload.targets),
        "questions": plan.workload.questions,
        "answers": plan.answers,
        "rmse": plan.rmse,
        "sections": [
            {
                "strategy": section.strategy,
                "questions": section.questions,
                "alternatives": [asdict(option) for option in options],
            }
            for section, options in plan.comparison()
        ],
    }


def _adjusted(release: Release) -> dict[str, Any]:
    if release.adjustment is None:
        return {}
    return {"adjusted": {**asdict(release.adjustment), "note": release.adjustment.note}}


def release_document(
    release: Release, remaining: float, files: Sequence[Path] = ()
) -> dict[str, Any]:
    """What was released: in files, or here."""
    tables: list[dict[str, Any]] = []
    for table in release.tables:
        printed: dict[str, Any] = {
            "attributes": list(table.attributes),
            "along": list(table.along),
            "answers": int(table.values.size),
            "largest_error": float(table.standard_error.max()),
        }
        if not files:
            printed["labels"] = [[_plain(label) for label in axis] for axis in table.labels]
            printed["values"] = table.values.tolist()
        tables.append(printed)
    for printed, file in zip(tables, files, strict=False):
        printed["file"] = str(file)
    return {
        "measure": release.measure,
        "cost": release.cost,
        "remaining": remaining,
        "sequence": release.sequence,
        "strategy": release.strategy,
        "rmse": release.rmse,
        "caveats": list(release.caveats),
        **_adjusted(release),
        "tables": tables,
    }
