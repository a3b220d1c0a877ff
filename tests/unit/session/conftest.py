"""A small protected table, in a ledger on the fastest disk there is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke

DOMAIN = eke.Domain(
    sex=eke.Categorical("Female", "Male"),
    age=eke.Integer(17, 26),
    city=eke.Categorical("<script>alert(1)</script>", "b & c", "d"),
)
# Every value is kept, so that the number of rows is public under replace_one.
CLOSED = eke.Domain(
    sex=eke.Categorical("Female", "Male", null=eke.Replace("Male"), outside=eke.Replace("Male")),
    age=eke.Integer(17, 26, null=eke.Replace(17)),
)


def make_people(rows: int = 400) -> pd.DataFrame:
    """A table whose rows are fixed by arithmetic."""
    number = np.arange(rows)
    return pd.DataFrame(
        {
            "sex": np.where(number % 3 == 0, "Female", "Male"),
            "age": 17 + number % 10,
            "city": np.array(["<script>alert(1)</script>", "b & c", "d"])[number // 7 % 3],
            "person": number // 2,
        }
    )


@pytest.fixture
def people() -> pd.DataFrame:
    return make_people()


@pytest.fixture
def new(folder: Path, people: pd.DataFrame) -> Callable[..., eke.Session]:
    """A maker of sessions, each on a new ledger."""
    made: list[None] = []

    def create(**settings) -> eke.Session:
        made.append(None)
        options = {"data": people, "domain": DOMAIN, "analyst": "ann", **settings}
        if "rho" not in options:
            options.setdefault("epsilon", 1.0)
        return eke.create(folder / f"people-{len(made)}.eke", **options)

    return create


@pytest.fixture
def session(new: Callable[..., eke.Session]) -> eke.Session:
    return new()
