"""`eke release`: many tables measured in one charge, shown or written to files."""

from __future__ import annotations

import sys
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import eke
from eke.cli.going_on import going_on
from eke.cli.opening import opened
from eke.cli.options import (
    Analyst,
    AsJson,
    Confidence,
    Data,
    Dataset,
    ServerAddress,
    ServerToken,
)
from eke.cli.picture import show_caveats
from eke.cli.plan_picture import show_plan, tables
from eke.cli.screen import Screen, errors, output, working
from eke.cli.workload import (
    BudgetToSpend,
    Containing,
    HalfOfNext,
    Marginals,
    Over,
    Prefixes,
    Ranges,
    Sql,
    Strategy,
    StrategyMatrix,
    UpTo,
    WithinEach,
    WorkloadOptions,
    offer_for,
)
from eke.codec.printed import json_text, release_document

if TYPE_CHECKING:
    from eke.session import Dataset as OpenDataset
    from eke.session import Release, ReleasedTable

EXAMPLES = """\
Examples:
  $ eke release adult.eke --marginals 2 --budget 0.5 --output tables
  $ eke release adult.eke --over sex,income --within 50 --yes --json
  $ eke release adult.eke --stored 7 --as whole --output tables
  $ eke release adult.eke --ranges age -b 0.1 --key monday -o tables -f parquet
  $ eke release adult --marginals 1 -b 0.1 -o tables --server https://eke.org
"""
_MOST_NAMES = 8


class Adjusted(StrEnum):
    """What released counts can be made."""

    CONSISTENT = "consistent"
    NONNEGATIVE = "nonnegative"
    WHOLE = "whole"


class Near(StrEnum):
    """What is near: the sum of squares, the sum or the largest of all changes."""

    L2 = "l2"
    L1 = "l1"
    LINF = "linf"


class TableFormat(StrEnum):
    """How a table can be written."""

    CSV = "csv"
    PARQUET = "parquet"


def release(
    path: Dataset,
    sql: Sql = None,
    marginals: Marginals = None,
    up_to: UpTo = None,
    half_of_next: HalfOfNext = None,
    containing: Containing = None,
    over: Over = None,
    ranges: Ranges = None,
    prefixes: Prefixes = None,
    budget: BudgetToSpend = None,
    within: WithinEach = None,
    confidence: Confidence = None,
    strategy: Strategy = "auto",
    strategy_matrix: StrategyMatrix = None,
    kind: Annotated[
        Adjusted | None,
        typer.Option("--as", help="The nearest counts that agree, have no negative, or are whole."),
    ] = None,
    norm: Annotated[Near, typer.Option("--norm", help="What is near, with --as.")] = Near.L2,
    stored: Annotated[
        int | None,
        typer.Option("--stored", metavar="ENTRY", help="One released before, for nothing."),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Where to write a file per table."),
    ] = None,
    form: Annotated[
        TableFormat, typer.Option("--format", "-f", help="How the files are written.")
    ] = TableFormat.CSV,
    key: Annotated[
        str | None,
        typer.Option("--key", help="The same key and plan give the same stored release."),
    ] = None,
    analyst: Analyst = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", metavar="", help="Do not ask before spending.")
    ] = False,
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
) -> None:
    """Release many tables at once, in one charge.

    The plan is shown first, as `eke plan` shows it, and nothing is spent before you agree. What is
    released stays in the history: later questions about it are free. When a server is lost on the
    way, the message says with which --key the same command gets the tables it has paid for.
    """
    wanted = WorkloadOptions(
        sql=sql,
        marginals=marginals,
        up_to=up_to,
        half_of_next=half_of_next,
        containing=containing,
        over=over,
        ranges=ranges,
        prefixes=prefixes,
        budget=budget,
        within=within,
        confidence=confidence,
        strategy=strategy,
        strategy_matrix=strategy_matrix,
    )
    if kind is None and norm is not Near.L2:
        raise typer.BadParameter("say --as as well", param_hint="--norm")
    if stored is not None:
        wanted.check_empty("--stored")
        with opened(
            path, server=server, token=token, as_json=as_json, data=data, analyst=analyst
        ) as place:
            _hand_over(place, place.archive.release(stored), kind, norm, target, form, as_json)
        return
    wanted.check()
    if not yes and (as_json or not _is_attended()):
        raise typer.BadParameter("nobody can be asked here; add --yes to spend", param_hint="--yes")
    with opened(
        path, server=server, token=token, as_json=as_json, data=data, analyst=analyst
    ) as place:
        offer = offer_for(place, wanted)
        if kind is not None:  # what cannot be adjusted must not be bought
            planning = import_module("eke.planning")
            planning.check_adjustable(offer.plan.workload, kind.value, norm.value)
        if not as_json:
            show_plan(errors(), offer)
        if not yes:
            typer.confirm("Release it?", abort=True, err=True)
        if target is not None:
            target.mkdir(parents=True, exist_ok=True)  # what cannot be written must not be bought
        with working(f"Measuring {offer.plan.answers:,} answers"), going_on(key, place) as used_key:
            released = place.release(offer.plan, key=used_key)
        _hand_over(place, released, kind, norm, target, form, as_json)


