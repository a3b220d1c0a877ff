"""Refining at the junction: the difference is charged, once, for what was really released."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eke.domain import Domain, Integer
from eke.engine import Beginning, Stale, Vault, measuring
from eke.engine.refined import check_refined
from eke.errors import DataError, PrivacyError
from eke.history import Measurement
from eke.ledger import Ledger
from eke.mechanism import refine_with_noise
from eke.planning import Part, Plan, part_for
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteLaplace
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.privacy.refinement import Earlier
from eke.query import count
from tests.unit.engine.test_vault import (
    DOMAIN,
    Watched,
    ledger,
    open_vault,
    plan_of,
    protected,
    release,
    source,
)

__all__ = ["ledger", "protected", "source"]  # fixtures


def finer(vault: Vault, place: int, factor: int = 2) -> Plan:
    """A plan that refines a measurement to a fraction of its noise."""
    earlier = vault.measurements[place]
    law = earlier.law
    assert isinstance(law, DiscreteLaplace)
    halved = DiscreteLaplace(law.steps // factor, law.exponent)
    return Plan((Part(earlier.query, halved, Earlier(place, law.steps)),))


def test_the_difference_is_charged(protected: Vault, ledger: Ledger) -> None:
    release(protected)
    text = release(protected, finer(protected, 0), key="two")
    assert ledger.balance().spent == pytest.approx(NANO // 2, abs=2)
    coarse, fine = protected.measurements
    assert isinstance(coarse.law, DiscreteLaplace)
    assert fine.refines == Earlier(0, coarse.law.steps)
    assert fine.before == coarse.values
    assert text.startswith(str(fine.values[0]))
    release(protected, finer(protected, 1), key="three")
    assert ledger.balance().spent == pytest.approx(NANO, abs=4)
    known = protected.facts().inference.linear(fine.query.cell(0))
    assert known is not None
    assert known[0] == pytest.approx(protected.measurements[2].values[0])


def test_the_noise_before_is_that_of_the_ledger(
    protected: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the noise is refined from follows from the stored value; N = 1 draw each."""
    given: list[tuple[Any, ...]] = []

    def noted(*arguments: Any) -> list[int]:
        given.append(arguments)
        return refine_with_noise(*arguments)

    monkeypatch.setattr(measuring, "refine_with_noise", noted)
    release(protected)
    release(protected, finer(protected, 0), key="two")
    ((_, before, law),) = given
    earlier = protected.measurements[0]
    assert [step * earlier.law.step for step in before] == list(earlier.values)
    assert law.coarse == earlier.law


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (lambda part: replace(part, refines=Earlier(7, part.refines.steps)), "no such measurement"),
        (lambda part: replace(part, refines=Earlier(1, part.refines.steps)), "no such measurement"),
        (lambda part: replace(part, refines=Earlier(-1, part.refines.steps)), "no such measuremen"),
        (
            lambda part: replace(part, refines=Earlier(0, part.refines.steps + 1)),
            "noise that it had",
        ),
        (lambda part: replace(part, query=count(a=1).on(DOMAIN)), "the same question"),
        (
            lambda part: replace(part, law=DiscreteLaplace(part.law.steps, part.law.exponent - 1)),
            "noise that it had",
        ),
    ],
)
def test_what_is_refined_was_released_so(
    protected: Vault, ledger: Ledger, source: Watched, changed: Any, reason: str
) -> None:
    release(protected)
    (part,) = finer(protected, 0).parts
    before, seen = ledger.entries(), list(source.seen)
    with pytest.raises(PrivacyError, match=reason):
        release(protected, Plan((changed(part),)), key="two")
    assert ledger.entries() == before
    assert source.seen == seen


def test_nothing_is_refined_twice(protected: Vault, ledger: Ledger) -> None:
    release(protected)
    plan = finer(protected, 0)
    release(protected, plan, key="two")
    before = ledger.entries()
    with pytest.raises(Stale):
        release(protected, plan, key="three")
    with pytest.raises(PrivacyError, match="refines a measurement once"):
        release(protected, Plan(2 * finer(protected, 1).parts), key="four")
    assert ledger.entries() == before


