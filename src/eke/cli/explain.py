"""`eke explain`: a past measurement, or how a question would be answered."""

from __future__ import annotations

from typing import Any

from eke.cli.opening import opened
from eke.cli.options import (
    About,
    AsJson,
    Confidence,
    Data,
    Dataset,
    GroupsOf,
    PolicyName,
    ServerAddress,
    ServerToken,
    Spend,
    Within,
    half_widths_or_shares,
    question_text,
)
from eke.cli.screen import Screen, output, working
from eke.codec.printed import json_text

EXAMPLES = """\
Examples:
  $ eke explain adult.eke 3    (entry 3 of the history)
  $ eke explain adult.eke "SELECT AVG(age) FROM adult" --within 0.5
  $ eke explain adult 3 --server https://eke.org
"""


def explain(
    path: Dataset,
    about: About,
    within: Within = None,
    spend: Spend = None,
    groups_of: GroupsOf = None,
    confidence: Confidence = None,
    policy: PolicyName = None,
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
) -> None:
    """Explain a past measurement, or how a question would be answered.

    It is free. For a number, as `eke history` shows it: who measured what, with which noise, at
    what cost. For a question in SQL: what it means as sums over records, what history says about
    each of them and which measurements that is made of, and the price if an accuracy is given.
    """
    accuracy = half_widths_or_shares(within)
    with opened(path, server=server, token=token, as_json=as_json, data=data) as place:
        with working("Looking at the history"):
            if about.strip().isdigit():
                document = place.measurement(int(about))
            else:
                text = question_text(about)
                document = place.explain(
                    text, accuracy, confidence, spend=spend, groups_of=groups_of, policy=policy
                )
        screen = output()
        if as_json:
            screen.raw(json_text(document))
        elif "columns" in document:
            _show_question(screen, document)
        else:
            _show_measurement(screen, document)


def _show_measurement(screen: Screen, document: dict[str, Any]) -> None:
    screen.print(
        f"[bold]Entry {document['sequence']}[/], for {screen.escape(document['analyst'])} "
        f"at {document['at'][:16].replace('T', ' ')} UTC, charged {document['measure']} "
        f"{document['cost']:.6g} by entry {document['charged_by']}"
    )
    for choice in document.get("choices", ()):
        chosen = choice["chosen"]
        value = chosen if isinstance(chosen, str) else f"{chosen:,.6g}"
        screen.print(f"[bold]{screen.escape(choice['question'])}[/]: {value}", indent=2)
        screen.print("by one choice, the exponential mechanism", indent=4)
    for measurement in document["measurements"]:
        values = measurement["values"]
        value = f"{values[0]:,.6g}" if len(values) == 1 else f"{len(values)} cells"
        screen.print(f"[bold]{screen.escape(measurement['question'])}[/]: {value}", indent=2)
        refined = measurement.get("refines") is not None  # a server may be older
        screen.print(
            f"with {measurement['noise']['kind'].replace('_', ' ')} noise, "
            f"standard deviation {measurement['noise_deviation']:.4g}"
            f"{'; it refines an answer to the same question' if refined else ''}",
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
    for caveat in document.get("caveats", ()):
        screen.print(f"[yellow]Note:[/] {screen.escape(caveat)}")
    price = document["price"]
    if price is None:
        screen.print("[dim]For the price, say --within or --spend.[/]")
    else:
        screen.print("[bold]What it would cost[/]")
        screen.print(screen.escape(price["sentence"]), indent=2)
