"""Statements as tools write them around a question, and calculations over its rows, in both places.

What is calculated from noisy counts differs from the same of true ones by a few times their noise.
"""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.clients.places import OFF, Both, Place

BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
BY_TWO = "SELECT sex, age, COUNT(*) AS n FROM people GROUP BY sex, age"
BY_DAY = "SELECT born, COUNT(*) AS n FROM people GROUP BY born"
SUNDAY = (
    '(CAST(DATE_TRUNC(\'week\', ("public"."people"."born" + INTERVAL \'1 day\')) AS timestamp) '
    "+ INTERVAL '-1 day')"
)
STATEMENTS = [
    # rows of a result are counted (DBeaver), cut and ordered (Metabase, DataGrip)
    f"SELECT COUNT(*) FROM ({BY_SEX}) dbvrcnt",
    f'SELECT * FROM ({BY_TWO}) AS "source" WHERE "source"."n" > 1 ORDER BY "source"."age", sex',
    f'SELECT "source"."sex", "source"."n" * 2 AS d FROM ({BY_SEX}) "source" ORDER BY 1',
    # what was aggregated is aggregated again (Metabase, Tableau's custom SQL)
    (
        f'SELECT "source"."sex" AS "sex", SUM("source"."n") AS "sum" FROM ({BY_TWO}) AS "source" '
        'GROUP BY "source"."sex" ORDER BY "source"."sex" ASC LIMIT 1048575'
    ),
    (
        f'SELECT SUM("Custom SQL Query"."n") AS "s" FROM ({BY_SEX}) "Custom SQL Query" '
        "HAVING (COUNT(1) > 0)"
    ),
    f"SELECT AVG(n), MAX(n), MIN(n), COUNT(n), COUNT(DISTINCT sex) FROM ({BY_TWO}) AS q",
    f"WITH q AS ({BY_SEX}) SELECT sex, n FROM q WHERE n > 10 ORDER BY sex",
    (
        f"WITH q AS ({BY_TWO}), r AS (SELECT sex, SUM(n) AS s FROM q GROUP BY sex) "
        "SELECT s, sex FROM r ORDER BY sex"
    ),
    f"SELECT sex, n, SUM(n) OVER (ORDER BY sex) AS running FROM ({BY_SEX}) q ORDER BY 1",
    f"SELECT x.sex FROM (SELECT sex, SUM(n) AS s FROM ({BY_TWO}) q GROUP BY sex) x WHERE 1 = 0",
    f"SELECT sex || '!' AS s FROM ({BY_SEX}) q WHERE n IS NOT NULL ORDER BY s DESC",
    f"SELECT AVG(n) FROM ({BY_SEX} HAVING COUNT(*) > 0) q",
    f"SELECT EXTRACT(year FROM born) / 10 AS d FROM ({BY_DAY}) q ORDER BY 1",
    f"SELECT 1.26::numeric(6, 1) AS m, 7 / 2 AS w, COUNT(*) / 4 AS c FROM ({BY_DAY}) q",
    f"SELECT COUNT(*) FROM ({BY_DAY}) q WHERE 1 = 0",
    f"WITH q(d, n) AS ({BY_DAY}) SELECT d FROM q WHERE d IS DISTINCT FROM NULL ORDER BY d",
    # keys with functions around them, and casts
    "SELECT age::text AS a, COUNT(*) AS n FROM people GROUP BY age ORDER BY age",
    (
        "SELECT UPPER(sex), sex || '/' || member::text AS b, COUNT(*) AS n FROM people "
        "GROUP BY sex, member ORDER BY 1, 2"
    ),
    "SELECT sex, UPPER(sex) AS u, COUNT(*) AS n FROM people GROUP BY 1, 2 ORDER BY 1",
    "SELECT CAST(COUNT(*) AS double precision) FROM people",
    # sums alone (Tableau), seconds (Grafana), weeks from Sunday (Metabase)
    "SELECT SUM(hours) AS s FROM people HAVING (COUNT(1) > 0)",
    "SELECT sex, SUM(age) AS s FROM people GROUP BY 1 HAVING COUNT(1) > 0 ORDER BY sex",
    (
        'SELECT floor(extract(epoch from born)/86400)*86400 AS "time", COUNT(*) AS n FROM people '
        "GROUP BY 1 ORDER BY 1"
    ),
    (
        'SELECT floor(extract(epoch from seen)/43200)*43200 AS "time", COUNT(*) AS n FROM people '
        "GROUP BY 1 ORDER BY 1"
    ),
    (
        f'SELECT {SUNDAY} AS "born", COUNT(*) AS "count" FROM "public"."people" '
        f"GROUP BY {SUNDAY} ORDER BY {SUNDAY} ASC"
    ),
]


def connect(place: Place) -> Any:
    return psycopg.connect(**place.words, autocommit=True)


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize("text", STATEMENTS)
def test_both_say_the_same(both: Both, text: str, prepared: bool) -> None:
    seen = []
    for place in (both.eke, both.real):
        with connect(place) as client:
            cursor = client.execute(text.encode(), prepare=prepared)
            seen.append(([column.name for column in cursor.description], cursor.fetchall()))
    (names, ours), (real_names, real) = seen
    assert names == real_names
    assert len(ours) == len(real)
    for row, true in zip(ours, real, strict=True):
        for value, exact in zip(row, true, strict=True):
            if isinstance(value, float):
                assert abs(value - float(exact)) < 2 * OFF
            else:
                assert value == exact


def test_counts_are_texts_where_they_are_cast(both: Both) -> None:
    with connect(both.eke) as client:
        cursor = client.execute("SELECT sex, COUNT(*)::text FROM people GROUP BY sex ORDER BY sex")
        assert [column.name for column in cursor.description] == ["sex", "count"]
        (_, women), (_, men) = cursor.fetchall()
        assert abs(float(women) - 200) < OFF
        assert abs(float(men) - 400) < OFF
