"""Boolean: a column of truth values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from eke.domain.attribute import Attribute, Label, SqlKind
from eke.domain.placing import Listed, Placing
from eke.domain.rule import Rule, check_rules, plain


@dataclass(frozen=True, slots=True)
class Boolean(Attribute):
    """A true/false column. In sums it counts as 1 and 0.

    Args:
        null: the rule for NULL.
        outside: the rule for values that are neither; not "clamp".

    Example:
        >>> eke.Boolean().labels
        (False, True)
    """

    kind: ClassVar[str] = "boolean"
    null: Rule = "drop"
    outside: Rule = "drop"

    def __post_init__(self) -> None:
        check_rules(self.null, self.outside, clamps=False)
        self._check_replacements()

    @property
    def declared(self) -> tuple[Label, ...]:
        return (False, True)

    def declared_code(self, value: object) -> int | None:
        return self._find(plain(value))

    def _find(self, raw: object) -> int | None:
        if isinstance(raw, (bool, int, float)) and raw in (0, 1):
            return int(raw)
        return None

    def numbers(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(n) for n in ((0, 1, 0) if self.has_bucket else (0, 1)))

    @property
    def placing(self) -> Placing:
        return Listed((0, 1), truth=True)

    def fields(self) -> dict[str, Any]:
        return {}

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> Boolean:
        return cls(**fields)

    @property
    def sql_kind(self) -> SqlKind:
        return "truth"
