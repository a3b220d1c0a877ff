"""What tools write around and within a question; columns and declared values for nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eke.wire.chosen import Chosen
from eke.wire.spelling import respelled
from eke.wire.words import statements
from eke.wire.wrapping import Unwrapped, unwrapped
from tests.wire import Wire

NAMES = frozenset({"people"})
A, C = (Chosen("a", "a"),), (Chosen("c", "c"),)


@pytest.mark.parametrize(
    ("written", "spelled"),
    [
        ('SELECT COUNT(*) FROM "public"."people"', 'SELECT COUNT(*) FROM "people"'),
        ("SELECT public.people.age FROM people.public.people", "SELECT people.age FROM people"),
        ("SELECT 'public.people' FROM people", "SELECT 'public.people' FROM people"),
        ("SELECT 1 FROM public.other", "SELECT 1 FROM public.other"),
        (
            "WHERE t >= TO_TIMESTAMP('2013-01-31 05:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND",
            "WHERE t >= TIMESTAMP '2013-01-31 05:00:00' AND",
        ),
        ("WHERE d < TO_DATE('2013-01-31', 'YYYY-MM-DD')", "WHERE d < DATE '2013-01-31'"),
        (
            "WHERE d < TO_DATE('31.01.2013', 'DD.MM.YYYY')",
            "WHERE d < TO_DATE('31.01.2013', 'DD.MM.YYYY')",
        ),
        ("WHERE t < '2013-01-31T05:00:00Z'", "WHERE t < '2013-01-31 05:00:00'"),
        ("WHERE t < '2013-01-31T05:00:00.5Z'", "WHERE t < '2013-01-31T05:00:00.5Z'"),
        ("WHERE t < '2013-01-31T05:00:00+02'", "WHERE t < '2013-01-31T05:00:00+02'"),
        ("WHERE day < '2013-01-31T05:00:00.5Z'", "WHERE day < '2013-01-31'"),
        ("""WHERE p."day" >= '2013-01-31 05:00'""", """WHERE p."day" >= '2013-01-31'"""),
        (
            "WHERE day BETWEEN '2013-01-31T05:12:33.123Z' AND '2013-02-03T00:00:00Z' AND t = 1",
            "WHERE day BETWEEN '2013-01-31' AND '2013-02-03' AND t = 1",
        ),
        (
            "WHERE t BETWEEN '2013-01-31T05:00:00Z' AND '2013-02-03T00:00:00Z' AND day = 1",
            "WHERE t BETWEEN '2013-01-31 05:00:00' AND '2013-02-03 00:00:00' AND day = 1",
        ),
        ("WHERE day < '2013-01-31T05:00:00+02'", "WHERE day < '2013-01-31T05:00:00+02'"),
        ("'2013-01-31 05:00'", "'2013-01-31 05:00'"),
    ],
)
def test_the_same_is_asked_and_places_stay(written: str, spelled: str) -> None:
    (statement,) = statements(written)
    text = respelled(statement, "people", NAMES, {"day"})
    assert text.split() == spelled.split()
    assert len(text) == len(written)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM (SELECT 1 FROM people) q", Unwrapped("SELECT 1 FROM people")),
        (
            "SELECT * FROM (SELECT 1 FROM people) q LIMIT 0",
            Unwrapped("SELECT 1 FROM people", True, 0),
        ),
        (
            "SELECT * FROM (SELECT 1 FROM people) q OFFSET 2",
            Unwrapped("SELECT 1 FROM people", False, None, 2),
        ),
        ("SELECT a FROM people LIMIT 0", Unwrapped("SELECT a FROM people", True, None, 0, A)),
        (
            'SELECT "public".people.a FROM public."people" AS p LIMIT 7 OFFSET 2',
            Unwrapped('SELECT people.a FROM "people" AS p LIMIT 7 OFFSET 2', False, 7, 2, A),
        ),
        (
            "SELECT a AS b, c d, p.* FROM people p WHERE 1 = 0",
            Unwrapped(
                "SELECT a AS b, c d, p.* FROM people p",
                True,
                None,
                0,
                (Chosen("a", "b"), Chosen("c", "d"), Chosen("*", "*")),
            ),
        ),
        (
            "SELECT a FROM people ORDER BY a LIMIT 7",
            Unwrapped("SELECT a FROM people ORDER BY a LIMIT 7"),
        ),
        ("SELECT a + 1 FROM people LIMIT 7", Unwrapped("SELECT a + 1 FROM people LIMIT 7")),
        (
            "SELECT DISTINCT a FROM people LIMIT 7",
            Unwrapped("SELECT DISTINCT a FROM people LIMIT 7"),
        ),
        ("SELECT a FROM people, people LIMIT 7", Unwrapped("SELECT a FROM people, people LIMIT 7")),
        ("SELECT COUNT(*) FROM people LIMIT 5", Unwrapped("SELECT COUNT(*) FROM people LIMIT 5")),
        (
            "SELECT COUNT(*) FROM people WHERE 1 = 0",
            Unwrapped("SELECT COUNT(*) FROM people WHERE 1 = 0"),
        ),
        (
            "SELECT a, COUNT(*) FROM people WHERE 1 = 0 OR a = 1 GROUP BY a",
            Unwrapped("SELECT a, COUNT(*) FROM people WHERE 1 = 0 OR a = 1 GROUP BY a"),
        ),
        (
            "SELECT * FROM (SELECT 1 FROM people) q ORDER BY 1",
            Unwrapped("SELECT * FROM (SELECT 1 FROM people) q ORDER BY 1"),
        ),
        (
            'SELECT "q"."a" AS "b", q.c FROM (SELECT a, c FROM people) AS "q" LIMIT 5',
            Unwrapped("SELECT a, c FROM people", False, 5, 0, A + C, (Chosen("a", "b"), *C)),
        ),
        (
            "SELECT b AS d FROM (SELECT a AS b, c FROM (SELECT 1 FROM people) p) q",
            Unwrapped("SELECT 1 FROM people", chosen=(Chosen("a", "d"),)),
        ),
        ("SELECT q.* FROM (SELECT 1 FROM people) q", Unwrapped("SELECT 1 FROM people")),
        (
            "SELECT *, a FROM (SELECT 1 FROM people) q",
            Unwrapped("SELECT *, a FROM (SELECT 1 FROM people) q"),
        ),
        (
            "SELECT DISTINCT a FROM (SELECT 1 FROM people) q",
            Unwrapped("SELECT DISTINCT a FROM (SELECT 1 FROM people) q"),
        ),
        (
            "SELECT a FROM (SELECT a FROM people) q GROUP BY a",
            Unwrapped("SELECT a FROM (SELECT a FROM people) q GROUP BY a"),
        ),
        (
            'SELECT "people"."a" AS "b", c FROM "public"."people" "people" LIMIT 0',
            Unwrapped(
                'SELECT "people"."a" AS "b", c FROM "people" "people"',
                True,
                columns=(Chosen("a", "b"), *C),
            ),
        ),
        (
            "SELECT * FROM (SELECT 1 FROM people) a, (SELECT 2) b",
            Unwrapped("SELECT * FROM (SELECT 1 FROM people) a, (SELECT 2) b"),
        ),
    ],
)
def test_what_is_put_around_a_question_is_taken_off(text: str, expected: Unwrapped) -> None:
    (statement,) = statements(text)
    plain = unwrapped(statement, "people", NAMES)
    assert plain.text.split() == expected.text.split()
    assert replace(plain, text="") == replace(expected, text="")


@pytest.mark.parametrize(
    ("statement", "names", "values"),
    [
        ("SELECT DISTINCT sex FROM people", ["sex"], [("Female",), ("Male",)]),
        (
            "SELECT sex FROM public.people GROUP BY sex ORDER BY sex DESC",
            ["sex"],
            [("Male",), ("Female",)],
        ),
        ('SELECT DISTINCT p."sex" AS "s" FROM people p LIMIT 1', ["s"], [("Female",)]),
        (
            "SELECT DISTINCT age, sex FROM people ORDER BY 2, 1 DESC LIMIT 2",
            ["age", "sex"],
            [(26, "Female"), (25, "Female")],
        ),
    ],
)
def test_declared_values_are_public(
    wire: Wire, statement: str, names: list[str], values: list[tuple[object, ...]]
) -> None:
    before = wire.session.budget.spent
    with wire.connect(within=None) as client:
        cursor = client.execute(statement)
        assert [column.name for column in cursor.description] == names
        assert cursor.fetchall() == values
    assert wire.session.budget.spent == before


def test_names_that_were_given_stay(wire: Wire) -> None:
    with wire.connect() as client:
        cursor = client.execute('SELECT COUNT(*) AS "COUNT(*)", AVG(age) FROM people')
        assert [column.name for column in cursor.description] == ["COUNT(*)", "avg"]
