"""Statements over the result of a question: found from their words, asked once, charged once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from eke.wire.calculation import ACCURACY, calculation_in
from eke.wire.report import Trouble
from eke.wire.words import Statement, Word, statements
from tests.wire import Wire

TABLES = frozenset({"people", "schools"})
BY_AGE = "SELECT age, COUNT(*) AS n FROM people GROUP BY age"
RESULT = 'SELECT * FROM "result of a question"'


def found(text: str) -> tuple[str, str] | None:
    (statement,) = statements(text)
    calculation = calculation_in(statement, TABLES)
    return None if calculation is None else (calculation.question.text, calculation.text)


@pytest.mark.parametrize(
    "text",
    [
        BY_AGE,
        "SELECT COUNT(*) FROM (SELECT * FROM people WHERE age > 20) AS q",
        "SELECT sex, (SELECT COUNT(*) FROM people) AS n FROM people GROUP BY sex",
        "SELECT COUNT(*) FROM people WHERE age IN (SELECT COUNT(*) FROM people)",
        "WITH q AS (SELECT sex FROM people) SELECT COUNT(*) FROM q",
        "SELECT 'FROM (SELECT COUNT(*) FROM people)' AS text, COUNT(*) FROM people",
        "SELECT count FROM (SELECT sex AS count FROM people) AS q",
    ],
)
def test_questions_are_no_calculations(text: str) -> None:
    assert found(text) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SELECT COUNT(*) FROM (", ") AS q"),
        ("SELECT MAX(n) FROM(", ")q WHERE n > 3"),
        ("WITH q AS (", ") SELECT * FROM q ORDER BY n"),
        ("WITH q AS MATERIALIZED (", ") SELECT * FROM q"),
        ("WITH q AS (", "), r AS (SELECT SUM(n) AS s FROM q) SELECT s FROM r"),
        ("SELECT s FROM (SELECT SUM(n) AS s FROM (", ") AS q) AS r LIMIT 3"),
        ("SELECT 1 FROM (VALUES (1)) AS v JOIN (", ") AS q ON true"),
    ],
)
def test_the_innermost_question_is_asked(before: str, after: str) -> None:
    for question in (
        BY_AGE,
        "SELECT COUNT(*) AS n FROM people",
        "SELECT DISTINCT age AS n FROM public.people",
        "SELECT ROUND(AVG(age), 1) AS n FROM (SELECT * FROM people WHERE age > 3) AS p",
        "select max(1) as n from people -- ) \n",
    ):
        assert found(before + question + after) == (
            question.rstrip().removesuffix("-- )").rstrip(),
            before
            + RESULT
            + (question[question.find(" --") :] if "--" in question else "")
            + after,
        )


def test_the_table_beside_a_result_is_refused() -> None:
    both = f"SELECT 1 FROM ({BY_AGE}) AS q JOIN people USING (age)"
    with pytest.raises(Trouble, match="beside the result of a question"):
        found(both)
    twice = f"SELECT 1 FROM ({BY_AGE}) AS q JOIN ({BY_AGE}) AS r USING (age)"
    with pytest.raises(Trouble, match="calculated from one question"):
        found(twice)


def test_it_costs_what_the_question_costs_once(wire: Wire) -> None:
    question = "SELECT sex, city, COUNT(*) AS n FROM people GROUP BY sex, city"
    over = f"SELECT sex, SUM(n), COUNT(*) FROM ({question}) AS q GROUP BY sex ORDER BY sex"
    with wire.connect(within=11) as client:
        said: list[str] = []
        client.add_notice_handler(lambda notice: said.append(notice.message_primary))
        price = wire.session.preview(question, within=11).cost
        before = wire.session.budget.spent
        sums = client.execute(over).fetchall()
        assert wire.session.budget.spent - before == pytest.approx(price)
        assert price > 0
        assert said[-1] == ACCURACY
        rows = client.execute(question).fetchall()
        assert client.execute(over).fetchall() == sums
        assert wire.session.budget.spent - before == pytest.approx(price)
        for sex, total, cities in sums:
            parts = [n for one, _, n in rows if one == sex]
            assert (pytest.approx(total), cities) == (sum(parts), len(parts))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT nothing FROM ({}) AS q", "42703"),
        ("SELECT nothing_like_this(n) FROM ({}) AS q", "42883"),
        ("SELECT * FROM ({}) AS q JOIN nobody ON true", "42P01"),
        ("SELECT * FROM ({}) AS q, people AS p", "42P01"),
        ("SELECT read_csv('/etc/passwd') FROM ({}) AS q", "42883"),
        ("SELECT SUM(n) FROM ({}) AS q ERROR WITHIN 3", "42601"),
        ("SELECT SUM(n) FROM ({}) AS q WHERE", "42601"),
    ],
)
def test_what_cannot_be_calculated_is_not_asked(wire: Wire, text: str, code: str) -> None:
    before = wire.session.budget.spent
    question = "SELECT city, COUNT(*) AS n FROM people WHERE age = 20 GROUP BY city"
    with wire.connect() as client:
        for statement in (text.format(question), "EXPLAIN " + text.format(question)):
            with pytest.raises(psycopg.Error) as refused:
                client.execute(statement)
            assert refused.value.sqlstate == code
    assert wire.session.budget.spent == before


ALL = "SELECT COUNT(*) AS n FROM people WHERE age > 18"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("WITH q AS ({}) SELECT * FROM q WHERE 1 = 0", []),
        ("SELECT n + 1 FROM ({}) q WHERE 1=0 LIMIT 10", []),
        ("SELECT n + 1 FROM ({}) q WHERE (1=0)", []),
        ("SELECT n + 1 FROM ({}) q WHERE false ORDER BY 1", []),
        ("(SELECT n + 1 FROM ({}) q LIMIT 0)", []),
        ("SELECT MAX(s) FROM (SELECT n + 1 AS s FROM ({}) q LIMIT 0) x", [(None,)]),
        ("SELECT MAX(s) FROM (SELECT n + 1 AS s FROM ({}) q WHERE 1 = 0) x", [(None,)]),
        ("SELECT COUNT(*) FROM ({}) q WHERE 1 = 0", [(0,)]),
        ("SELECT c FROM (SELECT COUNT(*) AS c FROM ({}) q WHERE 1 = 0) x", [(0,)]),
    ],
)
def test_where_no_row_is_needed_none_is_asked_for(
    wire: Wire, text: str, rows: list[tuple[int | None]]
) -> None:
    before = wire.session.budget.spent
    grouped = "SELECT city, COUNT(*) AS n FROM people WHERE age > 19 GROUP BY city"
    with wire.connect(within=1.5) as client:
        for question in (ALL, grouped):
            assert client.execute(text.format(question)).fetchall() == rows
    assert wire.session.budget.spent == before


def test_rows_that_are_needed_beside_none_are_asked_for(wire: Wire) -> None:
    with wire.connect() as client:
        text = f"SELECT n FROM ({ALL}) q UNION ALL SELECT 1 WHERE 1 = 0"
        assert len(client.execute(text).fetchall()) == 1
        text = f"SELECT n FROM ({ALL}) q WHERE n > 1 OR 1 = 0"
        assert len(client.execute(text).fetchall()) == 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT to_char(n, '999') FROM ({}) q", "0A000"),
        ("SELECT now() - now(), n FROM ({}) q", "0A000"),
        ("WITH people AS (VALUES (1)) SELECT MAX(n) FROM ({}) q", "42712"),
        ("SELECT set_config('eke.spend', 'off', false), MAX(n) FROM ({}) q", "0A000"),
    ],
)
def test_what_no_row_could_change_is_told_before_anything_is_asked(
    wire: Wire, text: str, code: str
) -> None:
    before = wire.session.budget.spent
    question = "SELECT COUNT(*) AS n FROM people WHERE age > 20"
    with wire.connect(within=1.2) as client, pytest.raises(psycopg.Error) as refused:
        client.execute(text.format(question))
    assert refused.value.sqlstate == code
    assert wire.session.budget.spent == before


def test_names_are_those_of_the_question(wire: Wire) -> None:
    """Capitals count, intervals do not move a list of names, and no name stands for the rows."""
    with wire.connect() as client:
        inside = 'SELECT COUNT(*) AS n, AVG(age) AS "N" FROM people'
        (mean,) = client.execute(f'SELECT "N" FROM ({inside}) q').fetchone()
        assert 10 < mean < 50
        with pytest.raises(psycopg.Error, match="differ in capitals alone"):
            client.execute(f'SELECT "N" + 0 FROM ({inside}) q')
        hidden = 'WITH "result of a question" AS (SELECT 1 AS n) SELECT MAX(n) + 0 FROM ({}) q'
        assert client.execute(hidden.format(ALL)).fetchone()[0] > 100
        text = "SELECT b + 0 FROM (SELECT sex, COUNT(*) AS n, AVG(age) AS m FROM people GROUP BY 1)"
        plain = client.execute(f"{text} q(s, a, b)").fetchall()
        client.execute("SET eke.intervals = on")
        assert client.execute(f"{text} q(s, a, b)").fetchall() == plain


@pytest.mark.parametrize(
    "text",
    [
        "WITH q(a) AS ({}) SELECT a + 1 FROM q",
        "WITH q AS MATERIALIZED ({}) SELECT n + 1 FROM q",
        "WITH q AS NOT MATERIALIZED ({}) SELECT n + 1 FROM q",
        "SELECT q.n FROM ({}) q JOIN (VALUES (1)) v(a) ON v.a IS NOT DISTINCT FROM 1",
        "SELECT n + 1 FROM (SELECT QUANTILE_DISC(age, 0.5) AS n FROM people) q",
    ],
)
def test_queries_are_named_in_every_way(wire: Wire, text: str) -> None:
    with wire.connect() as client:
        assert len(client.execute(text.format(ALL)).fetchall()) == 1


def test_sums_of_whole_numbers_are_sent_in_binary(wire: Wire) -> None:
    inside = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    text = (
        f"SELECT SUM(CASE WHEN n > 10 THEN 1 ELSE 0 END), ROUND(SUM(n)::numeric) FROM ({inside}) q"
    )
    with wire.connect() as client:
        assert client.execute(text, binary=True).fetchall() == client.execute(text).fetchall()


def test_a_text_of_many_parentheses_is_read_at_once() -> None:
    """In steps, not seconds: each word is looked at a few times, however deep it stands."""
    for levels in (400, 3_800):
        text = "SELECT 1 FROM(" * levels + "SELECT COUNT(*) FROM people" + ")q" * levels
        (statement,) = statements(text)
        looked, Counted.steps = Counted(statement.words), 0
        with pytest.raises(Trouble, match="at most 10 queries"):
            calculation_in(Statement(text, looked), TABLES)
        assert looked.steps < 60 * len(statement.words)


class Counted(tuple[Word, ...]):
    """Words that count how often they are gone through."""

    __slots__ = ()
    steps = 0  # of all that were made so far

    def __iter__(self) -> Iterator[Word]:
        for word in super().__iter__():
            Counted.steps += 1
            yield word

    def __getitem__(self, place: Any) -> Any:
        chosen = super().__getitem__(place)
        Counted.steps += len(chosen) if isinstance(place, slice) else 1
        return chosen


def test_probes_and_plans_of_calculations_are_free(wire: Wire) -> None:
    before = wire.session.budget.spent
    inside = "SELECT city, age, COUNT(*) AS n FROM people WHERE age > 21 GROUP BY city, age"
    over = f"SELECT city, SUM(n) AS s FROM ({inside}) AS q GROUP BY city"
    with wire.connect() as client:
        for probe in (
            f"SELECT * FROM ({over}) AS x LIMIT 0",
            f"SELECT s FROM ({over}) x WHERE 1=0",
        ):
            cursor = client.execute(probe)
            assert cursor.fetchall() == []
            assert cursor.description[-1].name == "s"
        plan = [line for (line,) in client.execute(f"EXPLAIN {over}").fetchall()]
        assert plan[-1] == ACCURACY
        assert any("cost" in line for line in plan)
        client.execute("SET eke.spend = off")
        with pytest.raises(psycopg.Error, match="not free"):
            client.execute(over)
    assert wire.session.budget.spent == before


def test_what_fails_afterwards_says_that_the_question_was_answered(wire: Wire) -> None:
    with wire.connect() as client, pytest.raises(psycopg.Error) as failed:
        client.execute("SELECT sex::int FROM (SELECT sex, COUNT(*) FROM people GROUP BY 1) AS q")
    assert failed.value.sqlstate == "22P02"
    assert "free from now on" in str(failed.value.diag.message_hint)


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("(n + 1) / 2", "(n + 1) * 0.5"),
        ("-n / 4", "n * -0.25"),
        ("COALESCE(ABS(n), 0) / 4", "n * 0.25"),
        ("CASE WHEN n > 0 THEN n END / 4", "n * 0.25"),
        ("SUM(n) OVER () / 4", "(SUM(n) OVER ()) * 0.25"),
        ("(SELECT MAX(r.n) FROM q AS r) / 4", "(SELECT MAX(r.n) FROM q AS r) * 0.25"),
        ("7 / 2", "3"),
        ("COUNT(*) OVER () / 4", "0"),
        ("EXTRACT(year FROM DATE '2001-02-03') / 10", "200.1"),
        ("1.26::numeric(6, 1)", "1.3"),
    ],
)
def test_numbers_are_divided_as_their_types_say(wire: Wire, written: str, same: str) -> None:
    inside = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    with wire.connect() as client:
        text = f"WITH q AS ({inside}) SELECT {written}, {same} FROM q"
        for one, other in client.execute(text).fetchall():
            assert float(one) == pytest.approx(float(other), rel=1e-12)


def test_a_result_is_gone_when_its_statement_ends(wire: Wire) -> None:
    with wire.connect() as client:
        client.execute(f"SELECT COUNT(*) FROM ({BY_AGE}) AS q")
        with pytest.raises(psycopg.Error) as missing:
            client.execute('SELECT * FROM "result of a question"')
        assert missing.value.sqlstate == "42P01"
        listed = client.execute("SELECT relname FROM pg_class WHERE relname LIKE 'result%'")
        assert listed.fetchall() == []


def test_intervals_can_be_calculated_with(wire: Wire) -> None:
    text = (
        "SELECT sex, n_high - n_low AS width FROM (SELECT sex, COUNT(*) AS n FROM people "
        "GROUP BY sex) AS q"
    )
    with wire.connect() as client:
        client.execute("SET eke.intervals = on")
        assert all(0 < width <= 41 for _, width in client.execute(text).fetchall())


def test_two_at_once_do_not_meet(wire: Wire) -> None:
    """Two clients of one account, whose catalogue they share, each with results of its own."""

    def ask(key: str) -> set[int]:
        text = f"SELECT COUNT(*) FROM (SELECT {key}, COUNT(*) FROM people GROUP BY 1) AS q"
        with wire.connect() as client:
            return {client.execute(text).fetchone()[0] for _ in range(15)}

    with ThreadPoolExecutor(2) as both:
        numbers = list(both.map(ask, ("sex", "age")))
    assert numbers == [{2}, {len(wire.session.domain["age"].labels)}]
