"""`eke estimate`: what history says about a question, for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

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
from eke.cli.screen import output, progress_bar, working
from eke.codec.printed import json_text
from eke.errors import EstimateError

if TYPE_CHECKING:
    from eke.publish import RowEstimate
    from eke.session import Estimate, TableEstimate

Method: TypeAlias = Literal["shrinkage", "blue", "max_entropy"]
_OF_HISTORY = ("shrinkage", "marginals", None, None)  # unless something else is said
_READERS = {".csv": "read_csv", ".gz": "read_csv", ".parquet": "read_parquet"}

EXAMPLES = """\
Examples:
  $ eke estimate adult.eke "SELECT COUNT(*) FROM adult WHERE age >= 65"
  $ eke estimate adult.eke "SELECT SUM(age) FROM adult" --method blue -c 0.99
  $ eke estimate adult.eke "SELECT COUNT(*) FROM adult" --prior us.csv
  $ eke estimate adult.eke "SELECT AVG(age) FROM adult" --publication 12
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
    prior: Annotated[
        str,
        typer.Option(help="marginals, uniform, or a public table: a CSV or Parquet file."),
    ] = "marginals",
    alpha: Annotated[
        float | None, typer.Option(help="How weak the prior is; else held-out answers choose.")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Parts in which answers are held out to choose alpha.")
    ] = None,
    publication: Annotated[
        int | None,
        typer.Option(metavar="ENTRY", help="From the rows of this publication, not from history."),
    ] = None,
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
) -> None:
    """Say what history says about a count or a sum, asked before or not. Nothing is spent.

    Shrinkage answers every such question with an interval; blue only what history determines;
    max_entropy answers as a possible table would, without an interval. With --publication it says
    what published rows say of one number, and where that of the real table is.
    """
    if publication is not None and (method, prior, alpha, folds) != _OF_HISTORY:
        raise typer.BadParameter(
            "--method, --prior, --alpha and --folds are about history, and --publication asks rows",
            param_hint="--publication",
        )
    text = question_text(sql)
    with opened(path, server=server, token=token, as_json=as_json, data=data) as place:
        estimated: Estimate | TableEstimate | RowEstimate
        if publication is not None:
            with working("Reading the rows"):
                wanted = 0.95 if confidence is None else confidence
                estimated = place.archive.estimate(publication, text, confidence=wanted)
        else:
            with progress_bar("Reading the history") as progress:
                estimated = place.estimate(
                    text,
                    method,
                    confidence,
                    prior=_prior(prior),
                    alpha=alpha,
                    folds=folds,
                    progress=progress,
                )
        screen = output()
        if as_json:
            screen.raw(json_text(estimated.to_dict()))
            return
        question, *rest = estimated.explain().split("\n")
        screen.print(f"[bold]{screen.escape(question)}[/]")
        for line in rest:
            screen.print(screen.escape(line), indent=2)


def _prior(text: str) -> Any:
    """A prior by name, or the table in a file."""
    path = Path(text)
    if path.suffix.lower() not in _READERS:
        return text
    import pandas as pd  # noqa: PLC0415 - slow to load

    try:
        return getattr(pd, _READERS[path.suffix.lower()])(path)
    except (ValueError, pd.errors.ParserError) as problem:
        raise EstimateError(f"{path.name} cannot be read as a table") from problem
