from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eke.errors import LedgerError
from eke.ledger.chain import NO_HASH, Link, answer_digest, canonical_text, entry_hash

LINK = Link(2, "reserve", "2020-01-01", '{"about":{},"payload":{}}', None, "")

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**70), max_value=2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def slow_hash(previous: str, link: Link) -> str:
    """The definition in the module's docstring, piece by piece."""
    digest = hashlib.sha256()
    digest.update(bytes.fromhex(previous))
    digest.update(struct.pack(">Q", link.sequence))
    for text in (link.kind, link.at):
        digest.update(struct.pack(">Q", len(text.encode("utf-8"))))
        digest.update(text.encode("utf-8"))
    digest.update(link.document.encode("utf-8"))
    return digest.hexdigest()


@settings(max_examples=50)
@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_canonical_text_reads_back_and_does_not_depend_on_key_order(document):
    text = canonical_text(document)
    assert json.loads(text) == document
    assert canonical_text(dict(reversed(document.items()))) == text
    assert canonical_text(json.loads(text)) == text
    assert text.isascii()


@dataclass
class Thing:
    value: int


class Subclass(dict):
    pass


@pytest.mark.parametrize(
    "document",
    [
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": [1, -float("inf")]},
        {1: "integer key"},
        {"a": {None: 1}},
        {"a": b"bytes"},
        {"a": Thing(1)},
        {"a": np.int64(3)},
        {"a": np.float64(3.5)},
        {"a": {1, 2}},
        {"a": Subclass(b=1)},
    ],
)
def test_documents_that_would_not_read_back_are_refused(document):
    with pytest.raises(LedgerError):
        canonical_text(document)


def test_nesting_beyond_the_stack_is_an_error_of_ours():
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(LedgerError, match="nesting"):
        canonical_text(deep)


@given(st.integers(1, 2**60), st.text(st.characters(codec="utf-8")), st.text(min_size=1))
def test_hash_equals_its_definition(sequence, kind, at):
    at = at.encode("utf-8", "replace").decode()
    link = LINK._replace(sequence=sequence, kind=kind, at=at)
    previous = hashlib.sha256(kind.encode()).hexdigest()
    assert entry_hash(previous, link) == slow_hash(previous, link)


@pytest.mark.parametrize(
    "other",
    [
        LINK._replace(sequence=3),
        LINK._replace(kind="reserv"),
        LINK._replace(kind="reserve2", at="020-01-01"),  # the same letters, cut elsewhere
        LINK._replace(at="2020-01-02"),
        LINK._replace(at='2020-01-01{"about"', document=':{},"payload":{}}'),
        LINK._replace(document=LINK.document + " "),
    ],
)
def test_every_part_of_an_entry_changes_its_hash(other):
    assert entry_hash(NO_HASH, other) != entry_hash(NO_HASH, LINK)


def test_the_previous_hash_changes_the_hash():
    assert entry_hash("1" * 64, LINK) != entry_hash(NO_HASH, LINK)


def test_answers_that_utf8_cannot_hold_are_refused():
    assert answer_digest("é") == hashlib.sha256(b"\xc3\xa9").hexdigest()
    with pytest.raises(LedgerError):
        answer_digest("\ud800")
