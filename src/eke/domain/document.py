"""The readable file form of a domain: YAML or JSON that round-trips, for a curator to edit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from eke.domain.attribute import Attribute
from eke.domain.kinds import KINDS
from eke.domain.product import Domain
from eke.domain.rule import Replace, Rule
from eke.errors import DomainError

FORMAT = "eke-domain/1"


def domain_to_document(domain: Domain) -> dict[str, Any]:
    """Plain dicts, lists, strings and numbers that say all there is to know of a domain."""
    return {
        "format": FORMAT,
        "attributes": {name: _attribute_document(a) for name, a in domain.attributes},
    }


def domain_from_document(document: object) -> Domain:
    """The domain that a document describes; whatever is unknown or missing there is an error."""
    if not isinstance(document, Mapping) or not isinstance(document.get("attributes"), Mapping):
        raise DomainError("a domain file needs a top-level mapping 'attributes'")
    if document.get("format", FORMAT) != FORMAT:
        raise DomainError(f"unknown domain format {document.get('format')!r}; expected {FORMAT}")
    unknown = sorted(str(key) for key in document if key not in ("format", "attributes"))
    if unknown:
        raise DomainError(f"unknown keys in the domain file, remove them: {', '.join(unknown)}")
    return Domain({k: _attribute(k, v) for k, v in document["attributes"].items()})


def write_domain(domain: Domain, path: str | Path) -> None:
    """Write YAML, or JSON when the name ends in .json."""
    document = domain_to_document(domain)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if Path(path).suffix != ".json":
        # PyYAML does not escape Unicode's own line breaks unless it escapes all of Unicode.
        readable = not any(line_break in text for line_break in "\x85\u2028\u2029")
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=readable, width=100)
    Path(path).write_text(text, "utf-8", newline="\n")


def read_domain(path: str | Path) -> Domain:
    """The domain described in a YAML or JSON file."""
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise DomainError(f"cannot read the domain file {path}: {problem}") from problem
    try:
        return domain_from_document(_parsed(text))
    except DomainError as problem:
        raise DomainError(f"{path}: {problem}") from problem


def _parsed(text: str) -> object:
    """Whatever the text holds, as JSON if it is that, else as YAML.

    JSON comes first because PyYAML reads JSON's 1e-05 as a text and refuses some characters.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except DomainError:
        raise
    except (ValueError, RecursionError):
        pass
    try:
        return yaml.load(text, Loader=_UniqueLoader)  # noqa: S506 - a SafeLoader
    except DomainError:
        raise
    except _YAML_PROBLEMS as problem:
        raise DomainError(f"neither YAML nor JSON: {problem}") from problem


# A scalar with an explicit or implicit tag (2020-13-45, !!bool maybe) fails in its constructor,
# which raises Python's own errors.
_YAML_PROBLEMS = (
    yaml.YAMLError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    RecursionError,
)


def _unique(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """The mapping of these pairs; a key given twice is an error, not the last one's victory."""
    found: dict[Any, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DomainError(f"the key {key!r} is given twice; keep one")
        found[key] = value
    return found


class _UniqueLoader(yaml.SafeLoader):
    """YAML's plain types only, each key once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        scalars = (key for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        _unique((key.value, None) for key in scalars)
        return super().construct_mapping(node, deep)


def _rule_document(rule: Rule) -> object:
    return {"replace": rule.value} if isinstance(rule, Replace) else rule


def _attribute_document(attribute: Attribute) -> dict[str, Any]:
    return {
        "type": attribute.kind,
        **attribute.fields(),
        "null": _rule_document(attribute.null),
        "outside": _rule_document(attribute.outside),
    }


def _attribute(name: object, document: object) -> Attribute:
    if not isinstance(document, Mapping):
        raise DomainError(f"attribute {name!r} must be a mapping with a 'type'")
    # YAML reads an unquoted `null:` as the key None.
    fields = {"null" if key is None else key: value for key, value in document.items()}
    kind = fields.pop("type", None)
    if not isinstance(kind, str) or kind not in KINDS:
        *others, last = KINDS
        raise DomainError(
            f"attribute {name!r} has type {kind!r}; use {', '.join(others)} or {last}"
        )
    try:
        rules = {key: _rule(fields[key]) for key in ("null", "outside") if key in fields}
        return KINDS[kind].of_fields({**fields, **rules})
    except KeyError as problem:
        raise DomainError(f"attribute {name!r} ({kind}) lacks {problem}; add it") from problem
    except TypeError as problem:
        raise DomainError(f"attribute {name!r} ({kind}) is malformed: {problem}") from problem
    except DomainError as problem:
        raise DomainError(f"attribute {name!r}: {problem}") from problem


def _rule(document: Any) -> Any:
    if isinstance(document, Mapping):
        if set(document) != {"replace"}:
            raise DomainError("a rule is drop, bucket, clamp, never or {replace: value}")
        return Replace(document["replace"])
    return document
