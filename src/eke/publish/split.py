"""Split: how much noise each statistic of a publication gets from one budget.

By expected error: the sum of the squared errors of all released numbers is least. Or as the paper
does it: the same noise for all. Either way the whole is scaled until its certified price, computed
as for any other release, is the budget and not more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from eke.domain import Domain
from eke.errors import PrivacyError
from eke.planning import Part, Plan, part_for
from eke.privacy.accountant import BEYOND_ALL_LIMITS, Accountant
from eke.privacy.measure import Measure
from eke.privacy.record_loss import NANO
from eke.publish.moments import Statistic
from eke.query import Neighbours

Split: TypeAlias = Literal["expected_error", "paper"]
CLASS_WEIGHT = 10.0
"""Means of classes are divided by sizes smaller than n, and what tells classes apart is small."""
_TRIES = 8
_CLOSE = 1.0 - 1e-4


def check_split(split: str) -> Split:
    """The split by that name, or an error that lists them."""
    for name in get_args(Split):
        if split == name:
            return name  # type: ignore[no-any-return]
    raise PrivacyError(f"split must be one of {', '.join(get_args(Split))}")


def plan_within(
    statistics: Sequence[Statistic],
    split: Split,
    budget_nano: int,
    *,
    domain: Domain,
    measure: Measure,
    neighbours: Neighbours,
) -> Plan:
    """The plan that measures the statistics for at most this price, by itself."""
    # A little less than the budget, for every loss is rounded up to whole nano-units.
    budget = 0.5 * (1.0 + _CLOSE) * budget_nano / NANO
    scales = noise_scales(statistics, split, budget, measure, neighbours)
    for _ in range(_TRIES):
        parts = [part_for(s.query, b, measure) for s, b in zip(statistics, scales, strict=True)]
        price = price_alone(parts, domain, measure, neighbours, budget_nano)
        if _CLOSE * budget_nano <= price <= budget_nano:
            return Plan(tuple(parts))
        if price >= BEYOND_ALL_LIMITS:
            break
        ratio = price / (budget * NANO)
        factor = measure.root(ratio)
        scales = [factor * scale for scale in scales]
    raise PrivacyError("this budget is too small to measure anything with; give more of it")


def price_alone(
    parts: Sequence[Part], domain: Domain, measure: Measure, neighbours: Neighbours, enough: int
) -> int:
    """The certified loss of some measurements on a table of which nothing was released yet."""
    accountant = Accountant(domain, measure, neighbours)
    return accountant.after_all([(part.query, part.law) for part in parts], enough)


def noise_scales(
    statistics: Sequence[Statistic],
    split: Split,
    budget: float,
    measure: Measure,
    neighbours: Neighbours,
) -> list[float]:
    """A noise scale for each statistic whose own losses add up to the budget.

    With sensitivity s and m cells each, Σ m·b² is least under Σ s/b = ε for b ∝ (s/m)^(1/3), and
    Σ m·σ² under Σ c/2σ² = ρ for σ² ∝ √(c/m), c being the largest sum of squared changes. Sums of
    single classes count CLASS_WEIGHT times.
    """
    # All coefficients are between 0 and 1; a replaced record changes two cells of a block.
    twice = [neighbours == "replace_one" and not s.query.is_single for s in statistics]
    changes = [2.0 if both else 1.0 for both in twice]
    if split == "paper":
        relative = [1.0 for _ in statistics]
    else:
        power = 1.0 / (2.0 + measure.order)
        weighed = [s.cells * (CLASS_WEIGHT if s.by_class else 1.0) for s in statistics]
        relative = [(c / m) ** power for c, m in zip(changes, weighed, strict=True)]
    losses = (c * measure.loss(1.0, r) for c, r in zip(changes, relative, strict=True))
    total = measure.root(sum(losses) / budget)
    return [total * r for r in relative]
