"""A fitted distribution over all cells, kept as the cliques of a junction tree.

It answers any linear query, gives marginals and draws rows, all without listing the domain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from eke.arrays import Codes, FloatArray
from eke.domain import Domain
from eke.errors import EstimateError
from eke.inference.max_entropy.junction_tree import AttributeSet, JunctionTree, expand, sum_to
from eke.query import Query

_MOST_CELLS = 2**26


class Distribution(Protocol):
    """What a fitted model offers, whichever way it was fitted."""

    domain: Domain

    def marginal(self, attributes: Sequence[str]) -> FloatArray:
        """The probabilities of all combinations of some attributes, in the domain's order."""
        ...

    def expectation(self, query: Query) -> float:
        """The answer on one record drawn from the model, without the query's constant."""
        ...

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        """Synthetic records as codes; shape (rows, attributes)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class TreeDistribution:
    """p = Π p(clique) / Π p(separator)."""

    domain: Domain
    tree: JunctionTree
    beliefs: tuple[FloatArray, ...]  # one for each clique, in its shape

    def marginal(self, attributes: Sequence[str]) -> FloatArray:
        """The probabilities of all combinations of some attributes, in the domain's order."""
        wanted = self.domain.in_order(attributes)
        home = self.tree.home(wanted)
        if home is not None:
            return sum_to(self.beliefs[home], self.tree.cliques[home].attributes, wanted)
        return self._collected({}, wanted)

    def expectation(self, query: Query) -> float:
        """The answer on one record drawn from the model, without the query's constant."""
        return math.fsum(
            float(term.weight) * float(self._collected(dict(term.factors), ()))
            for term in query.terms
        )

    def sample(self, rows: int, generator: np.random.Generator) -> Codes:
        """Synthetic records as codes; shape (rows, attributes).

        Within every group that agrees on a separator, each combination occurs its expected number
        of times rounded up or down (systematic sampling), which adds far less error than
        independent draws would.
        """
        column = {name: k for k, name in enumerate(self.domain.names)}
        codes = np.zeros((rows, len(column)), np.int64)
        for index, clique in enumerate(self.tree.cliques):
            known = [column[name] for name in clique.separator]
            fresh = tuple(name for name in clique.attributes if name not in clique.separator)
            table = _separator_first(self.beliefs[index], clique.attributes, clique.separator)
            groups = np.zeros(rows, np.int64)
            if known:
                sizes = self.domain.sizes(clique.separator)
                groups = np.ravel_multi_index(tuple(codes[:, k] for k in known), sizes)
            drawn = systematic_draws(table, groups, generator)
            shape = self.domain.sizes(fresh)
            for name, part in zip(fresh, np.unravel_index(drawn, shape), strict=True):
                codes[:, column[name]] = part
        return codes

    def _collected(
        self, factors: Mapping[str, NDArray[np.int64]], keep: AttributeSet
    ) -> FloatArray:
        """Σ p(t)·Π factor(t) over all attributes but those kept; shape of the kept ones."""
        used: set[str] = set()
        messages: dict[int, list[tuple[AttributeSet, FloatArray]]] = {}
        total: FloatArray = np.ones(())
        total_names: AttributeSet = ()
        wanted = set(keep) | set(factors)
        for index in range(len(self.tree.cliques) - 1, -1, -1):
            clique = self.tree.cliques[index]
            children = messages.pop(index, [])
            added = set(clique.attributes) - set(clique.separator)
            if not children and not added & wanted:
                continue  # sums to one
            names, table = clique.attributes, self.beliefs[index]
            if clique.separator:
                outer = sum_to(table, names, clique.separator)
                table = np.divide(
                    table,
                    expand(outer, clique.separator, names),
                    out=np.zeros_like(table),
                    where=expand(outer, clique.separator, names) > 0,
                )
            for name in added & set(factors) - used:
                vector = factors[name].astype(np.float64)
                table = table * expand(vector, (name,), names)
                used.add(name)
            for other, message in children:
                names, table = self._multiplied(names, table, other, message)
            onto = tuple(n for n in names if n in clique.separator or n in keep)
            result = sum_to(table, names, onto)
            if clique.parent < 0:
                total_names, total = self._multiplied(total_names, total, onto, result)
            else:
                messages.setdefault(clique.parent, []).append((onto, result))
        return total

    def _multiplied(
        self, names: AttributeSet, table: FloatArray, others: AttributeSet, other: FloatArray
    ) -> tuple[AttributeSet, FloatArray]:
        both = self.domain.in_order((*names, *others))
        if math.prod(self.domain.sizes(both)) > _MOST_CELLS:
            raise EstimateError(
                f"a table over {', '.join(both)} is too large to sum; ask for fewer attributes"
            )
        return both, expand(table, names, both) * expand(other, others, both)


def _separator_first(
    table: FloatArray, attributes: AttributeSet, separator: AttributeSet
) -> FloatArray:
    """The table as (separator cells, other cells)."""
    axes = [i for i, name in enumerate(attributes) if name in separator]
    rest = [i for i, name in enumerate(attributes) if name not in separator]
    cells = math.prod(table.shape[i] for i in axes)
    return table.transpose(axes + rest).reshape(cells, -1)


def systematic_draws(table: FloatArray, groups: Codes, generator: np.random.Generator) -> Codes:
    """A column of the table for each row, given its line; shares as even as can be."""
    rows = len(groups)
    order = np.lexsort((generator.random(rows), groups))
    lines, starts, counts = np.unique(groups[order], return_index=True, return_counts=True)
    cumulated = np.cumsum(table[lines], axis=1)
    totals = cumulated[:, -1:]
    cumulated = np.where(
        totals > 0,
        cumulated / np.where(totals > 0, totals, 1.0),
        np.arange(1, table.shape[1] + 1) / table.shape[1],
    )
    line = np.repeat(np.arange(len(lines)), counts)
    rank = np.arange(rows) - np.repeat(starts, counts)
    position = (rank + np.repeat(generator.random(len(lines)), counts)) / np.repeat(counts, counts)
    flat = (cumulated + np.arange(len(lines))[:, None]).reshape(-1)
    codes = np.searchsorted(flat, line + position, side="right") - line * table.shape[1]
    drawn = np.empty(rows, np.int64)
    drawn[order] = np.clip(codes, 0, table.shape[1] - 1)
    return drawn
