from __future__ import annotations

import shutil
import threading

import pytest
from sqlalchemy import create_engine

from eke.errors import LedgerError, LedgerTampered
from eke.ledger import Entry, HighWaterMark, Ledger, reading, sqlite_file
from eke.ledger.chain import Link
from eke.ledger.dialect import File
from eke.ledger.replay import read_entry


def test_a_new_ledger_holds_its_document(ledger, where):
    for one in (ledger, Ledger.open(where)):
        assert one.document == {
            "domain": ["a", "b"],
            "unit": "row",
            "policy": {"confidence": 0.95},
        }
        assert one.limit == 1000
        assert one.identity == ledger.identity
        balance = one.balance()
        assert (balance.limit, balance.spent, balance.head_sequence) == (1000, 0, 1)
        (genesis,) = one.entries()
        assert (genesis.sequence, genesis.kind, genesis.hash) == (1, "genesis", balance.head_hash)


def test_two_ledgers_of_one_document_are_different_ledgers(ledger, folder):
    other = Ledger.create(folder / "other.eke", ledger.document, 1000)
    assert other.identity != ledger.identity
    assert other.mark() != ledger.mark()
    assert not other.verify(ledger.mark()).intact


def test_an_existing_file_is_never_overwritten(ledger, path, folder):
    content = path.read_bytes()
    with pytest.raises(LedgerError, match="exists already"):
        Ledger.create(path, {}, 5)
    assert path.read_bytes() == content
    empty = folder / "empty"
    empty.touch()
    with pytest.raises(LedgerError, match="exists already"):
        Ledger.create(empty, {}, 5)


@pytest.mark.parametrize("limit", [-1, 1.5, float("nan"), True, "7", None, 2**63])
def test_limits_are_whole_nano_units(path, limit):
    with pytest.raises(LedgerError, match="nano-units"):
        Ledger.create(path, {}, limit)
    assert not path.exists()


def test_a_limit_of_zero_and_the_largest_one_are_limits(folder, spend):
    assert Ledger.create(folder / "zero.eke", {}, 0).limit == 0
    assert Ledger.create(folder / "all.eke", {}, 2**63 - 1).limit == 2**63 - 1


def test_a_creation_that_fails_leaves_no_file(path, folder, monkeypatch):
    with pytest.raises(LedgerError):
        Ledger.create(path, {"a": float("nan")}, 5)
    with pytest.raises(LedgerError, match="cannot be created"):
        Ledger.create(folder / "nowhere" / "x.eke", {}, 5)

    def fail(*_):
        raise LedgerError("the disk is full")

    monkeypatch.setattr("eke.ledger.store._write_genesis", fail)
    with pytest.raises(LedgerError, match="full"):
        Ledger.create(path, {}, 5)
    assert list(folder.iterdir()) == []


def test_opening_what_is_not_there_creates_nothing(path):
    with pytest.raises(LedgerError, match="no ledger at"):
        Ledger.open(path)
    assert not path.exists()


def test_opening_an_unfinished_creation_says_so(path):
    path.touch()
    with pytest.raises(LedgerError, match="holds no ledger"):
        Ledger.open(path)


def test_a_ledger_comes_only_from_create_or_open(path):
    with pytest.raises(LedgerError, match=r"Ledger\.create"):
        _ = Ledger(File(path), create_engine("sqlite://")).document


def test_entries_can_be_read_from_anywhere(ledger, where, spend):
    spend(ledger, "a")
    spend(ledger, "b")
    every = Ledger.open(where).entries()
    assert [entry.sequence for entry in every] == [1, 2, 3, 4, 5]
    assert [entry.kind for entry in every] == ["genesis", *(["reserve", "commit"] * 2)]
    assert ledger.entries(after=3) == every[3:]
    assert ledger.entries(after=5) == []
    assert every[1].payload == {"query": "a"}
    assert every[1].about == {
        "analyst": "ann",
        "key": "a",
        "digest": "digest of a",
        "spent_after": 10,
    }


def test_another_process_sees_what_this_one_wrote(ledger, where, spend):
    other = Ledger.open(where)
    spend(ledger, "a")
    assert other.balance() == ledger.balance()
    spend(other, "b")
    assert ledger.balance().spent == 20
    assert ledger.find("ann", "b") == other.find("ann", "b")


def test_an_exception_undoes_the_whole_block(ledger):
    def interrupted(book):
        book.note("first", {})
        book.reserve(analyst="ann", key="k", digest="d", payload={}, spent_after=5)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), ledger.exclusive() as book:
        interrupted(book)
    assert ledger.balance().head_sequence == 1
    assert ledger.find("ann", "k") is None
    assert ledger.verify().intact


