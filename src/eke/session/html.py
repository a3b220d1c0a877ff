"""HTML for notebooks: small, self-contained, readable in light and dark themes."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from eke.inference import Posterior
    from eke.session.answer import Answer, TableAnswer
    from eke.session.budget import Budget
    from eke.session.history import History
    from eke.session.preview import Preview
    from eke.session.sql_answer import SqlAnswer

_WIDTH, _HEIGHT, _LABELS = 360, 90, 18
_MOST_ROWS = 50


def answer(shown: Answer) -> str:
    """An answer with its posterior drawn."""
    low, high = shown.interval
    tag = "free" if shown.free else "paid"
    return (
        f"<div><b>{escape(shown.receipt.question)}</b><br>"
        f"<span style='font-size:1.4em'>{shown.value:,.6g}</span> "
        f"({low:,.6g} to {high:,.6g} at {shown.confidence:.4g}) · {tag}, "
        f"cost {shown.receipt.measure} {shown.cost:.6g}"
        f"{curve(shown.posterior, shown.interval)}"
        f"<small>{escape(shown.receipt.sentence())}</small></div>"
    )


def table(shown: TableAnswer) -> str:
    """A table of answers."""
    head = "".join(f"<th>{escape(n)}</th>" for n in (*shown.attributes, "value", "low", "high"))
    rows = []
    for key, value, (low, high) in list(
        zip(shown.keys, shown.values, shown.intervals, strict=True)
    )[:_MOST_ROWS]:
        cells = [*(escape("missing" if k is None else str(k)) for k in key)]
        texts = "".join(f"<td>{c}</td>" for c in cells)
        numbers = "".join(f"<td style='text-align:right'>{v:,.6g}</td>" for v in (value, low, high))
        rows.append(f"<tr>{texts}{numbers}</tr>")
    return _framed(shown, head, rows)


def result(shown: SqlAnswer) -> str:
    """The result of a statement."""
    head = "".join(f"<th>{escape(name)}</th>" for name in shown.flat_columns)
    rows = []
    for row in shown.flat_rows()[:_MOST_ROWS]:
        cells = "".join(
            f"<td style='text-align:right'>{v:,.6g}</td>"
            if isinstance(v, float)
            else f"<td>{escape('missing' if v is None else str(v))}</td>"
            for v in row
        )
        rows.append(f"<tr>{cells}</tr>")
    return _framed(shown, head, rows)


def _framed(shown: TableAnswer | SqlAnswer, head: str, rows: list[str]) -> str:
    more = "" if len(shown) <= _MOST_ROWS else f"<small>{len(shown) - _MOST_ROWS} more rows</small>"
    return (
        f"<div><b>{escape(shown.receipt.question)}</b>"
        f"<div style='overflow-x:auto'><table><tr>{head}</tr>{''.join(rows)}</table></div>"
        f"{more}<small>{escape(shown.receipt.sentence())}</small></div>"
    )


def preview(shown: Preview) -> str:
    """A price."""
    return f"<div>{'<br>'.join(escape(line) for line in shown.explain().splitlines())}</div>"


def budget(shown: Budget) -> str:
    """A budget as a bar."""
    share = 100.0 * shown.spent / shown.limit
    return (
        f"<div>{escape(str(shown))}"
        "<div style='width:360px;max-width:100%;height:10px;border:1px solid;border-radius:5px'>"
        f"<div style='width:{share:.2f}%;height:100%;background:currentColor;opacity:.6'></div>"
        "</div></div>"
    )


def history(shown: History) -> str:
    """The latest measurements."""
    frame = shown.to_pandas()
    if frame.empty:
        return "<div>No measurement was released yet.</div>"
    return str(frame.tail(_MOST_ROWS).to_html(index=False))


def curve(posterior: Posterior, interval: tuple[float, float]) -> str:
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

    line = " ".join(place(x, y) for x, y in zip(points, heights, strict=True))
    inside = (points >= interval[0]) & (points <= interval[1])
    shade = " ".join(place(x, y) for x, y in zip(points[inside], heights[inside], strict=True))
    if inside.any():
        first, last = points[inside][0], points[inside][-1]
        shade = f"{place(first, 0)} {shade} {place(last, 0)}"
    marks = "".join(
        f"<text x='{(x - low) / (high - low) * _WIDTH:.1f}' y='{_HEIGHT + 12}' font-size='11' "
        f"text-anchor='middle' fill='currentColor'>{x:,.{digits}f}</text>"
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
