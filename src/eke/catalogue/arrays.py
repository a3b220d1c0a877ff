"""Arrays as texts, the way PostgreSQL writes them: {a,"b c",NULL}."""

from __future__ import annotations

import re
from collections.abc import Iterable

from eke.catalogue.failure import CatalogueError

_PLAIN = re.compile(r'[^{}",\\\s]+\Z')
_SPACE = re.compile(r"\s*")
_ELEMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|([^{}",]*)', re.DOTALL)


def array_text(elements: Iterable[object]) -> str:
    """The text of a list."""
    return "{" + ",".join(map(_element, elements)) + "}"


def _element(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "t" if value else "f"
    text = str(value)
    if _PLAIN.match(text) and text.upper() != "NULL":
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def array_elements(text: str) -> list[str | None]:
    """The elements of a list written as a text; a CatalogueError if it is not one."""
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        raise CatalogueError('this is not an array; write it as {a,b,"c d"}', "22P02")
    inner = stripped[1:-1]
    elements: list[str | None] = []
    place = 0
    while inner.strip():
        part = _ELEMENT.match(inner, _end(_SPACE, inner, place))
        plain = "" if part is None else (part[2] or "").strip()
        if part is None or (part[1] is None and not plain):
            raise CatalogueError('this is not an array; write it as {a,b,"c d"}', "22P02")
        if part[1] is not None:
            elements.append(re.sub(r"\\(.)", r"\1", part[1], flags=re.DOTALL))
        else:
            elements.append(None if plain.upper() == "NULL" else plain)
        place = _end(_SPACE, inner, part.end())
        if place == len(inner):
            break
        if inner[place] != ",":
            raise CatalogueError('this is not an array; write it as {a,b,"c d"}', "22P02")
        place += 1
    return elements


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    part = pattern.match(text, place)
    return place if part is None else part.end()
