"""Documents of budgets and losses as JSON. The fields are in docs/reference/http.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eke.codec.plain import label_document
from eke.privacy.record_loss import NANO
from eke.service.account import Account
from eke.session import Session

_MOST_CELLS = 1_000_000


def budget_document(session: Session, account: Account) -> dict[str, Any]:
    """The dataset's budget, and what the account may still spend of it."""
    budget, shares = session.budget, session.shares
    cap = shares.caps.get(account.name)
    spent = shares.spent.get(account.name, 0)
    left = budget.limit_nano - budget.spent_nano
    may_spend = left if cap is None else min(left, max(0, cap - spent))
    document = {
        **budget.to_dict(),
        "yours": {
            "spent": spent / NANO,
            "cap": None if cap is None else cap / NANO,
            "remaining": may_spend / NANO,
        },
    }
    if account.role != "analyst":
        names = sorted({*shares.spent, *shares.caps})
        document["analysts"] = [
            {
                "name": name,
                "spent": shares.spent.get(name, 0) / NANO,
                "cap": shares.caps[name] / NANO if name in shares.caps else None,
            }
            for name in names
        ]
    return document


def timeline_document(session: Session, who: str | None) -> list[dict[str, Any]]:
    """How loss and limit went, entry by entry; with a name, only that analyst is named."""
    entries: list[dict[str, Any]] = []
    limit = spent = 0
    for entry in session.ledger_entries():
        if entry.kind in ("genesis", "limit"):
            limit = int(str(entry.about["limit"]))
        elif entry.kind == "reserve":
            spent = int(str(entry.about["spent_after"]))
        else:
            continue
        analyst = entry.about.get("analyst")
        entries.append(
            {
                "sequence": entry.sequence,
                "at": entry.at,
                "spent": spent / NANO,
                "limit": limit / NANO,
                "analyst": analyst if who is None or analyst == who else None,
            }
        )
    return entries


def attribute_document(session: Session) -> list[dict[str, Any]] | None:
    """For each attribute the largest loss of a record by its value; None for large domains."""
    domain = session.domain
    if domain.size > _MOST_CELLS:
        return None
    losses = session.history.cell_losses() + _flat_loss(session)
    attributes = []
    for place, (name, attribute) in enumerate(domain.attributes):
        others = tuple(axis for axis in range(losses.ndim) if axis != place)
        worst = losses.max(axis=others)
        labels = [label_document(label) for label in attribute.labels]
        attributes.append({"name": name, "labels": labels, "losses": worst.tolist()})
    return attributes


def _flat_loss(session: Session) -> float:
    """What every record lost, whatever its values: scores of rows and private choices."""
    plans = [entry.payload["plan"] for entry in session.ledger_entries() if entry.kind == "reserve"]
    kinds = ("row_loss", "later_loss")
    return (
        sum(int(p.get(kind, 0)) for p in plans if isinstance(p, Mapping) for kind in kinds) / NANO
    )
