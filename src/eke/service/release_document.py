"""Documents of plans, releases, publications and jobs. The fields are in docs/reference/http.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from eke.planning import ReleasePlan
from eke.planning.workload.workload import Target
from eke.publish import Published
from eke.service.document import finite, plain_key
from eke.service.job_store import Job
from eke.session import Price, Record, Release, ReleasedTable, Session

_SHOWN = 8  # rows of a publication, to look at


def plan_document(plan: ReleasePlan, price: Price) -> dict[str, Any]:
    """What a release would measure, with which errors, for how much."""
    targets = _in_order(plan.workload.targets)
    each: list[dict[str, Any]] = [
        {
            "attributes": list(target.attributes),
            "along": list(target.along),
            "question": None,
            "answers": target.questions(plan.workload.domain),
        }
        for target in targets
    ]
    each += [
        {"attributes": list(one.attributes), "along": [], "question": one.description, "answers": 1}
        for one in plan.workload.queries
    ]
    for table, errors in zip(each, _errors_of_each(plan), strict=True):
        table["largest_error"] = float(np.max(errors))
    return finite(
        {
            "measure": plan.measure.name,
            "budget": plan.budget,
            "cost": price.cost,
            "remaining": price.remaining,
            "affordable": price.affordable,
            "strategy": plan.strategy,
            "questions": plan.workload.questions,
            "answers": plan.answers,
            "rmse": plan.rmse,
            "tables": each,
            "sections": [
                {
                    "strategy": section.strategy,
                    "questions": section.questions,
                    "alternatives": [asdict(option) for option in options],
                }
                for section, options in plan.comparison()
            ],
            "explanation": plan.explain(),
        }
    )


def _in_order(targets: Sequence[Target]) -> list[Target]:
    """The tables as plans and releases list them: whole marginals first."""
    return sorted(targets, key=lambda target: not target.is_marginal)


def _errors_of_each(plan: ReleasePlan) -> list[Any]:
    """The standard errors of each table, then of each single question."""
    found: list[Any] = []
    for section in plan.sections:
        found += list(section.variances)
    single = len(plan.workload.queries)
    tables, queries = found[: len(plan.workload.targets)], found[len(plan.workload.targets) :]
    flat = np.concatenate([np.ravel(one) for one in queries]) if queries else np.zeros(0)
    return [np.sqrt(one) for one in tables] + [np.sqrt(one) for one in flat[:single]]


def release_document(release: Release, record: Record, *, values: bool) -> dict[str, Any]:
    """A release: its price and its tables, with their numbers if wanted."""
    tables = [table_document(table, values=values) for table in release.tables]
    return finite(
        {
            **record_document(record, release.measure),
            "strategy": release.strategy,
            "rmse": release.rmse,
            "total": release.total,
            "tables": tables,
        }
    )


def table_document(table: ReleasedTable, *, values: bool = True) -> dict[str, Any]:
    """One table: labels along each axis, estimates, and their standard errors."""
    document: dict[str, Any] = {
        "attributes": list(table.attributes),
        "along": list(table.along),
        "question": table.question,
        "answers": int(table.values.size),
        "largest_error": float(np.max(table.standard_error)),
    }
    if values:
        document["labels"] = [[plain_key(label) for label in axis] for axis in table.labels]
        document["values"] = table.values.tolist()
        document["standard_error"] = table.standard_error.tolist()
    return finite(document)


def record_document(record: Record, measure: str) -> dict[str, Any]:
    """A line of the list of releases or publications."""
    return {
        "sequence": record.sequence,
        "at": record.at,
        "analyst": record.analyst,
        "measure": measure,
        "cost": record.cost,
        **(
            {"workload": dict(record.about)}
            if record.kind == "release"
            else {
                "mechanism": record.about["publish"],
                "budget": record.about["epsilon"] or record.about["rho"] or 0.0,
                "options": dict(record.about["options"]),
                "complete": record.complete,
            }
        ),
    }


def publication_document(
    published: Published, record: Record, report: list[dict[str, Any]]
) -> dict[str, Any]:
    """A publication without its rows: what they are, what they cost, how near history they are."""
    head = Published(
        published.domain, published.attributes, published.codes[:_SHOWN], published.receipt
    ).to_pandas()
    shown = head.astype(object).where(head.notna(), None)
    return finite(
        {
            **record_document(record, str(published.receipt["measure"])),
            "rows": len(published),
            "attributes": list(published.attributes),
            "notes": list(published.notes),
            "receipt": dict(published.receipt),
            "report": report,
            "first_rows": [
                [plain_key(value) for value in row] for row in shown.to_numpy().tolist()
            ],
        }
    )


def job_document(job: Job, session: Session) -> dict[str, Any]:
    """A job as it stands; whether it is paid for is read from the ledger."""
    found = session.archive.find(job.account, job.key)
    return {
        "id": job.id,
        "dataset": job.dataset,
        "account": job.account,
        "key": job.key,
        "request": dict(job.request),
        "state": job.state,
        "step": job.step,
        "progress": job.progress,
        "charged": found is not None,
        "publication": job.result,
        "error": None if job.error is None else dict(job.error),
        "advice": _STOPPING if job.unwanted and job.state == "running" else _ADVICE.get(job.state),
        "made_at": _time(job.made_at),
        "ended_at": _time(job.ended_at),
    }


_STOPPING = "it stops at its next step; what is charged by then stays charged"
_ADVICE = {
    "given_up": "it was given up after it was paid for, and the charge stays; send the same "
    "request with the same Idempotency-Key to get its rows without a second charge",
    "interrupted": "the server stopped before the rows were stored; send the same request with the "
    "same Idempotency-Key: what is charged already is not charged again",
    "failed": "nothing was published; send the same request with the same Idempotency-Key when the "
    "reason is gone",
}


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
