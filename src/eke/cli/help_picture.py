"""What `eke --help` prints, without loading any command.

It is what Typer would print: `tests/unit/cli/test_quick.py` compares the two, so that a new command
has its line here.
"""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

PURPOSE = "Question one sensitive table under differential privacy, and make the budget last."
EXIT_CODES = "Exit codes: 0 done, 1 error, 2 the command is wrong, 3 refused, 4 ledger not intact."
OPTIONS = {
    "--version": "Show the version.",
    "--install-completion": "Install completion for the current shell.",
    "--show-completion": "Show completion for the current shell, to copy it or customize the "
    "installation.",
    "--help": "Show this message and exit.",
}
COMMANDS = {
    "draft": "Read a table and write a draft of its domain, to be checked.",
    "check": "Count what a domain does to a table, for its curator alone.",
    "init": "Protect a table: make a dataset with a privacy limit.",
    "schema": "List the columns and their declared values.",
    "ask": "Answer a question in SQL: free from history, or from the budget.",
    "preview": "Show what a question would cost. Nothing is spent.",
    "estimate": "Say what history says about a count or a sum, asked before or not. Nothing is "
    "spent.",
    "plan": "Compare ways to release many tables at once. Nothing is spent.",
    "release": "Release many tables at once, in one charge.",
    "budget": "Show the limit, what is spent and what remains.",
    "history": "List what was released so far, by anyone.",
    "explain": "Explain a past measurement, or how a question would be answered.",
    "outside": "Tell a dataset what is public elsewhere, list it, or forget it. Nothing is spent.",
    "guard": "Guard a claim, list guarded ones, or lift one. Nothing is spent.",
    "publish": "Publish a table of new rows in the same schema.",
    "export": "Write down the ledger, the history, a report or a mark.",
    "verify": "Check that the ledger is intact.",
    "serve": "Serve datasets over HTTP, with the console at the same address.",
    "token": "Make, list, revoke or copy the tokens of a server's accounts.",
    "demo": "Protect the Adult table and ask an afternoon of questions.",
}


def show_help() -> None:
    """Print purpose, options, commands and exit codes."""
    console = Console(highlight=False, emoji=False)
    usage = Text("Usage: eke [OPTIONS] COMMAND [ARGS]...", "bold")
    usage.stylize("yellow", 0, len("Usage: "))
    console.print(Padding(usage, 1))
    console.print(Padding(PURPOSE, (0, 1, 1, 1)))
    console.print(_panel("Options", _options()))
    console.print(_panel("Commands", _commands()))
    console.print(Padding(EXIT_CODES, 1))
    console.print()


def _panel(title: str, table: Table) -> Panel:
    return Panel(table, border_style="dim", title=title, title_align="left")


def _table() -> Table:
    return Table(show_header=False, expand=True, box=None, pad_edge=False, padding=(0, 1))


def _options() -> Table:
    table = _table()
    for style in ("bold cyan", "bold green", "", "", "bold yellow", ""):  # Typer's columns
        table.add_column(style=style, overflow="fold" if style == "bold yellow" else "ellipsis")
    for name, text in OPTIONS.items():
        table.add_row(name, "-h" if name == "--help" else "", "", "", Text("<bool>"), text)
    return table


def _commands() -> Table:
    table = _table()
    table.add_column(style="bold cyan", no_wrap=True, width=max(map(len, COMMANDS)))
    table.add_column(ratio=10)
    for name, text in COMMANDS.items():
        table.add_row(name, text)
    return table
