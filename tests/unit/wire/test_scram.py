"""Proofs of a token instead of the token: who comes in, who does not, and what is told."""

from __future__ import annotations

import base64
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import pq

from eke.service import Access, Account
from eke.service.scram import ScramError, ScramExchange, Verifier, salt_of
from tests.wire import Raw, ScramClient, Wire, open_door

SCRAM = "SCRAM-SHA-256"


def test_a_proof_finds_its_token_among_several() -> None:
    verifiers = {name: Verifier.of("ann", f"token {name}") for name in "abc"}
    for name in "abc":
        client = ScramClient(f"token {name}")
        exchange = ScramExchange("ann", SCRAM, client.first())
        fitting = exchange.server_final(client.final(exchange.server_first), verifiers.items())
        assert fitting is not None
        assert fitting[0] == name
        assert client.trusts(fitting[1])
    wrong = ScramClient("token d")
    exchange = ScramExchange("ann", SCRAM, wrong.first())
    assert exchange.server_final(wrong.final(exchange.server_first), verifiers.items()) is None


def test_the_numbers_are_those_of_the_rfc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example in section 3 of RFC 7677."""
    from eke.service import scram  # noqa: PLC0415 - the module whose salt is exchanged

    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    monkeypatch.setattr(scram, "salt_of", lambda _: salt)
    monkeypatch.setattr("secrets.token_urlsafe", lambda _: "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
    verifier = Verifier.of("user", "pencil")
    exchange = ScramExchange("user", SCRAM, "n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
    assert exchange.server_first == (
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    )
    proof = (
        "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
        "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    assert exchange.server_final(proof, {"a": verifier}.items()) == (
        "a",
        "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
    )


def test_a_verifier_is_kept_as_a_text_without_the_token() -> None:
    verifier = Verifier.of("ann", "eke_secret")
    assert Verifier.from_text(verifier.to_text()) == verifier
    assert "secret" not in verifier.to_text()
    assert salt_of("ann") != salt_of("ben")


@pytest.mark.parametrize(
    "first",
    [
        "",
        "n,,",
        "n,,n=,r=",
        "n,,r=abc,n=",
        "n,a=x,n=,r=abc",
        "p=tls-server-end-point,,n=,r=abc",
        "n,,m=x,n=,r=abc",
        "n,,n=,r=abc,x=y",
        "n,,n=,r=" + "a" * 201,
    ],
)
def test_other_first_messages_are_refused(first: str) -> None:
    with pytest.raises(ScramError):
        ScramExchange("ann", SCRAM, first)


@pytest.mark.parametrize("change", ["nonce", "binding", "proof", "no proof", "short proof"])
def test_other_last_messages_are_refused(change: str) -> None:
    verifier = Verifier.of("ann", "token")
    client = ScramClient("token")
    exchange = ScramExchange("ann", SCRAM, client.first())
    final = client.final(exchange.server_first)
    changed = {
        "nonce": final.replace("r=fyko", "r=fykO"),
        "binding": final.replace("c=biws", "c=eSws"),
        "proof": final[:-6] + "*" + final[-5:],
        "no proof": final.partition(",p=")[0],
        "short proof": final.partition(",p=")[0] + ",p=",
    }[change]
    if change == "short proof":
        assert exchange.server_final(changed, [("a", verifier)]) is None
        return
    with pytest.raises(ScramError):
        exchange.server_final(changed, [("a", verifier)])


@given(st.text(max_size=80), st.text(max_size=80))
def test_nothing_else_is_raised(first: str, final: str) -> None:
    try:
        exchange = ScramExchange("ann", SCRAM, first)
        exchange.server_final(final, [("a", Verifier(b"a" * 32, b"b" * 32))])
    except ScramError:
        pass


def test_clients_prove_their_token_and_never_send_it(wire: Wire) -> None:
    with wire.connect() as client:
        assert client.execute("SELECT current_user").fetchone() == ("ann",)
    with pytest.raises(psycopg.OperationalError, match="authentication failed"):
        wire.connect(password=wire.tokens["ben"])
    with wire.connect(require_auth="scram-sha-256") if pq.version() >= 160000 else wire.connect():
        pass


@pytest.mark.parametrize("header", ["n,,", "y,,"])
def test_a_second_token_of_an_account_works_as_well(wire: Wire, header: str) -> None:
    second = wire.access.new_token("ann")
    with Raw(wire) as raw:
        raw.startup(user="ann", database="people")
        raw.prove(ScramClient(second.text, header))
        assert raw.everything()[-1][0] == "Z"
    wire.access.revoke(second.identity)
    with Raw(wire) as raw:
        raw.startup(user="ann", database="people")
        raw.prove(ScramClient(second.text, header))
        assert raw.receive()[0] == "E"


def test_accounts_that_are_not_there_look_like_others(wire: Wire) -> None:
    """The same messages of the same sizes, up to the refusal."""
    sizes = []
    for who in ("ann", "nobody"):
        with Raw(wire) as raw:
            raw.startup(user=who, database="people")
            letters = []
            assert raw.receive() == ("R", struct.pack("!i", 10) + SCRAM.encode() + b"\0\0")
            client = ScramClient("wrong")
            first = client.first().encode()
            raw.send("p", SCRAM.encode() + b"\0" + struct.pack("!i", len(first)) + first)
            letter, body = raw.receive()
            letters.append((letter, len(body)))
            raw.send("p", client.final(body[4:].decode()).encode())
            refusal = raw.receive()
            assert refusal[0] == "E"
            letters.append(("E", len(refusal[1]) - len(who)))
            sizes.append(letters)
    assert sizes[0] == sizes[1]


def test_another_mechanism_is_a_broken_protocol(wire: Wire) -> None:
    with Raw(wire) as raw:
        raw.startup(user="ann", database="people")
        raw.receive()
        raw.send("p", b"PLAIN\0" + struct.pack("!i", 1) + b"x")
        letter, body = raw.receive()
        assert (letter, b"08P01" in body) == ("E", True)


def test_a_token_from_before_there_were_verifiers_is_sent(tmp_path: Path) -> None:
    with open_door(tmp_path) as wire:
        with closing(sqlite3.connect(tmp_path / "access.db")) as connection:
            connection.execute("DELETE FROM verifier")
            connection.commit()
        with wire.connect() as client:
            assert client.execute("SELECT current_user").fetchone() == ("ann",)
        with pytest.raises(psycopg.OperationalError, match="authentication failed"):
            wire.connect(password=wire.tokens["ben"])


def test_verifiers_and_settings_go_along_when_accounts_are_copied(tmp_path: Path) -> None:
    with closing(Access(tmp_path / "a.db")) as here, closing(Access(tmp_path / "b.db")) as there:
        here.add(Account("ann", "analyst"))
        token = here.new_token("ann")
        here.change_settings("ann", {"eke.within": "5"})
        for _ in range(2):
            there.copy_from(here)
            assert there.verifiers("ann") == {token.identity: Verifier.of("ann", token.text)}
            assert there.settings("ann") == {"eke.within": "5"}
