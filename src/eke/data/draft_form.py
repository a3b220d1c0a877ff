"""Draft form: a drafted domain as YAML that reads like a form, for a curator to fill in.

Each column says what was seen of it and what to check, and each rule which others there are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from eke.domain import Domain, domain_to_document
from eke.domain.spelling import decimal_fields

_HEADER = """\
# DRAFT of a domain. Everything below was read off the data and is PRIVATE: bounds, categories, even
# the fact that a value occurs. Before you use it, check each attribute against what is publicly
# known about the table (a codebook, a form, the law), add values that could occur but did not,
# remove what only a few people have, and delete this comment. Whatever remains here is published.
#
# null:    what becomes of a missing value: never (there is none, and eke makes sure of it), drop
#          (the row is not counted), bucket (a cell of its own) or {replace: value}
# outside: the same for values that are not listed; numbers and times may also clamp to the nearest
"""
_CHECK = {
    "categorical": "every value that can occur, also if it did not, and none that only a few have",
    "integer": "the least and the largest number that can occur, not those that did",
    "numeric": "the least and the largest number that can occur, and the step they are told in",
    "decimal": "the least and the largest number that can occur, and the digits after the point",
    "binned": "edges that somebody would choose who has not seen the data",
    "boolean": "the rules only",
    "date": "the first and the last day that can occur, not those that did",
    "timestamp": "the first and the last step that can occur, not those that did, and its length",
    "time": "the first and the last step of a day that can occur, and its length",
}
_CLAMPS = ("integer", "numeric", "decimal", "binned", "date", "timestamp", "time")
_COMMENT_AT = 20  # the column where comments begin, where there is room
_BREAKS = "\x85\u2028\u2029"  # Unicode's own, which end a line of YAML


def form_text(domain: Domain, notes: Sequence[str], missing: Sequence[str] = ()) -> str:
    """The file: a note for each attribute in order, then for the columns that were left out."""
    document = domain_to_document(domain)
    lines = [_HEADER]
    if missing:
        texts = ", ".join(map(_quoted, missing))
        lines += [f"# Taken for missing: {texts}. Say so to `eke init` with --null.", ""]
    lines += [f"format: {document['format']}", "attributes:"]
    told = iter(notes)
    for name, written in document["attributes"].items():
        fields = decimal_fields(written)
        lines += ["", f"  # {_comment(next(told))}", f"  # Check: {_check(fields)}."]
        lines += [f"  {line}" for line in _entry(name, fields)]
    left_out = list(told)
    if left_out:
        lines += ["", "# Columns left out, and why:", *(f"# {_comment(one)}" for one in left_out)]
    return "\n".join(lines) + "\n"


def _check(fields: Mapping[str, Any]) -> str:
    return _CHECK.get(str(fields["type"]), "that all of it is publicly known")


def _entry(name: str, fields: Mapping[str, Any]) -> Iterator[str]:
    """One attribute, a field a line, with the choices beside each rule."""
    head = _dumped({name: None})
    if len(head) > 1:  # a name too long for one line
        yield from _dumped({name: dict(fields)})
        return
    yield head[0].removesuffix(" null")
    for field, value in fields.items():
        lines = _dumped({field: value})
        choices = _choices(field, value, str(fields["type"]))
        if choices and len(lines) == 1:
            lines = [f"{lines[0]:<{_COMMENT_AT}}  # {choices}"]
        elif choices:
            yield f"  # {choices}"
        yield from (f"  {line}" for line in lines)


def _choices(field: str, value: object, kind: str) -> str:
    """What else a rule may be; nothing for other fields."""
    if field not in ("null", "outside"):
        return ""
    rules = ["never", "drop", "bucket"]
    if field == "outside" and kind in _CLAMPS:
        rules.append("clamp")
    if field == "null" and value == "bucket":
        rules.remove("never")  # it would not be true
    others = [rule for rule in rules if rule != value]
    if not isinstance(value, Mapping):
        others.append("{replace: value}")
    seen = {"never": "none is missing", "bucket": "some are missing"}
    why = f"{seen[str(value)]}; " if field == "null" and value in seen else ""
    return f"{why}or {', '.join(others)}"


def _dumped(document: Mapping[str, Any]) -> list[str]:
    """The lines of some YAML. PyYAML escapes Unicode's line breaks only with all of Unicode."""
    inside = any(isinstance(value, (list, Mapping)) for value in document.values())
    readable = not any(one in json.dumps(document, ensure_ascii=False) for one in _BREAKS)
    text = yaml.safe_dump(
        document,
        sort_keys=False,
        allow_unicode=readable,
        width=90,
        default_flow_style=None if inside else False,  # lists on few lines, fields on their own
    )
    return str(text).rstrip("\n").split("\n")


def _comment(text: str) -> str:
    """The text on one line of YAML."""
    return "".join(f"\\u{ord(letter):04x}" if letter in _BREAKS else letter for letter in text)


def _quoted(text: str) -> str:
    return _comment(json.dumps(text, ensure_ascii=False))
