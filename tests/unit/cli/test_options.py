"""What --within may say, and choices that are those of the engine."""

from __future__ import annotations

from typing import get_args

import pytest
import typer

from eke.cli import options
from eke.planning.online.policy import PolicyName
from eke.query import Neighbours


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (None, None),
        ([], None),
        (["60"], 60.0),
        (["1e3"], 1000.0),
        (["n=60"], {"n": 60.0}),
        (["n=60", "AVG(hours)=0.5"], {"n": 60.0, "AVG(hours)": 0.5}),
        (["a = b=2"], {"a = b": 2.0}),
    ],
)
def test_half_widths(given: list[str] | None, meant: object) -> None:
    assert options.half_widths(given) == meant


@pytest.mark.parametrize("given", [["x"], ["n="], ["1", "2"], ["1", "n=2"], ["n=1", "n=2"], [""]])
def test_half_widths_that_make_no_sense(given: list[str]) -> None:
    with pytest.raises(typer.BadParameter):
        options.half_widths(given)


def test_choices_are_those_of_the_engine() -> None:
    assert sorted(get_args(options.Policy)) == sorted(get_args(PolicyName))
    assert get_args(options.Neighbours) == get_args(Neighbours)
