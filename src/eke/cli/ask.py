"""`eke ask`: a question in SQL, answered, drawn, or printed as JSON or CSV."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

import eke
from eke.cli.answer_picture import present_answer, present_claim
from eke.cli.going_on import going_on
from eke.cli.opening import opened
from eke.cli.options import (
    Analyst,
    AsJson,
    Confidence,
    Data,
    Dataset,
    GroupsOf,
    PolicyName,
    Question,
    ServerAddress,
    ServerToken,
    Spend,
    Within,
    half_widths_or_shares,
    question_text,
)
from eke.cli.schema_picture import present_schema
from eke.cli.screen import working
from eke.errors import EstimateError

EXAMPLES = """\
Examples:
  $ eke ask adult.eke "SELECT COUNT(*) FROM adult WHERE age >= 65" --within 60
  $ eke ask adult.eke "SELECT sex, AVG(age) FROM adult GROUP BY sex" -w 0.5
  $ eke ask adult.eke "SELECT COUNT(*) FROM adult ERROR WITHIN 60" -c 0.99
  $ eke ask adult.eke "SELECT AVG(hours) FROM adult" --spend 0.05
  $ eke ask adult.eke "SELECT COUNT(*) FROM adult" --claim "> 30000"
  $ eke ask adult.eke - --within 100 --json < question.sql
  $ eke ask adult "SELECT COUNT(*) FROM adult" -w 60 --server https://eke.org
"""


def ask(
    path: Dataset,
    sql: Question,
    within: Within = None,
    spend: Spend = None,
    groups_of: GroupsOf = None,
    confidence: Confidence = None,
    analyst: Analyst = None,
    policy: PolicyName = None,
    key: Annotated[
        str | None,
        typer.Option("--key", help="The same key and question give the same stored answer."),
    ] = None,
    claim: Annotated[
        str | None,
        typer.Option(
            "--claim",
            help='Tell how probable "> 10000" or "10 to 20" is; without an accuracy, from history.',
        ),
    ] = None,
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", metavar="", help="Print CSV.")] = False,
) -> None:
    """Answer a question in SQL: free from history, or from the budget.

    Say how far the answer may be off with --within, or at the end of the text with ERROR WITHIN;
    or say what it may cost with --spend, and it is as accurate as that buys.
    A question that the budget or a guarded claim does not allow is refused with exit code 3 and
    advice. If you press Ctrl-C, or the connection breaks, the message says what is charged and with
    which --key the same command gets the answer. DESCRIBE and SHOW COLUMNS list the columns, as
    `eke schema` does.
    """
    if as_json and as_csv:
        raise typer.BadParameter("choose one of --json and --csv", param_hint="--csv")
    if claim is not None and as_csv:
        raise typer.BadParameter("a claim has no place in CSV; use --json", param_hint="--csv")
    accuracy, text = half_widths_or_shares(within), question_text(sql)
    with opened(
        path, server=server, token=token, as_json=as_json, data=data, analyst=analyst
    ) as place:
        if eke.sql.asks_for_columns(text):
            present_schema(place.domain, as_json=as_json)
            return
        if claim is not None:
            if accuracy is None and spend is None and not eke.sql.states_accuracy(text):
                present_claim(place.claim(text, claim), as_json=as_json)
                return
            with suppress(EstimateError):  # not known yet; what cannot be claimed costs nothing
                place.claim(text, claim)
        with working("Asking"), going_on(key, place) as used_key:
            answer = place.ask(
                text,
                accuracy,
                confidence,
                spend=spend,
                groups_of=groups_of,
                policy=policy,
                key=used_key,
            )
        said = None
        try:
            said = None if claim is None else place.claim(text, claim)
        finally:  # whatever is wrong with the claim, the answer may have been paid for
            present_answer(answer, as_json=as_json, as_csv=as_csv, claim=said)
