"""Logic: SQL's three truth values, and other operations on the labels of diagrams.

None is SQL's NULL: unknown. All functions take two labels, as `Diagrams.joined` wants them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eke.sql.diagram import Diagram, Diagrams, Operation


def both(first: bool | None, second: bool | None) -> bool | None:
    """SQL's AND: false if either is, unknown if that may be."""
    if first is False or second is False:
        return False
    return None if first is None or second is None else True


def either(first: bool | None, second: bool | None) -> bool | None:
    """SQL's OR: true if either is, unknown if that may be."""
    if first is True or second is True:
        return True
    return None if first is None or second is None else False


def opposite(first: bool | None, _: object) -> bool | None:
    """SQL's NOT: what is unknown stays unknown."""
    return None if first is None else not first


def same_as(first: object, second: object) -> bool:
    """True where the label is the given one; never unknown, as SQL's IS."""
    return first is None if second is None else first == second


def if_true(first: bool | None, second: Any) -> Any:
    """The second label where the first is True, unknown elsewhere."""
    return second if first is True else None


class Passed:
    """The label of cells that a branch of CASE does not take."""


PASSED = Passed()


def taken(first: bool | None, second: Any) -> Any:
    """The result of a branch where its condition is True, `PASSED` elsewhere."""
    return second if first is True else PASSED


def otherwise(first: Any, second: Any) -> Any:
    """The second label where the first branch was passed."""
    return second if first is PASSED else first


def negated(diagrams: Diagrams, diagram: Diagram) -> Diagram:
    """NOT of a condition."""
    return diagrams.mapped(opposite, diagram)


def folded(diagrams: Diagrams, operation: Operation, parts: Sequence[Diagram]) -> Diagram:
    """All parts joined by one operation, neighbours first: long chains stay cheap."""
    row = list(parts)
    while len(row) > 1:
        pairs = zip(row[::2], row[1::2], strict=False)
        rest = row[-1:] if len(row) % 2 else []
        row = [*(diagrams.joined(operation, a, b) for a, b in pairs), *rest]
    return row[0]
