"""`eke token`: the accounts of a server and their tokens."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import eke
from eke.cli.failure import failures
from eke.cli.opening import needed
from eke.cli.options import AccessPlace, AsJson
from eke.cli.screen import errors, output
from eke.codec.printed import json_text
from eke.errors import ServiceError

if TYPE_CHECKING:
    from eke.service import Access

EXAMPLES = """\
Examples:
  $ eke token new cleo --role curator
  $ eke token new ann --datasets adult,census --days 90
  $ eke token new ann --access postgresql://db/eke
  $ eke token list
  $ eke token revoke 3f9c2a7d1b04
  $ eke token set dashboard eke.within=100 eke.spend=off
  $ eke token copy eke-access.db --access postgresql://db/eke
"""


class Action(StrEnum):
    """What can be done with tokens."""

    NEW = "new"
    LIST = "list"
    REVOKE = "revoke"
    COPY = "copy"
    SET = "set"


class RoleName(StrEnum):
    """What an account may do."""

    CURATOR = "curator"
    ANALYST = "analyst"
    AUDITOR = "auditor"


def token(
    action: Annotated[Action, typer.Argument(help="What to do.", show_default=False)],
    name: Annotated[
        str | None,
        typer.Argument(
            help="new, set: whose. revoke: the id of a token. copy: a file with accounts.",
            show_default=False,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SETTING=VALUE",
            help="set: what connections of PostgreSQL's protocol begin with, instead of before.",
            show_default=False,
        ),
    ] = None,
    role: Annotated[
        RoleName | None, typer.Option(help="For a new account; analyst if nothing is said.")
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="What a new account sees; everything if not given."),
    ] = None,
    days: Annotated[float | None, typer.Option(help="How long the token is valid.")] = None,
    access: AccessPlace = "eke-access.db",
    as_json: AsJson = False,
) -> None:
    """Make, list, revoke or copy the tokens of a server's accounts.

    A token is printed once; only a hash of it is kept. Every server on these accounts notices
    changes at the next request. Revoking also ends the browser sessions that began with the token.
    Settings are for tools that speak PostgreSQL's protocol and cannot set anything themselves.
    """
    if (name is None) != (action is Action.LIST):
        raise typer.BadParameter(f"eke token {action} " + ("takes no name" if name else "NAME"))
    if settings and action is not Action.SET:
        raise typer.BadParameter(f"eke token {action} takes no settings")
    with failures(as_json=as_json):
        with needed("server"):
            opened = eke.service.Access(access)
        with closing(opened) as accounts:
            if action is Action.NEW:
                _new(accounts, str(name), role, datasets, days, as_json=as_json)
            elif action is Action.REVOKE:
                accounts.revoke(str(name))
                _say({"revoked": str(name)}, f"Revoked {name}.", as_json=as_json)
            elif action is Action.SET:
                _set(accounts, str(name), settings or [], as_json=as_json)
            elif action is Action.COPY:
                _copy(accounts, str(name), as_json=as_json)
            else:
                _list(accounts, as_json=as_json)


def _new(
    accounts: Access,
    name: str,
    role: RoleName | None,
    datasets: str | None,
    days: float | None,
    *,
    as_json: bool,
) -> None:
    known = accounts.find(name)
    if known is None:
        listed = None if datasets is None else tuple(datasets.split(","))
        account = eke.service.Account(name, (role or RoleName.ANALYST).value, listed)
        accounts.add(account)
    elif role is not None or datasets is not None:
        raise ServiceError(f"{name} is {known.role} already; leave out --role and --datasets")
    else:
        account = known
    made = accounts.new_token(name, days)
    document = {"name": name, "role": account.role, "id": made.identity, "token": made.text}
    if as_json:
        output().raw(json_text(document))
        return
    output().raw(made.text)
    screen = errors()
    screen.print(f"The token of {screen.escape(name)}, {account.role}. It is not shown again.")


def _set(accounts: Access, name: str, given: list[str], *, as_json: bool) -> None:
    pairs = [text.partition("=") for text in given]
    if not all(equals for _, equals, _ in pairs):
        raise ServiceError("settings are given as eke.within=100, with spaces between them")
    accounts.change_settings(name, {key: value for key, _, value in pairs})
    settings = accounts.settings(name)
    shown = ", ".join(f"{key} = {value}" for key, value in settings.items()) or "no settings"
    _say({"name": name, "settings": settings}, f"{name} begins with {shown}.", as_json=as_json)


def _copy(accounts: Access, source: str, *, as_json: bool) -> None:
    if "://" not in source and not Path(source).exists():
        raise ServiceError(f"there is no file {source}; give the place that has the accounts now")
    with closing(eke.service.Access(source)) as other:
        people, tokens = accounts.copy_from(other)
    text = f"Copied; accounts: {people}, tokens: {tokens}."
    _say({"accounts": people, "tokens": tokens}, text, as_json=as_json)


def _list(accounts: Access, *, as_json: bool) -> None:
    roles = {account.name: account for account in accounts.accounts()}
    now = datetime.now(UTC).timestamp()
    tokens = [
        {
            "id": token.identity,
            "name": token.account,
            "role": roles[token.account].role,
            "datasets": roles[token.account].datasets,
            "expires_at": _day(token.expires_at),
            "state": _state(token, now),
        }
        for token in accounts.tokens()
    ]
    if as_json:
        output().raw(json_text(tokens))
        return
    screen = output()
    for token in tokens:
        until = f" until {token['expires_at'][:10]}" if token["expires_at"] else ""
        screen.raw(f"{token['id']}  {token['state']:8} {token['role']:8} {token['name']}{until}")


def _state(token: Any, now: float) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "valid" if token.alive(now) else "expired"


def _day(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def _say(document: dict[str, Any], text: str, *, as_json: bool) -> None:
    if as_json:
        output().raw(json_text(document))
    else:
        errors().print(text)
