"""Parameters: which types those of a statement have, where the client has not said so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eke.wire.kind import (
    BOOL,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    NUMERIC,
    OID,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    UNKNOWN,
)
from eke.wire.words import MOST_PARAMETERS, Statement, parameters_in

_CASTS = {
    "int": INT4,
    "integer": INT4,
    "int4": INT4,
    "bigint": INT8,
    "int8": INT8,
    "float8": FLOAT8,
    "double": FLOAT8,
    "real": FLOAT8,
    "numeric": NUMERIC,
    "decimal": NUMERIC,
    "text": TEXT,
    "varchar": TEXT,
    "boolean": BOOL,
    "bool": BOOL,
    "date": DATE,
    "timestamp": TIMESTAMP,
}
_NEAR = 200  # words before a parameter that are looked at, as in a long list after IN
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ENDS = frozenset({"where", "and", "or", "select", "on", "having", "when", "then", "else", "from"})


@dataclass(frozen=True, slots=True)
class Typical:
    """The type of a column or a parameter, and one of its values as it stands in SQL.

    The value serves to find out what depends on none, such as which columns a result has. Of a
    column there are its first and its last value, too: a condition that none meets is refused.
    """

    kind: int
    example: str
    first: str = ""
    last: str = ""

    def meeting(self, between: Sequence[str]) -> str:
        """A value that meets a comparison with these words, and likely others beside it."""
        words = set(between)
        if words & {"<", "<="} or {"between", "and"} <= words:
            return self.last or self.example
        if words & {">", ">=", "<>", "!=", "not", "between"}:
            return self.first or self.example
        return self.example


def parameters_of(
    statement: Statement, given: Sequence[int], columns: Mapping[str, Typical]
) -> tuple[Typical, ...]:
    """Each parameter: as the client said, as it is cast, or like the column that it is beside."""
    count = max(parameters_in(statement.words), len(given[:MOST_PARAMETERS]))
    names = [word.lower.lower() for word in statement.words]
    kinds = [*given[:count], *[0] * (count - len(given))]
    examples: list[str | None] = [None] * count
    for place, word in enumerate(statement.words):
        number = int(word.text[1:]) - 1 if word.kind == "parameter" else -1
        if number >= 0:
            kind, examples[number] = _beside(names, place, columns)
            if kinds[number] in (0, UNKNOWN):
                kinds[number] = kind
    return tuple(
        Typical(kind or TEXT, example or _EXAMPLES.get(kind, "'a'"))
        for kind, example in zip(kinds, examples, strict=True)
    )


def _beside(
    names: Sequence[str], place: int, columns: Mapping[str, Typical]
) -> tuple[int, str | None]:
    """The type of what stands beside a parameter, within a few words, and one of its values."""
    after = [*names[place + 1 : place + 3], "", ""]
    if after[0] in ("::", "as"):
        return _CASTS.get(after[1], TEXT), None
    if names[max(0, place - 1) : place] in (["limit"], ["offset"]):
        return INT8, None
    is_between = "between" in names[max(0, place - 4) : place]
    for at in range(place - 1, max(-1, place - _NEAR), -1):
        if names[at] in _ENDS and not (is_between and names[at] == "and"):
            break
        if names[at] in columns and names[at + 1] != ".":
            column = columns[names[at]]
            return column.kind, column.meeting(names[at + 1 : place])
    for at in range(place + 1, min(len(names), place + 4)):
        if names[at] in _ENDS:
            break
        if names[at] in columns and names[at + 1 : at + 2] != ["."]:
            column, between = columns[names[at]], names[place + 1 : at]
            return column.kind, column.meeting([_TURNED.get(word, word) for word in between])
    return TEXT, None


_EXAMPLES = {
    BOOL: "TRUE",
    **dict.fromkeys((INT8, INT2, INT4, OID, FLOAT4, FLOAT8, NUMERIC), "1"),
    DATE: "DATE '2000-01-01'",
    **dict.fromkeys((TIMESTAMP, TIMESTAMPTZ), "TIMESTAMP '2000-01-01 00:00:00'"),
}
