"""Long searches in parts: the first belong to `make test`, all of them to `make test-long`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings


def parts(number: int, kept: int = 1) -> list[Any]:
    """The numbers of the parts; from `kept` on they are long."""
    return [part if part < kept else in_long(part) for part in range(number)]


def among(names: Iterable[Any], kept: Iterable[Any]) -> list[Any]:
    """The names of some cases; those that are not kept are long."""
    return [name if name in kept else in_long(name) for name in names]


def every(step: int, cases: Iterable[Any], first: int = 0) -> list[Any]:
    """Some cases, from the first on; those between every so many are long."""
    return [case if place % step == first else in_long(case) for place, case in enumerate(cases)]


def in_long(value: Any) -> Any:
    """A parameter whose test is long."""
    return pytest.param(value, marks=pytest.mark.long)


def law(*strategies: Any, few: int, many: int) -> Callable[[Callable[..., None]], Any]:
    """The test of a law with a few random examples, and with many in the long part."""

    def tested(check: Callable[..., None]) -> Any:
        @pytest.mark.parametrize("examples", [few, in_long(many)])
        def test(examples: int) -> None:
            settings(max_examples=examples)(given(*strategies)(check))()

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return tested
