"""What was released and published is there to be read, and stands in for rows in previews."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from psycopg import errors

import eke
from eke.catalogue import Relation
from eke.wire import released
from eke.wire.released import ReleasedRelations, different
from eke.wire.table import ServedTable
from tests.wire import Wire, open_door

VIEWS = "SELECT relname FROM pg_class WHERE relkind = 'v' AND relnamespace = 2200 ORDER BY relname"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """A dataset with a publication of ann's and a release of cleo's."""
    with open_door(tmp_path_factory.mktemp("filled"), requests_per_minute=1_000_000) as opened:
        session = opened.session
        session.publish("max_entropy", epsilon=1.0, rows=300, key="rows", analyst="ann")
        domain = session.domain
        single = eke.Workload.of(domain, [eke.count(sex="Male")])
        workload = eke.all_marginals(domain, 2) + eke.ranges(domain, "age") + single
        session.release(session.plan(workload, budget=4.0), key="tables", analyst="cleo")
        yield opened


def numbers(wire: Wire) -> tuple[int, int]:
    """Of the publication and of the release."""
    archive = wire.session.archive
    return archive.publications()[-1].sequence, archive.releases()[-1].sequence


def names(client: Any) -> list[str]:
    return [name for (name,) in client.execute(VIEWS).fetchall()]


def test_everything_released_is_listed_and_can_be_read_for_nothing(filled: Wire) -> None:
    published, release = numbers(filled)
    before = filled.session.budget.spent
    with filled.connect(within=None) as client:
        listed = names(client)
        assert listed == [
            f"published_{published}",
            f"released_{release}_age",
            f"released_{release}_age_city",
            f"released_{release}_questions",
            f"released_{release}_sex_age",
            f"released_{release}_sex_city",
        ]
        for name in listed:
            cursor = client.execute(f"SELECT * FROM {name}")
            described = client.execute(
                "SELECT column_name FROM information_schema.columns WHERE table_name = %s "
                "ORDER BY ordinal_position",
                [name],
            ).fetchall()
            assert [column.name for column in cursor.description] == [one for (one,) in described]
            assert cursor.fetchall()
    assert filled.session.budget.spent == before


def test_a_released_table_has_its_values_and_where_the_true_ones_lie(filled: Wire) -> None:
    _, number = numbers(filled)
    table = filled.session.archive.release(number).table("sex", "age")
    with filled.connect(within=None) as client:
        rows = client.execute(f"SELECT * FROM public.released_{number}_sex_age").fetchall()
    frame = table.to_pandas()
    assert [row[:3] for row in rows] == list(
        frame[["sex", "age", "value"]].itertuples(index=False, name=None)
    )
    errors_told = np.array([(high - low) / 2 for *_, low, high in rows])
    # At 95 % a Laplace law reaches 2.12 standard errors, a Gaussian 1.96.
    assert errors_told == pytest.approx(2.118 * frame["standard_error"].to_numpy(), rel=1e-3)


def test_intervals_of_released_tables_hold(tmp_path: Path) -> None:
    """Of 4,000 cells 95 % are inside, give or take 4 deviations; half as wide, 78 % would be."""
    inside = inside_half = total = 0
    domain = eke.Domain(sex=eke.Categorical("f", "m"), age=eke.Integer(0, 999))
    rows = [("fm"[n % 2], n * n % 1000) for n in range(3000)]
    counts = Counter(rows)
    frame = pd.DataFrame(rows, columns=["sex", "age"])
    session = eke.create(tmp_path / "t.eke", frame, domain, epsilon=100.0)
    for turn in range(2):
        plan = session.plan(eke.all_marginals(domain, 2), budget=0.5)
        session.release(plan, key=f"turn {turn}")
    protected = Relation("t", ())
    for relation in ReleasedRelations(session, protected, ()).seen_by(None):
        assert relation.rows is not None
        for cell in relation.rows().to_pylist():
            exact, total = counts[cell["sex"], cell["age"]], total + 1
            inside += cell["low"] <= exact <= cell["high"]
            inside_half += abs(exact - cell["value"]) <= (cell["high"] - cell["low"]) / 4
    assert total == 2 * 2 * 1000
    assert inside >= 0.935 * total
    assert inside_half < 0.82 * total


def test_ranges_and_single_questions_have_their_words(filled: Wire) -> None:
    _, number = numbers(filled)
    with filled.connect(within=None) as client:
        texts = client.execute(f"SELECT age FROM released_{number}_age LIMIT 2").fetchall()
        assert texts == [("17 to 17",), ("17 to 18",)]
        ((question, low, high),) = client.execute(
            f"SELECT question, low, high FROM released_{number}_questions"
        ).fetchall()
    assert "sex" in question
    assert low < high


def test_published_rows_are_a_table_like_any_other(filled: Wire) -> None:
    number, _ = numbers(filled)
    frame = filled.session.archive.publication(number).to_pandas()
    with filled.connect(within=None) as client:
        rows = client.execute(f"SELECT * FROM published_{number}").fetchall()
        assert rows == list(frame.itertuples(index=False, name=None))
        counted = client.execute(
            f"SELECT sex, count(*), avg(age) FROM people.public.published_{number} "
            "WHERE age > %s GROUP BY sex ORDER BY sex",
            (20,),
        ).fetchall()
    of_older = frame[frame.age > 20].groupby("sex").age
    assert counted == [(sex, len(ages), pytest.approx(ages.mean())) for sex, ages in of_older]


@pytest.mark.parametrize(
    ("text", "columns", "places", "part"),
    [
        ("SELECT * FROM people LIMIT 5", ["sex", "age", "city"], [0, 1, 2], slice(5)),
        (
            'SELECT "public"."people"."age" AS "Age", city c FROM "public"."people" LIMIT 4',
            ["Age", "c"],
            [1, 2],
            slice(4),
        ),
        (
            "SELECT p.* FROM people p LIMIT 3 OFFSET 7",
            ["sex", "age", "city"],
            [0, 1, 2],
            slice(7, 10),
        ),
        (
            "SELECT * FROM (SELECT * FROM people) q LIMIT 2",
            ["sex", "age", "city"],
            [0, 1, 2],
            slice(2),
        ),
    ],
)
def test_a_preview_shows_published_rows_and_says_so(
    filled: Wire, text: str, columns: list[str], places: list[int], part: slice
) -> None:
    number, _ = numbers(filled)
    published = filled.session.archive.publication(number).to_pandas()
    before = filled.session.budget.spent
    said: list[str] = []
    with filled.connect(within=None) as client:
        client.add_notice_handler(lambda one: said.append(one.message_primary))
        for binary in (False, True):
            cursor = client.execute(text, binary=binary)
            assert [column.name for column in cursor.description] == columns
            rows = published.iloc[part, places].itertuples(index=False, name=None)
            assert cursor.fetchall() == list(rows)
        expected = (
            f"Free: rows of publication {number}, which are made up from what was released; "
            "none of them is a row of the table"
        )
        assert said == [expected, expected]
        assert client.execute(f"EXPLAIN {text}").fetchall() == [("public already; free",)]
    assert filled.session.budget.spent == before


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT * FROM people", "42601"),
        ("SELECT age FROM people ORDER BY age LIMIT 5", "42601"),
        ("SELECT age FROM people WHERE age > 20 LIMIT 5", "42601"),
        ("SELECT nothing FROM people LIMIT 5", "42703"),
        ("SELECT * FROM people LIMIT 10001", "54000"),
        ("SELECT * FROM people LIMIT 1 OFFSET 10000", "54000"),
    ],
)
def test_what_is_no_preview_is_refused(filled: Wire, text: str, code: str) -> None:
    with filled.connect(within=None) as client, pytest.raises(errors.Error) as refused:
        client.execute(text)
    assert refused.value.sqlstate == code


def test_without_a_publication_a_preview_is_refused(wire: Wire) -> None:
    with wire.connect() as client:
        with pytest.raises(errors.SyntaxError, match="records are never shown"):
            client.execute("SELECT * FROM people LIMIT 100")
        assert names(client) == []


def test_a_question_reads_nothing_but_the_table(filled: Wire) -> None:
    number, _ = numbers(filled)
    with filled.connect() as client, pytest.raises(errors.UndefinedTable):
        client.execute(f"SELECT COUNT(*) FROM people JOIN published_{number} USING (sex)")


def test_where_analysts_see_their_own_they_read_their_own(tmp_path: Path) -> None:
    with open_door(tmp_path, sharing="own") as wire:
        wire.session.publish("max_entropy", epsilon=1.0, rows=30, key="rows", analyst="cleo")
        number = wire.session.archive.publications()[-1].sequence
        for who, listed in {"ann": [], "cleo": [f"published_{number}"]}.items():
            with wire.connect(who) as client:
                assert names(client) == listed
        with wire.connect("ann") as client:
            with pytest.raises(errors.UndefinedTable):
                client.execute(f"SELECT * FROM published_{number}")
            with pytest.raises(errors.SyntaxError, match="records are never shown"):
                client.execute("SELECT * FROM people LIMIT 100")


def test_what_is_published_later_is_seen_at_once(tmp_path: Path) -> None:
    with open_door(tmp_path) as wire, wire.connect() as client:
        assert names(client) == []
        for turn in range(2):
            wire.session.publish("max_entropy", epsilon=1.0, rows=30, key=f"rows {turn}")
            assert len(names(client)) == turn + 1
        newest = wire.session.archive.publications()[-1].sequence
        rows = client.execute("SELECT * FROM people LIMIT 30").fetchall()
        assert rows == client.execute(f"SELECT * FROM published_{newest}").fetchall()


def test_more_than_is_held_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from eke.catalogue import engine  # noqa: PLC0415 - the module whose limit is lowered

    with open_door(tmp_path) as wire, wire.connect() as client:
        for turn in range(3):
            wire.session.publish("max_entropy", epsilon=1.0, rows=30, key=f"rows {turn}")
        monkeypatch.setattr(engine, "MOST_CELLS", 2 * 30 * 3)
        listed = names(client)
        counted = [client.execute(f"SELECT count(*) FROM {name}").fetchone() for name in listed * 2]
        assert counted == [(30,)] * 6
        everything = ", ".join(f"{name} AS t{place}" for place, name in enumerate(listed))
        with pytest.raises(errors.ProgramLimitExceeded, match="download"):
            client.execute(f"SELECT count(*) FROM {everything}")
        assert client.execute(f"SELECT count(*) FROM {listed[0]}").fetchone() == (30,)


def test_names_differ_and_fit() -> None:
    assert different(["a", "A", "a_2", "b"]) == ["a", "A_2", "a_2_2", "b"]
    long = "x" * 100
    assert [len(name) for name in different([long, long])] == [63, 63]
    assert different(["é" * 40]) == ["é" * 31]


def test_the_page_tells_how_long_a_preview_is() -> None:
    page = Path(__file__).parents[3] / "docs/reference/postgresql.md"
    assert f"{released.MOST_PREVIEWED:,} rows" in page.read_text("utf-8")


def test_every_kind_of_column_is_read_as_what_it_is(tmp_path: Path) -> None:
    domain = eke.Domain(
        day=eke.Date("2024-01-01", "2024-01-04"),
        hour=eke.Timestamp("2024-01-01 00:00", "2024-01-01 04:00", step="hour"),
        weight=eke.Binned([0.0, 1.5, 3.0]),
        member=eke.Boolean(null="bucket"),
        Sex=eke.Categorical("f", "m"),
    )
    frame = pd.DataFrame(
        {
            "day": [date(2024, 1, 1 + n % 4) for n in range(400)],
            "hour": pd.to_datetime([f"2024-01-01 0{n % 4}:00" for n in range(400)]),
            "weight": [n % 3 for n in range(400)],
            "member": [None if n % 5 == 0 else n % 2 == 0 for n in range(400)],
            "Sex": ["fm"[n % 2] for n in range(400)],
        }
    )
    session = eke.create(tmp_path / "t.eke", frame, domain, epsilon=100.0)
    session.publish("max_entropy", epsilon=5.0, rows=100, key="rows")
    session.release(session.plan(eke.all_marginals(domain, 1), budget=5.0), key="tables")
    served = ServedTable("t", domain)
    relations = ReleasedRelations(session, served.protected, ()).seen_by(None)
    catalogue = served.catalogue("ann", ("t",), relations)
    kinds = {"day": date, "hour": datetime, "member": bool, "Sex": str}
    for relation in relations:
        result = catalogue.run(f"SELECT * FROM {relation.name}")
        assert result.rows
        for column, values in zip(result.columns, zip(*result.rows, strict=True), strict=True):
            told = {type(value) for value in values if value is not None}
            expected = kinds.get(column.name, float)
            if column.name == "weight" and relation.name.startswith("released"):
                expected = str  # a bin
            assert told == {expected}, (relation.name, column)
