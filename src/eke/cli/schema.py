"""`eke schema`: the declared columns of a dataset."""

from __future__ import annotations

from eke.cli.opening import opened
from eke.cli.options import AsJson, Data, Dataset, ServerAddress, ServerToken
from eke.cli.schema_picture import present_schema

EXAMPLES = """\
Examples:
  $ eke schema adult.eke
  $ eke schema adult --server https://eke.org --json
"""


def schema(
    path: Dataset,
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
) -> None:
    """List the columns and their declared values.

    Questions may be about these columns and values only.
    """
    with opened(path, server=server, token=token, as_json=as_json, data=data) as place:
        present_schema(place.domain, as_json=as_json)
