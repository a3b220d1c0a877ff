"""Parser: sqlglot reads a text, but does not try for ever.

Where words can be read in several ways, sqlglot tries one, goes back and tries the next, and again
within each of them: fifteen joins without conditions take it seconds, and every further one twice
as long. Whatever is a question sends it back over at most a fifth of its tokens, so the way back is
counted, and a text that leads too far back is no question.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, cast

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.parser import Parser

from eke.sql.chosen import CALLS

DIALECT = "duckdb"
_TIMES_BACK = 4
_FEW_BACK = 100


class TooTangled(Exception):
    """The parser went back so often that the text is no question."""


def trees_of(text: str, dialect_name: str = DIALECT) -> list[exp.Expr | None]:
    """The syntax trees of a text, one a statement; `TooTangled` after too many attempts."""
    dialect = Dialect.get_or_raise(dialect_name)
    tokens = dialect.tokenize(text)
    parser = _parser_class(dialect_name)(dialect=dialect)
    parser.tokens_left = _TIMES_BACK * len(tokens) + _FEW_BACK
    return cast("list[exp.Expr | None]", parser.parse(tokens, text))


@cache
def _parser_class(dialect_name: str) -> Any:
    base: type[Parser] = Dialect.get_or_raise(dialect_name).parser_class

    class Counting(base):  # type: ignore[valid-type, misc]
        """The parser of the dialect, which may go back over so many tokens, and eke's functions."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {**base.FUNCTIONS, **CALLS}
        tokens_left = 0

        def _retreat(self, index: int) -> None:
            self.tokens_left -= max(self._index - index, 0)
            if self.tokens_left < 0:
                raise TooTangled
            super()._retreat(index)

    return Counting
