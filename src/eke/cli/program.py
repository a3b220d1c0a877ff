"""The command line: thin commands over the session, one file each.

    draft, check → init → ask, preview, estimate, plan, release, budget, history, explain → publish,
    export, verify → serve, token

Commands about one dataset speak to a `Dataset`: `opening.py` finds it here or on a server.
Every command prints for people, or JSON with --json; exit codes are in `failure.py`. None of these
files imports the engine: `import eke` fetches names on first use, so that help is quick. Looking at
a budget or a history is answered before this file is loaded, where that is possible (`quick.py`).
"""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import eke
from eke.cli.ask import EXAMPLES as ASK_EXAMPLES
from eke.cli.ask import ask
from eke.cli.budget import EXAMPLES as BUDGET_EXAMPLES
from eke.cli.budget import budget
from eke.cli.check import EXAMPLES as CHECK_EXAMPLES
from eke.cli.check import check
from eke.cli.draft import EXAMPLES as DRAFT_EXAMPLES
from eke.cli.draft import draft
from eke.cli.estimate import EXAMPLES as ESTIMATE_EXAMPLES
from eke.cli.estimate import estimate
from eke.cli.explain import EXAMPLES as EXPLAIN_EXAMPLES
from eke.cli.explain import explain
from eke.cli.export import EXAMPLES as EXPORT_EXAMPLES
from eke.cli.export import export
from eke.cli.failure import failures
from eke.cli.guard import EXAMPLES as GUARD_EXAMPLES
from eke.cli.guard import guard
from eke.cli.help_picture import EXIT_CODES, PURPOSE
from eke.cli.history import EXAMPLES as HISTORY_EXAMPLES
from eke.cli.history import history
from eke.cli.init import EXAMPLES as INIT_EXAMPLES
from eke.cli.init import init
from eke.cli.options import AsJson
from eke.cli.outside import EXAMPLES as OUTSIDE_EXAMPLES
from eke.cli.outside import outside
from eke.cli.plan import EXAMPLES as PLAN_EXAMPLES
from eke.cli.plan import plan
from eke.cli.preview import EXAMPLES as PREVIEW_EXAMPLES
from eke.cli.preview import preview
from eke.cli.publish import EXAMPLES as PUBLISH_EXAMPLES
from eke.cli.publish import publish
from eke.cli.release import EXAMPLES as RELEASE_EXAMPLES
from eke.cli.release import release
from eke.cli.schema import EXAMPLES as SCHEMA_EXAMPLES
from eke.cli.schema import schema
from eke.cli.screen import output
from eke.cli.serve import EXAMPLES as SERVE_EXAMPLES
from eke.cli.serve import serve
from eke.cli.token import EXAMPLES as TOKEN_EXAMPLES
from eke.cli.token import token
from eke.cli.verify import EXAMPLES as VERIFY_EXAMPLES
from eke.cli.verify import verify
from eke.codec.printed import json_text

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,  # it prints local variables
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)


def _paragraphs(docstring: str) -> str:
    """A docstring whose paragraphs are single lines: the terminal decides where they wrap."""
    parts = inspect.cleandoc(docstring).split("\n\n")
    return "\n\n".join(" ".join(part.split()) for part in parts)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"eke {eke.__version__}")
        raise typer.Exit


@app.callback(help=PURPOSE)
def _callback(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Nothing: the options of the program itself do their work when they are read."""


for _command, _examples in (
    (draft, DRAFT_EXAMPLES),
    (check, CHECK_EXAMPLES),
    (init, INIT_EXAMPLES),
    (schema, SCHEMA_EXAMPLES),
    (ask, ASK_EXAMPLES),
    (preview, PREVIEW_EXAMPLES),
    (estimate, ESTIMATE_EXAMPLES),
    (plan, PLAN_EXAMPLES),
    (release, RELEASE_EXAMPLES),
    (budget, BUDGET_EXAMPLES),
    (history, HISTORY_EXAMPLES),
    (explain, EXPLAIN_EXAMPLES),
    (outside, OUTSIDE_EXAMPLES),
    (guard, GUARD_EXAMPLES),
    (publish, PUBLISH_EXAMPLES),
    (export, EXPORT_EXAMPLES),
    (verify, VERIFY_EXAMPLES),
    (serve, SERVE_EXAMPLES),
    (token, TOKEN_EXAMPLES),
):
    app.command(help=_paragraphs(_command.__doc__ or ""), epilog=_examples)(_command)


@app.command(epilog="Examples:\n  $ eke demo\n  $ eke demo --folder demo-output\n")
def demo(
    folder: Annotated[
        Path | None, typer.Option(help="Where to put the dataset and the report.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Protect the Adult table and ask an afternoon of questions.

    The table comes with eke.
    """
    with failures(as_json=as_json):
        # The questions of the demonstration are made when it is loaded, which loads the engine.
        run = import_module("eke.cli.demo").run_demo
        summary = run(folder, Console(quiet=True) if as_json else output().console)
        if as_json:
            output().raw(json_text(summary))
