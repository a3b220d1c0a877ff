"""A report in one HTML file: budget over time, what was released, and answers with posteriors.

Everything in it was released before or is public; nothing is loaded from elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

from eke.privacy.record_loss import NANO
from eke.publish import Published
from eke.question import table_caveats
from eke.session.answer.answer import Answer
from eke.session.ask.claim import shown_probability
from eke.session.beginning import unit_caveats
from eke.session.guard.guarding import GuardState
from eke.session.release.released import Release
from eke.session.session import Session

_WIDTH, _HEIGHT = 720, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 14, 34

_STYLE = """
:root { color-scheme: light dark; --ink: #1b2530; --soft: #5c6b7a; --line: #d5dce3; --paper: #fff;
  --accent: #0b6e8f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa8b5; --line: #33404d;
  --paper: #12181f; --accent: #5cc3e6; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.chart { color: var(--accent); width: 100%; height: auto; }
.chart text { fill: var(--soft); font-size: 12px; }
.answer { border-top: 1px solid var(--line); padding: .8rem 0; }
.answer svg { color: var(--accent); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; width: 100%; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); }
td.number { text-align: right; font-variant-numeric: tabular-nums; } small { color: var(--soft); }
"""


@dataclass(frozen=True, slots=True)
class Charge:
    """One charge in the ledger: when, by whom, and the loss after it."""

    at: datetime
    analyst: str
    spent_after: float


def charges(session: Session) -> list[Charge]:
    """Every charge so far, in order."""
    charges = []
    for entry in session.ledger_entries():
        if entry.kind == "reserve":
            spent = entry.about["spent_after"]
            charges.append(
                Charge(
                    datetime.fromisoformat(entry.at),
                    str(entry.about["analyst"]),
                    (spent if isinstance(spent, int) else 0) / NANO,
                )
            )
    return charges


def write_report(
    session: Session,
    path: str | Path,
    answers: Sequence[Answer | Release | Published] = (),
    title: str = "Privacy budget report",
) -> Path:
    """One HTML file: budget over time, answers, everything released. Nothing in it is private.

    Args:
        session: what the report is about.
        path: the file; it is replaced.
        answers: answers, releases and published rows to be shown.
        title: its heading.

    Returns:
        where it is.

    Example:
        >>> women = session.ask(eke.count(sex="F"), within=60)
        >>> eke.write_report(session, "report.html", [women]).name
        'report.html'
    """
    budget = session.budget
    parts = [
        f"<h1>{escape(title)}</h1>",
        (
            f"<p>{escape(str(budget))}. {len(session.domain)} attributes, "
            f"{session.domain.size:,} cells, {len(session.history)} measurements.</p>"
        ),
        "<h2>Budget over time</h2>",
        budget_chart(charges(session), budget.limit, budget.measure),
    ]
    if answers:
        parts.append("<h2>Answers</h2>")
        parts += [f"<div class='answer'>{shown._repr_html_()}</div>" for shown in answers]
    parts += ["<h2>Everything released</h2>", _released(session)]
    if session.guards:
        parts += ["<h2>Guarded claims</h2>", _guarded(session.guards)]
    page = (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(parts)}</body></html>\n"
    )
    target = Path(path)
    target.write_text(page, "utf-8")
    return target


def budget_chart(steps: Sequence[Charge], limit: float, measure: str) -> str:
    """The loss after each charge as a staircase below the limit."""
    inner_width, inner_height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def x(position: float) -> float:
        return _LEFT + inner_width * position / max(1, len(steps))

    def y(spent: float) -> float:
        return _TOP + inner_height * (1.0 - min(1.0, spent / limit))

    corners, level = [f"{x(0):.1f},{y(0):.1f}"], 0.0
    for number, charge in enumerate(steps, start=1):
        corners.append(f"{x(number - 0.5):.1f},{y(level):.1f}")
        level = charge.spent_after
        corners.append(f"{x(number - 0.5):.1f},{y(level):.1f}")
    corners.append(f"{x(len(steps)):.1f},{y(level):.1f}")
    ticks = "".join(
        f"<line x1='{_LEFT}' x2='{_WIDTH - _RIGHT}' y1='{y(limit * k / 4):.1f}' "
        f"y2='{y(limit * k / 4):.1f}' stroke='var(--line)'/>"
        f"<text x='{_LEFT - 8}' y='{y(limit * k / 4) + 4:.1f}' text-anchor='end'>"
        f"{limit * k / 4:g}</text>"
        for k in range(5)
    )
    dots = "".join(
        f"<circle cx='{x(n - 0.5):.1f}' cy='{y(c.spent_after):.1f}' r='3.5' fill='currentColor'>"
        f"<title>{escape(c.analyst)}: {measure} {c.spent_after:.4g}</title></circle>"
        for n, c in enumerate(steps, start=1)
    )
    return (
        f"<svg class='chart' viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img' "
        f"aria-label='{measure} spent after each paid question'>{ticks}"
        f"<polyline points='{' '.join(corners)}' fill='none' stroke='currentColor' "
        f"stroke-width='2'/>{dots}"
        f"<text x='{_LEFT + inner_width / 2:.0f}' y='{_HEIGHT - 8}' text-anchor='middle'>"
        f"paid questions (limit {limit:g} {measure})</text></svg>"
    )


def _released(session: Session) -> str:
    rows = []
    for record in session.history.to_records():
        value, noise = f"{record['cells']} cells", "chosen"
        if record["value"] is not None:
            value = f"{record['value']:,.1f}"
        if record["noise_deviation"] is not None:
            noise = f"± {record['noise_deviation']:,.1f}"
        rows.append(
            f"<tr><td>{escape(record['analyst'])}</td><td>{escape(_said(record))}</td>"
            f"<td class='number'>{escape(str(record.get('chosen', value)))}</td>"
            f"<td class='number'>{noise}</td></tr>"
        )
    return (
        "<div class='scroll'><table><tr><th>analyst</th><th>measured</th><th>noisy value</th>"
        f"<th>noise deviation</th></tr>{''.join(rows)}</table></div>{_caveats(session)}"
    )


def _guarded(guards: Sequence[GuardState]) -> str:
    rows = [
        f"<tr><td>{state.sequence}</td><td>{escape(state.question)}</td>"
        f"<td>{escape(state.claim)}</td><td class='number'>{state.threshold:g}</td>"
        f"<td class='number'>{shown_probability(state.probability)}</td>"
        f"<td>{'closed' if state.closed else 'open'}</td><td>{escape(state.note)}</td></tr>"
        for state in guards
    ]
    return (
        "<div class='scroll'><table><tr><th>entry</th><th>question</th><th>claim</th>"
        "<th>threshold</th><th>probability</th><th>now</th><th>note</th></tr>"
        f"{''.join(rows)}</table></div>"
    )


def _said(record: Mapping[str, Any]) -> str:
    """What was measured; what is known from outside was not, and has its source."""
    source = record.get("source")
    question = str(record["question"])
    return question if source is None else f"{question} (from outside: {source})"


def _caveats(session: Session) -> str:
    """What the domain leaves open of all that was measured."""
    blocks = [measurement.query for measurement in session.history]
    if not blocks:
        return ""
    columns = {name for block in blocks for name in block.attributes}
    insides = [block.inside for block in blocks if block.inside is not None]
    said = table_caveats(session.domain, columns, insides) + unit_caveats(session.settings)
    return "".join(f"<p><small>{escape(caveat)}</small></p>" for caveat in said)
