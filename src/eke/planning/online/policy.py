"""Policies: what to measure for questions that history cannot answer well enough.

A policy sees public facts only: the demands, what history knows of them (as laws of error, never
as values), the accounts, and what was paid for before. It returns a plan.

`direct` and `top_up` measure the questions themselves (`rent.py`); `look_ahead` may buy a table
that answers them and the questions that are likely to follow (`look_ahead.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, get_args

from eke.errors import AccuracyError
from eke.planning.online.facts import Facts, Missing
from eke.planning.online.plan import Part, Plan
from eke.planning.online.rent import direct, top_up

PolicyName: TypeAlias = Literal["direct", "top_up", "look_ahead"]


class Policy(Protocol):
    """What `decide` needs of a policy."""

    @property
    def name(self) -> str: ...

    def plan(self, missing: Sequence[Missing], facts: Facts) -> Plan:
        """What to measure so that all demands are met; it may cost more than the limit allows."""
        ...

    def least_stretch(
        self, missing: Sequence[Missing], facts: Facts, rents: Sequence[Part]
    ) -> float | None:
        """The factor by which all demands must be relaxed to be affordable; None if none is.

        `rents` are the measurements that would meet the demands as they are.
        """
        ...


class FallsShort(Exception):
    """History alone is not accurate enough, and nothing was to be planned."""


@dataclass(frozen=True, slots=True)
class OnlyHistory:
    """The policy of whoever looks whether an answer is free: it plans nothing."""

    name: str = "only_history"

    def plan(self, missing: Sequence[Missing], facts: Facts) -> Plan:
        raise FallsShort

    def least_stretch(
        self, missing: Sequence[Missing], facts: Facts, rents: Sequence[Part]
    ) -> float | None:
        return None


only_history = OnlyHistory()
POLICIES: tuple[PolicyName, ...] = get_args(PolicyName)


def policy_named(name: str) -> Policy:
    """The policy of that name."""
    if not isinstance(name, str) or name not in POLICIES:
        raise AccuracyError(f"unknown policy {name!r}; choose one of {', '.join(POLICIES)}")
    if name != "look_ahead":
        return {"direct": direct, "top_up": top_up}[name]
    from eke.planning.look_ahead.look_ahead import look_ahead  # noqa: PLC0415 - slow to load

    return look_ahead
