"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, TypeVar

import typer

WidthT = TypeVar("WidthT")
Policy: TypeAlias = Literal["top_up", "direct", "look_ahead"]
_SERVER = "A dataset on a server"
Neighbours: TypeAlias = Literal["add_remove", "replace_one"]

Dataset: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="The dataset, as made by `eke init`: a file, or a PostgreSQL URL.",
        show_default=False,
    ),
]
AsJson: TypeAlias = Annotated[
    bool,
    typer.Option("--json", metavar="", help="Print JSON: answers to stdout, errors to stderr."),
]
Data: TypeAlias = Annotated[
    str | None,
    typer.Option("--data", metavar="PATH", help="Where the table is now, if it was moved."),
]
Question: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="SQL", help="The question, or - to read it from stdin.", show_default=False
    ),
]
About: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="NUMBER|SQL",
        help="An entry of the history, or a question (- reads it from stdin).",
        show_default=False,
    ),
]
Within: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--within",
        "-w",
        metavar="NUMBER|COLUMN=NUMBER",
        help="How far an answer may be off, or 2% of it; repeat it for several columns.",
    ),
]
Spend: TypeAlias = Annotated[
    float | None,
    typer.Option("--spend", help="Instead: what the answer may cost; as accurate as that buys."),
]
GroupsOf: TypeAlias = Annotated[
    int | None,
    typer.Option("--groups-of", help="Averages: so accurate where a group has so many records."),
]
Confidence: TypeAlias = Annotated[
    float | None,
    typer.Option("--confidence", "-c", help="Probability that intervals hold; 0.95 by default."),
]
Analyst: TypeAlias = Annotated[
    str | None,
    typer.Option("--analyst", envvar="EKE_ANALYST", help="Who asks; else your user name."),
]
ServerAddress: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--server",
        envvar="EKE_SERVER",
        metavar="ADDRESS",
        help="Its address; DATASET is then a name there.",
        rich_help_panel=_SERVER,
    ),
]
ServerToken: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="EKE_TOKEN",
        show_envvar=True,
        help="Your token there; use the variable, which others cannot see.",
        rich_help_panel=_SERVER,
    ),
]
AccessPlace: TypeAlias = Annotated[
    str,
    typer.Option(
        "--access",
        metavar="PLACE",
        envvar="EKE_ACCESS",
        help="The accounts: a file, or a PostgreSQL URL that several servers share.",
    ),
]
PolicyName: TypeAlias = Annotated[
    Policy | None, typer.Option("--policy", help="How much is bought; else as in `eke init`.")
]
RawTable: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="A CSV, Parquet or DuckDB file, or a PostgreSQL URL; none if --table says all.",
        show_default=False,
    ),
]
DomainFile: TypeAlias = Annotated[
    Path | None,
    typer.Argument(
        metavar="DOMAIN", help="The YAML or JSON file of the domain.", show_default=False
    ),
]
IdColumn: TypeAlias = Annotated[
    str | None, typer.Option("--unit", help="The id column, if a person has several rows.")
]
RowsOfId: TypeAlias = Annotated[
    int, typer.Option("--rows", help="With --unit: rows counted of each id.")
]
Null: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--null", metavar="TEXT", help="CSV: a text that means missing; repeatable."),
]
Columns: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--columns", metavar="A,B,…", help="CSV: names of the columns, if no header has them."
    ),
]
Delimiter: TypeAlias = Annotated[
    str | None, typer.Option("--delimiter", help="CSV: what stands between fields.")
]
TableNames: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        metavar="NAME|NAME=FILE",
        help="DuckDB, PostgreSQL: which table. With --view: a table of it; repeatable.",
    ),
]
ViewFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--view",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        help="A SELECT over several tables, instead of one table.",
    ),
]


def half_widths(given: list[str] | None) -> float | dict[str, float] | None:
    """The accuracy that --within asks for: one number, or one for each column."""
    return _by_column(given, float)


def half_widths_or_shares(
    given: list[str] | None,
) -> float | str | dict[str, float | str] | None:
    """The same where a share of the value, such as 2%, or a length, 6 hours, may be asked for."""
    return _by_column(given, lambda text: text if _is_told(text) else float(text))


def _is_told(text: str) -> bool:
    """True for a number with a sign or a word after it."""
    return text.endswith("%") or (text[:1].isdigit() and text[-1:].isalpha())


def _by_column(
    given: list[str] | None, read: Callable[[str], WidthT]
) -> WidthT | dict[str, WidthT] | None:
    if not given:
        return None
    by_column: dict[str, WidthT] = {}
    for text in given:
        column, equals, number = text.rpartition("=")
        try:
            width = read(number)
        except ValueError:
            raise typer.BadParameter(
                f"{text!r} is neither a number nor COLUMN=NUMBER", param_hint="--within"
            ) from None
        if not equals and len(given) == 1:
            return width
        if not equals or column in by_column:
            raise typer.BadParameter(
                "give one number for all columns, or COLUMN=NUMBER once for each",
                param_hint="--within",
            )
        by_column[column] = width
    return by_column


def question_text(given: str) -> str:
    """The SQL text itself, read from stdin when it is given as -."""
    return typer.get_text_stream("stdin").read() if given == "-" else given
