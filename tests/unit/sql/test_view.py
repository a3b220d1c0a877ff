"""Views as text: what is admitted, what is refused with which advice, and whose rows they are."""

from __future__ import annotations

import pytest

import eke
from eke.errors import PrivacyError, SqlError
from eke.sql.view import read_view

JOINED = "SELECT v.patient, v.cost, d.ward FROM visits v JOIN doctors d ON v.doctor = d.doctor"


@pytest.mark.parametrize(
    ("sql", "advice"),
    [
        ("SELECT COUNT(*) AS n FROM t", "GROUP BY needs the column of the id"),
        ("SELECT max(a) AS m FROM t", "without noise"),
        ("SELECT a FROM t HAVING MAX(b) > 1", "without noise"),
        ("SELECT a FROM t HAVING a > 1", "GROUP BY needs the column of the id"),
        ("SELECT list(a) AS m FROM t GROUP BY b", "not among the aggregates"),
        ("SELECT b, median(a) AS m FROM t GROUP BY b", "not among the aggregates"),
        ("SELECT a, b FROM t GROUP BY a", "1:11: several rows make one row"),
        ("SELECT a, MAX(b) + b AS c FROM t GROUP BY a", "several rows make one row"),
        ("SELECT a FROM t GROUP BY a HAVING b > 1", "several rows make one row"),
        ("SELECT a, SUM(COUNT(*)) AS n FROM t GROUP BY a", "none within another"),
        ("SELECT a, COUNT(*) FILTER (WHERE MAX(b) > 1) AS n FROM t GROUP BY a", "none within"),
        ("SELECT a FROM t WHERE COUNT(*) > 1 GROUP BY a", "none within another"),
        ("SELECT t.a FROM t JOIN s ON t.a = MAX(s.a) GROUP BY t.a", "none within another"),
        ("SELECT MAX(a) AS m FROM t GROUP BY 1", "none within another"),
        ("SELECT COUNT(*) AS n FROM t GROUP BY 'x'", "GROUP BY needs"),
        ("SELECT a, COUNT(*) AS n FROM t GROUP BY 3", "no column 3"),
        ("SELECT a, COUNT(*) AS n FROM t GROUP BY -1", "GROUP BY needs|several rows"),
        ("SELECT a + 1 AS b, COUNT(*) AS n FROM t GROUP BY b", "name given with AS"),
        ("SELECT a, COUNT(*) AS n FROM t GROUP BY ALL", "groups by expressions"),
        ("SELECT a, COUNT(*) AS n FROM t GROUP BY ROLLUP (a)", "ROLLUP|groups by expressions"),
        ("SELECT a, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((a))", "groups by expressions"),
        ("SELECT a, SUM(DISTINCT b) AS n FROM t GROUP BY a", r"COUNT\(DISTINCT x\)"),
        ("SELECT a, COUNT(DISTINCT b, c) AS n FROM t GROUP BY a", r"COUNT\(DISTINCT x\)"),
        ("SELECT a, MAX(b, 2) AS n FROM t GROUP BY a", "take one column"),
        ("SELECT a, SUM(b ORDER BY c) AS n FROM t GROUP BY a", "write the view with these"),
        ("SELECT a, COUNT(*) OVER () AS n FROM t GROUP BY a", "window"),
        ("SELECT DISTINCT ON (a) a, b FROM t", "DISTINCT ON looks at several rows"),
        ("SELECT DISTINCT a, COUNT(*) AS n FROM t GROUP BY a", "leave DISTINCT out"),
        ("SELECT row_number() OVER () AS r FROM t", "window"),
        ("SELECT a FROM t QUALIFY row_number() OVER () = 1", "QUALIFY"),
        ("SELECT a FROM t WERE a > 1", "A view looks like SELECT v.patient"),
        ("SELECT a FROM t LIMIT 3", "LIMIT"),
        ("SELECT a FROM t LIMIT 3 OFFSET 1", "LIMIT|OFFSET"),
        ("SELECT a FROM t ORDER BY a", "no order"),
        ("SELECT a FROM t TABLESAMPLE 10", "sample"),
        ("SELECT a FROM t UNION SELECT a FROM s", "UNION ALL"),
        ("SELECT a FROM t EXCEPT SELECT a FROM s", "EXCEPT"),
        ("SELECT a FROM t INTERSECT SELECT a FROM s", "INTERSECT"),
        ("SELECT (SELECT 1) AS m FROM t", "SELECT within a view"),
        ("SELECT a FROM t WHERE a IN (SELECT a FROM s)", "SELECT within a condition"),
        ("SELECT a FROM t WHERE EXISTS (SELECT 1)", "EXISTS"),
        ("WITH s AS (SELECT a FROM t) SELECT a FROM s", "WITH is not supported"),
        ("SELECT * FROM t", "name the columns"),
        ("SELECT t.* FROM t", "name the columns"),
        ("SELECT a + 1 FROM t", "with AS"),
        ("SELECT a, b AS A FROM t", "two columns"),
        ("SELECT 1 AS a", "write FROM"),
        ("SELECT random() AS r FROM t", "same whenever"),
        ("SELECT uuid() AS r FROM t", "same whenever"),
        ("SELECT current_date AS r FROM t", "same whenever"),
        ("SELECT current_user AS r FROM t", "same whenever"),
        ("SELECT now() AS r FROM t", "not among the functions"),
        ("SELECT nextval('s') AS r FROM t", "not among the functions"),
        ("SELECT getenv('HOME') AS r FROM t", "not among the functions"),
        ("SELECT current_setting('x') AS r FROM t", "not among the functions"),
        ("SELECT DATE 'today' AS d FROM t", "moment that passes"),
        ("SELECT CAST(a AS JSON) AS d FROM t", "a view casts to"),
        ("SELECT a FROM read_csv('/etc/passwd')", "named tables only"),
        ("SELECT a FROM 'other.csv'", "was not said"),
        ("SELECT a FROM range(3)", "named tables only"),
        ("SELECT a FROM (SELECT a FROM t) AS x", "within a view"),
        ("SELECT t.a FROM t, s", "every row with every row"),
        ("SELECT t.a FROM t CROSS JOIN s", "CROSS JOIN"),
        ("SELECT t.a FROM t FULL JOIN s ON t.a = s.a", "FULL JOIN"),
        ("SELECT t.a FROM t RIGHT JOIN s ON t.a = s.a", "RIGHT JOIN"),
        ("SELECT t.a FROM t SEMI JOIN s ON t.a = s.a", "SEMI JOIN"),
        ("SELECT t.a FROM t NATURAL JOIN s", "kind of join"),
        ("SELECT t.a FROM t ASOF JOIN s ON t.a = s.a", "kind of join"),
        ("SELECT t.a FROM t JOIN s ON t.a < s.a", "a join compares"),
        ("SELECT t.a FROM t JOIN s ON t.a = s.a OR t.b = s.b", "a join compares"),
        ("SELECT t.a FROM t JOIN s ON t.a = s.a AND t.b = 1", "go to WHERE"),
        ("SELECT t.a FROM t JOIN s ON s.a = 1", "a join compares"),
        ("SELECT a FROM t JOIN s ON t.a = s.a", "say of which table"),
        ("SELECT x.a FROM t JOIN s ON t.a = s.a", "no table 'x'"),
        ("SELECT t.a FROM t JOIN t ON t.a = t.a", "two tables are called"),
        ("SELECT t.a FROM t JOIN s USING (a) JOIN r USING (b)", "third table"),
        ("SELECT a FROM t; SELECT a FROM s", "one statement"),
        ("DROP TABLE t", "starts with SELECT"),
        ("SELECT a INTO s FROM t", "INTO"),
        ("SELECT a FROM t FOR UPDATE", "leave it out"),
    ],
)
def test_what_is_no_view_is_refused_with_advice(sql: str, advice: str) -> None:
    with pytest.raises(SqlError, match=advice):
        read_view(sql, ["t", "s", "r"])


