"""Preview: SELECT * FROM people LIMIT 100, as tools look at a table before they ask about it.

Rows of the table are never shown. Where rows were published, the newest publication has some that
look like them; each answer says that they are made up.
"""

from __future__ import annotations

from dataclasses import replace

from eke.wire.chosen import picked
from eke.wire.outcome import Outcome
from eke.wire.released import MOST_PREVIEWED, ReleasedRelations
from eke.wire.report import Trouble, notice
from eke.wire.wrapping import Unwrapped


def previewed(asked: Unwrapped, released: ReleasedRelations, analyst: str | None) -> Outcome | None:
    """Published rows for a preview; None for anything else, or while nothing is published."""
    newest = released.newest(analyst) if asked.is_preview else None
    if newest is None or asked.columns is None or asked.limit is None:
        return None
    number, published = newest
    last = asked.offset + asked.limit
    if last > MOST_PREVIEWED:
        raise Trouble(
            "54000",
            f"a preview has at most {MOST_PREVIEWED:,} rows",
            f"published_{number} is the relation that holds all of them",
        )
    listed = picked(asked.columns, released.columns_of(published))
    chosen = picked(asked.chosen, [column for _, column in listed])
    part = replace(published, codes=published.codes[asked.offset : last])
    values = released.rows_of(part)
    rows = list(zip(*(values[listed[place][0]] for place, _ in chosen), strict=True))
    said = (
        f"Free: rows of publication {number}, which are made up from what was released; none of "
        "them is a row of the table"
    )
    columns = tuple(column for _, column in chosen)
    return Outcome(f"SELECT {len(rows)}", columns, rows, (notice(said),))
