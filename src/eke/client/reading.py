"""Reading: documents of a server as the objects of a local session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from eke.client.curve import Curve
from eke.domain import Domain
from eke.errors import EstimateError
from eke.inference import Posterior
from eke.inference.shrinkage.large import Convergence
from eke.planning import Workload, workload_from_document
from eke.question import VALUE
from eke.session import (
    Answer,
    Cell,
    Estimate,
    Receipt,
    Release,
    ReleasedTable,
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


def read_answer(found: Mapping[str, Any]) -> Answer:
    """The answer in a document."""
    receipt = Receipt(**found["receipt"])
    if found["kind"] == "number":
        cell = Cell(found["value"], found["low"], found["high"], found["variance"])
        name, named = found.get("column", VALUE), "column" in found
        return Answer((name,), (False,), ((cell,),), receipt, named, _belief=_drawn(found))
    if found["kind"] == "marginal":
        ends = (found["values"], found["intervals"], found["variances"])
        cells = [
            Cell(value, low, high, variance)
            for value, (low, high), variance in zip(*ends, strict=True)
        ]
        rows = tuple((*key, cell) for key, cell in zip(_keys(found), cells, strict=True))
        names = tuple(found["attributes"])
        is_key = (*(True for _ in names), False)
        return Answer((*names, VALUE), is_key, rows, receipt, False, True, _no_belief)
    is_key = tuple(bool(column["key"]) for column in found["columns"])
    rows = tuple(
        tuple(_label(c) if key else Cell(**c) for key, c in zip(is_key, row, strict=True))
        for row in found["rows"]
    )
    names = tuple(column["name"] for column in found["columns"])
    return Answer(names, is_key, rows, receipt, found.get("named", True), _belief=_no_belief)


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
        _drawn(found)(0, 0) if found.get("posterior") else None,
        bool(found.get("public")),
    )


def _drawn(found: Mapping[str, Any]) -> Callable[[int, int], Curve]:
    """What draws the posterior, when somebody looks."""
    drawn = found.get("posterior")

    def posterior(row: int = 0, column: int = 0) -> Curve:
        del row, column
        if drawn is None:
            raise EstimateError("the server sent no posterior with this answer")
        points, heights = tuple(drawn["points"]), tuple(drawn["density"])
        return Curve(found["value"], found.get("variance", np.nan), points, heights)

    return posterior


def _no_belief(row: int, column: int) -> Posterior:
    del row, column
    raise EstimateError(
        "a server sends no posteriors of a whole table; ask for its cells one by one"
    )


def _keys(found: Mapping[str, Any]) -> tuple[tuple[object, ...], ...]:
    return tuple(tuple(_label(label) for label in key) for key in found["keys"])


def _label(label: Any) -> Any:
    return (label["from"], label["to"]) if isinstance(label, dict) else label
