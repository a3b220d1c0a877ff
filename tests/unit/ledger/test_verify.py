"""Edited, truncated and old ledgers: every column of every row, one at a time, and whole forgeries.

The edits are made as by someone with a shell of the database who knows the tables.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from eke.errors import LedgerError, LedgerTampered
from eke.ledger import Ledger
from eke.ledger.chain import NO_HASH, entry_hash
from eke.ledger.look import look
from eke.ledger.reading import links

EDITS = {
    "entry": {
        "sequence": "sequence + 1000",
        "kind": "kind || 'x'",
        "at": "replace(at, '20', '19')",
        "document": "document || ' '",
        "closes": "CASE WHEN closes IS NULL THEN 1 ELSE NULL END",
        "hash": "'0' || substr(hash, 1, 63)",
    },
    "account": {
        "spending_limit": "spending_limit + 1",
        "spent": "spent - 1",
        "head_sequence": "head_sequence - 1",
        "head_hash": "'0' || substr(head_hash, 1, 63)",
    },
    "request": {
        "analyst": "analyst || 'x'",
        "request_key": "request_key || 'x'",
        "digest": "digest || 'x'",
        "state": "CASE state WHEN 'reserved' THEN 'committed' ELSE 'reserved' END",
        "sequence": "sequence + 1000",
        "closed_by": "ifnull(closed_by, 0) + 1000",
        "answer": "ifnull(answer, '') || 'x'",
    },
}


@pytest.fixture
def full(ledger, spend):
    """Six releases, two open reservations, two free answers, a note and a change of the limit."""
    for number in range(6):
        spend(ledger, f"paid {number}", cost=10 + number)
    with ledger.exclusive() as book:
        for number in range(2):
            book.reserve(
                analyst="bob",
                key=f"open {number}",
                digest="d",
                payload={},
                spent_after=book.spent + 7,
            )
            book.remember(analyst="eve", key=f"free {number}", digest="d", answer="{}")
        book.note("remark", {"text": "hello"})
        book.change_limit(1500, {})
    spend(ledger, "last")
    return ledger


def rows_of(path, table):
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute(f"SELECT rowid FROM {table} ORDER BY rowid")]


def detected(path, mark=None):
    try:
        Ledger.open(path, mark)
    except LedgerTampered:
        found = True
    else:
        found = False
    if mark is None and "://" not in str(path):
        assert found == refused_by_look(path), "whoever only looks sees it as well"
    return found


def refused_by_look(path):
    try:
        look(Path(path))
    except LedgerError:
        return True
    return False


def test_every_edit_of_every_row_is_detected(full, path, folder, edit):
    """N > 200 single edits: each column of each row, and each row deleted."""
    copy = folder / "copy.eke"
    shutil.copy(path, copy)
    assert not detected(copy), "an untouched copy must pass, or detecting means nothing"
    missed, tried = [], 0
    for table, columns in EDITS.items():
        for row in rows_of(path, table):
            changes = [f"UPDATE {table} SET {c} = {to}" for c, to in columns.items()]
            for change in (*changes, f"DELETE FROM {table}"):
                shutil.copy(path, copy)
                assert edit(copy, (f"{change} WHERE rowid = ?", row)) == 1
                tried += 1
                if not detected(copy):
                    missed.append((change, row))
    assert missed == []
    assert tried > 200


CUNNING = [
    "UPDATE entry SET hash = upper(hash) WHERE sequence = 3",
    "UPDATE request SET answer = '' WHERE sequence = 2",
    "UPDATE request SET answer = '5' WHERE sequence = 2",
    "UPDATE request SET closed_by = NULL, answer = NULL, state = 'reserved' WHERE sequence = 2",
    "UPDATE request SET closed_by = 1, answer = '', state = 'committed' WHERE sequence = 14",
    "UPDATE account SET spent = 0",
    "DELETE FROM account",
    "INSERT INTO account VALUES (2, 1, 0, 1, 'x')",
    "INSERT INTO request VALUES ('ann', 'new', 'd', 'committed', 1, 1, 'forged')",
    "INSERT INTO entry SELECT max(sequence) + 1, 'note', 'now', '{}', NULL, 'x' FROM entry",
    "DELETE FROM entry WHERE sequence = (SELECT max(sequence) FROM entry)",
    "DELETE FROM entry",
    "DROP TABLE request",
    "DROP TABLE account",
    "ALTER TABLE request RENAME COLUMN answer TO reply",
]
# SQLite stores what it is given, whatever the type of the column.
OTHER_TYPES = [
    "UPDATE entry SET document = CAST(document AS BLOB) WHERE sequence = 3",
    "UPDATE entry SET document = CAST(x'ff' AS TEXT) WHERE sequence = 3",
    "UPDATE request SET answer = CAST(answer AS BLOB) WHERE sequence = 2",
    "UPDATE account SET spent = CAST(spent AS REAL) + 0.5",
    "UPDATE account SET spent = 'x'",
]


def assert_detected(ledger, where):
    assert detected(where)
    report = ledger.verify()
    assert not report.intact
    with pytest.raises(LedgerTampered):
        report.require()


@pytest.mark.parametrize("statement", CUNNING)
def test_cunning_edits_are_detected(full, where, edit, statement):
    assert not detected(where), "before the edit all is well"
    assert edit(where, (statement,))  # -1 for a change of the tables, else the rows changed
    assert_detected(full, where)


@pytest.mark.parametrize("statement", OTHER_TYPES)
def test_values_of_another_type_are_detected(full, path, edit, statement):
    assert edit(path, (statement,))
    assert_detected(full, path)


def test_exchanged_entries_are_detected(full, path, folder, edit):
    copy = folder / "copy.eke"
    last = len(rows_of(path, "entry"))
    for first in range(1, last):
        shutil.copy(path, copy)
        changed = edit(
            copy,
            ("UPDATE entry SET sequence = -1 WHERE sequence = ?", first),
            ("UPDATE entry SET sequence = ? WHERE sequence = ?", first, first + 1),
            ("UPDATE entry SET sequence = ? WHERE sequence = -1", first + 1),
        )
        assert changed == 3
        assert detected(copy), first


def test_old_copies_are_detected_by_a_mark_and_only_by_a_mark(ledger, path, folder, spend):
    """N = 20 older copies. Without a mark an old copy is a fine ledger: the documented gap."""
    copies = []
    for number in range(20):
        copies.append(folder / f"copy {number}")
        shutil.copy(path, copies[-1])
        spend(ledger, str(number))
    mark = ledger.mark()
    assert not detected(path, mark)
    for copy in copies:
        assert detected(copy, mark)
        assert not detected(copy)
        assert not Ledger.open(copy).verify(mark).intact


def rewritten(where, edit, change):
    """Forge consistently: change documents, then compute every later hash and the head anew."""
    with Ledger.open(where)._transaction(write=False) as connection:
        stored = list(links(connection))
    previous = NO_HASH
    statements: list[tuple[object, ...]] = []
    for old in stored:
        draft = old._replace(document=change(old))
        previous = entry_hash(previous, draft)
        statements.append(
            (
                "UPDATE entry SET document = ?, hash = ? WHERE sequence = ?",
                draft.document,
                previous,
                old.sequence,
            )
        )
    statements.append(("UPDATE account SET head_hash = ?", previous))
    edit(where, *statements)


def test_a_complete_forgery_is_detected_by_a_mark_and_only_by_a_mark(full, where, edit):
    mark = full.mark()
    rewritten(where, edit, lambda link: link.document.replace('"value":7', '"value":8'))
    assert not detected(where), "the chain has no secret: a whole new chain is consistent"
    assert detected(where, mark)
    assert not full.verify().intact, "a process that saw the old head has a mark of its own"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"spent_after":10}', '"spent_after":9999}'),
        ('"spent_after":33}', '"spent_after":2}'),
        ('"key":"paid 0"', '"key":"paid 1"'),
        ('"reservation":4', '"reservation":2'),
        ('"limit":1500', '"limit":3'),
        ('"answer_sha256":"', '"answer_sha256":"0'),
    ],
)
def test_a_forged_chain_must_also_make_sense(full, where, edit, old, new):
    rewritten(where, edit, lambda link: link.document.replace(old, new))
    assert detected(where)


def test_marks_of_another_history_are_reported(full, spend):
    mark = full.mark()
    wrong = type(mark)
    report = full.verify(wrong(mark.sequence, mark.hash, mark.spent + 1))
    assert "not on this chain" in report.problems[0]
    report = full.verify(wrong(mark.sequence + 1, mark.hash, mark.spent))
    assert "older copy" in report.problems[0]


def test_a_report_counts_what_it_saw(full):
    report = full.verify()
    assert report.intact
    assert report.entries == full.balance().head_sequence == 21
    assert (report.spent, report.limit) == (75 + 14 + 10, 1500)
    assert report.head_hash == full.mark().hash
    assert len(report.open_reservations) == 2