def test_a_charge_counts_before_it_is_measured(
    protected: Vault, ledger: Ledger, source: Watched
) -> None:
    """A refinement that was charged and not drawn yet keeps others from refining the same."""
    release(protected)
    plan = finer(protected, 0)
    source.fails = True
    with pytest.raises(DataError):
        release(protected, plan, key="two")
    source.fails = False
    other = open_vault(ledger, source)
    assert other.facts().accounts.refinable(plan.parts[0].query) is None
    with pytest.raises(Stale):
        release(other, plan, key="three")
    text = release(other, plan, key="two")  # what was paid for is finished
    assert release(protected, plan, key="two") == text
    assert len(other.measurements) == 2


def test_a_repeated_request_draws_nothing_anew(
    protected: Vault, ledger: Ledger, source: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error after the draw, and the same key again: the same noisy answer."""
    release(protected)
    plan = finer(protected, 0)

    def broken(*_: Any) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(protected, plan, key="two", answer=broken)
    drawn: Any = [e.payload["draws"] for e in ledger.entries() if e.kind == "draw"][-1]
    monkeypatch.setattr(measuring, "refine_with_noise", lambda *_: pytest.fail("drawn again"))
    other = open_vault(ledger, source)
    release(other, plan, key="two")
    steps = other.measurements[1].values[0] / other.measurements[1].law.step
    assert drawn[0]["steps"] == [steps]


def test_noise_of_another_kind_is_not_refined() -> None:
    law = part_for(count().on(DOMAIN), 3.0, CONCENTRATED).law
    with pytest.raises(PrivacyError, match="only discrete Laplace"):
        Part(count().on(DOMAIN), law, Earlier(0, law.steps + 1))


def test_values_that_doubles_do_not_hold_are_not_refined() -> None:
    law = DiscreteLaplace(2**20, 0)
    huge = Measurement(count().on(DOMAIN), law, (2.0**60,))
    plan = Plan((Part(huge.query, DiscreteLaplace(2**19, 0), Earlier(0, 2**20)),))
    with pytest.raises(PrivacyError, match="2\\^53"):
        check_refined(plan, [huge])


@pytest.mark.parametrize(("neighbours", "rows"), [("replace_one", 1), ("add_remove", 3)])
def test_units_and_neighbours_pay_the_difference_of_what_they_would_pay(
    ledger: Ledger, source: Watched, neighbours: Any, rows: int
) -> None:
    plan = plan_of(0.1)
    one = Vault(ledger, source, Beginning(DOMAIN, PURE, neighbours, rows))
    release(one, plan)
    once = ledger.balance().spent
    release(one, finer(one, 0), key="two")
    assert ledger.balance().spent == pytest.approx(2 * once, abs=4 * rows)


def test_a_plan_of_another_domain_refines_nothing(protected: Vault) -> None:
    release(protected)
    (part,) = finer(protected, 0).parts
    other = Domain(a=Integer(0, 3), b=Integer(0, 1))
    with pytest.raises(PrivacyError, match="another domain"):
        release(protected, Plan((replace(part, query=count(a=(0, 2)).on(other)),)), key="two")


def test_a_boolean_is_no_place(protected: Vault) -> None:
    release(protected)
    (part,) = finer(protected, 0).parts
    forged = replace(part, refines=Earlier(False, part.refines.steps))  # type: ignore[union-attr]
    with pytest.raises(PrivacyError, match="told by its place"):
        release(protected, Plan((forged,)), key="two")


def test_readers_know_what_was_charged_to_be_refined(protected: Vault, source: Watched) -> None:
    """Also where it failed; else they would plan it again, and writers refuse it over and over."""
    release(protected)
    query = protected.measurements[0].query
    assert protected.snapshot().facts.refinable(query) is not None
    source.fails = True
    with pytest.raises(DataError):
        release(protected, finer(protected, 0), key="two")
    assert protected.snapshot().facts.refinable(query) is None
    assert protected.snapshot().facts.refinable(query) is None
