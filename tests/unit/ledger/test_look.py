"""Looking at a ledger file: the same as opening it, in every respect but payloads.

That every edit is noticed is tried in `test_verify.py`, for both.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from eke.errors import LedgerError, LedgerTampered
from eke.ledger import Ledger, migrate
from eke.ledger.chain import entry_hash
from eke.ledger.look import VERSION, look
from eke.ledger.reading import links
from eke.ledger.replay import read_about, read_entry


def test_it_says_what_the_open_ledger_says(ledger, path, spend):
    for number in range(3):
        spend(ledger, f"key {number}", cost=10 + number)
    seen = look(path)
    entries = ledger.entries()
    assert seen.balance == ledger.balance()
    assert list(seen.entries) == [replace(entry, payload={}) for entry in entries]
    assert [seen.whole(entry.sequence) for entry in entries] == entries
    assert seen.text(1).startswith('{"about":')


def test_it_knows_the_newest_tables():
    assert migrate.MIGRATIONS[-1].version == VERSION


def test_tables_of_another_version_are_left_to_whoever_opens_them(ledger, path, edit):
    assert edit(path, ("UPDATE ledger_version SET version = ?", VERSION + 1)) == 1
    with pytest.raises(LedgerError, match="version 2"):
        look(path)


@pytest.mark.parametrize("content", [None, b"", b"no ledger", b"SQLite format 3\0"])
def test_what_is_no_ledger_is_an_error(folder, content):
    path = folder / "nothing.eke"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(LedgerError):
        look(path)
    assert path.exists() == (content is not None)


def forged(path, edit, document):
    """Exchange the document of the last entry, with all hashes made anew."""
    with Ledger.open(path)._transaction(write=False) as connection:
        *_, before, last = links(connection)
    new = entry_hash(before.hash, last._replace(document=document))
    place = last.sequence
    edit(path, ("UPDATE entry SET document = ?, hash = ? WHERE sequence = ?", document, new, place))
    edit(path, ("UPDATE account SET head_hash = ?", new))


def test_payloads_are_read_when_they_are_asked_for(ledger, path, spend, edit):
    """A whole forgery whose payload is no JSON: noticed by whoever reads it, and by verifying."""
    spend(ledger, "key")
    text = look(path).text(3)
    forged(path, edit, text[: text.index(',"payload":')] + ',"payload":{"measurements":oops}}')
    opened = Ledger.open(path)
    assert opened.verify().problems
    with pytest.raises(LedgerTampered, match="cannot be read"):
        opened.entries()
    seen = look(path)
    assert seen.balance.spent == 10
    with pytest.raises(LedgerTampered, match="cannot be read"):
        seen.whole(3)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('{"about":', '{"about":['),
        lambda text: text.replace(',"payload":{', ',"payload":['),
        lambda text: text[:-1],
        lambda text: '{"about":[]' + text[text.index(',"payload"') :],
        lambda _: "[]",
        lambda _: "",
    ],
)
def test_documents_of_another_form_are_noticed_by_both(ledger, path, spend, edit, change):
    spend(ledger, "key")
    forged(path, edit, change(look(path).text(3)))
    with pytest.raises(LedgerTampered):
        Ledger.open(path)
    with pytest.raises(LedgerTampered):
        look(path)


def test_a_document_that_is_written_otherwise_reads_the_same(ledger, path, spend):
    spend(ledger, "key")
    with ledger._transaction(write=False) as connection:
        stored = list(links(connection))
    for link in stored:
        spaced = link._replace(document=link.document.replace('{"about":', '{ "about": ', 1))
        assert read_about(spaced) == read_about(link) == replace(read_entry(link), payload={})
