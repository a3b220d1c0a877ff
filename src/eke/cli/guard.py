"""`eke guard`: claims that released answers are not to make more probable."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from eke.cli.opening import opened
from eke.cli.options import AsJson, Data, Dataset, ServerAddress, ServerToken
from eke.cli.outside import entry_number, say_entry, sql_text
from eke.cli.screen import working

if TYPE_CHECKING:
    from eke.session import Dataset as AnyDataset

EXAMPLES = """\
Examples:
  $ eke guard add adult.eke "SELECT COUNT(*) …" "> 20" --threshold 0.9
  $ eke guard add adult.eke "SELECT …" "0 to 5" -t 0.95 --note "Board, 12 May"
  $ eke guard list adult.eke
  $ eke guard lift adult.eke 7
"""


class GuardAction(StrEnum):
    """What can be done."""

    ADD = "add"
    LIST = "list"
    LIFT = "lift"


def guard(
    action: Annotated[GuardAction, typer.Argument(help="What to do.", show_default=False)],
    path: Dataset,
    about: Annotated[
        str | None,
        typer.Argument(
            metavar="SQL|NUMBER",
            help="add: the question (- reads it from stdin). lift: the entry.",
            show_default=False,
        ),
    ] = None,
    claim: Annotated[
        str | None,
        typer.Argument(
            help="add: where its answer is said to lie, such as '> 20' or '0 to 5'.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", "-t", help="add: the probability it may come to, such as 0.9."),
    ] = None,
    note: Annotated[str, typer.Option("--note", help="add: why, for all who read.")] = "",
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
) -> None:
    """Guard a claim, list guarded ones, or lift one. Nothing is spent.

    Once released answers make a guarded claim as probable as its threshold, questions that could
    raise that are answered from history, or declined. Everybody who reads the history sees it.
    """
    with opened(path, server=server, token=token, as_json=as_json, data=data) as place:
        if action is GuardAction.LIST:
            _show(place, as_json=as_json)
        elif action is GuardAction.LIFT:
            number = entry_number(about)
            place.lift(number)
            say_entry(f"Entry {number} is guarded no longer.", number, as_json=as_json)
        else:
            if claim is None:
                raise typer.BadParameter("say what is claimed, such as '> 20'", param_hint="CLAIM")
            if threshold is None:
                raise typer.BadParameter("give a probability", param_hint="--threshold")
            with working("Guarding"):
                number = place.guard(sql_text(about), claim, threshold=threshold, note=note)
            say_entry(f"Guarded by entry {number}. Nothing was spent.", number, as_json=as_json)


def _show(place: AnyDataset, *, as_json: bool) -> None:
    from eke.cli.guard_picture import present_guards  # noqa: PLC0415 - tables are drawn there

    present_guards(place.guards, as_json=as_json)
