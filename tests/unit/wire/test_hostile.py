"""What an untrusted analyst and a stranger tried: nobody is charged, stalled or misled by it."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import errors

import eke
from eke.wire import door, words
from eke.wire.clerk import Clerk
from eke.wire.kind import INT8, literal
from eke.wire.parameter import Typical, parameters_of
from eke.wire.portal import one_statement
from eke.wire.report import Trouble
from eke.wire.words import statements
from eke.wire.wrapping import unwrapped
from tests.service import DOMAIN
from tests.wire import Raw, Wire, open_door

PATIENCE = 60.0


def parsed(name: str, sql: str) -> bytes:
    return f"{name}\0{sql}\0".encode() + struct.pack("!h", 0)


def bound(results: list[int]) -> bytes:
    return b"\0\0" + struct.pack(f"!hhh{len(results)}h", 0, 0, len(results), *results)


def test_work_grows_with_the_text_and_not_with_its_square() -> None:
    """Texts that took seconds or minutes; each is read or refused, and only once over."""
    with pytest.raises(Trouble):
        literal(b"1" * 60_000 + b"x", INT8, 0)
    with pytest.raises(Trouble, match="at most 1,000 parameters"):
        parameters_of(one_statement("SELECT $99999"), (), {})
    many = "SELECT " + ", ".join(["$1"] * 20_000)
    assert len(parameters_of(one_statement(many), (), {"a": Typical(INT8, "1")})) == 1
    with pytest.raises(Trouble, match="letters"):
        words.filled(one_statement(many), ["'" + "x" * 40_000 + "'"])
    deep = "SELECT * FROM (" * 350 + "SELECT COUNT(*) FROM people" + ")" * 350
    with pytest.raises(Trouble, match="wrapped at most"):
        unwrapped(one_statement(deep), "people", {"people"})
    for text in ("'" * 60_001, '"' * 60_001, "$a$" * 20_000, "/*" * 30_000, "1." * 30_000):
        try:
            statements(text)
        except Trouble:
            continue


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM people LIMIT ²",
        "SELECT COUNT(*) FROM people LIMIT " + "9" * 5000,
        "DECLARE c CURSOR WITH HOLD FOR ",
        "DECLARE c CURSOR WITH HOLD FOR COPY (SELECT COUNT(*) FROM people) TO STDOUT",
        "SELECT COUNT(*) FROM wherever.public.people",
        "SELECT COUNT(*) FROM nobody",
        "SELECT COUNT(*) FROM people JOIN pg_class USING (sex)",
        "SELECT set_config('eke.spend', 'off', false)",
        "COMMIT AND CHAIN",
        "SELECT * FROM (SELECT * FROM people) q",
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(wire: Wire, text: str) -> None:
    before = wire.session.budget.spent
    with wire.connect() as client, pytest.raises(psycopg.Error) as refusal:
        client.execute(text)
    assert not isinstance(refusal.value, errors.InternalError_)
    assert wire.session.budget.spent == before


def test_what_is_refused_is_refused_before_it_is_paid(wire: Wire) -> None:
    before = wire.session.budget.spent
    with Raw(wire) as raw:
        raw.sign_in(wire)
        raw.send("P", parsed("", "SELECT COUNT(*) FROM people WHERE age = 19 ERROR WITHIN 9"))
        raw.send("B", bound([0, 0, 0]))
        raw.send("E", b"\0" + struct.pack("!i", 0))
        raw.send("S")
        letters = [letter for letter, _ in raw.everything()]
    assert letters == ["1", "2", "E", "Z"]
    assert wire.session.budget.spent == before


def test_a_portal_that_fetches_itself(wire: Wire) -> None:
    with Raw(wire) as raw:
        raw.sign_in(wire)
        raw.send("P", parsed("", "FETCH ALL FROM c"))
        raw.send("B", b"c\0\0" + struct.pack("!hhh", 0, 0, 0))
        raw.send("D", b"Pc\0")
        raw.send("E", b"c\0" + struct.pack("!i", 0))
        raw.send("S")
        errors_sent = [body for letter, body in raw.everything() if letter == "E"]
    assert len(errors_sent) == 1
    assert b"XX000" not in errors_sent[0]


def test_no_branch_of_a_union_gets_lost(wire: Wire) -> None:
    none = "SELECT sex, COUNT(*) AS n FROM people WHERE 1 = 0 GROUP BY sex"
    some = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    with wire.connect() as client:
        rows = client.execute(some).fetchall()
        for text in (f"{none} UNION ALL {some}", f"SELECT * FROM ({none} UNION ALL {some}) q"):
            try:
                assert client.execute(text).fetchall()[-2:] == rows
            except errors.SyntaxError:
                continue  # refused, and told why, is fine; two rows fewer is not
        assert client.execute(f"SELECT * FROM ({some} UNION ALL {some}) q LIMIT 0").fetchall() == []


@pytest.mark.parametrize(
    "texts",
    [
        ["BEGIN", "SET LOCAL eke.spend = on", "SET eke.spend = off", "COMMIT"],
        ["SET LOCAL eke.spend = on"],
        ["BEGIN", "SAVEPOINT a", "SET eke.spend = on", "ROLLBACK TO a", "COMMIT"],
        ["SET eke.spend = on; SELECT nothing_like_this()"],
        ["BEGIN", "SET eke.spend = on", "ROLLBACK"],
        ["BEGIN", "SET eke.spend = on", "SELECT nothing_like_this()", "COMMIT"],
    ],
)
def test_nothing_is_spent_where_nothing_may_be(wire: Wire, texts: list[str]) -> None:
    with wire.connect() as client:
        client.execute("SET eke.spend = off")
        for text in texts:
            try:
                client.execute(text)
            except psycopg.Error:
                continue
        assert client.execute("SHOW eke.spend").fetchone() == ("off",)


def test_what_is_given_up_before_it_was_asked_is_not_charged(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, goes_on = threading.Event(), threading.Event()
    plain = Clerk._aim

    def slow(self: Clerk, *given: Any) -> Any:
        begun.set()
        goes_on.wait(PATIENCE)
        return plain(self, *given)

    over = threading.Event()
    run = Clerk.run

    def watched(self: Clerk, *given: Any) -> Any:
        try:
            return run(self, *given)
        finally:
            over.set()

    monkeypatch.setattr(Clerk, "_aim", slow)
    monkeypatch.setattr(Clerk, "run", watched)
    before = wire.session.budget.spent
    with wire.connect(within=7) as client:
        canceller = threading.Thread(target=lambda: (begun.wait(60), client.cancel_safe()))
        canceller.start()
        with pytest.raises(errors.QueryCanceled):
            client.execute("SELECT COUNT(*) FROM people WHERE age = 18")
        canceller.join()
        goes_on.set()
        assert over.wait(PATIENCE)
        assert wire.session.budget.spent == before


def test_waiting_for_a_turn_is_given_up_as_well(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One statement at a time: the second waits for the first, and is ended before that is."""
    monkeypatch.setattr(door, "MOST_AT_ONCE", 1)
    begun, goes_on = threading.Event(), threading.Event()
    plain = Clerk._aim

    def slow(self: Clerk, *given: Any) -> Any:
        begun.set()
        goes_on.wait(PATIENCE)
        return plain(self, *given)

    with open_door(folder) as wire, wire.connect() as first, wire.connect() as second:
        monkeypatch.setattr(Clerk, "_aim", slow)
        answers: list[Any] = []
        asking = threading.Thread(
            target=lambda: answers.append(first.execute("SELECT COUNT(*) FROM people").fetchall())
        )
        asking.start()
        assert begun.wait(PATIENCE)
        over = threading.Event()

        def insist() -> None:
            while not over.wait(0.02):  # one may come before the statement does
                second.cancel_safe()

        canceller = threading.Thread(target=insist)
        canceller.start()
        with pytest.raises(errors.QueryCanceled):
            second.execute("SELECT COUNT(*) FROM people WHERE age = 18")
        over.set()
        canceller.join()
        assert asking.is_alive(), "the first still runs"
        goes_on.set()
        asking.join()
        assert len(answers) == 1


