"""The auth matrix of this door: every kind of statement with every kind of caller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.service import BY_SEX, Clock
from tests.wire import Wire, open_door

PUBLISHED = "published_4"
ASKED = "SELECT COUNT(*) FROM people"
READING, ASKING = (None, None, None), (None, "42501", None)
# Statements, the last of which counts, and the code of an error for (analyst, auditor, curator).
MATRIX: list[tuple[list[str], tuple[str | None, str | None, str | None]]] = [
    ([ASKED], ASKING),
    ([BY_SEX], ASKING),
    ([f"SELECT * FROM ({BY_SEX}) AS q LIMIT 1"], ASKING),
    ([f"{ASKED} ERROR WITHIN 30"], ASKING),
    ([f"{BY_SEX} UNION ALL {BY_SEX}"], ASKING),
    ([f"COPY ({BY_SEX}) TO STDOUT"], ASKING),
    (["BEGIN", f"DECLARE c CURSOR FOR {BY_SEX}", "FETCH ALL FROM c"], ASKING),
    (["SET eke.spend = off", ASKED], ASKING),
    ([f"EXPLAIN {ASKED}"], READING),
    (["SELECT COUNT(*) FROM people WHERE 1 = 0 GROUP BY sex"], READING),
    ([f"SELECT * FROM ({BY_SEX}) AS q LIMIT 0"], READING),
    (["SELECT DISTINCT sex FROM people"], READING),
    (["SELECT * FROM people LIMIT 3"], READING),
    ([f"SELECT * FROM {PUBLISHED}"], READING),
    (["SELECT relname FROM pg_class"], READING),
    (["SELECT table_name FROM information_schema.tables"], READING),
    (["SHOW eke.within"], READING),
    (["SET eke.within = 3"], READING),
    (["BEGIN", "COMMIT"], READING),
    (["INSERT INTO people VALUES (1)"], ("25006", "25006", "25006")),
    (["CREATE TABLE t (x int)"], ("25006", "25006", "25006")),
    (["SELECT * FROM people"], ("42601", "42601", "42601")),
]
CALLERS = ("ann", "otto", "cleo")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """A dataset of which something was asked and published."""
    folder = tmp_path_factory.mktemp("permission")
    with open_door(folder, requests_per_minute=1_000_000, failures_per_minute=1_000_000) as opened:
        opened.session.publish(
            "lda", target="sex", epsilon=1.0, rows=30, key="rows", analyst="cleo"
        )
        number = opened.session.archive.publications()[-1].sequence
        assert PUBLISHED.endswith(f"_{number}")
        for asked in (BY_SEX, ASKED):  # free from now on, whichever statement comes first
            opened.session.ask(asked, within=20)
        yield opened


def code_of(client: Any, texts: list[str]) -> str | None:
    """The code of the error that the last statement ends with; None if it is answered."""
    *before, last = texts
    try:
        for text in before:
            client.execute(text)
        if last.startswith("COPY"):
            with client.cursor().copy(last) as copy:
                list(copy)
        else:
            client.execute(last)
    except psycopg.Error as refused:
        return refused.sqlstate
    return None


@pytest.mark.parametrize(("texts", "codes"), MATRIX, ids=[texts[-1] for texts, _ in MATRIX])
def test_the_matrix(here: Wire, texts: list[str], codes: tuple[str | None, ...]) -> None:
    for who, code in zip(CALLERS, codes, strict=True):
        spent = here.session.budget.spent
        for prepared in (False, True):
            with here.connect(who) as client:
                client.prepare_threshold = 0 if prepared else None
                assert code_of(client, texts) == code, (who, prepared)
        if code is not None or codes is READING:
            assert here.session.budget.spent == spent, who
    with pytest.raises(psycopg.OperationalError, match='database "people" does not exist'):
        here.connect("ben").close()  # who may see another dataset only


def test_nobody_else_comes_in(here: Wire) -> None:
    revoked = here.access.new_token("ann")
    here.access.revoke(revoked.identity)
    tokens = here.tokens
    every: list[dict[str, Any]] = [
        {"password": ""},
        {"password": "eke_000000000000_" + "A" * 43},
        {"password": revoked.text},
        {"password": tokens["cleo"]},
        {"user": "nobody"},
        {"user": "", "password": tokens["ann"]},
        {"user": "ANN"},
    ]
    for words in every:
        with pytest.raises(psycopg.OperationalError, match=r"authentication failed|no password"):
            here.connect(**words)


def test_a_token_ends_while_it_is_used(here: Wire) -> None:
    token = here.access.new_token("ann")
    with here.connect(password=token.text) as client:
        assert code_of(client, [ASKED]) is None
        here.access.revoke(token.identity)
        for texts, _ in MATRIX:
            assert code_of(client, texts[-1:]) == "28000", texts


def test_a_token_expires_while_it_is_used(here: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    token = here.access.new_token("ann", days=1)
    with here.connect(password=token.text) as client:
        assert code_of(client, [ASKED]) is None
        clock = Clock()
        clock.now = here.access._clock() + 2 * 86_400
        monkeypatch.setattr(here.access, "_clock", clock)
        assert code_of(client, [ASKED]) == "28000"


def test_an_auditor_s_statement_is_not_charged_in_pieces(here: Wire) -> None:
    """Neither by several statements at once nor by a name that was prepared before."""
    before = here.session.budget.spent
    with here.connect("otto") as client:
        new = "SELECT COUNT(*) FROM people WHERE age = 19"
        assert code_of(client, [f"SHOW eke.within; {new}"]) == "42501"
        assert code_of(client, [f"SELECT * FROM ({new}) q; SELECT 1"]) == "42501"
    assert here.session.budget.spent == before
