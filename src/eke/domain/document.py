"""A domain as plain values: what its file holds (`file.py`), and the first entry of a ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eke.domain.attribute import Attribute
from eke.domain.kinds import KINDS
from eke.domain.lookup import Lookup
from eke.domain.product import Domain
from eke.domain.rule import Replace, Rule
from eke.domain.spelling import SPELLINGS
from eke.errors import DomainError

FORMAT = "eke-domain/1"


def domain_to_document(domain: Domain) -> dict[str, Any]:
    """Plain dicts, lists, strings and numbers that say all there is to know of a domain."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "attributes": {name: _attribute_document(a) for name, a in domain.attributes},
    }
    if domain.lookups:
        document["lookups"] = {one.name: one.to_document() for one in domain.lookups}
    if domain.derived:
        document["derived"] = dict(domain.derived)
    return document


def domain_from_document(document: object) -> Domain:
    """The domain that a document describes; whatever is unknown or missing there is an error."""
    if not isinstance(document, Mapping) or not isinstance(document.get("attributes"), Mapping):
        raise DomainError("a domain file needs a top-level mapping 'attributes'")
    if document.get("format", FORMAT) != FORMAT:
        raise DomainError(f"unknown domain format {document.get('format')!r}; expected {FORMAT}")
    known = ("format", "attributes", "lookups", "derived")
    unknown = sorted(str(key) for key in document if key not in known)
    if unknown:
        raise DomainError(f"unknown keys in the domain file, remove them: {', '.join(unknown)}")
    lookups, derived = (document.get(key, {}) for key in ("lookups", "derived"))
    if not isinstance(lookups, Mapping) or not isinstance(derived, Mapping):
        raise DomainError("'lookups' and 'derived' are mappings of names to what they hold")
    domain = Domain({k: _attribute(k, v) for k, v in document["attributes"].items()})
    read = (Lookup.of_document(name, one) for name, one in lookups.items())
    return domain.with_lookups(*read).with_derived(derived)


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
    if not isinstance(kind, str) or kind not in KINDS.keys() | SPELLINGS.keys():
        *others, last = (*KINDS, *SPELLINGS)
        raise DomainError(
            f"attribute {name!r} has type {kind!r}; use {', '.join(others)} or {last}"
        )
    try:
        rules = {key: _rule(fields[key]) for key in ("null", "outside") if key in fields}
        if kind in SPELLINGS:
            return SPELLINGS[kind](**{**fields, **rules})
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
