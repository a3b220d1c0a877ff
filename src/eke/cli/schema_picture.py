"""What `eke schema` prints, and `eke ask` for DESCRIBE."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from eke.cli.screen import output
from eke.codec.printed import json_text
from eke.domain import Domain, described_columns


def present_schema(domain: Domain, *, as_json: bool) -> None:
    """The columns of a dataset as a table, or as JSON."""
    columns = described_columns(domain)
    screen = output()
    if as_json:
        screen.raw(json_text(columns))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("column", "type", "values"):
        table.add_column(heading, overflow="fold")
    for column in columns:
        values = column["values"] + (", or missing" if column["missing"] else "")
        cells = (column["column"], column["type"], values)
        table.add_row(*(Text(screen.text(cell)) for cell in cells))
    screen.show(table)
