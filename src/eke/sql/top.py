"""Top: SELECT TOP 5 …, the spelling of LIMIT 5 that other dialects have."""

from __future__ import annotations

from eke.sql.guard import SqlToken
from eke.sql.place import SqlText, number_of_rows

_MOST_ROWS = 10**9
_FORM = "TOP takes a whole number of rows: write SELECT TOP 5 …, or LIMIT 5 at the end"


def without_top(
    text: SqlText, tokens: tuple[SqlToken, ...]
) -> tuple[tuple[SqlToken, ...], int | None]:
    """The tokens without TOP and its number, and that number; TOP may be a column elsewhere."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += token.says("(") - token.says(")")
        if not token.says("SELECT") or not _begins(tokens[at + 1 : at + 4]):
            continue
        if depth:
            raise text.error(
                tokens[at + 1].start,
                "a query in parentheses or in WITH shows all rows; leave TOP out",
            )
        is_enclosed = tokens[at + 2].says("(")
        spelled, after = tokens[at + 2 + is_enclosed], at + 3 + 2 * is_enclosed
        more = tokens[after] if after < len(tokens) else spelled
        closed = not is_enclosed or any(one.says(")") for one in tokens[after - 1 : after])
        number = number_of_rows(spelled.text, _MOST_ROWS)
        if not closed or more.says("PERCENT", "WITH") or number is None:
            raise text.error(spelled.start, _FORM)
        return (*tokens[: at + 1], *tokens[after:]), number
    return tokens, None


def _begins(tokens: tuple[SqlToken, ...]) -> bool:
    """True for TOP and a number, which may stand in parentheses."""
    words = [token for token in tokens[1:] if not token.says("(")]
    return bool(words) and tokens[0].says("TOP") and words[0].kind == "number"
