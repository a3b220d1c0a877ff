"""HTML for notebooks: small, self-contained, readable in light and dark themes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from eke.inference import Posterior
from eke.question.calendar import Calendar

_WIDTH, _HEIGHT, _LABELS = 360, 90, 18
MOST_ROWS = 50


def shown(value: Any) -> str:
    """A number as people read it; a date or a time is a text already."""
    return value if isinstance(value, str) else f"{value:,.6g}"


def number(value: Any, interval: tuple[Any, Any], confidence: float) -> str:
    """A number with its interval."""
    low, high = map(shown, interval)
    return (
        f"<span style='font-size:1.4em'>{shown(value)}</span> ({low} to {high} at {confidence:.4g})"
    )


def table(columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> str:
    """Rows of texts and numbers, the first of them if there are many."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:MOST_ROWS])
    more = "" if len(rows) <= MOST_ROWS else f"<small>{len(rows) - MOST_ROWS} more rows</small>"
    return f"<div style='overflow-x:auto'><table><tr>{head}</tr>{body}</table></div>{more}"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"<td style='text-align:right'>{value:,.6g}</td>"
    return f"<td>{escape('missing' if value is None else str(value))}</td>"


def framed(title: str, body: str, sentence: str) -> str:
    """What was asked, what was found, and why it cost what it cost."""
    return f"<div><b>{escape(title)}</b><br>{body}<small>{escape(sentence)}</small></div>"


def lines(text: str) -> str:
    """A text of some lines."""
    return f"<div>{'<br>'.join(escape(line) for line in text.splitlines())}</div>"


def bar(text: str, share: float) -> str:
    """A share as a bar under a sentence."""
    return (
        f"<div>{escape(text)}"
        "<div style='width:360px;max-width:100%;height:10px;border:1px solid;border-radius:5px'>"
        f"<div style='width:{100.0 * share:.2f}%;height:100%;background:currentColor;opacity:.6'>"
        "</div></div></div>"
    )


def curve(
    posterior: Posterior, interval: tuple[float, float], calendar: Calendar | None = None
) -> str:
    """The posterior as a small drawing with the interval shaded."""
    low, high = posterior.support()
    if not high > low:
        return "<br>"
    digits = 0 if high - low > 20.0 else 2
    points = np.linspace(low, high, 121)
    heights = posterior.density(points)
    top = float(heights.max()) or 1.0

    def place(x: float, y: float) -> str:
        return (
            f"{(x - low) / (high - low) * _WIDTH:.1f},{_HEIGHT - 4 - y / top * (_HEIGHT - 12):.1f}"
        )

    def mark(x: float) -> str:
        return f"{x:,.{digits}f}" if calendar is None else calendar.text(x)

    line = " ".join(place(x, y) for x, y in zip(points, heights, strict=True))
    inside = (points >= interval[0]) & (points <= interval[1])
    shade = " ".join(place(x, y) for x, y in zip(points[inside], heights[inside], strict=True))
    if inside.any():
        first, last = points[inside][0], points[inside][-1]
        shade = f"{place(first, 0)} {shade} {place(last, 0)}"
    marks = "".join(
        f"<text x='{(x - low) / (high - low) * _WIDTH:.1f}' y='{_HEIGHT + 12}' font-size='11' "
        f"text-anchor='middle' fill='currentColor'>{mark(x)}</text>"
        for x in (*interval, posterior.value)
    )
    tall = _HEIGHT + _LABELS
    return (
        f"<br><svg viewBox='0 0 {_WIDTH} {tall}' width='{_WIDTH}' height='{tall}' "
        "style='max-width:100%' role='img' aria-label='posterior density'>"
        f"<polygon points='{shade}' fill='currentColor' opacity='.2'/>"
        f"<polyline points='{line}' fill='none' stroke='currentColor' stroke-width='1.5'/>"
        f"{marks}</svg><br>"
    )
