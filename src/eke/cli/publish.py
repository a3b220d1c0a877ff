"""`eke publish`: a table of new rows in the schema of the protected one, written to a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from eke.cli.going_on import going_on, tell_key
from eke.cli.opening import opened
from eke.cli.options import Analyst, AsJson, Data, Dataset, ServerAddress, ServerToken
from eke.cli.picture import show_caveats
from eke.cli.screen import errors, output, progress_bar
from eke.codec.printed import json_text
from eke.errors import DataError

if TYPE_CHECKING:
    from eke.domain import Domain
    from eke.inference.progress import Progress
    from eke.publish import Published
    from eke.session import Dataset as OpenDataset

EXAMPLES = """\
Examples:
  $ eke publish adult.eke max_entropy --epsilon 1 -o rows.csv
  $ eke publish adult.eke max_entropy --from-history --rows 1000 -o rows.parquet
  $ eke publish adult.eke max_entropy --target income --epsilon 1 -o rows.csv
  $ eke publish adult.eke max_entropy --workload age,sex:5 --rho 0.1 -o r.csv
  $ eke publish adult.eke lda --target income --epsilon 1 -o rows.csv
  $ eke publish adult.eke pca --components 2 --epsilon 2 -o rows.parquet
  $ eke publish adult.eke pca --rho 0.1 --option recovery=shrunk -o rows.csv
  $ eke publish adult.eke --stored 12 -o rows.parquet --report report.html
  $ eke publish adult max_entropy --epsilon 1 -o r.csv --server https://eke.org
