"""`eke init`: a new protected dataset from a table and a domain file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import eke
from eke.cli.check import require_little_loss, say_shortly
from eke.cli.failure import failures
from eke.cli.opening import short_name
from eke.cli.options import (
    AsJson,
    Columns,
    Delimiter,
    DomainFile,
    IdColumn,
    Neighbours,
    Null,
    Policy,
    RawTable,
    RowsOfId,
    TableNames,
    ViewFile,
)
from eke.cli.screen import output, working
from eke.cli.table_file import table_and_domain
from eke.codec.printed import json_text
from eke.errors import DomainError

EXAMPLES = """\
Examples:
  $ eke init people.csv people.yaml --epsilon 1
  $ eke init visits.parquet visits.yaml --rho 0.05 --unit patient --rows 3
  $ eke init trips.yaml --view trips.sql --table trips=trips.csv --epsilon 1
  $ eke init adult.data.gz adult.yaml --epsilon 1 --columns age,sex --null "?"
"""
_DRAFT = "# DRAFT"


def init(
    table: RawTable,
    domain: DomainFile = None,
    epsilon: Annotated[
        float | None, typer.Option(help="The limit, as pure differential privacy.")
    ] = None,
    rho: Annotated[float | None, typer.Option(help="Or the limit, as zCDP.")] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="The new file, or a PostgreSQL URL; else the table's name with .eke.",
        ),
    ] = None,
    neighbours: Annotated[
        Neighbours, typer.Option(help="replace_one if the number of rows is public.")
    ] = "add_remove",
    unit: IdColumn = None,
    rows: RowsOfId = 1,
    policy: Annotated[Policy, typer.Option(help="How much is bought.")] = "top_up",
    allow_loss: Annotated[
        bool,
        typer.Option(
            "--allow-loss", metavar="", help="Even if `eke check` finds that much would be lost."
        ),
    ] = False,
    columns: Columns = None,
    null: Null = None,
    delimiter: Delimiter = None,
    tables: TableNames = None,
    view: ViewFile = None,
    as_json: AsJson = False,
) -> None:
    """Protect a table: make a dataset with a privacy limit.

    The table is referred to, not copied: keep it where it is, unchanged. The limit is for
    everything ever released about it, to everybody. What the domain leaves of the table is said
    to you alone, as by `eke check`.
    """
    if (epsilon is None) == (rho is None):
        raise typer.BadParameter("give one limit: --epsilon or --rho", param_hint="--epsilon")
    csv = {"columns": columns, "null": null, "delimiter": delimiter}
    with failures(as_json=as_json):
        given, declared = table_and_domain(table, domain, view=view, tables=tables, **csv)
        name, data = given.name, given.data
        place = target or f"{name.removesuffix('.gz').rsplit('.', 1)[0]}.eke"
        _require_confirmed(declared)
        counted = None if unit is None else eke.Unit(unit, rows=rows)
        with working(f"Checking {name}"):
            checked = eke.check(data, declared, unit=counted)
        if not allow_loss:
            require_little_loss(checked, quiet=as_json)
        with working(f"Reading {name}"):
            session = eke.create(
                place,
                data,
                declared,
                epsilon=epsilon,
                rho=rho,
                neighbours=neighbours,
                unit=counted,
                policy=policy,
                check=checked,
            )
        screen, budget = output(), session.budget
        shown = short_name(place) if "://" in place else place
        if as_json:
            screen.raw(
                json_text(
                    {
                        "dataset": shown,
                        "attributes": list(session.domain.names),
                        "cells": session.domain.size,
                        "measure": budget.measure,
                        "limit": budget.limit,
                    }
                )
            )
            return
        screen.print(
            f"[bold]{screen.escape(shown)}[/] protects {screen.escape(name)}: "
            f"{len(session.domain)} attributes, {session.domain.size:,} cells, "
            f"limit {budget.measure} {budget.limit:g}."
        )
        if isinstance(data, eke.View):
            screen.print(screen.escape(data.promise(counted, neighbours).sentence()))
        question = f"SELECT COUNT(*) FROM {'t' if '://' in place else Path(place).stem}"  # noqa: S608 - shown, not run
        screen.print(
            f'[dim]Next: eke ask {screen.escape(shown)} "{screen.escape(question)}" -w 100[/]'
        )
        say_shortly(checked)


def _require_confirmed(domain: Path) -> None:
    """Privacy: a draft is made of private values; whoever has checked it deletes its comment."""
    try:
        with domain.open(encoding="utf-8", errors="replace") as file:
            unchecked = file.read(len(_DRAFT)) == _DRAFT
    except OSError:
        return  # the reader of domains says what is wrong
    if unchecked:
        raise DomainError(
            f"{domain} is still the draft that was read off the data; check every value against "
            "public knowledge, then delete the comment at its top"
        )
