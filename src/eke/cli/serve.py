"""`eke serve`: datasets over HTTP with the console and to tools of PostgreSQL, or one request."""

from __future__ import annotations

import sys
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import eke
from eke.cli.failure import failures
from eke.cli.opening import needed
from eke.cli.options import AccessPlace, AsJson
from eke.cli.screen import errors, output, working
from eke.errors import ServiceError

if TYPE_CHECKING:
    from eke.service import Access

EXAMPLES = """\
Examples:
  $ eke serve adult.eke
  $ eke serve --folder tables --port 8000
  $ eke serve "postgresql://db/eke?dataset=adult" --access postgresql://db/eke
  $ eke serve adult.eke --pg 127.0.0.1:5433 --workers 4
  $ eke serve adult.eke --get /api/v1/datasets/adult/budget
"""


class Shared(StrEnum):
    """Whose measurements an analyst sees."""

    EVERYONE = "everyone"
    OWN = "own"


def serve(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATASET",
            help="Datasets, as made by `eke init`; NAME=PLACE gives one another name.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The port.")] = 8765,
    access: AccessPlace = "eke-access.db",
    folder: Annotated[
        Path | None,
        typer.Option(
            exists=True, file_okay=False, help="Serve its datasets, and let curators make more."
        ),
    ] = None,
    history: Annotated[
        Shared, typer.Option(help="Whose measurements an analyst sees in the history.")
    ] = Shared.EVERYONE,
    rate: Annotated[int, typer.Option(min=1, help="Requests a minute of one account.")] = 600,
    answer_step: Annotated[
        int,
        typer.Option(
            min=0,
            max=10_000,
            help="Milliseconds: paid answers leave at multiples of it, and each look at the "
            "table takes multiples of a quarter of it; 0 for at once.",
        ),
    ] = 100,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure", metavar="", help="Cookies over plain http, to try it on this machine."
        ),
    ] = False,
    pg: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Speak PostgreSQL's protocol there as well, for psql, JDBC and dashboards; "
            "for example 127.0.0.1:5433.",
        ),
    ] = None,
    pg_certificate: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="Its certificate for TLS, in PEM."),
    ] = None,
    pg_key: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="The key, if it is in another file."),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(min=1, max=64, help="Processes that answer on the port, one for each core."),
    ] = 1,
    get: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Print the answer to one GET and serve nothing."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Serve datasets over HTTP, with the console at the same address.

    Everything but /health needs a token; `eke token new` makes them. SIGTERM lets the requests
    under way finish. With --get one request is answered in process, as a curator, and the exit
    code is 0 if it succeeded.
    """
    with failures(as_json=as_json):
        with needed("server"), working("Loading"):
            service = eke.service
        if not places and folder is None:
            raise typer.BadParameter("name a dataset, or a --folder", param_hint="DATASET")
        with working("Opening the datasets"):
            datasets = service.open_datasets(places or [], folder)
        settings = service.Settings(
            sharing=history.value,
            folder=folder,
            requests_per_minute=rate,
            answer_step=answer_step / 1000.0,
            secure_cookies=not insecure,
        )
        door = None
        if pg is not None:
            door = eke.wire.Door(eke.wire.DoorPlace.of(pg, pg_certificate, pg_key))
            if workers > 1:
                door.bind()
        elif pg_certificate is not None or pg_key is not None:
            raise typer.BadParameter("goes with --pg", param_hint="--pg-certificate")
        if get is not None:
            reply = service.get(datasets, settings, get)
            if reply.is_text:
                output().raw(reply.text.rstrip("\n"))
            else:
                sys.stdout.buffer.write(reply.body)
            raise typer.Exit(0 if reply.status < 400 else 1)
        with closing(_accounts(access)) as accounts:
            beside = None if door is None else door.open
            screen = errors()
            if pg is not None:
                screen.print(
                    f"PostgreSQL at [bold]{pg}[/]: a user is an account, a password its token"
                )
            screen.print(f"eke at [bold]http://{host}:{port}/[/], stop it with Ctrl-C")
            if workers == 1:
                app = service.create_app(datasets, accounts, settings, beside=beside)
                service.run(app, host=host, port=port)
        if workers > 1:
            del datasets  # they can be opened; each worker does
            service.run_workers(
                places or [],
                access,
                settings,
                number=workers,
                host=host,
                port=port,
                beside=beside,
            )


def _accounts(place: str) -> Access:
    """The accounts at a place; without a single token nobody could ask this server anything."""
    if "://" in place or Path(place).exists():  # else no empty file is left behind
        opened = eke.service.Access(place)
        if opened.tokens():
            return opened
        place = opened.storage.place
        opened.close()
    raise ServiceError(
        "nobody has a token yet; make the first: eke token new YOUR-NAME --role curator "
        f"--access {place}"
    )
