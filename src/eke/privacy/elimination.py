"""Max-plus variable elimination of a sum of tables, exact or with a cap on table sizes.

Eliminating an attribute adds up all tables that mention it and maximises over it; the result is a
table over its neighbours (Dechter, "Bucket elimination", Artificial Intelligence 113, 1999). When
such a table would be too large, the tables are added up in several parts and each part maximised
on its own, which can only overestimate (mini-buckets: Dechter and Rish, Journal of the ACM 50(2),
2003). What each elimination gave away is kept: it tells a search, for every partial assignment,
how far the best completion can still reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from eke.privacy.loss_tables import Attributes
from eke.privacy.pair_split import Cells


@dataclass(frozen=True, slots=True)
class Regret:
    """What choosing a value costs against the best value, given attributes chosen before.

    `cells` has one axis per attribute of `given`, then one for the attribute itself; all ≤ 0.
    """

    given: Attributes
    cells: Cells


@dataclass(frozen=True, slots=True)
class EliminationStep:
    """One attribute of the search order and the regrets that decide about its value."""

    attribute: str
    regrets: tuple[Regret, ...]


@dataclass(frozen=True, slots=True)
class Elimination:
    """An upper bound of a sum of tables, as a constant and a chain of regrets.

    The constant plus all regrets of a cell is the sum at that cell; the constant plus the regrets
    of the first steps bounds the sum over all cells that begin so. `exact` says that no table had
    to be split, hence that the constant is the maximum itself.
    """

    constant: int
    steps: tuple[EliminationStep, ...]
    exact: bool


def elimination_order(scopes: list[Attributes], sizes: Mapping[str, int]) -> list[str]:
    """Attributes from first to last eliminated, by least weighted fill (ties: cells, then name)."""
    neighbours: dict[str, set[str]] = {name: set() for scope in scopes for name in scope}
    for scope in scopes:
        for name in scope:
            neighbours[name].update(scope)
    for name, others in neighbours.items():
        others.discard(name)

    def price(name: str) -> tuple[int, int, str]:
        near = sorted(neighbours[name])
        fill = sum(
            sizes[one] * sizes[other]
            for position, one in enumerate(near)
            for other in near[position + 1 :]
            if other not in neighbours[one]
        )
        return fill, prod(sizes[one] for one in near), name

    order = []
    while neighbours:
        name = min(neighbours, key=price)
        near = neighbours.pop(name)
        for neighbour in near:
            neighbours[neighbour].update(near)
            neighbours[neighbour] -= {neighbour, name}
        order.append(name)
    return order


def exact_cells(scopes: list[Attributes], order: list[str], sizes: Mapping[str, int]) -> int:
    """The number of table cells that an elimination without splitting would create."""
    pending = [set(scope) for scope in scopes]
    cells = 0
    for name in order:
        joined = set().union(*(scope for scope in pending if name in scope))
        pending = [scope for scope in pending if name not in scope]
        pending.append(joined - {name})
        cells += prod(sizes[one] for one in joined)
    return cells


def eliminate(
    tables: Mapping[Attributes, Cells],
    order: list[str],
    *,
    constant: int = 0,
    largest_table: int | None = None,
) -> Elimination:
    """The bound and the regrets of constant + Σ tables; without a cap nothing is split."""
    sizes = {
        name: size
        for scope, cells in tables.items()
        for name, size in zip(scope, cells.shape, strict=True)
    }
    pending = sorted(tables.items())
    steps = []
    exact = True
    for name in order:
        mine = [(scope, cells) for scope, cells in pending if name in scope]
        pending = [(scope, cells) for scope, cells in pending if name not in scope]
        parts = _parts(mine, sizes, largest_table)
        exact = exact and len(parts) == 1
        regrets = []
        for given, members in parts:
            scope = tuple(one for one in given if one != name)
            joined = _joined(members, (*scope, name), sizes)
            best = joined.max(axis=-1)
            joined -= best[..., None]
            regrets.append(Regret(scope, joined))
            if scope:
                pending.append((scope, best))
            else:
                constant += int(best)
        steps.append(EliminationStep(name, tuple(regrets)))
    return Elimination(constant, tuple(reversed(steps)), exact)


Member = tuple[Attributes, Cells]


def _parts(
    members: list[Member], sizes: Mapping[str, int], largest_table: int | None
) -> list[tuple[Attributes, list[Member]]]:
    """The members grouped so that no group's joint table exceeds the cap, largest scopes first."""
    parts: list[tuple[set[str], list[Member]]] = []
    for scope, cells in sorted(members, key=lambda member: (-len(member[0]), member[0])):
        for names, group in parts:
            joint = prod(sizes[one] for one in names | set(scope))
            if largest_table is None or joint <= largest_table or names >= set(scope):
                names.update(scope)
                group.append((scope, cells))
                break
        else:
            parts.append((set(scope), [(scope, cells)]))
    return [(tuple(sorted(names)), group) for names, group in parts]


def _joined(members: list[Member], axes: Attributes, sizes: Mapping[str, int]) -> Cells:
    """The sum of tables as one array over the given axes."""
    total = np.zeros([sizes[name] for name in axes], np.int64)
    for scope, cells in members:
        inside = sorted(scope, key=axes.index)
        arranged = cells.transpose([scope.index(name) for name in inside])
        total += arranged.reshape([sizes[name] if name in scope else 1 for name in axes])
    return total
