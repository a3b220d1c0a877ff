"""Curating: accounts, tokens, limits, caps and new datasets.

A curator who sees some datasets only curates these, and the accounts that see nothing else; who may
spend how much of a dataset is for whoever curates the dataset to say.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path as FilePath
from typing import Any

from fastapi import APIRouter, Request

from eke.codec.plain import finite
from eke.data import draft_domain
from eke.domain import domain_from_document, domain_to_document
from eke.errors import DataError, ServiceError
from eke.privacy.unit import Unit
from eke.service.account import Account
from eke.service.body import (
    Drafted,
    NewAccount,
    NewCap,
    NewDataset,
    NewLimit,
    NewSettings,
    NewToken,
    NewUnit,
    NewView,
    Promised,
)
from eke.service.dataset import NAME
from eke.service.document import budget_document
from eke.service.failure import Problem
from eke.service.log import log
from eke.service.permission import (
    CURATING,
    AccountName,
    Dataset,
    TokenName,
    Who,
    reached_account,
    require_grantable,
    require_whole_server,
    roles,
)
from eke.service.state import State, state_of
from eke.session import View, create

router = APIRouter(prefix="/api/v1", tags=["curating"])
_TABLES = re.compile(r"[^/\\\0]+\.(csv|tsv|csv\.gz|parquet|duckdb)")


@router.get("/accounts", **roles(*CURATING))
def accounts(request: Request, who: Who) -> dict[str, Any]:
    """The accounts within the caller's reach, with what is known of their tokens."""
    access = state_of(request).access
    settings = access.all_settings()
    tokens: dict[str, list[dict[str, Any]]] = {}
    for token in access.tokens():
        tokens.setdefault(token.account, []).append(
            {
                "id": token.identity,
                "made_at": _time(token.made_at),
                "expires_at": _time(token.expires_at),
                "revoked_at": _time(token.revoked_at),
            }
        )
    return {
        "accounts": [
            {
                "name": account.name,
                "role": account.role,
                "datasets": None if account.datasets is None else list(account.datasets),
                "settings": settings.get(account.name, {}),
                "tokens": tokens.get(account.name, []),
            }
            for account in access.accounts()
            if who.reaches(account)
        ]
    }


@router.post("/accounts", status_code=201, **roles(*CURATING))
def new_account(request: Request, who: Who, body: NewAccount) -> dict[str, Any]:
    """A new account and its first token, which is shown here and never again."""
    access = state_of(request).access
    listed = None if body.datasets is None else tuple(body.datasets)
    try:
        account = Account(body.name, body.role, listed)
    except ServiceError as problem:
        raise Problem(422, "InvalidRequest", str(problem)) from None
    require_grantable(who, account)
    access.add(account)
    log("account added", account=body.name, role=body.role, by=who.name)
    return {"name": body.name, "token": access.new_token(body.name, body.days).text}


@router.post("/accounts/{account}/tokens", status_code=201, **roles(*CURATING))
def new_token(request: Request, who: Who, account: AccountName, body: NewToken) -> dict[str, Any]:
    """A further token of an account, which is shown here and never again."""
    access = state_of(request).access
    reached_account(access, who, account)
    token = access.new_token(account, body.days)
    log("token made", account=account, token=token.identity, by=who.name)
    return {"name": account, "token": token.text}


@router.put("/accounts/{account}/settings", **roles(*CURATING))
def change_settings(
    request: Request, who: Who, account: AccountName, body: NewSettings
) -> dict[str, Any]:
    """Replace what an account's connections of PostgreSQL's protocol begin with."""
    access = state_of(request).access
    reached_account(access, who, account)
    try:
        access.change_settings(account, body.settings)
    except ServiceError as problem:
        raise Problem(422, "InvalidRequest", str(problem)) from None
    log("settings changed", account=account, by=who.name)
    return {"name": account, "settings": access.settings(account)}


@router.delete("/tokens/{token}", status_code=204, **roles(*CURATING))
def revoke(request: Request, who: Who, token: TokenName) -> None:
    """End a token and its browser sessions, at once and for good."""
    access = state_of(request).access
    holder = access.holder(token)
    if holder is None or not who.reaches(holder):
        raise Problem(404, "NotFound", "there is no such token, or it is not yours to revoke")
    access.revoke(token)
    log("token revoked", token=token, by=who.name)


