"""Wide columns: those with more values than anything may list.

Up to `MOST_LISTED` values may be written out one by one, in a list or an array. Beyond, a column is
known by its first number, its step and its size alone; whatever has to do with its values is told
by stretches of codes (`eke.query.pieces`, `eke.query.runs`), or is refused.
"""

from __future__ import annotations

MOST_LISTED = 2**20
"""Values that are listed: more would take a question a second and tens of MB for each vector."""

MOST_VALUES = 2**40
"""Values of a column of numbers.

A record moves its sum by less than 2^44 then, which the widest noise, of 2^53 steps, can hide; and
the doubles by which engines find codes are off by a thousandth of a step at most.
"""


def is_wide(size: int) -> bool:
    """Whether a column with so many values is never listed."""
    return size > MOST_LISTED


def unlisted(size: int) -> str:
    """Why something that lists values is refused, and what to do."""
    return (
        f"a column of {size:,} values is asked about by ranges, sums and quantiles, and its "
        f"values are not listed one by one (at most {MOST_LISTED:,} are); take ranges of it, as in "
        "FLOOR(x / 1000) or CASE, or declare a longer step"
    )
