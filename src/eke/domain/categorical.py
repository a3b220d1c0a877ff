"""Categorical: a column with listed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from eke.domain.attribute import Attribute, Label, SqlKind
from eke.domain.placing import Listed, Placing
from eke.domain.rule import Rule, check_rules, is_storable, plain, plain_list
from eke.errors import DomainError


@dataclass(frozen=True, slots=True, init=False)
class Categorical(Attribute):
    """A column with listed values: all texts, all whole numbers, or all truth values.

    Args:
        values: the public values, each once.
        null: the rule for NULL and NaN.
        outside: the rule for values that are not listed; not "clamp".

    Raises:
        DomainError: when values are of several kinds, or a rule does not fit.

    Example:
        >>> work = eke.Categorical("public", "private", null="bucket", outside="bucket")
        >>> work.labels
        ('public', 'private', None)
    """

    kind: ClassVar[str] = "categorical"
    values: tuple[str | int | bool, ...]
    null: Rule
    outside: Rule

    def __init__(
        self, *values: str | int | bool, null: Rule = "drop", outside: Rule = "drop"
    ) -> None:
        if len(values) == 1 and isinstance(values[0], (list, tuple)):
            values = tuple(values[0])
        declared = tuple(plain(v) for v in values)
        if not declared:
            raise DomainError("a Categorical needs at least one value, e.g. Categorical('a', 'b')")
        kinds = {type(v) for v in declared}
        if len(kinds) > 1 or not kinds <= {str, int, bool}:
            raise DomainError(
                "Categorical values must be all texts, all whole numbers or all True and False; "
                "in YAML put quotes around texts such as 'NO' or '1'"
            )
        if len(set(declared)) != len(declared):
            raise DomainError("Categorical values must differ from each other; list each once")
        if not all(is_storable(v) for v in declared if isinstance(v, str)):
            raise DomainError("Categorical texts must be valid Unicode; remove lone surrogates")
        check_rules(null, outside, clamps=False)
        object.__setattr__(self, "values", declared)
        object.__setattr__(self, "null", null)
        object.__setattr__(self, "outside", outside)
        self._check_replacements()

    @property
    def declared(self) -> tuple[Label, ...]:
        return self.values

    def declared_code(self, value: object) -> int | None:
        python_value = plain(value)
        same_kind = isinstance(python_value, bool) == isinstance(self.values[0], bool)
        return self._find(python_value) if same_kind else None

    def _find(self, raw: object) -> int | None:
        if not isinstance(raw, (str, int, float)):
            return None
        if isinstance(raw, str) != isinstance(self.values[0], str):
            return None
        return next((code for code, value in enumerate(self.values) if value == raw), None)

    @property
    def placing(self) -> Placing:
        return Listed(tuple(v if isinstance(v, str) else int(v) for v in self.values))

    def fields(self) -> dict[str, Any]:
        return {"values": list(self.values)}

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> Categorical:
        rest = {name: value for name, value in fields.items() if name != "values"}
        return cls(*plain_list(fields, "values"), **rest)

    @property
    def sql_kind(self) -> SqlKind:
        first = self.values[0]
        if isinstance(first, bool):
            return "truth"
        return "text" if isinstance(first, str) else "category"

    @property
    def has_numbers(self) -> bool:
        return False
