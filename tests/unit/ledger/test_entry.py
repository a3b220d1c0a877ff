from __future__ import annotations

import pytest

from eke.errors import LedgerError, LedgerTampered
from eke.ledger import Balance, HighWaterMark, Verification

HASH = "ab" * 32


def test_a_mark_survives_its_json():
    mark = HighWaterMark(sequence=3, hash=HASH, spent=12)
    assert HighWaterMark.from_json(mark.to_json()) == mark


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"sequence": 1, "hash": "ab", "spent": 0}',
        f'{{"sequence": 0, "hash": "{HASH}", "spent": 0}}',
        f'{{"sequence": 1, "hash": "{HASH}", "spent": -1}}',
        f'{{"sequence": 1.0, "hash": "{HASH}", "spent": 0}}',
        f'{{"sequence": true, "hash": "{HASH}", "spent": 0}}',
        f'{{"sequence": 1, "hash": "{HASH}", "spent": NaN}}',
        '{"sequence": 1, "hash": 7, "spent": 0}',
    ],
)
def test_malformed_marks_are_refused(text):
    with pytest.raises(LedgerError, match="high-water mark"):
        HighWaterMark.from_json(text)


def test_remaining_is_what_the_limit_leaves():
    assert Balance(limit=10, spent=4, head_sequence=1, head_hash=HASH).remaining == 6


def test_only_a_verification_without_problems_passes():
    good = Verification((), 1, 0, 10, HASH, ())
    assert good.intact
    assert good.require() is good
    bad = Verification(("entry 3",), 1, 0, 10, HASH, ())
    assert not bad.intact
    with pytest.raises(LedgerTampered, match="entry 3"):
        bad.require()
