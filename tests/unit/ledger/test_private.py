"""The private document: bound to the chain, and not to be learnt from it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

import pytest
from sqlalchemy import select

from eke.errors import LedgerError, LedgerTampered
from eke.ledger import Ledger, schema
from eke.ledger.chain import answer_digest, canonical_text
from eke.ledger.private import seal

FINGERPRINT = hashlib.sha256(b"the protected table").hexdigest()
PRIVATE = {"data": {"path": "secret-folder/people.csv", "size": 48_151_623, "sha256": FINGERPRINT}}


@pytest.fixture
def holder(where, spend):
    """A ledger with a private document and a release."""
    ledger = Ledger.create(where, {"domain": ["a"]}, limit=1000, private=PRIVATE)
    spend(ledger, "one")
    return ledger


def stored(where):
    with Ledger.open(where)._transaction(write=False) as connection:
        return connection.execute(select(schema.private.c.document)).scalar_one()


def assert_detected(ledger, where):
    """Noticed by `verify`, at the next opening, and when the document is asked for."""
    assert any("private document" in problem for problem in ledger.verify().problems)
    with pytest.raises(LedgerTampered, match="private document"):
        Ledger.open(where)
    with pytest.raises(LedgerTampered, match="private document"):
        _ = ledger.private


@pytest.mark.parametrize("document", [{}, PRIVATE, {"deep": [{"x": None}, [1.5, "é", True]]}])
def test_a_private_document_comes_back_as_it_was(where, document):
    created = Ledger.create(where, {}, limit=10, private=document)
    assert created.private == document
    assert Ledger.open(where).private == document
    assert created.verify().intact


def test_a_ledger_without_one_has_an_empty_private_document(ledger, where):
    assert ledger.private == {}
    assert Ledger.open(where).private == {}


def test_a_private_document_that_is_no_json_is_refused_before_a_file_is_made(path):
    with pytest.raises(LedgerError, match="cannot hold a set"):
        Ledger.create(path, {}, limit=10, private={"values": {1, 2}})
    assert not path.exists()


def test_the_private_document_is_not_the_public_one(holder):
    assert holder.document == {"domain": ["a"]}
    assert holder.private == PRIVATE


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE private SET document = replace(document, 'people', 'person')",
        "UPDATE private SET document = document || ' '",
        'UPDATE private SET document = replace(document, \'"salt":"\', \'"salt":"0\')',
        "UPDATE private SET document = ''",
        "UPDATE private SET document = '5'",
        "DELETE FROM private",
        "INSERT INTO private SELECT 2, document FROM private",
        "INSERT INTO private VALUES (2, '{}')",
        "INSERT INTO private VALUES (0, '{}')",
    ],
)
def test_an_edited_deleted_or_duplicated_row_is_detected(holder, where, edit, statement):
    assert edit(where, (statement,)) == 1
    assert_detected(holder, where)


def test_an_exchanged_document_is_detected_although_it_is_well_formed(holder, where, edit):
    other = Ledger.create(f"{where}_other", {"domain": ["a"]}, limit=1000, private=PRIVATE)
    theirs = stored(f"{where}_other")
    assert other.private == PRIVATE  # the same document, under another salt
    edit(where, ("UPDATE private SET document = ?", theirs))
    assert_detected(holder, where)


def test_a_document_sealed_anew_is_detected(holder, where, edit):
    edit(where, ("UPDATE private SET document = ?", seal(PRIVATE)))
    assert_detected(holder, where)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE private",
        "ALTER TABLE private RENAME COLUMN document TO paper",
        "UPDATE private SET document = CAST(x'ff' AS TEXT)",
        "UPDATE private SET document = CAST(document AS BLOB)",
    ],
)
def test_a_private_table_that_cannot_be_read_is_detected(holder, path, edit, statement):
    assert edit(path, (statement,))
    assert not holder.verify().intact
    with pytest.raises(LedgerTampered):
        Ledger.open(path)


def test_what_was_edited_is_detected_and_what_was_put_back_is_not(holder, where, edit):
    """The control: an edit of the file as such is not what is noticed."""
    before = stored(where)
    edit(where, ("UPDATE private SET document = '{}'",))
    assert not holder.verify().intact
    edit(where, ("UPDATE private SET document = ?", before))
    assert holder.verify().intact
    assert Ledger.open(where).private == PRIVATE


def guesses(document):
    """What a verifier of a guess could look for: values, texts, and unsalted hashes of both."""
    data = document["data"]
    texts = [canonical_text(document), canonical_text(data), json.dumps(document), json.dumps(data)]
    texts += [canonical_text({"document": document}), *map(str, data.values())]
    return {*map(str, data.values()), *(answer_digest(text) for text in texts)}


def test_exported_entries_show_neither_the_document_nor_an_unsalted_hash_of_it(holder, where):
    exported = json.dumps([asdict(entry) for entry in holder.entries()])
    found = {guess for guess in guesses(PRIVATE) if guess in exported}
    assert not found
    salt = json.loads(stored(where))["salt"]
    assert salt not in exported
    careless = exported + answer_digest(canonical_text(PRIVATE))
    assert any(guess in careless for guess in guesses(PRIVATE)), "the control must be found"


def test_entries_hold_the_hash_of_document_and_salt(holder, where):
    assert holder.entries()[0].about["private_sha256"] == answer_digest(stored(where))


def test_the_same_private_document_has_another_hash_in_every_ledger(folder):
    """N = 20 ledgers: the hash does not even show that two of them are about one table."""
    hashes = {
        Ledger.create(folder / f"{number}.eke", {}, limit=10, private=PRIVATE)
        .entries()[0]
        .about["private_sha256"]
        for number in range(20)
    }
    assert len(hashes) == 20


def test_salts_are_fresh_and_of_256_bits():
    salts = {json.loads(seal(PRIVATE))["salt"] for _ in range(100)}
    assert len(salts) == 100
    assert all(len(bytes.fromhex(salt)) == 32 for salt in salts)
