"""`eke outside`: facts, and noisy tables of others, that answers are made with."""

from __future__ import annotations

import csv
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import eke
from eke.cli.opening import opened
from eke.cli.options import AsJson, Data, Dataset, ServerAddress, ServerToken, question_text
from eke.cli.screen import output, working
from eke.codec.printed import json_text

if TYPE_CHECKING:
    from eke.session import Dataset as AnyDataset

EXAMPLES = """\
Examples:
  $ eke outside fact adult.eke "SELECT COUNT(*) FROM t" 48842 -s "UCI, adult"
  $ eke outside fact adult.eke "SELECT sex …" --values sex.csv -s "Census, P1"
  $ eke outside learn adult.eke "SELECT …" 3420 --laplace-scale 10 -s "Office"
  $ eke outside learn adult.eke --from other.eke -s "Region B, June"
  $ eke outside list adult.eke
  $ eke outside forget adult.eke 7
"""


class OutsideAction(StrEnum):
    """What can be done."""

    FACT = "fact"
    LEARN = "learn"
    LIST = "list"
    FORGET = "forget"


def outside(
    action: Annotated[OutsideAction, typer.Argument(help="What to do.", show_default=False)],
    path: Dataset,
    about: Annotated[
        str | None,
        typer.Argument(
            metavar="SQL|NUMBER",
            help="fact, learn: the question (- reads it from stdin). forget: the entry.",
            show_default=False,
        ),
    ] = None,
    value: Annotated[
        str | None,
        typer.Argument(help="fact, learn: the number, if it is one.", show_default=False),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", "-s", help="Where everybody can look it up.")
    ] = None,
    values: Annotated[
        Path | None,
        typer.Option(
            "--values",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="A table: CSV with a header, a row for each cell, its number last.",
        ),
    ] = None,
    laplace_scale: Annotated[
        float | None, typer.Option("--laplace-scale", help="learn: scale of Laplace noise.")
    ] = None,
    noise_variance: Annotated[
        float | None, typer.Option("--noise-variance", help="learn: that of Gaussian noise.")
    ] = None,
    other: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="DATASET",
            exists=True,
            dir_okay=False,
            help="learn: what was released from another dataset.",
        ),
    ] = None,
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
) -> None:
    """Tell a dataset what is public elsewhere, list it, or forget it. Nothing is spent.

    A fact is exactly true, and everybody may know it; what others released with noise is learned.
    Later answers use both. Nothing is compared with the table: a number that was taken from it is a
    leak.
    """
    with opened(path, server=server, token=token, as_json=as_json, data=data) as place:
        if action is OutsideAction.LIST:
            _show(place, as_json=as_json)
            return
        if action is OutsideAction.FORGET:
            number = entry_number(about)
            place.forget(number)
            say_entry(f"Entry {number} is used no longer.", number, as_json=as_json)
            return
        if source is None:
            raise typer.BadParameter("say where it is published", param_hint="--source")
        with working("Registering"):
            if other is not None:
                number = _learn_all(place, action, other, source)
            else:
                told = sql_text(about), _numbers(value, values)
                if action is OutsideAction.FACT:
                    _only_for_learn(laplace_scale, noise_variance)
                    number = place.add_fact(eke.Fact(*told, source))
                else:
                    noisy = eke.NoisyTable(*told, laplace_scale, noise_variance)
                    number = place.learn(noisy, source=source)
        say_entry(f"Registered as entry {number}. Nothing was spent.", number, as_json=as_json)


def _learn_all(place: AnyDataset, action: OutsideAction, other: Path, source: str) -> int:
    if action is not OutsideAction.LEARN:
        raise typer.BadParameter("what was released is learned, not a fact", param_hint="--from")
    return place.learn(eke.open(other, columns="needed").history, source=source)


def _only_for_learn(*noise: float | None) -> None:
    if any(one is not None for one in noise):
        raise typer.BadParameter(
            "a fact has no noise; learn what has some", param_hint="--laplace-scale"
        )


def sql_text(about: str | None) -> str:
    """The question that a command is about."""
    if about is None:
        raise typer.BadParameter("write the question in SQL", param_hint="SQL")
    return question_text(about)


def entry_number(about: str | None) -> int:
    """The number of the ledger's entry that a command is about."""
    if about is None or not about.isascii() or not about.isdecimal():
        raise typer.BadParameter("give the number of the entry", param_hint="NUMBER")
    return int(about)


def _numbers(value: str | None, file: Path | None) -> Any:
    """One number, or a number for each cell by its labels."""
    if (value is None) == (file is None):
        raise typer.BadParameter("give one number, or --values FILE", param_hint="VALUE")
    if file is None:
        return value
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = [row for row in csv.reader(lines) if row][1:]
    if not rows:
        raise typer.BadParameter("the file has no row under its header", param_hint="--values")
    if len(rows[0]) == 1:
        return [row[-1] for row in rows]
    by_label = {tuple(row[:-1]): row[-1] for row in rows}
    if len(by_label) < len(rows):
        raise typer.BadParameter("the file has a cell twice", param_hint="--values")
    return by_label


def say_entry(sentence: str, number: int, *, as_json: bool) -> None:
    """Say what was done, or just by which entry."""
    if as_json:
        output().raw(json_text({"sequence": number}))
    else:
        output().print(sentence)


def _show(place: AnyDataset, *, as_json: bool) -> None:
    from eke.cli.outside_picture import present_outside  # noqa: PLC0415 - tables are drawn there

    present_outside([one.to_dict() for one in place.outside], as_json=as_json)
