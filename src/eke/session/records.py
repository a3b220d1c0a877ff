"""Records: what was measured, as a ledger says it, for lists that people read.

NumPy is loaded only for measurements of a kind that cannot be described otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

from eke.domain import Domain
from eke.domain.describe import Product, sentence
from eke.domain.run_vector import RunVector
from eke.errors import LedgerError
from eke.ledger import Entry
from eke.ledger.look import Look
from eke.privacy.grid_variance import WIDE_STEPS, laplace_variance, wide_gaussian_variance
from eke.session.glance import Glance
from eke.session.settings import domain_of

REGISTER = "register"  # as in eke.engine.outside


def records(seen: Glance, last: int | None = None) -> tuple[list[dict[str, Any]], int]:
    """(what was measured latest, as the session's `history.to_records`; how many before it)."""
    ledger, domain = seen.ledger, domain_of(seen.settings)
    if any(entry.kind == REGISTER for entry in ledger.entries):
        raise LedgerError("a session lists what is known from outside, too")
    committed = [entry for entry in ledger.entries if entry.kind == "commit"]
    pages: list[list[dict[str, Any]]] = []
    shown = 0
    while committed and (last is None or shown < last):
        pages.append(_records_of(ledger, domain, ledger.whole(committed.pop().sequence)))
        shown += len(pages[-1])
    # Quotes inside of a text are escaped, so this is once in every measurement. It takes a tenth
    # of the time that reading all of them takes.
    texts = [ledger.text(entry.sequence) for entry in committed]
    earlier = sum(text.count('"law":{') for text in texts)
    with_choices = [n for n, text in enumerate(texts) if '"choices":[' in text]
    earlier += sum(len(_chosen(ledger.whole(committed[n].sequence))) for n in with_choices)
    latest = list(chain.from_iterable(reversed(pages)))
    cut = 0 if last is None else max(0, len(latest) - last)
    return latest[cut:], earlier + cut


def _records_of(ledger: Look, domain: Domain, entry: Entry) -> list[dict[str, Any]]:
    reserved = ledger.entries[int(str(entry.about["reservation"])) - 1]
    measured_records = [
        {
            "sequence": entry.sequence,
            "at": reserved.at,
            "analyst": reserved.about["analyst"],
            "question": described(domain, measured["query"]),
            "value": float(measured["values"][0]) if len(measured["values"]) == 1 else None,
            "cells": len(measured["values"]),
            "noise_deviation": variance_of(measured["law"]) ** 0.5,
            "refines": measured.get("refines", {}).get("place"),
        }
        for measured in _measured(entry)
    ]
    steps = _chosen(entry)
    return [*measured_records, *(_choice_records(ledger, domain, entry, steps) if steps else ())]


def _choice_records(
    ledger: Look, domain: Domain, entry: Entry, steps: Sequence[int]
) -> list[dict[str, Any]]:
    """Of the quantiles that were chosen, which the reservation tells."""
    from eke.history import ChosenStep, RankChoice  # noqa: PLC0415 - NumPy

    reserved = ledger.whole(int(str(entry.about["reservation"])))
    documents: Any = reserved.payload["plan"]
    analyst = str(reserved.about["analyst"])
    return [
        ChosenStep(
            RankChoice.from_document(domain, document), step, entry.sequence, analyst, reserved.at
        ).to_record()
        for document, step in zip(documents["choices"], steps, strict=True)
    ]


def _chosen(entry: Entry) -> Sequence[int]:
    """The steps that a commit says were chosen."""
    steps = entry.payload.get("choices", [])
    if not isinstance(steps, list):
        raise LedgerError("the ledger holds a choice of an unknown form")
    return steps


def described(domain: Domain, document: Mapping[str, Any]) -> str:
    """The description of a stored block, which is in canonical form."""
    if set(document) == {"terms", "constant"}:
        products = [_product(domain, term) for term in document["terms"]]
        return sentence(domain, products, _number(document["constant"]))
    if set(document) == {"marginal", "inside"}:
        return f"{described(domain, document['inside'])} by {', '.join(document['marginal'])}"
    from eke.query import block_from_document  # noqa: PLC0415 - NumPy

    return block_from_document(domain, document).description


def variance_of(document: Mapping[str, Any]) -> float:
    """The variance of the noise of a stored law."""
    kind, steps = document["kind"], document.get("steps", 0)
    if kind == "discrete_laplace":
        return laplace_variance(steps, document["exponent"])
    if kind == "discrete_gaussian" and steps >= WIDE_STEPS:
        return wide_gaussian_variance(steps, document["exponent"])
    from eke.privacy.law import law_from_json  # noqa: PLC0415 - NumPy

    return float(law_from_json(document).variance)


def _product(domain: Domain, term: Mapping[str, Any]) -> Product:
    factors = [
        (name, RunVector.of_written(runs) if domain[name].is_wide else _expanded(runs))
        for name, runs in term["factors"].items()
    ]
    # The ledger sorts keys; factors are in the order of the domain.
    factors.sort(key=lambda factor: domain.names.index(factor[0]))
    return _number(term["weight"]), factors


def _expanded(runs: Sequence[Sequence[int]]) -> list[int]:
    """The entries of runs, which are [d0, times] or with differences (`query/runs.py`)."""
    vector: list[int] = []
    for value, times, *differences in runs:
        if not differences:
            vector += (value,) * times
            continue
        first, second = (*differences, 0)[:2]
        vector += [value + first * k + second * (k * (k - 1) // 2) for k in range(times)]
    return vector


def _number(text: str) -> Fraction:
    numerator, _, denominator = text.partition("/")
    return Fraction(int(numerator), int(denominator or 1))


def _measured(entry: Entry) -> list[Any]:
    documents = entry.payload.get("measurements")
    if not isinstance(documents, list):
        raise LedgerError("the ledger holds a release of an unknown form")
    return documents
