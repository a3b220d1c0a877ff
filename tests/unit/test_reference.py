"""The reference of Python is what the docstrings say now, and they say enough."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any

import pytest

import eke
from docs.generator.docstring import Documented, documented
from docs.generator.gaps import gaps, gaps_of, names
from docs.generator.markdown import PAGE, page
from docs.generator.sections import SECTIONS, WITHOUT_EXAMPLE
from eke import publish

STALE = "docs/reference/python.md is not what the docstrings say; run make reference and commit it"
OWN = re.compile(r"^#{3,4} (\S+)\n\n`(.+)`$", re.MULTILINE)


def told() -> str:
    """The page as it is in the repository."""
    return PAGE.read_text("utf-8")


def test_the_page_is_not_stale() -> None:
    assert told() == page(), STALE


def test_a_changed_docstring_makes_the_page_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positive control."""
    monkeypatch.setattr(eke.count, "__doc__", f"{eke.count.__doc__}\n\nOne sentence more.")
    assert told() != page()


def test_a_changed_signature_makes_the_page_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Positive control."""
    known = inspect.signature(eke.count)
    fewer = known.replace(parameters=list(known.parameters.values())[:1])
    monkeypatch.setattr(eke.count, "__signature__", fewer, raising=False)
    assert told() != page()


def test_every_public_name_has_its_place_and_only_one() -> None:
    listed = names()
    assert sorted(name for name in listed if "." not in name) == sorted(eke.__all__)
    assert len(set(listed)) == len(listed)
    assert set(WITHOUT_EXAMPLE) < set(listed)
    titles = re.findall(r"^## (.+)$", told(), re.MULTILINE)
    assert titles == [section.title for section in SECTIONS]


def test_docstrings_say_enough() -> None:
    assert gaps(names()) == []


def test_signatures_are_those_of_the_code() -> None:
    """By another way than the page's own."""
    shown = dict(OWN.findall(told()))
    for name, text in shown.items():
        owner, _, method = name.partition(".")
        target = getattr(eke, owner, None) or getattr(publish, owner)
        if method:
            target = inspect.unwrap(getattr(target, method))
        given = [p for p in inspect.signature(target).parameters if p != "self"]
        inside = text[text.index("(") + 1 : text.rindex(")")]
        bare = re.sub(r"=\([^)]*\)|='[^']*'|=[^,]+", "", inside)
        assert [n.strip("* ") for n in bare.split(",") if n.strip("* /")] == given, name
    assert len(shown) > 50


def lacking(target: Any, *, example: bool = False) -> list[str]:
    return list(gaps_of(Documented("it", target), example=example))


def test_a_missing_docstring_section_or_example_is_noticed() -> None:
    """Positive control."""

    def silent(low: int) -> int:
        return low

    def vague(low: int, high: int) -> int:
        """The sum of `low` and another number."""
        return low + high

    def stale(low: int) -> int:
        """The number.

        Args:
            low: the number.
            high: it is gone.
        """
        return low

    def good(low: int) -> int:
        """The number.

        Args:
            low: the number.

        Example:
            >>> 1
            1
        """
        return low

    assert lacking(silent) == ["no docstring", "low is not described", "no section Args"]
    assert lacking(vague) == ["high is not described", "no section Args"]
    assert lacking(stale, example=True) == ["no example", "high is no parameter"]
    assert lacking(good, example=True) == []


def test_a_member_or_a_field_that_nothing_is_said_about_is_noticed() -> None:
    """Positive control."""

    @dataclass(frozen=True)
    class Pair:
        """Two numbers.

        Attributes:
            low: the one.
        """

        low: int
        high: int

        @property
        def width(self) -> int:
            return self.high - self.low

        def moved(self, by: int, twice: bool, back: bool) -> int:
            """Where it is afterwards."""
            return self.low + by * (1 + twice) * (1 - 2 * back)

    Pair.__module__ = "eke.pair"
    found = lacking(Pair)
    assert found[:2] == ["the field high is not described", "width: no docstring"]
    assert found[2:] == [f"moved: {name} is not described" for name in ("back", "by", "twice")]


def test_a_member_without_a_docstring_has_the_inherited_one() -> None:
    members = {member.name: member for member in documented("Session").members}
    assert eke.Session.preview.__doc__ is None
    assert members["preview"].example
    assert members["remaining"].text