def test_a_table_that_is_not_used_is_refused() -> None:
    with pytest.raises(SqlError, match="does not use the table 's'"):
        read_view("SELECT a FROM t", ["t", "s"])


def test_every_expression_is_total_for_duckdb() -> None:
    plan = read_view(
        "SELECT CAST(a AS INTEGER) / b AS x FROM t WHERE CAST(c AS DATE) > '2013-01-01'"
    )
    assert plan.select == (
        'SELECT TRY(TRY_CAST("t"."a" AS INT) / NULLIF("t"."b", 0)) AS "x" FROM "eke_base_0" AS "t" '
        'WHERE TRY(TRY_CAST("t"."c" AS DATE) > \'2013-01-01\')'
    )


def test_groups_are_made_first_and_columns_of_them() -> None:
    plan = read_view(
        "SELECT i, SUM(a / b) / COUNT(*) AS m, COUNT(DISTINCT c) FILTER (WHERE d > 1) AS n "
        "FROM t WHERE a > 0 GROUP BY i HAVING COUNT(*) > 2"
    )
    assert plan.select == (
        'SELECT "eke_key_0" AS "i", TRY("eke_aggregate_0" / NULLIF("eke_aggregate_1", 0)) AS "m", '
        '"eke_aggregate_2" AS "n" FROM (SELECT "t"."i" AS "eke_key_0", '
        'SUM(TRY("t"."a" / NULLIF("t"."b", 0))) AS "eke_aggregate_0", '
        'COUNT(*) AS "eke_aggregate_1", '
        'COUNT(DISTINCT "t"."c") FILTER (WHERE TRY("t"."d" > 1)) AS "eke_aggregate_2" '
        'FROM "eke_base_0" AS "t" WHERE TRY("t"."a" > 0) GROUP BY 1) AS "eke_groups" '
        'WHERE TRY("eke_aggregate_1" > 2)'
    )
    assert plan.compared == ('SELECT "t"."i" AS "k0" FROM "eke_base_0" AS "t"',)
    assert plan.added == (
        'SELECT TRY("t"."a" / NULLIF("t"."b", 0)) AS "k0" FROM "eke_base_0" AS "t"',
    )
    assert ("t", "c") in plan.uses
    assert ("t", "d") in plan.uses


