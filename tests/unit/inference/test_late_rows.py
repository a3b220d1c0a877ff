"""LateRows: a list like any other, whose beginning is read when somebody looks at it."""

from __future__ import annotations

from eke.domain import Domain, Integer
from eke.history import Row
from eke.inference.late_rows import LateRows
from eke.privacy.law import Laplace
from eke.query import count

DOMAIN = Domain(a=Integer(0, 3))
PLAIN = [Row(count(a=place % 4).on(DOMAIN), float(place), Laplace(1.0)) for place in range(9)]


def test_they_are_the_list_that_they_stand_for() -> None:
    for late in (0, 4, 9):
        read: list[int] = []

        def beginning(late: int = late, read: list[int] = read) -> list[Row]:
            read.append(late)
            return PLAIN[:late]

        rows = LateRows(late, beginning)
        for row in PLAIN[late:]:
            rows.append(row)
        assert len(rows) == 9
        assert rows[late:] == PLAIN[late:]
        assert rows[9:] == []
        assert not read, "nobody has looked at the beginning"
        assert list(rows) == PLAIN
        assert [rows[place] for place in (0, 8, -1, -9)] == [PLAIN[p] for p in (0, 8, -1, -9)]
        for part in (slice(2, 7), slice(None, 3), slice(-3, None), slice(None, None, 2)):
            assert rows[part] == PLAIN[part]
        assert rows.view()[3:] == PLAIN[3:]
        assert len(read) == 1, "it is read once"


def test_a_view_and_its_original_grow_apart() -> None:
    rows = LateRows(2, lambda: PLAIN[:2])
    rows.append(PLAIN[2])
    view = rows.view()
    rows.append(PLAIN[3])
    view.append(PLAIN[4])
    assert list(rows) == PLAIN[:4]
    assert list(view) == [*PLAIN[:3], PLAIN[4]]
