"""Publishing from a session: plan, pay, release, and keep the rows under the request's key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from eke.engine import Stale, Vault, told
from eke.errors import FactError, PrivacyError, QueryError
from eke.history import lasting
from eke.history.outside import in_force, last_told
from eke.inference import known_exactly
from eke.inference.progress import Progress, Stopped, silent, stoppable
from eke.planning import Plan
from eke.privacy.budget import nano_floor
from eke.privacy.measure import Measure
from eke.publish import MOST_ROWS, PUBLISHERS, Published, Publisher, Setting
from eke.publish.patience import check_patience
from eke.query import check_neighbours
from eke.session.beginning import beginning_of
from eke.session.publish.basis import with_basis
from eke.session.single_use import single_use

# What `progress` raises at one of the first two ends a publication, and nothing was spent. Later,
# the charge stays, and the same key goes on with what was drawn so far.
CHECKING, PAYING, MEASURING, MAKING = "checking", "paying", "measuring", "making rows"
_MEASURED, _MADE = 0.15, 0.8  # of the whole, where measuring begins and ends


@dataclass(frozen=True, slots=True)
class PublishRequest:
    """A publication as it was asked for."""

    mechanism: str
    epsilon: float | None
    rho: float | None
    options: Mapping[str, Any]
    analyst: str
    key: str | None
    most_rows: int | None = None  # that whoever makes them allows; no part of what was asked

    @property
    def digest(self) -> str:
        """SHA-256 of what was requested: an idempotency key is bound to it."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def text(self) -> str:
        """What was requested, as JSON."""
        body = {
            "publish": self.mechanism,
            "epsilon": self.epsilon,
            "rho": self.rho,
            "options": dict(self.options),
        }
        try:
            return json.dumps(body, sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as problem:
            raise QueryError(
                "the options of a publication are texts, numbers and lists of them"
            ) from problem


def rows_key(key: str) -> str:
    """The key under which rows are kept when the text of their release does not hold them."""
    return "rows-" + hashlib.sha256(key.encode()).hexdigest()


def publish(
    vault: Vault,
    settings: Mapping[str, Any],
    measure: Measure,
    request: PublishRequest,
    progress: Progress = silent,
) -> Published:
    """The rows of a publication; with the same key, the same rows.

    Privacy: everything is refused from public facts before anything is paid. What is released is
    charged by `Vault.release`; the rest is post-processing.
    """
    try:
        return _published(vault, settings, measure, request, stoppable(progress))
    except Stopped as stopped:
        raise stopped.reason from None


def _published(
    vault: Vault,
    settings: Mapping[str, Any],
    measure: Measure,
    request: PublishRequest,
    progress: Progress,
) -> Published:
    progress(CHECKING, 0.0)
    told_by = _told_by(vault)
    publisher = _publisher(vault, settings, measure, request)
    digest = request.digest
    key = single_use() if request.key is None else request.key
    if request.key is not None:
        earlier = vault.ledger.find(request.analyst, rows_key(key), digest)
        if earlier is not None and earlier.answer is not None:
            kept_rows = Published.from_text(vault.domain, told(earlier.answer))
            return with_basis(kept_rows, vault, settings, request.analyst, key)
    progress(PAYING, 0.05)
    stored = None
    while stored is None:  # what is public may change until it is charged, and rarely does
        try:
            stored = _stored(vault, publisher, request, key, progress, told_by=told_by)
        except Stale:
            told_by = _told_by(vault)
            publisher = _publisher(vault, settings, measure, request)
    progress(MAKING, _MADE)
    published = publisher.finish(stored, vault.inference_through)
    if request.key is not None and not publisher.stores_rows:
        text = vault.remember(request.analyst, rows_key(key), digest, published.to_text())
        published = Published.from_text(vault.domain, text)
    based = with_basis(published, vault, settings, request.analyst, key)
    is_kept = request.key is not None or publisher.stores_rows
    return based if is_kept else replace(based, sequence=None)


def publication_plan(
    vault: Vault, settings: Mapping[str, Any], measure: Measure, request: PublishRequest
) -> Plan | None:
    """What a publication would measure, None for nothing; raises for whatever is wrong with it.

    A key that belongs to another request is wrong, too.
    """
    publisher = _publisher(vault, settings, measure, request)
    known = None
    if request.key is not None:
        known = vault.ledger.find(request.analyst, request.key, request.digest)
    if known is None:
        check_patience(publisher.seconds, request.options)
    return publisher.plan


def _publisher(
    vault: Vault, settings: Mapping[str, Any], measure: Measure, request: PublishRequest
) -> Publisher:
    if not isinstance(request.mechanism, str) or request.mechanism not in PUBLISHERS:
        raise QueryError(
            f"there is no publication {request.mechanism!r}; there are {', '.join(PUBLISHERS)}"
        )
    amounts = {"epsilon": request.epsilon, "rho": request.rho}
    budget = amounts.pop(measure.name)
    free = request.options.get("from_history") is True
    if free and (request.epsilon is not None or request.rho is not None):
        raise PrivacyError("from_history=True spends nothing; leave epsilon and rho out")
    if not free and (budget is None or next(iter(amounts.values())) is not None):
        raise PrivacyError(
            f"this dataset counts its loss in {measure}: say how much the publication may cost "
            f"with {measure}=..."
        )
    setting = Setting(
        domain=vault.domain,
        measure=measure,
        neighbours=check_neighbours(str(settings["neighbours"])),
        budget=0 if budget is None else nano_floor(budget),
        public_rows=settings["public_rows"],
        publishes_rows=vault.publishes_rows,
        rows_per_unit=vault.rows_per_unit,
        most_rows=min(request.most_rows or MOST_ROWS, MOST_ROWS),
    )
    make = PUBLISHERS[request.mechanism]
    publisher: Publisher | FactError
    try:
        publisher = make(_with_facts(setting, vault, settings), request.options)
    except FactError as refused:
        publisher = refused
    known = None
    if request.key is not None:
        known = vault.ledger.find(request.analyst, request.key, request.digest)
    if known is not None:  # the rows keep to what was public when they were paid for
        with suppress(FactError):
            then = _with_facts(setting, vault, settings, known.sequence)
            return make(then, request.options)
    if isinstance(publisher, FactError):
        raise publisher
    return publisher


def _told_by(vault: Vault) -> int:
    """The last entry about what is public: rows keep to what was so when they were charged."""
    return last_told(vault.snapshot().all_outside)


def _with_facts(
    setting: Setting, vault: Vault, settings: Mapping[str, Any], through: int | None = None
) -> Setting:
    """The setting with what is public after an entry of the ledger; without one, now."""
    outside = in_force(vault.snapshot().all_outside, through)
    exactly = known_exactly(vault.domain, beginning_of(settings).public_rows, outside)
    return replace(setting, facts=exactly.facts, known_total=exactly.total)


def _stored(
    vault: Vault,
    publisher: Publisher,
    request: PublishRequest,
    key: str,
    tell: Progress,
    *,
    told_by: int,
) -> str:
    """The text of the release: made now, or found under the key.

    Raises `Stale`, and nothing was spent, if what is public has changed after the entry `told_by`.
    """
    analyst, digest = request.analyst, request.digest
    if publisher.plan is None:  # from history as it is
        now = vault.snapshot()
        text = publisher.stored(now.facts, lasting(now.measurements), 0)
        return vault.remember(analyst, key, digest, text, {"purpose": request.text})

    def measuring(_: str, share: float) -> None:
        tell(MEASURING, _MEASURED + (_MADE - _MEASURED) * share)

    release: dict[str, Any] = {
        "analyst": analyst,
        "key": key,
        "digest": digest,
        "answer": publisher.stored,
        "measuring": publisher.measuring,
        "progress": measuring,
    }
    completed = vault.complete(**release)
    if completed is not None:
        return completed
    check_patience(publisher.seconds, request.options)
    plan = replace(publisher.plan, purpose=request.text)
    return vault.release(plan, told_by=told_by, **release)
