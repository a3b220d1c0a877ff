"""Questions through psycopg: values, intervals, prices, and nothing charged by accident."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors

import eke
from tests.service import BY_SEX, DOMAIN, people
from tests.wire import Raw, Wire, results_of


def spent(wire: Wire) -> float:
    return wire.session.budget.spent


def test_an_answer_with_its_price_and_again_for_free(wire: Wire) -> None:
    with wire.connect() as client:
        said: list[str] = []
        client.add_notice_handler(lambda one: said.append(one.message_primary))
        before = spent(wire)
        rows = client.execute(BY_SEX).fetchall()
        assert [key for key, _ in rows] == ["Female", "Male"]
        cost = float(client.execute("SHOW eke.last_cost").fetchone()[0])
        assert 0 < cost == pytest.approx(spent(wire) - before)
        assert said[0].startswith("Paid epsilon")
        after = spent(wire)
        said.clear()
        assert client.execute(BY_SEX).fetchall() == rows
        assert spent(wire) == after
        assert said[0].startswith("Free")
        assert client.execute("SHOW eke.last_cost").fetchone()[0] == "0"
    direct = wire.session.ask(BY_SEX, within=20)
    assert [row[1].value for row in direct.rows] == [value for _, value in rows]


def test_the_same_bytes_again(wire: Wire) -> None:
    received: list[list[tuple[str, bytes]]] = []
    for _ in range(3):
        with Raw(wire) as raw:
            raw.sign_in(wire)
            raw.send("Q", b"SET eke.within = 20; SET client_min_messages = error\0")
            raw.everything()
            raw.send("Q", b"SELECT age, AVG(age), COUNT(*) FROM people GROUP BY age\0")
            received.append(raw.everything())
    assert received[0] == received[1] == received[2]
    assert [letter for letter, _ in received[0]] == ["T", *["D"] * 10, "C", "Z"]


def test_intervals_as_columns(wire: Wire) -> None:
    with wire.connect() as client:
        client.execute("SET eke.intervals = on")
        cursor = client.execute("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
        assert [column.name for column in cursor.description] == ["sex", "n", "n_low", "n_high"]
        for _, value, low, high in cursor.fetchall():
            assert low < value < high
            assert high - low <= 40 + 1e-9


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM people LIMIT 0",
        "SELECT * FROM public.people WHERE 1 = 0",
        "SELECT sex, age FROM people WHERE false",
        "SELECT sex, COUNT(*) FROM people GROUP BY sex LIMIT 0",
        "SELECT city, COUNT(*) FROM people WHERE 1 = 0 GROUP BY city",
        "SELECT * FROM (SELECT city, COUNT(*) FROM people GROUP BY city) q WHERE 1=0",
        "SELECT * FROM (SELECT city, COUNT(*) FROM people GROUP BY city) AS q LIMIT 0",
        'SELECT "q"."n" AS "x" FROM (SELECT COUNT(*) AS n FROM people) AS "q" LIMIT 0',
        'SELECT "people"."age" AS "a", "people"."sex" FROM "public"."people" "people" LIMIT 0',
        "EXPLAIN SELECT city, COUNT(*) FROM people GROUP BY city",
    ],
)
def test_probes_and_explanations_cost_nothing(wire: Wire, statement: str) -> None:
    before = spent(wire)
    with wire.connect(within=0.001) as client:
        cursor = client.execute(statement)
        assert cursor.description
        assert not cursor.fetchall() or statement.startswith("EXPLAIN")
    assert spent(wire) == before


def test_describing_a_statement_costs_nothing(wire: Wire) -> None:
    before = spent(wire)
    with wire.connect(within=0.001) as client:
        text = b"SELECT city, COUNT(*) AS n FROM people WHERE age > $1 AND sex = $2 GROUP BY city"
        client.pgconn.send_prepare(b"p", text)
        (prepared,) = results_of(client.pgconn)
        assert prepared.status == psycopg.pq.ExecStatus.COMMAND_OK
        client.pgconn.send_describe_prepared(b"p")
        (told,) = results_of(client.pgconn)
        assert [told.fname(n) for n in range(told.nfields)] == [b"city", b"n"]
        assert [told.ftype(n) for n in range(told.nfields)] == [25, 701]
        assert [told.param_type(n) for n in range(told.nparams)] == [20, 25]
    assert spent(wire) == before


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("SELECT * FROM people LIMIT 100", errors.SyntaxError),
        ("SELECT sex FROM people", errors.SyntaxError),
        ("SELECT COUNT(*) FROM people WHERE nothing = 1", errors.SyntaxError),
        ("INSERT INTO people VALUES (1)", errors.ReadOnlySqlTransaction),
        ("DROP TABLE people", errors.ReadOnlySqlTransaction),
        ("CREATE TABLE t (a int)", errors.ReadOnlySqlTransaction),
        ("COPY people FROM STDIN", errors.FeatureNotSupported),
        ("EXPLAIN ANALYZE SELECT COUNT(*) FROM people", errors.FeatureNotSupported),
        ("LISTEN news", errors.ReadOnlySqlTransaction),
        ("SELECT COUNT(*) FROM people; SELECT 'a", errors.SyntaxError),
    ],
)
def test_what_is_refused_costs_nothing(wire: Wire, statement: str, kind: Any) -> None:
    before = spent(wire)
    with wire.connect() as client, pytest.raises(kind) as refusal:
        client.execute(statement)
    assert refusal.value.diag.message_primary
    assert spent(wire) == before


def test_an_error_says_where_it_is(wire: Wire) -> None:
    statement = "SELECT COUNT(*)\nFROM public.people WHERE ages > 3"
    with wire.connect() as client, pytest.raises(psycopg.Error) as refusal:
        client.execute(statement)
    assert int(refusal.value.diag.statement_position or 0) == statement.index("ages") + 1


def test_only_free_answers(wire: Wire) -> None:
    before = spent(wire)
    statement = "SELECT COUNT(*) FROM people WHERE age = 23 AND city = 'd'"
    with wire.connect(within=3) as client:
        client.execute("SET eke.spend = off")
        with pytest.raises(errors.ConfigurationLimitExceeded, match=r"(?s)not free.*epsilon"):
            client.execute(statement)
        assert spent(wire) == before
        client.execute("SET eke.spend = on")
        rows = client.execute(statement).fetchall()
        client.execute("SET eke.spend = off")
        assert client.execute(statement).fetchall() == rows


def test_how_accurate_must_be_said(wire: Wire) -> None:
    with wire.connect(within=None) as client:
        with pytest.raises(errors.InvalidParameterValue) as refusal:
            client.execute("SELECT COUNT(*) FROM people")
        assert "SET eke.within" in (refusal.value.diag.message_hint or "")
        inline = client.execute("SELECT COUNT(*) FROM people ERROR WITHIN 30 AT CONFIDENCE 0.9")
        assert len(inline.fetchall()) == 1


def test_parameters_and_cursors_and_pipelines(wire: Wire) -> None:
    statement = "SELECT age, COUNT(*) FROM people WHERE age >= %s AND sex = %s GROUP BY age"
    with wire.connect() as client:
        rows = client.execute(statement, (20, "Male")).fetchall()
        assert [age for age, _ in rows] == list(range(20, 27))
        assert client.execute(statement, (20, "Male"), binary=True).fetchall() == rows
        with client.transaction(), client.cursor(name="c") as cursor:
            cursor.execute(statement, (20, "Male"))
            assert cursor.fetchmany(3) == rows[:3]
            assert cursor.fetchall() == rows[3:]
        with client.pipeline():
            first = client.execute(statement, (20, "Male"))
            second = client.execute("SHOW server_version")
            assert first.fetchall() == rows
            assert second.fetchone() == ("15.0",)


def test_rows_of_a_wrapped_question_are_cut_after_the_answer(wire: Wire) -> None:
    plain = "SELECT age, COUNT(*) AS n FROM people GROUP BY age"
    with wire.connect() as client:
        rows = client.execute(plain).fetchall()
        assert client.execute(f"SELECT * FROM ({plain}) q LIMIT 4").fetchall() == rows[:4]
        wrapped = f'SELECT * FROM (SELECT * FROM ({plain}) a LIMIT 5) AS "b" LIMIT 9 OFFSET 2'
        assert client.execute(wrapped).fetchall() == rows[2:5]


def test_a_form_of_copies_may_stand_in_quotes(wire: Wire) -> None:
    with wire.connect() as client:
        with client.cursor().copy(f"COPY ({BY_SEX}) TO STDOUT WITH (FORMAT 'csv')") as copy:
            lines = b"".join(copy).decode().splitlines()
        assert [line.split(",")[0] for line in lines] == ["Female", "Male"]


def test_columns_of_a_wrapped_question_are_chosen_after_the_answer(wire: Wire) -> None:
    plain = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    with wire.connect() as client:
        rows = client.execute(plain).fetchall()
        before = spent(wire)
        cursor = client.execute(
            f'SELECT "source"."n" AS "N", source.sex FROM ({plain}) AS "source" LIMIT 1048575'
        )
        assert [column.name for column in cursor.description] == ["N", "sex"]
        assert cursor.fetchall() == [(n, sex) for sex, n in rows]
        client.execute("SET eke.intervals = on")
        low = client.execute(f"SELECT n_low FROM ({plain}) q LIMIT 1").fetchall()
        assert len(low) == 1
        assert low[0][0] < rows[0][1]
        assert spent(wire) == before
        # A name that is missing is noticed before anything is asked.
        new = "SELECT city, COUNT(*) AS n FROM people WHERE age > 18 GROUP BY city"
        for missing in (
            f"SELECT m FROM ({new}) q",
            f"SELECT n FROM (SELECT city AS c FROM ({new}) q) r",
        ):
            with pytest.raises(errors.UndefinedColumn, match=r'column "[mn]" does not exist'):
                client.execute(missing)
        assert spent(wire) == before


def test_probes_have_the_names_they_ask_for(wire: Wire) -> None:
    with wire.connect() as client:
        cursor = client.execute('SELECT p.age AS "a", p.sex FROM public.people p LIMIT 0')
        assert [(column.name, column.type_code) for column in cursor.description] == [
            ("a", 20),
            ("sex", 25),
        ]


def test_rows_are_copied(wire: Wire) -> None:
    plain = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    with wire.connect() as client:
        rows = client.execute(plain).fetchall()
        texts = {
            "": "".join(f"{key}\t{_text(value)}\n" for key, value in rows),
            " WITH (FORMAT csv, HEADER)": "sex,n\n"
            + "".join(f"{key},{_text(value)}\n" for key, value in rows),
        }
        for options, expected in texts.items():
            with client.cursor().copy(f"COPY ({plain}) TO STDOUT{options}") as copy:
                assert b"".join(bytes(part) for part in copy).decode() == expected
        with client.cursor().copy(f"COPY ({plain}) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["text", "float8"])
            assert list(copy.rows()) == rows


def test_the_program_on_the_page_runs(wire: Wire) -> None:
    page = Path(__file__).parents[3] / "docs/how-to/use-postgresql-tools.md"
    (program,) = re.findall(r"```py\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    here = program.replace("adult", "people").replace("(65,)", "(20,)")
    here = here.replace("5433", str(wire.port))  # last: the number of a door may hold the others
    names: dict[str, Any] = {"token": wire.tokens["ann"]}
    exec(here, names)
    assert [key for key, _ in names["rows"]] == ["Female", "Male"]


def _text(value: float) -> str:
    return repr(value).removesuffix(".0")


@pytest.fixture(scope="module")
def other(wire: Wire, tmp_path_factory: pytest.TempPathFactory) -> eke.Session:
    """A second dataset of the same server, which is a database of its own to its clients."""
    place = tmp_path_factory.mktemp("other") / "other.eke"
    made = eke.create(place, people(), DOMAIN, epsilon=1.0)
    wire.state.datasets.add("other", made)
    return made


_ONE = "a question is about one dataset, here people"


@pytest.mark.parametrize(
    ("sql", "advice"),
    [
        ("SELECT COUNT(*) FROM people UNION ALL SELECT COUNT(*) FROM other", _ONE),
        ("SELECT COUNT(*) / (SELECT COUNT(*) FROM other) FROM people", _ONE),
        ("SELECT COUNT(*) FROM people JOIN other USING (age)", _ONE),
        ("SELECT COUNT(*) FROM people WHERE age IN (SELECT age FROM other)", _ONE),
        ("SELECT COUNT(*) FROM people, other", "join a declared lookup by its keys"),
    ],
)
def test_two_datasets_in_one_statement_are_refused_with_advice(
    wire: Wire, other: eke.Session, sql: str, advice: str
) -> None:
    before = spent(wire)
    with wire.connect() as client, pytest.raises(psycopg.Error) as refused:
        client.execute(sql)
    assert advice in f"{refused.value} {refused.value.diag.message_hint}"
    assert (spent(wire), other.budget.spent) == (before, 0)
