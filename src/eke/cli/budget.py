"""`eke budget`: limit, spent and remaining."""

from __future__ import annotations

from typing import Annotated

import typer

from eke.cli.opening import opened
from eke.cli.options import AsJson, Data, Dataset, ServerAddress, ServerToken
from eke.cli.picture import show_budget
from eke.cli.screen import output
from eke.cli.shape import budget_document, json_text

EXAMPLES = """\
Examples:
  $ eke budget adult.eke
  $ eke budget census.eke --delta 1e-9 --json
  $ eke budget adult --server https://eke.org
"""


def budget(
    path: Dataset,
    delta: Annotated[
        float | None,
        typer.Option(help="For a rho budget: also the epsilon of the (epsilon, delta) statement."),
    ] = None,
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
) -> None:
    """Show the limit, what is spent and what remains.

    Where a curator has capped what you may spend, it says so.
    """
    with opened(path, server=server, token=token, as_json=as_json, data=data) as place:
        found, own = place.budget, place.remaining
        document = budget_document(found, own, delta)
        screen = output()
        if as_json:
            screen.raw(json_text(document))
            return
        show_budget(screen, found)
        if own < found.remaining:
            screen.print(f"You may spend {own:.6g} of what remains: you have a cap.", indent=2)
        if delta is not None:
            screen.print(
                f"What is spent is ({document['epsilon']:.6g}, {delta:g})-differential privacy.",
                indent=2,
            )
