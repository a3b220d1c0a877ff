"""Publishing from a session: plan, pay, release, and keep the rows under the request's key."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eke.engine import Vault
from eke.errors import PrivacyError, QueryError
from eke.privacy.accountant import Measure
from eke.privacy.budget import nano_floor
from eke.publish import PUBLISHERS, Published, Publisher, Setting
from eke.query import check_neighbours


@dataclass(frozen=True, slots=True)
class PublishRequest:
    """A publication as it was asked for."""

    mechanism: str
    epsilon: float | None
    rho: float | None
    options: Mapping[str, Any]
    analyst: str
    key: str | None

    @property
    def digest(self) -> str:
        """SHA-256 of what was requested: an idempotency key is bound to it."""
        body = {
            "publish": self.mechanism,
            "epsilon": self.epsilon,
            "rho": self.rho,
            "options": dict(self.options),
        }
        try:
            text = json.dumps(body, sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as problem:
            raise QueryError(
                "the options of a publication are texts, numbers and lists of them"
            ) from problem
        return hashlib.sha256(text.encode()).hexdigest()


def publish(
    vault: Vault, settings: Mapping[str, Any], measure: Measure, request: PublishRequest
) -> Published:
    """The rows of a publication; with the same key, the same rows.

    Privacy: everything is refused from public facts before anything is paid. What is released is
    charged by `Vault.release`; the rest is post-processing.
    """
    publisher = _publisher(vault, settings, measure, request)
    digest = request.digest
    key = f"once-{secrets.token_hex(16)}" if request.key is None else request.key
    rows_key = "rows-" + hashlib.sha256(key.encode()).hexdigest()
    if request.key is not None:
        kept = vault.ledger.find(request.analyst, rows_key, digest)
        if kept is not None and kept.answer is not None:
            return Published.from_text(vault.domain, kept.answer)
    stored = _stored(vault, publisher, request.analyst, key, digest)
    published = publisher.finish(stored, vault.inference_through)
    if request.key is None or publisher.rows is not None or publisher.adaptive is not None:
        return published  # rows made in the junction are in the stored text already
    text = vault.remember(request.analyst, rows_key, digest, published.to_text())
    return Published.from_text(vault.domain, text)


def _publisher(
    vault: Vault, settings: Mapping[str, Any], measure: Measure, request: PublishRequest
) -> Publisher:
    if not isinstance(request.mechanism, str) or request.mechanism not in PUBLISHERS:
        raise QueryError(
            f"there is no publication {request.mechanism!r}; there are {', '.join(PUBLISHERS)}"
        )
    amounts = {"epsilon": request.epsilon, "rho": request.rho}
    budget = amounts.pop(measure)
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
    )
    return PUBLISHERS[request.mechanism](setting, request.options)


def _stored(vault: Vault, publisher: Publisher, analyst: str, key: str, digest: str) -> str:
    """The text of the release: made now, or found under the key."""
    if publisher.plan is None:  # from history as it is
        with vault.lock:
            facts = vault.facts()
            text = publisher.stored(facts, vault.measurements, 0)
        return vault.remember(analyst, key, digest, text)
    found = vault.complete(
        analyst=analyst,
        key=key,
        digest=digest,
        answer=publisher.stored,
        rows=publisher.rows,
        adaptive=publisher.adaptive,
    )
    if found is not None:
        return found
    return vault.release(
        publisher.plan,
        analyst=analyst,
        key=key,
        digest=digest,
        answer=publisher.stored,
        rows=publisher.rows,
        adaptive=publisher.adaptive,
    )
