"""Random domains and questions for tests, from the caller's own generator."""

from __future__ import annotations

import numpy as np

from eke.domain import Attribute, Categorical, Domain, Integer, Replace
from eke.query import (
    Expression,
    MarginalExpression,
    constant,
    count,
    marginal,
    moment,
    table,
    total,
)

WEIGHTS = (1, 1, 2, -1, -3, 0.5, 0.1, -2.75)


def random_domain(
    rng: np.random.Generator, *, attributes: int = 3, largest: int = 4, closed: bool | None = None
) -> Domain:
    """A domain of one to so many small attributes; a `closed` one never drops a row."""
    keeps_all = bool(rng.random() < 0.5) if closed is None else closed
    names = "abcdef"[: int(rng.integers(1, attributes + 1))]
    return Domain({name: _attribute(rng, largest, keeps_all=keeps_all) for name in names})


def _attribute(rng: np.random.Generator, largest: int, *, keeps_all: bool) -> Attribute:
    size = int(rng.integers(1, largest + 1))
    if rng.random() < 0.6:
        low = int(rng.integers(-2, 3))
        return Integer(low, low + size - 1, null=Replace(low) if keeps_all else "drop")
    texts = [f"v{i}" for i in range(size)]
    if keeps_all:
        return Categorical(*texts, null=Replace("v0"), outside=Replace("v0"))
    return Categorical(*texts)


def random_expression(rng: np.random.Generator, domain: Domain) -> Expression:
    """Counts, sums, moments and tables, and weighted combinations of them with a constant."""
    expression = _random_part(rng, domain)
    for _ in range(int(rng.choice([0, 0, 0, 1, 2]))):
        expression = expression + _random_part(rng, domain) * _weight(rng)
    if rng.random() < 0.1:
        expression = expression + constant(float(rng.integers(-5, 6)))
    return expression * _weight(rng) if rng.random() < 0.3 else expression


def random_marginal(rng: np.random.Generator, domain: Domain) -> MarginalExpression:
    """A block over one or two attributes, often with something inside."""
    size = int(rng.integers(1, min(2, len(domain)) + 1))
    names = [str(name) for name in rng.choice(domain.names, size=size, replace=False)]
    if rng.random() < 0.5:
        return marginal(*names)
    inside = _random_part(rng, domain)
    if rng.random() < 0.3:
        inside = inside - _random_part(rng, domain) * _weight(rng)
    return marginal(*names, of=inside)


def random_question(
    rng: np.random.Generator, domain: Domain, blocks: float = 0.2
) -> Expression | MarginalExpression:
    """A question; a block with the given probability."""
    return random_marginal(rng, domain) if rng.random() < blocks else random_expression(rng, domain)


def random_conditions(rng: np.random.Generator, domain: Domain, most: int = 3) -> dict[str, object]:
    """Conditions on a few attributes: a range where there is an order, else a list of values."""
    wanted: dict[str, object] = {}
    size = int(rng.integers(0, min(most, len(domain)) + 1))
    for name in rng.choice(domain.names, size=size, replace=False):
        attribute = domain[str(name)]
        if isinstance(attribute, Integer):
            ends = np.sort(rng.integers(attribute.low, attribute.high + 1, size=2))
            wanted[str(name)] = (int(ends[0]), int(ends[1]))
        else:
            labels = list(attribute.declared)
            chosen = rng.permutation(len(labels))[: int(rng.integers(1, len(labels) + 1))]
            wanted[str(name)] = [labels[i] for i in chosen]
    return wanted


def _random_part(rng: np.random.Generator, domain: Domain) -> Expression:
    kind = rng.random()
    numeric = [name for name, a in domain.attributes if isinstance(a, Integer)]
    where = random_conditions(rng, domain)
    if kind < 0.2 and numeric:
        return total(str(rng.choice(numeric)), where)
    if kind < 0.3 and numeric:
        powers = {str(name): int(rng.integers(1, 3)) for name in set(rng.choice(numeric, 2))}
        return moment(powers, where=where)
    names = [name for name in domain.names if domain[name].size <= 64]
    if kind < 0.45 and names:
        size = int(rng.integers(1, min(2, len(names)) + 1))
        chosen = [str(name) for name in rng.choice(names, size=size, replace=False)]
        return table(chosen, rng.integers(-3, 4, size=domain.sizes(chosen)))
    return count(where)


def _weight(rng: np.random.Generator) -> float:
    return float(rng.choice(WEIGHTS))
