"""Reading: documents of a server as the objects of a local session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from eke.client.curve import Curve
from eke.domain import Domain
from eke.errors import EstimateError
from eke.inference import Posterior
from eke.inference.shrinkage.large import Convergence
from eke.planning import Workload, workload_from_document
from eke.session import (
    Answer,
    Cell,
    Estimate,
    Receipt,
    Release,
    ReleasedTable,
    SqlAnswer,
    TableAnswer,
    TableEstimate,
)


def read_release(found: Mapping[str, Any], domain: Domain) -> Release:
    """The release in a document."""
    workload: Workload = workload_from_document(domain, found["workload"])
    return Release(
        workload,
        tuple(_table(one) for one in found["tables"]),
        found["cost"],
        found["measure"],
        found["sequence"],
        found["strategy"],
        found["rmse"],
        total=found.get("total"),
    )


def _table(found: Mapping[str, Any]) -> ReleasedTable:
    return ReleasedTable(
        tuple(found["attributes"]),
        tuple(found["along"]),
        np.asarray(found["values"], np.float64),
        np.asarray(found["standard_error"], np.float64),
        tuple(tuple(_label(label) for label in axis) for axis in found["labels"]),
        found["question"],
    )


def read_answer(found: Mapping[str, Any]) -> Answer | SqlAnswer | TableAnswer:
    """The answer in a document."""
    receipt = Receipt(**found["receipt"])
    if found["kind"] == "number":
        low, high = found["low"], found["high"]
        drawn = _drawn(found)
        return Answer(found["value"], (low, high), found["variance"], receipt, drawn)
    if found["kind"] == "marginal":
        return TableAnswer(
            tuple(found["attributes"]),
            _keys(found),
            tuple(found["values"]),
            tuple((low, high) for low, high in found["intervals"]),
            tuple(found["variances"]),
            receipt,
            _no_posteriors,
        )
    is_key = tuple(bool(column["key"]) for column in found["columns"])
    rows = tuple(
        tuple(_label(c) if key else Cell(**c) for key, c in zip(is_key, row, strict=True))
        for row in found["rows"]
    )
    return SqlAnswer(tuple(column["name"] for column in found["columns"]), is_key, rows, receipt)


def read_estimate(found: Mapping[str, Any]) -> Estimate | TableEstimate:
    """The estimate in a document."""
    if found["kind"] == "number":
        return _estimate(found)
    cells = tuple(_estimate(cell) for cell in found["cells"])
    return TableEstimate(tuple(found["attributes"]), _keys(found), cells)


def _estimate(found: Mapping[str, Any]) -> Estimate:
    known = found["low"] is not None
    return Estimate(
        found["question"],
        found["value"],
        (found["low"], found["high"]) if known else None,
        found["confidence"],
        found["method"],
        found["determined"],
        found["alpha"],
        None if found["convergence"] is None else Convergence(**found["convergence"]),
        _drawn(found)() if found.get("posterior") else None,
        bool(found.get("public")),
    )


def _drawn(found: Mapping[str, Any]) -> Callable[[], Curve]:
    """What draws the posterior, when somebody looks."""
    drawn = found.get("posterior")

    def posterior() -> Curve:
        if drawn is None:
            raise EstimateError("the server sent no posterior with this answer")
        points, heights = tuple(drawn["points"]), tuple(drawn["density"])
        return Curve(found["value"], found.get("variance", np.nan), points, heights)

    return posterior


def _no_posteriors() -> Sequence[Posterior]:
    raise EstimateError(
        "a server sends no posteriors of a whole table; ask for its cells one by one"
    )


def _keys(found: Mapping[str, Any]) -> tuple[tuple[object, ...], ...]:
    return tuple(tuple(_label(label) for label in key) for key in found["keys"])


def _label(label: Any) -> Any:
    return (label["from"], label["to"]) if isinstance(label, dict) else label
