"""The readable file form of a domain: YAML or JSON that round-trips, for a curator to edit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from eke.domain.document import domain_from_document, domain_to_document
from eke.domain.lookup_file import read_lookup
from eke.domain.product import Domain
from eke.errors import DomainError


def write_domain(domain: Domain, path: str | Path) -> None:
    """Write a domain to a file, for a curator to edit; `read_domain` gives the same one back.

    Args:
        domain: what is written.
        path: the file; JSON when its name ends in `.json`, else YAML.

    Example:
        >>> eke.write_domain(domain, "people.yaml")
        >>> eke.read_domain("people.yaml") == domain
        True
    """
    document = domain_to_document(domain)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if Path(path).suffix != ".json":
        # PyYAML does not escape Unicode's own line breaks unless it escapes all of Unicode.
        readable = not any(line_break in text for line_break in "\x85\u2028\u2029")
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=readable, width=100)
    Path(path).write_text(text, "utf-8", newline="\n")


def read_domain(path: str | Path) -> Domain:
    """The domain described in a YAML or JSON file.

    A lookup may name a file of its own, `airlines: {file: airlines.csv, keys: [carrier]}`, which is
    looked for beside this one and read now.

    Args:
        path: the file; what it holds says which of the two it is.

    Raises:
        DomainError: when the file cannot be read or describes no domain.

    Example:
        >>> import json
        >>> from pathlib import Path
        >>> written = {"format": "eke-domain/1", "attributes": {"smoker": {"type": "boolean"}}}
        >>> _ = Path("small.json").write_text(json.dumps(written))
        >>> eke.read_domain("small.json").names
        ('smoker',)
    """
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise DomainError(f"cannot read the domain file {path}: {problem}") from problem
    try:
        return domain_from_document(_with_tables(_parsed(text), Path(path).parent))
    except DomainError as problem:
        raise DomainError(f"{path}: {problem}") from problem


def _with_tables(document: object, folder: Path) -> object:
    """The document with the rows of all files that its lookups name."""
    if not isinstance(document, Mapping) or not isinstance(document.get("lookups"), Mapping):
        return document
    lookups = {
        name: _table(str(name), one, folder) if isinstance(one, Mapping) and "file" in one else one
        for name, one in document["lookups"].items()
    }
    return {**document, "lookups": lookups}


def _table(name: str, document: Mapping[Any, Any], folder: Path) -> dict[str, Any]:
    # YAML reads an unquoted `null:` as the key None.
    fields = {"null" if key is None else key: value for key, value in document.items()}
    lists = {key: fields.get(key) for key in ("keys", "columns", "null")}
    unknown = [str(key) for key in fields if key not in ("file", *lists)]
    if unknown or not isinstance(fields["file"], str) or not isinstance(lists["keys"], list):
        raise DomainError(
            f"lookup {name!r} is a mapping with 'file' and a list of 'keys', and perhaps lists of "
            "'columns' to keep and of texts that mean 'null'"
        )
    if not all(isinstance(one, list | None) for one in lists.values()):
        raise DomainError(f"lookup {name!r}: 'columns' and 'null' are lists")
    lookup = read_lookup(
        name, folder / fields["file"], lists["keys"], lists["columns"], null=lists["null"] or ()
    )
    return lookup.to_document()


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
    fields: dict[Any, Any] = {}
    for key, value in pairs:
        if key in fields:
            raise DomainError(f"the key {key!r} is given twice; keep one")
        fields[key] = value
    return fields


class _UniqueLoader(yaml.SafeLoader):
    """YAML's plain types only, each key once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        scalars = (key for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        _unique((key.value, None) for key in scalars)
        return super().construct_mapping(node, deep)
