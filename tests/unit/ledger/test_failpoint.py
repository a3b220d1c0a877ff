"""The hook itself; `tests/system` dies at every one of them for real."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

import pytest

import eke
from eke.errors import EkeError
from eke.ledger.failpoint import FAILPOINTS, VARIABLE, failpoint


class DiedError(Exception):
    pass


@pytest.fixture
def passes_survived(monkeypatch):
    module = sys.modules["eke.ledger.failpoint"]
    monkeypatch.setattr(module, "_passes", {})

    def die(_process, number):
        assert number == signal.SIGKILL
        raise DiedError

    monkeypatch.setattr(module.os, "kill", die)

    def count(value):
        monkeypatch.delenv(VARIABLE, raising=False)
        if value is not None:
            monkeypatch.setenv(VARIABLE, value)
        for number in range(5):
            try:
                failpoint("ledger.begun")
            except DiedError:
                return number
        return 5

    return count


@pytest.mark.parametrize("value", [None, "", "ledger.charged"])
def test_nothing_happens_unless_the_place_is_named(passes_survived, value):
    assert passes_survived(value) == 5


@pytest.mark.parametrize(
    ("value", "survived"), [("ledger.begun", 0), ("ledger.begun@1", 0), ("ledger.begun@3", 2)]
)
def test_the_process_dies_at_the_named_pass(passes_survived, value, survived):
    assert passes_survived(value) == survived


def test_a_misspelt_name_is_an_error(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(EkeError, match="FAILPOINTS"):
        failpoint("ledger.begin")


def test_the_list_holds_exactly_the_names_in_use():
    calls = re.compile(r'^ +failpoint\("([^"]+)"\)', re.MULTILINE)
    sources = Path(eke.__path__[0]).rglob("*.py")
    used = {name for source in sources for name in calls.findall(source.read_text("utf-8"))}
    assert used == set(FAILPOINTS)
    assert len(FAILPOINTS) == len(set(FAILPOINTS))
