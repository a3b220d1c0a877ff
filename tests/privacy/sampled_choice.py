"""Private selections as samples: tables, options, and a desk that chooses again and again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eke.data import Counts
from eke.domain import Domain, Integer
from eke.engine import ChoiceOption, Desk, Selection
from eke.engine.draws import Wanted
from eke.planning import Plan, part_for
from eke.privacy.accountant import Accountant
from eke.privacy.law import DiscreteLaplace
from eke.privacy.pure import PURE
from eke.publish.coarse import CoarseMarginal
from eke.query import Kronecker, count

DOMAIN = Domain(x=Integer(0, 2), y=Integer(0, 1))
#: A table and its neighbour with one more record.
CELLS = np.array([[3, 3], [3, 3], [3, 3]])
MORE = CELLS + np.array([[1, 0], [0, 0], [0, 0]])


def tables(cells: np.ndarray) -> dict[tuple[str, ...], Counts]:
    """Sparse counts of every attribute set from a dense table of counts."""
    found = {}
    for names, dense in {
        ("x",): cells.sum(axis=1),
        ("y",): cells.sum(axis=0),
        ("x", "y"): cells,
    }.items():
        codes = np.argwhere(dense > 0).astype(np.int64)
        found[names] = Counts(names, codes, dense[tuple(codes.T)].astype(np.int64))
    return found


def block(*names: str, groups: dict[str, list[int]] | None = None) -> Kronecker:
    labels = {n: np.arange(DOMAIN[n].size) for n in names} | {
        n: np.array(g) for n, g in (groups or {}).items()
    }
    return CoarseMarginal(DOMAIN, names, tuple(labels[n] for n in names)).block()


def worst_selection(laplace_scale: int, handicap: int) -> Selection:
    """One record more moves one score up and the other down; the favoured one is handicapped."""
    options = (
        ChoiceOption(block("x"), np.zeros(3, np.int64), handicap),  # 18: one more record adds 1
        ChoiceOption(block("y"), np.full(2, 18, np.int64), 0),  # 18: one more record takes 1
    )
    return Selection(options, 0, DiscreteLaplace(laplace_scale, 0))


class DrawnOften:
    """Draws without a ledger, and the same thing again and again, which no ledger would do."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.drawn: list[int] = []

    def look(self) -> None:
        """Nobody watches the time."""

    def take(self, wanted: Sequence[Wanted]) -> list[list[int]]:
        (one,) = wanted
        self.drawn = [one.draw()[0] for _ in range(self._number)]
        return [self.drawn[-1:]]


def chosen(cells: np.ndarray, selection: Selection, number: int) -> np.ndarray:
    """The indices that a desk chose; it prices and scores once, and draws for each."""
    part = part_for(count().on(DOMAIN), 1.0, PURE)
    plan = Plan((part,), later_loss=10**18)
    accountant = Accountant(DOMAIN, PURE, "add_remove")
    draws = DrawnOften(number)
    Desk(plan, accountant, draws, counts=tables(cells)).choose(selection)
    return np.array(draws.drawn, np.int64)
