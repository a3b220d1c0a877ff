"""`eke explain`: a past measurement, or how a question would be answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eke.cli.opening import dataset
from eke.cli.options import (
    AsJson,
    Confidence,
    Data,
    Dataset,
    PolicyName,
    Within,
    half_widths,
    question_text,
)
from eke.cli.reading import About, question_document
from eke.cli.screen import Screen, output, working
from eke.cli.shape import json_text
from eke.errors import QueryError

if TYPE_CHECKING:
    from eke.session import Session

EXAMPLES = """\
Examples:
  $ eke explain adult.eke 3    (entry 3 of the history)
  $ eke explain adult.eke "SELECT AVG(age) FROM adult" --within 0.5
"""
_NANO = 10**9


def explain(
    path: Dataset,
    about: About,
    within: Within = None,
    confidence: Confidence = None,
    policy: PolicyName = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Explain a past measurement, or how a question would be answered.

    It is free. For a number, as `eke history` shows it: who measured what, with which noise, at
    what cost. For a question in SQL: what it means as sums over records, what history says about
    each of them and which measurements that is made of, and the price if an accuracy is given.
    """
    accuracy = half_widths(within)
    with dataset(path, as_json=as_json, data=data) as session:
        with working("Looking at the history"):
            if about.strip().isdigit():
                document = measurement_document(session, int(about))
            else:
                document = question_document(
                    session, question_text(about), accuracy, confidence, policy
                )
        screen = output()
        if as_json:
            screen.raw(json_text(document))
        elif "columns" in document:
            _show_question(screen, document)
        else:
            _show_measurement(screen, document)


def measurement_document(session: Session, sequence: int) -> dict[str, Any]:
    """What one entry of the ledger released, with the charge that was made for it."""
    entries = {entry.sequence: entry for entry in session.ledger_entries()}
    asked = entries.get(sequence)
    if asked is None or asked.kind not in ("reserve", "commit"):
        raise QueryError(f"entry {sequence} released nothing; `eke history` lists those that did")
    released = [
        (measurement, record)
        for measurement, record in zip(session.history, session.history.to_records(), strict=True)
        if sequence in (measurement.sequence, entries[measurement.sequence].about["reservation"])
    ]
    if not released:
        raise QueryError(f"entry {sequence} is charged, but nothing was released for it yet")
    closing = entries[released[0][0].sequence]
    opening = entries[int(str(closing.about["reservation"]))]
    return {
        "sequence": closing.sequence,
        "at": closing.at,
        "analyst": opening.about["analyst"],
        "measure": session.budget.measure,
        "cost": int(str(opening.payload["cost"])) / _NANO,
        "charged_by": opening.sequence,
        "measurements": [
            {
                "question": record["question"],
                "values": list(measurement.values),
                "noise_deviation": record["noise_deviation"],
                "noise": measurement.law.to_json(),
                "linear_form": measurement.query.to_document(),
            }
            for measurement, record in released
        ],
    }


def _show_measurement(screen: Screen, document: dict[str, Any]) -> None:
    screen.print(
        f"[bold]Entry {document['sequence']}[/], for {screen.escape(document['analyst'])} "
        f"at {document['at'][:16].replace('T', ' ')} UTC, charged {document['measure']} "
        f"{document['cost']:.6g} by entry {document['charged_by']}"
    )
    for one in document["measurements"]:
        values = one["values"]
        value = f"{values[0]:,.6g}" if len(values) == 1 else f"{len(values)} cells"
        screen.print(f"[bold]{screen.escape(one['question'])}[/]: {value}", indent=2)
        screen.print(
            f"with {one['noise']['kind'].replace('_', ' ')} noise, "
            f"standard deviation {one['noise_deviation']:.4g}",
            indent=4,
        )


def _show_question(screen: Screen, document: dict[str, Any]) -> None:
    screen.print("[bold]What is shown[/]")
    for column in document["columns"]:
        screen.print(
            f"{screen.escape(column['name'])} = {screen.escape(column['formula'])}", indent=2
        )
    for clause in document["clauses"]:
        screen.print(f"[dim]{screen.escape(clause)}[/]", indent=2)
    screen.print("[bold]What is asked of the data[/]")
    for name, asked in document["aggregates"].items():
        known = asked["known"]
        history = (
            "history says nothing"
            if known is None
            else f"history gives {screen.text('±')}{known:.4g}"
        )
        screen.print(f"{name} = {screen.escape(asked['question'])}: {history}", indent=2)
        for source in asked["sources"]:
            others = f" and {source['others']} more" if source["others"] else ""
            screen.print(
                f"[dim]{source['weight']:+.3g} {screen.text('×')} entry {source['sequence']}, "
                f"{screen.escape(source['question'])}{others}[/]",
                indent=6,
            )
    price = document["price"]
    if price is None:
        screen.print("[dim]For the price, say --within.[/]")
    else:
        screen.print("[bold]What it would cost[/]")
        screen.print(screen.escape(price["sentence"]), indent=2)
