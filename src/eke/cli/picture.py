"""Pictures: answers as a terminal shows them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from eke.cli.drawing import (
    Scale,
    decimals,
    interval_bar,
    label,
    labels_below,
    number,
    shown,
    sparkline,
)
from eke.cli.screen import Screen

if TYPE_CHECKING:
    from eke.session import Answer, Claim, Receipt

_WIDEST = 72
_NARROWEST_BAR = 12
_WIDEST_BAR = 36
_INDENT = 2
_GAP = 2
MOST_ROWS = 200
"""Of a result on the screen: nobody reads more, and --csv and --json have them all."""


def show_answer(screen: Screen, answer: Answer) -> None:
    """An answer with its interval, its posterior and what it cost."""
    screen.print(f"[bold]{screen.escape(answer.receipt.question)}[/]")
    screen.print()
    if answer.is_number:
        _show_number(screen, answer)
    else:
        _show_rows(screen, answer)
    screen.print()
    _show_receipt(screen, answer.receipt)
    show_caveats(screen, answer.caveats)


def show_caveats(screen: Screen, caveats: tuple[str, ...]) -> None:
    """What the domain leaves open, a note each."""
    for caveat in caveats:
        screen.print(f"[yellow]Note:[/] {screen.escape(caveat)}", indent=_INDENT)


def show_claim(screen: Screen, claim: Claim) -> None:
    """How probable a claim is, for each row."""
    from eke.session.ask.claim import shown_probability  # noqa: PLC0415 - slow to load

    said = f"The claim [bold]{screen.escape(claim.text)}[/] holds with"
    if claim.is_number:
        only = shown_probability(claim.probabilities[0])
        screen.print(f"{said} probability [bold]{only}[/].", indent=_INDENT)
        return
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
    for name in claim.attributes:
        table.add_column(Text(screen.text(name)), overflow="fold")
    table.add_column(Text("probability"), justify="right", overflow="fold")
    rows = list(zip(claim.keys, claim.probabilities, strict=True))
    for key, probability in rows[:MOST_ROWS]:
        keys = (screen.text(label(one)) for one in key)
        table.add_row(*map(Text, (*keys, shown_probability(probability))))
    screen.print(f"{said} these probabilities:", indent=_INDENT)
    screen.show(Padding(table, (0, 0, 0, _INDENT), expand=False))
    if len(rows) > MOST_ROWS:
        left = len(rows) - MOST_ROWS
        screen.print(f"[dim]and {left:,} more rows: --json prints all of them[/]", indent=_INDENT)


def _show_number(screen: Screen, answer: Answer) -> None:
    cell = answer.rows[0][0]
    numbers, calendar, places = cell.numbers, cell.calendar, decimals(answer.within)
    low, high = numbers.low, numbers.high
    value, first, last = (shown(one, places) for one in (cell.value, cell.low, cell.high))
    half = number(answer.within, places)
    if calendar is not None:
        half = calendar.length_text(answer.within)
    if answer.rank_error is not None:
        screen.print(
            f"[bold]{value}[/]   chosen; [dim]with probability {answer.confidence:.4g} at most "
            f"{answer.rank_error:,} records off[/]",
            indent=_INDENT,
        )
        return
    screen.print(
        f"[bold]{value}[/]   {first} to {last} "
        f"[dim]with probability {answer.confidence:.4g} ({screen.text('±')}{half})[/]",
        indent=_INDENT,
    )
    support = answer.posterior.support()
    if not support[1] > support[0]:
        return
    scale = Scale(*support, width=min(_WIDEST, screen.width - 2 * _INDENT))
    heights = [float(h) for h in answer.posterior.density(scale.points())]
    lines = (
        sparkline(heights, unicode=screen.unicode),
        interval_bar(low, numbers.value, high, scale, unicode=screen.unicode),
        labels_below(first, last, scale, (low, high)),
    )
    screen.print()
    for line, style in zip(lines, ("cyan", "bold cyan", "dim"), strict=True):
        screen.show(Text(" " * _INDENT + line.rstrip(), style))


def _show_rows(screen: Screen, answer: Answer) -> None:
    """The rows, with an interval bar for each value; the rows of a column share one scale."""
    if not answer.rows:
        screen.print("[dim]No row is left after HAVING and LIMIT.[/]", indent=_INDENT)
        return
    rows = answer.rows[:MOST_ROWS]
    columns = [
        _key_column(name, [row[place] for row in rows])
        if is_key
        else _value_column(name, [row[place] for row in rows])
        for place, (name, is_key) in enumerate(zip(answer.columns, answer.is_key, strict=True))
    ]
    bars = sum(not column.is_key for column in columns)
    taken = sum(column.width + 2 * _GAP for column in columns)
    narrow = taken - 2 * _GAP * bars > screen.width - _INDENT
    room = (screen.width - _INDENT - taken) // max(1, bars)
    width = min(_WIDEST_BAR, room) if room >= _NARROWEST_BAR else 0
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
    for column in columns:
        head = Text(screen.text(column.name))
        if column.is_key:
            table.add_column(head, overflow="fold")
            continue
        table.add_column(head, justify="right", overflow="fold")
        if not narrow:
            table.add_column(Text("low to high", "dim"), justify="right", style="dim", no_wrap=True)
        if width:
            table.add_column("", style="cyan", no_wrap=True, width=width)
    for row in range(len(rows)):
        cells: list[str] = []
        for column in columns:
            cells.append(screen.text(column.texts[row]))
            if not column.is_key and narrow:
                cells[-1] += screen.text(column.margin(row))
            elif not column.is_key:
                cells.append(screen.text(column.ranges[row]))
            if not column.is_key and width:
                cells.append(column.bar(row, width, unicode=screen.unicode))
        table.add_row(*(Text(cell) for cell in cells))
    screen.show(Padding(table, (0, 0, 0, _INDENT), expand=False))
    if len(answer.rows) > len(rows):
        screen.print(
            f"[dim]and {len(answer.rows) - len(rows):,} more rows: --csv or --json prints all of "
            "them, ORDER BY and LIMIT choose some[/]",
            indent=_INDENT,
        )


@dataclass(frozen=True, slots=True)
class _ShownColumn:
    """A column of a result as texts; `ranges` and `cells` are empty for keys."""

    name: str
    texts: list[str]
    ranges: list[str]
    cells: list[Any]

    @property
    def is_key(self) -> bool:
        return not self.ranges

    @property
    def width(self) -> int:
        """The letters it takes without its bars."""
        texts = max(len(self.name), *map(len, self.texts))
        return texts if self.is_key else texts + max(11, *map(len, self.ranges)) + _GAP

    def margin(self, row: int) -> str:
        """Half the width of an interval, for screens that have no room for both ends."""
        cell = self.cells[row]
        if not _is_drawable(cell):
            return ""
        half = _half(cell)
        if cell.calendar is not None:
            return f" ±{cell.calendar.length_text(half)}"
        return f" ±{number(half, decimals(half))}"

    def bar(self, row: int, width: int, *, unicode: bool) -> str:
        """The interval of one row on the scale of all rows."""
        cell = self.cells[row]
        if not _is_drawable(cell):
            return ""
        drawable = [one.numbers for one in self.cells if _is_drawable(one)]
        scale = Scale(min(c.low for c in drawable), max(c.high for c in drawable), width)
        drawn = cell.numbers
        return interval_bar(drawn.low, drawn.value, drawn.high, scale, unicode=unicode)


def _key_column(name: str, keys: list[object]) -> _ShownColumn:
    return _ShownColumn(name, [label(key) for key in keys], [], [])


def _value_column(name: str, cells: list[Any]) -> _ShownColumn:
    widths = [_half(cell) for cell in cells if _is_drawable(cell)]
    places = decimals(min(widths, default=0.0))
    return _ShownColumn(
        name,
        [shown(cell.value, places) for cell in cells],
        [
            "undefined" if cell.value is None else _range(cell.low, cell.high, places)
            for cell in cells
        ],
        cells,
    )


def _range(low: Any, high: Any, places: int) -> str:
    return f"{shown(low, places)} to {shown(high, places)}"


def _half(cell: Any) -> float:
    numbers = cell.numbers
    return float(numbers.high - numbers.low) / 2.0


def _is_drawable(cell: Any) -> bool:
    numbers = cell.numbers
    ends = (numbers.value, numbers.low, numbers.high)
    return all(one is not None and math.isfinite(one) for one in ends)


def _show_receipt(screen: Screen, receipt: Receipt) -> None:
    style = "green" if receipt.source == "history" else "yellow"
    word, _, rest = screen.escape(receipt.sentence()).partition(" ")
    screen.print(f"[{style}]{word}[/] {rest}", indent=_INDENT)
