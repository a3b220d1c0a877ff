"""Effort: a bound on the work one text may cause, so that every text is answered in time."""

from __future__ import annotations

from sqlglot import exp

from eke.domain import Domain
from eke.domain.placing import Listed
from eke.sql.place import SqlText

MOST_STEPS = 180_000
"""A step is one to three microseconds of work."""
PASSES = 10
"""How often a text may go over the longest list of declared values, beside that."""


class Effort:
    """The steps left for a text; passes spend them as they go and stop the text at zero."""

    __slots__ = ("_at", "_left", "_text")

    def __init__(self, text: SqlText, domain: Domain) -> None:
        lists = (a.size for _, a in domain.attributes if isinstance(a.placing, Listed))
        self._text = text
        self._left = MOST_STEPS + PASSES * max(lists, default=0)
        self._at: int | exp.Expr = 0

    def turn_to(self, node: exp.Expr) -> None:
        """From now on the effort is spent on this part of the text."""
        self._at = node

    def spend(self, steps: int) -> None:
        """Raise when the steps do not fit into what is left."""
        self._left -= steps
        if self._left < 0:
            raise self._text.error(
                self._at,
                "the question takes too long to work out; use fewer and smaller columns in one "
                "condition or expression, or ask for the parts one by one",
            )
