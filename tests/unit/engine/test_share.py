"""Shares and caps: what an analyst may still cause, never beyond the dataset's limit."""

from __future__ import annotations

import pytest

from eke.engine.share import Shares, cap_document
from eke.errors import LedgerError, PrivacyError


@pytest.mark.parametrize("limit", [0, 50, 100])
@pytest.mark.parametrize("spent", [0, 30, 50])
@pytest.mark.parametrize("own", [0, 10, 20, 30])
@pytest.mark.parametrize("cap", [None, 0, 1, 20, 1000])
def test_a_cap_leaves_what_was_not_spent_of_it(limit, spent, own, cap):
    shares = Shares({"ann": own, "bob": 7}, {} if cap is None else {"ann": cap, "bob": 3})
    found = shares.limit_for("ann", limit, spent)
    assert found <= limit
    if cap is None:
        assert found == limit
    elif own >= cap:
        assert found == min(limit, spent)
    else:
        assert found == min(limit, spent + cap - own)


def test_a_cap_counts_before_anything_was_spent():
    assert Shares({}, {"ann": 5}).limit_for("ann", 100, 40) == 45
    assert Shares({}, {"ann": 5}).limit_for("bob", 100, 40) == 100


def test_charges_add_up_by_analyst():
    shares = Shares({}, {"ann": 5}).charged("ann", 3).charged("bob", 4).charged("ann", 2)
    assert shares.spent == {"ann": 5, "bob": 4}
    assert shares.caps == {"ann": 5}


def test_the_last_cap_counts_and_none_takes_it_away():
    shares = Shares({"ann": 1}).capped(cap_document("ann", 5, "cora"))
    shares = shares.capped(cap_document("bob", 0, "cora")).capped(cap_document("ann", 9, "cora"))
    assert shares.caps == {"ann": 9, "bob": 0}
    shares = shares.capped(cap_document("ann", None, "cora"))
    assert shares.caps == {"bob": 0}
    assert shares.spent == {"ann": 1}
    assert shares.limit_for("bob", 100, 10) == 10


@pytest.mark.parametrize(
    "document",
    [
        {"analyst": 1, "cap": 1},
        {"cap": 1},
        {"analyst": "ann", "cap": -1},
        {"analyst": "ann", "cap": 1.0},
        {"analyst": "ann", "cap": True},
        {"analyst": "ann", "cap": "1"},
    ],
)
def test_a_cap_of_unknown_form_releases_nothing(document):
    with pytest.raises(LedgerError, match="unknown form"):
        Shares().capped(document)


def test_caps_are_written_as_they_are_read():
    assert cap_document("ann", 2**63 - 1, "cora") == {
        "analyst": "ann",
        "cap": 2**63 - 1,
        "by": "cora",
    }
    assert cap_document("a" * 255, 0, "cora")["cap"] == 0
    assert cap_document("ann", None, "cora")["cap"] is None


@pytest.mark.parametrize(
    ("analyst", "cap"),
    [("", 1), ("a\n", 1), ("a" * 256, 1), ("ann", -1), ("ann", 2**63), ("ann", 0.5), ("ann", True)],
)
def test_caps_are_refused_before_they_are_written(analyst, cap):
    with pytest.raises(PrivacyError):
        cap_document(analyst, cap, "cora")
