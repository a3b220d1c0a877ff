from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import update

from eke.errors import BudgetExceeded, KeyConflict, LedgerError, LedgerTampered
from eke.ledger import Ledger, schema


def reserve(book, key="k", spent_after=10, analyst="ann", digest="d"):
    return book.reserve(
        analyst=analyst, key=key, digest=digest, payload={"plan": 1}, spent_after=spent_after
    )


def believing(book, *, spent, limit):
    book._state = replace(book._state, spent=spent, limit=limit)
    return book


def test_a_reservation_counts_as_spent_before_it_is_committed(ledger, where):
    with ledger.exclusive() as book:
        reservation = reserve(book, spent_after=10)
        assert (book.spent, book.limit) == (10, 1000)
        assert [entry.kind for entry in book.entries()] == ["genesis", "reserve"]
        assert [entry.sequence for entry in book.entries(after=1)] == [reservation.sequence]
        assert book.entry(reservation.sequence).hash == reservation.token
    again = Ledger.open(where)
    assert again.balance().spent == 10
    assert again.verify().open_reservations == (reservation.sequence,)
    request = again.find("ann", "k")
    assert request is not None
    assert (request.state, request.answer, request.closed_by) == ("reserved", None, None)


def test_the_limit_can_be_reached_but_not_passed(ledger):
    with ledger.exclusive() as book:
        reserve(book, "most", 999)
    with pytest.raises(BudgetExceeded, match="1001 nano-units"), ledger.exclusive() as book:
        reserve(book, "too much", 1001)
    with ledger.exclusive() as book:
        reserve(book, "rest", 1000)
    with pytest.raises(BudgetExceeded), ledger.exclusive() as book:
        reserve(book, "more", 1001)
    with ledger.exclusive() as book:
        reserve(book, "elsewhere", 1000)  # other cells, the same maximum
    assert ledger.balance().spent == 1000
    assert ledger.verify().intact


def test_a_refused_charge_leaves_the_book_usable(ledger):
    with ledger.exclusive() as book:
        with pytest.raises(BudgetExceeded):
            reserve(book, "too much", 1001)
        reserve(book, "enough", 7)
    assert ledger.balance().spent == 7
    assert ledger.find("ann", "too much") is None
    assert ledger.verify().intact


def test_the_update_itself_refuses_even_if_the_code_believed_otherwise(ledger):
    """The book is told a larger limit and a smaller loss than are stored: the row decides."""
    with pytest.raises(LedgerError, match="moved"), ledger.exclusive() as book:
        reserve(believing(book, spent=0, limit=10**6), spent_after=1001)
    with ledger.exclusive() as book:
        reserve(book, "first", 500)
    with pytest.raises(LedgerError, match="moved"), ledger.exclusive() as book:
        reserve(believing(book, spent=0, limit=1000), "second", 400)
    assert ledger.balance().spent == 500
    assert ledger.verify().intact


@pytest.mark.parametrize("values", [{"spent": 1001}, {"spent": -1}, {"spending_limit": 5}])
def test_the_table_itself_refuses_a_balance_beyond_the_limit(ledger, values):
    with ledger.exclusive() as book:
        reserve(book, spent_after=10)
    with pytest.raises(LedgerError), ledger.exclusive() as book:
        book._connection.execute(update(schema.account).values(values))
    assert ledger.balance().spent == 10


@pytest.mark.parametrize("statement", ["UPDATE entry SET kind = 'x'", "DELETE FROM entry"])
def test_the_table_itself_refuses_to_change_entries(ledger, statement):
    with pytest.raises(LedgerError), ledger.exclusive() as book:
        book._connection.exec_driver_sql(statement)
    assert ledger.verify().intact


@pytest.mark.parametrize("amount", [-1, 1.0, float("nan"), True, "5", None, 2**63])
def test_losses_are_whole_nano_units(ledger, amount):
    with pytest.raises(LedgerError, match="nano-units"), ledger.exclusive() as book:
        reserve(book, spent_after=amount)