def test_strangers_lock_nobody_out(wire: Wire) -> None:
    with ExitStack() as opened:
        for _ in range(door.MOST_UNKNOWN + 30):
            silent = socket.create_connection(("127.0.0.1", wire.port), timeout=30)
            opened.enter_context(silent)
        with wire.connect() as known:
            assert known.execute("SHOW server_version").fetchone() == ("15.0",)


def test_names_of_lookups_do_not_hide_the_catalogue(folder: Path) -> None:
    lookup = eke.Lookup("columns", ["sex"], {"sex": ["Female", "Male"], "n": [1, 2]})
    with open_door(folder, domain=DOMAIN.with_lookups(lookup)) as wire, wire.connect() as client:
        listed = client.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_name = %s", ("people",)
        ).fetchall()
        assert ("age",) in listed
        joined = client.execute(
            "SELECT n, COUNT(*) FROM people JOIN columns USING (sex) GROUP BY n"
        ).fetchall()
        assert [key for key, _ in joined] == [1, 2]
        with pytest.raises(psycopg.Error, match="does not exist"):
            client.execute("SELECT COUNT(*) FROM nosuch JOIN columns USING (sex)")


def test_rows_that_are_kept_are_not_for_whoever_left(wire: Wire) -> None:
    token = wire.access.new_token("ann")
    client = wire.connect(password=token.text)
    with closing(client):
        client.execute("BEGIN")
        client.execute("DECLARE c CURSOR FOR SELECT generate_series(1, 9)")
        assert len(client.execute("FETCH 2 FROM c").fetchall()) == 2
        wire.access.revoke(token.identity)
        with pytest.raises(errors.InvalidAuthorizationSpecification):
            client.execute("FETCH 2 FROM c")
