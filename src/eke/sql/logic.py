"""Logic: operations on the labels of diagrams; None is SQL's NULL.

All take two labels, as `Diagrams.joined` wants them; truth values: `eke.question.logic`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eke.question.logic import opposite
from eke.sql.diagram import Diagram, Diagrams, Operation


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


def _opposite(first: bool | None, _: object) -> bool | None:
    return opposite(first)


def negated(diagrams: Diagrams, diagram: Diagram) -> Diagram:
    """NOT of a condition."""
    return diagrams.mapped(_opposite, diagram)


def folded(diagrams: Diagrams, operation: Operation, parts: Sequence[Diagram]) -> Diagram:
    """All parts joined by one operation, neighbours first: long chains stay cheap."""
    row = list(parts)
    while len(row) > 1:
        pairs = zip(row[::2], row[1::2], strict=False)
        rest = row[-1:] if len(row) % 2 else []
        row = [*(diagrams.joined(operation, a, b) for a, b in pairs), *rest]
    return row[0]