def test_a_loss_never_falls(ledger):
    with ledger.exclusive() as book:
        reserve(book, "a", 10)
    with pytest.raises(LedgerError, match="accountant"), ledger.exclusive() as book:
        reserve(book, "b", 9)


def test_one_key_one_request(ledger):
    with ledger.exclusive() as book:
        reserve(book, "k", 10)
        found = book.find("ann", "k", "d")
        assert found is not None
        assert found.digest == "d"
        assert book.find("ann", "other") is None
    for take in (
        lambda book: book.find("ann", "k", "other digest"),
        lambda book: reserve(book, "k", 20, digest="other digest"),
        lambda book: book.remember(analyst="ann", key="k", digest="x", answer="1"),
    ):
        with pytest.raises(KeyConflict, match="new key"), ledger.exclusive() as book:
            take(book)
    with pytest.raises(KeyConflict):
        ledger.find("ann", "k", "other digest")
    with pytest.raises(LedgerError, match="has a record"), ledger.exclusive() as book:
        reserve(book, "k", 20)
    assert ledger.balance().spent == 10


def test_keys_belong_to_their_analyst(ledger):
    with ledger.exclusive() as book:
        reserve(book, "k", 10, analyst="ann", digest="one")
        reserve(book, "k", 20, analyst="bob", digest="two")
    first, second = ledger.find("ann", "k"), ledger.find("bob", "k")
    assert first is not None
    assert second is not None
    assert (first.digest, second.digest) == ("one", "two")


@pytest.mark.parametrize("bad", ["", "a\0b", "line\nbreak", "x" * 256, "\ud800", 7, None])
@pytest.mark.parametrize("name", ["analyst", "key", "digest"])
def test_names_are_short_printable_texts(ledger, name, bad):
    fields = {"analyst": "ann", "key": "k", "digest": "d", name: bad}
    with pytest.raises(LedgerError, match=f"^{name} must"), ledger.exclusive() as book:
        book.reserve(**fields, payload={}, spent_after=1)
    with pytest.raises(LedgerError, match=name), ledger.exclusive() as book:
        book.remember(**fields, answer="1")


def test_names_may_be_as_long_as_is_said(ledger):
    with ledger.exclusive() as book:
        entry = reserve(book, "k" * 255)
    assert ledger.find("ann", "k" * 255).sequence == entry.sequence


def test_times_are_told_in_utc(ledger):
    with ledger.exclusive() as book:
        reserve(book)
    assert all(entry.at.endswith("+00:00") for entry in ledger.entries())


def test_a_request_is_found_as_often_as_it_is_looked_for(ledger):
    with ledger.exclusive() as book:
        reserve(book, "k")
    with ledger.exclusive() as book:
        assert [book.find("ann", "k", "d") is None for _ in range(3)] == [False] * 3
        with pytest.raises(LedgerError, match="has a record"):
            reserve(book, "k", 20)


def test_a_reservation_is_committed_once_and_its_answer_stands(ledger, where):
    with ledger.exclusive() as book:
        number = reserve(book).sequence
    with ledger.exclusive() as book:
        first = book.commit(number, {"value": 3}, '{"answer": 3}')
    with ledger.exclusive() as book:
        second = book.commit(number, {"value": 4}, '{"answer": 4}')
    assert first.first
    assert not second.first
    assert second.answer == first.answer == '{"answer": 3}'
    assert second.entry == first.entry
    assert first.entry.payload == {"value": 3}
    assert len(ledger.entries()) == 3
    request = Ledger.open(where).find("ann", "k", "d")
    assert request is not None
    assert (request.state, request.answer, request.closed_by) == ("committed", first.answer, 3)