@router.put("/datasets/{name}/limit", **roles(*CURATING))
def change_limit(session: Dataset, who: Who, body: NewLimit) -> dict[str, Any]:
    """Replace the limit; the change is an entry of the ledger."""
    session.change_limit(body.limit, by=who.name)
    return budget_document(session, who)


@router.put("/datasets/{name}/caps/{account}", **roles(*CURATING))
def change_cap(session: Dataset, who: Who, account: AccountName, body: NewCap) -> dict[str, Any]:
    """Let an analyst spend at most so much; the change is an entry of the ledger."""
    session.change_cap(account, body.cap, by=who.name)
    return budget_document(session, who)


@router.get("/files", **roles(*CURATING, also=require_whole_server))
def files(request: Request) -> dict[str, Any]:
    """Tables in the server's folder that a dataset can be made of."""
    folder = _folder(state_of(request))
    names = (path.name for path in folder.iterdir() if path.is_file())
    return {"files": sorted(name for name in names if _TABLES.fullmatch(name))}


@router.post("/drafts", **roles(*CURATING, also=require_whole_server))
def draft(request: Request, body: Drafted) -> dict[str, Any]:
    """A domain drafted from the table itself: private until a curator has checked every value."""
    table = _table_of(state_of(request), body)
    try:
        drafted = draft_domain(table)
    except DataError as error:
        told = str(error) if isinstance(table, View) else "this file cannot be read as a table"
        raise Problem(422, "InvalidRequest", told) from None
    return finite({"domain": domain_to_document(drafted.domain), "notes": list(drafted.notes)})


@router.post("/promises", **roles(*CURATING, also=require_whole_server))
def promise(request: Request, body: Promised) -> dict[str, Any]:
    """What a dataset of a view would protect, and which of its tables would count as public.

    Privacy: It follows from the text of the view alone; no table is read.
    """
    view = _view(state_of(request), body.view)
    promised = view.promise(_unit(body.unit), body.neighbours)
    return {
        "sentence": promised.sentence(),
        "protected": list(promised.protected),
        "public": list(promised.public),
    }


@router.post("/datasets", status_code=201, **roles(*CURATING, also=require_whole_server))
def new_dataset(request: Request, who: Who, body: NewDataset) -> dict[str, Any]:
    """A new protected dataset, made from a file in the server's folder or a view over several."""
    state = state_of(request)
    table = _table_of(state, body)
    if not NAME.fullmatch(body.name):
        raise Problem(422, "InvalidRequest", "a name has letters, digits or any of . _ -")
    if state.datasets.get(body.name) is not None:
        raise ServiceError(f"there is a dataset {body.name!r} already")
    domain = domain_from_document(body.domain)
    try:
        session = create(
            _folder(state) / f"{body.name}.eke",
            table,
            domain,
            epsilon=body.epsilon,
            rho=body.rho,
            neighbours=body.neighbours,
            unit=_unit(body.unit),
            analyst=who.name,
        )
    except DataError as error:  # of the table that the curator names, not of one that is served
        raise Problem(422, "InvalidRequest", str(error)) from None
    session = state.datasets.offer(body.name, session)
    log("dataset made", dataset=body.name, by=who.name)
    return {"name": body.name, "budget": session.budget.to_dict()}


def _folder(state: State) -> FilePath:
    if state.settings.folder is None:
        raise ServiceError("this server makes no datasets; start it with --folder")
    return state.settings.folder


def _table_of(state: State, body: Drafted | NewDataset) -> FilePath | View:
    """The file or the view that a curator names."""
    return _table(state, body.file or "") if body.view is None else _view(state, body.view)


def _view(state: State, named: NewView) -> View:
    """The view that a curator names.

    Privacy: The SQL of a view names tables, and each of these is a file in the folder that the
    curator could protect by itself; nothing in the text can name another.
    """
    tables = {name: _table(state, file) for name, file in named.tables.items()}
    try:
        return View(named.sql, tables)
    except DataError as error:  # of what the curator wrote: no table was read
        raise Problem(422, "InvalidRequest", str(error)) from None


def _unit(named: NewUnit | None) -> Unit | None:
    return None if named is None else Unit(named.column, named.rows)


def _table(state: State, name: str) -> FilePath:
    """The file of this name in the folder: never outside it, never a link."""
    path = _folder(state) / name
    if not _TABLES.fullmatch(name) or not path.is_file() or path.is_symlink():
        raise Problem(422, "InvalidRequest", "there is no table of this name in the folder")
    return path


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
