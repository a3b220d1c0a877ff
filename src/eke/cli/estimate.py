"""`eke estimate`: what history says about a question, for nothing."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

from eke.cli.opening import opened
from eke.cli.options import (
    AsJson,
    Confidence,
    Data,
    Dataset,
    Question,
    ServerAddress,
    ServerToken,
    question_text,
)
from eke.cli.screen import output, progress_bar
from eke.codec.printed import json_text

Method: TypeAlias = Literal["shrinkage", "blue", "max_entropy"]

EXAMPLES = """\
Examples:
  $ eke estimate adult.eke "SELECT COUNT(*) FROM adult WHERE age >= 65"
  $ eke estimate adult.eke "SELECT SUM(age) FROM adult" --method blue -c 0.99
  $ eke estimate adult "SELECT COUNT(*) FROM adult" --server https://eke.org
"""


def estimate(
    path: Dataset,
    sql: Question,
    method: Annotated[
        Method,
        typer.Option("--method", "-m", help="How to estimate; blue is unbiased."),
    ] = "shrinkage",
    confidence: Confidence = None,
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
) -> None:
    """Say what history says about a count or a sum, asked before or not. Nothing is spent.

    Shrinkage answers every such question with an interval; blue only what history determines;
    max_entropy answers as a possible table would, without an interval.
    """
    text = question_text(sql)
    with opened(path, server=server, token=token, as_json=as_json, data=data) as place:
        with progress_bar("Reading the history") as progress:
            estimated = place.estimate(text, method, confidence, progress=progress)
        screen = output()
        if as_json:
            screen.raw(json_text(estimated.to_dict()))
            return
        question, *rest = estimated.explain().split("\n")
        screen.print(f"[bold]{screen.escape(question)}[/]")
        for line in rest:
            screen.print(screen.escape(line), indent=2)
