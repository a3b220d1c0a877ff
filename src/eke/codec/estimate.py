"""Estimates as documents, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from eke.codec.answer import read_keys
from eke.codec.curve import curve_document, drawn_posterior
from eke.codec.plain import finite, label_document, read_record
from eke.inference.shrinkage import Convergence
from eke.publish import RowErrors, RowEstimate
from eke.session import Estimate, TableEstimate


def estimate_document(estimate: Estimate | TableEstimate) -> dict[str, Any]:
    """What history says about a question, without any promise that it was asked before."""
    if isinstance(estimate, Estimate):
        drawn = {} if estimate.interval is None else {"posterior": curve_document(estimate)}
        return finite({"kind": "number", **_estimated(estimate), **drawn})
    return finite(
        {
            "kind": "marginal",
            "attributes": list(estimate.attributes),
            "keys": [[label_document(label) for label in key] for key in estimate.keys],
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


def read_estimate(document: Mapping[str, Any]) -> Estimate | TableEstimate:
    """The estimate in a document."""
    if document["kind"] == "number":
        return _estimate(document)
    cells = tuple(_estimate(cell) for cell in document["cells"])
    return TableEstimate(tuple(document["attributes"]), read_keys(document), cells)


def _estimate(document: Mapping[str, Any]) -> Estimate:
    known = document["low"] is not None
    return Estimate(
        document["question"],
        document["value"],
        (document["low"], document["high"]) if known else None,
        document["confidence"],
        document["method"],
        document["determined"],
        document.get("alpha"),
        None
        if document.get("convergence") is None
        else read_record(Convergence, document["convergence"]),
        drawn_posterior(document)(0, 0) if document.get("posterior") else None,
        bool(document.get("public")),
        tuple(document.get("caveats", ())),
    )


def row_estimate_document(estimate: RowEstimate) -> dict[str, Any]:
    """What published rows say of a question; `low` and `high` are null without an interval."""
    return finite({"kind": "rows", **estimate.to_dict()})


def read_row_estimate(document: Mapping[str, Any]) -> RowEstimate:
    """The estimate from rows in a document."""
    errors, known = document.get("errors"), document["low"] is not None
    return RowEstimate(
        document["value"],
        (document["low"], document["high"]) if known else None,
        document["confidence"],
        None if errors is None else read_record(RowErrors, errors),
        document.get("reason", ""),
        document.get("question", ""),
        tuple(document.get("caveats", ())),
    )
