"""`eke preview`: what a question would cost, without asking it."""

from __future__ import annotations

import eke
from eke.cli.opening import opened
from eke.cli.options import (
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
from eke.cli.screen import output, working
from eke.codec.printed import json_text

EXAMPLES = """\
Examples:
  $ eke preview adult.eke "SELECT COUNT(*) FROM adult WHERE age >= 65" -w 60
  $ eke preview adult.eke "SELECT COUNT(*) FROM adult ERROR WITHIN 10"
  $ eke preview adult "SELECT COUNT(*) FROM adult" -w 9 --server https://eke.org
"""


def preview(
    path: Dataset,
    sql: Question,
    within: Within = None,
    spend: Spend = None,
    groups_of: GroupsOf = None,
    confidence: Confidence = None,
    policy: PolicyName = None,
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
) -> None:
    """Show what a question would cost. Nothing is spent.

    The action is history (free), measure (paid) or refuse (more than what is left). With --spend it
    says how accurate that would make the answer.
    """
    accuracy, text = half_widths_or_shares(within), question_text(sql)
    with opened(path, server=server, token=token, as_json=as_json, data=data) as place:
        with working("Looking at the history"):
            previewed = place.preview(
                text, accuracy, confidence, spend=spend, groups_of=groups_of, policy=policy
            )
        screen = output()
        if as_json:
            screen.raw(json_text(eke.session.preview_document(previewed)))
            return
        question, rest = previewed.explain().split("\n", 1)
        screen.print(f"[bold]{screen.escape(question)}[/]")
        screen.print(screen.escape(rest), indent=2)
