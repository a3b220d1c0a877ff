"""Domain: named attributes and the cells of their product, of any size, never enumerated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from eke.domain.attribute import Attribute
from eke.domain.rule import is_storable
from eke.errors import DomainError


@dataclass(frozen=True, slots=True, init=False)
class Domain:
    """The public description of a table: named attributes, in order.

    Each name is a column of the table. The cells are the combinations of their values; a domain
    may have any number of them. `domain[name]` is an attribute, `len(domain)` counts them.

    Args:
        attributes: the attributes by name, for names that are no keywords of Python.
        named: the same by keyword.

    Raises:
        DomainError: when there is none, or a name is given twice.

    Example:
        >>> shop = eke.Domain(age=eke.Integer(0, 99), sex=eke.Categorical("F", "M", null="bucket"))
        >>> shop.names, shop.size, shop.total
        (('age', 'sex'), 300, False)
    """

    attributes: tuple[tuple[str, Attribute], ...]
    _by_name: dict[str, Attribute] = field(repr=False, compare=False)

    def __init__(
        self, attributes: Mapping[str, Attribute] | None = None, /, **named: Attribute
    ) -> None:
        given = {} if attributes is None else attributes
        if not isinstance(given, Mapping):
            raise DomainError("a Domain needs a mapping of names to attributes")
        twice = sorted(set(given) & set(named))
        if twice:
            raise DomainError(f"attributes given twice, keep one each: {', '.join(twice)}")
        pairs = (*given.items(), *named.items())
        if not pairs:
            raise DomainError(
                "a Domain needs at least one attribute, e.g. Domain(age=Integer(0, 99))"
            )
        for name, attribute in pairs:
            _check_name(name)
            if not isinstance(attribute, Attribute):
                raise DomainError(
                    f"attribute {name!r} must be a Categorical, Boolean, Integer, Numeric, "
                    "Binned or Date"
                )
        by_name = {str(name): attribute for name, attribute in pairs}
        object.__setattr__(self, "attributes", tuple(by_name.items()))
        object.__setattr__(self, "_by_name", by_name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(self._by_name)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each attribute has, the bucket included."""
        return tuple(attribute.size for _, attribute in self.attributes)

    @property
    def size(self) -> int:
        """The number of cells, of any size; a bucket is a value."""
        return math.prod(self.shape)

    @property
    def total(self) -> bool:
        """True when every possible row falls into a cell (no rule drops rows)."""
        return not any(attribute.drops for _, attribute in self.attributes)

    @property
    def has_claims(self) -> bool:
        """True when a rule says that values of some kind never occur, which can be checked."""
        return any("never" in (a.null, a.outside) for _, a in self.attributes)

    def __deepcopy__(self, memo: object) -> Domain:
        return self  # immutable

    def __getitem__(self, name: str) -> Attribute:
        if name not in self:
            raise DomainError(f"no attribute {name!r}; the domain has {', '.join(self.names)}")
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.attributes)

    def sizes(self, names: Iterable[str]) -> tuple[int, ...]:
        """How many values some attributes have, in the order given."""
        return tuple(self[name].size for name in names)

    def project(self, names: Iterable[str]) -> Domain:
        """The domain of some of the attributes, in this domain's order."""
        wanted = set(names)
        for name in wanted:
            _ = self[name]
        return Domain({name: a for name, a in self.attributes if name in wanted})

    def in_order(self, names: Iterable[str]) -> tuple[str, ...]:
        """The given names, each once, in this domain's order."""
        wanted = set(names)
        for name in wanted:
            _ = self[name]
        return tuple(name for name in self.names if name in wanted)


def described_columns(domain: Domain) -> list[dict[str, Any]]:
    """Of each column its type, its values in a few words, and whether NULL is among them."""
    return [
        {
            "column": name,
            "type": attribute.kind,
            "values": attribute.values_text,
            "missing": attribute.has_bucket,
        }
        for name, attribute in domain.attributes
    ]


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not 0 < len(name) <= 200:
        raise DomainError(
            "attribute names must be texts of 1 to 200 characters; "
            "in YAML put quotes around names such as 'on' or '1'"
        )
    if not is_storable(name):
        raise DomainError("attribute names must be valid Unicode; remove lone surrogates")