"""
_RESERVED = ("epsilon", "rho", "key", "analyst", "progress")  # options of their own, or none


def publish(
    path: Dataset,
    mechanism: Annotated[
        str | None, typer.Argument(help="max_entropy, lda, pca, ….", show_default=False)
    ] = None,
    target: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write: .csv or .parquet.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="A report on the rows for people: .html.")
    ] = None,
    stored: Annotated[
        int | None,
        typer.Option("--stored", metavar="ENTRY", help="One published before, for nothing."),
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="What the rows may cost.")] = None,
    rho: Annotated[float | None, typer.Option(help="The same for a dataset with rho.")] = None,
    class_attribute: Annotated[
        str | None, typer.Option("--target", help="lda, max_entropy: the column to be predicted.")
    ] = None,
    components: Annotated[
        str | None, typer.Option(help="pca: how many components, or auto.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="max_entropy, lda: how many rows; else as many as estimated.")
    ] = None,
    from_history: Annotated[
        bool, typer.Option("--from-history", help="max_entropy: from what is released; free.")
    ] = False,
    attributes: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Which columns; else all of them.")
    ] = None,
    workload: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B[:WEIGHT]",
            help="max_entropy: columns that matter more together, or a question; repeatable.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Any other option of the mechanism; repeatable."),
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="The same key and request give the same rows.")
    ] = None,
    analyst: Analyst = None,
    data: Data = None,
    server: ServerAddress = None,
    token: ServerToken = None,
    as_json: AsJson = False,
) -> None:
    """Publish a table of new rows in the same schema.

    The rows may be given to anyone. They are paid for before the table is looked at; what is wrong
    with the request is refused first, and costs nothing. A server makes them in the background: if
    you press Ctrl-C, or the connection breaks, it goes on, and the message says with which --key
    the same command gets the rows. What would take more than an hour is refused before it is
    charged, unless --option patient=true is given. With --report a page says what was measured and
    how far the rows are from it; with --stored both are made of rows that were published before.
    """
    _check_files(target, report)
    options = _options(option)
    said_by_name = {
        "target": class_attribute,
        "workload": [_entry(text) for text in workload] if workload else None,
        "components": None if components is None else _value(components),
        "rows": rows,
    }
    options |= {name: value for name, value in said_by_name.items() if value is not None}
    if from_history:
        options["from_history"] = True
    if attributes is not None:
        options["attributes"] = [name.strip() for name in attributes.split(",")]
    if mechanism is not None and epsilon is None and rho is None and not from_history:
        raise typer.BadParameter(
            "say what the rows may cost; only --from-history costs nothing",
            param_hint="--epsilon, --rho",
        )
    given = (mechanism, epsilon, rho, key, *options)
    if (mechanism is None) == (stored is None) or (stored is not None and any(given)):
        raise typer.BadParameter("name a mechanism with its options, or --stored alone")
    with opened(
        path, server=server, token=token, as_json=as_json, data=data, analyst=analyst
    ) as place:
        _check_writable(target, report)
        if mechanism is None or stored is not None:
            stored = cast("int", stored)  # one of the two was named
            with progress_bar("Writing") as progress:
                made = place.archive.publication(stored)
                _write(place, made, target, report, progress)
            _show(made, path, target, report, as_json=as_json)
            return
        _tell_time(mechanism, place.domain, options)
        with progress_bar("Publishing") as progress, going_on(key, place) as used_key:
            said = as_json or key is not None

            def followed(doing: str, done: float) -> None:
                nonlocal said
                if not said:  # now that it is charged, it can be finished
                    tell_key(used_key)
                    said = True
                progress(doing, done)

            made = place.publish(
                mechanism, epsilon=epsilon, rho=rho, key=used_key, progress=followed, **options
            )
            _write(place, made, target, report, progress)
        _show(made, path, target, report, as_json=as_json)


def _check_files(target: Path | None, report: Path | None) -> None:
    if target is None and report is None:
        raise typer.BadParameter("say which file to write", param_hint="--output, --report")
    if target is not None and target.suffix not in {".csv", ".parquet"}:
        raise typer.BadParameter("name a file that ends in .csv or .parquet", param_hint="--output")
    if report is not None and report.suffix != ".html":
        raise typer.BadParameter("name a file that ends in .html", param_hint="--report")


def _check_writable(*files: Path | None) -> None:
    """Raise if one of the files cannot be written: then its rows must not be bought."""
    from eke.publish.row_files import check_writable  # noqa: PLC0415 - slow to load

    for file in files:
        if file is not None:
            if not file.parent.is_dir():
                raise DataError(f"there is no folder {file.parent}; make it, or choose another one")
            check_writable(file)


def _show(
    made: Published, dataset: str, target: Path | None, report: Path | None, *, as_json: bool
) -> None:
    screen = output()
    if as_json:
        shown = {
            "rows": len(made),
            "file": None if target is None else str(target),
            "report": None if report is None else str(report),
            "publication": made.sequence,
            "receipt": dict(made.receipt),
            "caveats": list(made.caveats),
        }
        screen.raw(json_text(shown))
        return
    screen.print(f"{made!r}")
    for note in made.notes:
        screen.print(screen.escape(note), indent=2)
    show_caveats(screen, made.caveats)
    for file in (target, report):
        if file is not None:
            screen.line(f"Wrote {screen.escape(str(file))}.")
    if made.sequence is not None:
        screen.print(
            f"It is publication {made.sequence}. What its rows say of the real table: "
            f'eke estimate {screen.escape(dataset)} "SELECT …" --publication {made.sequence}',
        )


def _tell_time(mechanism: str, domain: Domain, options: dict[str, Any]) -> None:
    """Say how long it takes, before it is charged, where that is worth saying."""
    if mechanism != "max_entropy" or "from_history" in options:
        return
    from eke.publish import patience  # noqa: PLC0415 - slow to load

    names = options.get("attributes", domain.names)
    ordered = sum(name in domain.names and domain[name].is_ordered for name in names)
    seconds = patience.max_entropy_seconds(len(names), ordered=ordered)
    if seconds > patience.WORTH_SAYING:
        time = patience.duration(seconds)
        errors().print(f"{len(names)} columns take about {time} of a processor.")


def _options(given: list[str] | None) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier() or name in _RESERVED:
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--option")
        options[name] = _value(value)
    return options


def _entry(text: str) -> dict[str, Any]:
    """One entry of a workload: columns with a weight, if one is given, or a question in SQL."""
    if (text.upper().split(maxsplit=1) or [""])[0] in {"SELECT", "WITH"}:
        return {"sql": text}
    columns, _, number = text.rpartition(":")
    entry: dict[str, Any] = {}
    try:
        entry["weight"] = float(number)
    except ValueError:  # a column with a colon in its name, or none
        columns = text
    return {"columns": [name.strip() for name in columns.split(",")], **entry}


def _value(text: str) -> object:
    """A number, list or truth value as JSON writes them; anything else is a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _write(
    place: OpenDataset,
    rows: Published,
    target: Path | None,
    report: Path | None,
    progress: Progress,
) -> None:
    """Piece by piece, so that ten million rows need no more memory than their codes."""
    if target is not None:
        write = rows.to_csv if target.suffix == ".csv" else rows.to_parquet
        write(target, progress=progress)
    if report is not None:
        from eke.publish.row_files import replacing  # noqa: PLC0415 - slow to load

        progress("reporting", 0.0)
        if rows.sequence is None:
            rows.report(report)
            return
        text = place.archive.report(rows.sequence)
        with replacing(report) as file:
            file.write(text.encode())