def _hand_over(
    place: OpenDataset,
    released: Release,
    kind: Adjusted | None,
    norm: Near,
    target: Path | None,
    form: TableFormat,
    as_json: bool,
) -> None:
    """The tables as they are wanted: adjusted, in files, printed or as JSON."""
    if kind is not None:
        with working("Adjusting"):
            released = released.adjusted(kind.value, norm.value)
    files: list[Path] = []
    if target is not None:
        target.mkdir(parents=True, exist_ok=True)
        with working("Writing"):
            files = write_tables(released, target, form)
    remaining = place.remaining
    if as_json:
        output().raw(json_text(release_document(released, remaining, files)))
    else:
        _show(output(), released, remaining, files)


def _is_attended() -> bool:
    """True when somebody sits at the terminal."""
    return sys.stdin.isatty()


def write_tables(released: Release, folder: Path, form: TableFormat) -> list[Path]:
    """One file for each table, named after its columns."""
    written = []
    for table in released.tables:
        file = folder / f"{file_name(table)}.{form}"
        frame = table.to_pandas()
        for name in frame.columns.intersection(list(table.attributes)):
            # One type a column, as Parquet wants it, also where a value stands for what is missing.
            frame[name] = frame[name].map(eke.domain.plain_label).convert_dtypes()
        if form is TableFormat.CSV:
            frame.to_csv(file, index=False)
        else:
            frame.to_parquet(file, index=False)
        written.append(file)
    return written


def file_name(table: ReleasedTable) -> str:
    """The columns of a table, with what is asked along them; `total` for the one without any."""
    if not table.attributes:
        return "total"
    kinds = sorted(set(table.along) - {"cells"})
    safe = ["".join(c if c.isalnum() or c in "_.-" else "_" for c in n) for n in table.attributes]
    name = "+".join(safe)
    if len(name) > 120:
        name = f"{'+'.join(safe[:_MOST_NAMES])}+{len(safe) - _MOST_NAMES}_more"
    return "-".join([name, *kinds])


def _show(screen: Screen, released: Release, remaining: float, files: list[Path]) -> None:
    answers = sum(table.values.size for table in released.tables)
    screen.print(
        f"[bold]Released {tables(len(released.tables))} with {answers:,} answers[/] for "
        f"{released.measure} {released.cost:.6g}, {remaining:.6g} remaining "
        f"(entry {released.sequence})"
    )
    if files:
        folder = screen.escape(str(files[0].parent))
        screen.line(f"[dim]{len(files)} files in {folder}[/]", indent=2)
    else:
        screen.print(
            "[dim]Ask about them free of charge, or say --output FOLDER to have them as files.[/]",
            indent=2,
        )
    if released.adjustment is not None:
        told = released.adjustment
        screen.line(
            f"[dim]{told.note} Moved by {told.moved:.4g} in {told.norm.upper()}, a single value by "
            f"{told.largest:.4g} at most.[/]",
            indent=2,
        )
    show_caveats(screen, released.caveats)
