"""What `eke budget` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eke.cli.drawing import share_bar
from eke.cli.screen import Screen, output
from eke.codec.printed import budget_document, json_text

if TYPE_CHECKING:
    from eke.session import Budget

_WIDEST = 72
_INDENT = 2


def present_budget(budget: Budget, may_spend: float, delta: float | None, *, as_json: bool) -> None:
    """A budget, what you may spend of it, and with a delta the epsilon that was spent."""
    document = budget_document(budget, may_spend, delta)
    screen = output()
    if as_json:
        screen.raw(json_text(document))
        return
    show_budget(screen, budget)
    if may_spend < budget.remaining:
        screen.print(f"You may spend {may_spend:.6g} of what remains: you have a cap.", indent=2)
    if delta is not None:
        screen.print(
            f"What is spent is ({document['epsilon']:.6g}, {delta:g})-differential privacy.",
            indent=2,
        )


def show_budget(screen: Screen, budget: Budget) -> None:
    """A budget as a bar and a sentence."""
    width = min(_WIDEST, screen.width - 2 * _INDENT)
    bar = share_bar(budget.spent / budget.limit, width, unicode=screen.unicode)
    screen.print(f"[cyan]{bar}[/]", indent=_INDENT)
    screen.print(screen.escape(str(budget)), indent=_INDENT)
