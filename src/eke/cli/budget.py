"""`eke budget`: limit, spent and remaining."""

from __future__ import annotations

from typing import Annotated

import typer

from eke.cli.budget_picture import present_budget
from eke.cli.opening import opened
from eke.cli.options import AsJson, Data, Dataset, ServerAddress, ServerToken

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
        present_budget(place.budget, place.remaining, delta, as_json=as_json)
