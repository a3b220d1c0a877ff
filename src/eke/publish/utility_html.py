"""The utility report as HTML: a table and bars, drawn in place, with the warning on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _ROW, _LABELS = 480, 18, 200


def page(warning: str, figures: Mapping[str, float], charts: str) -> str:
    """Warning, figures and charts as one block."""
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td style='text-align:right'>{value:,.4g}</td></tr>"
        for name, value in figures.items()
    )
    return f"<div><p><b>{escape(warning)}</b></p><table>{rows}</table>{charts}</div>"


def bars(title: str, values: Sequence[tuple[str, float]], largest: float = 2.0) -> str:
    """A horizontal bar for each value, from 0 to the largest possible one."""
    if not values:
        return ""
    drawn = "".join(
        f"<text x='{_LABELS - 6}' y='{_ROW * i + 13}' text-anchor='end' font-size='12' "
        f"fill='currentColor'>{escape(name)}</text>"
        f"<rect x='{_LABELS}' y='{_ROW * i + 3}' height='{_ROW - 6}' fill='currentColor' "
        f"opacity='.6' width='{(_WIDTH - _LABELS - 50) * min(value / largest, 1.0):.1f}'/>"
        f"<text x='{_WIDTH - 44}' y='{_ROW * i + 13}' font-size='12' "
        f"fill='currentColor'>{value:.3f}</text>"
        for i, (name, value) in enumerate(values)
    )
    tall = _ROW * len(values) + 4
    return (
        f"<p>{escape(title)}</p><svg viewBox='0 0 {_WIDTH} {tall}' width='{_WIDTH}' "
        f"height='{tall}' style='max-width:100%' role='img' aria-label='{escape(title)}'>"
        f"{drawn}</svg>"
    )
