"""Domain: named attributes and the cells of their product, of any size, never enumerated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from eke.domain.attribute import Attribute
from eke.domain.lookup import Lookup, check_name
from eke.errors import DomainError

_LONGEST_SQL = 2_000


@dataclass(frozen=True, slots=True, init=False)
class Domain:
    """The public description of a table: named attributes, in order.

    Each name is a column of the table. The cells are the combinations of their values; a domain
    may have any number of them. `domain[name]` is an attribute, `len(domain)` counts them.
    `with_lookups` and `with_derived` add public functions of the attributes, which are none
    themselves.

    Args:
        attributes: the attributes by name, for names that are no keywords of Python.
        named: the same by keyword.

    Attributes:
        lookups: public tables that SQL may join, by their names.
        derived: the names of derived columns, and the SQL expressions that they stand for.

    Raises:
        DomainError: when there is none, or a name is given twice.

    Example:
        >>> shop = eke.Domain(age=eke.Integer(0, 99), sex=eke.Categorical("F", "M", null="bucket"))
        >>> shop.names, shop.size, shop.total
        (('age', 'sex'), 300, False)
    """

    attributes: tuple[tuple[str, Attribute], ...]
    lookups: tuple[Lookup, ...] = field(repr=False, hash=False)
    derived: tuple[tuple[str, str], ...] = field(repr=False, hash=False)
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
            check_name(name)
            if not isinstance(attribute, Attribute):
                raise DomainError(
                    f"attribute {name!r} must be a Categorical, Boolean, Integer, Numeric, "
                    "Binned, Date, Timestamp or Time"
                )
        by_name = {str(name): attribute for name, attribute in pairs}
        object.__setattr__(self, "attributes", tuple(by_name.items()))
        object.__setattr__(self, "_by_name", by_name)
        object.__setattr__(self, "lookups", ())
        object.__setattr__(self, "derived", ())

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
            raise DomainError(self.unknown(name))
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.attributes)

    def unknown(self, name: object) -> str:
        """Why a name is none of an attribute."""
        if name in dict(self.derived):
            return (
                f"{name!r} is derived from other columns; ask about it in SQL, where it may stand "
                "wherever a column may"
            )
        return f"no attribute {name!r}; the domain has {', '.join(self.names)}"

    def sizes(self, names: Iterable[str]) -> tuple[int, ...]:
        """How many values some attributes have, in the order given."""
        return tuple(self[name].size for name in names)

    def project(self, names: Iterable[str]) -> Domain:
        """The domain of some of the attributes, in this domain's order, without functions."""
        wanted = set(names)
        for name in wanted:
            _ = self[name]
        return Domain({name: a for name, a in self.attributes if name in wanted})

    def reordered(self, names: Iterable[str]) -> Domain:
        """The same domain with its attributes in another order."""
        domain = Domain({name: self[name] for name in names})
        return domain.with_lookups(*self.lookups).with_derived(dict(self.derived))

    def with_lookups(self, *lookups: Lookup) -> Domain:
        """The same domain with more public tables that SQL may join.

        Args:
            lookups: each a `Lookup`; see there for an example.

        Raises:
            DomainError: when two have the same name.
        """
        if not all(isinstance(one, Lookup) for one in lookups):
            raise DomainError("with_lookups takes eke.Lookup; eke.read_lookup makes one of a file")
        every = (*self.lookups, *lookups)
        _check_distinct("lookups", [one.name for one in every])
        return self._with(tuple(sorted(every, key=lambda one: one.name)), self.derived)

    def with_derived(self, derived: Mapping[str, str] | None = None, /, **named: str) -> Domain:
        """The same domain with more columns that follow from others, for SQL and published rows.

        A derived column is an SQL expression over attributes and derived columns, and over columns
        of lookups whose keys are such: `EXTRACT(month FROM day)`, `origin || '-' || dest`,
        `airlines.name`. It costs nothing by itself: a condition on it is one on what it is made of.
        That the expressions can be read is checked when a dataset is made.

        Args:
            derived: expressions by name, for names that are no keywords of Python.
            named: the same by keyword.

        Raises:
            DomainError: when a column of that name is there already.

        Example:
            >>> by_decade = domain.with_derived(decade="FLOOR(age / 10) * 10")
            >>> by_decade.names, by_decade.derived
            (('age', 'sex', 'hours', 'smoker'), (('decade', 'FLOOR(age / 10) * 10'),))
        """
        every = (*self.derived, *(derived or {}).items(), *named.items())
        for name, text in every:
            check_name(name)
            if not isinstance(text, str) or not 0 < len(text) <= _LONGEST_SQL:
                raise DomainError(
                    f"derived column {name!r} needs an SQL expression of at most {_LONGEST_SQL:,} "
                    "characters, such as 'EXTRACT(month FROM day)'"
                )
        _check_distinct("columns", [*self.names, *(name for name, _ in every)], since=len(self))
        return self._with(self.lookups, tuple(sorted(every)))

    def _with(self, lookups: tuple[Lookup, ...], derived: tuple[tuple[str, str], ...]) -> Domain:
        # In the order of their names, whatever order a ledger keeps them in.
        domain = Domain(self._by_name)
        object.__setattr__(domain, "lookups", lookups)
        object.__setattr__(domain, "derived", derived)
        return domain

    def in_order(self, names: Iterable[str]) -> tuple[str, ...]:
        """The given names, each once, in this domain's order."""
        wanted = set(names)
        for name in wanted:
            _ = self[name]
        return tuple(name for name in self.names if name in wanted)


def described_columns(domain: Domain) -> list[dict[str, Any]]:
    """Of each column its type, its values in a few words, and whether NULL is among them.

    Derived columns and those of lookups follow; of the former it is not said whether there are
    NULLs.
    """
    columns = [
        (name, attribute.kind, attribute.values_text, attribute.has_bucket)
        for name, attribute in domain.attributes
    ]
    derived = [(name, "derived", text, None) for name, text in domain.derived]
    lookups = [
        (f"{one.name}.{name}", "lookup", _said_of(one, name), None in one.column(name))
        for one in domain.lookups
        for name in one.values
    ]
    return [
        dict(zip(("column", "type", "values", "missing"), row, strict=True))
        for row in (*columns, *derived, *lookups)
    ]


def _said_of(lookup: Lookup, name: str) -> str:
    kind = {"text": "texts", "number": "numbers", "truth": "true or false"}[lookup.kind(name)]
    return f"{kind} by {' and '.join(lookup.keys)}, {len(lookup.rows):,} rows"


def _check_distinct(what: str, names: list[str], since: int = 0) -> None:
    """Raise when one of the later names is there already; SQL does not tell cases apart."""
    for place, name in enumerate(names):
        if place >= since and name.casefold() in map(str.casefold, names[:place]):
            raise DomainError(f"two {what} are called {name!r}; rename one")
