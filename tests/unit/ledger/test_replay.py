from __future__ import annotations

import pytest

from eke.errors import LedgerTampered
from eke.ledger.chain import Link, canonical_text, entry_hash
from eke.ledger.replay import ChainState, advance, walk


def link(state, kind, about, closes=None):
    """A link with a right hash, so that only its meaning can be wrong."""
    text = canonical_text({"about": about, "payload": {}})
    draft = Link(state.sequence + 1, kind, "now", text, closes, "")
    return draft._replace(hash=entry_hash(state.hash, draft))


def started(limit=100, spent=0):
    state, _ = advance(ChainState(), link(ChainState(), "genesis", {"limit": limit}))
    if spent:
        state, _ = advance(state, reserve(state, spent))
    return state


def reserve(state, spent_after):
    about = {"analyst": "a", "key": "k", "digest": "d", "spent_after": spent_after}
    return link(state, "reserve", about)


def test_a_walk_adds_up_to_the_balance():
    state = started(limit=100, spent=30)
    commit = link(state, "commit", {"reservation": 2, "answer_sha256": "x"}, closes=2)
    state = walk(state, [commit])
    state, _ = advance(state, link(state, "limit", {"limit": 40}))
    state, entry = advance(state, reserve(state, 40))
    assert (state.sequence, state.spent, state.limit) == (5, 40, 40)
    assert state.balance().remaining == 0
    assert entry.about["spent_after"] == 40


@pytest.mark.parametrize(
    ("kind", "about", "closes"),
    [
        ("genesis", {"limit": 100}, None),
        ("reserve", {"analyst": "a", "key": "k", "digest": "d", "spent_after": 101}, None),
        ("reserve", {"analyst": "a", "key": "k", "digest": "d", "spent_after": 29}, None),
        ("reserve", {"analyst": "a", "key": "k", "digest": "d", "spent_after": 30.5}, None),
        ("reserve", {"analyst": "a", "key": "k", "digest": "d", "spent_after": True}, None),
        ("reserve", {"analyst": "a", "key": "k", "digest": "d"}, None),
        ("reserve", {"analyst": "a", "key": "k", "spent_after": 50}, None),
        ("reserve", {"analyst": "a", "key": "k", "digest": "d", "spent_after": 50}, 2),
        ("limit", {"limit": 29}, None),
        ("limit", {}, None),
        ("commit", {"reservation": 2, "answer_sha256": "x"}, None),
        ("commit", {"reservation": 2, "answer_sha256": "x"}, 1),
        ("commit", {"reservation": 2}, 2),
        ("commit", {"answer_sha256": "x"}, None),
        ("remember", {"analyst": "a", "key": "k", "digest": "d"}, None),
        ("note", {}, 2),
    ],
)
def test_entries_with_right_hashes_and_wrong_meaning_are_refused(kind, about, closes):
    state = started(limit=100, spent=30)
    with pytest.raises(LedgerTampered, match="entry 3"):
        advance(state, link(state, kind, about, closes))


def test_the_first_entry_creates_the_ledger():
    with pytest.raises(LedgerTampered, match="creates"):
        advance(ChainState(), link(ChainState(), "note", {}))


@pytest.mark.parametrize(
    "document", ["", "[]", "7", "{}", '{"about":{},"payload":7}', '{"about":[],"payload":{}}']
)
def test_documents_that_cannot_be_read_are_refused(document):
    state = started()
    draft = Link(2, "note", "now", document, None, "")
    with pytest.raises(LedgerTampered, match="document"):
        advance(state, draft._replace(hash=entry_hash(state.hash, draft)))


@pytest.mark.parametrize(
    "change",
    [{"sequence": 3}, {"sequence": "2"}, {"hash": "00"}, {"at": b"now"}, {"document": None}],
)
def test_columns_out_of_place_are_refused(change):
    state = started()
    with pytest.raises(LedgerTampered):
        advance(state, reserve(state, 5)._replace(**change))
