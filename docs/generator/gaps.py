"""What the docstrings of the public names do not say yet; a test wants none of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from docs.generator.docstring import Documented, documented
from docs.generator.sections import SECTIONS, VALUES, WITHOUT_EXAMPLE

MOST_PLAIN = 2  # parameters of a method that its name and a sentence can explain


def names() -> list[str]:
    """The names of the page, in its order."""
    return [name for section in SECTIONS for name in section.names]


def gaps(wanted: Iterable[str]) -> list[str]:
    """A line for each thing that is missing or no longer true."""
    found: list[str] = []
    for name in wanted:
        if name not in VALUES:
            own = documented(name)
            found += [f"{name}: {gap}" for gap in gaps_of(own, example=name not in WITHOUT_EXAMPLE)]
    return found


def gaps_of(own: Documented, *, example: bool) -> Iterator[str]:
    """What is missing of one object and of its members."""
    if not own.text:
        yield "no docstring"
    if example and ">>> " not in own.example:
        yield "no example"
    described = {name for name, _ in own.items("parameters")}
    if own.is_class:
        told = described | {name for name, _ in own.items("attributes")}
        yield from (f"the field {name} is not described" for name in own.fields if name not in told)
        if described:
            yield from _arguments(own)
        for member in own.members:
            yield from (f"{member.name}: {gap}" for gap in _member_gaps(member))
    else:
        yield from _arguments(own)
        if own.parameters and not described:
            yield "no section Args"


def _member_gaps(member: Documented) -> Iterator[str]:
    if not member.text:
        yield "no docstring"
    if member.items("parameters") or len(member.parameters) > MOST_PLAIN:
        yield from _arguments(member)


def _arguments(own: Documented) -> Iterator[str]:
    """Parameters that nothing is said about, and arguments that are no parameters."""
    described = {name for name, _ in own.items("parameters")}
    mentioned = set(re.findall(r"`(\w+)`", own.docstring))
    real = {parameter.name for parameter in own.parameters}
    yield from (f"{name} is not described" for name in sorted(real - described - mentioned))
    if not any(p.kind is p.VAR_KEYWORD for p in own.parameters):
        yield from (f"{name} is no parameter" for name in sorted(described - real))