def test_names_are_quoted_and_folded_as_postgresql_does() -> None:
    plan = read_view('SELECT USER, "Age" AS Old FROM public.People', None, "postgres")
    assert plan.tables == ("public.people",)
    wanted = '"people"."user" AS "user", "people"."Age" AS "old" FROM "eke_base_0" AS "people"'
    assert plan.select == f"SELECT {wanted}"
    for sql in ("SELECT a::regclass AS b FROM t", "SELECT TRY_CAST(a AS DATE) AS b FROM t"):
        with pytest.raises(SqlError):
            read_view(sql, None, "postgres")


@pytest.mark.parametrize(
    ("sql", "column", "protected"),
    [
        (JOINED, "patient", {"visits"}),
        (JOINED.replace("JOIN", "LEFT JOIN"), "patient", {"visits"}),
        (
            "SELECT p.id, v.c FROM visits v JOIN people p ON v.patient = p.id",
            "id",
            {"visits", "people"},
        ),
        (
            "SELECT CAST(v.p AS INT) AS i FROM visits v JOIN t ON CAST(v.p AS INT) = t.p",
            "i",
            {"visits", "t"},
        ),
        # The id is compared in another form, so the joined table is not known to carry it.
        ("SELECT CAST(v.p AS INT) AS i FROM visits v JOIN t ON v.p = t.p", "i", {"visits"}),
        (
            "SELECT a.i FROM a JOIN b ON a.i = b.i JOIN c ON c.i = b.i LEFT JOIN d ON d.i = c.i",
            "i",
            {*"abcd"},
        ),
        (
            "SELECT a.i FROM a LEFT JOIN b ON a.x = b.x JOIN c ON c.i = b.i AND c.i = a.i",
            "i",
            {*"ac"},
        ),
        # Where nothing was met, COALESCE makes an id of its own.
        (
            (
                "SELECT a.i FROM a LEFT JOIN b ON a.i = COALESCE(b.i, 5) "
                "LEFT JOIN c ON COALESCE(b.i, 5) = c.i LEFT JOIN d ON d.i = c.i"
            ),
            "i",
            {*"ab"},
        ),
        (
            (
                "SELECT a.i FROM a LEFT JOIN z ON a.x = z.x "
                "LEFT JOIN b ON a.i = b.i AND COALESCE(z.i, 5) = b.i "
                "JOIN d ON COALESCE(z.i, 5) = d.i"
            ),
            "i",
            {*"ab"},
        ),
        ("SELECT i FROM a UNION ALL SELECT b.j FROM b JOIN c USING (k)", "i", {*"ab"}),
        ("SELECT x.i FROM a x JOIN a y ON x.i = y.i", "i", {"a"}),
        ("SELECT i, COUNT(*) AS n FROM a GROUP BY i", "i", {"a"}),
        ("SELECT b.i, MAX(a.x) AS m FROM a JOIN b USING (i) GROUP BY (b.i), a.k", "i", {*"ab"}),
        ("SELECT DISTINCT a.i, b.x FROM a LEFT JOIN b USING (k)", "i", {"a"}),
        (
            "SELECT i, 1 AS n FROM a UNION ALL SELECT j, COUNT(*) AS n FROM b GROUP BY 1",
            "i",
            {*"ab"},
        ),
    ],
)
def test_which_tables_carry_the_id(sql: str, column: str, protected: set[str]) -> None:
    promise = read_view(sql).promise(eke.Unit(column))
    assert set(promise.protected) == protected
    assert set(promise.public) == set(read_view(sql).tables) - protected


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT a.x || b.y AS i FROM a JOIN b USING (k)", "one table"),
        ("SELECT 1 AS i FROM a", "one table"),
        ("SELECT b.i FROM a LEFT JOIN b USING (k)", "after a LEFT JOIN"),
        ("SELECT x.i FROM a x JOIN a y ON x.k = y.k", "rows of several ids"),
        ("SELECT x.i FROM a x JOIN a y ON x.i = y.parent", "rows of several ids"),
        ("SELECT i FROM a UNION ALL SELECT b.i FROM b JOIN a USING (k)", "rows of several ids"),
        ("SELECT i AS j FROM a", "no column 'i'"),
        ("SELECT MAX(i) AS i FROM a GROUP BY k", "GROUP BY this column"),
        ("SELECT k + 1 AS i FROM a GROUP BY k", "GROUP BY this column"),
        ("SELECT i FROM a UNION ALL SELECT MIN(j) AS j FROM b GROUP BY k", "GROUP BY this column"),
        ("SELECT b.i FROM a LEFT JOIN b USING (k) GROUP BY b.i", "after a LEFT JOIN"),
    ],
)
def test_what_cannot_be_an_id_is_refused(sql: str, problem: str) -> None:
    with pytest.raises(PrivacyError, match=problem):
        read_view(sql).promise(eke.Unit("i"))


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT x.i FROM a x JOIN a y ON x.i = y.i", "is joined as well"),
        ("SELECT i FROM a UNION ALL SELECT i FROM a", "each part of UNION ALL"),
        ("SELECT i FROM a UNION ALL SELECT b.i FROM b JOIN a USING (i)", "is joined as well"),
        ("SELECT i, COUNT(*) AS n FROM a GROUP BY i", "several rows make one row"),
        ("SELECT DISTINCT i FROM a", "several rows make one row"),
    ],
)
def test_rows_that_may_make_several_rows_need_a_unit(sql: str, problem: str) -> None:
    with pytest.raises(PrivacyError, match=problem):
        read_view(sql).promise(None)


def test_replace_one_needs_a_row_for_each_row() -> None:
    plain = "SELECT a.i, b.j FROM a LEFT JOIN b USING (i)"
    assert read_view(plain).promise(None, "replace_one").protected == ("a",)
    for sql in (plain.replace("LEFT ", ""), f"{plain} WHERE a.i > 0", f"{plain} GROUP BY 1, 2"):
        with pytest.raises(PrivacyError, match="replace_one"):
            read_view(sql).promise(None, "replace_one")
