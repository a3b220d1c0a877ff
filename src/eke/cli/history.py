"""`eke history`: every measurement that was released."""

from __future__ import annotations

from typing import Annotated

import typer

from eke.cli.history_picture import present_history
from eke.cli.opening import opened
from eke.cli.options import AsJson, Data, Dataset, ServerAddress, ServerToken
from eke.cli.screen import working

EXAMPLES = """\
Examples:
  $ eke history adult.eke
  $ eke history adult.eke --last 5 --json
  $ eke history adult --server https://eke.org
"""


def history(
    path: Dataset,
    last: Annotated[
        int | None, typer.Option("--last", "-n", min=1, help="Only the latest ones.")
    ] = None,
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
) -> None:
    """List what was released so far, by anyone.

    Later answers are made of it, for free. The number of an entry is its place in the ledger;
    `eke explain DATASET NUMBER` says more. A server may be set to show you only your own.
    """
    with opened(path, server=server, token=token, as_json=as_json, data=data) as place:
        with working("Reading the history"):
            records = place.history.to_records()
        shown = records[-last:] if last else records
        present_history(shown, len(records) - len(shown), as_json=as_json)
