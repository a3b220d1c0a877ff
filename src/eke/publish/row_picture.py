"""Row picture: the parts of a report on rows, as HTML that is readable in light and dark.

Whatever comes from outside is escaped, and told apart from the text around it (`bdi`), so that no
name of a column and no value can be taken for markup or turn the direction of a line.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape

_CELL, _LABEL = 22, 120
_MOST_LETTERS = 17

_STYLE = """
:root { color-scheme: light dark; --back: #fbfbfa; --card: #fff; --ink: #1c2127; --quiet: #5b6570;
  --line: #d9dde1; --main: #2458b8; --soft: #e6edf9; --bad: #b3261e; --mark: #8a5200; }
@media (prefers-color-scheme: dark) { :root { --back: #14171a; --card: #1c2024; --ink: #e7eaed;
  --quiet: #a2acb6; --line: #363d44; --main: #7eaaff; --soft: #233048; --bad: #ff8f86;
  --mark: #f0b866; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.25rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 0 0 .4rem; overflow-wrap: anywhere; }
p { margin: .3rem 0; } .quiet, figcaption { color: var(--quiet); font-size: .9rem; }
dl.facts { display: grid; gap: .75rem; margin: 1rem 0 0;
  grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); }
dl.facts div { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .6rem .8rem; }
dt { color: var(--quiet); font-size: .85rem; }
dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; }
ul.said { margin: 0; padding-left: 1.2rem; }
.grid { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); }
.grid.wide { grid-template-columns: repeat(auto-fit, minmax(min(28rem, 100%), 1fr));
  margin-bottom: 1rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .8rem; min-width: 0; margin: 0; }
.bars { list-style: none; margin: .3rem 0 .5rem; padding: 0; font-size: .85rem; }
.bars li { display: grid; gap: .5rem; align-items: center; min-height: 1.35rem;
  grid-template-columns: minmax(0, 7.5rem) minmax(0, 1fr) 4.5rem; }
.bars .label { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: right;
  color: var(--quiet); }
.bars .number { text-align: right; font-variant-numeric: tabular-nums; }
.track { position: relative; height: 1rem; display: block; }
.track i { position: absolute; display: block; }
.bar { left: 0; top: .1rem; bottom: .1rem; background: var(--main); opacity: .45;
  border-radius: 2px; }
.span { top: .45rem; height: .1rem; min-width: 1px; background: var(--ink); }
.tick { top: .15rem; bottom: .15rem; width: 2px; margin-left: -1px; background: var(--ink); }
.legend .track { display: inline-block; width: 4rem; vertical-align: middle; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; width: 100%; }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--line);
  font-variant-numeric: tabular-nums; vertical-align: top; }
th { color: var(--quiet); font-weight: 600; white-space: nowrap; }
th.text, td.text { text-align: left; }
th.text { white-space: normal; }
td.text { overflow-wrap: anywhere; min-width: 12rem; }
td.short { white-space: nowrap; min-width: 0; } td.number { white-space: nowrap; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; unicode-bidi: isolate; }
svg .none { fill: none; stroke: var(--line); } svg .heat { fill: var(--main); }
svg .far { stroke: var(--bad); stroke-width: 2; fill: none; }
footer { margin: 2rem 0 1rem; border-top: 1px solid var(--line); padding-top: .75rem; }
@media print { body { background: none; } .card { break-inside: avoid; } }
"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_FOOTER = (
    "Everything in this report was released or is public: it compares published rows with released "
    "measurements, and the protected table was not looked at for it. It costs nothing, and may be "
    "given to whoever may see the rows."
)


def shown(value: float) -> str:
    """A number as people read it."""
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.3g}"


def name_of(text: str) -> str:
    """A name or a value from outside, which is text whatever it holds."""
    return f"<bdi>{_plain(text)}</bdi>"


def _plain(text: str) -> str:
    """Escaped, and without letters that nobody sees, such as those that turn a line around."""
    return escape("".join(map(_seen, text)), quote=True)


def _seen(letter: str) -> str:
    if letter.isspace():
        return " "
    return letter if letter.isprintable() else f"\\u{ord(letter):04x}"


