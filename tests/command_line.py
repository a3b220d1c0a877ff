"""The command line as tests call it: what a command printed, and a table to protect."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from typer.testing import CliRunner

from eke.cli.program import app

DOMAIN = """\
format: eke-domain/1
attributes:
  age: {type: integer, low: 17, high: 80}
  sex: {type: categorical, values: [Female, Male]}
  hours: {type: binned, edges: [0, 20, 40, 60], 'null': bucket}
"""


class Shown(NamedTuple):
    """What a command printed and returned."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def words(self) -> str:
        return " ".join(self.out.split())


Run = Callable[..., Shown]


def call(*words: object, stdin: str | None = None, **variables: str) -> Shown:
    """Run a command at 80 columns, without colours and terminals."""
    environment = {"COLUMNS": "80", "TERM": "dumb", **variables}
    done = CliRunner().invoke(app, [str(w) for w in words], input=stdin, env=environment)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Shown(done.exit_code, done.stdout, done.stderr)


def write_people(folder: Path) -> tuple[Path, Path]:
    """(table, domain) of a thousand people whose rows are fixed by arithmetic."""
    table, domain = folder / "people.csv", folder / "people.yaml"
    rows = (
        f"{17 + i % 60},{'Female' if i % 3 else 'Male'},{'' if i % 50 == 0 else i % 60}"
        for i in range(1000)
    )
    table.write_text("age,sex,hours\n" + "\n".join(rows) + "\n", "utf-8")
    domain.write_text(DOMAIN, "utf-8")
    return table, domain
