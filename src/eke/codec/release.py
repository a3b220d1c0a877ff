"""Releases and publications as documents; releases both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from eke.codec.plain import finite, label_document, read_label
from eke.domain import Domain
from eke.planning import workload_from_document
from eke.planning.workload.equations import Equation
from eke.publish import Published
from eke.session import Adjustment, Record, Release, ReleasedTable
from eke.session.release.released import release_caveats

_SHOWN = 8  # rows of a publication, to look at


def release_document(release: Release, record: Record, *, values: bool) -> dict[str, Any]:
    """A release: its price and its tables, with their numbers if wanted."""
    tables = [table_document(table, values=values) for table in release.tables]
    return finite(
        {
            **record_document(record, release.measure),
            "strategy": release.strategy,
            "rmse": release.rmse,
            "total": release.total,
            **equations_document(release.equations),
            "caveats": list(release.caveats),
            **adjustment_document(release.adjustment),
            "tables": tables,
        }
    )


def equations_document(equations: Sequence[Equation]) -> dict[str, Any]:
    """What public facts said of the tables, if anything."""
    if not equations:
        return {}
    told = [
        {
            "attributes": list(one.attributes),
            "coefficients": one.coefficients.tolist(),
            "value": one.value,
        }
        for one in equations
    ]
    return {"equations": told}


def adjustment_document(adjustment: Adjustment | None) -> dict[str, Any]:
    """How the values were adjusted, if they were."""
    if adjustment is None:
        return {}
    return {"adjusted": {**asdict(adjustment), "note": adjustment.note}}


def _read_adjustment(document: Mapping[str, Any] | None) -> Adjustment | None:
    if document is None:
        return None
    return Adjustment(**{part.name: document[part.name] for part in fields(Adjustment)})


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
        document["labels"] = [[label_document(label) for label in axis] for axis in table.labels]
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
    ).to_pandas()[list(published.attributes)]
    shown = head.astype(object).where(head.notna(), None)
    return finite(
        {
            **record_document(record, str(published.receipt["measure"])),
            "rows": len(published),
            "attributes": list(published.attributes),
            "notes": list(published.notes),
            "caveats": list(published.caveats),
            "receipt": dict(published.receipt),
            "report": report,
            "first_rows": [
                [label_document(value) for value in row] for row in shown.to_numpy().tolist()
            ],
        }
    )


def read_release(document: Mapping[str, Any], domain: Domain) -> Release:
    """The release in a document; an older server says nothing of what the domain leaves open."""
    workload = workload_from_document(domain, document["workload"])
    said = dict.fromkeys((*release_caveats(workload), *document.get("caveats", ())))
    return Release(
        workload,
        tuple(_table(one) for one in document["tables"]),
        document["cost"],
        document["measure"],
        document["sequence"],
        document["strategy"],
        document["rmse"],
        total=document.get("total"),
        equations=tuple(
            Equation(
                tuple(one["attributes"]), np.array(one["coefficients"], float), float(one["value"])
            )
            for one in document.get("equations", ())
        ),
        caveats=tuple(said),
        adjustment=_read_adjustment(document.get("adjusted")),
    )


def _table(document: Mapping[str, Any]) -> ReleasedTable:
    return ReleasedTable(
        tuple(document["attributes"]),
        tuple(document["along"]),
        np.asarray(document["values"], np.float64),
        np.asarray(document["standard_error"], np.float64),
        tuple(tuple(read_label(label) for label in axis) for axis in document["labels"]),
        document["question"],
    )
