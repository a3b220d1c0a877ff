"""Drawing with letters: numbers, interval bars, sparklines and budget bars, one line each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import eke

_BLOCKS = "▁▂▃▄▅▆▇█"
_SIGNS = "_.-=+*#@"


@dataclass(frozen=True, slots=True)
class Scale:
    """A stretch of numbers laid over a line of `width` letters."""

    low: float
    high: float
    width: int

    def place(self, number: float) -> int:
        """The letter that a number falls on; numbers beyond the ends fall on the ends."""
        if not self.high > self.low:
            return self.width // 2
        share = (number - self.low) / (self.high - self.low)
        return round(min(1.0, max(0.0, share)) * (self.width - 1))

    def points(self) -> list[float]:
        """The numbers in the middle of each letter."""
        step = (self.high - self.low) / max(1, self.width - 1)
        return [self.low + i * step for i in range(self.width)]


def interval_bar(low: float, value: float, high: float, scale: Scale, *, unicode: bool) -> str:
    """├────●────┤ on a scale, padded to its width."""
    left, dash, right, dot = "├─┤●" if unicode else "|-|o"
    first, last, middle = scale.place(low), scale.place(high), scale.place(value)
    line = [" "] * scale.width
    for place in range(first, last + 1):
        line[place] = dash
    line[first], line[last] = left, right
    line[middle] = dot
    return "".join(line)


def sparkline(heights: Sequence[float], *, unicode: bool) -> str:
    """One block for each height, the highest one full."""
    signs = _BLOCKS if unicode else _SIGNS
    top = max(heights, default=0.0)
    if not top > 0.0:
        return " " * len(heights)
    return "".join(signs[min(7, int(8.0 * max(0.0, h) / top))] for h in heights)


def labels_below(low: str, high: str, scale: Scale, ends: tuple[float, float]) -> str:
    """Two texts under the ends of an interval; side by side when the ends are close."""
    first, last = scale.place(ends[0]), scale.place(ends[1])
    start = max(0, first - len(low) // 2)
    end = max(start + len(low) + 2, last - len(high) // 2)
    return " " * start + low + " " * (end - start - len(low)) + high


def share_bar(share: float, width: int, *, unicode: bool) -> str:
    """A bar of which this share is full; nothing spent looks empty, all spent looks full."""
    full, empty = "█░" if unicode else "#."
    filled = min(width, max(0, round(share * width)))
    if 0.0 < share < 1.0:
        filled = min(width - 1, max(1, filled))
    return full * filled + empty * (width - filled)


def decimals(half_width: float) -> int:
    """How many decimals are worth showing next to an error of this size."""
    if not (half_width > 0.0 and math.isfinite(half_width)):
        return 2
    return min(9, max(0, 1 - math.floor(math.log10(half_width))))


def number(value: float | None, places: int) -> str:
    """A number as people read it; a dash when it is undefined."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    text = f"{value:,.{places}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0.0 else text


def shown(value: float | str | None, places: int) -> str:
    """A value of a result: a number, or the text of a date or a time."""
    return value if isinstance(value, str) else number(value, places)


def label(key: object) -> str:
    """A key of a group: a value, a bin, or what has no value."""
    if key is None:
        return "missing"
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(eke.domain.plain_label(key))


def chart(
    lines: Sequence[tuple[str, Sequence[tuple[float, float]]]], width: int, height: int
) -> list[str]:
    """Curves of positive numbers on logarithmic axes, with the ends of both axes written out.

    Each curve is a letter and its points; where two meet, the first is on top.
    """
    xs = [math.log(x) for _, points in lines for x, _ in points]
    ys = [math.log(y) for _, points in lines for _, y in points]
    ends = (f"{math.exp(max(ys)):.3g}", f"{math.exp(min(ys)):.3g}")
    margin = max(map(len, ends)) + 2
    across = Scale(min(xs), max(xs), max(8, width - margin))
    down = Scale(-max(ys), -min(ys), height)
    grid = [[" "] * across.width for _ in range(height)]
    for sign, points in reversed(lines):
        for x, y in points:
            grid[down.place(-math.log(y))][across.place(math.log(x))] = sign
    heads = [ends[0], *[""] * (height - 2), ends[1]]
    rows = [
        f"{head:>{margin - 2}} |{''.join(row)}".rstrip()
        for head, row in zip(heads, grid, strict=True)
    ]
    first, last = f"{math.exp(across.low):.3g}", f"{math.exp(across.high):.3g}"
    gap = max(1, across.width - len(first) - len(last))
    rows.append(" " * (margin - 1) + "+" + "-" * across.width)
    rows.append(" " * margin + first + " " * gap + last)
    return rows
