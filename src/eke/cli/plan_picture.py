"""Pictures of plans: a table of strategies, and error against budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eke.cli.drawing import chart
from eke.cli.screen import Screen

if TYPE_CHECKING:
    from eke.cli.workload import PricedPlan
    from eke.planning.workload.release import Alternative
    from eke.session import PlannedRelease

_INDENT = 2
_MOST_ROWS = 12
_MOST_LINES = 4
_WIDEST = 64
_HEIGHT = 9
_STEPS = 129  # budgets in the plot, from an eighth of the planned one to eight times it
_SIGNS = "●○+×"
_PLAIN_SIGNS = "*o+x"


def show_plan(screen: Screen, offer: PricedPlan) -> None:
    """Tables of the strategies considered, the plot, and whether it can be paid."""
    plan, price = offer.plan, offer.price
    sections = plan.comparison()
    screen.print(
        f"[bold]{plan.workload.questions:,} answers[/] in {tables(len(plan.workload.targets))}, "
        f"from {plan.answers:,} noisy numbers, for {plan.measure} {plan.budget:.6g}; "
        f"root mean squared error {plan.rmse:.4g}"
    )
    for section, options in sections:
        screen.print()
        share = "" if len(sections) == 1 else f", {section.questions:,} of the answers"
        screen.print(f"Measured: [bold]{screen.escape(section.strategy)}[/]{share}", indent=_INDENT)
        screen.show(Padding(_table(screen, options), (0, 0, 0, 2 * _INDENT), expand=False))
        if len(options) > _MOST_ROWS:
            screen.print(f"[dim]and {len(options) - _MOST_ROWS} worse ones[/]", indent=2 * _INDENT)
    screen.print()
    _show_plot(screen, plan)
    screen.print()
    if price.affordable:
        screen.print(
            f"[green]Affordable[/]: it costs {price.cost:.6g}, and {price.remaining:.6g} remains.",
            indent=_INDENT,
        )
    elif price.guarded:
        screen.print(f"[yellow]Refused[/]: {screen.escape(price.guarded)}.", indent=_INDENT)
    else:
        screen.print(
            f"[yellow]Too expensive[/]: it costs {plan.measure} {price.cost:.6g}, and only "
            f"{price.remaining:.6g} remains.",
            indent=_INDENT,
        )


def _table(screen: Screen, options: Sequence[Alternative]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("strategy", overflow="fold")
    for head in ("error", "largest", "cost", "numbers"):
        table.add_column(Text(head), justify="right", no_wrap=True)
    for place, option in enumerate(options[:_MOST_ROWS]):
        cells = (
            screen.text(option.name),
            f"{option.rmse:.4g}",
            f"{option.largest:.4g}",
            f"{option.cost:.4g}",
            f"{option.answers:,}",
        )
        table.add_row(*(Text(cell) for cell in cells), style="" if place else "bold")
    return table


def tables(number: int) -> str:
    """How many tables, in words that fit."""
    return "1 table" if number == 1 else f"{number:,} tables"


def _show_plot(screen: Screen, plan: PlannedRelease) -> None:
    budgets = [plan.budget * 8.0 ** (2.0 * i / (_STEPS - 1) - 1.0) for i in range(_STEPS)]
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, budget, error in plan.errors_at(budgets):
        lines.setdefault(name, []).append((budget, error))
    if len(plan.comparison()) > 1:  # errors of one section say little about the whole
        power = 1.0 / plan.measure.order
        lines = {"this plan": [(b, plan.rmse * (plan.budget / b) ** power) for b in budgets]}
    chosen = _apart(lines)
    signs = _SIGNS if screen.unicode else _PLAIN_SIGNS
    width = min(_WIDEST, screen.width - 2 * _INDENT)
    drawn = chart(
        [(sign, lines[name]) for name, sign in zip(chosen, signs, strict=False)], width, _HEIGHT
    )
    screen.print(
        f"[dim]error against {plan.measure}, both on logarithmic scales[/]", indent=_INDENT
    )
    for line in drawn:
        screen.show(Text(" " * _INDENT + line, "cyan"))
    legend = "   ".join(f"{sign} {name}" for name, sign in zip(chosen, signs, strict=False))
    screen.print(screen.escape(legend) if not screen.unicode else legend, indent=_INDENT)


def _apart(lines: dict[str, list[tuple[float, float]]]) -> list[str]:
    """The chosen strategy and the next ones whose errors differ enough to be seen."""
    shown: list[str] = []
    for name, points in lines.items():
        if all(abs(points[0][1] / lines[other][0][1] - 1.0) > 0.1 for other in shown):
            shown.append(name)
    return shown[:_MOST_LINES]
