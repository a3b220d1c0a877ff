"""`eke budget`: limit, spent and remaining."""

from __future__ import annotations

from typing import Annotated

import typer

from eke.cli.opening import dataset
from eke.cli.options import AsJson, Data, Dataset
from eke.cli.picture import show_budget
from eke.cli.screen import output
from eke.cli.shape import budget_document, json_text

EXAMPLES = """\
Examples:
  $ eke budget adult.eke
  $ eke budget census.eke --delta 1e-9 --json
"""


def budget(
    path: Dataset,
    delta: Annotated[
        float | None,
        typer.Option(help="For a rho budget: also the epsilon of the (epsilon, delta) statement."),
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Show the limit, what is spent and what remains."""
    with dataset(path, as_json=as_json, data=data) as session:
        found = session.budget
        document = budget_document(found, delta)
        screen = output()
        if as_json:
            screen.raw(json_text(document))
            return
        show_budget(screen, found)
        if delta is not None:
            screen.print(
                f"What is spent is ({document['epsilon']:.6g}, {delta:g})-differential privacy.",
                indent=2,
            )