@pytest.mark.parametrize("answer", ["", "é ☃ 𝄞 \r\n ' \"", "x" * 100_000])
def test_answers_come_back_character_for_character(ledger, where, answer):
    with ledger.exclusive() as book:
        book.remember(analyst="ann", key="k", digest="d", answer=answer)
        number = reserve(book, "paid").sequence
        book.commit(number, {}, answer)
    opened = Ledger.open(where)
    for key in ("k", "paid"):
        request = opened.find("ann", key, "d")
        assert request is not None
        assert request.answer == answer


@pytest.mark.parametrize("answer", ["nul \0", "\ud800", b"bytes", None, {"a": 1}])
def test_answers_are_text(ledger, answer):
    with ledger.exclusive() as book:
        number = reserve(book).sequence
    with pytest.raises(LedgerError, match="answer"), ledger.exclusive() as book:
        book.commit(number, {}, answer)
    assert ledger.verify().open_reservations == (number,)


@pytest.mark.parametrize("number", [0, 1, 99])
def test_only_reservations_can_be_committed(ledger, number):
    with pytest.raises(LedgerError, match="no reservation"), ledger.exclusive() as book:
        book.commit(number, {}, "1")


def test_a_remembered_answer_is_free_and_cannot_be_committed_again(ledger):
    with ledger.exclusive() as book:
        entry = book.remember(
            analyst="ann", key="k", digest="d", answer="42", payload={"from": "history"}
        )
        assert entry.payload == {"from": "history"}
        closing = book.commit(entry.sequence, {}, "43")
    assert (closing.answer, closing.first) == ("42", False)
    assert ledger.balance().spent == 0
    assert ledger.verify().intact


def test_notes_are_the_callers_own_kinds(ledger):
    with ledger.exclusive() as book:
        entry = book.note("opened", {"by": "curator"})
    assert ledger.entries(after=1) == [entry]
    for kind in ("genesis", "reserve", "commit", "remember", "limit", ""):
        with pytest.raises(LedgerError, match="kind"), ledger.exclusive() as book:
            book.note(kind, {})


def test_the_limit_can_be_changed_down_to_the_loss(ledger, where):
    with ledger.exclusive() as book:
        reserve(book, "a", 400)
        book.change_limit(2000, {"by": "curator"})
        reserve(book, "b", 1500)
        book.change_limit(1500, {"by": "curator"})
        assert (book.spent, book.limit) == (1500, 1500)
    with pytest.raises(BudgetExceeded), ledger.exclusive() as book:
        book.change_limit(1499, {})
    with pytest.raises(BudgetExceeded), ledger.exclusive() as book:
        reserve(book, "c", 1501)
    assert Ledger.open(where).limit == 1500


def test_a_write_that_failed_halfway_is_never_kept(ledger, monkeypatch):
    """The error is swallowed by the caller: the transaction must not be committed all the same."""

    def fail(*_args, **_more):
        raise LedgerTampered("in the middle")

    monkeypatch.setattr("eke.ledger.book.Book._record", fail)

    def swallow(book):
        with pytest.raises(LedgerTampered, match="middle"):
            reserve(book)
        with pytest.raises(LedgerError, match="over"):
            reserve(book, "next")

    with pytest.raises(LedgerError, match="swallowed"), ledger.exclusive() as book:
        swallow(book)
    assert ledger.balance().spent == 0
    assert ledger.verify().intact


def test_a_book_is_useless_after_its_transaction(ledger):
    with ledger.exclusive() as book:
        pass
    for use in (book.entries, lambda: book.find("a", "k"), lambda: book.note("x", {})):
        with pytest.raises(LedgerError, match="over"):
            use()


def test_an_edited_request_is_noticed_when_it_is_used(ledger, where, spend, edit):
    spend(ledger, "k")
    edit(where, ("UPDATE request SET state = 'reserved', closed_by = NULL, answer = NULL",))
    with pytest.raises(LedgerTampered), ledger.exclusive() as book:
        book.find("ann", "k")
    with pytest.raises(LedgerTampered), ledger.exclusive() as book:
        book.commit(2, {"value": 8}, "a second release for one charge")