def test_a_mark_is_the_head_and_stays_valid(ledger, where, spend):
    spend(ledger, "a")
    mark = HighWaterMark.from_json(ledger.mark().to_json())
    assert (mark.sequence, mark.spent) == (3, 10)
    spend(ledger, "b")
    assert ledger.verify(mark).intact
    assert Ledger.open(where, mark).balance().spent == 20


def test_a_file_put_back_while_in_use_is_noticed_at_once(ledger, path, spend):
    spend(ledger, "a")
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    spend(ledger, "b")
    copy.replace(path)
    for use in (ledger.balance, ledger.entries, ledger.mark, lambda: spend(ledger, "c")):
        with pytest.raises(LedgerTampered, match="older state"):
            use()
    assert not ledger.verify().intact
    # Somebody else goes on with the old copy until it is longer than what was lost.
    other = Ledger.open(path)
    spend(other, "x")
    spend(other, "y")
    with pytest.raises(LedgerTampered, match="older state"):
        ledger.balance()


def test_threads_share_one_ledger(ledger, spend):
    errors = []

    def work(name):
        try:
            for number in range(10):
                spend(ledger, f"{name}-{number}", cost=1)
        except LedgerError as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert ledger.verify().intact
    assert ledger.balance().spent == 40


# -- files that nobody has written to ------------------------------------------------------------


class Reads:
    """How often a ledger was really read."""

    def __init__(self, ledger, monkeypatch):
        self.number = 0
        plain = ledger._reading

        def counted():
            self.number += 1
            return plain()

        monkeypatch.setattr(Ledger, "_reading", lambda _: counted())


def test_a_file_that_is_as_it_was_is_not_read_again(folder, monkeypatch):
    monkeypatch.setattr("eke.ledger.dialect.SETTLED_SECONDS", -1.0)
    path = folder / "quiet.eke"
    ledger, other = Ledger.create(path, {}, 1000), None
    reads = Reads(ledger, monkeypatch)
    head = ledger.entries()[-1].sequence
    assert ledger.entries(after=head) == []
    before = reads.number
    for _ in range(5):
        assert ledger.entries(after=head) == []
    assert reads.number == before
    assert len(ledger.entries()) == 1, "somebody who knows less gets everything"
    monkeypatch.undo()
    other = Ledger.open(path)
    with other.exclusive() as book:
        book.change_limit(2000, {})
    monkeypatch.setattr("eke.ledger.dialect.SETTLED_SECONDS", -1.0)
    assert [entry.kind for entry in ledger.entries(after=head)] == ["limit"], "at once"


def test_the_time_of_a_file_written_just_now_says_nothing(folder, monkeypatch):
    """Two COMMITs may fall into one tick of the clock."""
    path = folder / "busy.eke"
    ledger = Ledger.create(path, {}, 1000)
    reads = Reads(ledger, monkeypatch)
    head = ledger.entries()[-1].sequence
    for number in range(1, 4):
        assert ledger.entries(after=head) == []
        assert reads.number == number + 1


def test_a_ledger_that_was_replaced_or_is_gone_is_noticed(folder, monkeypatch):
    monkeypatch.setattr("eke.ledger.dialect.SETTLED_SECONDS", -1.0)
    path = folder / "here.eke"
    ledger = Ledger.create(path, {}, 1000)
    for _ in range(2):
        ledger.entries(after=1)
    Ledger.create(folder / "there.eke", {}, 1000)
    shutil.move(folder / "there.eke", path)
    with pytest.raises(LedgerTampered):
        ledger.entries(after=1)
    path.unlink()
    with pytest.raises(LedgerError):
        ledger.entries(after=1)


def test_a_reader_that_fails_half_way_keeps_nobody_waiting(ledger, where, spend, monkeypatch):
    """An open statement would keep its lock of the file for as long as the error is remembered."""
    for number in range(5):
        spend(ledger, f"key {number}")
    real = read_entry
    seen = []

    def broken(link: Link) -> Entry:
        seen.append(link)
        if len(seen) == 2:
            raise MemoryError
        return real(link)

    monkeypatch.setattr(reading, "read_entry", broken)
    with pytest.raises(MemoryError) as remembered, ledger.exclusive() as book:
        book.entries()
    monkeypatch.setattr(reading, "read_entry", real)
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.2)
    spend(Ledger.open(where), "another")  # would wait, and fail
    assert remembered.value is not None


def test_chains_of_more_than_one_page_are_read_whole(ledger, spend, monkeypatch):
    for number in range(7):
        spend(ledger, f"key {number}")
    whole = ledger.entries()
    monkeypatch.setattr(reading, "_PAGE", 3)
    monkeypatch.setattr(reading, "_LINKS_AFTER", reading._LINKS_AFTER.limit(3))
    assert ledger.entries() == whole
    for after in range(len(whole) + 1):
        assert [one.sequence for one in ledger.entries(after)] == [
            one.sequence for one in whole[after:]
        ]
