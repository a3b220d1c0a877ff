"""Browser sessions: cookies that scripts cannot read, and CSRF tokens that must come with them."""

from __future__ import annotations

import json

from tests.service import COUNT, Server

SESSION = "/api/v1/session"
ASK = "/api/v1/datasets/people/ask"
BODY = json.dumps({"sql": COUNT, "within": 40}).encode()


def sign_in(server: Server, who: str = "ann") -> tuple[str, str, str]:
    """(cookie, CSRF token, the whole Set-Cookie)."""
    found = server.call("POST", SESSION, None, {"token": server.tokens[who]})
    assert found.status == 201
    header = found.headers["set-cookie"]
    return header.split(";")[0], found.json()["csrf"], header


def test_a_session_lives_and_ends(server: Server) -> None:
    cookie, csrf, header = sign_in(server)
    for word in ("HttpOnly", "SameSite=strict", "Path=/"):
        assert word in header
    me = server.send("GET", SESSION, {"Cookie": cookie}).json()
    assert (me["name"], me["role"], me["csrf"]) == ("ann", "analyst", csrf)
    sent = {"Cookie": cookie, "X-CSRF-Token": csrf, "Content-Type": "application/json"}
    assert server.send("POST", ASK, sent, BODY).status == 200
    assert server.send("DELETE", SESSION, sent).status == 204
    assert server.send("GET", SESSION, {"Cookie": cookie}).status == 401


def test_without_the_csrf_token_nothing_is_changed(server: Server) -> None:
    cookie, csrf, _ = sign_in(server)
    other, their_csrf, _ = sign_in(server, "cleo")
    assert other != cookie
    base = {"Cookie": cookie, "Content-Type": "application/json"}
    for more in (
        {},
        {"X-CSRF-Token": ""},
        {"X-CSRF-Token": "x" * len(csrf)},
        {"X-CSRF-Token": their_csrf},
        {"X-CSRF-Token": csrf, "Origin": "https://evil.example"},
        {"X-CSRF-Token": csrf, "Origin": "null"},
    ):
        found = server.send("POST", ASK, base | more, BODY)
        assert found.status == 403, more
    assert server.session.budget.spent == 0
    good = base | {"X-CSRF-Token": csrf, "Origin": "http://localhost"}
    assert server.send("POST", ASK, good, BODY).status == 200


def test_another_site_cannot_sign_a_browser_in(server: Server) -> None:
    body = json.dumps({"token": server.tokens["ann"]}).encode()
    headers = {"Content-Type": "application/json", "Origin": "https://evil.example"}
    assert server.send("POST", SESSION, headers, body).status == 403


def test_sessions_end_with_time_and_with_their_token(server: Server) -> None:
    cookie, _, _ = sign_in(server)
    server.clock.now += 13 * 3600
    assert server.send("GET", SESSION, {"Cookie": cookie}).status == 401
    cookie, _, _ = sign_in(server)
    server.access.revoke(server.tokens["ann"].split("_")[1])
    assert server.send("GET", SESSION, {"Cookie": cookie}).status == 401


def test_wrong_tokens_do_not_sign_in(server: Server) -> None:
    for token in ("eke_nonsense", server.tokens["ann"][:-1], "x"):
        assert server.call("POST", SESSION, None, {"token": token}).status == 401
    assert server.send("GET", SESSION, {"Cookie": "eke_session=nonsense"}).status == 401
    assert server.send("GET", SESSION, {"Cookie": '\x01;"'}).status == 401