def page(title: str, body: str) -> str:
    """The whole file."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><main>{body}"
        f'<footer class="quiet">{escape(_FOOTER)}</footer></main></body></html>\n'
    )


def heading(title: str, sentence: str, facts: Iterable[tuple[str, str]]) -> str:
    """The top: what it is, and its figures."""
    each = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts
    )
    return (
        f'<header><h1>{escape(title)}</h1><p class="quiet">{name_of(sentence)}</p>'
        f'<dl class="facts">{each}</dl></header>'
    )


def section(title: str, body: str) -> str:
    """A part with a heading."""
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def sentences(said: Iterable[str]) -> str:
    """Sentences, one below another."""
    each = "".join(f"<li>{name_of(sentence)}</li>" for sentence in said)
    return f'<ul class="said">{each}</ul>' if each else ""


def grid(cards: Iterable[str], *, wide: bool = False) -> str:
    """Cards, as many beside each other as there is room for."""
    return f'<div class="grid{" wide" if wide else ""}">{"".join(cards)}</div>'


def bars_legend(*, measured: bool) -> str:
    """What bars and lines stand for."""
    rows = '<span class="track"><i class="bar" style="width:80%"></i></span> rows'
    line = (
        '<span class="track"><i class="span" style="left:20%;width:60%"></i>'
        '<i class="tick" style="left:50%"></i></span> measured, at 95 %'
    )
    return f'<p class="quiet legend">{rows}{" &nbsp; " + line if measured else ""}</p>'


def column_card(
    name: str, bars: Sequence[tuple[str, float, float | None, float]], sentence: str
) -> str:
    """A column: a bar of rows for each value, with what was measured on it."""
    largest = max(
        (max(rows, 0.0 if at is None else at + half) for _, rows, at, half in bars), default=0.0
    )
    lines = "".join(_bar(*bar, largest=max(largest, 1e-12)) for bar in bars)
    return (
        f'<article class="card"><h3>{name_of(name)}</h3><ul class="bars">{lines}</ul>'
        f'<p class="quiet">{name_of(sentence)}</p></article>'
    )


def _bar(label: str, rows: float, measured: float | None, half: float, *, largest: float) -> str:
    def place(value: float) -> float:
        return 100.0 * min(max(value / largest, 0.0), 1.0)

    drawn, told = f'<i class="bar" style="width:{place(rows):.2f}%"></i>', ""
    if measured is not None:
        low, high = place(measured - half), place(measured + half)
        drawn += (
            f'<i class="span" style="left:{low:.2f}%;width:{high - low:.2f}%"></i>'
            f'<i class="tick" style="left:{place(measured):.2f}%"></i>'
        )
        told = f", measured {shown(measured)} ± {shown(half)}"
    title = _plain(f"{label}: {shown(rows)} in the rows{told}")
    return (
        f'<li title="{title}"><span class="label">{name_of(label)}</span>'
        f'<span class="track">{drawn}</span><span class="number">{shown(rows)}</span></li>'
    )


def heat_map(
    title: str,
    sentence: str,
    names: Sequence[str],
    values: Mapping[tuple[str, str], float],
    *,
    most: float,
) -> str:
    """A square for each pair of columns, the darker the larger its value; above `most` framed."""
    across = (len(names) - 1) * _CELL
    width, height = _LABEL + across + 4, across + _LABEL
    drawn = []
    for row, below in enumerate(names[1:]):
        y = row * _CELL
        drawn.append(
            f'<text x="{_LABEL - 6}" y="{y + 15}" text-anchor="end">{_short(below)}</text>'
        )
        for column, beside in enumerate(names[: row + 1]):
            x = _LABEL + column * _CELL
            value = values.get((beside, below), values.get((below, beside)))
            drawn.append(_square(x, y, value, f"{beside} × {below}", most))
    for column, beside in enumerate(names[:-1]):
        x, y = _LABEL + column * _CELL + 14, across + 8
        drawn.append(
            f'<text transform="translate({x} {y}) rotate(-60)" text-anchor="end">'
            f"{_short(beside)}</text>"
        )
    return (
        f'<figure class="card"><h3>{escape(title)}</h3><div class="scroll" tabindex="0">'
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title, quote=True)}">{"".join(drawn)}</svg></div>'
        f"<figcaption>{escape(sentence)}</figcaption></figure>"
    )


def _square(x: int, y: int, value: float | None, names: str, most: float) -> str:
    size = _CELL - 2
    if value is None:
        title = _plain(f"{names}: not measured together")
        return (
            f'<rect class="none" x="{x + 0.5}" y="{y + 0.5}" width="{size - 1}" '
            f'height="{size - 1}"><title>{title}</title></rect>'
        )
    strength = 0.06 + 0.9 * min(max(value / most, 0.0), 1.0)
    far = f'<rect class="far" x="{x + 1}" y="{y + 1}" width="{size - 2}" height="{size - 2}"/>'
    return (
        f'<rect class="heat" x="{x}" y="{y}" width="{size}" height="{size}" '
        f'fill-opacity="{strength:.2f}"><title>{_plain(f"{names}: {value:.2f}")}</title></rect>'
        + (far if value > most else "")
    )


def _short(text: str) -> str:
    cut = text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"
    return _plain(cut)


def _class(text: str) -> str:
    """Whether a text may be broken into lines."""
    return "text short" if len(text) <= _MOST_LETTERS else "text"


def table(
    caption: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    empty: str,
    texts: Collection[int] = (0,),
) -> str:
    """A table that scrolls inside itself; `texts` are the columns that hold no numbers."""
    if not rows:
        return f'<p class="quiet">{escape(empty)}</p>' if empty else ""

    def line(tag: str, cells: Sequence[str]) -> str:
        return "".join(
            f'<{tag} class="{_class(cell) if at in texts else "number"}">{name_of(cell)}</{tag}>'
            for at, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    return (
        f'<div class="card scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><thead><tr>{line('th', heads)}</tr></thead><tbody>{body}</tbody></table></div>"
    )
