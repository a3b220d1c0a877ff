"""The page of Python as Markdown: a heading for each name, prose and examples from docstrings."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from docs.generator.docstring import Documented, documented
from docs.generator.sections import FIRST, HEAD, HIDDEN, SECTIONS, SHOWN, STAGE, VALUES

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "python.md"
_WIDTH = 120
_AS_THEY_ARE = ("True", "False", "None")
_PAGE_NAME = re.compile(r"docs/[\w/-]+\.md(?:#[\w-]+)?")
_WHOLE = re.compile(r"`[^`]+`|\[[^\]]+\]\([^)]+\)")  # code and links are not broken over lines


def page() -> str:
    """The whole page."""
    parts = [f"{HEAD}\n```python\n{STAGE}```"]
    for section in SECTIONS:
        parts.append(f"## {section.title}")
        parts += [_filled(section.text)] if section.text else []
        for name in section.names:
            parts += entry(documented(name), SHOWN.get(name))
    return "\n\n".join(parts) + "\n"


def entry(own: Documented, shown: tuple[str, ...] | None = None) -> Iterator[str]:
    """The paragraphs about one name; of its members all, or those to be shown."""
    yield f"### {own.name.replace('_', chr(92) + '_') if own.name.startswith('__') else own.name}"
    if own.signature != own.name:
        yield f"`{own.signature}`"
    if own.name in VALUES:
        yield VALUES[own.name]
    yield from _described(own)
    members = [m for m in own.members if m.name not in HIDDEN] if own.is_class else []
    listed = [m for m in members if shown is None or m.name in shown]
    bullets = dict(own.items("attributes"))
    bullets |= {m.signature: " ".join(m.text) for m in listed if not _is_long(m)}
    if bullets:
        first = [name for name in FIRST.get(own.name, ()) if name in bullets]
        lines = [_item(name, bullets[name]) for name in dict.fromkeys([*first, *bullets])]
        yield from ["Its members:"] if own.items("parameters") else []
        yield "\n".join(lines)
    if own.example:
        yield _fenced(own.example)
    for member in filter(_is_long, listed):
        yield f"#### {own.name}.{member.name}"
        yield f"`{member.signature}`"
        yield from _described(member)
        if member.example:
            yield _fenced(member.example)


def _is_long(member: Documented) -> bool:
    """Whether a member has a heading of its own, not a line in a list."""
    return bool(member.items("parameters") or member.example)


def _described(own: Documented) -> Iterator[str]:
    """A docstring in its own order: prose, arguments, what it gives, and what it raises."""
    for section in own.sections:
        match section.kind.value:
            case "text":
                yield from ("\n".join(_wrapped(part)) for part in _paragraphs(section.value))
            case "parameters":
                yield "\n".join(_item(name, text) for name, text in own.items("parameters"))
            case "returns":
                yield _filled(f"Returns {own.returns}")
            case "raises":
                told = (f"`{name}` {text.rstrip('.')}" for name, text in own.items("raises"))
                yield _filled(f"Raises {'; '.join(told)}.")


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a text; the first line of a docstring is no paragraph of its own."""
    first, *rest = text.split("\n\n")
    if rest and "\n" not in first and not rest[0].startswith(("- ", "Privacy:")):
        return [f"{first}\n{rest[0]}", *rest[1:]]
    return [first, *rest]


def _item(name: str, text: str) -> str:
    """A line of a list."""
    return _filled(f"- `{name}`: {_lowered(text)}", "  ")


def _lowered(text: str) -> str:
    """The text with a small letter first, but for names and values of Python."""
    word = re.split(r"\W", text, maxsplit=1)[0]
    plain = word[1:].islower() or len(word) == 1
    return text[0].lower() + text[1:] if plain and word not in _AS_THEY_ARE else text


def _wrapped(paragraph: str) -> Iterator[str]:
    """A paragraph, or a list, in lines that are not too long."""
    for part in re.split(r"\n(?=- )", paragraph):
        yield _filled(part, "  " if part.startswith("- ") else "")


def _filled(text: str, indent: str = "") -> str:
    """Text in lines of at most the page's width; pages it names become links."""
    plain = " ".join(text.replace("``", "`").split())
    linked = _PAGE_NAME.sub(lambda found: _link(found[0]), plain)
    whole = _WHOLE.sub(lambda found: found[0].replace(" ", "\0"), linked)
    lines = textwrap.fill(
        whole,
        _WIDTH,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines.replace("\0", " ")


def _link(name: str) -> str:
    """A link to a page of the documentation, under its title or that of the place in it."""
    path, _, anchor = name.partition("#")
    text = (ROOT / path).read_text("utf-8")
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    (title, *_) = [t for t in titles if not anchor or _anchor(t) == anchor]
    short = title.partition(":")[0]
    return f"[{_lowered(short)}](../{name.removeprefix('docs/')})".replace("(../reference/", "(")


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _fenced(example: str) -> str:
    return f"```pycon\n{example.replace('<BLANKLINE>', '')}\n```"
